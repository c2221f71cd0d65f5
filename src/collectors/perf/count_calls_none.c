/* SPDX-License-Identifier: MIT */
/*
 * perf/count_calls_none.c - perf/count_calls.h where the build has no BPF.
 */
#include "perf/count_calls.h"

#include <errno.h>

static int refuse(__attribute__((unused)) const struct count_settings *settings,
                  __attribute__((unused)) size_t slots, __attribute__((unused)) size_t possible,
                  __attribute__((unused)) void **object)
{
    return -ENOPKG;
}

const struct hr_perf_count_calls hr_perf_kernel_count_calls = {.load = refuse};
