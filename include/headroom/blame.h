/* SPDX-License-Identifier: MIT */
/*
 * headroom/blame.h - who took the CPU from whom: what a CPU did while tasks of watched groups
 * waited for it.
 *
 * A task waits for a CPU while it is runnable without running: the kernel's run delay, as in
 * /proc/PID/schedstat. A BPF program on the tracepoint sched_switch keeps the last slices of each
 * CPU (who ran, from when), and splits each wait by them when it ends. A wait on several CPUs is
 * split by the slices of each.
 *
 * Waits are counted when they end: by running, or by moving to another CPU; see also
 * hr_blame_options.lasting. The sum of a group's cells is the run delay of its tasks. What no slice
 * is known for is counted as HR_BLAME_UNKNOWN, never spread over the others: waits that began
 * before attaching, or, but for a limit's part, more than HR_BLAME_SLICES switches ago, or that
 * would take a CPU more than 5 to 10 % of its time to split, as where hundreds of tasks run for
 * microseconds each. On a kernel before 6.6 also what others ran while the group was throttled.
 *
 * A task belongs to the deepest watched group that it is in or below, by the group it is in when it
 * begins to run. A group that isn't watched counts as the watched group above it; without one its
 * waits aren't measured, and as a taker it is HR_BLAME_OTHER.
 *
 * Needs Linux 5.13 with CONFIG_DEBUG_INFO_BTF and CONFIG_FAIR_GROUP_SCHED, and CAP_BPF and
 * CAP_PERFMON, or root.
 *
 * Sources: kernel/sched/stats.h (sched_info_switch), kernel/sched/core.c (update_rq_clock_task),
 * kernel/sched/fair.c (tg_unthrottle_up), Documentation/scheduler/sched-stats.rst.
 *
 * An object may be used by one thread at a time.
 */
#ifndef HEADROOM_BLAME_H
#define HEADROOM_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/blame_taker.h"
#include "headroom/reason.h"

/** How many slices of each CPU are kept: of the beginning of a wait with more switches only the
 * limit's part is known. */
#define HR_BLAME_SLICES 1024

/** How long a group, or a task, waited while one taker had the CPU. */
struct hr_blame_cell {
    uint64_t waiter; /**< the id of the watched group, as hr_cgroup.id */
    enum hr_blame_taker taker;
    uint64_t group;      /**< HR_BLAME_GROUP: its id; else 0 */
    uint32_t waiter_tid; /**< the tasks, with by_task only; else 0 */
    uint32_t taker_tid;  /**< 0 where no task ran */
    uint64_t wait_ns;
};

/** The cells at one moment, or of an interval; sorted by waiter, waiter_tid, taker, group,
 * taker_tid. All zeros is empty. */
struct hr_blame_matrix {
    uint64_t time_ns;    /**< CLOCK_MONOTONIC when it was read; of an interval: its length */
    uint64_t lost_ns;    /**< waits that had no room (max_cells); they are in no cell */
    uint64_t unsplit_ns; /**< parts of waits whose taker had none; they are unknown */
    struct hr_blame_cell *cells;
    size_t count, capacity;
};

/** The calls that a test replaces; NULL means libbpf's, see src/collectors/blame/calls.h. */
struct hr_blame_calls;

struct hr_blame_options {
    /** The controller whose hierarchy the groups are of: "cpu" means version 1's hierarchy of that
     * controller; NULL: cgroup2. */
    const char *controller;
    /** The most groups that are watched at once; 0: 1,000. */
    size_t max_groups;
    /** The most cells; 0: 64 for each of max_groups, at least 4,096. Each takes about 100 bytes of
     * kernel memory. Where three quarters of them are in use, hr_blame_read() removes those that
     * haven't changed since it was called last. */
    size_t max_cells;
    /** Whether tasks have cells of their own. It costs more at each switch. */
    bool by_task;
    /** Whether waits that last are counted, too, for as long as they have lasted; so an interval
     * has just the waits within it. Reading takes longer: it asks for each task of the machine.
     * Their lengths are some milliseconds off. Otherwise waits count when they end, as those of
     * tasks outside of the reader's PID namespace always do. */
    bool lasting;
    const struct hr_blame_calls *calls;
};

struct hr_blame;
struct hr_root;

/**
 * Loads the programs into the kernel; they don't run before hr_blame_attach(). Takes some tens of
 * milliseconds: not for a thread that must be in time.
 *
 * @param blame   receives the object; the caller closes it with hr_blame_close().
 * @param reason  receives cause and remedy of a failure; may be NULL.
 * @return 0; -ENOENT: the kernel has no BTF; -EOPNOTSUPP: it can't run the programs; -EPERM,
 *         -EACCES: no privilege; -ENOMEM; -EINVAL: unknown controller; or another negative errno.
 */
int hr_blame_open(const struct hr_blame_options *options, struct hr_blame **blame,
                  struct hr_reason *reason);

/** Detaches, and unloads the programs. NULL is allowed. Waits for RCU, some tens of milliseconds.
 */
void hr_blame_close(struct hr_blame *blame);

/**
 * Begins to measure. Every switch of every CPU costs time from here on (about 0.1 microseconds)
 * until hr_blame_detach(). It does nothing if attached already.
 *
 * @return 0 or a negative errno, with its reason.
 */
int hr_blame_attach(struct hr_blame *blame, struct hr_reason *reason);

/** Ends measuring; it can be attached again. */
void hr_blame_detach(struct hr_blame *blame);

/**
 * Sets which groups are watched, instead of those before. Cells of groups that stay are kept. Cells
 * of a group that is watched no more vanish from the matrix once it has been read twice without
 * change, those in which it was the taker as well.
 *
 * @param ids  ids of groups, as hr_cgroup.id, in any order, none twice.
 * @return 0; -E2BIG: more than max_groups, nothing was changed; -ENOMEM; or another negative errno
 *         of changing the kernel's maps, after which some groups may not be watched.
 */
int hr_blame_watch(struct hr_blame *blame, const uint64_t *ids, size_t count);

/**
 * As hr_blame_watch(), but only waits of the first groups are measured. The others are
 * distinguished as takers; their switches cost hardly more than those of groups that aren't
 * watched.
 *
 * @param measured  how many are measured.
 */
int hr_blame_watch_first(struct hr_blame *blame, const uint64_t *ids, size_t count,
                         size_t measured);

/**
 * Finds the root cgroup of a hierarchy, which can be watched as any other: then tasks of no
 * other watched group are of it, but for kernel threads, whose waits aren't measured.
 *
 * @param controller  as of hr_blame_options: "cpu" means version 1's hierarchy of that controller.
 * @param id          receives its id, as hr_cgroup.id.
 * @return 0; -ENOENT: no such hierarchy is mounted; or another negative errno.
 */
int hr_blame_find_top(const struct hr_root *root, const char *controller, uint64_t *id);

/**
 * Reads how long each watched group has waited for whom, since attaching the first time, or since
 * a cell that was removed was made again. The matrix is for hr_blame_delta(): only of an interval
 * it is known what is unknown.
 *
 * @param matrix  is replaced; its memory is used again. The caller frees it with
 *                hr_blame_matrix_free().
 * @return 0, -ENOMEM, or another negative errno.
 */
int hr_blame_read(struct hr_blame *blame, struct hr_blame_matrix *matrix);

/** As hr_blame_read(), but removes nothing: for a reader beside another, or while another matrix is
 * still to be compared. */
int hr_blame_peek(struct hr_blame *blame, struct hr_blame_matrix *matrix);

/** Explains an error of hr_blame_watch…(), hr_blame_read() or hr_blame_peek(). @param reason
 * receives cause and remedy. */
void hr_blame_explain(int status, struct hr_reason *reason);

/** @return whether HR_BLAME_INTERRUPTS is known: the kernel has CONFIG_IRQ_TIME_ACCOUNTING. It may
 * still be 0 always where the CPUs' clock isn't stable. */
bool hr_blame_knows_interrupts(const struct hr_blame *blame);

/** @return whether HR_BLAME_LIMIT is exact: Linux 6.6 and later with CONFIG_CFS_BANDWIDTH. Before,
 * it is the time in which the CPU was idle in waits in which the group was throttled. */
bool hr_blame_knows_limit(const struct hr_blame *blame);

/**
 * Finds the name of a task in a cell, as it was when it last began to run.
 *
 * @param size  of name; a task's name has up to 15 bytes, any but NUL.
 * @return 0, -ENOENT if it isn't known.
 */
int hr_blame_task_name(const struct hr_blame *blame, uint32_t tid, char *name, size_t size);

/**
 * Makes the matrix of an interval. Cells without waits in it are left out, as are those that have
 * vanished since `before`; one that is less than before was made again meanwhile.
 *
 * @param delta  is replaced, and freed by the caller; neither of the others.
 * @return 0 or -ENOMEM.
 */
int hr_blame_delta(const struct hr_blame_matrix *before, const struct hr_blame_matrix *after,
                   struct hr_blame_matrix *delta);

/** Frees the cells, and empties the matrix. */
void hr_blame_matrix_free(struct hr_blame_matrix *matrix);

#endif
