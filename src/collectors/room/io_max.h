/* SPDX-License-Identifier: MIT */
/*
 * room/io_max.h - io.max: a group's limits on each block device.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst ("IO Interface Files"), block/blk-throttle.c
 * (tg_prfill_limit): devices without a limit have no line.
 */
#ifndef HEADROOM_COLLECTORS_ROOM_IO_MAX_H
#define HEADROOM_COLLECTORS_ROOM_IO_MAX_H

#include "headroom/stall_cause.h"

/**
 * Parses lines like "8:16 rbps=2097152 wbps=max riops=max wiops=120\n".
 *
 * @param devices  receives the first HR_STALL_DEVICES, with nothing done, and whether there are
 * more.
 * @return 0 or -EBADMSG.
 */
int hr_io_max_parse(const char *text, size_t length, struct hr_stall_devices *devices);

/** Reads the file in a group's directory. @return as above, or the negative errno of open(2). */
int hr_io_max_read(int dirfd, struct hr_stall_devices *devices);

#endif
