/* SPDX-License-Identifier: MIT */
/*
 * plugin/wss/wss_harness.h - common parts of the tests of the plugin wss, on top of
 * plugin_harness.h: processes with a known working set, and waiting for results, as the plugin
 * measures in a thread of its own.
 */
#ifndef HEADROOM_TESTS_PLUGIN_WSS_WSS_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_WSS_WSS_HARNESS_H

#include "support/plugin_harness.h"

#define MIB ((size_t)1 << 20)

/** Ends the processes that still run, then as harness_tear_down(). */
void wss_tear_down(void);

/** Why no memory can be measured here; NULL: it can. */
const char *wss_obstacle(void);

/** Sets the interval, in milliseconds; to be called before the plugin begins. */
void wss_set_interval(unsigned milliseconds);

/** Configures the plugin with the lines of its block to measure this machine, and begins. */
__attribute__((format(printf, 1, 2))) void wss_begin(const char *format, ...);

/**
 * Starts a process that holds so many MiB, and touches fewer again and again.
 *
 * @param name  its name; NULL: any.
 */
pid_t wss_start(const char *name, size_t hold_mib, size_t touch_mib);

/** Makes it unmap all memory that it doesn't touch. */
void wss_shrink(pid_t pid);

/** Ends it. @param reap  whether to wait for it; else it stays a zombie until the test ends. */
void wss_end(pid_t pid, bool reap);

/** Reads until so many values match a pattern of fnmatch(3), in one read. */
void wss_await(const char *pattern, size_t count);

/** Reads until so many lines were logged with a text in them. */
void wss_await_log(size_t count, const char *containing);

/** A clock, in milliseconds. */
uint64_t wss_now_ms(void);

#endif
