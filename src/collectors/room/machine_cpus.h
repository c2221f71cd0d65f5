/* SPDX-License-Identifier: MIT */
/*
 * room/machine_cpus.h - /proc/stat's line "cpu": what the machine's CPUs did since boot.
 *
 * Source: Documentation/filesystems/proc.rst ("/proc/stat"), fs/proc/stat.c.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_MACHINE_CPUS_H
#define HEADROOM_COLLECTORS_ROOM_MACHINE_CPUS_H

#include <stddef.h>

#include "headroom/stall_cause.h"

/**
 * Parses "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL …\n", ticks of 1/100 s; user has the
 * time of guests. Later lines are of no interest, and may be cut.
 *
 * @return 0 or -EBADMSG.
 */
int hr_machine_cpus_parse(const char *text, size_t length, struct hr_stall_machine_cpus *cpus);

#endif
