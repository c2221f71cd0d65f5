/* SPDX-License-Identifier: MIT */
/*
 * headroom/capability.h - what to do about a missing permission, in words for users.
 */
#ifndef HEADROOM_CAPABILITY_H
#define HEADROOM_CAPABILITY_H

#include <stdbool.h>

/** Capabilities that an operation may need; a bit each. */
enum hr_capability {
    HR_CAP_DAC_READ_SEARCH = 1, /**< implied by the next */
    HR_CAP_DAC_OVERRIDE = 2,
    HR_CAP_SYS_PTRACE = 4,
    HR_CAP_SYS_ADMIN = 8, /**< implies the next two */
    HR_CAP_BPF = 16,      /**< since Linux 5.8 */
    HR_CAP_PERFMON = 32,  /**< since Linux 5.8 */
    HR_CAP_SYS_NICE = 64,
};

/** Size of a buffer that holds the longest remedy. */
#define HR_REMEDY_SIZE 128

/** Whether the calling thread has all of these, in its user namespace. @param needed  as below. */
bool hr_capability_is_held(unsigned needed);

/**
 * Writes the remedy for an operation that the kernel refused for lack of capabilities: "run as
 * root, or add CAP_SYS_PTRACE and CAP_DAC_OVERRIDE". It names those that the calling thread lacks.
 * If it has all of them, something else refuses (a user namespace, a security module), and all are
 * named. "run as root" is left out for root that lacks some.
 *
 * @param needed  a combination of enum hr_capability, not 0.
 * @return buffer.
 */
const char *hr_capability_remedy(unsigned needed, char buffer[HR_REMEDY_SIZE]);

#endif
