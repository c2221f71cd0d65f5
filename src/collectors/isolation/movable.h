/* SPDX-License-Identifier: MIT */
/*
 * isolation/movable.h - what has a number, and runs on CPUs where it need not: interrupts, threads.
 * Those that are to go to the same CPUs are reported together, by one command.
 */
#ifndef HEADROOM_COLLECTORS_ISOLATION_MOVABLE_H
#define HEADROOM_COLLECTORS_ISOLATION_MOVABLE_H

#include "isolation/internal.h"

struct hr_movable {
    unsigned number;
    char name[48];            /**< as it came, or "" */
    struct hr_cpu_set where;  /**< of the CPUs to be left alone */
    struct hr_cpu_set target; /**< set by hr_movables_add() */
    bool is_reported;
};

/** All zeros is an empty list. */
struct hr_movables {
    struct hr_movable *list;
    size_t count, capacity;
};

/** How they are reported. */
struct hr_movable_texts {
    enum hr_isolation_aspect aspect;
    const char *one, *several; /**< "interrupt", "interrupts" */
    const char *may_run;       /**< "%s may run on CPU%s %s": which, "s" or "", the CPUs */
    const char
        *command; /**< "taskset -cp %s %s": the CPUs, the number or a variable of the shell */
};

/**
 * Adds one, which is to keep the CPUs that it is allowed but those to be left alone; if that is
 * none, to get all others.
 *
 * @return 0 or -ENOMEM.
 */
int hr_movables_add(struct hr_movables *movables, const struct hr_isolation_context *context,
                    unsigned number, const char *name, const struct hr_cpu_set *allowed);

/** Adds a fault for all that go to the same CPUs; or several, as each command has room for so many.
 */
void hr_movables_report(struct hr_movables *movables, struct hr_isolation_context *context,
                        const struct hr_movable_texts *texts);

#endif
