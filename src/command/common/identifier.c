/* SPDX-License-Identifier: MIT */
#include "common/identifier.h"

#include <errno.h>
#include <string.h>

/* Splits at the first `separator`; without one the second piece is empty. */
static void split_piece(const char *start, size_t length, char separator, struct piece *first,
                        struct piece *second)
{
    const char *found = memchr(start, separator, length);
    size_t head = found != NULL ? (size_t)(found - start) : length;
    *first = (struct piece){start, head};
    *second =
        found != NULL ? (struct piece){found + 1, length - head - 1} : (struct piece){NULL, 0};
}

int identifier_parse(const char *text, struct identifier *parts)
{
    struct identifier parsed;
    struct piece rest, plugin, type;
    split_piece(text, strlen(text), '/', &parsed.host, &rest);
    if (rest.start == NULL)
        return -EBADMSG;
    split_piece(rest.start, rest.length, '/', &plugin, &type);
    if (type.start == NULL)
        return -EBADMSG;
    split_piece(plugin.start, plugin.length, '-', &parsed.plugin, &parsed.instance);
    split_piece(type.start, type.length, '-', &parsed.type, &parsed.type_instance);
    if (parsed.host.length == 0 || parsed.plugin.length == 0 || parsed.type.length == 0)
        return -EBADMSG;
    *parts = parsed;
    return 0;
}

bool piece_is(const struct piece *piece, const char *text)
{
    return strlen(text) == piece->length &&
           (piece->length == 0 || memcmp(piece->start, text, piece->length) == 0);
}

int compare_pieces(const struct piece *a, const struct piece *b)
{
    int order = memcmp(a->start, b->start, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}
