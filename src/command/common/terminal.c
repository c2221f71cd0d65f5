/* SPDX-License-Identifier: MIT */
#include "common/terminal.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ESCAPE_WAIT_MS 25

struct terminal {
    SCREEN *curses;
    FILE *keys;
};

static FILE *open_keys(void)
{
    return isatty(STDIN_FILENO) ? stdin : fopen("/dev/tty", "re");
}

/* newterm() doesn't require it; without it lines can't be updated. */
static bool can_move_cursor(void)
{
    const char *move = tigetstr("cup");
    return move != NULL && move != (char *)-1;
}

/* newterm() reads the size first and handles SIGWINCH afterwards; one in between would be lost, and
 * with it the new size. The kernel keeps a blocked signal, also one that it would ignore. */
static void hold_size_changes(void)
{
    sigset_t changes;

    sigemptyset(&changes);
    sigaddset(&changes, SIGWINCH);
    sigprocmask(SIG_BLOCK, &changes, NULL);
}

static void set_up_keys(void)
{
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_WAIT_MS);
    curs_set(0);
}

int terminal_open(struct terminal **result)
{
    if (!isatty(STDOUT_FILENO))
        return -ENOTTY;
    struct terminal *terminal = calloc(1, sizeof(*terminal));
    if (terminal == NULL)
        return -ENOMEM;
    terminal->keys = open_keys();
    if (terminal->keys == NULL) {
        terminal_close(terminal);
        return -ENOTTY;
    }
    hold_size_changes();
    terminal->curses = newterm(NULL, stdout, terminal->keys);
    if (terminal->curses == NULL || !can_move_cursor()) {
        terminal_close(terminal);
        return -EOPNOTSUPP;
    }
    set_up_keys();
    *result = terminal;
    return 0;
}

void terminal_close(struct terminal *terminal)
{
    if (terminal == NULL)
        return;
    if (terminal->curses != NULL) {
        endwin();
        delscreen(terminal->curses);
    }
    if (terminal->keys != NULL && terminal->keys != stdin)
        fclose(terminal->keys);
    free(terminal);
}

int terminal_input(const struct terminal *terminal)
{
    return fileno(terminal->keys);
}

/* --- Scrolling ------------------------------------------------------------ */

void scrolling_clamp(struct scrolling *scrolling)
{
    const size_t most = scrolling->count > scrolling->page ? scrolling->count - scrolling->page : 0;

    if (scrolling->offset > most)
        scrolling->offset = most;
}

static size_t scrolled_offset(const struct scrolling *scrolling, int key)
{
    const size_t page = scrolling->page > 0 ? scrolling->page : 1, offset = scrolling->offset;

    switch (key) {
    case KEY_UP:
        return offset > 0 ? offset - 1 : 0;
    case KEY_DOWN:
        return offset + 1;
    case KEY_PPAGE:
        return offset > page ? offset - page : 0;
    case KEY_NPAGE:
        return offset + page;
    case KEY_HOME:
        return 0;
    case KEY_END:
        return scrolling->count;
    default:
        return offset;
    }
}

void scrolling_handle_key(struct scrolling *scrolling, int key)
{
    scrolling->offset = scrolled_offset(scrolling, key);
    scrolling_clamp(scrolling);
}
