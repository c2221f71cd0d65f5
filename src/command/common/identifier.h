/* SPDX-License-Identifier: MIT */
/*
 * common/identifier.h - the names of collectd's series.
 */
#ifndef HEADROOM_COMMAND_COMMON_IDENTIFIER_H
#define HEADROOM_COMMAND_COMMON_IDENTIFIER_H

#include <stdbool.h>
#include <stddef.h>

/** A piece of a longer text; not terminated. */
struct piece {
    const char *start;
    size_t length;
};

/** The parts of HOST/PLUGIN-INSTANCE/TYPE-TYPE_INSTANCE; what is missing has length 0. */
struct identifier {
    struct piece host, plugin, instance, type, type_instance;
};

/**
 * Splits an identifier as collectd does: at the first two slashes and the first hyphens.
 *
 * @param parts  receives pieces of `text`.
 * @return 0, or -EBADMSG without two slashes, host, plugin or type; *parts is then untouched.
 */
int identifier_parse(const char *text, struct identifier *parts);

/** Whether a piece is this text. */
bool piece_is(const struct piece *piece, const char *text);

/** The order of two pieces, as strcmp(3) has it. */
int compare_pieces(const struct piece *a, const struct piece *b);

#endif
