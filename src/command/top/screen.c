/* SPDX-License-Identifier: MIT */
#include "top/screen.h"

#include <curses.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "common/label.h"
#include "headroom/utf8.h"
#include "top/alert_text.h"
#include "top/help.h"
#include "top/layout.h"

enum {
    TEXT_SIZE = 1024, /* of a line; terminals are narrower */
    HEAD_LINES = 2,   /* the header and the titles */
    ROWS_KEPT = 5,    /* rows of the table that alerts don't displace */
    LEGEND_FROM = 18, /* lower terminals have no line that explains the columns */
    CLOCK_WIDTH = 8,
    WORD_WIDTH = 7,
    MESSAGE_COLUMN = CLOCK_WIDTH + 1 + WORD_WIDTH + 1,
    MESSAGE_LINES = 4,     /* of the main alert at most */
    MESSAGE_MIN_WIDTH = 8, /* a narrower message gets one line */
    ESCAPE_WAIT_MS = 25
};

struct screen {
    SCREEN *curses;
    FILE *keys;
    enum label_charset charset;
    bool colours;
    size_t offset;    /* rows scrolled away, of those not pinned */
    size_t page;      /* as last drawn: how many of the rows that scroll are visible, … */
    size_t scrolling; /* … and how many there are */
};

static FILE *open_keys(void)
{
    return isatty(STDIN_FILENO) ? stdin : fopen("/dev/tty", "re");
}

/* https://no-color.org: any value but an empty one. */
static bool colours_wanted(void)
{
    const char *no_color = getenv("NO_COLOR");
    return no_color == NULL || no_color[0] == '\0';
}

static void set_up_terminal(struct screen *screen)
{
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_WAIT_MS);
    curs_set(0);
    screen->colours = colours_wanted() && has_colors() && start_color() == OK;
    if (!screen->colours)
        return;
    bool background = use_default_colors() == OK;
    init_pair(SEVERITY_CALM, COLOR_GREEN, background ? -1 : COLOR_BLACK);
    init_pair(SEVERITY_WARN, COLOR_YELLOW, background ? -1 : COLOR_BLACK);
    init_pair(SEVERITY_ALARM, COLOR_RED, background ? -1 : COLOR_BLACK);
}

/* newterm() doesn't require it; without it lines can't be updated. */
static bool can_move_cursor(void)
{
    const char *move = tigetstr("cup");
    return move != NULL && move != (char *)-1;
}

/* Restores the terminal if it was taken over, and frees the screen. */
static void free_screen(struct screen *screen)
{
    if (screen->curses != NULL) {
        endwin();
        delscreen(screen->curses);
    }
    if (screen->keys != NULL && screen->keys != stdin)
        fclose(screen->keys);
    free(screen);
}

int screen_open(struct screen **result)
{
    if (!isatty(STDOUT_FILENO))
        return -ENOTTY;
    struct screen *screen = calloc(1, sizeof(*screen));
    if (screen == NULL)
        return -ENOMEM;
    screen->keys = open_keys();
    if (screen->keys == NULL) {
        free_screen(screen);
        return -ENOTTY;
    }
    screen->curses = newterm(NULL, stdout, screen->keys);
    if (screen->curses == NULL || !can_move_cursor()) {
        free_screen(screen);
        return -EOPNOTSUPP;
    }
    screen->charset = label_charset();
    set_up_terminal(screen);
    *result = screen;
    return 0;
}

void screen_close(struct screen *screen)
{
    if (screen != NULL)
        free_screen(screen);
}

int screen_input(const struct screen *screen)
{
    return fileno(screen->keys);
}

/* Without colours, bold and reverse show the severities. */
static attr_t severity_attribute(const struct screen *screen, enum severity severity)
{
    static const attr_t plain[] = {
        [SEVERITY_NONE] = A_NORMAL,
        [SEVERITY_CALM] = A_NORMAL,
        [SEVERITY_WARN] = A_BOLD,
        [SEVERITY_ALARM] = A_REVERSE,
    };
    if (!screen->colours || severity == SEVERITY_NONE)
        return plain[severity];
    return (attr_t)COLOR_PAIR(severity);
}

/* Writes a text, made safe and cut to `width`. Returns its columns. */
static int draw_text(const struct screen *screen, int y, int x, const char *text, int width)
{
    char label[TEXT_SIZE];
    int taken = label_fit(text, width, screen->charset, label, sizeof(label));
    mvaddstr(y, x, label);
    return taken;
}

/* The same for a sentence, which is cut at its end. */
static void draw_sentence(const struct screen *screen, int y, int x, const char *text, int width)
{
    char label[TEXT_SIZE];
    label_fit_start(text, width, screen->charset, label, sizeof(label));
    mvaddstr(y, x, label);
}

/* A bar of eighths of a character, or of # where the terminal has no UTF-8. */
static void draw_bar(const struct screen *screen, int width, double value)
{
    static const char *const eighths[] = {"",
                                          "\xe2\x96\x8f",
                                          "\xe2\x96\x8e",
                                          "\xe2\x96\x8d",
                                          "\xe2\x96\x8c",
                                          "\xe2\x96\x8b",
                                          "\xe2\x96\x8a",
                                          "\xe2\x96\x89",
                                          "\xe2\x96\x88"};
    int steps = screen->charset == LABEL_UTF8 ? 8 : 1;
    double share = isnan(value) || value < 0 ? 0 : value > 100 ? 1 : value / 100;
    int filled = (int)lround(share * width * steps);
    for (int i = 0; i < width; i++, filled -= steps) {
        if (filled <= 0)
            addch(' ');
        else if (steps == 1)
            addch('#');
        else
            addstr(eighths[filled < steps ? filled : steps]);
    }
}

static void draw_row(const struct screen *screen, int y, const struct layout *layout,
                     const struct table *table, const struct row *row)
{
    char name[ROW_NAME_SIZE], text[16];
    row_label(table, row, name, sizeof(name));
    draw_text(screen, y, 0, name, layout->name);
    move(y, layout->name);
    for (size_t i = 0; i < column_count; i++) {
        if (!layout->shown[i])
            continue;
        attr_t attribute = severity_attribute(screen, row_severity(row, i));
        if (layout->bar > 0 && columns[i].drawn == COLUMN_BAR) {
            addch(' ');
            /* Reversed, the empty part of a bar would look full. */
            attrset(attribute & ~A_REVERSE);
            draw_bar(screen, layout->bar, row->values[i]);
            attrset(A_NORMAL);
        }
        row_format(row, i, text);
        addch(' ');
        attrset(attribute);
        printw("%*s", NUMBER_WIDTH, text);
        attrset(A_NORMAL);
    }
}

static void draw_titles(int y, const struct layout *layout, const struct sort_key *sort)
{
    attrset(A_BOLD);
    mvaddnstr(y, 0, "group", layout->name);
    move(y, layout->name);
    for (size_t i = 0; i < column_count; i++) {
        if (!layout->shown[i])
            continue;
        bool bar = layout->bar > 0 && columns[i].drawn == COLUMN_BAR;
        int width = NUMBER_WIDTH + (bar ? layout->bar + 1 : 0);
        addch(' ');
        printw("%*s", width - (int)strlen(columns[i].title), "");
        attrset(sort->column == (int)i ? A_BOLD | A_UNDERLINE : A_BOLD);
        addstr(columns[i].title);
        attrset(A_BOLD);
    }
    attrset(A_NORMAL);
}

/* The right part is the more important: it remains where only one fits. */
static void draw_header(const struct screen *screen, int width, const struct screen_view *view)
{
    char left[TEXT_SIZE], right[128], clock[32];
    time_t seconds = time(NULL);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    const struct table *table = view->table;
    const char *host = table->count == 0      ? ""
                       : table->several_hosts ? "several hosts"
                                              : table->rows[0].host;
    snprintf(left, sizeof(left), "%s%s%s", host, *host != '\0' ? "  " : "", view->socket);
    /* With a problem, the table is outdated. */
    if (view->problem[0] != '\0')
        snprintf(right, sizeof(right), "%s", clock);
    else
        snprintf(right, sizeof(right), "%zu group%s  by %s  %s", table->count,
                 table->count == 1 ? "" : "s", view->sort->name, clock);
    int right_width = (int)strlen(right);
    int room = width - right_width - 2;
    bool both = room >= 8;
    if (both)
        draw_text(screen, 0, 0, left, room);
    mvaddnstr(0, both ? width - right_width : 0, right, width);
}

static void draw_footer(const struct screen *screen, int y, int width, const struct table *table)
{
    char position[64] = "", text[FOOTER_SIZE];
    bool present[COLUMN_MAX];
    size_t last = screen->offset + screen->page;
    if (screen->scrolling > screen->page)
        snprintf(position, sizeof(position), "%zu-%zu/%zu", screen->offset + 1,
                 last < screen->scrolling ? last : screen->scrolling, screen->scrolling);
    table_present(table, present);
    footer_fit(width, position, present, text);
    attrset(A_REVERSE);
    mvhline(y, 0, ' ', width);
    mvaddnstr(y, 0, text, width);
    attrset(A_NORMAL);
}

/* Returns the bytes of a safe text that fit into `width` columns: at least one character. */
static size_t fitting_length(const char *text, int width)
{
    size_t length = 0;
    while (text[length] != '\0') {
        uint32_t character;
        size_t bytes = hr_utf8_decode(text + length, &character);
        int taken = wcwidth((wchar_t)character);
        width -= taken < 0 ? 1 : taken;
        if (width < 0 && length > 0)
            break;
        length += bytes;
    }
    return length;
}

/*
 * Removes a line of at most `width` columns from a text that label_fit() made safe. It ends at a
 * blank; only words longer than a line are broken. Returns its bytes.
 */
static size_t split_line(const char **rest, int width)
{
    const char *text = *rest;
    size_t length = fitting_length(text, width);
    const char *space = memrchr(text, ' ', length);
    if (text[length] != '\0' && text[length] != ' ' && space != NULL && space > text &&
        fitting_length(space + 1, width) >= strcspn(space + 1, " "))
        length = (size_t)(space - text);
    *rest = text + length + strspn(text + length, " ");
    return length;
}

static int count_lines(const char *text, int width)
{
    int lines = 0;
    for (; *text != '\0'; lines++)
        split_line(&text, width);
    return lines;
}

/* Draws a safe text from `x` on, into the lines from `y` to before `bottom`. */
static void draw_lines(int y, int bottom, int x, const char *text, int width)
{
    for (; *text != '\0' && y < bottom; y++) {
        const char *line = text;
        size_t length = split_line(&text, width - x);
        mvaddnstr(y, x, line, (int)length);
    }
}

static void draw_problem(const struct screen *screen, int y, int bottom, int width,
                         const char *problem)
{
    char label[TEXT_SIZE];
    label_fit(problem, TEXT_SIZE, LABEL_ASCII, label, sizeof(label));
    attrset(severity_attribute(screen, SEVERITY_ALARM));
    draw_lines(y, bottom, 0, label, width);
    attrset(A_NORMAL);
}

/* The alerts that are drawn, in their order: the newest of the alarms that last, then the newest of
 * the others. */
struct picked {
    const struct alert *alerts[ALERTS_SHOWN];
    size_t count, lasting;
};

/* Puts the newest of the list that last, or don't, before those that are there. */
static void pick_newest(const struct alert_list *list, bool that_last, size_t most,
                        struct picked *picked)
{
    for (size_t i = list->count; i > 0 && picked->count < most; i--) {
        if (alert_lasts(&list->entries[i - 1]) != that_last)
            continue;
        memmove(picked->alerts + 1, picked->alerts, picked->count * sizeof(picked->alerts[0]));
        picked->alerts[0] = &list->entries[i - 1];
        picked->count++;
    }
}

static struct picked pick_alerts(const struct alert_list *list, size_t most)
{
    struct picked lasting = {.count = 0}, others = {.count = 0};
    most = most < ALERTS_SHOWN ? most : ALERTS_SHOWN;
    pick_newest(list, true, most, &lasting);
    pick_newest(list, false, most - lasting.count, &others);
    memcpy(lasting.alerts + lasting.count, others.alerts, others.count * sizeof(others.alerts[0]));
    lasting.lasting = lasting.count;
    lasting.count += others.count;
    return lasting;
}

/* The newest that lasts, or the newest: it gets more than a line. */
static size_t find_main(const struct picked *picked)
{
    return (picked->lasting > 0 ? picked->lasting : picked->count) - 1;
}

/*
 * Fits the text of the main alert into some lines behind MESSAGE_COLUMN. The waiting tasks are at
 * its end, so it is cut in its middle, no more than necessary. Returns the lines it takes.
 */
static int fit_main_alert(const struct screen *screen, const struct screen_view *view, int lines,
                          int width, char label[TEXT_SIZE])
{
    const struct picked picked = pick_alerts(view->alerts, 1);
    char text[ALERT_TEXT_SIZE];
    width -= MESSAGE_COLUMN;
    int most = width < MESSAGE_MIN_WIDTH ? 1 : lines < MESSAGE_LINES ? lines : MESSAGE_LINES;
    int room = most * width, taken;
    alert_text(picked.alerts[0], view->table->several_hosts, text);
    do {
        label_fit(text, room--, screen->charset, label, TEXT_SIZE);
        taken = count_lines(label, width);
    } while (taken > most);
    return taken > 0 ? taken : 1;
}

/* Returns how many lines the heading and all alerts would take. */
static int count_alert_lines(const struct screen *screen, const struct screen_view *view, int width)
{
    char label[TEXT_SIZE];
    size_t count = view->alerts->count;
    if (count == 0)
        return 1;
    int others = (int)(count < ALERTS_SHOWN ? count : ALERTS_SHOWN) - 1;
    return 1 + others + fit_main_alert(screen, view, MESSAGE_LINES, width, label);
}

/* Returns how many of `room` lines the alerts get: those that rows or the problem don't need. */
static int count_lines_for_alerts(const struct screen *screen, const struct screen_view *view,
                                  int room, int width)
{
    if (view->alerts == NULL)
        return 0;
    size_t rows = view->table->count < ROWS_KEPT ? view->table->count : ROWS_KEPT;
    /* One line more than its length requires, as it is broken at blanks. */
    if (view->problem[0] != '\0')
        rows = strlen(view->problem) / (size_t)width + 2;
    int spare = room - (int)rows, wanted = count_alert_lines(screen, view, width);
    return spare < 0 ? 0 : spare < wanted ? spare : wanted;
}

/* Says how many alarms last, unless all are drawn. */
static void draw_alerts_heading(const struct screen *screen, int y, int width,
                                const struct screen_view *view, size_t drawn)
{
    char text[TEXT_SIZE];
    const char *problem = view->alerts_problem;
    const size_t lasting = alerts_count_lasting(view->alerts);
    bool none = view->alerts->count == 0;
    if (problem[0] != '\0')
        snprintf(text, sizeof(text), "%s: %s", none ? "no alerts" : "alerts", problem);
    else if (lasting > drawn)
        snprintf(text, sizeof(text), "alerts in %s; %zu alarms last", view->alerts_file, lasting);
    else
        snprintf(text, sizeof(text), "%s in %s", none ? "no alerts" : "alerts", view->alerts_file);
    attrset(none || problem[0] != '\0' ? A_DIM : A_BOLD);
    draw_sentence(screen, y, 0, text, width);
    attrset(A_NORMAL);
}

/* Draws the time and the severity. */
static void draw_severity(const struct screen *screen, int y, int width, const struct alert *alert)
{
    static const enum severity severities[] = {
        [ALERT_FAILURE] = SEVERITY_ALARM,
        [ALERT_WARNING] = SEVERITY_WARN,
        [ALERT_OKAY] = SEVERITY_CALM,
    };
    const int word = CLOCK_WIDTH + 1;
    draw_text(screen, y, 0, alert_clock(alert), width);
    attrset(severity_attribute(screen, severities[alert->severity]));
    draw_sentence(screen, y, word, alert_word(alert->severity), width - word);
    attrset(A_NORMAL);
}

static void draw_other_alert(const struct screen *screen, int y, int width, bool with_host,
                             const struct alert *alert)
{
    char text[ALERT_TEXT_SIZE];
    draw_severity(screen, y, width, alert);
    alert_text(alert, with_host, text);
    draw_sentence(screen, y, MESSAGE_COLUMN, text, width - MESSAGE_COLUMN);
}

/*
 * Draws the alerts into the lines from `top` to before `bottom`: alarms that last, then others.
 * With few lines, the main one is drawn rather than the heading, and the heading rather than the
 * others.
 */
static void draw_alerts(const struct screen *screen, int top, int bottom, int width,
                        const struct screen_view *view)
{
    char label[TEXT_SIZE] = "";
    if (bottom <= top)
        return;
    const int lines =
        view->alerts->count > 0 ? fit_main_alert(screen, view, bottom - top, width, label) : 0;
    const int room = bottom - top - lines; /* for the heading, and a line for each other one */
    const struct picked picked = pick_alerts(view->alerts, room > 0 ? (size_t)room : 1);
    if (room > 0)
        draw_alerts_heading(screen, top++, width, view, picked.lasting);
    for (size_t i = 0; i < picked.count; i++) {
        if (i != find_main(&picked)) {
            draw_other_alert(screen, top++, width, view->table->several_hosts, picked.alerts[i]);
            continue;
        }
        draw_severity(screen, top, width, picked.alerts[i]);
        draw_lines(top, top + lines, MESSAGE_COLUMN, label, width);
        top += lines;
    }
}

/* Rows of systems don't scroll, unless they would take half the screen. */
static size_t count_pinned(const struct table *table, size_t lines)
{
    size_t pinned = 0;
    while (pinned < table->count && row_is_system(&table->rows[pinned]))
        pinned++;
    return 2 * pinned > lines ? 0 : pinned;
}

static void clamp_offset(struct screen *screen)
{
    size_t most = screen->scrolling > screen->page ? screen->scrolling - screen->page : 0;
    if (screen->offset > most)
        screen->offset = most;
}

/* Draws the titles and rows into the lines from `top` to before `bottom`. Returns how many rows are
 * pinned. */
static size_t draw_rows(struct screen *screen, int top, int bottom, bool titles, int width,
                        const struct screen_view *view)
{
    const struct table *table = view->table;
    bool present[COLUMN_MAX];
    struct layout layout;
    table_present(table, present);
    layout_fit(width, table_longest_label(table, screen->charset), present, &layout);
    if (titles)
        draw_titles(top++, &layout, view->sort);

    size_t lines = bottom > top ? (size_t)(bottom - top) : 0;
    size_t pinned = count_pinned(table, lines);
    screen->page = lines - pinned;
    screen->scrolling = table->count - pinned;
    clamp_offset(screen);
    for (size_t line = 0; line < lines; line++) {
        size_t row = line < pinned ? line : line + screen->offset;
        if (row < table->count)
            draw_row(screen, top + (int)line, &layout, table, &table->rows[row]);
    }
    if (view->lack[0] != '\0' && table->count < lines)
        draw_lines(top + (int)table->count + 1, bottom, 0, view->lack, width);
    return pinned;
}

/* Draws the line that explains the columns. */
static void draw_legend(const struct screen *screen, int y, int width, const struct table *table)
{
    bool present[COLUMN_MAX];
    char text[HELP_SIZE];
    table_present(table, present);
    legend_fit(width, present, table_has_mark(table), "? help", text);
    attrset(A_DIM);
    draw_sentence(screen, y, 0, text, width);
    attrset(A_NORMAL);
}

static void draw_help(const struct screen *screen, int top, int bottom, int width,
                      const struct table *table)
{
    bool present[COLUMN_MAX];
    char text[HELP_SIZE];
    table_present(table, present);
    for (int y = top; y < bottom && help_line((size_t)(y - top), present, text); y++)
        draw_sentence(screen, y, 0, text, width);
}

void screen_draw(struct screen *screen, const struct screen_view *view)
{
    int height, width;
    getmaxyx(stdscr, height, width);
    /* With little height, rows are more important than header and footer. */
    bool header = height >= 3, titles = height >= 4, footer = height >= 5;
    bool legend = height >= LEGEND_FROM && view->problem[0] == '\0' && !view->help;
    int bottom = height - footer;
    int alerts =
        view->help ? 0
                   : count_lines_for_alerts(screen, view, bottom - header - titles - legend, width);
    erase();
    if (header)
        draw_header(screen, width, view);
    if (view->problem[0] != '\0') {
        screen->page = screen->scrolling = 0;
        draw_problem(screen, header ? HEAD_LINES : 0, bottom - alerts, width, view->problem);
    } else if (view->help) {
        draw_help(screen, header, bottom, width, view->table);
    } else {
        draw_rows(screen, header, bottom - alerts - legend, titles, width, view);
    }
    if (legend)
        draw_legend(screen, bottom - alerts - 1, width, view->table);
    if (!view->help)
        draw_alerts(screen, bottom - alerts, bottom, width, view);
    if (footer)
        draw_footer(screen, height - 1, width, view->table);
    refresh();
}

static size_t scrolled_offset(const struct screen *screen, int key)
{
    size_t page = screen->page > 0 ? screen->page : 1, offset = screen->offset;
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
        return screen->scrolling;
    default:
        return offset;
    }
}

enum screen_event screen_read(struct screen *screen, int *letter)
{
    int key = getch();
    if (key == ERR)
        return SCREEN_IDLE;
    if (key == 'q')
        return SCREEN_QUIT;
    if (key > ' ' && key < 0x7f) {
        *letter = key;
        return SCREEN_LETTER;
    }
    screen->offset = scrolled_offset(screen, key);
    clamp_offset(screen);
    return SCREEN_REDRAW;
}
