/* SPDX-License-Identifier: MIT */
/*
 * osnoise/owner.h - whether the process of a run is alive, and who may change the tracer: by locks
 * on files of tracefs, which the kernel releases when their process ends, whatever ends it.
 *
 * A PID would say neither, as runs may be in containers: their PIDs are of other namespaces, and
 * their state files are gone with them. But tracefs is the same in all of them, and so are its
 * locks. Who may change what:
 *
 * - Whoever begins or ends a run, or restores what another left, has the tracer's lock meanwhile.
 *   So nothing is restored beneath a run that just begins, nor by two at a time. Only its own
 *   instance a run stops and removes even if it can't get that lock; the settings wait for it then.
 * - A run has the lock of its instance from making it until its tracer is stopped, just before it
 *   removes it. Names are never used twice, so that it is the lock of that run.
 * - An instance of a run that isn't locked was left behind. Whoever has the tracer's lock may
 *   remove it. The kernel refuses to remove one of which any file is open: so even another program
 *   that reads it isn't disturbed.
 * - Instances that other programs made, by their names, are never changed.
 *
 * Sources: flock(2); instance_rmdir() in kernel/trace/trace.c.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_OWNER_H
#define HEADROOM_COLLECTORS_OSNOISE_OWNER_H

#include <stdbool.h>

#include "headroom/reason.h"
#include "osnoise/tracefs.h"

/** The prefix of the names of runs' instances; digits and "_" follow: the PID, and the time since
 * boot in ns, by which no other run of this boot has that name, in whatever PID namespace. */
#define HR_OSNOISE_INSTANCE_PREFIX "headroom_osnoise_"

/** Whether an instance is that of a run, by its name. */
bool hr_osnoise_owner_has_name(const char *instance);

/**
 * Takes the tracer's lock, for which it waits five seconds at most. One process can't have it
 * twice.
 *
 * @param lock  receives a descriptor for hr_osnoise_owner_unlock().
 * @return 0; -EBUSY: another process has it; -ENOENT: there is no such tracer; -EMFILE, … With the
 * reason.
 */
int hr_osnoise_owner_lock_tracer(const struct hr_tracefs *tracefs, int *lock,
                                 struct hr_reason *reason);

/**
 * Takes the lock of an instance that was just made.
 *
 * @param lock  receives a descriptor for hr_osnoise_owner_unlock(). While it is open the kernel
 *              doesn't remove the instance.
 * @return 0 or a negative errno.
 */
int hr_osnoise_owner_lock_instance(const struct hr_tracefs *tracefs, const char *instance,
                                   int *lock);

/** Releases a lock, also for processes that were forked meanwhile and have a copy of its
 * descriptor, and closes it. Nothing is done if it is -1, as it is then. */
void hr_osnoise_owner_unlock(int *lock);

/** Whether the process that has made an instance is alive. @return 1; 0; -ENOENT: there is no such
 * instance; or another negative errno. */
int hr_osnoise_owner_is_alive(const struct hr_tracefs *tracefs, const char *instance);

/**
 * Visits the instances of all runs. The visitor may remove the one that it is called for.
 *
 * @return 0 or a negative errno: those of which it isn't known who owns them aren't visited.
 */
int hr_osnoise_owner_visit(const struct hr_tracefs *tracefs,
                           void (*visit)(const char *instance, bool is_alive, void *context),
                           void *context);

#endif
