/* SPDX-License-Identifier: MIT */
/*
 * doctor/receivers.c - writers of collectd's that the configuration loads, though collectd may
 * crash by them, or they mix up the names of groups.
 */
#include <stddef.h>

#include "doctor/checks.h"

struct writer {
    const char *plugin;
    enum finding_state state;
    const char *feature, *cause, *remedy;
};

/* Those of collectd 5.12. */
static const struct writer writers[] = {
    {"write_riemann", FINDING_LACKS, "values by write_riemann",
     "in collectd 5.12 it passes lists of arguments without their end to its library, by which "
     "collectd may crash",
     "remove its LoadPlugin"},
    {"write_tsdb", FINDING_NOTE, "names of groups by write_tsdb",
     "it makes them a part of the metric's name, in which their dots can't be distinguished from "
     "others, and puts those with a backslash into quotation marks",
     "choose another receiver: see RECEIVERS in collectd-headroom(5)"},
};

void doctor_check_receivers(const struct usage *usage, struct findings *findings)
{
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
        if (usage_loads_plugin(usage, writers[i].plugin))
            findings_add(findings, writers[i].state, writers[i].feature, writers[i].cause,
                         writers[i].remedy);
}
