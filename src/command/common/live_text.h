/* SPDX-License-Identifier: MIT */
/*
 * common/live_text.h - a text of lines that is shown again and again, on the terminal's alternate
 * screen, and scrolls by the cursor keys; the previous contents are back at the end.
 *
 * There is one at a time, used by one thread. The caller has set the locale and holds signals, see
 * waiting_hold_signals().
 */
#ifndef HEADROOM_COMMAND_COMMON_LIVE_TEXT_H
#define HEADROOM_COMMAND_COMMON_LIVE_TEXT_H

#include <stdbool.h>

#include "common/label.h"

struct live_text;

/**
 * Takes over the terminal that standard output is.
 *
 * @param result  the caller ends it with live_text_close(); untouched on failure.
 * @return 0, -ENOMEM, -ENOTTY when standard output is no terminal, or one in whose background this
 *         process is, or -EOPNOTSUPP when it can't be drawn on.
 */
int live_text_open(enum label_charset charset, struct live_text **result);

/** Restores the terminal. NULL is allowed. */
void live_text_close(struct live_text *live);

/** @return the descriptor of the keys, to be polled. */
int live_text_input(const struct live_text *live);

/** Whether all lines of a text are visible at once. */
bool live_text_fits(const struct live_text *live, const char *text);

/**
 * Shows a text, from the line on that is on top now. What could upset the terminal is shown as "?".
 *
 * @param text  of lines, each with its end; copied.
 * @param hint  shown at the bottom, with which of the lines are visible; copied.
 * @return 0 or -ENOMEM.
 */
int live_text_show(struct live_text *live, const char *text, const char *hint);

/** What the keys that were pressed ask for. */
enum live_text_request {
    LIVE_TEXT_NOTHING, /**< or what was done here: scrolling, another size */
    LIVE_TEXT_LETTER,  /**< another letter than q */
    LIVE_TEXT_QUIT     /**< q, or the terminal is gone */
};

/** Handles keys, once there is something to read, without waiting, up to one that is a request.
 * @param letter  receives it. */
enum live_text_request live_text_handle_keys(struct live_text *live, int *letter);

#endif
