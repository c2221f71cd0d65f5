/* SPDX-License-Identifier: MIT */
#include "top/layout.h"

#include <stdio.h>
#include <string.h>

enum {
    FIELD_WIDTH = NUMBER_WIDTH + 1,
    BAR_MIN = 4, /* a shorter bar is useless */
    BAR_MAX = 20,
    NAME_WANTED = 24, /* shorter ones look alike: a column is left out instead */
    NAME_MIN = 8,
    FEW = 3 /* columns that are more useful than a longer name */
};

static int count_shown(const struct layout *layout, bool only_bars)
{
    int count = 0;
    for (size_t i = 0; i < column_count; i++)
        count += layout->shown[i] && (!only_bars || columns[i].drawn == COLUMN_BAR);
    return count;
}

static int name_wanted(int longest)
{
    if (longest < NAME_MIN)
        return NAME_MIN;
    return longest < NAME_WANTED ? longest : NAME_WANTED;
}

/* Bars get what names leave, or their least. */
static bool fit_bars(struct layout *layout, int width, int longest)
{
    int bars = count_shown(layout, true);
    int room = width - FIELD_WIDTH * count_shown(layout, false);
    int spared = room - bars * (BAR_MIN + 1);
    int name = longest < spared ? longest : spared;
    if (name < name_wanted(longest))
        name = name_wanted(longest);
    if (bars == 0)
        return false;
    int bar = (room - name) / bars - 1;
    if (bar < BAR_MIN)
        return false;
    layout->bar = bar < BAR_MAX ? bar : BAR_MAX;
    layout->name = room - bars * (layout->bar + 1);
    return true;
}

static bool fit_numbers(struct layout *layout, int width, int longest)
{
    int count = count_shown(layout, false);
    layout->bar = 0;
    layout->name = width - FIELD_WIDTH * count;
    return layout->name >= (count > FEW ? name_wanted(longest) : NAME_MIN);
}

/* Returns whether a column was shown. */
static bool hide_least_useful(struct layout *layout)
{
    size_t least = column_count;
    for (size_t i = 0; i < column_count; i++) {
        if (layout->shown[i] && (least == column_count || columns[i].rank > columns[least].rank))
            least = i;
    }
    if (least == column_count)
        return false;
    layout->shown[least] = false;
    return true;
}

void layout_fit(int width, int longest, const bool present[COLUMN_MAX], struct layout *layout)
{
    memset(layout, 0, sizeof(*layout));
    for (size_t i = 0; i < column_count; i++)
        layout->shown[i] = present[i] && column_is_own(&columns[i]);
    if (fit_bars(layout, width, longest))
        return;
    while (!fit_numbers(layout, width, longest) && hide_least_useful(layout))
        continue;
}

/* --- The bottom line ------------------------------------------------------ */

/* On the scale of the columns' ranks, which the keys that sort by columns have. */
enum {
    RANK_QUIT = -3,
    RANK_POSITION,
    RANK_PRESSURE,
    RANK_NAME = 3,
    RANK_LABEL = 1000,
    RANK_ARROWS
};

/* The part with the highest rank is left out first. */
struct part {
    char text[64];
    int rank;
};

struct parts {
    struct part parts[SORT_KEY_MAX + 4]; /* keys, and position, quit, label and arrows */
    size_t count;
};

static void add_part(struct parts *line, int rank, const char *first, const char *second)
{
    struct part *part = &line->parts[line->count++];
    part->rank = rank;
    snprintf(part->text, sizeof(part->text), "%s%s", first, second);
}

static int sort_key_rank(const struct sort_key *key)
{
    if (key->column == SORT_NAME)
        return RANK_NAME;
    return key->column == SORT_PRESSURE ? RANK_PRESSURE : columns[key->column].rank;
}

static void add_sort_keys(struct parts *line, const bool present[COLUMN_MAX])
{
    struct sort_key keys[SORT_KEY_MAX];
    size_t count = sort_keys(keys);
    for (size_t i = 0; i < count; i++) {
        const char letter[] = {keys[i].letter, ' ', '\0'};
        if (keys[i].column < 0 || present[keys[i].column])
            add_part(line, sort_key_rank(&keys[i]), letter, keys[i].name);
    }
}

static void remove_least_useful(struct parts *line)
{
    size_t least = 0;
    for (size_t i = 1; i < line->count; i++) {
        if (line->parts[i].rank >= line->parts[least].rank)
            least = i;
    }
    line->count--;
    memmove(&line->parts[least], &line->parts[least + 1],
            (line->count - least) * sizeof(line->parts[0]));
}

/* Two spaces separate parts; a label belongs to what follows. Returns the length. */
static int join_parts(const struct parts *line, char text[FOOTER_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < line->count && used < FOOTER_SIZE; i++) {
        const char *separator = i == 0 ? "" : line->parts[i - 1].rank == RANK_LABEL ? " " : "  ";
        used += (size_t)snprintf(text + used, FOOTER_SIZE - used, "%s%s", separator,
                                 line->parts[i].text);
    }
    return (int)used;
}

void footer_fit(int width, const char *position, const bool present[COLUMN_MAX],
                char text[FOOTER_SIZE])
{
    struct parts line = {.count = 0};
    if (position[0] != '\0')
        add_part(&line, RANK_POSITION, position, "");
    add_part(&line, RANK_QUIT, "q quit", "");
    add_part(&line, RANK_LABEL, "sort:", "");
    add_sort_keys(&line, present);
    if (position[0] != '\0')
        add_part(&line, RANK_ARROWS, "arrows scroll", "");
    while (join_parts(&line, text) > width && line.count > 1)
        remove_least_useful(&line);
}
