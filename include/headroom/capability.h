/*
 * capability.h - what to do about a permission that is missing, in words for users.
 */
#ifndef HEADROOM_CAPABILITY_H
#define HEADROOM_CAPABILITY_H

#include <stdbool.h>
#include <stdint.h>

/** Capabilities that something may need; to be added up. */
enum hr_capability {
    HR_CAP_DAC_READ_SEARCH = 1, /**< also had by whoever has the next */
    HR_CAP_DAC_OVERRIDE = 2,
    HR_CAP_SYS_PTRACE = 4,
    HR_CAP_SYS_ADMIN = 8,
};

/** Room for the longest remedy. */
#define HR_REMEDY_SIZE 128

/**
 * Tells what helps where the kernel refuses what needs capabilities: "run as root, or add
 * CAP_SYS_PTRACE and CAP_DAC_OVERRIDE". Names those of them that the calling thread lacks. If it
 * has them all, something else refuses (a user namespace, a security module): then all are named.
 * Root that lacks some isn't told to run as root.
 * @param needed  a sum of enum hr_capability, not 0
 * @return buffer
 */
const char *hr_capability_remedy(unsigned needed, char buffer[HR_REMEDY_SIZE]);

/** The same for a given set of effective capabilities, a bit each as in CapEff of /proc/PID/status.
 */
const char *hr_capability_remedy_for(unsigned needed, uint64_t effective, bool is_root,
                                     char buffer[HR_REMEDY_SIZE]);

#endif
