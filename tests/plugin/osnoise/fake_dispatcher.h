/* SPDX-License-Identifier: MIT */
/*
 * plugin/osnoise/fake_dispatcher.h - a stand-in for common/dispatcher.h: dispatches at once, or
 * holds notifications back.
 */
#ifndef HEADROOM_TESTS_PLUGIN_OSNOISE_FAKE_DISPATCHER_H
#define HEADROOM_TESTS_PLUGIN_OSNOISE_FAKE_DISPATCHER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern struct fake_dispatcher {
    bool is_held; /**< an end waits, and can be withdrawn; at most one */
    bool is_full; /**< no beginning can be queued */
    bool is_slow; /**< a beginning waits, and is never dispatched; at most one */
    uint64_t held_alarm, waiting_alarm; /**< 0: none */
    uint64_t record;                    /**< that the last beginning waits for */
    _Atomic uint64_t saved;             /**< the last record that is saved */
} fake_dispatcher;

#endif
