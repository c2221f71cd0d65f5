/*
 * wss/method_idle_probe.h - what the method idle needs of the kernel.
 */
#ifndef HEADROOM_COLLECTORS_WSS_METHOD_IDLE_PROBE_H
#define HEADROOM_COLLECTORS_WSS_METHOD_IDLE_PROBE_H

#include "headroom/wss.h"

/** See hr_wss_probe(). */
int hr_idle_probe(const struct hr_root *root, enum hr_wss_scope scope, bool aging,
                  struct hr_reason *reason);

/**
 * Tells whether the kernel keeps the idle bits true now. With the multi-gen LRU it doesn't: its
 * walks of the page tables clear the referenced bits and leave pages idle (mm/vmscan.c,
 * walk_pte_range()), and so does who reads a file (mm/swap.c, folio_mark_accessed()). Nobody can
 * see afterwards whether that has happened.
 *
 * @return 0; -EBUSY: it doesn't; -EBADMSG, …; each with a reason.
 */
int hr_idle_check_lru(const struct hr_root *root, enum hr_wss_scope scope,
                      struct hr_reason *reason);

#endif
