/* SPDX-License-Identifier: MIT */
#include "top/screen.h"

#include <curses.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/terminal.h"
#include "top/display.h"
#include "top/help.h"
#include "top/layout.h"
#include "top/screen_alerts.h"

enum {
    HEAD_LINES = 2,  /* the header and the titles */
    LEGEND_FROM = 18 /* lower terminals have no line that explains the columns */
};

struct screen {
    struct terminal *terminal;
    struct display display;
    struct scrolling rows; /* those not pinned, as last drawn */
};

/* https://no-color.org: any value but an empty one. */
static bool colours_wanted(void)
{
    const char *no_color = getenv("NO_COLOR");
    return no_color == NULL || no_color[0] == '\0';
}

static void set_up_colours(struct display *display)
{
    display->colours = colours_wanted() && has_colors() && start_color() == OK;
    if (!display->colours)
        return;
    bool background = use_default_colors() == OK;
    init_pair(SEVERITY_CALM, COLOR_GREEN, background ? -1 : COLOR_BLACK);
    init_pair(SEVERITY_WARN, COLOR_YELLOW, background ? -1 : COLOR_BLACK);
    init_pair(SEVERITY_ALARM, COLOR_RED, background ? -1 : COLOR_BLACK);
}

int screen_open(struct screen **result)
{
    struct screen *screen = calloc(1, sizeof(*screen));
    if (screen == NULL)
        return -ENOMEM;
    int status = terminal_open(&screen->terminal);
    if (status != 0) {
        free(screen);
        return status;
    }
    screen->display.charset = label_charset();
    set_up_colours(&screen->display);
    *result = screen;
    return 0;
}

void screen_close(struct screen *screen)
{
    if (screen == NULL)
        return;
    terminal_close(screen->terminal);
    free(screen);
}

int screen_input(const struct screen *screen)
{
    return terminal_input(screen->terminal);
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
    int steps = screen->display.charset == LABEL_UTF8 ? 8 : 1;
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
    display_text(&screen->display, y, 0, name, layout->name);
    move(y, layout->name);
    for (size_t i = 0; i < column_count; i++) {
        if (!layout->shown[i])
            continue;
        attr_t attribute = display_attribute(&screen->display, row_severity(row, i));
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

/* "302 groups", "7 of 302 groups" */
static void format_count(const struct screen_view *view, char *text, size_t size)
{
    const size_t shown = table_count_groups(view->table), all = shown + view->missing;

    if (view->missing > 0)
        snprintf(text, size, "%zu of %zu groups", shown, all);
    else
        snprintf(text, size, "%zu group%s", shown, shown == 1 ? "" : "s");
}

/* The right part is the more important: it remains where only one fits. */
static void draw_header(const struct screen *screen, int width, const struct screen_view *view)
{
    char left[DISPLAY_LINE_SIZE], right[128], groups[64], clock[32];
    time_t seconds = time(NULL);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    const struct table *table = view->table;
    const char *host = table->count == 0      ? ""
                       : table->several_hosts ? "several hosts"
                                              : table->rows[0].host;
    snprintf(left, sizeof(left), "%s%s%s", host, *host != '\0' ? "  " : "", view->socket);
    format_count(view, groups, sizeof(groups));
    /* With a problem, the table is outdated. */
    if (view->problem[0] != '\0')
        snprintf(right, sizeof(right), "%s", clock);
    else
        snprintf(right, sizeof(right), "%s  by %s  %s", groups, view->sort->name, clock);
    int right_width = (int)strlen(right);
    int room = width - right_width - 2;
    bool both = room >= 8;
    if (both)
        display_text(&screen->display, 0, 0, left, room);
    mvaddnstr(0, both ? width - right_width : 0, right, width);
}

static void draw_footer(const struct screen *screen, int y, int width, const struct table *table)
{
    char position[64] = "", text[FOOTER_SIZE];
    bool present[COLUMN_MAX];
    const struct scrolling *rows = &screen->rows;
    size_t last = rows->offset + rows->page;
    if (rows->count > rows->page)
        snprintf(position, sizeof(position), "%zu-%zu/%zu", rows->offset + 1,
                 last < rows->count ? last : rows->count, rows->count);
    table_present(table, present);
    footer_fit(width, position, present, text);
    attrset(A_REVERSE);
    mvhline(y, 0, ' ', width);
    mvaddnstr(y, 0, text, width);
    attrset(A_NORMAL);
}

static void draw_problem(const struct screen *screen, int y, int bottom, int width,
                         const char *problem)
{
    char label[DISPLAY_LINE_SIZE];
    label_fit(problem, DISPLAY_LINE_SIZE, LABEL_ASCII, label, sizeof(label));
    attrset(display_attribute(&screen->display, SEVERITY_ALARM));
    display_lines(y, bottom, 0, label, width);
    attrset(A_NORMAL);
}

/* Rows of systems don't scroll, unless they would take half the screen. */
static size_t count_pinned(const struct table *table, size_t lines)
{
    size_t pinned = 0;
    while (pinned < table->count && row_is_system(&table->rows[pinned]))
        pinned++;
    return 2 * pinned > lines ? 0 : pinned;
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
    layout_fit(width, table_longest_label(table, screen->display.charset), present, &layout);
    if (titles)
        draw_titles(top++, &layout, view->sort);

    size_t lines = bottom > top ? (size_t)(bottom - top) : 0;
    size_t pinned = count_pinned(table, lines);
    screen->rows.page = lines - pinned;
    screen->rows.count = table->count - pinned;
    scrolling_clamp(&screen->rows);
    for (size_t line = 0; line < lines; line++) {
        size_t row = line < pinned ? line : line + screen->rows.offset;
        if (row < table->count)
            draw_row(screen, top + (int)line, &layout, table, &table->rows[row]);
    }
    if (view->lack[0] != '\0' && table->count < lines)
        display_lines(top + (int)table->count + 1, bottom, 0, view->lack, width);
    return pinned;
}

/* Draws that collectd is behind. Returns the lines that takes, which leave rows at least as many.
 */
static int draw_lateness(const struct screen *screen, int top, int bottom, int width,
                         const struct screen_view *view)
{
    char label[DISPLAY_LINE_SIZE];
    if (view->late[0] == '\0' || view->help)
        return 0;
    label_fit(view->late, DISPLAY_LINE_SIZE, LABEL_ASCII, label, sizeof(label));
    const int wanted = display_count_lines(label, width), most = (bottom - top) / 2;
    const int lines = wanted < most ? wanted : most;
    attrset(display_attribute(&screen->display, SEVERITY_ALARM));
    display_lines(top, top + lines, 0, label, width);
    attrset(A_NORMAL);
    return lines;
}

/* Draws the line that explains the columns. */
static void draw_legend(const struct screen *screen, int y, int width, const struct table *table)
{
    bool present[COLUMN_MAX];
    char text[HELP_SIZE];
    table_present(table, present);
    legend_fit(width, present, table_has_mark(table), "? help", text);
    attrset(A_DIM);
    display_sentence(&screen->display, y, 0, text, width);
    attrset(A_NORMAL);
}

static void draw_help(const struct screen *screen, int top, int bottom, int width,
                      const struct table *table)
{
    bool present[COLUMN_MAX];
    char text[HELP_SIZE];
    table_present(table, present);
    for (int y = top; y < bottom && help_line((size_t)(y - top), present, text); y++)
        display_sentence(&screen->display, y, 0, text, width);
}

void screen_draw(struct screen *screen, const struct screen_view *view)
{
    int height, width;
    getmaxyx(stdscr, height, width);
    /* With little height, rows are more important than header and footer. */
    bool header = height >= 3, titles = height >= 4, footer = height >= 5;
    bool legend = height >= LEGEND_FROM && view->problem[0] == '\0' && !view->help;
    int bottom = height - footer;
    int alerts = view->help ? 0
                            : screen_alerts_count_lines(&screen->display, view,
                                                        bottom - header - titles - legend, width);
    erase();
    if (header)
        draw_header(screen, width, view);
    if (view->problem[0] != '\0') {
        screen->rows.page = screen->rows.count = 0;
        draw_problem(screen, header ? HEAD_LINES : 0, bottom - alerts, width, view->problem);
    } else if (view->help) {
        draw_help(screen, header, bottom, width, view->table);
    } else {
        const int end = bottom - alerts - legend;
        const int top = header + draw_lateness(screen, header, end, width, view);
        draw_rows(screen, top, end, titles, width, view);
    }
    if (legend)
        draw_legend(screen, bottom - alerts - 1, width, view->table);
    if (!view->help)
        screen_alerts_draw(&screen->display, bottom - alerts, bottom, width, view);
    if (footer)
        draw_footer(screen, height - 1, width, view->table);
    terminal_refresh(screen->terminal);
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
    scrolling_handle_key(&screen->rows, key);
    return SCREEN_REDRAW;
}
