/* SPDX-License-Identifier: MIT */
/*
 * room/disk_stat.h - /sys/dev/block/MAJOR:MINOR/stat: how long requests took on a block device.
 *
 * And /proc/diskstats: how long reads did, on all of them.
 *
 * Source: Documentation/block/stat.rst, Documentation/admin-guide/iostats.rst, block/genhd.c
 * (part_stat_show, diskstats_show).
 */
#ifndef HEADROOM_COLLECTORS_ROOM_DISK_STAT_H
#define HEADROOM_COLLECTORS_ROOM_DISK_STAT_H

#include <stddef.h>
#include <stdint.h>

struct hr_root;

/**
 * Parses the 11th number: the time that each request took, added up. More may follow.
 *
 * @return 0, or -EBADMSG.
 */
int hr_disk_stat_parse(const char *text, size_t length, uint64_t *request_ms);

/**
 * Parses /proc/diskstats, "MAJOR MINOR NAME READS MERGED SECTORS MS …\n" of each device and
 * partition.
 *
 * @param read_us  receives how long a read took in the mean, since boot.
 * @return 0; -EBADMSG; -ENODATA: none was made, or in no time.
 */
int hr_disk_reads_parse(const char *text, size_t length, double *read_us);

/** Reads the file of a device. @return as above, or the negative errno of open(2). */
int hr_disk_stat_read(const struct hr_root *root, uint32_t major, uint32_t minor,
                      uint64_t *request_ms);

#endif
