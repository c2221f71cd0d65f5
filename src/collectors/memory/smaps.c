/* SPDX-License-Identifier: MIT */
#include "memory/smaps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "headroom/process.h"
#include "headroom/root.h"

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

static int parse_line(struct hr_text *rest, struct hr_smaps *sums)
{
    if (hr_text_skip(rest, "Rss:"))
        return add_line(rest, &sums->has_rss, &sums->rss_bytes);
    if (hr_text_skip(rest, "Pss:"))
        return add_line(rest, &sums->has_pss, &sums->pss_bytes);
    if (hr_text_skip(rest, "Referenced:"))
        return add_line(rest, &sums->has_referenced, &sums->referenced_bytes);
    return hr_text_skip_line(rest) ? 0 : -EBADMSG;
}

int hr_smaps_parse(const char *text, size_t length, struct hr_smaps *sums)
{
    struct hr_text rest = {text, length};
    int status = 0;

    while (rest.length > 0 && status == 0)
        status = parse_line(&rest, sums);
    return status;
}

/* --- Parsing mappings ----------------------------------------------------- */

/* No name of a line about a mapping has a hexadecimal number before a dash. */
static bool is_first_line(struct hr_text text)
{
    uint64_t start;

    return hr_text_hex(&text, &start) && hr_text_skip(&text, "-");
}

static bool take_permissions(struct hr_text *text)
{
    if (text->length < 5 || text->start[4] != ' ' || memchr(text->start, '\n', 4) != NULL)
        return false;
    text->start += 5;
    text->length -= 5;
    return true;
}

/* "7f1c2a400000-7f1c2a422000 r--p 00000000 fe:01 1054  /usr/lib/…/libc.so.6\n" */
static int take_first_line(struct hr_text *text, struct hr_smaps_mapping *mapping)
{
    struct hr_smaps_mapping taken = {0};
    uint64_t end, major, minor;

    if (!hr_text_hex(text, &taken.start) || !hr_text_skip(text, "-") || !hr_text_hex(text, &end) ||
        !hr_text_skip(text, " ") || !take_permissions(text) || !hr_text_hex(text, &taken.offset) ||
        !hr_text_skip(text, " ") || !hr_text_hex(text, &major) || !hr_text_skip(text, ":") ||
        !hr_text_hex(text, &minor) || !hr_text_skip(text, " ") ||
        !hr_text_u64(text, &taken.inode) || !hr_text_skip_line(text))
        return -EBADMSG;
    taken.device = major << 32 | minor;
    *mapping = taken;
    return 0;
}

static int finish_mapping(struct hr_smaps_parser *parser)
{
    const bool had_mapping = parser->has_mapping;

    parser->has_mapping = false;
    return had_mapping ? parser->visit(&parser->mapping, parser->context) : 0;
}

static int parse_mapping_line(struct hr_smaps_parser *parser, struct hr_text *rest)
{
    if (!is_first_line(*rest))
        return parser->has_mapping ? parse_line(rest, &parser->mapping.sums) : -EBADMSG;
    int status = finish_mapping(parser);
    if (status == 0)
        status = take_first_line(rest, &parser->mapping);
    parser->has_mapping = status == 0;
    return status;
}

int hr_smaps_parse_mappings(struct hr_smaps_parser *parser, const char *text, size_t length)
{
    struct hr_text rest = {text, length};
    int status = 0;

    if (text == NULL)
        return finish_mapping(parser);
    while (rest.length > 0 && status == 0)
        status = parse_mapping_line(parser, &rest);
    return status;
}

/* --- Reading -------------------------------------------------------------- */

/* Parses the complete lines of what was read and moves the remainder to the front. */
static int parse_lines(char *piece, size_t *filled,
                       int (*parse)(const char *text, size_t length, void *context), void *context)
{
    const char *end = memrchr(piece, '\n', *filled);

    if (end == NULL)
        return *filled == PIECE_SIZE ? -EBADMSG : 0;
    size_t whole = (size_t)(end - piece) + 1;
    int status = parse(piece, whole, context);
    *filled -= whole;
    memmove(piece, piece + whole, *filled);
    return status;
}

static int read_pieces(int fd, int (*parse)(const char *text, size_t length, void *context),
                       void *context)
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
        int status = parse_lines(piece, &filled, parse, context);
        if (status < 0)
            return status;
    }
}

static int add_piece(const char *text, size_t length, void *context)
{
    return hr_smaps_parse(text, length, context);
}

int hr_smaps_read(const struct hr_process *process, struct hr_smaps *sums)
{
    struct hr_smaps read = {0};

    int fd = hr_process_openat(process, "smaps_rollup", O_RDONLY);
    if (fd == -ENOENT)
        fd = hr_process_openat(process, "smaps", O_RDONLY);
    if (fd < 0)
        return fd;
    int status = read_pieces(fd, add_piece, &read);
    hr_descriptor_close(&fd);
    if (status < 0)
        return status;
    /* An ending process loses its memory first: the file is empty then. */
    if (!read.has_rss)
        return -ESRCH;
    *sums = read;
    return 0;
}

/* The parser, and whether it had anything to parse. */
struct mappings {
    struct hr_smaps_parser parser;
    bool has_text;
};

static int visit_piece(const char *text, size_t length, void *context)
{
    struct mappings *mappings = context;

    mappings->has_text = true;
    return hr_smaps_parse_mappings(&mappings->parser, text, length);
}

int hr_smaps_read_mappings(const struct hr_process *process,
                           int (*visit)(const struct hr_smaps_mapping *mapping, void *context),
                           void *context)
{
    struct mappings mappings = {.parser = {.visit = visit, .context = context}};

    int fd = hr_process_openat(process, "smaps", O_RDONLY);
    if (fd < 0)
        return fd;
    int status = read_pieces(fd, visit_piece, &mappings);
    hr_descriptor_close(&fd);
    if (status == 0)
        status = hr_smaps_parse_mappings(&mappings.parser, NULL, 0);
    if (status < 0)
        return status;
    return mappings.has_text ? 0 : -ESRCH;
}

/* "VmFlags: rd ex mr mw me sd \n": the first piece has those of the first mapping. */
bool hr_smaps_has_soft_dirty(const struct hr_root *root)
{
    char piece[PIECE_SIZE];

    int fd = hr_root_openat(root, "proc/self/smaps", O_RDONLY);
    if (fd < 0)
        return true;
    ssize_t got = read(fd, piece, sizeof(piece) - 1);
    hr_descriptor_close(&fd);
    piece[got < 0 ? 0 : got] = '\0';
    char *flags = strstr(piece, "\nVmFlags:"),
         *end = flags == NULL ? NULL : strchr(flags + 1, '\n');
    if (end == NULL)
        return true;
    *end = '\0';
    return strstr(flags, " sd") != NULL;
}
