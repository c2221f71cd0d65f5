/* SPDX-License-Identifier: MIT */
/*
 * headroom/cpu_set.h - sets of CPUs, as the kernel writes them: "0-3,8".
 *
 * Source: Documentation/admin-guide/cputopology.rst, lib/bitmap.c (bitmap_parselist). A set is a
 * plain value: it owns nothing.
 */
#ifndef HEADROOM_CPU_SET_H
#define HEADROOM_CPU_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hr_root;

/** CPU numbers are below this, the largest number that any kernel is built for (x86's MAXSMP). */
#define HR_CPU_MAX 8192

/** All zeros is the empty set. */
struct hr_cpu_set {
    uint64_t words[HR_CPU_MAX / 64];
};

/**
 * Parses a list like "0-3,8", with or without a newline at its end. An empty text, or a newline
 * alone, is the empty set. Ranges may come in any order and overlap.
 *
 * @param text  need not be terminated.
 * @return 0; -EBADMSG for anything else, such as "3-1", "1,", " 1"; -ERANGE for a CPU of HR_CPU_MAX
 *         or more. The set is untouched on failure.
 */
int hr_cpu_set_parse(const char *text, size_t length, struct hr_cpu_set *set);

/**
 * Reads a file of sysfs or procfs that is such a list.
 *
 * @return 0, as hr_cpu_set_parse(), or the negative errno of open(2) and read(2).
 */
int hr_cpu_set_read(const struct hr_root *root, const char *path, struct hr_cpu_set *set);

/**
 * Prints a set in the kernel's input syntax (bitmap_parselist), as short as is found: ranges, and
 * patterns such as "128-254:1/2" for every second CPU. hr_cpu_set_parse() doesn't accept patterns;
 * the kernel never prints them.
 *
 * @param text  receives the text, terminated, without a newline; untouched on failure.
 * @param size  of the buffer.
 * @return 0, or -E2BIG if it doesn't fit.
 */
int hr_cpu_set_format(const struct hr_cpu_set *set, char *text, size_t size);

/** Whether two sets have the same CPUs. */
bool hr_cpu_set_equal(const struct hr_cpu_set *a, const struct hr_cpu_set *b);

/** Whether a CPU is in the set. @param cpu  any number. */
bool hr_cpu_set_has(const struct hr_cpu_set *set, unsigned cpu);

/** Adds a CPU, below HR_CPU_MAX. */
void hr_cpu_set_add(struct hr_cpu_set *set, unsigned cpu);

/** Adds the CPUs of the other set. */
void hr_cpu_set_merge(struct hr_cpu_set *set, const struct hr_cpu_set *added);

/** Removes the CPUs that aren't in the other set. */
void hr_cpu_set_keep(struct hr_cpu_set *set, const struct hr_cpu_set *kept);

/** Removes the CPUs of the other set. */
void hr_cpu_set_remove(struct hr_cpu_set *set, const struct hr_cpu_set *removed);

/** @return the number of CPUs in the set. */
size_t hr_cpu_set_count(const struct hr_cpu_set *set);

/**
 * Iterates over the set in ascending order.
 *
 * @return the first of its CPUs that is `from` or above; HR_CPU_MAX if there is none.
 */
unsigned hr_cpu_set_next(const struct hr_cpu_set *set, unsigned from);

#endif
