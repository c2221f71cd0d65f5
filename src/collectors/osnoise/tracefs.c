/* SPDX-License-Identifier: MIT */
#include "osnoise/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/reason.h"
#include "base/text.h"
#include "headroom/capability.h"
#include "headroom/root.h"

static const struct {
    int error;
    const char *text;
} advice[] = {
    {-ENOENT, "no tracefs is mounted: mount -t tracefs tracefs /sys/kernel/tracing; the kernel "
              "needs CONFIG_FTRACE=y"},
    {-EMFILE, "the process has no more file descriptors: raise its limit (LimitNOFILE=)"},
};

static int explain_open_error(int error, struct hr_reason *reason)
{
    char remedy[HR_REMEDY_SIZE];

    if (error == -EACCES || error == -EPERM)
        return hr_reason_set(reason, error, "no permission to read tracefs: %s%s",
                             hr_capability_remedy(HR_CAP_DAC_OVERRIDE, remedy),
                             error == -EPERM ? "; a kernel that is locked down allows no tracing"
                                             : "");
    for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
        if (advice[i].error == error)
            return hr_reason_set(reason, error, "%s", advice[i].text);
    return hr_reason_set(reason, error, "can't open tracefs (%s)", strerror(-error));
}

/* Without a mount there is an empty directory. */
static int open_tracefs_at(const struct hr_root *root, const char *path)
{
    int fd = hr_root_openat(root, path, O_RDONLY | O_DIRECTORY);

    if (fd >= 0 && faccessat(fd, "available_tracers", F_OK, AT_EACCESS) < 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

int hr_tracefs_open(const struct hr_root *root, struct hr_tracefs *tracefs,
                    struct hr_reason *reason)
{
    static const char *const places[] = {"sys/kernel/tracing", "sys/kernel/debug/tracing"};
    int error = -ENOENT;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        int fd = open_tracefs_at(root, places[i]);
        if (fd >= 0) {
            tracefs->fd = fd;
            return 0;
        }
        /* A lack of permission for one directory is a better reason than the absence of the other.
         */
        if (error == -ENOENT)
            error = fd == -ENOTDIR ? -ENOENT : fd;
    }
    return explain_open_error(error, reason);
}

void hr_tracefs_close(struct hr_tracefs *tracefs)
{
    hr_descriptor_close(&tracefs->fd);
}

void hr_tracefs_path(const struct hr_tracefs *tracefs, char path[HR_TRACEFS_PATH])
{
    snprintf(path, HR_TRACEFS_PATH, "/proc/self/fd/%d", tracefs->fd);
}

static int open_file(const struct hr_tracefs *tracefs, const char *name, int flags)
{
    int fd = openat(tracefs->fd, name, flags | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* @return the bytes read, or a negative errno. */
static ssize_t read_some(int fd, char *buffer, size_t size)
{
    ssize_t got;

    do
        got = read(fd, buffer, size);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

/* Most files are read page by page. osnoise/cpus is read at once, into a buffer that is longer than
 * it, or refused with EINVAL: also at the read(2) that looks for more, if little of the buffer is
 * left. */
static int read_all(int fd, char *buffer, size_t size, size_t *length)
{
    size_t filled = 0;

    for (;;) {
        ssize_t got = read_some(fd, buffer + filled, size - filled);
        if (got == 0 || (got == -EINVAL && filled > 0))
            break;
        if (got < 0)
            return (int)got;
        filled += (size_t)got;
        if (filled == size)
            return -EBADMSG;
    }
    *length = filled;
    return 0;
}

bool hr_tracefs_exists(const struct hr_tracefs *tracefs, const char *name)
{
    return faccessat(tracefs->fd, name, F_OK, AT_EACCESS) == 0;
}

int hr_tracefs_read(const struct hr_tracefs *tracefs, const char *name, char *buffer, size_t size,
                    size_t *length)
{
    size_t filled = 0;
    int fd = open_file(tracefs, name, O_RDONLY);

    if (fd < 0)
        return fd;
    int status = read_all(fd, buffer, size, &filled);
    close(fd);
    if (status < 0)
        return status;
    buffer[filled] = '\0';
    if (length != NULL)
        *length = filled;
    return 0;
}

int hr_tracefs_read_number(const struct hr_tracefs *tracefs, const char *name, uint64_t *value)
{
    char text[32];
    size_t length;

    int status = hr_tracefs_read(tracefs, name, text, sizeof(text), &length);
    return status < 0 ? status : hr_text_number_parse(text, length, UINT64_MAX, value);
}

static int write_line(const struct hr_tracefs *tracefs, const char *name, const char *text,
                      int flags)
{
    char line[4096];
    size_t length = strlen(text);
    ssize_t done;

    if (length + 1 > sizeof(line))
        return -E2BIG;
    memcpy(line, text, length);
    line[length++] = '\n';
    int fd = open_file(tracefs, name, O_WRONLY | flags);
    if (fd < 0)
        return fd;
    do
        done = write(fd, line, length);
    while (done < 0 && errno == EINTR);
    int error = errno;
    close(fd);
    if (done < 0)
        return -error;
    return (size_t)done == length ? 0 : -EIO;
}

int hr_tracefs_write(const struct hr_tracefs *tracefs, const char *name, const char *text)
{
    return write_line(tracefs, name, text, O_TRUNC);
}

int hr_tracefs_write_number(const struct hr_tracefs *tracefs, const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    return hr_tracefs_write(tracefs, name, text);
}

int hr_tracefs_append(const struct hr_tracefs *tracefs, const char *name, const char *text)
{
    return write_line(tracefs, name, text, O_APPEND);
}

int hr_tracefs_clear(const struct hr_tracefs *tracefs, const char *name)
{
    int fd = open_file(tracefs, name, O_WRONLY | O_TRUNC);

    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}
