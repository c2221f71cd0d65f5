/* SPDX-License-Identifier: MIT */
/*
 * psi/file.h - opening and reading one pressure file, of the system or of a group.
 */
#ifndef HEADROOM_COLLECTORS_PSI_FILE_H
#define HEADROOM_COLLECTORS_PSI_FILE_H

#include "headroom/psi.h"

/** Whose files: one of both is NULL. */
struct hr_psi_target {
    const struct hr_root *root;    /**< of the system */
    const struct hr_cgroup *group; /**< of a group */
};

/**
 * Opens a pressure file.
 *
 * @param dirfd  the group's directory if it is open, else -1.
 * @param flags  those of open(2); O_CLOEXEC is added.
 * @return a descriptor, or the errno of struct hr_psi_snapshot.
 */
int hr_psi_file_open(const struct hr_psi_target *target, enum hr_psi_resource resource, int dirfd,
                     int flags);

/** Reads and parses a pressure file, with the time. @return as in struct hr_psi_snapshot. */
int hr_psi_file_read(int fd, const struct hr_psi_target *target, enum hr_psi_resource resource,
                     struct hr_psi_sample *sample);

#endif
