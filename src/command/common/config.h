/* SPDX-License-Identifier: MIT */
/*
 * common/config.h - reads collectd's configuration, to find out what of headroom it uses.
 *
 * Source: collectd's liboconfig/scanner.l and parser.y, daemon/configfile.c (Include);
 * collectd.conf(5).
 */
#ifndef HEADROOM_COMMAND_COMMON_CONFIG_H
#define HEADROOM_COMMAND_COMMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/option_value.h"

/** Of more values than options have that take other than texts. */
#define CONFIG_QUOTED_MAX 64

/** An option, "KEY VALUE ...", or a block, "<KEY VALUE ...> ... </KEY>". All zeros is an empty one.
 */
struct config_item {
    char *key;
    char **values; /**< without quotes and backslashes */
    size_t value_count, value_capacity;
    uint64_t quoted; /**< a bit of each of the first CONFIG_QUOTED_MAX values */
    struct config_item *children;
    size_t child_count, child_capacity;
    char *path; /**< of its file; NULL: of none */
    unsigned line;
};

/** What can't be read. */
struct config_fault {
    char path[256];
    unsigned line;      /**< where it isn't understood; 0: the file can't be read */
    int status;         /**< as of config_read() */
    const char *plugin; /**< whose block includes the file; NULL: collectd itself does */
};

/** All zeros is an empty list. */
struct config_faults {
    struct config_fault *list;
    size_t count, capacity;
};

/**
 * Reads a file, and what its Include options name: files, directories, patterns, with Filter. What
 * is included and can't be read is passed over; of a file that isn't understood what stands before.
 *
 * @param top     an empty item, which receives the options and blocks as its children; the caller
 * frees it with config_free(), whatever is returned.
 * @param faults  receives what can't be read, in addition; the caller frees the list, whatever is
 * returned.
 * @return 0; of the file itself -EBADMSG: it isn't understood, or the negative errno of reading it;
 *         -ELOOP: files include one another more than 8 deep; -ENOMEM.
 */
int config_read(const char *path, struct config_item *top, struct config_faults *faults);

/** Adds a fault. @return its status, or -ENOMEM. */
int config_add_fault(struct config_faults *faults, const char *path, unsigned line, int status);

/** Parses the text of one file; its Include options are children as others. As config_read(). */
int config_parse(const char *text, struct config_item *top, unsigned *line);

/** Frees what is in the item. */
void config_free(struct config_item *item);

/** Whether an item has a key, in any case of letters. */
bool config_is(const struct config_item *item, const char *key);

/** The first value; "" if there is none. */
const char *config_text(const struct config_item *item);

/** The last child with that key; NULL: none. */
const struct config_item *config_find(const struct config_item *item, const char *key);

/** The last option with that key of a plugin's blocks in a whole configuration; NULL: none. */
const struct config_item *config_find_of_plugin(const struct config_item *config,
                                                const char *plugin, const char *key);

/** A value as collectd takes it: what stands without quotes may be a number or a boolean. */
struct hr_option_value config_value(const struct config_item *item, size_t index);

/** The first value as true ("true", "yes", "on") or false; what it was where there is no item. */
bool config_boolean(const struct config_item *item, bool otherwise);

/** The first value as a number; what it was where there is no item, or it is none. */
double config_number(const struct config_item *item, double otherwise);

#endif
