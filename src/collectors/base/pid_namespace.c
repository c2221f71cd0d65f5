/* SPDX-License-Identifier: MIT */
#include "headroom/pid_namespace.h"

#include <errno.h>
#include <sys/stat.h>

bool hr_has_pids_of_kernel(void)
{
    struct stat own;

    if (stat("/proc/self/ns/pid", &own) < 0)
        return errno == ENOENT; /* without CONFIG_PID_NS there is no other */
    return own.st_ino == HR_FIRST_PID_NAMESPACE;
}
