/* SPDX-License-Identifier: MIT */
#include "memory/page_idle.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "headroom/root.h"

int hr_page_idle_open(const struct hr_root *root)
{
    return hr_root_openat(root, HR_PAGE_IDLE_PATH, O_RDWR);
}

static off_t offset_of(uint64_t first_pfn, unsigned word)
{
    return (off_t)(first_pfn / 8 + 8 * (uint64_t)word);
}

/* @return how many words were written, 0 if there are none so far up, or a negative errno. */
static int write_words(int fd, uint64_t first_pfn, unsigned word, const uint64_t *words,
                       unsigned count)
{
    ssize_t put;

    do
        put = pwrite(fd, words, 8 * (size_t)count, offset_of(first_pfn, word));
    while (put < 0 && errno == EINTR);
    if (put < 0)
        return errno == ENXIO ? 0 : -errno;
    return (int)(put / 8);
}

static int read_words(int fd, uint64_t first_pfn, unsigned word, uint64_t *words, unsigned count)
{
    ssize_t got;

    do
        got = pread(fd, words, 8 * (size_t)count, offset_of(first_pfn, word));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == ENXIO ? 0 : -errno;
    return (int)(got / 8);
}

int hr_page_idle_mark(int fd, uint64_t first_pfn, struct hr_page_chunk *heads)
{
    unsigned word = 0, count;

    while (hr_page_chunk_next_words(heads, &word, &count)) {
        int put = write_words(fd, first_pfn, word, &heads->words[word], count);
        if (put < 0)
            return put;
        if (put == 0) { /* the end of memory, or the last word of it, which can't be read */
            memset(&heads->words[word], 0, 8 * (HR_PAGE_CHUNK_WORDS - (size_t)word));
            return 0;
        }
        word += (unsigned)put;
    }
    return 0;
}

int hr_page_idle_read(int fd, uint64_t first_pfn, const struct hr_page_chunk *heads,
                      struct hr_page_chunk *idle)
{
    unsigned word = 0, count;

    memset(idle, 0, sizeof(*idle));
    while (hr_page_chunk_next_words(heads, &word, &count)) {
        int got = read_words(fd, first_pfn, word, &idle->words[word], count);
        if (got <= 0)
            return got;
        word += (unsigned)got;
    }
    return 0;
}
