/* SPDX-License-Identifier: MIT */
/*
 * headroom/reclaim.h - has the kernel take memory from a group, by memory.reclaim, which sets no
 * limit; and reads whether the group's tasks wait for it.
 *
 * What is taken is what the kernel finds to be used least: files, which are read again when they
 * are needed, and, where there is swap space, other memory, which is swapped out. So nothing of a
 * plugin calls this, which only measures; `headroom probe` does.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("memory.reclaim", since Linux 5.19).
 */
#ifndef HEADROOM_RECLAIM_H
#define HEADROOM_RECLAIM_H

#include <stdint.h>

#include "headroom/psi.h"
#include "headroom/reason.h"

struct hr_cgroup;
struct hr_root;

/** A group that memory may be taken from. Used by one thread at a time. */
struct hr_reclaim;

/** What a group has at one moment, with those below it. */
struct hr_reclaim_state {
    uint64_t current_bytes;
    uint64_t takeable_bytes; /**< of these: files, slab that can be reclaimed, and what swap space
                                  has room for, within the limits of the group and those above */
    uint64_t refault_count;  /**< pages that were read again after they had been taken, since the
                                  group was created */
    /** How much of the time some task waited for memory, and for I/O: the larger of the averages
     * of the last 10 and of the last 60 seconds, 0..100. Of the other resources it is 0. */
    double stalled_pct[HR_PSI_RESOURCE_COUNT];
};

/**
 * Prepares to take memory of a group; takes none. Keeps six descriptors at most.
 *
 * @param root     must outlive the object, and so must `group`.
 * @param reclaim  receives the object; the caller closes it with hr_reclaim_close().
 * @param reason   receives the cause of a failure, and its remedy.
 * @return 0; -EOPNOTSUPP: the memory controller is version 1's, which has no such file; -ENOENT:
 *         it isn't enabled for the group, or the kernel is older than 5.19; -EACCES, -EPERM: no
 *         permission; -EROFS: cgroups can't be written to; -ENODEV: the group was removed;
 *         -ENOMEM; or another negative errno of open(2).
 */
int hr_reclaim_open(const struct hr_root *root, const struct hr_cgroup *group,
                    struct hr_reclaim **reclaim, struct hr_reason *reason);

/** Closes it. NULL is allowed. */
void hr_reclaim_close(struct hr_reclaim *reclaim);

/**
 * Reads what the group has, and how much it waits. Where that isn't known it fails, as memory had
 * better not be taken then.
 *
 * @return 0; -ENODEV: the group was removed; -ENOENT: the controller isn't enabled any more;
 *         an error of struct hr_psi_snapshot; -EBADMSG, -ENODATA: memory.stat isn't understood; or
 *         another negative errno of open(2) and read(2). `reason` has the cause.
 */
int hr_reclaim_read(struct hr_reclaim *reclaim, struct hr_reclaim_state *state,
                    struct hr_reason *reason);

/**
 * Takes memory. It returns when that is done: some milliseconds for 4 MiB of files, longer where
 * memory is swapped out; signals that are blocked don't end it.
 *
 * @param bytes  at least; the kernel may take somewhat more.
 * @return 0; -EAGAIN: less than that could be taken; -ENODEV: the group was removed; -EINTR: a
 *         signal arrived; or another negative errno of write(2). `reason` has the cause, but not
 *         of -EAGAIN and -EINTR.
 */
int hr_reclaim_take(struct hr_reclaim *reclaim, uint64_t bytes, struct hr_reason *reason);

#endif
