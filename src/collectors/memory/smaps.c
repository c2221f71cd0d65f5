/* SPDX-License-Identifier: MIT */
#include "memory/smaps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/process.h"

/* smaps has some 700 bytes for each mapping; a line of it has a path of up to 4,096 bytes, each of
 * which may be escaped as four. */
#define PIECE_SIZE 32768

/* --- Parsing -------------------------------------------------------------- */

/* "Rss:                1234 kB\n" after the name */
static int add_line(struct hr_text *text, bool *has, uint64_t *sum_bytes)
{
    uint64_t kib, bytes;

    while (hr_text_skip(text, " "))
        ;
    if (!hr_text_u64(text, &kib) || !hr_text_skip(text, " kB\n") ||
        __builtin_mul_overflow(kib, UINT64_C(1024), &bytes) ||
        __builtin_add_overflow(*sum_bytes, bytes, sum_bytes))
        return -EBADMSG;
    *has = true;
    return 0;
}

int hr_smaps_parse(const char *text, size_t length, struct hr_smaps *sums)
{
    struct hr_text rest = {text, length};
    int status = 0;

    while (rest.length > 0 && status == 0) {
        if (hr_text_skip(&rest, "Rss:"))
            status = add_line(&rest, &sums->has_rss, &sums->rss_bytes);
        else if (hr_text_skip(&rest, "Pss:"))
            status = add_line(&rest, &sums->has_pss, &sums->pss_bytes);
        else if (hr_text_skip(&rest, "Referenced:"))
            status = add_line(&rest, &sums->has_referenced, &sums->referenced_bytes);
        else if (!hr_text_skip_line(&rest))
            status = -EBADMSG;
    }
    return status;
}

/* --- Reading -------------------------------------------------------------- */

/* Parses the complete lines of what was read and moves the remainder to the front. */
static int parse_lines(char *piece, size_t *filled, struct hr_smaps *sums)
{
    const char *end = memrchr(piece, '\n', *filled);

    if (end == NULL)
        return *filled == PIECE_SIZE ? -EBADMSG : 0;
    size_t whole = (size_t)(end - piece) + 1;
    int status = hr_smaps_parse(piece, whole, sums);
    *filled -= whole;
    memmove(piece, piece + whole, *filled);
    return status;
}

static int read_pieces(int fd, struct hr_smaps *sums)
{
    char piece[PIECE_SIZE];
    size_t filled = 0;

    for (;;) {
        ssize_t got = read(fd, piece + filled, sizeof(piece) - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            return filled > 0 ? -EBADMSG : 0;
        filled += (size_t)got;
        int status = parse_lines(piece, &filled, sums);
        if (status < 0)
            return status;
    }
}

int hr_smaps_read(const struct hr_process *process, struct hr_smaps *sums)
{
    struct hr_smaps read = {0};

    int fd = hr_process_openat(process, "smaps_rollup", O_RDONLY);
    if (fd == -ENOENT)
        fd = hr_process_openat(process, "smaps", O_RDONLY);
    if (fd < 0)
        return fd;
    int status = read_pieces(fd, &read);
    hr_descriptor_close(&fd);
    if (status < 0)
        return status;
    /* An ending process loses its memory first: the file is empty then. */
    if (!read.has_rss)
        return -ESRCH;
    *sums = read;
    return 0;
}
