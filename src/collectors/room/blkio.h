/* SPDX-License-Identifier: MIT */
/*
 * room/blkio.h - version 1's blkio.throttle files: a group's limits on each block device, and what
 * it did there.
 *
 * They are the group's alone: without cgroup2 the limits of a group don't hold for those below it.
 *
 * Source: Documentation/admin-guide/cgroup-v1/blkio-controller.rst, block/blk-throttle.c
 * (throtl_pd_init, tg_print_conf_u64, tg_print_rwstat).
 */
#ifndef HEADROOM_COLLECTORS_ROOM_BLKIO_H
#define HEADROOM_COLLECTORS_ROOM_BLKIO_H

#include "headroom/stall_cause.h"

/**
 * Parses lines like "8:16 2097152\n": blkio.throttle.read_bps_device and the three like it.
 *
 * @param devices  gets the limits, and the devices that it hasn't got yet, as far as there is room.
 * @return 0 or -EBADMSG.
 */
int hr_blkio_parse_limits(const char *text, size_t length, enum hr_stall_io io,
                          struct hr_stall_devices *devices);

/**
 * Parses lines like "8:16 Read 1459200\n8:16 Write 0\n": blkio.throttle.io_service_bytes and
 * io_serviced. Other operations, and other devices, are skipped.
 *
 * @param read, write  which numbers of the device they are.
 * @return 0 or -EBADMSG.
 */
int hr_blkio_parse_done(const char *text, size_t length, enum hr_stall_io read,
                        enum hr_stall_io write, struct hr_stall_devices *devices);

/** Reads the files in a group's directory. @return as above, or the negative errno of open(2). */
int hr_blkio_read(int dirfd, struct hr_stall_devices *devices);

#endif
