/*
 * osnoise/users.h - who has a tracer at work.
 *
 * Source: current_tracer, of the kernel itself and of each of its instances.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_USERS_H
#define HEADROOM_COLLECTORS_OSNOISE_USERS_H

#include <stddef.h>

#include "osnoise/tracefs.h"

struct hr_osnoise_user {
    char tracer[32];
    char instance[256]; /**< "": the kernel's own, at the top of tracefs */
};

/**
 * Finds somebody with a tracer at work.
 *
 * @param tracer  which; NULL: any but "nop".
 * @param except  an instance that isn't looked at: our own; may be NULL.
 * @param user    receives the first; may be NULL.
 * @return 1, 0 if there is nobody, or a negative errno. Instances that vanish meanwhile are none.
 */
int hr_osnoise_users_find(const struct hr_tracefs *tracefs, const char *tracer, const char *except,
                          struct hr_osnoise_user *user);

/**
 * Finds somebody in whose instance the tracer osnoise is set and records (tracing_on): for the
 * kernel, only such a one is part of a run.
 *
 * @return likewise.
 */
int hr_osnoise_users_find_running(const struct hr_tracefs *tracefs, const char *except,
                                  struct hr_osnoise_user *user);

/** Prints who it is, for messages: "the trace instance rtla_osnoise_top" or "the
 * top-level trace instance". */
void hr_osnoise_user_print(const struct hr_osnoise_user *user, char *text, size_t size);

#endif
