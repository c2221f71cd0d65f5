/* SPDX-License-Identifier: MIT */
/*
 * plugin/wss/fake_wss.h - a stand-in for the collector of working sets: its functions return what a
 * test has prepared, so that parts of the plugin can be tested without memory that is measured.
 *
 * For programs linked with --wrap=hr_wss_interrupt.
 */
#ifndef HEADROOM_TESTS_PLUGIN_WSS_FAKE_WSS_H
#define HEADROOM_TESTS_PLUGIN_WSS_FAKE_WSS_H

#include <stdatomic.h>

#include "headroom/wss.h"

struct fake_wss {
    enum hr_wss_method method; /**< of what is opened next; of each begun measurement of "auto" … */
    enum hr_wss_method replacement; /**< … this one replaces it while it begins, if it differs */
    bool ends_windows;
    int begin_status; /**< of each beginning */
    int read_status;  /**< 0: `sample` */
    struct hr_wss_sample sample;
    bool blocks; /**< readings wait for hr_wss_interrupt(), and fail then */
    _Atomic size_t begins, reads;
    size_t ended, most_ended; /**< windows that were ended and not read yet; the most at a time */
    _Atomic bool is_reading, is_interrupted;
};

extern struct fake_wss fake_wss;

/** Forgets all that was prepared, and counted. */
void fake_wss_reset(void);

#endif
