/* SPDX-License-Identifier: MIT */
#include "memory/charge.h"

#include <errno.h>
#include <fcntl.h>

#include "base/text.h"

uint64_t hr_charge_read(int dirfd)
{
    char text[32];
    size_t length;
    uint64_t bytes = 0;
    int fd = openat(dirfd, "memory.current", O_RDONLY | O_CLOEXEC);

    if (hr_text_read_and_close(fd < 0 ? -errno : fd, text, sizeof(text), &length) < 0 ||
        hr_text_number_parse(text, length, UINT64_MAX, &bytes) < 0)
        return 0;
    return bytes;
}
