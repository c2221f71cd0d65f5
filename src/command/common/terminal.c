/* SPDX-License-Identifier: MIT */
#include "common/terminal.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
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

/* --- A terminal that takes no output -------------------------------------- */

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

enum { ENDING_SIGNALS = sizeof(ending_signals) / sizeof(ending_signals[0]) };

static volatile sig_atomic_t ending_signal; /* that came while drawing */

/* Has a write that waits go on: what the terminal hasn't taken yet is lost, and if it was stopped,
 * as by Ctrl-S, it goes on. May be called by a signal handler. */
static void drop_output(void)
{
    const int error = errno;
    struct termios modes;

    if (tcgetattr(STDOUT_FILENO, &modes) == 0) {
        modes.c_iflag &= ~(tcflag_t)IXON;
        tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
    }
    tcflush(STDOUT_FILENO, TCOFLUSH);
    errno = error;
}

static void on_signal(int number)
{
    ending_signal = number;
    drop_output();
}

static bool takes_output(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&output, 1, 0) != 0;
}

/* ncurses goes on with a write that a signal has interrupted, so that setting a flag ends nothing.
 */
void terminal_refresh(__attribute__((unused)) const struct terminal *terminal)
{
    struct sigaction action = {.sa_handler = on_signal}, before[ENDING_SIGNALS];
    sigset_t handled, mask;

    sigemptyset(&handled);
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        sigaction(ending_signals[i], NULL, &before[i]);
        if (before[i].sa_handler == SIG_IGN)
            continue;
        sigaction(ending_signals[i], &action, NULL);
        sigaddset(&handled, ending_signals[i]);
    }
    ending_signal = 0;
    sigprocmask(SIG_UNBLOCK, &handled, &mask);
    refresh();
    sigprocmask(SIG_SETMASK, &mask, NULL);
    for (size_t i = 0; i < ENDING_SIGNALS; i++)
        sigaction(ending_signals[i], &before[i], NULL);
    if (ending_signal != 0)
        raise(ending_signal); /* it is blocked, and handled where the caller waits */
}

void terminal_close(struct terminal *terminal)
{
    if (terminal == NULL)
        return;
    if (terminal->curses != NULL) {
        if (!takes_output())
            drop_output();
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
