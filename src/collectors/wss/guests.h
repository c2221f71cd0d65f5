/* SPDX-License-Identifier: MIT */
/*
 * wss/guests.h - refuses to measure processes by their page tables if they run virtual machines.
 */
#ifndef HEADROOM_COLLECTORS_WSS_GUESTS_H
#define HEADROOM_COLLECTORS_WSS_GUESTS_H

#include "wss/method.h"

/** @return 0, or -EOPNOTSUPP with the reason: one of the processes runs a virtual machine. */
int hr_wss_refuse_guests(const struct hr_root *root, enum hr_wss_scope scope,
                         const struct hr_process_list *processes, struct hr_reason *reason);

#endif
