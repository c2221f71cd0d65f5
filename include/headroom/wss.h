/* SPDX-License-Identifier: MIT */
/*
 * headroom/wss.h - the working set: how much memory processes, a cgroup or the machine touch within
 * a window of time.
 *
 * Four methods, one interface:
 *
 *   referenced  Clears the referenced bits of a process (/proc/PID/clear_refs) and later adds up
 *               which are set again (smaps_rollup). Reclaim loses the information in these bits.
 *   idle        Marks the pages of a process or cgroup idle (/sys/kernel/mm/page_idle/bitmap) and
 *               later counts which no longer are. The kernel keeps the cleared referenced bits for
 *               reclaim. Not where the multi-gen LRU is enabled, which doesn't maintain idle bits.
 *   lru_gen     Reads the generations in which the kernel keeps the pages of a cgroup (multi-gen
 *               LRU, debugfs); with aging, makes it create new ones.
 *   damon       Makes the kernel sample regions of memory (DAMON, sysfs). Cheap at any size, but
 *               coarse. Windows of 0.3 s or more; before Linux 6.9 up to 5 s.
 *
 * A measurement begins once and may be read several times: each reading has what was touched since
 * the beginning. So several windows cost one clearing.
 *
 *     hr_wss_begin(wss, 60 s)  …1 s…  hr_wss_read(wss, 1 s)  …9 s…  hr_wss_read(wss, 10 s)  …
 *
 * Two measurements that have pages in common spoil each other: each clears the accessed bits that
 * the other counts. Of pages that several processes of a target share, idle counts each once;
 * referenced by the processes' parts, see wss/touched.h; damon in each process, up to what they
 * have together, see wss/resident.h. Of a cgroup referenced counts no more than it is charged for.
 *
 * Sources: Documentation/filesystems/proc.rst (clear_refs, smaps),
 * Documentation/admin-guide/mm/idle_page_tracking.rst, multigen_lru.rst and damon/usage.rst.
 *
 * An object is used by one thread at a time. The functions block for as long as the kernel takes to
 * walk the memory: don't call them from a thread that others wait for.
 */
#ifndef HEADROOM_WSS_H
#define HEADROOM_WSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/process.h"
#include "headroom/reason.h"

struct hr_cgroup;
struct hr_root;
struct hr_wss;
struct hr_wss_shared;

enum hr_wss_method {
    HR_WSS_REFERENCED,
    HR_WSS_IDLE,
    HR_WSS_LRU_GEN,
    HR_WSS_DAMON,
    HR_WSS_METHOD_COUNT,
    HR_WSS_AUTO = HR_WSS_METHOD_COUNT, /**< the least disturbing one that can measure the target */
};

/** What is measured. */
enum hr_wss_scope { HR_WSS_PROCESSES, HR_WSS_CGROUP, HR_WSS_SYSTEM, HR_WSS_SCOPE_COUNT };

struct hr_wss_target {
    enum hr_wss_scope scope;
    struct hr_process_choice processes; /**< PROCESSES; looked up at each beginning */
    const char *cgroup;                 /**< CGROUP: its path below the cgroup2 mount */
    /** CGROUP: the same as a member of a set, where it must stay as long as the object is used:
     * then it is opened there, while a path is looked for in the mount table at each beginning.
     * NULL: only the path is known. */
    const struct hr_cgroup *group;
};

struct hr_wss_options {
    struct hr_wss_target target; /**< copied, texts included */
    enum hr_wss_method method;
    /** How many windows of a measurement will be read: the maximum number of readings per
     * beginning. 0: one; SIZE_MAX: unlimited. */
    size_t window_count;
    /** The longest of them, with which measurements will begin: HR_WSS_AUTO chooses no method that
     * can't measure it. 0: unknown. */
    uint64_t longest_window_ns;
    bool aging; /**< lru_gen: makes the kernel create generations; else existing ones are read */
    /** How much CPU time one scan of memory may take; 0: no limit. With referenced a scan covers
     * one process; with idle, and with lru_gen and aging, the whole target, once to mark it and
     * once for each reading. With idle, for which no process waits, it may take a tenth of the
     * longest window if that is more, up to ten times as long. A scan that takes longer is given
     * up. Referenced and lru_gen also don't start one that is expected to. Each call of
     * hr_wss_begin() tries again: wait longer and longer before you do. */
    uint64_t max_scan_ns;
    /** Targets with more memory aren't measured by the methods that walk it (referenced, idle); 0:
     * no limit. The memory is what is resident of all their processes together; of that of files
     * and shared memory, the most that one process has. Of a cgroup it is no more than the group is
     * charged for (memory.current). */
    uint64_t max_rss_bytes;
    /** PROCESSES: called at each beginning with those found, before anything is marked; an error,
     * with its reason, ends the beginning. NULL: nothing is called. */
    int (*check_processes)(const struct hr_process_list *processes, void *context,
                           struct hr_reason *reason);
    void *context;
    /** What objects share that are used by the same thread; must outlive them. NULL: nothing. */
    struct hr_wss_shared *shared;
};

/**
 * What several objects share. With lru_gen it is what the kernel prints of the groups: one reading
 * within 1.5 seconds serves all, so that the cost grows with the groups and not with their square.
 * With aging, end the windows of all that are due before you read the first of them. Of processes
 * chosen by name it is the names of all processes: one walk of /proc serves all that begin or are
 * read within a tenth of their window, or a second if that is less. A process that gets the name in
 * that time counts from its start, or at the window's end not at all.
 *
 * @return NULL if memory is short.
 */
struct hr_wss_shared *hr_wss_shared_new(void);
void hr_wss_shared_free(struct hr_wss_shared *shared);

/** A lock of a process's memory map, which makes the process wait when it needs a new page. */
struct hr_wss_lock {
    uint64_t held_ns; /**< 0: there was none */
    uint64_t cpu_ns;  /**< of it, the CPU time of the thread that held it: else it waited, too */
    pid_t pid;
    char name[HR_PROCESS_NAME_SIZE];
};

/** Whether it was held for 100 ms or more, most of that by a thread that had to wait, too, as its
 * CPU time is limited or others have it: max_scan_ns doesn't limit that. */
static inline bool hr_wss_lock_waited(const struct hr_wss_lock *lock)
{
    return lock->held_ns >= UINT64_C(100000000) && lock->cpu_ns <= lock->held_ns / 2;
}

/** One reading. */
struct hr_wss_sample {
    uint64_t referenced_bytes; /**< touched within the window */
    bool has_rss, has_pss;
    /** Resident; of several processes the sum, with shared pages in each, but with idle of a cgroup
     * each page once. */
    uint64_t rss_bytes;
    uint64_t pss_bytes; /**< resident, shared pages in proportion */
    /** The actual window: from the middle of marking to the middle of reading. */
    uint64_t window_ns;
    /** How long scanning took: this reading and, in the first one, the beginning. */
    uint64_t scan_ns;
    /** Measured processes; 0 where the method measures no processes. Those of the target that began
     * since are among them, but with damon. */
    size_t process_count;
    /** Processes that ended since the beginning: what they touched isn't in the sum, unless it is
     * in the pages of a cgroup that lru_gen counts; but of one that ends while referenced reads its
     * mappings, those read by then are. */
    size_t ended_count;
    /** With referenced: the file that shows that DAMON is at work, so that huge pages and other
     * large folios of which one page was touched may count as a whole. NULL: it isn't. */
    const char *damon_path;
    /** With referenced, in the first reading, where hr_wss_scans_are_throttled(): of those that
     * clearing has held, at most, the longest in which the thread had to wait, else the longest. */
    struct hr_wss_lock worst_lock;
    size_t left_count; /**< processes that can't be measured, such as for lack of permission */
};

/** Whether a thread whose limit of CPU time is used up is throttled also in the middle of a scan,
 * and holds the lock meanwhile: before Linux 6.18. Since then that waits until the scan is done. */
bool hr_wss_scans_are_throttled(const struct hr_root *root);

/** The method's name as users write it: "referenced", "idle", "lru_gen", "damon", "auto". */
const char *hr_wss_method_name(enum hr_wss_method method);

/** Finds a method by its name. @return 0 or -ENOENT. */
int hr_wss_method_parse(const char *name, enum hr_wss_method *method);

/** Whether a method supports a scope, on any machine. @param method  not HR_WSS_AUTO. */
bool hr_wss_measures(enum hr_wss_method method, enum hr_wss_scope scope);

/**
 * Checks whether a method works here for a scope, without side effects on other programs.
 *
 * @param method  not HR_WSS_AUTO.
 * @param reason  receives the reason if it doesn't.
 * @return 0; -EOPNOTSUPP: it doesn't measure that scope, or is switched off; -ENOENT: the kernel
 * lacks it; -EACCES or -EPERM: privilege; -EBUSY: another program uses it; …
 */
int hr_wss_probe(const struct hr_root *root, enum hr_wss_method method, enum hr_wss_scope scope,
                 struct hr_reason *reason);

/**
 * Prepares measuring a target. The method is chosen here; whether the process or cgroup exists is
 * checked at each beginning.
 *
 * HR_WSS_AUTO chooses the first method that works and allows the windows: for processes idle,
 * referenced, damon; for a cgroup lru_gen if aging is allowed, idle, referenced, lru_gen; for
 * the system lru_gen if aging is allowed, damon, lru_gen. One that turns out to exceed max_scan_ns
 * is replaced by the next, and so is one that can't measure the target (-EOPNOTSUPP), such as
 * referenced for processes that run virtual machines, idle and lru_gen for a cgroup without the
 * memory controller, idle and referenced for a threaded one: hr_wss_method() changes then. damon is
 * never replaced.
 *
 * @param root    must outlive the object.
 * @param wss     receives the object; the caller closes it with hr_wss_close().
 * @param reason  receives the cause of a failure: with HR_WSS_AUTO that of each method; on success
 *                then that of each one that would have been preferred, "" if none would. May be
 * NULL.
 * @return 0; as hr_wss_probe(); -E2BIG: the method doesn't support so many windows; -EINVAL;
 *         -ENOMEM.
 */
int hr_wss_open(const struct hr_root *root, const struct hr_wss_options *options,
                struct hr_wss **wss, struct hr_reason *reason);

/** Ends the measurement, restores the kernel's state and frees the object. NULL is allowed. */
void hr_wss_close(struct hr_wss *wss);

/** The method in use; never HR_WSS_AUTO. With HR_WSS_AUTO, hr_wss_begin() and hr_wss_read() may
 * change it. */
enum hr_wss_method hr_wss_method(const struct hr_wss *wss);

/** How many windows a measurement can have at most; 0: unlimited. */
size_t hr_wss_max_windows(const struct hr_wss *wss);

/** Whether readings look back at what the kernel has recorded already: then there is nothing to
 * wait for between beginning and reading. */
bool hr_wss_looks_back(const struct hr_wss *wss);

/**
 * Begins a measurement; one in progress ends.
 *
 * @param window_ns  the longest window that will be read.
 * @param reason     receives the cause of a failure; with HR_WSS_AUTO, also that of another method
 *                   which took too long (-ETIME) or can't measure the target (-EOPNOTSUPP), where
 *                   this call has replaced it. May be NULL.
 * @return 0; -ESRCH, -ECHILD, -ENXIO, -ENOENT, -EBADMSG, -EACCES, -EMFILE of the processes, see
 *         hr_process_list_find(): with referenced and idle also -ESRCH of a cgroup that has none;
 *         -ENODEV: there is no such cgroup; -EFBIG: above max_rss_bytes;
 *         -ETIME: would take longer than max_scan_ns, or did; -EBUSY: another program uses the
 *         method; -EINVAL: the method can't measure such a window; -EOPNOTSUPP: it can't measure
 *         such processes, or the memory controller isn't enabled for the cgroup: choose another;
 *         -ENOMEM; the error of check_processes; …
 */
int hr_wss_begin(struct hr_wss *wss, uint64_t window_ns, struct hr_reason *reason);

/** When the measurement that was begun last did so, by CLOCK_MONOTONIC: the middle of marking, from
 * which windows count. What is read at once when it is a window's length ago is no shorter one. */
uint64_t hr_wss_begun_ns(const struct hr_wss *wss);

/** Ends the next window before it is read, with methods that can: see hr_wss_ends_windows(). If
 * that fails, further calls do nothing, and the reading tries again, unless it took longer than
 * max_scan_ns: then the reading fails with that. */
void hr_wss_end_window(struct hr_wss *wss);

/** Whether ending a window is one thing, and reading it another. */
bool hr_wss_ends_windows(const struct hr_wss *wss);

/**
 * Reads what was touched since the beginning, or until its window was ended.
 *
 * @param window_ns  the window wanted: a method that looks back reads that one; others measure what
 *                   was touched until now.
 * @param sample     receives the reading.
 * @param reason     receives the cause of a failure. May be NULL.
 * @return 0; -EINVAL: no measurement was begun, or it has no windows left; -ESRCH: all processes
 *         have ended; -ENODEV: the cgroup was removed; -ENODATA: the kernel has no record of that
 *         window; -ETIME: as for hr_wss_begin(); with HR_WSS_AUTO the method may be another one
 *         now: begin again; -EBUSY: another program interfered; -ENOMEM; …
 */
int hr_wss_read(struct hr_wss *wss, uint64_t window_ns, struct hr_wss_sample *sample,
                struct hr_reason *reason);

/** The same, but where the method would have to wait (damon, for the end of an interval), @return
 * -EAGAIN, without a reason: call again after a few milliseconds. */
int hr_wss_try_read(struct hr_wss *wss, uint64_t window_ns, struct hr_wss_sample *sample,
                    struct hr_reason *reason);

/**
 * Makes a thread of this process that is in one of these functions return soon, with an error,
 * where the kernel lets it wait for long: before Linux 6.9, for the end of an interval of DAMON.
 * Any thread may call it.
 */
void hr_wss_interrupt(const struct hr_root *root);

/** Ends the measurement, if one was begun, restores the kernel's state and releases the processes.
 * The next one may begin at any time. */
void hr_wss_end(struct hr_wss *wss);

/**
 * Ends what a process of ours that was killed has left behind: DAMON goes on monitoring for it, and
 * nothing else can use it. The damon method does this at each beginning; a program that runs for
 * long also calls it at its start, whatever it measures.
 *
 * @param root  in a container with the host's files, a process of another one is looked up in the
 *              host's /proc; elsewhere what belongs to other containers is left alone.
 * @return whether there was something, and it ended.
 */
bool hr_wss_recover(const struct hr_root *root);

/** Finds what hr_wss_recover() or hr_wss_restore() would end, and leaves it. @return 0: there is
 * nothing; -ESTALE: left behind; -EAGAIN: whether it is can't be seen from here; -EACCES, -EMFILE,
 * …: DAMON's files can't be read; with a reason. */
int hr_wss_left_behind(const struct hr_root *root, struct hr_reason *reason);

/**
 * As hr_wss_recover(), as the user wishes: also what belongs to a container that can't be looked
 * into.
 *
 * @return 1: it ended; 0: there was nothing; -EBUSY: it is another program's, or its process is
 *         alive; -EACCES, -EMFILE, …: DAMON's files can't be used; with a reason.
 */
int hr_wss_restore(const struct hr_root *root, struct hr_reason *reason);

#endif
