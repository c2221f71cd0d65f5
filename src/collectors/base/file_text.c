/* SPDX-License-Identifier: MIT */
#include "base/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "headroom/array.h"
#include "headroom/root.h"

#define PIECE_SIZE 16384

static int read_until_end(int fd, size_t max, struct hr_file_text *text)
{
    for (text->length = 0;;) {
        if (text->length > max)
            return -EBADMSG;
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

int hr_file_text_read_and_close(int fd, size_t max, struct hr_file_text *text)
{
    if (fd < 0)
        return fd;
    int status = read_until_end(fd, max, text);
    close(fd);
    return status;
}

int hr_file_text_read(const struct hr_root *root, const char *path, struct hr_file_text *text)
{
    return hr_file_text_read_and_close(hr_root_openat(root, path, O_RDONLY), SIZE_MAX, text);
}
