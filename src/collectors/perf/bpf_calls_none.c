/* SPDX-License-Identifier: MIT */
/*
 * perf/bpf_calls_none.c - perf/bpf_calls.h where the build has no BPF.
 */
#include "perf/bpf_calls.h"

#include <errno.h>

static int refuse(__attribute__((unused)) const struct count_settings *settings,
                  __attribute__((unused)) size_t slots, __attribute__((unused)) size_t possible,
                  __attribute__((unused)) void **object)
{
    return -ENOPKG;
}

const struct hr_perf_bpf_calls hr_perf_kernel_bpf_calls = {.load = refuse};
