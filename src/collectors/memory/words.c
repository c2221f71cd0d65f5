/* SPDX-License-Identifier: MIT */
#include "memory/words.h"

#include <errno.h>
#include <unistd.h>

ssize_t hr_words_read(int fd, uint64_t first, uint64_t *words, size_t count)
{
    size_t size = count * sizeof(*words), done = 0;

    while (done < size) {
        ssize_t got =
            pread(fd, (char *)words + done, size - done, (off_t)(first * sizeof(*words) + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)(done / sizeof(*words));
}
