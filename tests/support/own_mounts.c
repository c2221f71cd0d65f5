/* SPDX-License-Identifier: MIT */
#include "support/own_mounts.h"

#include <linux/magic.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#define TRACEFS "/sys/kernel/tracing"

bool own_mounts_with_tracefs(void)
{
    struct statfs mounted;

    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return false;
    if (statfs(TRACEFS, &mounted) == 0 && mounted.f_type == TRACEFS_MAGIC)
        return true;
    return mount("tracefs", TRACEFS, "tracefs", 0, NULL) == 0;
}
