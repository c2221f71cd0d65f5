/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz_maps.c - hr_maps_parse: an accepted line begins with the range that it returns; any
 * other line is left as it was.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fuzz.h"
#include "memory/pagemap.h"

const char fuzz_corpus[] = "maps";

/* A number with as many zeros before it as there may be, the kernel pads to eight digits; and what
 * follows it. */
static void check_number(struct hr_text *line, uint64_t number, char end)
{
    char text[20];

    while (line->length > 1 && *line->start == '0' && line->start[1] != end)
        line->start++, line->length--;
    size_t length = (size_t)snprintf(text, sizeof(text), "%" PRIx64 "%c", number, end);
    require(line->length >= length && strncasecmp(line->start, text, length) == 0);
    line->start += length;
    line->length -= length;
}

static void check_range(struct hr_text line, const struct hr_maps_range *range)
{
    require(range->start < range->end);
    check_number(&line, range->start, '-');
    check_number(&line, range->end, ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hr_text text = {(const char *)data, size};
    int status;

    for (;;) {
        struct hr_maps_range range = {1, 2};
        struct hr_text before = text;
        status = hr_maps_parse(&text, &range);
        if (status < 0) {
            require(status == -EAGAIN || status == -EBADMSG);
            require(text.start == before.start && text.length == before.length);
            require(range.start == 1 && range.end == 2);
            break;
        }
        require(text.start > before.start && text.start[-1] == '\n');
        require(text.length + (size_t)(text.start - before.start) == before.length);
        check_range(before, &range);
    }
    require((status == -EAGAIN) ==
            (text.length == 0 || memchr(text.start, '\n', text.length) == NULL));
    return 0;
}
