/* SPDX-License-Identifier: MIT */
/*
 * report/rooms.h - what collectd has from the headroom plugin: one row for each group.
 */
#ifndef HEADROOM_COMMAND_REPORT_ROOMS_H
#define HEADROOM_COMMAND_REPORT_ROOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "headroom/room.h"

struct client;
struct group;
struct group_patterns;
struct hr_root;

/** Of the time, or of all: what is less isn't named. */
#define WORTH_NAMING_PCT 1

/** The values of a group, by their series; see collectd-headroom-plugin(5) for units. */
enum room_value {
    ROOM_LEAST, /**< percent */
    ROOM_CPU,
    ROOM_MEMORY,
    ROOM_IO,
    ROOM_CPUS_LEFT,
    ROOM_BYTES_LEFT,
    ROOM_NEED,
    ROOM_LIMIT,
    ROOM_TROUBLE, /**< seconds */
    ROOM_VALUE_COUNT
};

/** A part of a group's stall. */
struct room_cause {
    char *resource, *name; /**< "cpu", "limit" */
    double pct;            /**< of the time; NAN: there is none any more */
};

struct room_row {
    char *host, *group;
    char *short_group;               /**< for people, see places_shorten_names(); NULL: the same */
    double values[ROOM_VALUE_COUNT]; /**< NAN: not known */
    double idle_pct; /**< of the CPUs, by the psi plugin; system only; NAN: absent */
    double
        cpu_full_pct; /**< for how much of the time all tasks wait for a CPU, by psi; NAN: absent */
    struct room_cause *causes; /**< the greatest first */
    size_t cause_count, cause_capacity;
    struct hr_room_working_set working_set; /**< by the wss plugin; with count 0: none */
    bool has_profile;    /**< the need of memory is by that; see report/profile.h */
    struct group *brief; /**< what binds, and who takes it; NULL: not known; see report/briefs.h */
};

/** All zeros is empty. */
struct rooms {
    struct room_row *rows; /**< by host and group */
    size_t count, capacity;
    size_t without_count; /**< groups that have values of psi, but none of headroom */
    bool several_hosts;
    double time; /**< when fetched, seconds since 1970 */
};

/** Reads them. @param rooms  the caller ends it with rooms_free(). @return 0, -ENOMEM, or as
 * client_get(). */
int rooms_fetch(struct client *client, struct rooms *rooms);

void rooms_free(struct rooms *rooms);

/** @return whether no row has a value, as before the plugin has read everything twice. */
bool rooms_are_empty(const struct rooms *rooms);

/** @return the name of a row for people. */
const char *room_name(const struct room_row *row);

/** Whether a row of that name is the whole system's: a cgroup that would have it has another one.
 */
bool room_is_system(const char *group);

/**
 * Finds the groups that a user means, see group_choose().
 *
 * @param meant    receives them, for group_patterns_free(), whatever is returned; without anything
 *                 wanted, none; on -ENOTUNIQ, the several.
 * @param missing  receives, on -ENODEV and -ENOTUNIQ, which of those wanted it is.
 * @return 0; -ENODEV; -ENOTUNIQ; -ENOMEM.
 */
int rooms_choose(const struct rooms *rooms, char *const *wanted, size_t count,
                 struct group_patterns *meant, const char **missing);

/** @return whether a row is of these groups; without any, true. */
bool room_is_meant(const struct room_row *row, const struct group_patterns *meant);

/** Keeps the rows of these groups; without any, all. */
void rooms_keep(struct rooms *rooms, const struct group_patterns *meant);

/** @return the only row of these groups; the number of rows if there are more or none. */
size_t rooms_find_only(const struct rooms *rooms, const struct group_patterns *meant);

/** Lists the first groups, safe to show: "a, b and 3 more". */
void rooms_describe(const struct rooms *rooms, char *text, size_t size);

/** @return whether the plugin knows it: of a part that it doesn't, only the resource says
 * something. */
bool room_cause_is_known(const struct room_cause *cause);

/** Whether trouble is to come within a day: not now, nor later. */
bool room_has_trouble_to_come(const struct room_row *row);

/** @return for how much of the time others, or limits, make it wait: whole percent, as less is
 * chance, of all resources together. Who takes a CPU from others mostly waits for itself. */
double room_waited_pct(const struct room_row *row);

/** Sorts by a value, the lowest first, rows without it last. A row that waits for a CPU while its
 * room by CPU isn't known follows those without room. Ties: by waits for others or limits, then by
 * waits of all tasks for a CPU, the longest first; then by time to trouble; then by name. */
void rooms_sort(struct rooms *rooms, enum room_value by);

/** @return whether its room isn't known while it waits for a CPU, by which it isn't known. */
bool room_waits_for_cpu(const struct room_row *row);

/** Which room is the smallest, of those that are known: ROOM_CPU, ROOM_MEMORY, ROOM_IO; ROOM_CPU,
 * too, if it isn't known while it waits for a CPU; or ROOM_VALUE_COUNT: none is, or the smallest
 * isn't known yet. */
enum room_value rooms_binding(const struct room_row *row);

/** Fits any text of rooms_binding_names(). */
#define ROOM_NAMES_SIZE 32

/** Its name, with those of others that are as small: "cpu, memory"; "": it is none. */
void rooms_binding_names(const struct room_row *row, char names[ROOM_NAMES_SIZE]);

/** Its name: "cpu"; NULL: it is none. */
const char *rooms_binding_name(const struct room_row *row);

/**
 * Prints a table for people, or one line of JSON.
 *
 * @param width  of the terminal: in a narrow one the second cause is left out, then names are cut.
 * @param about  of the only row; NULL: there is no more about it.
 * @return 0, or the negative errno of writing.
 */
int rooms_print_table(FILE *out, const struct rooms *rooms, int width);
int rooms_print_json(FILE *out, const struct rooms *rooms, const struct group *about);

#endif
