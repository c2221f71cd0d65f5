/* SPDX-License-Identifier: MIT */
/*
 * headroom/history.h - the file in which what the forecasts know outlives a restart of collectd.
 */
#ifndef HEADROOM_PLUGIN_HEADROOM_HISTORY_H
#define HEADROOM_PLUGIN_HEADROOM_HISTORY_H

#include <stdint.h>

struct history;
struct hr_room_machine;

/**
 * Lets the machine begin with what the previous run has saved; logs how old that is, or why it
 * can't.
 *
 * @param path      as configured; NULL: the default.
 * @param machine   must outlive the object; of which nothing was opened yet.
 * @param point_ns  as hr_room_open() gets it.
 * @return NULL: nothing is saved, which was logged.
 */
struct history *history_open(const char *path, struct hr_room_machine *machine, uint64_t point_ns);

/** Saves it every ten minutes. */
void history_save_due(struct history *history);

/** Saves it; before the machine's groups are closed. NULL is allowed. */
void history_close(struct history *history);

#endif
