/* SPDX-License-Identifier: MIT */
#include "memory/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "headroom/array.h"
#include "headroom/root.h"

#define PIECE_SIZE 16384

static int read_until_end(int fd, struct hr_file_text *text)
{
    for (text->length = 0;;) {
        if (HR_ARRAY_RESERVE(text->start, text->capacity, text->length + PIECE_SIZE) < 0)
            return -ENOMEM;
        ssize_t got = read(fd, text->start + text->length, text->capacity - text->length);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return -errno;
        text->length += got > 0 ? (size_t)got : 0;
    }
}

int hr_file_text_read(const struct hr_root *root, const char *path, struct hr_file_text *text)
{
    int fd = hr_root_openat(root, path, O_RDONLY);
    if (fd < 0)
        return fd;
    int status = read_until_end(fd, text);
    close(fd);
    return status;
}

bool hr_text_hexadecimal(struct hr_text *text, uint64_t *value)
{
    static const char digits[] = "0123456789abcdef";
    size_t count = 0;
    uint64_t sum = 0;

    for (; count < text->length; count++) {
        const char *digit = memchr(digits, text->start[count], 16);
        if (digit == NULL)
            break;
        if (sum >> 60 != 0)
            return false;
        sum = sum << 4 | (uint64_t)(digit - digits);
    }
    if (count == 0)
        return false;
    text->start += count;
    text->length -= count;
    *value = sum;
    return true;
}
