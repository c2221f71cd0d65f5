/* SPDX-License-Identifier: MIT */
#include "configured/trouble_lines.h"

#include <stdlib.h>
#include <strings.h>

#include "headroom/cgroup.h"

static void apply(const struct config_item *item, struct hr_room_lines *lines)
{
    const double pct = item->value_count > 1 ? atof(item->values[1]) : 0;

    for (int i = HR_PSI_CPU; i <= HR_PSI_IO; i++)
        if (pct > 0 && pct <= 100 && strcasecmp(config_text(item), hr_psi_resource_name(i)) == 0)
            lines->pct[i] = pct;
}

struct hr_room_lines trouble_lines_of(const struct usage_headroom *headroom,
                                      const struct hr_cgroup *group)
{
    struct hr_room_lines lines = hr_room_default_lines(group == NULL);

    for (size_t i = 0; i < headroom->lines.count; i++)
        apply(headroom->lines.list[i], &lines);
    if (group == NULL || group->pattern >= headroom->groups.options.count)
        return lines;
    const struct config_item *option = headroom->groups.options.list[group->pattern];
    for (size_t i = 0; i < option->child_count; i++)
        if (config_is(&option->children[i], "Trouble"))
            apply(&option->children[i], &lines);
    return lines;
}
