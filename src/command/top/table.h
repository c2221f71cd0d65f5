/* SPDX-License-Identifier: MIT */
/*
 * top/table.h - the values that collectd has from headroom's plugins: one row per group.
 *
 * Independent of terminals. A table belongs to one thread at a time.
 */
#ifndef HEADROOM_COMMAND_TOP_TABLE_H
#define HEADROOM_COMMAND_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/identifier.h"
#include "common/label.h"
#include "top/columns.h"
#include "top/known_series.h"

struct client;
struct memory_reader;

/**
 * @return the index of the column that shows this series, or -ENOENT: there is none, or not for
 * this group, or the series has no plugin instance and so no group.
 */
int identifier_column(const struct identifier *parts);

/** A machine of which less is idle is full: that much is idle between any two tasks. */
#define IDLE_PCT 5

/** One group. */
struct row {
    char *host;
    char *group;               /**< the plugin instance; SYSTEM_GROUP is the whole machine */
    char *short_group;         /**< for people, see table_shorten_names(); NULL: the same */
    char *path;                /**< of a group of this machine, as it; NULL: not known */
    double values[COLUMN_MAX]; /**< by index into columns, in their units; NaN: there is none */
    double cpu_count;          /**< of a machine; NaN: not known */
    bool is_others;            /**< it stands for tasks of no group, see table_add_others() */
    bool takes_most;           /**< of the CPUs that groups wait for, see table_mark_takers() */
};

/** The group that stands for the whole machine. */
#define SYSTEM_GROUP "system"

/** All values at one moment. All zeros is empty. */
struct table {
    struct row *rows;
    size_t count;
    bool several_hosts;
    double time; /**< when fetched, seconds since 1970 */
};

/**
 * Reads the values of all columns from collectd; rows are ordered by host and group. The values of
 * a group from several plugins are one row.
 *
 * @param known  receives which series collectd has, for known_series_free(); untouched on failure;
 *               NULL: not wanted.
 * @param table  is overwritten; the caller ends it with table_free(). Untouched on failure.
 * @return 0, -ENOMEM, or as client_get(). A value that was removed meanwhile is NaN.
 */
int table_fetch(struct client *client, struct known_series *known, struct table *table);

/**
 * Finds the paths of groups, and their short names, see common/short_name.h, where these are
 * distinct.
 *
 * @param memory  knows the paths of this machine's groups, see memory_fill(); NULL: none.
 * @return 0 or -ENOMEM.
 */
int table_shorten_names(struct table *table, const struct memory_reader *memory);

/** Frees the rows and leaves an empty table. */
void table_free(struct table *table);

/**
 * Sorts: the systems first, then the highest value; absent ones last; equal ones by group and host,
 * but tasks of no group after groups.
 *
 * The key "pressure" is the highest "full", in whole percent, then the highest "some".
 * A group that takes a CPU from another waits, too, as it would take more; but some of its tasks
 * run. The one that table_mark_takers() has marked is below those that wait and have the same
 * "full", or a percent less.
 */
void table_sort(struct table *table, const struct sort_key *key);

/** @return how a value of the row stands to its column's limits. While CPUs are idle, the pressure
 * of the system for them is no alarm: some tasks may use some of them only. */
enum severity row_severity(const struct row *row, size_t column);

/** @return whether the row stands for a whole machine. */
bool row_is_system(const struct row *row);

/** @return whether the row stands for a cgroup, rather than a machine, tasks of none, or processes
 * by their name. */
bool row_is_of_group(const struct row *row);

/** @return whether a group lies within another one of its host: by their paths, where both are
 * known, else by their names, of which "_" may be a slash. A shortened name may lie within any that
 * begins like it. */
bool row_lies_within(const struct row *inner, const struct row *outer);

/** @return whether there are whole machines and no groups, as when no pattern matches one. */
bool table_lacks_groups(const struct table *table);

/** @return how many rows there are, but for those of tasks of no group. */
size_t table_count_groups(const struct table *table);

/** Finds out which columns have a value in any row; of what is drawn beside a column, that one,
 * too. */
void table_present(const struct table *table, bool present[COLUMN_MAX]);

/**
 * Writes the name of a row: its group, after "HOST: " if the table has several hosts.
 *
 * @param size  of name; a longer one is cut.
 */
void row_name(const struct table *table, const struct row *row, char *name, size_t size);

/** Writes the name of a row for people: a short one, where it has that; that of processes, not of a
 * cgroup, has their number behind it.
 * @param size  of label; a longer one is cut. */
void row_label(const struct table *table, const struct row *row, char *label, size_t size);

/** @return the columns that the longest row_label() takes. */
int table_longest_label(const struct table *table, enum label_charset charset);

/** @return whether a row has the mark of table_mark_takers(). */
bool table_has_mark(const struct table *table);

/**
 * Writes a value of a row for people, in VALUE_WIDTH characters: "12.5"; "49 id" of what is drawn
 * beside the column; "*0.86" with the mark.
 */
void row_format(const struct row *row, size_t column, char text[16]);

/** Fits any name: collectd's host and instance have up to 127 bytes. */
#define ROW_NAME_SIZE 512

#endif
