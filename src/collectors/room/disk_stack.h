/* SPDX-License-Identifier: MIT */
/*
 * room/disk_stack.h - /sys/dev/block/MAJOR:MINOR/slaves: block devices that are made of others, as
 * those of LVM, LUKS and RAID.
 *
 * Source: Documentation/ABI/stable/sysfs-block, block/holder.c (bd_link_disk_holder),
 * drivers/md/dm.c (dm_submit_bio), block/blk-cgroup.c (blk_cgroup_bio_start), block/blk-mq-sysfs.c
 * (blk_mq_sysfs_register).
 */
#ifndef HEADROOM_COLLECTORS_ROOM_DISK_STACK_H
#define HEADROOM_COLLECTORS_ROOM_DISK_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct hr_root;

/**
 * Whether what a group reads and writes on a device is counted for the group a second time, on the
 * devices that it is made of. Not so of one with a request queue of its own, as that of several
 * paths to a disk: requests aren't counted for groups.
 *
 * @return false also if it can't be read.
 */
bool hr_disk_is_counted_twice(const struct hr_root *root, uint32_t major, uint32_t minor);

#endif
