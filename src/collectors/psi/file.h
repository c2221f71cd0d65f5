/* SPDX-License-Identifier: MIT */
/*
 * psi/file.h - parsing, opening and reading one pressure file, of the system or of a group.
 */
#ifndef HEADROOM_COLLECTORS_PSI_FILE_H
#define HEADROOM_COLLECTORS_PSI_FILE_H

#include "headroom/psi.h"

/**
 * Parses the text of a pressure file, lines like
 * "some avg10=0.00 avg60=0.27 avg300=0.13 total=685905".
 *
 * Lines that begin with another word, and fields KEY=VALUE with another key, are skipped: a later
 * kernel may have more. A known line must have each known field once and in this order, end in a
 * newline and occur once. Averages above 100 become 100.
 *
 * @param text    need not be terminated.
 * @param sample  its time is 0.
 * @return 0, -EBADMSG, or -ENODATA without a known line.
 */
int hr_psi_parse(const char *text, size_t length, struct hr_psi_sample *sample);

/** The system or a group: one of the two is NULL. */
struct hr_psi_target {
    const struct hr_root *root;    /**< for the system */
    const struct hr_cgroup *group; /**< for a group */
};

/**
 * Opens a pressure file.
 *
 * @param dirfd  the group's directory if it is open, else -1.
 * @param flags  as for open(2); O_CLOEXEC is added.
 * @return a descriptor, or a negative errno as in struct hr_psi_snapshot.
 */
int hr_psi_file_open(const struct hr_psi_target *target, enum hr_psi_resource resource, int dirfd,
                     int flags);

/** Reads and parses a pressure file, and sets the time. @return as in struct hr_psi_snapshot. */
int hr_psi_file_read(int fd, const struct hr_psi_target *target, enum hr_psi_resource resource,
                     struct hr_psi_sample *sample);

#endif
