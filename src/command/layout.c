#include "layout.h"

#include <string.h>

enum {
    FIELD_WIDTH = NUMBER_WIDTH + 1,
    BAR_MIN = 4, /* a shorter bar tells nothing */
    BAR_MAX = 20,
    NAME_MIN_WITH_BARS = 16, /* what a name keeps before something less useful goes */
    NAME_MIN_WITH_NUMBERS = 16,
    NAME_MIN_WITH_MAIN = 10,
    NAME_MIN = 8
};

static int count_shown(const struct layout *layout, bool only_bars)
{
    int count = 0;
    for (size_t i = 0; i < column_count; i++)
        count += layout->shown[i] && (!only_bars || columns[i].drawn == COLUMN_BAR);
    return count;
}

/* Half of the room beside the numbers may go to bars; a name that is short leaves more. */
static bool fit_bars(struct layout *layout, int width, int longest)
{
    int bars = count_shown(layout, true);
    int room = width - FIELD_WIDTH * count_shown(layout, false);
    int name = longest < room / 2 ? longest : room / 2;
    if (name < NAME_MIN_WITH_BARS)
        name = NAME_MIN_WITH_BARS;
    if (bars == 0)
        return false;
    int bar = (room - name) / bars - 1;
    if (bar < BAR_MIN)
        return false;
    layout->bar = bar < BAR_MAX ? bar : BAR_MAX;
    layout->name = room - bars * (layout->bar + 1);
    return true;
}

static bool fit_numbers(struct layout *layout, int width, int name_min)
{
    layout->bar = 0;
    layout->name = width - FIELD_WIDTH * count_shown(layout, false);
    return layout->name >= name_min;
}

void layout_fit(int width, int longest, const bool present[COLUMN_MAX], struct layout *layout)
{
    memset(layout, 0, sizeof(*layout));
    for (size_t i = 0; i < column_count; i++)
        layout->shown[i] = present[i];
    if (fit_bars(layout, width, longest) || fit_numbers(layout, width, NAME_MIN_WITH_NUMBERS))
        return;
    for (size_t i = 0; i < column_count; i++) {
        if (columns[i].drawn == COLUMN_NUMBER)
            layout->shown[i] = false;
    }
    if (fit_numbers(layout, width, NAME_MIN_WITH_MAIN))
        return;
    for (size_t i = column_count; i-- > 0 && !fit_numbers(layout, width, NAME_MIN);)
        layout->shown[i] = false;
    fit_numbers(layout, width, NAME_MIN);
}
