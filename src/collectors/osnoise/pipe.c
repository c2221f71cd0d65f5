/* SPDX-License-Identifier: MIT */
#include "osnoise/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"

/* The limit of pages that are read of a CPU at a time: records may come as fast as they are read.
 */
#define MAX_PAGES 4096

/* The largest page that the kernel makes: 2^10 pages of memory, which may have 64 KiB. */
#define MAX_PAGE_KIB (1024 * 64)

struct hr_osnoise_pipe {
    struct hr_osnoise_decoder *decoder;
    char *instance;
    unsigned char *page;
    size_t page_size;
    unsigned cpu_end; /* 1 + the highest CPU */
    int fds[];        /* by CPU; -1: not open */
};

static unsigned find_cpu_end(const struct hr_cpu_set *cpus)
{
    unsigned end = 0;

    for (unsigned cpu = 0; (cpu = hr_cpu_set_next(cpus, cpu)) < HR_CPU_MAX; cpu++)
        end = cpu + 1;
    return end;
}

/* read(2) gives just one page, even a smaller one, if there is room for it. */
static size_t find_page_size(const struct hr_tracefs *tracefs, const char *instance,
                             const struct hr_osnoise_decoder *decoder)
{
    char path[PATH_MAX];
    uint64_t kib;
    size_t size = hr_osnoise_decoder_page_size(decoder);

    snprintf(path, sizeof(path), "instances/%s/buffer_subbuf_size_kb", instance);
    if (hr_tracefs_read_number(tracefs, path, &kib) == 0 && kib <= MAX_PAGE_KIB &&
        kib * 1024 > size)
        size = (size_t)kib * 1024;
    return size;
}

static int open_buffer(const struct hr_osnoise_pipe *pipe, const struct hr_tracefs *tracefs,
                       unsigned cpu)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "instances/%s/per_cpu/cpu%u/trace_pipe_raw", pipe->instance, cpu);
    int fd = openat(tracefs->fd, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Opens the buffers at the start, so that errors show early; a buffer opened later reads the same.
 */
static void open_buffers(struct hr_osnoise_pipe *pipe, const struct hr_tracefs *tracefs,
                         const struct hr_cpu_set *cpus, const struct hr_cpu_set *now)
{
    for (unsigned cpu = 0; (cpu = hr_cpu_set_next(cpus, cpu)) < HR_CPU_MAX; cpu++) {
        if (!hr_cpu_set_has(now, cpu))
            continue;
        int fd = open_buffer(pipe, tracefs, cpu);
        if (fd >= 0 && hr_descriptor_keep(&fd, HR_KEEP_FILE))
            pipe->fds[cpu] = fd;
        else
            hr_descriptor_close(&fd);
    }
}

int hr_osnoise_pipe_open(const struct hr_tracefs *tracefs, const char *instance,
                         const struct hr_cpu_set *cpus, const struct hr_cpu_set *now,
                         struct hr_osnoise_decoder *decoder, struct hr_osnoise_pipe **pipe)
{
    unsigned end = find_cpu_end(cpus);
    struct hr_osnoise_pipe *made = calloc(1, sizeof(*made) + end * sizeof(made->fds[0]));

    if (made == NULL)
        return -ENOMEM;
    made->decoder = decoder;
    made->page_size = find_page_size(tracefs, instance, decoder);
    made->page = malloc(made->page_size);
    made->instance = strdup(instance);
    if (made->page == NULL || made->instance == NULL) {
        hr_osnoise_pipe_close(made);
        return -ENOMEM;
    }
    made->cpu_end = end;
    for (unsigned cpu = 0; cpu < end; cpu++)
        made->fds[cpu] = -1;
    open_buffers(made, tracefs, cpus, now);
    *pipe = made;
    return 0;
}

void hr_osnoise_pipe_close(struct hr_osnoise_pipe *pipe)
{
    if (pipe == NULL)
        return;
    for (unsigned cpu = 0; cpu < pipe->cpu_end; cpu++)
        hr_descriptor_close(&pipe->fds[cpu]);
    free(pipe->page);
    free(pipe->instance);
    free(pipe);
}

/* @return bytes; 0: the buffer is empty; or a negative errno. */
static ssize_t read_page(struct hr_osnoise_pipe *pipe, int fd)
{
    ssize_t size;

    do
        size = read(fd, pipe->page, pipe->page_size);
    while (size < 0 && errno == EINTR);
    if (size < 0)
        return errno == EAGAIN ? 0 : -errno;
    return size;
}

/* Reads until the buffer is empty. A broken page is skipped: the others are still good. */
static int read_pages(struct hr_osnoise_pipe *pipe, int fd,
                      void (*handle)(const struct hr_osnoise_record *record, void *context),
                      void *context, uint64_t *lost)
{
    int result = 0;

    for (int i = 0; i < MAX_PAGES; i++) {
        ssize_t size = read_page(pipe, fd);
        if (size <= 0)
            return size < 0 ? (int)size : result;
        int status =
            hr_osnoise_decode(pipe->decoder, pipe->page, (size_t)size, handle, context, lost);
        if (status < 0) {
            *lost += 1;
            result = status;
        }
    }
    return result;
}

int hr_osnoise_pipe_read(struct hr_osnoise_pipe *pipe, const struct hr_tracefs *tracefs,
                         unsigned cpu,
                         void (*handle)(const struct hr_osnoise_record *record, void *context),
                         void *context, uint64_t *lost)
{
    int fd = pipe->fds[cpu];

    *lost = 0;
    if (fd < 0)
        fd = open_buffer(pipe, tracefs, cpu);
    if (fd < 0)
        return fd;
    int status = read_pages(pipe, fd, handle, context, lost);
    bool keep = status == 0 || status == -EBADMSG;
    if (!keep || (pipe->fds[cpu] < 0 && !hr_descriptor_keep(&fd, HR_KEEP_FILE)))
        hr_descriptor_close(&fd);
    pipe->fds[cpu] = fd;
    return status;
}
