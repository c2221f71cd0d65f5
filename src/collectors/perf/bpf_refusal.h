/* SPDX-License-Identifier: MIT */
/*
 * perf/bpf_refusal.h - why BPF programs can't be loaded, and what to do about it.
 */
#ifndef HEADROOM_COLLECTORS_PERF_BPF_REFUSAL_H
#define HEADROOM_COLLECTORS_PERF_BPF_REFUSAL_H

#include <stdbool.h>

struct hr_reason;
struct hr_release;
struct hr_root;

/** What may be the cause where there is no permission. */
enum hr_perf_bpf_obstacle {
    HR_PERF_BPF_CAPABILITIES,
    HR_PERF_BPF_LOCKED_MEMORY, /**< RLIMIT_MEMLOCK, which libbpf raises where it may */
    HR_PERF_BPF_FORBIDDEN      /**< something else */
};

enum hr_perf_bpf_obstacle hr_perf_bpf_find_obstacle(bool is_capable,
                                                    const struct hr_release *release);

/** Sets the reason of a negative errno. @return it, or -EOPNOTSUPP if the kernel is too old. */
int hr_perf_bpf_explain_for(int status, enum hr_perf_bpf_obstacle obstacle,
                            struct hr_reason *reason);

/** The same; finds the obstacle. */
int hr_perf_bpf_explain(const struct hr_root *root, int status, struct hr_reason *reason);

#endif
