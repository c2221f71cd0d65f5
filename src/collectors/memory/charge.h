/* SPDX-License-Identifier: MIT */
/*
 * memory/charge.h - how much memory a cgroup is charged for: memory.current.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst (memory.current).
 */
#ifndef HEADROOM_COLLECTORS_MEMORY_CHARGE_H
#define HEADROOM_COLLECTORS_MEMORY_CHARGE_H

#include <stdint.h>

/** Reads what a group, with those below it, is charged for, in bytes. @param dirfd  its directory.
 * @return 0: unknown, as without the memory controller. */
uint64_t hr_charge_read(int dirfd);

#endif
