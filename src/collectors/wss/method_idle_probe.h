/* SPDX-License-Identifier: MIT */
/*
 * wss/method_idle_probe.h - what the idle method needs from the kernel.
 */
#ifndef HEADROOM_COLLECTORS_WSS_METHOD_IDLE_PROBE_H
#define HEADROOM_COLLECTORS_WSS_METHOD_IDLE_PROBE_H

#include "headroom/wss.h"

/** See hr_wss_probe(). */
int hr_idle_probe(const struct hr_root *root, enum hr_wss_scope scope, bool aging,
                  struct hr_reason *reason);

/**
 * Checks whether the kernel maintains the idle bits now. With the multi-gen LRU it doesn't: its
 * walks of the page tables clear the referenced bits and leave pages idle (mm/vmscan.c,
 * walk_pte_range()), and so does reading a file (mm/swap.c, folio_mark_accessed()). That can't be
 * detected afterwards.
 *
 * @return 0; -EBUSY: it doesn't; -EBADMSG, …; each with a reason.
 */
int hr_idle_check_lru(const struct hr_root *root, enum hr_wss_scope scope,
                      struct hr_reason *reason);

#endif
