/* SPDX-License-Identifier: MIT */
/*
 * common/label.h - names of groups and other texts, made safe for a terminal and cut to a width.
 *
 * Their bytes are mostly UTF-8, but can be anything.
 */
#ifndef HEADROOM_COMMAND_COMMON_LABEL_H
#define HEADROOM_COMMAND_COMMON_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the terminal, or other destination, can show. */
enum label_charset {
    LABEL_ASCII, /**< only ASCII: anything else becomes "?" */
    LABEL_UTF8
};

/** @return what the terminal can show by the locale. */
enum label_charset label_charset(void);

/**
 * Writes `name` so that it is safe to show: what hr_utf8_is_unsafe() has, and bytes that are not
 * UTF-8 each become "?".
 *
 * @param width  at most this many terminal columns, counted by wcwidth(3); 0 or less gives "". A
 *               longer name gets an ellipsis in place of its middle, between characters.
 * @param label  receives the text. Each byte of `name` takes at most one byte, the ellipsis 3.
 * @param size   of label, at least 1. Characters that don't fit are left out.
 * @return the columns that the label takes.
 */
int label_fit(const char *name, int width, enum label_charset charset, char *label, size_t size);

/** The same, but a longer text is cut at its end: for sentences. */
int label_fit_start(const char *text, int width, enum label_charset charset, char *label,
                    size_t size);

/** @return the columns that label_fit() takes for `name` without a cut. */
int label_width(const char *name, enum label_charset charset);

#endif
