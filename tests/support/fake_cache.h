/* SPDX-License-Identifier: MIT */
/*
 * support/fake_cache.h - what the stand-in for collectd has in its cache of other plugins' values.
 */
#ifndef HEADROOM_TESTS_SUPPORT_FAKE_CACHE_H
#define HEADROOM_TESTS_SUPPORT_FAKE_CACHE_H

#include "collectd.h"

#include "plugin.h"

/** Sets the value of a series. @param name  with the host; kept by the caller. */
void fake_cache_set(const char *name, double number);

/** Sets when a series, which may be a new one, had its last value; by default it has one in each
 * moment. */
void fake_cache_set_time(const char *name, cdtime_t time);

/** Sets the interval of a series, by default the plugin's. */
void fake_cache_set_interval(const char *name, cdtime_t interval);

/** Forgets all. */
void fake_cache_forget(void);

#endif
