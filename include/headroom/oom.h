/* SPDX-License-Identifier: MIT */
/*
 * headroom/oom.h - processes that the kernel killed for lack of memory: which, in which group, and
 * by whose limit.
 *
 * There are two sources, which are joined so that each kill is reported once:
 * - the kernel's log, /dev/kmsg, has each victim in order; but its group and the limit of ten kills
 *   within five seconds only. Of the others the group is read from /proc/PID/cgroup, while the
 *   victim ends;
 * - counts of kills: /proc/vmstat has the machine's, memory.events of a group those of it and of
 *   all below it, so that a removed group's are still in those of the groups above. They give the
 *   group of a victim that has gone; all that is lost from the log, which is a ring; and where the
 *   log can't be read, all that is known. Then inotify reports that the topmost groups' changed.
 *
 * What is attributed by counts is as near as they allow: where several groups have kills that are
 * not reported yet, the group that all of them are in.
 *
 * In version 1 a group's kills are not in the counts of those above, and nothing reports their
 * change: there, only the log says in which group a process was killed.
 *
 * Sources: mm/oom_kill.c (__oom_kill_process, dump_oom_victim, oom_kill_process: the rate limit),
 * mm/memcontrol.c (mem_cgroup_print_oom_context, mem_cgroup_print_oom_meminfo,
 * memcg_memory_event), Documentation/ABI/testing/dev-kmsg,
 * Documentation/admin-guide/cgroup-v2.rst ("memory.events").
 *
 * An object is used by one thread at a time.
 */
#ifndef HEADROOM_OOM_H
#define HEADROOM_OOM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct hr_root;
struct hr_oom;

/** What there was too little of. */
enum hr_oom_limit {
    HR_OOM_UNKNOWN,
    HR_OOM_OF_GROUP,   /**< a limit of the group in limit_path */
    HR_OOM_OF_SOME,    /**< a limit of the victim's group or of one above */
    HR_OOM_OF_MACHINE, /**< the machine's memory */
    HR_OOM_OF_NODES,   /**< that of the NUMA nodes that the victim may use */
};

/** A kill. Texts are as the kernel has them, not made safe. */
struct hr_oom_kill {
    char path[PATH_MAX];     /**< the group, without a leading slash; "": the root cgroup */
    bool is_exact;           /**< it was in that group; else in one below it, which isn't known */
    char name[64];           /**< the victim's; "": not known, nor is what follows */
    int pid;                 /**< in the kernel's view, that of the first PID namespace */
    uint64_t resident_bytes; /**< what it had in memory; UINT64_MAX: not known */
    enum hr_oom_limit limit;
    char limit_path[PATH_MAX]; /**< the group whose limit it was */
    uint64_t limit_bytes;      /**< UINT64_MAX: not known */
};

/** What the kills are known by. */
struct hr_oom_sources {
    int log_status;   /**< of /dev/kmsg: 0, or a negative errno; -EPERM, -EACCES: CAP_SYSLOG lacks;
                         -ENODATA: it isn't the kernel's */
    int count_status; /**< of /proc/vmstat: 0, or a negative errno; -ENODATA: it has no oom_kill */
    int version;      /**< of the memory controller's hierarchy; 0: it isn't mounted */
    int watch_status; /**< of inotify, where there is no log: 0, or a negative errno */
};

/**
 * Begins to look for kills; those before aren't reported.
 *
 * @param root  must outlive the object.
 * @param oom   receives the object, for hr_oom_close().
 * @return 0, also where no source can be read, see hr_oom_sources(); -EMFILE, -ENFILE, -ENOMEM.
 */
int hr_oom_open(const struct hr_root *root, struct hr_oom **oom);

/** NULL is allowed. */
void hr_oom_close(struct hr_oom *oom);

/** What can be read at present. */
struct hr_oom_sources hr_oom_sources(const struct hr_oom *oom);

/**
 * Counts the kills in a group, and in those above it, from now on, until hr_oom_remove_group().
 * Without the log, and where that doesn't say in which group a process was killed, only counted
 * groups can be named.
 *
 * @param path  without a leading slash.
 * @return 0 or -ENOMEM. A group without the memory controller, or one of version 1, has no counts.
 */
int hr_oom_add_group(struct hr_oom *oom, const char *path);

/** Ends hr_oom_add_group(), once for each call of it. */
void hr_oom_remove_group(struct hr_oom *oom, const char *path);

/** The descriptor to wait on, owned by the object: readable when there may be something new. */
int hr_oom_fd(const struct hr_oom *oom);

/**
 * Reads what is new.
 *
 * @param report  called for each kill, in the log's order.
 * @return when to read again though the descriptor isn't readable, of hr_clock_ns().
 */
uint64_t hr_oom_read(struct hr_oom *oom,
                     void (*report)(const struct hr_oom_kill *kill, void *context), void *context);

#endif
