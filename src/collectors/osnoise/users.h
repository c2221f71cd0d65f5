/* SPDX-License-Identifier: MIT */
/*
 * osnoise/users.h - which instances use a tracer.
 *
 * Source: current_tracer, of the kernel itself and of each of its instances.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_USERS_H
#define HEADROOM_COLLECTORS_OSNOISE_USERS_H

#include <stddef.h>

#include "osnoise/tracefs.h"

struct hr_osnoise_user {
    char tracer[32];
    char instance[256]; /**< "": the top-level one */
};

/**
 * Finds an instance that has a tracer set.
 *
 * @param tracer  which; NULL: any but "nop", and but "function" in an instance, which shares
 *                nothing with the tracers of runs.
 * @param except  an instance to ignore, of this run; may be NULL.
 * @param user    receives the first; may be NULL.
 * @return 1, 0 if there is none, or a negative errno. Instances that are removed meanwhile are
 *         ignored.
 */
int hr_osnoise_users_find(const struct hr_tracefs *tracefs, const char *tracer, const char *except,
                          struct hr_osnoise_user *user);

/**
 * Finds an instance that has the osnoise tracer set and records (tracing_on): for the kernel, only
 * such an instance is part of a run.
 *
 * @return as hr_osnoise_users_find().
 */
int hr_osnoise_users_find_running(const struct hr_tracefs *tracefs, const char *except,
                                  struct hr_osnoise_user *user);

/**
 * Finds an instance that has a tracer set and isn't one that was left behind by a run: see
 * osnoise/owner.h.
 *
 * @return as hr_osnoise_users_find().
 */
int hr_osnoise_users_find_alive(const struct hr_tracefs *tracefs, const char *tracer,
                                struct hr_osnoise_user *user);

/** Prints the instance for messages: "the trace instance rtla_osnoise_top" or "the top-level trace
 * instance". */
void hr_osnoise_user_print(const struct hr_osnoise_user *user, char *text, size_t size);

#endif
