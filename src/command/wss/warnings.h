/* SPDX-License-Identifier: MIT */
/*
 * wss/warnings.h - what makes a reading's numbers differ from what they seem, or was bad for the
 * process: on standard error.
 */
#ifndef HEADROOM_COMMAND_WSS_WARNINGS_H
#define HEADROOM_COMMAND_WSS_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>

struct hr_wss_sample;

/** What was said already. All zeros, but for the title: nothing. */
struct wss_warnings {
    const char *title; /**< before each */
    bool shared, damon, lock, left;
    size_t ended; /**< since the beginning, at the last reading */
};

/**
 * Prints each once, or if it is new.
 *
 * @param counts_shared_once  RSS has what several processes share once.
 */
void wss_warnings_print(struct wss_warnings *said, const struct hr_wss_sample *sample,
                        bool counts_shared_once);

#endif
