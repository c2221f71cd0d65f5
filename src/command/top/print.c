/* SPDX-License-Identifier: MIT */
#include "top/print.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "common/json.h"
#include "common/label.h"
#include "common/output.h"
#include "headroom/utf8.h"
#include "top/alert_order.h"
#include "top/alert_text.h"
#include "top/help.h"
#include "top/layout.h"

enum { TITLE_SIZE = 64 };

static int print_name(FILE *out, const struct table *table, const struct row *row, int width)
{
    char name[ROW_NAME_SIZE], label[ROW_NAME_SIZE];
    row_name(table, row, name, sizeof(name));
    int taken = label_fit(name, INT_MAX, LABEL_UTF8, label, sizeof(label));
    if (out != NULL)
        fprintf(out, "%s%*s", label, width > taken ? width - taken : 0, "");
    return taken;
}

/* "cpu_some(%)" */
static void write_title(const struct column *column, char title[TITLE_SIZE])
{
    const char *unit = column->head_unit;
    if (unit != NULL)
        snprintf(title, TITLE_SIZE, "%s(%s)", column->key, unit);
    else
        snprintf(title, TITLE_SIZE, "%s", column->key);
}

/* A column is as wide as its heading, or as its values. */
static int line_width(const struct column *column)
{
    char title[TITLE_SIZE];
    write_title(column, title);
    int width = (int)strlen(title);
    return width < VALUE_WIDTH ? VALUE_WIDTH : width;
}

static void print_heading(FILE *out, const struct table *table, int name_width)
{
    char clock[32];
    time_t seconds = (time_t)table->time;
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(clock, sizeof(clock), "%Y-%m-%dT%H:%M:%S", &local);
    fprintf(out, "%-*s", name_width, "group");
    for (size_t i = 0; i < column_count; i++) {
        char title[TITLE_SIZE];
        write_title(&columns[i], title);
        fprintf(out, " %*s", line_width(&columns[i]), title);
    }
    fprintf(out, "  %s\n", clock);
}

/* The first of the new alerts. */
static const struct alert *first_fresh(const struct alert_list *alerts)
{
    return alerts->entries + alerts->count - alerts->fresh;
}

static void print_alert(FILE *out, const struct table *table, const struct alert *alert)
{
    char text[ALERT_TEXT_SIZE], label[ALERT_TEXT_SIZE];
    alert_text(alert, table->several_hosts, text);
    label_fit(text, INT_MAX, LABEL_UTF8, label, sizeof(label));
    fprintf(out, "alert %s %s %s%s\n", alert_clock(alert), alert_word(alert->severity),
            alert_state(alert), label);
}

static void print_alerts(FILE *out, const struct table *table, const struct alert_list *alerts)
{
    for (size_t i = 0; alerts != NULL && i < alerts->fresh; i++)
        print_alert(out, table, first_fresh(alerts) + i);
}

/* As on the screen, and of all that are kept, as there is no table before. */
static void print_alerts_in_order(FILE *out, const struct table *table,
                                  const struct alert_list *alerts)
{
    const struct alert *picked[ALERTS_SHOWN];
    const size_t count = alerts != NULL ? alert_order(alerts, picked, ALERTS_SHOWN) : 0;

    for (size_t i = 0; i < count; i++)
        print_alert(out, table, picked[i]);
}

/* As its column on the screen, but times in seconds, as the heading says. */
static void format_cell(const struct column *column, double value, char text[16])
{
    if (strcmp(column->unit, "s") == 0 && value >= 0 && value < 1e9)
        snprintf(text, 16, "%.0f", value);
    else
        column_format(column, value, column->decimals, text);
}

int print_lines(FILE *out, const struct table *table, const struct alert_list *alerts)
{
    int name_width = (int)strlen("group");
    for (size_t i = 0; i < table->count; i++) {
        int width = print_name(NULL, table, &table->rows[i], 0);
        name_width = width > name_width ? width : name_width;
    }
    print_heading(out, table, name_width);
    for (size_t i = 0; i < table->count; i++) {
        print_name(out, table, &table->rows[i], name_width);
        for (size_t column = 0; column < column_count; column++) {
            char text[16];
            format_cell(&columns[column], table->rows[i].values[column], text);
            fprintf(out, " %*s", line_width(&columns[column]), text);
        }
        fputs(table->rows[i].takes_most ? "  *\n" : "\n", out);
    }
    print_alerts(out, table, alerts);
    return output_flush(out);
}

/* --- For a reader ----------------------------------------------------------- */

/* The columns of the screen; a name takes no more than the longest one needs. */
static struct layout fit_layout(const struct table *table, int width)
{
    const int longest = table_longest_label(table, label_charset());
    bool present[COLUMN_MAX];
    struct layout layout;

    table_present(table, present);
    layout_fit(width, longest, present, &layout);
    for (size_t i = 0; i < column_count; i++)
        if (layout.bar > 0 && layout.shown[i] && columns[i].drawn == COLUMN_BAR)
            layout.name += layout.bar + 1;
    if (layout.name > longest)
        layout.name = longest;
    if (layout.name < (int)strlen("group"))
        layout.name = (int)strlen("group");
    return layout;
}

static void print_titles(FILE *out, const struct layout *layout)
{
    fprintf(out, "%-*s", layout->name, "group");
    for (size_t i = 0; i < column_count; i++)
        if (layout->shown[i])
            fprintf(out, " %*s", VALUE_WIDTH, columns[i].title);
    putc('\n', out);
}

static void print_row(FILE *out, const struct layout *layout, const struct table *table,
                      const struct row *row)
{
    char name[ROW_NAME_SIZE], label[ROW_NAME_SIZE], text[16];

    row_label(table, row, name, sizeof(name));
    const int taken = label_fit(name, layout->name, label_charset(), label, sizeof(label));
    fprintf(out, "%s%*s", label, layout->name - taken, "");
    for (size_t i = 0; i < column_count; i++) {
        if (!layout->shown[i])
            continue;
        row_format(row, i, text);
        fprintf(out, " %*s", VALUE_WIDTH, text);
    }
    putc('\n', out);
}

int print_readable(FILE *out, const struct table *table, const struct alert_list *alerts, int width)
{
    const struct layout layout = fit_layout(table, width);
    bool present[COLUMN_MAX];
    char legend[HELP_SIZE];

    print_titles(out, &layout);
    for (size_t i = 0; i < table->count; i++)
        print_row(out, &layout, table, &table->rows[i]);
    table_present(table, present);
    legend_fit(width, present, table_has_mark(table), "see headroom(1)", legend);
    fprintf(out, "%s\n", legend);
    print_alerts_in_order(out, table, alerts);
    return output_flush(out);
}

/* --- JSON ------------------------------------------------------------------- */

static void print_json_row(FILE *out, const struct row *row)
{
    json_print_text(out, "{\"host\":", row->host);
    json_print_text(out, ",\"group\":", row->group);
    for (size_t i = 0; i < column_count; i++) {
        fprintf(out, ",\"%s", columns[i].key);
        /* collectd sends seven digits. JSON has no infinity. */
        json_print_number(out, "\":", isfinite(row->values[i]), "%.7g", row->values[i]);
    }
    fprintf(out, ",\"takes_most_cpu\":%s}", row->takes_most ? "true" : "false");
}

static void print_json_alert(FILE *out, const struct alert *alert)
{
    static const char *const severities[] = {
        [ALERT_FAILURE] = "failure",
        [ALERT_WARNING] = "warning",
        [ALERT_OKAY] = "okay",
    };
    json_print_text(out, "{\"time\":", alert->time);
    json_print_text(out, ",\"severity\":", severities[alert->severity]);
    json_print_text(out, ",\"host\":", alert->host);
    json_print_text(out, ",\"instance\":", alert->instance);
    json_print_text(out, ",\"type_instance\":", alert->type_instance);
    json_print_text(out, ",\"message\":", alert->message);
    fprintf(out, ",\"over\":%s}", alert->is_over ? "true" : "false");
}

static void print_json_alerts(FILE *out, const struct alert_list *alerts)
{
    fputs(",\"alerts\":[", out);
    for (size_t i = 0; i < alerts->fresh; i++) {
        if (i > 0)
            putc(',', out);
        print_json_alert(out, first_fresh(alerts) + i);
    }
    putc(']', out);
}

int print_json(FILE *out, const struct table *table, const struct alert_list *alerts)
{
    fprintf(out, "{\"time\":%.3f,\"groups\":[", table->time);
    for (size_t i = 0; i < table->count; i++) {
        if (i > 0)
            putc(',', out);
        print_json_row(out, &table->rows[i]);
    }
    putc(']', out);
    if (alerts != NULL)
        print_json_alerts(out, alerts);
    fputs("}\n", out);
    return output_flush(out);
}
