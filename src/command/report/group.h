/* SPDX-License-Identifier: MIT */
/*
 * report/group.h - everything about one group: beside its row what binds, what isn't known and why,
 * who else wants the same, the trend, and advice.
 *
 * What it has and needs comes from collectd, with its row. Its limits, and why something can't be
 * known, are read from the group itself, if it is on this machine; the points of the trend from the
 * file that the headroom plugin saves.
 */
#ifndef HEADROOM_COMMAND_REPORT_GROUP_H
#define HEADROOM_COMMAND_REPORT_GROUP_H

#include "report/advice.h"
#include "report/places.h"
#include "report/rooms.h"
#include "report/shares.h"
#include "report/trend.h"

struct client;
struct hr_root;
struct usage;

/** The resources, in the order of the page. */
enum group_resource { GROUP_MEMORY, GROUP_CPU, GROUP_IO, GROUP_RESOURCE_COUNT };

/** What of one resource is known; NAN: not known. */
struct group_room {
    double used, attainable; /**< bytes, CPUs, bytes or operations per second */
    double left, room_pct;
    double line_pct;          /**< stalled for so much of the time is trouble: "some", io "full" */
    struct hr_reason unknown; /**< why the room isn't known; empty: it is */
};

/** What of one resource limits the group; of cpu its lowest limit, whether that binds or not. */
struct group_limit {
    bool is_known;
    enum hr_room_bound bound;
    int version;   /**< as of struct hr_room */
    char *group;   /**< whose it is; NULL: the group's own, or the machine's */
    double amount; /**< in the unit of the room; of the machine: its memory */
};

/** All zeros is empty. */
struct group {
    char *path;               /**< NULL: the system, or it isn't found here */
    struct hr_reason missing; /**< why it isn't read; empty: it is */
    bool are_lines_defaults;  /**< as there is no configuration */
    struct group_room rooms[GROUP_RESOURCE_COUNT];
    struct group_limit limits[GROUP_RESOURCE_COUNT];
    bool lacks_cpu_limit;     /**< neither it nor one above has a cpu.max */
    bool lacks_io_limit;      /**< the same of io.max, as far as it was read */
    size_t cpus;              /**< that it may use; 0: not known */
    size_t task_cpus;         /**< of those, on which its tasks may run; 0: all, or not known */
    unsigned first_task_cpu;  /**< the first of these */
    enum hr_stall_io io_kind; /**< what of I/O is limited most, on the device with these numbers */
    uint32_t io_major, io_minor;
    struct hr_room_working_set working_set; /**< its row's */
    double touched_s;              /**< within which that shows the need; NAN: it doesn't */
    struct hr_reason need_unknown; /**< why not; empty: there is none, or it does */
    double unsure_file_bytes;      /**< used, but perhaps not needed; NAN: not known */
    double swap_bytes;             /**< of what is attainable; NAN: not known */
    struct shares taking, waiting; /**< of what it has the least room by; of io none takes */
    bool is_stalled; /**< its tasks wait for something now, though why may not be known yet */
    struct trend trend;
    struct past past;
    struct advice advice;
};

/** "memory", as in the series. */
const char *group_resource_name(enum group_resource resource);

/** What a row has the least room by, see rooms_binding(); GROUP_RESOURCE_COUNT: it isn't known. */
enum group_resource group_binding(const struct room_row *row);

/**
 * Begins with what is collectd's alone.
 *
 * @param rooms  all rows that collectd has.
 * @param row    the group's.
 * @param group  receives it, for group_free(), whatever is returned.
 * @return 0, -ENOMEM, or as client_get().
 */
int group_fetch(struct client *client, const struct rooms *rooms, size_t row, struct group *group);

/** The same without who takes the CPU. */
void group_begin(const struct room_row *row, struct group *group);

/**
 * Adds the rest. It takes a second if the group's I/O is limited.
 *
 * @param usage   how the plugins are configured.
 * @param places  of all rows.
 * @return 0 or -ENOMEM.
 */
int group_read(const struct hr_root *root, const struct usage *usage, const struct rooms *rooms,
               const struct places *places, size_t row, struct group *group);

/** What limits what a row has the least room by. */
enum group_bound {
    GROUP_BOUND_UNKNOWN,
    GROUP_BOUND_LIMIT, /**< limits[] of that resource; also the machine's memory */
    GROUP_BOUND_CPUS,  /**< those that it may use */
};

/** @return what does, of a group that was read. */
enum group_bound group_find_bound(const struct room_row *row, const struct group *group);

/** Reads what binds only, who takes it if that is memory, and the trend if trouble is to come.
 * @return 0 or -ENOMEM. */
int group_read_brief(const struct hr_root *root, struct hr_room_machine *machine,
                     const struct usage *usage, const struct saved_trends *saved,
                     const struct rooms *rooms, const struct places *places, size_t row,
                     struct group *group);

/** Whether when trouble is to come at the soonest, and at the latest, is known; of the trend from
 * which its row's time is, so that it is between them. */
bool group_has_interval(const struct room_row *row, const struct group *group);

void group_free(struct group *group);

/** Prints the page. @param width  of the terminal. @return 0, or the negative errno of writing;
 * -ENOMEM. */
int group_print(FILE *out, const struct room_row *row, const struct group *group, int width);

/** Prints the same as one object of JSON. */
void group_print_json(FILE *out, const struct group *group);

/** Prints who takes, as a member of an object. @param group  NULL: none is known. */
void group_print_json_takers(FILE *out, const struct group *group);

#endif
