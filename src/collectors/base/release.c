/* SPDX-License-Identifier: MIT */
#include "base/release.h"

#include <errno.h>
#include <fcntl.h>

#include "base/text.h"
#include "headroom/root.h"

int hr_release_read(const struct hr_root *root, struct hr_release *release)
{
    struct hr_release parsed = {.patch = 0};
    char buffer[128];
    struct hr_text text = {.start = buffer};

    int fd = hr_root_openat(root, "proc/sys/kernel/osrelease", O_RDONLY);
    int status = hr_text_read_and_close(fd, buffer, sizeof(buffer), &text.length);
    if (status < 0)
        return status;
    if (!hr_text_u64(&text, &parsed.major) || !hr_text_skip(&text, ".") ||
        !hr_text_u64(&text, &parsed.minor) ||
        (hr_text_skip(&text, ".") && !hr_text_u64(&text, &parsed.patch)))
        return -EBADMSG;
    *release = parsed;
    return 0;
}
