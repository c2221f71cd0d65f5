/* SPDX-License-Identifier: MIT */
/*
 * room/stall_cause.c - what a stall is due to, from the counters before and after it.
 */
#include <string.h>

#include "headroom/cgroup.h"
#include "headroom/stall_cause.h"
#include "room/cpu_stat.h"
#include "room/grown.h"
#include "room/io_devices.h"
#include "room/vmstat.h"

/* What has a smaller part in the stall than this isn't its cause. */
#define WORTH_NAMING 0.1

/* A limit of I/O makes tasks wait if this part of it was used. The kernel lets pieces of I/O pass
 * in time slices, and on a busy machine late, so that a short window may have less. */
#define IO_LIMIT_USED 0.8

/* No piece of I/O has more bytes (include/linux/blkdev.h: BLK_DEF_MAX_SECTORS_CAP, and what devices
 * are usually set to). */
#define LARGEST_IO_BYTES (4 << 20)

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

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Copies the path of the group that is so many levels above. */
static void copy_ancestor(const char *path, size_t level, char *ancestor)
{
    const size_t length = hr_cgroup_above_length(path, level);

    memcpy(ancestor, path, length);
    ancestor[length] = '\0';
}

/* @param version  of the hierarchy that has the limit. */
static struct hr_stall_cause limit_cause(const struct hr_stall_counters *after, size_t level,
                                         enum hr_stall_limit limit_kind, int version, double limit)
{
    struct hr_stall_cause cause = {
        .kind = level == 0 ? HR_STALL_OWN_LIMIT : HR_STALL_ANCESTOR_LIMIT,
        .limit_kind = limit_kind,
        .version = version,
        .limit = limit,
    };

    if (level > 0)
        copy_ancestor(after->group, level, cause.group);
    return cause;
}

/* --- cpu ------------------------------------------------------------------- */

/* The part of a stall that isn't attributed yet. */
struct remainder {
    uint64_t outside_us; /* no task of the group ran */
    uint64_t inside_us;  /* another of the group ran; or it isn't known whether */
    bool is_split;       /* it is known, and so are all limits that may be why */
};

static struct remainder split_stall(const struct hr_stall_counters *before,
                                    const struct hr_stall_counters *after, uint64_t stalled_us)
{
    if (!before->has_cpu_full || !after->has_cpu_full)
        return (struct remainder){.outside_us = stalled_us};
    uint64_t outside_us = smaller(hr_grown(before->cpu_full_us, after->cpu_full_us), stalled_us);
    return (struct remainder){outside_us, stalled_us - outside_us,
                              before->below.known && after->below.known &&
                                  before->below.limited_count == after->below.limited_count};
}

static uint64_t throttled_us(const struct hr_stall_cpu *before, const struct hr_stall_cpu *after)
{
    return hr_cpu_throttled(hr_grown(before->throttled_count, after->throttled_count),
                            hr_grown(before->throttled_us, after->throttled_us), after->period_us);
}

/* Attributes to the limits what they can have caused. */
static void attribute_to_cpu_limits(const struct hr_stall_counters *before,
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
            limit_cause(after, i, HR_STALL_CPU_MAX, after->level[i].version,
                        (double)cpu->quota_us / (double)cpu->period_us);
        cause.stalled_us = us;
        add_cause(causes, &cause);
        rest->outside_us -= us;
        uncounted_us = cpu->period_us;
    }
    /* Throttling that goes on is counted when it ends: so much is neither a limit's for sure, nor
     * another's. */
    rest->outside_us -= smaller(uncounted_us, rest->outside_us);
}

/* While a group below was throttled, other tasks of the group may have run, or none: so much is
 * not for sure another's. */
static void attribute_to_cpu_limits_below(const struct hr_stall_counters *before,
                                          const struct hr_stall_counters *after,
                                          struct remainder *rest, struct hr_stall_causes *causes)
{
    struct hr_stall_cause cause = {.kind = HR_STALL_LIMITS_BELOW,
                                   .limit_kind = HR_STALL_CPU_MAX,
                                   .version = after->below.version};

    if (!before->below.known || !after->below.known)
        return;
    uint64_t us = hr_grown(before->below.throttled_us, after->below.throttled_us);
    if (us == 0)
        return;
    cause.stalled_us = smaller(us, rest->outside_us + rest->inside_us);
    add_cause(causes, &cause);
    us += after->below.period_us;
    rest->outside_us -= smaller(us, rest->outside_us);
    rest->inside_us -= smaller(us, rest->inside_us);
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

static void attribute_cpu(const struct hr_stall_counters *before,
                          const struct hr_stall_counters *after, uint64_t stalled_us,
                          struct hr_stall_causes *causes)
{
    const struct hr_stall_machine_cpus *a = &before->cpus, *b = &after->cpus;
    struct remainder rest = split_stall(before, after, stalled_us);
    double tasks_share = 1;

    attribute_to_cpu_limits(before, after, &rest, causes);
    attribute_to_cpu_limits_below(before, after, &rest, causes);
    if (a->known && b->known) {
        uint64_t rest_us = rest.outside_us + rest.inside_us;
        uint64_t busy_us = hr_grown(a->busy_us, b->busy_us);
        tasks_share -= add_machine_share(causes, HR_STALL_HYPERVISOR,
                                         hr_grown(a->steal_us, b->steal_us), busy_us, rest_us);
        tasks_share -= add_machine_share(causes, HR_STALL_INTERRUPTS,
                                         hr_grown(a->irq_us, b->irq_us), busy_us, rest_us);
    }
    if (rest.is_split) {
        add_stalled(causes, HR_STALL_NEIGHBOURS, tasks_share * (double)rest.outside_us);
        add_stalled(causes, HR_STALL_ITSELF, tasks_share * (double)rest.inside_us);
    }
    drop_small(causes, (double)stalled_us);
}

/* --- memory ---------------------------------------------------------------- */

static void add_memory_limit(const struct hr_stall_counters *after, size_t level,
                             enum hr_stall_limit limit_kind, int version, uint64_t limit_bytes,
                             uint64_t reached_count, struct hr_stall_causes *causes)
{
    struct hr_stall_cause cause =
        limit_cause(after, level, limit_kind, version, (double)limit_bytes);

    cause.event_count = reached_count;
    if (reached_count > 0 && limit_bytes != HR_STALL_NO_LIMIT)
        add_cause(causes, &cause);
}

static void add_limits_of_level(const struct hr_stall_counters *after, size_t level, int version,
                                const struct hr_stall_memory *a, const struct hr_stall_memory *b,
                                struct hr_stall_causes *causes)
{
    add_memory_limit(after, level, HR_STALL_MEMORY_HIGH, version, b->high_bytes,
                     hr_grown(a->high_count, b->high_count), causes);
    add_memory_limit(after, level, HR_STALL_MEMORY_MAX, version, b->max_bytes,
                     hr_grown(a->max_count, b->max_count), causes);
}

static void add_memory_limits(const struct hr_stall_counters *before,
                              const struct hr_stall_counters *after, struct hr_stall_causes *causes)
{
    struct hr_stall_cause below = {.kind = HR_STALL_LIMITS_BELOW};

    for (size_t i = 0; i < HR_STALL_LEVELS; i++) {
        if (!before->level[i].known || !after->level[i].known)
            continue;
        add_limits_of_level(after, i, after->level[i].version, &before->level[i].memory,
                            &after->level[i].memory, causes);
    }
    below.event_count = hr_grown(before->below.reached_count, after->below.reached_count);
    if (before->below.known && after->below.known && below.event_count > 0)
        add_cause(causes, &below);
}

/* How often the machine reclaimed memory from the group. Limits take pages away, too, and only
 * where the kernel counts those that kswapd took from the group it is known which did it. Tasks
 * that had to reclaim memory themselves, as the machine is short of it, may be those of any group;
 * but if no limit was reached, that is all there is. */
static uint64_t count_machine_reclaim(const struct hr_stall_counters *before,
                                      const struct hr_stall_counters *after, bool limit_reached)
{
    uint64_t direct_count = hr_grown(before->direct_reclaim_count, after->direct_reclaim_count);
    uint64_t pages = hr_grown(before->kswapd_page_count, after->kswapd_page_count);
    uint64_t kswapd_count = (pages + HR_RECLAIM_PAGES - 1) / HR_RECLAIM_PAGES;

    if (!before->has_reclaim || !after->has_reclaim)
        direct_count = 0;
    if (limit_reached && (!before->has_own_kswapd || !after->has_own_kswapd))
        return 0;
    /* Reclaimed pages delay no task unless they are read again. */
    if (direct_count == 0 && hr_grown(before->refault_count, after->refault_count) == 0)
        return 0;
    return limit_reached || kswapd_count > 0 ? kswapd_count : direct_count;
}

/* In the system as a whole tasks may wait for limits of groups. */
static bool is_mostly_for_limits(const struct hr_stall_counters *before,
                                 const struct hr_stall_counters *after)
{
    return hr_grown(before->limit_page_count, after->limit_page_count) >
           hr_grown(before->machine_page_count, after->machine_page_count);
}

static void attribute_memory(const struct hr_stall_counters *before,
                             const struct hr_stall_counters *after, struct hr_stall_causes *causes)
{
    struct hr_stall_cause machine = {.kind = HR_STALL_MACHINE_RECLAIM};

    add_memory_limits(before, after, causes);
    if (before->below.known && after->below.known && !is_mostly_for_limits(before, after))
        machine.event_count = count_machine_reclaim(before, after, causes->count > 0);
    if (machine.event_count > 0)
        add_cause(causes, &machine);
    if (causes->count > 0)
        drop_small(causes, (double)causes->list[0].event_count);
}

/* --- io -------------------------------------------------------------------- */

/* Whether a limit was used up. Pieces are let through as a whole, so that one may be missing. */
static bool is_used_up(const struct hr_stall_device *before, const struct hr_stall_device *after,
                       int io, double seconds)
{
    bool is_bytes = io == HR_STALL_READ_BYTES || io == HR_STALL_WRITTEN_BYTES;
    double allowed = (double)after->limit[io] * seconds;
    double done = (double)hr_grown(before->done[io], after->done[io]), piece = 1;

    if (is_bytes) {
        int pieces = io == HR_STALL_READ_BYTES ? HR_STALL_READS : HR_STALL_WRITES;
        uint64_t count = hr_grown(before->done[pieces], after->done[pieces]);
        piece = count > 0 ? done / (double)count : 0;
    }
    return done > 0 && (done >= IO_LIMIT_USED * allowed || done + piece >= allowed);
}

/* Whether a limit may have made tasks wait in that part of the time in which they did. */
static bool may_be_used_up(const struct hr_stall_device *before,
                           const struct hr_stall_device *after, int io, double stalled)
{
    bool is_bytes = io == HR_STALL_READ_BYTES || io == HR_STALL_WRITTEN_BYTES;
    double done = (double)hr_grown(before->done[io], after->done[io]);

    return done + (is_bytes ? LARGEST_IO_BYTES : 1) >=
           IO_LIMIT_USED * (double)after->limit[io] * stalled;
}

static void add_io_limit(const struct hr_stall_counters *after, size_t level,
                         const struct hr_stall_device *device, int io,
                         struct hr_stall_causes *causes)
{
    struct hr_stall_cause cause = limit_cause(
        after, level, HR_STALL_IO_MAX, after->level[level].version, (double)device->limit[io]);

    cause.io = (enum hr_stall_io)io;
    cause.device_major = device->major;
    cause.device_minor = device->minor;
    add_cause(causes, &cause);
}

/* Adds the limits of a level that were used up. @return whether others may have been, too. */
static bool add_io_limits(const struct hr_stall_counters *before,
                          const struct hr_stall_counters *after, size_t level, double stalled,
                          double seconds, struct hr_stall_causes *causes)
{
    struct hr_stall_devices devices = before->level[level].io;
    bool may_be_others = false;

    for (size_t i = 0; i < after->level[level].io.count; i++) {
        const struct hr_stall_device *device = &after->level[level].io.list[i];
        const struct hr_stall_device *was =
            hr_io_devices_find(&devices, device->major, device->minor);
        for (int io = 0; io < HR_STALL_IO_COUNT; io++) {
            if (device->limit[io] == HR_STALL_NO_LIMIT)
                continue;
            if (was != NULL && is_used_up(was, device, io, seconds))
                add_io_limit(after, level, device, io, causes);
            may_be_others |= was == NULL || may_be_used_up(was, device, io, stalled);
        }
    }
    return may_be_others;
}

/* What a group, or all of them, did on its devices. */
struct traffic {
    double bytes, pieces;
    double request_us; /* how long requests took; of all groups only */
};

static double grown_sum(const struct hr_stall_device *before, const struct hr_stall_device *after,
                        enum hr_stall_io a, enum hr_stall_io b)
{
    return (double)hr_grown(before->done[a], after->done[a]) +
           (double)hr_grown(before->done[b], after->done[b]);
}

static struct traffic sum_traffic(const struct hr_stall_devices *before,
                                  const struct hr_stall_devices *after)
{
    struct hr_stall_devices devices = *before;
    struct traffic sum = {0};

    for (size_t i = 0; i < after->count; i++) {
        const struct hr_stall_device *device = &after->list[i];
        const struct hr_stall_device *was =
            hr_io_devices_find(&devices, device->major, device->minor);
        if (was == NULL)
            continue;
        sum.bytes += grown_sum(was, device, HR_STALL_READ_BYTES, HR_STALL_WRITTEN_BYTES);
        sum.pieces += grown_sum(was, device, HR_STALL_READS, HR_STALL_WRITES);
        sum.request_us += 1e3 * (double)hr_grown(was->request_ms, device->request_ms);
    }
    return sum;
}

/* Others are why if they moved more bytes than the group, and if their requests, each of which is
 * taken to last as long as any, were under way for half of the time in which the group waited:
 * a device that has time for both delays neither. */
static bool is_io_of_others(const struct hr_stall_counters *before,
                            const struct hr_stall_counters *after, double stalled)
{
    struct traffic own = sum_traffic(&before->level[0].io, &after->level[0].io);
    struct traffic all = sum_traffic(&before->machine_io, &after->machine_io);

    if (own.bytes <= 0 || all.bytes - own.bytes <= own.bytes || all.pieces <= own.pieces)
        return false;
    double others_us = all.request_us * (all.pieces - own.pieces) / all.pieces;
    return others_us >= stalled * 1e6 / 2;
}

/* Of what the group reads and writes at least half is read again, as it was reclaimed: of what the
 * machine does, where that of the group isn't known. */
static bool is_for_lack_of_memory(const struct hr_stall_counters *before,
                                  const struct hr_stall_counters *after)
{
    const struct hr_stall_rereads *a = &before->rereads, *b = &after->rereads;

    if (!a->known || !b->known)
        return false;
    const uint64_t own_bytes = hr_grown(a->own_bytes, b->own_bytes);
    const uint64_t moved_bytes =
        own_bytes > 0 ? own_bytes : hr_grown(a->machine_bytes, b->machine_bytes);
    const uint64_t from_zswap_bytes = hr_grown(a->zswap_bytes, b->zswap_bytes);
    const uint64_t reread_bytes =
        hr_grown(from_zswap_bytes, hr_grown(a->refault_bytes, b->refault_bytes));
    return moved_bytes > 0 && 2 * (double)reread_bytes >= (double)moved_bytes;
}

/* A limit that was reached meanwhile is why. */
static void add_limits_of_rereads(const struct hr_stall_counters *before,
                                  const struct hr_stall_counters *after,
                                  struct hr_stall_causes *causes)
{
    if (!is_for_lack_of_memory(before, after))
        return;
    for (size_t i = 0; i < HR_STALL_LEVELS; i++) {
        const struct hr_stall_memory *was = &before->rereads.memory[i];
        if (was->high_bytes != HR_STALL_NO_LIMIT || was->max_bytes != HR_STALL_NO_LIMIT)
            add_limits_of_level(after, i, after->rereads.version, was, &after->rereads.memory[i],
                                causes);
    }
    if (causes->count > 0)
        drop_small(causes, (double)causes->list[0].event_count);
}

/* Whether it is known that no group below has a limit. */
static bool no_limits_below(const struct hr_stall_counters *before,
                            const struct hr_stall_counters *after)
{
    return before->below.known && after->below.known &&
           before->below.limited_count + after->below.limited_count == 0;
}

static void attribute_io(const struct hr_stall_counters *before,
                         const struct hr_stall_counters *after, double stalled, double seconds,
                         struct hr_stall_causes *causes)
{
    bool may_be_limits = !no_limits_below(before, after);

    for (size_t i = 0; i < HR_STALL_LEVELS; i++)
        if (before->level[i].known && after->level[i].known)
            may_be_limits |= add_io_limits(before, after, i, stalled, seconds, causes);
    if (causes->count == 0)
        add_limits_of_rereads(before, after, causes);
    if (may_be_limits || causes->count > 0 || !before->has_machine_io || !after->has_machine_io)
        return;
    if (is_io_of_others(before, after, stalled))
        add_cause(causes, &(struct hr_stall_cause){.kind = HR_STALL_NEIGHBOURS});
}

void hr_stall_attribute(const struct hr_stall_counters *before,
                        const struct hr_stall_counters *after, enum hr_psi_resource resource,
                        uint64_t stalled_us, uint64_t elapsed_us, struct hr_stall_causes *causes)
{
    causes->count = 0;
    if (stalled_us == 0 || elapsed_us == 0)
        return;
    switch (resource) {
    case HR_PSI_CPU:
        attribute_cpu(before, after, stalled_us, causes);
        break;
    case HR_PSI_MEMORY:
        attribute_memory(before, after, causes);
        break;
    case HR_PSI_IO:
        attribute_io(before, after, (double)stalled_us / 1e6, (double)elapsed_us / 1e6, causes);
        break;
    case HR_PSI_IRQ:
    case HR_PSI_RESOURCE_COUNT:
        break;
    }
}
