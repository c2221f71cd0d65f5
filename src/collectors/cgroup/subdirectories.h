/* SPDX-License-Identifier: MIT */
/*
 * cgroup/subdirectories.h - the subdirectories of a cgroup directory.
 *
 * A cgroup directory has some 20 to 60 files beside its subdirectories, and listing it makes the
 * kernel go through all of them. Its link count is 2 plus the number of subdirectories
 * (fs/kernfs/dir.c), so that fstat(2) is enough for a leaf: 5,000 groups in 15 ms instead of 81.
 */
#ifndef HEADROOM_COLLECTORS_CGROUP_SUBDIRECTORIES_H
#define HEADROOM_COLLECTORS_CGROUP_SUBDIRECTORIES_H

#include <stddef.h>
#include <stdint.h>

struct hr_scan_entry {
    uint64_t id; /**< inode number */
    char *name;
};

/** A listing; the next one reuses its memory. All zeros is an empty one. */
struct hr_scan {
    struct hr_scan_entry *entries;
    size_t count;
    size_t capacity;
};

/**
 * Lists the subdirectories in the byte order of their names.
 *
 * @param fd    the directory, open for reading; its position changes.
 * @param scan  receives the listing, valid until the next call or hr_scan_free(); empty on failure.
 * @return 0, -ENOMEM, -ENODEV if the directory was removed, or the negative errno of fstat(2) or
 *         getdents64(2).
 */
int hr_scan_read(int fd, struct hr_scan *scan);

/** Frees the listing's memory. */
void hr_scan_free(struct hr_scan *scan);

#endif
