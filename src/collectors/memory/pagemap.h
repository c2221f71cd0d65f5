/*
 * memory/pagemap.h - the memory of a process by page frames.
 *
 * /proc/PID/maps tells which addresses the process has, /proc/PID/pagemap what each page of these
 * is: present, swapped out or nothing. Both are read in large pieces. Where there is more address
 * space than memory would be found in, the kernel is asked first which parts have any (the ioctl
 * PAGEMAP_SCAN, since 6.7); an older one goes over all of it, 2 GiB of text for each TiB reserved.
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
 * Parses a line of /proc/PID/maps and takes it off the front. What follows the addresses isn't
 * looked at.
 *
 * @return 0; -EAGAIN: the line's end is missing, and nothing was taken; -EBADMSG.
 */
int hr_maps_parse(struct hr_text *text, struct hr_maps_range *range);

/**
 * Adds the page frames that are mapped by a process.
 *
 * @param deadline_ns  see base/deadline.h.
 * @param pages        what was added stays on failure.
 * @return 0; -ESRCH: it has ended; -EPERM: the kernel doesn't tell page frames, as CAP_SYS_ADMIN is
 *         missing; -EACCES; -ETIME; -EBADMSG; -ENOMEM; or the negative errno of open(2) or read(2).
 */
int hr_pagemap_read(const struct hr_process *process, uint64_t deadline_ns,
                    struct hr_page_set *pages);

/**
 * Looks up the page frame behind an address.
 *
 * @param fd  a pagemap file.
 * @return 0; -EPERM: as above; -ENODATA: there is none; or the negative errno of pread(2).
 */
int hr_pagemap_find(int fd, uint64_t address, uint64_t *pfn);

#endif
