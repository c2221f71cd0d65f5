/* SPDX-License-Identifier: MIT */
/*
 * oom/kmsg.h - the kernel's log, /dev/kmsg, from now on.
 *
 * Source: Documentation/ABI/testing/dev-kmsg, kernel/printk/printk.c (devkmsg_open, devkmsg_read):
 * each open file has its own read position; a read returns a record; EPIPE reports that the ring
 * has overtaken the reader. Where sysctl kernel.dmesg_restrict is 1 it takes CAP_SYSLOG.
 */
#ifndef HEADROOM_COLLECTORS_OOM_KMSG_H
#define HEADROOM_COLLECTORS_OOM_KMSG_H

#include <stddef.h>

struct hr_root;

/** Opens the log behind its last record. @return a descriptor that doesn't block, or the negative
 * errno of open(2). */
int hr_kmsg_open(const struct hr_root *root);

/**
 * Reads a record.
 *
 * @param buffer  of HR_KMSG_SIZE bytes.
 * @return 0; -EAGAIN: there is none; -EPIPE: some were overwritten, the next read goes on behind
 *         them; -ENODATA: it is no log; or another negative errno of read(2).
 */
int hr_kmsg_read(int fd, char *buffer, size_t size, size_t *length);

#endif
