/* SPDX-License-Identifier: MIT */
/*
 * top/configuration.h - what collectd's configuration says: what it uses, patterns that match no
 * cgroup, and where the log is.
 */
#ifndef HEADROOM_COMMAND_TOP_CONFIGURATION_H
#define HEADROOM_COMMAND_TOP_CONFIGURATION_H

#include "common/config.h"

struct hr_root;
struct configuration;
struct usage;

/**
 * Reads collectd's configuration.
 *
 * @param path           NULL: collectd's own.
 * @param fault          receives, on failure, which file it was.
 * @param configuration  receives it, for configuration_close(); NULL if there is none that loads
 *                       headroom's plugins.
 * @return 0, -ENOMEM, or as config_read().
 */
int configuration_open(const char *path, struct config_fault *fault,
                       struct configuration **configuration);

/**
 * Reads the configuration again, as collectd does when it is restarted. What can't be read stays as
 * it was; else what configuration_usage() and configuration_root() returned is gone.
 *
 * @param configuration  may be NULL.
 */
void configuration_update(struct configuration *configuration);

/**
 * Compares its patterns with the cgroups that there are, at most once a minute.
 *
 * @return a sentence on those that match none; "" if each matches. It is good until the next call.
 */
const char *configuration_describe_unmatched(struct configuration *configuration);

/** @param configuration  may be NULL.
 * @return what it uses, which belongs to it; NULL: none is known. */
const struct usage *configuration_usage(const struct configuration *configuration);

/** @return where the plugins look for cgroups. */
const struct hr_root *configuration_root(const struct configuration *configuration);

/** @param configuration  may be NULL.
 * @return the file that collectd's plugin logfile writes, as it was at first; NULL: none is known.
 */
const char *configuration_log_file(const struct configuration *configuration);

/** @param configuration  may be NULL. */
void configuration_close(struct configuration *configuration);

#endif
