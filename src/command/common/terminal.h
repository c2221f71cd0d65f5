/* SPDX-License-Identifier: MIT */
/*
 * common/terminal.h - a terminal that is taken over, through ncurses, and its keys.
 *
 * There is one at a time, used by one thread. The caller has set the locale, and handlers for the
 * signals that end the process: ncurses handles only those left to their defaults, and SIGWINCH.
 */
#ifndef HEADROOM_COMMAND_COMMON_TERMINAL_H
#define HEADROOM_COMMAND_COMMON_TERMINAL_H

#include <stddef.h>

struct terminal;

/**
 * Takes over the terminal that standard output is, and blocks SIGWINCH: the caller lets it in
 * where it waits for terminal_input().
 *
 * @param result  the caller ends it with terminal_close(); untouched on failure.
 * @return 0, -ENOMEM, -ENOTTY when standard output is no terminal or there is none to read keys
 *         from, or -EOPNOTSUPP when terminfo doesn't know it ($TERM) or it can't move the cursor.
 */
int terminal_open(struct terminal **result);

/**
 * Draws what has changed. While the terminal takes nothing, as after Ctrl-S, this waits; a signal
 * that ends programs, which the caller has blocked, ends that, and stays for where the caller lets
 * it in.
 */
void terminal_refresh(const struct terminal *terminal);

/** Restores the terminal. What it doesn't take is dropped. NULL is allowed. */
void terminal_close(struct terminal *terminal);

/** @return the descriptor of the keys, to be polled. */
int terminal_input(const struct terminal *terminal);

/** Lines of which a page is visible, from `offset` on. */
struct scrolling {
    size_t offset; /**< lines scrolled away at the top */
    size_t page;   /**< how many are visible, … */
    size_t count;  /**< … and how many there are */
};

/** Scrolls by a key of ncurses, if it is one that scrolls. */
void scrolling_handle_key(struct scrolling *scrolling, int key);

/** Has the last page be full, after `page` or `count` has changed. */
void scrolling_clamp(struct scrolling *scrolling);

#endif
