/* SPDX-License-Identifier: MIT */
#include "wakings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "headroom/array.h"
#include "support/own_mounts.h"

#define CPUS_MAX  256
#define RING_SIZE (64 * 4096)

#define TRACEFS "/sys/kernel/tracing"

struct wakings {
    int fd[CPUS_MAX];
    struct perf_event_mmap_page *ring[CPUS_MAX];
    int cpu_count;
    size_t pid_offset; /* of the woken thread in the tracepoint's record */
    struct waking *list;
    size_t count, capacity;
};

/* --- The tracepoint ------------------------------------------------------- */

static bool read_id(uint64_t *id)
{
    FILE *file = fopen(TRACEFS "/events/sched/sched_waking/id", "r");
    unsigned long long number;

    if (file == NULL)
        return false;
    bool found = fscanf(file, "%llu", &number) == 1;
    fclose(file);
    *id = number;
    return found;
}

/* "	field:pid_t pid;	offset:24;	size:4;	signed:1;" */
static bool read_pid_offset(size_t *offset)
{
    FILE *file = fopen(TRACEFS "/events/sched/sched_waking/format", "r");
    char line[256];
    bool found = false;

    if (file == NULL)
        return false;
    while (!found && fgets(line, sizeof(line), file) != NULL)
        found = sscanf(line, " field:pid_t pid; offset:%zu;", offset) == 1;
    fclose(file);
    return found;
}

static bool open_cpu(struct wakings *wakings, uint64_t id, const char *filter, int cpu)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof(attr),
        .config = id,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .watermark = 1,
        .wakeup_watermark = RING_SIZE / 2,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd < 0)
        return errno == ENODEV; /* offline */
    void *ring = mmap(NULL, 4096 + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0)
        return false;
    wakings->fd[wakings->cpu_count] = fd;
    wakings->ring[wakings->cpu_count++] = ring;
    return true;
}

struct wakings *wakings_open(const char *name, const char *other_name)
{
    struct wakings *wakings = calloc(1, sizeof(*wakings));
    char filter[128];
    uint64_t id;

    if (wakings == NULL)
        return NULL;
    snprintf(filter, sizeof(filter), "comm == \"%s\" || comm == \"%s\"", name, other_name);
    bool opened =
        own_mounts_with_tracefs() && read_id(&id) && read_pid_offset(&wakings->pid_offset);
    for (int cpu = 0; opened && cpu < sysconf(_SC_NPROCESSORS_CONF) && cpu < CPUS_MAX; cpu++)
        opened = open_cpu(wakings, id, filter, cpu);
    if (opened)
        return wakings;
    wakings_close(wakings);
    return NULL;
}

/* --- Records -------------------------------------------------------------- */

/* What PERF_SAMPLE_TID, _TIME and _RAW make of a record. */
struct sample {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t time;
    uint32_t raw_size;
    char raw[];
};

static void append_waking(struct wakings *wakings, const struct sample *sample)
{
    if (sample->header.type != PERF_RECORD_SAMPLE)
        return;
    if (HR_ARRAY_RESERVE(wakings->list, wakings->capacity, wakings->count + 1) != 0)
        abort();
    struct waking *waking = &wakings->list[wakings->count++];
    int32_t woken;
    memcpy(&woken, sample->raw + wakings->pid_offset, sizeof(woken));
    *waking = (struct waking){sample->time, (pid_t)sample->tid, woken};
}

static void read_ring(struct wakings *wakings, struct perf_event_mmap_page *ring)
{
    const char *data = (const char *)ring + 4096;
    uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
    char record[1024];

    while (ring->data_tail < head) {
        struct perf_event_header header;
        for (size_t i = 0; i < sizeof(header); i++)
            ((char *)&header)[i] = data[(ring->data_tail + i) % RING_SIZE];
        for (size_t i = 0; i < header.size && i < sizeof(record); i++)
            record[i] = data[(ring->data_tail + i) % RING_SIZE];
        append_waking(wakings, (const struct sample *)record);
        __atomic_store_n(&ring->data_tail, ring->data_tail + header.size, __ATOMIC_RELEASE);
    }
}

void wakings_read(struct wakings *wakings)
{
    for (int i = 0; i < wakings->cpu_count; i++)
        read_ring(wakings, wakings->ring[i]);
}

const struct waking *wakings_find(const struct wakings *wakings, pid_t woken, pid_t waker,
                                  uint64_t until_ns)
{
    const struct waking *found = NULL;

    for (size_t i = 0; i < wakings->count; i++) {
        const struct waking *waking = &wakings->list[i];
        if (waking->woken == woken && (waker == 0 || waking->waker == waker) &&
            waking->time_ns <= until_ns && (found == NULL || waking->time_ns > found->time_ns))
            found = waking;
    }
    return found;
}

void wakings_close(struct wakings *wakings)
{
    for (int i = 0; i < wakings->cpu_count; i++) {
        munmap(wakings->ring[i], 4096 + RING_SIZE);
        close(wakings->fd[i]);
    }
    free(wakings->list);
    free(wakings);
}
