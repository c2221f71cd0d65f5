/* SPDX-License-Identifier: MIT */
#include "wss/guests.h"

#include <errno.h>

#include "process/guest.h"

int hr_wss_refuse_guests(const struct hr_root *root, enum hr_wss_scope scope,
                         const struct hr_process_list *processes, struct hr_reason *reason)
{
    const struct hr_process *process = hr_process_find_guest(root, processes);

    if (process == NULL)
        return 0;
    return hr_reason_set(reason, -EOPNOTSUPP,
                         "%s[%d] runs a virtual machine (KVM), and what the guest touches doesn't "
                         "show in the process's page tables: choose idle or %s",
                         process->name, (int)process->pid,
                         scope == HR_WSS_CGROUP ? "lru_gen" : "damon");
}
