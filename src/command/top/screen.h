/* SPDX-License-Identifier: MIT */
/*
 * top/screen.h - the table on a terminal, through ncurses.
 *
 * There is one screen at a time, used by one thread. The caller has set the locale, and handlers
 * for the signals that end the process: ncurses handles only those left to their defaults, and
 * SIGWINCH.
 */
#ifndef HEADROOM_COMMAND_TOP_SCREEN_H
#define HEADROOM_COMMAND_TOP_SCREEN_H

#include "top/alerts.h"
#include "top/table.h"

struct screen;

/** What to show; the caller owns all of it. */
struct screen_view {
    const struct table *table;
    const char *problem; /**< shown instead of the rows; "" for none */
    const char *late; /**< shown above the rows: that collectd is behind, and why, and that groups
                         are missing; "" if neither is so */
    size_t missing;   /**< how many groups are; 0: none, or it isn't known */
    const char *lack; /**< shown below the rows: that there are no groups, and why; "" for none */
    const char *socket;
    const struct sort_key *sort;
    bool help;                       /**< show the page of help instead of the rows and alerts */
    const struct alert_list *alerts; /**< shown below the rows; NULL: not asked for */
    const char *alerts_file;         /**< where they are read from */
    const char *alerts_problem;      /**< why they can't be read; "" if they can */
};

/** What a key requests. */
enum screen_event {
    SCREEN_IDLE,   /**< no key is waiting */
    SCREEN_REDRAW, /**< something changed: scrolled, resized */
    SCREEN_LETTER, /**< a letter that the screen doesn't handle itself */
    SCREEN_QUIT
};

/**
 * Takes over the terminal that standard output is, and blocks SIGWINCH: the caller lets it in
 * where it waits for screen_input().
 *
 * @param result  the caller ends it with screen_close(); untouched on failure.
 * @return 0, -ENOTTY when standard output is no terminal or there is none to read keys from, or
 *         -EOPNOTSUPP when terminfo doesn't know it ($TERM) or it can't move the cursor.
 */
int screen_open(struct screen **result);

/** Restores the terminal. NULL is allowed. */
void screen_close(struct screen *screen);

/** Redraws everything. */
void screen_draw(struct screen *screen, const struct screen_view *view);

/** Reads a key without blocking. @param letter receives it with SCREEN_LETTER. */
enum screen_event screen_read(struct screen *screen, int *letter);

/** @return the descriptor of the keys, to be polled. */
int screen_input(const struct screen *screen);

#endif
