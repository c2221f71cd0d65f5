/* SPDX-License-Identifier: MIT */
/*
 * room/io_stat.h - io.stat: what a group, or all of the machine, did on each block device.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("IO Interface Files"), block/blk-cgroup.c
 * (blkcg_print_one_stat).
 */
#ifndef HEADROOM_COLLECTORS_ROOM_IO_STAT_H
#define HEADROOM_COLLECTORS_ROOM_IO_STAT_H

#include "headroom/stall_cause.h"

struct hr_root;

/**
 * Parses lines like "8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n". A
 * line without these numbers is skipped.
 *
 * @param wanted   only these devices, in this order; one that isn't listed did nothing. NULL: the
 *                 first HR_STALL_DEVICES.
 * @param devices  receives them, without limits; may be the same as wanted.
 * @return 0 or -EBADMSG.
 */
int hr_io_stat_parse(const char *text, size_t length, const struct hr_stall_devices *wanted,
                     struct hr_stall_devices *devices);

/** Reads the file in a group's directory. @return as above, or the negative errno of open(2). */
int hr_io_stat_read(int dirfd, const struct hr_stall_devices *wanted,
                    struct hr_stall_devices *devices);

/**
 * Reads those of a group, all devices, as far as there is room.
 *
 * @param bytes  receives what it read and wrote on all devices, each byte once: not on those that
 *               are made of others, for which it is counted, too.
 * @return 0, -EBADMSG, or the negative errno of open(2).
 */
int hr_io_stat_read_own(const struct hr_root *root, int dirfd, struct hr_stall_devices *devices,
                        uint64_t *bytes);

#endif
