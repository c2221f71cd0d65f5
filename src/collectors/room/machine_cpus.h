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

/**
 * Parses the lines of single CPUs, "cpu3 USER NICE …\n", which follow that of all, as far as the
 * text is whole.
 *
 * @param busy_us  receives what each was busy since boot, by its number; the others are unchanged.
 * @param size     of the array.
 * @param count    receives the number of lines; offline CPUs have none.
 * @return 0; -EBADMSG; -ENODATA: there is none.
 */
int hr_machine_cpus_parse_each(const char *text, size_t length, uint64_t *busy_us, size_t size,
                               size_t *count);

#endif
