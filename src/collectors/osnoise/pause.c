/* SPDX-License-Identifier: MIT */
#include "headroom/osnoise_pause.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/clock.h"
#include "headroom/root.h"

#define NEW_PATH HR_OSNOISE_PAUSE_PATH ".new"

static const char prefix[] = "until ";

static uint64_t since_boot_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * HR_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* --- Writing -------------------------------------------------------------- */

static int write_text(int fd, const char *text)
{
    const ssize_t length = (ssize_t)strlen(text);
    const ssize_t written = write(fd, text, (size_t)length);
    int status = 0;

    if (written != length)
        status = written < 0 ? -errno : -ENOSPC;
    /* collectd may be another user. */
    if (status == 0 && fchmod(fd, 0644) < 0)
        status = -errno;
    if (close(fd) < 0 && status == 0)
        status = -errno;
    return status;
}

int hr_osnoise_pause(uint64_t seconds)
{
    char text[64];

    if (seconds == 0)
        return unlink(HR_OSNOISE_PAUSE_PATH) == 0 || errno == ENOENT ? 0 : -errno;
    if (unlink(NEW_PATH) < 0 && errno != ENOENT)
        return -errno;
    int fd = open(NEW_PATH, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    snprintf(text, sizeof(text), "%s%" PRIu64 "\n", prefix,
             since_boot_ns() + seconds * HR_NS_PER_S);
    int status = write_text(fd, text);
    if (status == 0 && rename(NEW_PATH, HR_OSNOISE_PAUSE_PATH) < 0)
        status = -errno;
    if (status < 0)
        unlink(NEW_PATH);
    return status;
}

/* --- Reading -------------------------------------------------------------- */

static int parse(const char *text, size_t length, uint64_t *until_ns)
{
    struct hr_text rest = {text, length};

    return hr_text_skip(&rest, prefix) && hr_text_u64(&rest, until_ns) &&
                   hr_text_skip(&rest, "\n") && rest.length == 0
               ? 0
               : -EBADMSG;
}

static bool is_trusted(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && (file.st_mode & 022) == 0 &&
           (file.st_uid == 0 || file.st_uid == geteuid());
}

uint64_t hr_osnoise_pause_left_ns(const struct hr_root *root)
{
    char text[64];
    size_t length;
    uint64_t until_ns;

    int fd = hr_root_openat(root, HR_OSNOISE_PAUSE_PATH, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return 0;
    if (!is_trusted(fd)) {
        close(fd);
        return 0;
    }
    if (hr_text_read_and_close(fd, text, sizeof(text), &length) < 0 ||
        parse(text, length, &until_ns) < 0)
        return 0;
    const uint64_t now_ns = since_boot_ns();
    if (until_ns <= now_ns || until_ns - now_ns > HR_OSNOISE_PAUSE_MOST_S * HR_NS_PER_S)
        return 0;
    return until_ns - now_ns;
}
