/* SPDX-License-Identifier: MIT */
/*
 * common/options.h - reads and checks values of configuration options.
 *
 * An invalid value is logged as an error that names the block, the option, the value and what is
 * accepted; the function then returns -1, which the configuration callback returns, too, so that
 * collectd refuses to start.
 */
#ifndef HEADROOM_PLUGIN_COMMON_OPTIONS_H
#define HEADROOM_PLUGIN_COMMON_OPTIONS_H

#include "collectd.h"

#include "plugin.h"

/** Logs that a value isn't accepted. @param accepted  completes "it takes …". @return -1 */
int option_refuse(const char *block, const oconfig_item_t *item, const char *accepted);

/** Logs a warning that the option is not known in its block, and is ignored, with the name of one
 * that is like it, see headroom/option.h.
 * @param block  "psi", or of a block within "psi: <Trigger "a">". */
void option_warn_unknown(const char *block, const oconfig_item_t *item);

/** Reads true or false. @return 0 or -1. */
int option_boolean(const char *block, const oconfig_item_t *item, bool *value);

/** Reads one whole number from min to max. @return 0 or -1. */
int option_count(const char *block, const oconfig_item_t *item, size_t min, size_t max,
                 size_t *value);

/**
 * Reads one number of seconds, with decimals.
 *
 * @param us  receives microseconds, from min_us to max_us.
 * @return 0 or -1.
 */
int option_seconds(const char *block, const oconfig_item_t *item, uint64_t min_us, uint64_t max_us,
                   uint64_t *us);

/** Reads one size: a whole number of bytes, or a text with the unit K, M, G or T ("64G"). @return 0
 * or -1. */
int option_bytes(const char *block, const oconfig_item_t *item, uint64_t *bytes);

/** Reads one text that isn't empty. The item owns the text. @return 0 or -1. */
int option_text(const char *block, const oconfig_item_t *item, const char **value);

/** A word that an option accepts, and its value. */
struct option_word {
    const char *text; /**< NULL: the end of a table */
    int value;
};

/** "WARNING" and "FAILURE", as NOTIF_WARNING and NOTIF_FAILURE. */
extern const struct option_word option_severities[];

/** Reads one of the words of a table, in any case. @return 0 or -1. */
int option_word(const char *block, const oconfig_item_t *item, const struct option_word *words,
                int *value);

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

/**
 * Checks that there is at least one value and all are texts.
 *
 * @param accepted  what kind of texts, for the message.
 * @return 0 or -1.
 */
int option_texts(const char *block, const oconfig_item_t *item, const char *accepted);

#endif
