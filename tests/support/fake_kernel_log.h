/* SPDX-License-Identifier: MIT */
/*
 * support/fake_kernel_log.h - the kernel's log, /dev/kmsg of a tree of files: a FIFO. It joins
 * records: each must be read before the next one is written.
 */
#ifndef HEADROOM_TESTS_SUPPORT_FAKE_KERNEL_LOG_H
#define HEADROOM_TESTS_SUPPORT_FAKE_KERNEL_LOG_H

#include "support/tree.h"

/** Makes it, empty. @return its descriptor, which the caller closes. */
int fake_kernel_log_make(struct tree *tree);

/** Writes a record. */
void fake_kernel_log_write(int fd, const char *message);

/** Writes the record in which an OOM kill begins. @param limit, path  of the group whose limit it
 * is, and of the victim's, without the leading slash. */
void fake_kernel_log_write_context(int fd, const char *limit, const char *path, int pid);

/** Writes the record in which it ends. @param cause  as "Memory cgroup out of memory". */
void fake_kernel_log_write_victim(int fd, const char *cause, int pid, unsigned anon_kib);

#endif
