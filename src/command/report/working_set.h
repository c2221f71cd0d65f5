/* SPDX-License-Identifier: MIT */
/*
 * report/working_set.h - the series of the plugin wss from which the headroom plugin takes what a
 * group needs.
 */
#ifndef HEADROOM_COMMAND_REPORT_WORKING_SET_H
#define HEADROOM_COMMAND_REPORT_WORKING_SET_H

#include <stdbool.h>

#include "common/identifier.h"

/** @return the name of the window that a series shows, such as "60s", which ends the series; NULL:
 * it isn't one of several windows. */
const char *working_set_window(const struct identifier *parts);

/** @return whether a series shows that its instance is a Process block's: processes, not a group,
 * though one may have the same name. */
bool working_set_is_of_processes(const struct identifier *parts);

#endif
