/* SPDX-License-Identifier: MIT */
/*
 * headroom/perf_event.h - what the kernel can count, by name.
 *
 * An event is written as for the perf tool or for libpfm4:
 *
 *     cycles, L1-dcache-load-misses, task-clock   generic events, in any case of letters
 *     INST_RETIRED:ANY_P, skl::UOPS_ISSUED:ANY    what libpfm4 knows of this CPU
 *     sched:sched_switch                          tracepoints
 *     r01c2                                       raw, hexadecimal
 *     msr/tsc/, cpu/event=0xc0,umask=0x1/         a PMU and its terms, from sysfs
 *
 * each with a modifier at the end, ":u" (in user mode), ":k" (in the kernel) or both, ":uk"; after
 * a PMU's last slash the colon may be left out. A term "name=TEXT" gives the event that name.
 *
 * Sources: perf_event_open(2), libpfm(3),
 * Documentation/ABI/testing/sysfs-bus-event_source-devices*, Documentation/trace/events.rst,
 * tools/perf/Documentation/perf-list.txt.
 *
 * A vocabulary and its events don't change once made, and may be read by several threads; they are
 * made by one thread at a time, as libpfm4 is initialised with the first vocabulary of the process.
 */
#ifndef HEADROOM_PERF_EVENT_H
#define HEADROOM_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "headroom/cpu_set.h"

struct hr_root;

/** What this machine can count. */
struct hr_perf_vocabulary;

/**
 * What an event counts, where ratios can be made of it; the same for the generic name ("cycles")
 * and a PMU's alias of it ("cpu/cpu-cycles/").
 */
enum hr_perf_role {
    HR_PERF_OTHER,
    HR_PERF_CYCLES,
    HR_PERF_INSTRUCTIONS,
    HR_PERF_CACHE_REFERENCES, /**< of the generic cache events and each level's: accesses … */
    HR_PERF_CACHE_MISSES      /**< … and misses, told apart by `cache` */
};

/** In which modes of the CPU an event is counted. */
enum hr_perf_mode {
    HR_PERF_ANY_MODE,
    HR_PERF_USER,  /**< ":u" */
    HR_PERF_KERNEL /**< ":k" */
};

/** How the event is counted on some of the CPUs. */
struct hr_perf_encoding {
    /** type, config, config1, config2, config3 and exclude_user, exclude_kernel; with `size` set,
     * the rest 0, but for what a libpfm4 name asks for. */
    struct perf_event_attr attr;
    bool every_cpu;         /**< `cpus` says nothing: it counts on each CPU */
    struct hr_cpu_set cpus; /**< where it counts: the PMU's cpus or cpumask file */
};

struct hr_perf_event {
    char *text;  /**< as it was asked for */
    char *label; /**< to name a series by: `text` with "/" and "," and what is no printable ASCII
                      as "_", none at its end, or the term name=, likewise; with its modifier
                      ("cycles:u", whichever way that was written); never empty, and no longer than
                      63 bytes: if it is cut, "~" and a hash of the text tell it apart */
    enum hr_perf_role role;
    enum hr_perf_mode mode;
    uint64_t cache; /**< of the two cache roles: equal for references and misses of one cache and
                         kind of access. On hybrid machines the aliases of one kind of core have
                         its PMU's type in the upper 32 bits, in all roles: ratios are made of
                         events with equal numbers here */
    /** By PMU_cpumask: it belongs to a whole package, and can't be counted for a cgroup. */
    bool whole_machine;
    /** One, or on hybrid machines one for each kind of core; no two for the same CPU. */
    size_t encoding_count;
    struct hr_perf_encoding *encodings;
};

/** Why a text is no event. */
struct hr_perf_event_error {
    char reason[192]; /**< completes "… can't be counted: ", such as "the PMU \"cpu\" has no term
                           \"umsk\"" or "this machine knows no such event" */
    size_t nearest_count;
    char nearest[3][64]; /**< names that this machine knows, as they would be written in full, the
                              nearest first */
};

/**
 * Learns which PMUs the machine has, from /sys/bus/event_source/devices. A machine without that
 * folder has none.
 *
 * @param root        must outlive the vocabulary.
 * @param vocabulary  receives it; the caller ends it with hr_perf_vocabulary_close().
 * @return 0, -ENOMEM, or the negative errno of reading the folder; -EIO if libpfm4 can't be
 *         initialised.
 */
int hr_perf_vocabulary_open(const struct hr_root *root, struct hr_perf_vocabulary **vocabulary);

/** Ends the vocabulary; its events stay. NULL is allowed. */
void hr_perf_vocabulary_close(struct hr_perf_vocabulary *vocabulary);

/**
 * Finds out how an event is counted. Whether the kernel lets us is only known when it is opened.
 *
 * On hybrid machines (several PMUs with a file "cpus"), a generic hardware or cache event and a raw
 * one is counted by each of them on its CPUs; the PMU's type then stands in the upper 32 bits of
 * config (PERF_PMU_TYPE_SHIFT), or in type for a raw one.
 *
 * @param event  receives the event; the caller frees it with hr_perf_event_free().
 * @param fault  filled on failure, but for -ENOMEM.
 * @return 0; -ENOENT for a name that this machine doesn't know; -EINVAL for one that is malformed,
 *         for a unit mask or modifier that the event doesn't have, or a value that is out of its
 *         range; -EACCES if tracepoints can't be looked up for lack of permission; -ENODEV if no
 *         tracefs is mounted; -EBADMSG if a file of sysfs or tracefs isn't understood; -ENOMEM; or
 *         another negative errno of reading these.
 */
int hr_perf_event_find(const struct hr_perf_vocabulary *vocabulary, const char *text,
                       struct hr_perf_event **event, struct hr_perf_event_error *fault);

/** Tells whether two events, however they are written, are counted in the same way. */
bool hr_perf_event_is_same(const struct hr_perf_event *a, const struct hr_perf_event *b);

/** NULL is allowed. */
void hr_perf_event_free(struct hr_perf_event *event);

#endif
