/* SPDX-License-Identifier: MIT */
/*
 * isolation/internal.h - what the checks of isolation/isolation.c share. Each returns 0, or a
 * negative errno if what it looks at can't be read.
 */
#ifndef HEADROOM_COLLECTORS_ISOLATION_INTERNAL_H
#define HEADROOM_COLLECTORS_ISOLATION_INTERNAL_H

#include "headroom/isolation.h"
#include "headroom/root.h"

#define HR_ISOLATION_LIST 96

struct hr_isolation_context {
    const struct hr_root *root;
    struct hr_cpu_set cpus;   /**< to be left alone */
    struct hr_cpu_set others; /**< that are online */
    struct hr_isolation *found;
    bool lacks_memory;
};

/** The CPUs of one that are in the other, too. */
struct hr_cpu_set hr_isolation_common(const struct hr_cpu_set *a, const struct hr_cpu_set *b);

/** The CPUs of one that aren't in the other. */
struct hr_cpu_set hr_isolation_without(const struct hr_cpu_set *a, const struct hr_cpu_set *b);

/** Prints a list as shells, taskset(1) and the kernel take it; what doesn't fit becomes "LIST".
 * @return the text. */
const char *hr_isolation_list(const struct hr_cpu_set *cpus, char text[HR_ISOLATION_LIST]);

/** Adds a fault. Texts that are too long are cut. */
__attribute__((format(printf, 4, 5))) void hr_isolation_add(struct hr_isolation_context *context,
                                                            enum hr_isolation_aspect aspect,
                                                            const char *cause,
                                                            const char *remedy_format, ...);

int hr_isolation_check_tasks(struct hr_isolation_context *context);
int hr_isolation_check_irqs(struct hr_isolation_context *context);
int hr_isolation_check_new_irqs(struct hr_isolation_context *context);
int hr_isolation_check_threads(struct hr_isolation_context *context);
int hr_isolation_check_workqueues(struct hr_isolation_context *context);
int hr_isolation_check_watchdog(struct hr_isolation_context *context);
int hr_isolation_check_ticks(struct hr_isolation_context *context);
int hr_isolation_check_timers(struct hr_isolation_context *context);
int hr_isolation_check_rcu(struct hr_isolation_context *context);

#endif
