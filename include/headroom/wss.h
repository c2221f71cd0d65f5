/*
 * wss.h - the working set: how much memory processes, a cgroup or the machine really touch within a
 * span of time.
 *
 * Four ways of asking the kernel, one answer:
 *
 *   referenced  Clears the referenced bits of a process (/proc/PID/clear_refs) and adds up, later,
 *               which came back (smaps_rollup). Reclaim loses what it knew by these bits.
 *   idle        Marks the pages of a process or cgroup idle (/sys/kernel/mm/page_idle/bitmap) and
 *               counts, later, which no longer are. Reclaim is told what was taken from it. Not
 *               where the multi-gen LRU is enabled: that one keeps no idle pages.
 *   lru_gen     Reads the generations in which the kernel keeps the pages of a cgroup (multi-gen
 *               LRU, debugfs); if asked to, has it begin new ones.
 *   damon       Has the kernel sample regions of memory (DAMON, sysfs). Cheap at any size, coarse.
 *               Windows of 0.3 s or more; before Linux 6.9 up to 5 s.
 *
 * A measurement begins, and is read as often as wanted: each reading tells what was touched since
 * the beginning. So several windows cost one clearing.
 *
 *     hr_wss_begin(wss, 60 s)  …1 s…  hr_wss_read(wss, 1 s)  …9 s…  hr_wss_read(wss, 10 s)  …
 *
 * A page that two measurements have in common spoils both: each takes the other's evidence. Of what
 * several processes of a target share, referenced counts each page in each of them, idle once.
 *
 * Sources: Documentation/filesystems/proc.rst (clear_refs, smaps),
 * Documentation/admin-guide/mm/idle_page_tracking.rst, multigen_lru.rst and damon/usage.rst.
 *
 * An object is used by one thread at a time. The functions block for as long as the kernel takes to
 * walk the memory: not for a thread that others wait for.
 */
#ifndef HEADROOM_WSS_H
#define HEADROOM_WSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/process.h"
#include "headroom/reason.h"

struct hr_root;
struct hr_wss;

enum hr_wss_method {
    HR_WSS_REFERENCED,
    HR_WSS_IDLE,
    HR_WSS_LRU_GEN,
    HR_WSS_DAMON,
    HR_WSS_METHOD_COUNT,
    HR_WSS_AUTO = HR_WSS_METHOD_COUNT, /**< the least disturbing that can answer for the target */
};

/** What is measured. */
enum hr_wss_scope { HR_WSS_PROCESSES, HR_WSS_CGROUP, HR_WSS_SYSTEM, HR_WSS_SCOPE_COUNT };

struct hr_wss_target {
    enum hr_wss_scope scope;
    struct hr_process_choice processes; /**< PROCESSES; they are looked up at each beginning */
    const char *cgroup;                 /**< CGROUP: its path below the cgroup2 mount */
};

struct hr_wss_options {
    struct hr_wss_target target; /**< copied, texts included */
    enum hr_wss_method method;
    /** How many windows of a measurement will be read: at most so many readings to a beginning.
     * 0: one; SIZE_MAX: without an end. */
    size_t window_count;
    bool aging; /**< lru_gen: has the kernel begin new generations; else it reads what there is */
    /** How long one look at memory may take; 0: as long as it takes. With referenced a look is at
     * one process; with idle at the whole target, once to mark it and once for each reading; with
     * lru_gen and aging likewise. What is known to take longer isn't begun, what turns out to isn't
     * gone on with; it is tried again after a minute, then after twice as long each time, up to an
     * hour. */
    uint64_t max_scan_ns;
    /** Targets with more memory are left alone by the methods that walk it (referenced, idle); 0:
     * none are. That is what is resident of all their processes together, or for idle of a cgroup
     * what the group is charged for (memory.current). */
    uint64_t max_rss_bytes;
};

/** One reading. */
struct hr_wss_sample {
    uint64_t referenced_bytes; /**< touched within the window */
    bool has_rss, has_pss;
    uint64_t rss_bytes; /**< resident; of several processes the sum, shared pages in each */
    uint64_t pss_bytes; /**< resident, a shared page by its part */
    /** The window really measured: from the middle of marking to the middle of reading. */
    uint64_t window_ns;
    /** What measuring took: this reading and, in the first one, the beginning. */
    uint64_t scan_ns;
    size_t process_count; /**< that were measured; 0 where none was looked for */
    size_t ended_count;   /**< processes that ended since the beginning: what they touched isn't in
                               the sum */
    size_t left_count;    /**< processes that can't be measured, such as for lack of permission */
};

/** The method's name as users write it: "referenced", "idle", "lru_gen", "damon", "auto". */
const char *hr_wss_method_name(enum hr_wss_method method);

/** Finds a method by its name. @return 0 or -ENOENT. */
int hr_wss_method_parse(const char *name, enum hr_wss_method *method);

/** Tells whether a method can measure a scope on any machine. @param method  not HR_WSS_AUTO. */
bool hr_wss_measures(enum hr_wss_method method, enum hr_wss_scope scope);

/**
 * Tries whether a method works here for a scope, without disturbing anybody.
 *
 * @param method  not HR_WSS_AUTO.
 * @param reason  receives the reason if it doesn't.
 * @return 0; -EOPNOTSUPP: it doesn't measure that scope, or is switched off; -ENOENT: the kernel
 * lacks it; -EACCES or -EPERM: privilege; -EBUSY: somebody else uses it; …
 */
int hr_wss_probe(const struct hr_root *root, enum hr_wss_method method, enum hr_wss_scope scope,
                 struct hr_reason *reason);

/**
 * Prepares measuring a target. The method is settled here; whether there is such a process or
 * cgroup is seen at each beginning.
 *
 * HR_WSS_AUTO takes the first that works and can be read so often: of processes idle, referenced,
 * damon; of a cgroup lru_gen if it may age, idle, referenced; of the system lru_gen if it may age,
 * damon, lru_gen.
 *
 * @param root    must outlive the object.
 * @param wss     receives the object; the caller ends it with hr_wss_close().
 * @param reason  receives, on failure, why: with HR_WSS_AUTO that of each method. May be NULL.
 * @return 0; as hr_wss_probe(); -E2BIG: the method can't be read so often; -EINVAL; -ENOMEM.
 */
int hr_wss_open(const struct hr_root *root, const struct hr_wss_options *options,
                struct hr_wss **wss, struct hr_reason *reason);

/** Ends what is going on, leaves the kernel as it was found, and ends the object. NULL is allowed.
 */
void hr_wss_close(struct hr_wss *wss);

/** The method in use; never HR_WSS_AUTO. */
enum hr_wss_method hr_wss_method(const struct hr_wss *wss);

/** How many times a measurement can be read: 0: as often as wanted; else so many windows at most.
 */
size_t hr_wss_max_windows(const struct hr_wss *wss);

/** Whether readings look back at what the kernel knows already: there is nothing to wait for
 * between beginning and reading. */
bool hr_wss_looks_back(const struct hr_wss *wss);

/**
 * Begins a measurement; one that was going on ends.
 *
 * @param window_ns  the longest window that will be read.
 * @param reason     receives, on failure, why. May be NULL.
 * @return 0; -ESRCH, -ECHILD, -ENXIO, -ENOENT, -EBADMSG, -EACCES, -EMFILE of the processes, see
 *         hr_process_list_find(); -ENODEV: there is no such cgroup; -EFBIG: above max_rss_bytes;
 *         -ETIME: would take longer than max_scan_ns, or did; -EBUSY: somebody else uses the
 *         method; -EINVAL: the method can't measure such a window; -ENOMEM; …
 */
int hr_wss_begin(struct hr_wss *wss, uint64_t window_ns, struct hr_reason *reason);

/**
 * Reads what was touched since the beginning.
 *
 * @param window_ns  the window that is meant: a method that looks back answers for that; others
 *                   measure what was touched until now.
 * @param sample     receives the reading.
 * @param reason     receives, on failure, why. May be NULL.
 * @return 0; -EINVAL: nothing was begun; -ESRCH: all processes have ended; -ENODEV: the cgroup was
 *         removed; -ENODATA: the kernel knows nothing of that window; -ETIME; -EBUSY: somebody else
 *         came between; -ENOMEM; …
 */
int hr_wss_read(struct hr_wss *wss, uint64_t window_ns, struct hr_wss_sample *sample,
                struct hr_reason *reason);

/** Ends the measurement, if one was begun, and leaves the kernel as it was found; nothing is held
 * any more of the processes. The next may begin at any time. */
void hr_wss_end(struct hr_wss *wss);

#endif
