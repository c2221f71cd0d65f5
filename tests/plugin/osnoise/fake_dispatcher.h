/* SPDX-License-Identifier: MIT */
/*
 * plugin/osnoise/fake_dispatcher.h - a stand-in for common/dispatcher.h: dispatches at once, or
 * holds ends back.
 */
#ifndef HEADROOM_TESTS_PLUGIN_OSNOISE_FAKE_DISPATCHER_H
#define HEADROOM_TESTS_PLUGIN_OSNOISE_FAKE_DISPATCHER_H

#include <stdbool.h>
#include <stdint.h>

extern struct fake_dispatcher {
    bool is_held; /**< an end waits, and can be withdrawn; at most one */
    bool is_full; /**< no beginning can be queued */
    uint64_t held_alarm;
} fake_dispatcher;

#endif
