/* SPDX-License-Identifier: MIT */
/*
 * headroom/perf_choice.h - how events are counted where that isn't configured: by descriptors, or
 * by BPF (headroom/perf.h).
 *
 * Descriptors do as long as there are enough, and unless a task may be counted for several targets
 * by events of a PMU: while it runs, each of these takes counters of its own, of which a PMU has
 * few, so that they take turns and counts are extrapolated. That is so for a cgroup within another
 * one, or beside the machine. Software events and tracepoints have no counters to take.
 */
#ifndef HEADROOM_PERF_CHOICE_H
#define HEADROOM_PERF_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

struct hr_perf;

/** The option Counting. */
enum hr_perf_counting { HR_PERF_AUTO, HR_PERF_DESCRIPTORS, HR_PERF_BPF };

/** What is to be counted. */
struct hr_perf_demand {
    bool system;   /**< the machine */
    size_t groups; /**< how many cgroups */
    bool nested; /**< a task may be in several: hr_cgroup_set_is_nested(), or the machine is one */
};

/** What that takes by descriptors. */
struct hr_perf_need {
    size_t files; /**< of all targets on the CPUs that are online */
    size_t limit; /**< maximum of `files` */
    bool turns;   /**< nested targets have events of a PMU */
};

/** What was chosen, and why. */
struct hr_perf_choice {
    enum hr_perf_counting counting; /**< not HR_PERF_AUTO */
    bool fits;                      /**< there are enough descriptors */
    char why[128];                  /**< a part of a sentence, without a period */
};

/**
 * Finds out what counting by descriptors takes; tries each event once on the machine, unless that
 * is known. Events that can't be counted take nothing. Nothing is left open, and what
 * hr_perf_status() says isn't changed.
 *
 * @param perf  hr_perf_read() has succeeded. If some events are counted by BPF, that of the others
 *              is found.
 */
struct hr_perf_need hr_perf_find_need(struct hr_perf *perf, const struct hr_perf_demand *demand);

/** Chooses; whether BPF can be used is seen by hr_perf_open_bpf() or hr_perf_change_to_bpf(). */
void hr_perf_choose(const struct hr_perf_need *need, struct hr_perf_choice *choice);

#endif
