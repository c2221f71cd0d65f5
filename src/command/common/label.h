/* SPDX-License-Identifier: MIT */
/*
 * common/label.h - names of groups and other texts, made fit to be shown: safe for a terminal, cut
 * to a width.
 *
 * They are bytes, mostly UTF-8, and may hold anything.
 */
#ifndef HEADROOM_COMMAND_COMMON_LABEL_H
#define HEADROOM_COMMAND_COMMON_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the place can show where a label goes. */
enum label_charset {
    LABEL_ASCII, /**< only ASCII: anything else becomes "?" */
    LABEL_UTF8
};

/**
 * Writes `name` so that it is safe to show: control characters, characters that turn the direction
 * of the text, and bytes that are no characters each become "?".
 *
 * @param width  at most this many terminal columns, counted by wcwidth(3); 0 or less gives "". What
 *               is longer is cut in its middle, between characters, and gets an ellipsis there.
 * @param label  receives the text. Every byte of `name` takes at most one byte, the ellipsis 3.
 * @param size   of label, at least 1. What doesn't fit is left out, between characters.
 * @return the columns the label takes.
 */
int label_fit(const char *name, int width, enum label_charset charset, char *label, size_t size);

/** The same, but what is longer is cut at its end: for sentences, whose beginning matters. */
int label_fit_start(const char *text, int width, enum label_charset charset, char *label,
                    size_t size);

/** @return the columns that label_fit() takes for `name` when it need not cut. */
int label_width(const char *name, enum label_charset charset);

#endif
