/* SPDX-License-Identifier: MIT */
/*
 * common/options.h - reads values of configuration options that headroom/option_value.h accepts.
 *
 * An invalid value is logged as an error that names the block, the option, the value and what is
 * accepted; the function then returns -1, which the configuration callback returns, too, so that
 * collectd refuses to start.
 */
#ifndef HEADROOM_PLUGIN_COMMON_OPTIONS_H
#define HEADROOM_PLUGIN_COMMON_OPTIONS_H

#include "collectd.h"

#include "plugin.h"

#include "headroom/cpu_choice.h"

/** Logs that a value isn't accepted. @param accepted  completes "it takes …". @return -1 */
int option_refuse(const char *block, const oconfig_item_t *item, const char *accepted);

/** Logs a warning that the option is not known in its block, and is ignored, with the name of one
 * that is like it, see headroom/option.h.
 * @param block  "psi", or of a block within "psi: <Trigger "a">". */
void option_warn_unknown(const char *block, const oconfig_item_t *item);

/** Checks the values by headroom/option_value.h. @return 0 or -1. */
int option_check(const char *block, const oconfig_item_t *item);

/** Reads true or false. @return 0 or -1. */
int option_boolean(const char *block, const oconfig_item_t *item, bool *value);

/** Reads one number. @return 0 or -1. */
int option_number(const char *block, const oconfig_item_t *item, double *value);

/** Reads one whole number. @return 0 or -1. */
int option_count(const char *block, const oconfig_item_t *item, size_t *value);

/** Reads one number of seconds, with decimals, as microseconds. @return 0 or -1. */
int option_seconds(const char *block, const oconfig_item_t *item, uint64_t *us);

/** Reads one size: a whole number of bytes, or a text with the unit K, M, G or T ("64G"). @return 0
 * or -1. */
int option_bytes(const char *block, const oconfig_item_t *item, uint64_t *bytes);

/** Reads one text that isn't empty. The item owns the text. @return 0 or -1. */
int option_text(const char *block, const oconfig_item_t *item, const char **value);

/** Reads one of the option's words as its index among them. @return 0 or -1. */
int option_word(const char *block, const oconfig_item_t *item, int *value);

/** Reads "WARNING" or "FAILURE" as NOTIF_WARNING or NOTIF_FAILURE. @return 0 or -1. */
int option_severity(const char *block, const oconfig_item_t *item, int *severity);

/** Reads words of the option. @param chosen  is set of their indexes. @return 0 or -1. */
int option_words(const char *block, const oconfig_item_t *item, bool *chosen);

/** Reads which CPUs are chosen, by all of the values together, see headroom/cpu_choice.h. @return 0
 * or -1. */
int option_cpus(const char *block, const oconfig_item_t *item, struct hr_cpu_choice *choice);

/**
 * Reads the absolute path of an existing directory, where the host's "/" is mounted.
 *
 * @param path  receives a copy that the caller frees; its former text is freed.
 * @return 0 or -1.
 */
int option_root(const char *block, const oconfig_item_t *item, char **path);

/**
 * Reads the absolute path of a state file, see headroom/state_file.h.
 *
 * @param path  receives a copy that the caller frees; its former text is freed.
 * @return 0 or -1.
 */
int option_state_file(const char *block, const oconfig_item_t *item, char **path);

/**
 * Makes the path of a state file: a copy of the configured one; or, without one, of a file in
 * collectd's BaseDir, to be called after the configuration.
 *
 * @return a path that the caller frees; NULL, with errno, on failure.
 */
char *option_state_path(const char *configured, const char *file);

#endif
