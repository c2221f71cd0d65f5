/* SPDX-License-Identifier: MIT */
#include "headroom/trouble_lines.h"

#include "common/log.h"
#include "common/options.h"
#include "utils/common/common.h"

#define PLUGIN "headroom"

void trouble_lines_free(struct trouble_lines *lines)
{
    free(lines->of_pattern);
    *lines = (struct trouble_lines){.of_pattern = NULL};
}

int trouble_lines_option(const char *block, const oconfig_item_t *item,
                         struct trouble_lines_given *given)
{
    if (option_check(block, item) < 0)
        return -1;
    for (int i = HR_PSI_CPU; i <= HR_PSI_IO; i++)
        if (strcasecmp(item->values[0].value.string, hr_psi_resource_name(i)) == 0)
            given->pct[i] = item->values[1].value.number;
    return 0;
}

static int reserve_pattern(struct trouble_lines *lines, size_t pattern)
{
    struct trouble_lines_given *grown =
        realloc(lines->of_pattern, (pattern + 1) * sizeof(*lines->of_pattern));

    if (grown == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return -1;
    }
    lines->of_pattern = grown;
    for (; lines->pattern_count <= pattern; lines->pattern_count++)
        grown[lines->pattern_count] = (struct trouble_lines_given){{0}};
    return 0;
}

int trouble_lines_pattern_option(const char *block, size_t pattern, const oconfig_item_t *item,
                                 void *context)
{
    struct trouble_lines *lines = context;

    if (strcasecmp(item->key, "Trouble") != 0)
        return 1;
    if (pattern >= lines->pattern_count && reserve_pattern(lines, pattern) < 0)
        return -1;
    return trouble_lines_option(block, item, &lines->of_pattern[pattern]);
}

static void apply(struct hr_room_lines *lines, const struct trouble_lines_given *given)
{
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        if (given->pct[i] > 0)
            lines->pct[i] = given->pct[i];
}

struct hr_room_lines trouble_lines_of_system(const struct trouble_lines *lines)
{
    struct hr_room_lines made = hr_room_default_lines(true);

    apply(&made, &lines->of_all);
    return made;
}

struct hr_room_lines trouble_lines_of_group(const struct trouble_lines *lines, size_t pattern)
{
    struct hr_room_lines made = hr_room_default_lines(false);

    apply(&made, &lines->of_all);
    if (pattern < lines->pattern_count)
        apply(&made, &lines->of_pattern[pattern]);
    return made;
}
