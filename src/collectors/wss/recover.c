/* SPDX-License-Identifier: MIT */
/*
 * wss/recover.c - what a process that was killed has left behind: a monitoring of DAMON's. The
 * other methods leave nothing.
 */
#include <errno.h>
#include <string.h>

#include "base/reason.h"
#include "headroom/wss.h"
#include "memory/damon_sysfs.h"
#include "wss/damon_owner.h"

/* @return whether it has ended. */
static bool end_monitoring(const struct hr_root *root, uint64_t tag)
{
    uint64_t count = 0;

    hr_damon_stop(root, tag);
    return !hr_damon_is_ours(root, tag) || (hr_damon_read_count(root, &count) == 0 && count == 0);
}

bool hr_wss_recover(const struct hr_root *root)
{
    struct hr_damon_found found;

    if (hr_damon_find_owner(root, &found) < 0 || found.owner != HR_DAMON_OWNER_DEAD)
        return false;
    return end_monitoring(root, found.tag);
}

int hr_wss_left_behind(const struct hr_root *root, struct hr_reason *reason)
{
    struct hr_damon_found found;

    hr_reason_clear(reason);
    int status = hr_damon_find_owner(root, &found);
    if (status < 0)
        return hr_damon_explain_files(status, reason);
    switch (found.owner) {
    case HR_DAMON_OWNER_NONE:
    case HR_DAMON_OWNER_OTHER:
    case HR_DAMON_OWNER_ALIVE:
        return 0;
    case HR_DAMON_OWNER_DEAD:
        return hr_reason_set(reason, -ESTALE,
                             "the measurement of process %d ended without switching DAMON off "
                             "(" HR_DAMON_KDAMONDS "/0)",
                             (int)found.pid);
    case HR_DAMON_OWNER_UNKNOWN:
        return hr_reason_set(reason, -EAGAIN,
                             "DAMON measures for a process of another container, which can't be "
                             "seen from here (" HR_DAMON_KDAMONDS "/0)");
    }
    return 0;
}

int hr_wss_restore(const struct hr_root *root, struct hr_reason *reason)
{
    struct hr_damon_found found;

    hr_reason_clear(reason);
    int status = hr_damon_find_owner(root, &found);
    if (status < 0)
        return hr_damon_explain_files(status, reason);
    switch (found.owner) {
    case HR_DAMON_OWNER_NONE:
        return 0;
    case HR_DAMON_OWNER_OTHER:
        return hr_reason_set(reason, -EBUSY,
                             "another program uses DAMON (" HR_DAMON_KDAMONDS
                             "/nr_kdamonds isn't 0): that isn't headroom's to switch off");
    case HR_DAMON_OWNER_ALIVE:
        return hr_reason_set(reason, -EBUSY, "process %d measures by DAMON now: end it",
                             (int)found.pid);
    case HR_DAMON_OWNER_DEAD:
    case HR_DAMON_OWNER_UNKNOWN:
        break;
    }
    if (end_monitoring(root, found.tag))
        return 1;
    return hr_reason_set(reason, -EACCES, "can't write to " HR_DAMON_KDAMONDS ": run it as root");
}
