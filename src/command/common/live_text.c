/* SPDX-License-Identifier: MIT */
#include "common/live_text.h"

#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/terminal.h"

#define LINE_SIZE 1024 /* terminals are narrower */

/* Reads without a key though there was something to read: the terminal is gone. A few signals give
 * none, either. */
#define EMPTY_READS_MAX 100

struct live_text {
    struct terminal *terminal;
    enum label_charset charset;
    struct scrolling scrolling;
    char *text, *hint;
    unsigned empty_reads; /* one after the other */
};

/* In the background, setting up the terminal would stop the process, in the middle of what it
 * measures. A terminal that isn't the session's stops none. */
static bool is_in_background(void)
{
    const pid_t foreground = tcgetpgrp(STDOUT_FILENO);
    return foreground != -1 && foreground != getpgrp();
}

int live_text_open(enum label_charset charset, struct live_text **result)
{
    if (is_in_background())
        return -ENOTTY;
    struct live_text *live = calloc(1, sizeof(*live));
    if (live == NULL)
        return -ENOMEM;
    int status = terminal_open(&live->terminal);
    if (status != 0) {
        free(live);
        return status;
    }
    live->charset = charset;
    *result = live;
    return 0;
}

void live_text_close(struct live_text *live)
{
    if (live == NULL)
        return;
    terminal_close(live->terminal);
    free(live->text);
    free(live->hint);
    free(live);
}

int live_text_input(const struct live_text *live)
{
    return terminal_input(live->terminal);
}

/* --- Drawing -------------------------------------------------------------- */

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

/* The last line is the hint's. */
static size_t count_visible_lines(void)
{
    return LINES > 1 ? (size_t)LINES - 1 : 1;
}

bool live_text_fits(__attribute__((unused)) const struct live_text *live, const char *text)
{
    return count_lines(text) <= count_visible_lines();
}

static const char *skip_lines(const char *text, size_t count)
{
    for (; count > 0; count--)
        text = strchr(text, '\n') + 1;
    return text;
}

/* Returns what follows it. */
static const char *draw_line(const struct live_text *live, int y, const char *text)
{
    char line[LINE_SIZE], label[LINE_SIZE];
    const size_t length = strcspn(text, "\n");
    const size_t kept = length < sizeof(line) ? length : sizeof(line) - 1;

    memcpy(line, text, kept);
    line[kept] = '\0';
    label_fit_start(line, COLS, live->charset, label, sizeof(label));
    mvaddstr(y, 0, label);
    return text + length + 1;
}

static void draw_hint(const struct live_text *live, int y)
{
    const struct scrolling *lines = &live->scrolling;
    const size_t end = lines->offset + lines->page;
    char text[LINE_SIZE], label[LINE_SIZE];

    if (lines->count > lines->page)
        snprintf(text, sizeof(text), "lines %zu-%zu of %zu  %s", lines->offset + 1, end,
                 lines->count, live->hint);
    else
        snprintf(text, sizeof(text), "%s", live->hint);
    label_fit_start(text, COLS, live->charset, label, sizeof(label));
    attrset(A_REVERSE);
    mvhline(y, 0, ' ', COLS);
    mvaddstr(y, 0, label);
    attrset(A_NORMAL);
}

static void draw(struct live_text *live)
{
    struct scrolling *lines = &live->scrolling;
    const char *rest = live->text;

    lines->page = count_visible_lines();
    lines->count = count_lines(live->text);
    scrolling_clamp(lines);
    rest = skip_lines(rest, lines->offset);
    erase();
    for (size_t i = 0; i < lines->page && lines->offset + i < lines->count; i++)
        rest = draw_line(live, (int)i, rest);
    if (LINES > 1)
        draw_hint(live, LINES - 1);
    terminal_refresh(live->terminal);
}

int live_text_show(struct live_text *live, const char *text, const char *hint)
{
    char *new_text = strdup(text), *new_hint = strdup(hint);

    if (new_text == NULL || new_hint == NULL) {
        free(new_text);
        free(new_hint);
        return -ENOMEM;
    }
    free(live->text);
    free(live->hint);
    live->text = new_text;
    live->hint = new_hint;
    draw(live);
    return 0;
}

/* --- Keys ----------------------------------------------------------------- */

enum live_text_request live_text_handle_keys(struct live_text *live, int *letter)
{
    int key;

    for (bool is_first = true; (key = getch()) != ERR || is_first; is_first = false) {
        live->empty_reads = key == ERR ? live->empty_reads + 1 : 0;
        if (key == ERR)
            return live->empty_reads < EMPTY_READS_MAX ? LIVE_TEXT_NOTHING : LIVE_TEXT_QUIT;
        if (key == 'q')
            return LIVE_TEXT_QUIT;
        if (key > ' ' && key < 0x7f) {
            *letter = key;
            return LIVE_TEXT_LETTER;
        }
        scrolling_handle_key(&live->scrolling, key);
        if (live->text != NULL)
            draw(live);
    }
    return LIVE_TEXT_NOTHING;
}
