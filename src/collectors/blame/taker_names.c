/* SPDX-License-Identifier: MIT */
#include "headroom/blame_taker.h"

#include <string.h>

static const char *const taker_names[HR_BLAME_TAKER_COUNT] = {
    [HR_BLAME_GROUP] = "group",
    [HR_BLAME_ITSELF] = "itself",
    [HR_BLAME_OTHER] = "other",
    [HR_BLAME_KWORKER] = "kworker",
    [HR_BLAME_KSOFTIRQD] = "ksoftirqd",
    [HR_BLAME_MIGRATION] = "migration",
    [HR_BLAME_RCU] = "rcu",
    [HR_BLAME_RECLAIM] = "kswapd",
    [HR_BLAME_IRQ_THREAD] = "irq-thread",
    [HR_BLAME_KERNEL] = "kernel",
    [HR_BLAME_INTERRUPTS] = "interrupts",
    [HR_BLAME_STEAL] = "steal",
    [HR_BLAME_LIMIT] = "limit",
    [HR_BLAME_IDLE] = "idle",
    [HR_BLAME_UNKNOWN] = "unattributed",
};

const char *hr_blame_taker_name(enum hr_blame_taker taker)
{
    return taker_names[taker];
}

bool hr_blame_taker_find(const char *name, enum hr_blame_taker *taker)
{
    for (int i = 0; i < HR_BLAME_TAKER_COUNT; i++)
        if (strcmp(name, taker_names[i]) == 0) {
            *taker = (enum hr_blame_taker)i;
            return true;
        }
    return false;
}
