/* SPDX-License-Identifier: MIT */
/*
 * memory/damon_user.h - who uses DAMON now: a program, by the files in sysfs, or a part of the
 * kernel.
 *
 * Those parts use DAMON alone: while one does, no monitoring of a program can be switched on,
 * though nr_kdamonds is 0. DAMON_STAT is enabled by default in some builds.
 *
 * Sources: mm/damon/stat.c (6.17), reclaim.c, lru_sort.c, core.c (damon_start, exclusive).
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_DAMON_USER_H
#define HEADROOM_COLLECTORS_MEMORY_DAMON_USER_H

struct hr_root;

/** A part of the kernel that uses DAMON. */
struct hr_damon_part {
    const char *name;
    const char *path; /**< of the file that says Y while it does; writing N to it ends that */
};

/** The part that uses it now; NULL: none does. */
const struct hr_damon_part *hr_damon_find_part(const struct hr_root *root);

/** The file that shows who uses it now: the part's, or HR_DAMON_KDAMONDS. NULL: nothing does. */
const char *hr_damon_find_user(const struct hr_root *root);

#endif
