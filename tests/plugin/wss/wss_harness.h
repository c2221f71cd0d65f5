/*
 * wss_harness.h - what tests of the plugin wss share, on top of plugin_harness.h: processes with a
 * known working set, and patience, as the plugin measures in a thread of its own.
 */
#ifndef HEADROOM_TESTS_PLUGIN_WSS_WSS_HARNESS_H
#define HEADROOM_TESTS_PLUGIN_WSS_WSS_HARNESS_H

#include "support/plugin_harness.h"

#define MIB ((size_t)1 << 20)

/** Ends the processes that still run, then as harness_tear_down(). */
void wss_tear_down(void);

/** Why no memory can be measured here; NULL: it can. */
const char *wss_obstacle(void);

/** The interval, in milliseconds; before the plugin begins. */
void wss_set_interval(unsigned milliseconds);

/** Configures the plugin, by the lines within its block, to measure this machine, and begins. */
__attribute__((format(printf, 1, 2))) void wss_begin(const char *format, ...);

/**
 * Starts a process that holds so many MiB, and touches fewer again and again.
 *
 * @param name  what it is called; NULL: anything.
 */
pid_t wss_start(const char *name, size_t hold_mib, size_t touch_mib);

/** Has it give back all that it doesn't touch. */
void wss_shrink(pid_t pid);

/** Ends it. @param reap  whether to take notice; else it stays as a zombie until the test ends. */
void wss_end(pid_t pid, bool reap);

/** Reads until so many values match a pattern of fnmatch(3), in one read. */
void wss_await(const char *pattern, size_t count);

/** Reads until so many lines were logged with a text in them. */
void wss_await_log(size_t count, const char *containing);

/** A clock, in milliseconds. */
uint64_t wss_now_ms(void);

#endif
