/* SPDX-License-Identifier: MIT */
/*
 * headroom/cpu_choice.h - which CPUs an option chooses: those of a list, those that are isolated,
 * all others, or those without ticks.
 *
 * Isolated are CPUs that the kernel was booted to leave alone: by isolcpus= (the file isolated) or
 * nohz_full= (the file nohz_full) in /sys/devices/system/cpu. Neither changes until the next boot.
 * The latter alone, which have no ticks while they run one task, are those of "nohz_full".
 *
 * Source: Documentation/admin-guide/cputopology.rst, Documentation/ABI/testing/
 * sysfs-devices-system-cpu, drivers/base/cpu.c. A choice is a plain value: it owns nothing.
 */
#ifndef HEADROOM_CPU_CHOICE_H
#define HEADROOM_CPU_CHOICE_H

#include "headroom/cpu_set.h"

struct hr_root;

/** What words choose; each is a bit. */
enum hr_cpu_word {
    HR_CPUS_ISOLATED = 1,
    HR_CPUS_NOT_ISOLATED = 2,
    HR_CPUS_NOHZ_FULL = 4,
};

/** The union of its parts. All zeros chooses all CPUs. */
struct hr_cpu_choice {
    unsigned words; /**< of enum hr_cpu_word */
    struct hr_cpu_set list;
};

/**
 * Parses a list as hr_cpu_set_parse() does, of one CPU at least and without a newline; or
 * "isolated", "!isolated" or "nohz_full", in any case of letters.
 *
 * @return 0; -EBADMSG; -ERANGE for a CPU of HR_CPU_MAX or more. The choice is untouched on failure.
 */
int hr_cpu_choice_parse(const char *text, struct hr_cpu_choice *choice);

/** Adds what another choice chooses by words and its list. */
void hr_cpu_choice_add(struct hr_cpu_choice *choice, const struct hr_cpu_choice *more);

/** Whether nothing is said, which chooses all CPUs. */
bool hr_cpu_choice_is_all(const struct hr_cpu_choice *choice);

/**
 * Finds the CPUs that are chosen, be they there or not.
 *
 * @param root  where /sys/devices/system/cpu is; read only if isolated CPUs matter. A file that
 *              isn't there has no CPU, as nohz_full on kernels built without it.
 * @return 0, -EBADMSG, or the negative errno of reading. The set is untouched on failure.
 */
int hr_cpu_choice_find(const struct hr_cpu_choice *choice, const struct hr_root *root,
                       struct hr_cpu_set *cpus);

/** Why a choice by words has no CPU, and what helps: "cause: remedy". */
const char *hr_cpu_choice_explain_none(const struct hr_cpu_choice *choice);

#endif
