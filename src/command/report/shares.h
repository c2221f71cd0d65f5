/* SPDX-License-Identifier: MIT */
/*
 * report/shares.h - who takes what a group has the least room by, and who waits for the same.
 */
#ifndef HEADROOM_COMMAND_REPORT_SHARES_H
#define HEADROOM_COMMAND_REPORT_SHARES_H

#include "headroom/reason.h"
#include "report/places.h"
#include "report/rooms.h"

struct client;

/** More would make the line too long to read. */
#define SHARES_MOST 3

struct shares {
    size_t count;
    struct share {
        char *group;
        char *name; /**< for people */
        double pct;
    } list[SHARES_MOST];      /**< the greatest first; what is less than 1 % isn't named */
    struct hr_reason unknown; /**< why nothing is known; empty: these are all */
};

void shares_free(struct shares *shares);

/**
 * Fetches who took the CPU from groups, in percent of the time, from the psi plugin's option Blame.
 *
 * @param taking  of each row; NULL: it isn't wanted.
 * @return 0, -ENOMEM, or as client_get().
 */
int shares_fetch_cpu_takers(struct client *client, const struct rooms *rooms,
                            struct shares *const *taking);

/**
 * Ranks the groups below another one by what they need of the memory that these need together. Of a
 * group and those in it, the latter count.
 *
 * @param above  the path of the group below which they are; "": all.
 */
int shares_rank_memory(const struct rooms *rooms, const struct places *places, const char *above,
                       struct shares *taking);

/** Ranks them by for how long they were stalled for a resource: "cpu", of that not by limits nor
 * for themselves. @param except  the row that isn't among them. */
int shares_rank_waiting(const struct rooms *rooms, const struct places *places, const char *above,
                        const char *resource, size_t except, struct shares *waiting);

#endif
