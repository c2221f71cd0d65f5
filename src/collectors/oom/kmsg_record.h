/* SPDX-License-Identifier: MIT */
/*
 * oom/kmsg_record.h - a record of /dev/kmsg.
 *
 * Source: Documentation/ABI/testing/dev-kmsg, kernel/printk/printk.c (info_print_ext_header,
 * msg_add_ext_text).
 */
#ifndef HEADROOM_COLLECTORS_OOM_KMSG_RECORD_H
#define HEADROOM_COLLECTORS_OOM_KMSG_RECORD_H

#include <stdbool.h>
#include <stddef.h>

/** As long as any: the kernel's CONSOLE_EXT_LOG_MAX. */
#define HR_KMSG_SIZE 8192

/** The message of a record. */
struct hr_kmsg_record {
    bool is_kernels; /**< else a program wrote it */
    char message[HR_KMSG_SIZE];
};

/**
 * Parses "6,1234,5678901,-;message\n"; other fields may follow the third, and lines that begin with
 * a blank the message. "\xNN" in the message is that byte.
 *
 * @return 0 or -EBADMSG.
 */
int hr_kmsg_record_parse(const char *text, size_t length, struct hr_kmsg_record *record);

#endif
