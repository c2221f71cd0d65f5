/* SPDX-License-Identifier: MIT */
#include "top/screen_alerts.h"

#include <stdio.h>
#include <string.h>

#include "top/alarms.h"
#include "top/alert_order.h"
#include "top/alert_text.h"

enum {
    ROWS_KEPT = 5, /* rows of the table that alerts don't displace */
    CLOCK_WIDTH = 8,
    WORD_WIDTH = 7,
    MESSAGE_COLUMN = CLOCK_WIDTH + 1 + WORD_WIDTH + 1,
    MESSAGE_LINES = 4,    /* of the main alert at most */
    MESSAGE_MIN_WIDTH = 8 /* a narrower message gets one line */
};

/* The alerts that are drawn, in their order. The first is the main one, which gets more than a
 * line. */
struct picked {
    const struct alert *alerts[ALERTS_SHOWN];
    size_t count;
};

static struct picked pick_alerts(const struct alert_list *list, size_t most)
{
    struct picked picked;

    picked.count = alert_order(list, picked.alerts, most < ALERTS_SHOWN ? most : ALERTS_SHOWN);
    return picked;
}

/* What of an alert is said: that it is over, which colours say, too, and then what it was. */
static void write_message(const struct alert *alert, bool with_host, char text[ALERT_TEXT_SIZE])
{
    char message[ALERT_TEXT_SIZE];

    alert_text(alert, with_host, message);
    if (snprintf(text, ALERT_TEXT_SIZE, "%s%s", alert_state(alert), message) >= ALERT_TEXT_SIZE)
        text[ALERT_TEXT_SIZE - 1] = '\0';
}

/*
 * Fits the text of the main alert into some lines behind MESSAGE_COLUMN. The waiting tasks are at
 * its end, so it is cut in its middle, no more than necessary. Returns the lines it takes.
 */
static int fit_main_alert(const struct display *display, const struct screen_view *view, int lines,
                          int width, char label[DISPLAY_LINE_SIZE])
{
    const struct picked picked = pick_alerts(view->alerts, 1);
    char text[ALERT_TEXT_SIZE];
    width -= MESSAGE_COLUMN;
    int most = width < MESSAGE_MIN_WIDTH ? 1 : lines < MESSAGE_LINES ? lines : MESSAGE_LINES;
    int room = most * width, taken;
    write_message(picked.alerts[0], view->table->several_hosts, text);
    do {
        label_fit(text, room--, display->charset, label, DISPLAY_LINE_SIZE);
        taken = display_count_lines(label, width);
    } while (taken > most);
    return taken > 0 ? taken : 1;
}

/* Returns how many lines the heading and all alerts would take. */
static int count_alert_lines(const struct display *display, const struct screen_view *view,
                             int width)
{
    char label[DISPLAY_LINE_SIZE];
    size_t count = view->alerts->count;
    if (count == 0)
        return 1;
    int others = (int)(count < ALERTS_SHOWN ? count : ALERTS_SHOWN) - 1;
    return 1 + others + fit_main_alert(display, view, MESSAGE_LINES, width, label);
}

int screen_alerts_count_lines(const struct display *display, const struct screen_view *view,
                              int room, int width)
{
    if (view->alerts == NULL)
        return 0;
    size_t rows = view->table->count < ROWS_KEPT ? view->table->count : ROWS_KEPT;
    /* One line more than its length requires, as it is broken at blanks. */
    if (view->problem[0] != '\0')
        rows = strlen(view->problem) / (size_t)width + 2;
    int spare = room - (int)rows, wanted = count_alert_lines(display, view, width);
    return spare < 0 ? 0 : spare < wanted ? spare : wanted;
}

/* Whether all that last are drawn, also those of one wait, that count once. */
static bool are_all_drawn(const struct alert_list *list, const struct picked *picked)
{
    size_t count = 0, drawn = 0;

    for (size_t i = 0; i < list->count; i++)
        count += alert_is_first(&list->entries[i]);
    for (size_t i = 0; i < picked->count; i++)
        drawn += alert_is_first(picked->alerts[i]);
    return drawn == count;
}

/* Says how many alarms last, unless all are drawn. */
static void draw_alerts_heading(const struct display *display, int y, int width,
                                const struct screen_view *view, const struct picked *picked)
{
    char text[DISPLAY_LINE_SIZE];
    const char *problem = view->alerts_problem;
    bool none = view->alerts->count == 0;
    if (problem[0] != '\0')
        snprintf(text, sizeof(text), "%s: %s", none ? "no alerts" : "alerts", problem);
    else if (!are_all_drawn(view->alerts, picked))
        snprintf(text, sizeof(text), "alerts in %s; %zu alarms last", view->alerts_file,
                 alerts_count_lasting(view->alerts));
    else
        snprintf(text, sizeof(text), "%s in %s", none ? "no alerts" : "alerts", view->alerts_file);
    attrset(none || problem[0] != '\0' ? A_DIM : A_BOLD);
    display_sentence(display, y, 0, text, width);
    attrset(A_NORMAL);
}

static bool has_ended(const struct alert *alert)
{
    return alarm_has_end(alert) && !alert_lasts(alert);
}

/* Draws the time and the severity, which catches the eye unless the alarm has ended. */
static void draw_severity(const struct display *display, int y, int width,
                          const struct alert *alert)
{
    static const enum severity severities[] = {
        [ALERT_FAILURE] = SEVERITY_ALARM,
        [ALERT_WARNING] = SEVERITY_WARN,
        [ALERT_OKAY] = SEVERITY_CALM,
    };
    const int word = CLOCK_WIDTH + 1;
    display_text(display, y, 0, alert_clock(alert), width);
    attrset(has_ended(alert) ? A_DIM : display_attribute(display, severities[alert->severity]));
    display_sentence(display, y, word, alert_word(alert->severity), width - word);
    attrset(A_NORMAL);
}

static void draw_other_alert(const struct display *display, int y, int width, bool with_host,
                             const struct alert *alert)
{
    char text[ALERT_TEXT_SIZE];
    draw_severity(display, y, width, alert);
    write_message(alert, with_host, text);
    display_sentence(display, y, MESSAGE_COLUMN, text, width - MESSAGE_COLUMN);
}

void screen_alerts_draw(const struct display *display, int top, int bottom, int width,
                        const struct screen_view *view)
{
    char label[DISPLAY_LINE_SIZE] = "";
    if (bottom <= top)
        return;
    const int lines =
        view->alerts->count > 0 ? fit_main_alert(display, view, bottom - top, width, label) : 0;
    const int room = bottom - top - lines; /* for the heading, and a line for each other one */
    const struct picked picked = pick_alerts(view->alerts, room > 0 ? (size_t)room : 1);
    if (room > 0)
        draw_alerts_heading(display, top++, width, view, &picked);
    for (size_t i = 0; i < picked.count; i++) {
        if (i > 0) {
            draw_other_alert(display, top++, width, view->table->several_hosts, picked.alerts[i]);
            continue;
        }
        draw_severity(display, top, width, picked.alerts[i]);
        display_lines(top, top + lines, MESSAGE_COLUMN, label, width);
        top += lines;
    }
}
