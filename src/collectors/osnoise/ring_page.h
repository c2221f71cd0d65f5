/* SPDX-License-Identifier: MIT */
/*
 * osnoise/ring_page.h - the events in a page of the kernel's ring buffer.
 *
 * Pages are walked here rather than by libtraceevent's kbuffer, which trusts the lengths in them.
 *
 * Sources: include/linux/ring_buffer.h, kernel/trace/ring_buffer.c.
 */
#ifndef HEADROOM_COLLECTORS_OSNOISE_RING_PAGE_H
#define HEADROOM_COLLECTORS_OSNOISE_RING_PAGE_H

#include "osnoise/field.h"

struct hr_ring_page {
    const unsigned char *bytes;
    struct hr_field rest; /**< what follows the last event */
    uint64_t time_ns;     /**< of the last event */
};

/**
 * Begins with a page.
 *
 * @param page         as read(2) gives it from trace_pipe_raw, not copied; @param size its bytes.
 * @param commit_size  of the field commit in its header, a long of the kernel: 4 or 8.
 * @param lost         is increased by the number of events that were overwritten before this page;
 *                     by 1 if the number is unknown.
 * @return 0; -EBADMSG: it is no such page, or is truncated.
 */
int hr_ring_page_begin(struct hr_ring_page *ring_page, const void *page, size_t size,
                       size_t commit_size, uint64_t *lost);

/**
 * Goes on to the next event.
 *
 * @param data  receives its contents, within the page; @param size their bytes, more than 0.
 * @return 1; 0: there is none; -EBADMSG.
 */
int hr_ring_page_next(struct hr_ring_page *ring_page, const unsigned char **data, size_t *size);

#endif
