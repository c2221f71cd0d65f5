/* SPDX-License-Identifier: MIT */
/*
 * top/patterns.h - what collectd's configuration says: patterns of the plugins that match no
 * cgroup, and where the log is.
 */
#ifndef HEADROOM_COMMAND_TOP_PATTERNS_H
#define HEADROOM_COMMAND_TOP_PATTERNS_H

#include "common/config.h"

struct hr_root;
struct patterns;
struct usage;

/**
 * Reads collectd's configuration.
 *
 * @param path      NULL: collectd's own.
 * @param fault     receives, on failure, which file it was.
 * @param patterns  receives it, for patterns_close(); NULL if there is no configuration that loads
 *                  headroom's plugins.
 * @return 0, -ENOMEM, or as config_read().
 */
int patterns_open(const char *path, struct config_fault *fault, struct patterns **patterns);

/**
 * Reads the configuration again, as collectd does when it is restarted. What can't be read stays as
 * it was; else what patterns_usage() and patterns_root() returned is gone.
 *
 * @param patterns  may be NULL.
 */
void patterns_update(struct patterns *patterns);

/**
 * Compares the patterns with the cgroups that there are, at most once a minute.
 *
 * @return a sentence on those that match none; "" if each matches. It is good until the next call.
 */
const char *patterns_describe(struct patterns *patterns);

/** @param patterns  may be NULL.
 * @return the configuration, which is theirs; NULL: none is known. */
const struct usage *patterns_usage(const struct patterns *patterns);

/** @return where the plugins look for cgroups. */
const struct hr_root *patterns_root(const struct patterns *patterns);

/** @param patterns  may be NULL.
 * @return the file that collectd's plugin logfile writes, as it was at first; NULL: none is known.
 */
const char *patterns_log(const struct patterns *patterns);

/** @param patterns  may be NULL. */
void patterns_close(struct patterns *patterns);

#endif
