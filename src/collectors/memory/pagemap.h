/* SPDX-License-Identifier: MIT */
/*
 * memory/pagemap.h - the memory of a process by page frames.
 *
 * /proc/PID/maps has the process's address ranges, /proc/PID/pagemap the state of each page of
 * these: present, swapped out or none. Both are read in large pieces. In large ranges the present
 * parts are found first by the ioctl PAGEMAP_SCAN (since 6.7); with an older kernel all of the
 * range is read, 2 GiB of entries for each TiB reserved.
 *
 * Source: Documentation/admin-guide/mm/pagemap.rst, fs/proc/task_mmu.c.
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_PAGEMAP_H
#define HEADROOM_COLLECTORS_MEMORY_PAGEMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "headroom/process.h"
#include "memory/page_set.h"

/** A range of addresses, the end not included. */
struct hr_maps_range {
    uint64_t start, end;
};

/**
 * Parses a line of /proc/PID/maps and takes it off the front. What follows the addresses is
 * ignored.
 *
 * @return 0; -EAGAIN: the line's end is missing, and nothing was taken off; -EBADMSG.
 */
int hr_maps_parse(struct hr_text *text, struct hr_maps_range *range);

/**
 * Adds the page frames that are mapped by a process.
 *
 * @param deadline_ns  see base/deadline.h.
 * @param pages        what was added stays on failure.
 * @return 0; -ESRCH: it has ended; -EPERM: the kernel hides page frame numbers, as CAP_SYS_ADMIN
 *         is missing; -EACCES; -ETIME; -EBADMSG; -ENOMEM; or the negative errno of open(2) or
 * read(2).
 */
int hr_pagemap_read(const struct hr_process *process, uint64_t deadline_ns,
                    struct hr_page_set *pages);

/**
 * Looks up the page frame that is mapped at an address.
 *
 * @param fd  a pagemap file.
 * @return 0; -EPERM: as above; -ENODATA: there is none; or the negative errno of pread(2).
 */
int hr_pagemap_find(int fd, uint64_t address, uint64_t *pfn);

#endif
