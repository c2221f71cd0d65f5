/* SPDX-License-Identifier: MIT */
#include "headroom/pid_namespace.h"

#include <errno.h>
#include <sys/stat.h>

/* The inode number of the first one (PROC_PID_INIT_INO). */
#define FIRST 0xEFFFFFFCU

bool hr_has_pids_of_kernel(void)
{
    struct stat own;

    if (stat("/proc/self/ns/pid", &own) < 0)
        return errno == ENOENT; /* without CONFIG_PID_NS there is no other */
    return own.st_ino == FIRST;
}
