/* SPDX-License-Identifier: MIT */
/*
 * room/cause.c - what a stall is due to, from the counters before and after it.
 */
#include <string.h>

#include "headroom/stall_cause.h"
#include "room/io_devices.h"

/* What has a smaller part in the stall than this isn't its cause. */
#define WORTH_NAMING 0.1

/* A limit of I/O makes tasks wait if this part of it was used. The kernel lets pieces of I/O pass
 * in time slices, so that a short window may have one piece less. */
#define IO_LIMIT_USED 0.9

/* --- The list -------------------------------------------------------------- */

static uint64_t weight(const struct hr_stall_cause *cause)
{
    return cause->stalled_us + cause->event_count; /* one of them is 0 */
}

/* Inserts a cause in front of the smaller ones. */
static void add_cause(struct hr_stall_causes *causes, const struct hr_stall_cause *cause)
{
    size_t at = causes->count;

    while (at > 0 && weight(&causes->list[at - 1]) < weight(cause))
        at--;
    if (at == HR_STALL_CAUSES)
        return;
    if (causes->count < HR_STALL_CAUSES)
        causes->count++;
    memmove(&causes->list[at + 1], &causes->list[at],
            (causes->count - 1 - at) * sizeof(*causes->list));
    causes->list[at] = *cause;
}

static void drop_small(struct hr_stall_causes *causes, double whole)
{
    while (causes->count > 0 &&
           (double)weight(&causes->list[causes->count - 1]) < WORTH_NAMING * whole)
        causes->count--;
}

/* The counters restart with a group that is made again. */
static uint64_t grown(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Copies the path of the group that is so many levels above. */
static void copy_ancestor(const char *path, size_t level, char *ancestor)
{
    size_t length = strlen(path);

    for (; level > 0; level--)
        while (length > 0 && path[--length] != '/')
            continue;
    memcpy(ancestor, path, length);
    ancestor[length] = '\0';
}

static struct hr_stall_cause limit_cause(const struct hr_stall_counters *after, size_t level,
                                         enum hr_stall_limit limit_kind, double limit)
{
    struct hr_stall_cause cause = {
        .kind = level == 0 ? HR_STALL_OWN_LIMIT : HR_STALL_ANCESTOR_LIMIT,
        .limit_kind = limit_kind,
        .limit = limit,
    };

    if (level > 0)
        copy_ancestor(after->group, level, cause.group);
    return cause;
}

/* --- cpu ------------------------------------------------------------------- */

/* A stall that isn't explained yet. */
struct remainder {
    uint64_t outside_us; /* no task of the group ran */
    uint64_t inside_us;  /* another of the group ran; or it isn't known whether */
    bool is_split;       /* it is known */
};

static struct remainder split_stall(const struct hr_stall_counters *before,
                                    const struct hr_stall_counters *after, uint64_t stalled_us)
{
    if (!before->has_cpu_full || !after->has_cpu_full)
        return (struct remainder){.outside_us = stalled_us};
    uint64_t outside_us = smaller(grown(before->cpu_full_us, after->cpu_full_us), stalled_us);
    return (struct remainder){outside_us, stalled_us - outside_us, true};
}

/* The kernel adds up the throttled time of all CPUs, but a period can't be throttled for longer
 * than it is. */
static uint64_t throttled_us(const struct hr_stall_cpu *before, const struct hr_stall_cpu *after)
{
    uint64_t count = grown(before->throttled_count, after->throttled_count), longest_us;

    if (__builtin_mul_overflow(count, after->period_us, &longest_us))
        longest_us = UINT64_MAX;
    return smaller(grown(before->throttled_us, after->throttled_us), longest_us);
}

/* Explains by the limits what they can explain. */
static void explain_cpu_limits(const struct hr_stall_counters *before,
                               const struct hr_stall_counters *after, struct remainder *rest,
                               struct hr_stall_causes *causes)
{
    uint64_t uncounted_us = 0;

    for (size_t i = 0; i < HR_STALL_LEVELS; i++) {
        if (!before->level[i].known || !after->level[i].known)
            continue;
        const struct hr_stall_cpu *cpu = &after->level[i].cpu;
        uint64_t us = smaller(throttled_us(&before->level[i].cpu, cpu), rest->outside_us);
        if (us == 0 || cpu->quota_us == HR_STALL_NO_LIMIT)
            continue;
        struct hr_stall_cause cause =
            limit_cause(after, i, HR_STALL_CPU_MAX, (double)cpu->quota_us / (double)cpu->period_us);
        cause.stalled_us = us;
        add_cause(causes, &cause);
        rest->outside_us -= us;
        uncounted_us = cpu->period_us;
    }
    /* Throttling that goes on is counted when it ends: so much is neither a limit's for sure, nor
     * anyone else's. */
    rest->outside_us -= smaller(uncounted_us, rest->outside_us);
}

static void add_stalled(struct hr_stall_causes *causes, enum hr_stall_kind kind, double stalled_us)
{
    const struct hr_stall_cause cause = {.kind = kind, .stalled_us = (uint64_t)stalled_us};

    if (cause.stalled_us > 0)
        add_cause(causes, &cause);
}

/* What prolonged all waits alike, as a share of the time that the CPUs were busy; it can't have
 * taken longer than it did. */
static double add_machine_share(struct hr_stall_causes *causes, enum hr_stall_kind kind,
                                uint64_t taken_us, uint64_t busy_us, uint64_t stalled_us)
{
    double share = busy_us > 0 ? (double)taken_us / (double)busy_us : 0;
    double us = share * (double)stalled_us;

    if (us > (double)taken_us)
        us = (double)taken_us;
    add_stalled(causes, kind, us);
    return stalled_us > 0 ? us / (double)stalled_us : 0;
}

static void explain_cpu(const struct hr_stall_counters *before,
                        const struct hr_stall_counters *after, uint64_t stalled_us,
                        struct hr_stall_causes *causes)
{
    const struct hr_stall_machine_cpus *a = &before->cpus, *b = &after->cpus;
    struct remainder rest = split_stall(before, after, stalled_us);
    double tasks_share = 1;

    explain_cpu_limits(before, after, &rest, causes);
    if (a->known && b->known) {
        uint64_t rest_us = rest.outside_us + rest.inside_us;
        uint64_t busy_us = grown(a->busy_us, b->busy_us);
        tasks_share -= add_machine_share(causes, HR_STALL_HYPERVISOR,
                                         grown(a->steal_us, b->steal_us), busy_us, rest_us);
        tasks_share -= add_machine_share(causes, HR_STALL_INTERRUPTS, grown(a->irq_us, b->irq_us),
                                         busy_us, rest_us);
    }
    if (rest.is_split) {
        add_stalled(causes, HR_STALL_NEIGHBOURS, tasks_share * (double)rest.outside_us);
        add_stalled(causes, HR_STALL_ITSELF, tasks_share * (double)rest.inside_us);
    }
    drop_small(causes, (double)stalled_us);
}

/* --- memory ---------------------------------------------------------------- */

static void add_memory_limit(const struct hr_stall_counters *after, size_t level,
                             enum hr_stall_limit limit_kind, uint64_t limit_bytes,
                             uint64_t reached_count, struct hr_stall_causes *causes)
{
    struct hr_stall_cause cause = limit_cause(after, level, limit_kind, (double)limit_bytes);

    cause.event_count = reached_count;
    if (reached_count > 0 && limit_bytes != HR_STALL_NO_LIMIT)
        add_cause(causes, &cause);
}

/* Direct reclaim delays tasks at once; pages that kswapd reclaims delay who reads them again. The
 * latter happens with limits, too. */
static void add_machine_reclaim(const struct hr_stall_counters *before,
                                const struct hr_stall_counters *after,
                                struct hr_stall_causes *causes)
{
    struct hr_stall_cause cause = {.kind = HR_STALL_MACHINE_RECLAIM};

    if (!before->has_reclaim || !after->has_reclaim)
        return;
    cause.event_count = grown(before->direct_reclaim_count, after->direct_reclaim_count);
    if (cause.event_count == 0 && causes->count == 0 && before->has_refaults &&
        after->has_refaults && after->kswapd_page_count > before->kswapd_page_count)
        cause.event_count = grown(before->refault_count, after->refault_count);
    if (cause.event_count > 0)
        add_cause(causes, &cause);
}

static void explain_memory(const struct hr_stall_counters *before,
                           const struct hr_stall_counters *after, struct hr_stall_causes *causes)
{
    for (size_t i = 0; i < HR_STALL_LEVELS; i++) {
        if (!before->level[i].known || !after->level[i].known)
            continue;
        const struct hr_stall_memory *a = &before->level[i].memory, *b = &after->level[i].memory;
        add_memory_limit(after, i, HR_STALL_MEMORY_HIGH, b->high_bytes,
                         grown(a->high_count, b->high_count), causes);
        add_memory_limit(after, i, HR_STALL_MEMORY_MAX, b->max_bytes,
                         grown(a->max_count, b->max_count), causes);
    }
    add_machine_reclaim(before, after, causes);
    if (causes->count > 0)
        drop_small(causes, (double)causes->list[0].event_count);
}

/* --- io -------------------------------------------------------------------- */

static bool is_at_limit(const struct hr_stall_device *before, const struct hr_stall_device *after,
                        int io, double seconds)
{
    return after->limit[io] != HR_STALL_NO_LIMIT &&
           (double)grown(before->done[io], after->done[io]) >=
               IO_LIMIT_USED * (double)after->limit[io] * seconds;
}

static void add_io_limits(const struct hr_stall_counters *before,
                          const struct hr_stall_counters *after, size_t level, double seconds,
                          struct hr_stall_causes *causes)
{
    struct hr_stall_devices devices = before->level[level].io;

    for (size_t i = 0; i < after->level[level].io.count; i++) {
        const struct hr_stall_device *device = &after->level[level].io.list[i];
        const struct hr_stall_device *was =
            hr_io_devices_find(&devices, device->major, device->minor);
        for (int io = 0; was != NULL && io < HR_STALL_IO_COUNT; io++) {
            if (!is_at_limit(was, device, io, seconds))
                continue;
            struct hr_stall_cause cause =
                limit_cause(after, level, HR_STALL_IO_MAX, (double)device->limit[io]);
            cause.io = (enum hr_stall_io)io;
            cause.device_major = device->major;
            cause.device_minor = device->minor;
            add_cause(causes, &cause);
        }
    }
}

/* Bytes read and written by all of the devices of one list, as far as the other has them. */
static double moved_bytes(const struct hr_stall_devices *before,
                          const struct hr_stall_devices *after)
{
    struct hr_stall_devices devices = *before;
    double bytes = 0;

    for (size_t i = 0; i < after->count; i++) {
        const struct hr_stall_device *device = &after->list[i];
        const struct hr_stall_device *was =
            hr_io_devices_find(&devices, device->major, device->minor);
        for (int io = HR_STALL_READ_BYTES; was != NULL && io <= HR_STALL_WRITTEN_BYTES; io++)
            bytes += (double)grown(was->done[io], device->done[io]);
    }
    return bytes;
}

static void explain_io(const struct hr_stall_counters *before,
                       const struct hr_stall_counters *after, double seconds,
                       struct hr_stall_causes *causes)
{
    if (seconds <= 0)
        return;
    for (size_t i = 0; i < HR_STALL_LEVELS; i++)
        if (before->level[i].known && after->level[i].known)
            add_io_limits(before, after, i, seconds, causes);
    if (causes->count > 0 || !before->has_machine_io || !after->has_machine_io)
        return;
    double own = moved_bytes(&before->level[0].io, &after->level[0].io);
    double all = moved_bytes(&before->machine_io, &after->machine_io);
    if (own > 0 && all - own > own)
        add_cause(causes, &(struct hr_stall_cause){.kind = HR_STALL_NEIGHBOURS});
}

void hr_stall_explain(const struct hr_stall_counters *before, const struct hr_stall_counters *after,
                      enum hr_psi_resource resource, uint64_t stalled_us, uint64_t elapsed_us,
                      struct hr_stall_causes *causes)
{
    causes->count = 0;
    if (stalled_us == 0 || elapsed_us == 0)
        return;
    switch (resource) {
    case HR_PSI_CPU:
        explain_cpu(before, after, stalled_us, causes);
        break;
    case HR_PSI_MEMORY:
        explain_memory(before, after, causes);
        break;
    case HR_PSI_IO:
        explain_io(before, after, (double)elapsed_us / 1e6, causes);
        break;
    case HR_PSI_IRQ:
    case HR_PSI_RESOURCE_COUNT:
        break;
    }
}
