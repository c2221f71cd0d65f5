/* SPDX-License-Identifier: MIT */
/*
 * headroom/perf_event.h - looks up perf events by name.
 *
 * An event is written as for the perf tool or for libpfm4:
 *
 *     cycles, L1-dcache-load-misses, task-clock   generic events, in any case of letters
 *     INST_RETIRED:ANY_P, skl::UOPS_ISSUED:ANY    this CPU's events, as libpfm4 names them
 *     sched:sched_switch                          tracepoints
 *     r01c2                                       raw, hexadecimal
 *     msr/tsc/, cpu/event=0xc0,umask=0x1/         a PMU and its terms, from sysfs
 *
 * each with an optional modifier at the end: ":u" (user mode), ":k" (kernel) or ":uk" (both);
 * after a PMU's closing slash the colon may be omitted. A term "name=TEXT" names the event.
 *
 * Sources: perf_event_open(2), libpfm(3),
 * Documentation/ABI/testing/sysfs-bus-event_source-devices*, Documentation/trace/events.rst,
 * tools/perf/Documentation/perf-list.txt.
 *
 * A vocabulary and its events are immutable, but for hr_perf_event_update(), and may be read by
 * several threads; they must be created by one thread at a time, as the first vocabulary of the
 * process initialises libpfm4.
 */
#ifndef HEADROOM_PERF_EVENT_H
#define HEADROOM_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/cpu_set.h"

struct hr_root;

/** The PMUs and event names that this machine has. */
struct hr_perf_vocabulary;

/**
 * What an event counts, if a ratio can be formed with it; the same for the generic name ("cycles")
 * and a PMU's alias of it ("cpu/cpu-cycles/").
 */
enum hr_perf_role {
    HR_PERF_OTHER,
    HR_PERF_CYCLES,
    HR_PERF_INSTRUCTIONS,
    HR_PERF_CACHE_REFERENCES, /**< accesses, of the generic cache events and of each level's */
    HR_PERF_CACHE_MISSES      /**< misses of the same; see `cache` */
};

/** The CPU modes in which an event is counted. */
enum hr_perf_mode {
    HR_PERF_ANY_MODE,
    HR_PERF_USER,  /**< ":u" */
    HR_PERF_KERNEL /**< ":k" */
};

/** How an event is counted on some of the CPUs. */
struct hr_perf_encoding {
    /** type, config, config1, config2, config3, and exclude_ user, kernel, host, guest; `size` is
     * set, the rest is 0 except for what a libpfm4 name requests. */
    struct perf_event_attr attr;
    bool every_cpu;         /**< it counts on each CPU; `cpus` is unused */
    struct hr_cpu_set cpus; /**< otherwise: the PMU's file cpus or cpumask */
};

struct hr_perf_event {
    char *text;  /**< as requested */
    char *label; /**< names a series: `text`, or the value of its term name=, with "/", "," and
                      unprintable characters replaced by "_", none at the end; then the modifier
                      ("cycles:u", however it was written). Never empty, and 63 bytes at most: a
                      longer one is cut and ends in "~" and a hash of the text */
    enum hr_perf_role role;
    enum hr_perf_mode mode;
    uint64_t cache; /**< for the two cache roles: equal for references and misses of one cache and
                         kind of access. On hybrid machines, aliases of one kind of core have its
                         PMU's type in the upper 32 bits, in all roles. A ratio needs two events
                         with equal numbers here */
    /** The PMU has a file cpumask: it counts a whole package, and can't count a cgroup. */
    bool whole_machine;
    /** One, or on hybrid machines one per kind of core; no two for the same CPU. */
    size_t encoding_count;
    struct hr_perf_encoding *encodings;
};

/** Why a text is not an event. */
struct hr_perf_event_error {
    char reason[192]; /**< completes "… can't be counted: ", such as "the PMU \"cpu\" has no term
                           \"umsk\"" or "this machine knows no such event" */
    size_t nearest_count;
    char nearest[3][64]; /**< similar names that this machine knows, in full, the most
                              similar first */
};

/**
 * Reads which PMUs the machine has from /sys/bus/event_source/devices. A machine without that
 * directory has none.
 *
 * @param root        must outlive the vocabulary.
 * @param vocabulary  receives it; the caller frees it with hr_perf_vocabulary_close().
 * @return 0, -ENOMEM, or the negative errno of reading the directory; -EIO if libpfm4 can't be
 *         initialised.
 */
int hr_perf_vocabulary_open(const struct hr_root *root, struct hr_perf_vocabulary **vocabulary);

/** Frees the vocabulary, but not its events. NULL is allowed. */
void hr_perf_vocabulary_close(struct hr_perf_vocabulary *vocabulary);

/**
 * Looks up how an event is counted. Whether the kernel permits it is only known when it is opened.
 *
 * On hybrid machines (several PMUs with a file "cpus"), a generic hardware or cache event or a raw
 * event is counted by each of these PMUs on its CPUs; the PMU's type is then in the upper 32 bits
 * of config (PERF_PMU_TYPE_SHIFT), or in type for a raw event.
 *
 * @param event  receives the event; the caller frees it with hr_perf_event_free().
 * @param error  filled on failure, except for -ENOMEM.
 * @return 0; -ENOENT for a name that this machine doesn't know; -EINVAL for one that is malformed,
 *         for a unit mask or modifier that the event doesn't have, or a value out of range; -EACCES
 *         if permission to look up tracepoints is missing; -ENODEV if no tracefs is mounted;
 *         -EBADMSG if a file of sysfs or tracefs can't be parsed; -ENOMEM; or another negative
 *         errno of reading these.
 */
int hr_perf_event_find(const struct hr_perf_vocabulary *vocabulary, const char *text,
                       struct hr_perf_event **event, struct hr_perf_event_error *error);

/**
 * Makes an event of a text that this machine doesn't know, for which hr_perf_event_update() looks
 * again. It has no encoding, though there is room for `encodings[0]`, and is counted nowhere. Its
 * label is made of the whole text.
 *
 * @return 0 or -ENOMEM.
 */
int hr_perf_event_new_unknown(const char *text, struct hr_perf_event **event);

/**
 * Looks an event up again, as its PMUs, or their CPUs, may have changed since: cores of another
 * kind came online, the CPU went offline that counted for its package, or a module was loaded. Only
 * its encodings change; of one that wasn't known all members.
 *
 * @param vocabulary  opened since then.
 * @return 1: they did; 0: not, also if this machine doesn't know the event, or no more; -ENOMEM,
 *         -EMFILE or -ENFILE; of an event that was known also -EBADMSG or another negative errno of
 *         reading sysfs or tracefs: it is counted as before, and may be looked up again later.
 */
int hr_perf_event_update(const struct hr_perf_vocabulary *vocabulary, struct hr_perf_event *event);

/** Whether two events, however they are written, are counted in the same way. */
bool hr_perf_event_is_same(const struct hr_perf_event *a, const struct hr_perf_event *b);

/** NULL is allowed. */
void hr_perf_event_free(struct hr_perf_event *event);

#endif
