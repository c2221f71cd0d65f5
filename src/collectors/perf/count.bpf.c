// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * count.bpf.c - counts each CPU's perf events for the selected cgroup whose task runs there.
 *
 * Before a CPU goes from one task to the next, what its events have counted since they were read
 * last is added to the deepest selected group that the task is in or below.
 *
 * A program on the tracepoint is run at each switch, one on a perf event isn't: not while the CPU
 * is inside bpf(2) (kernel/bpf/syscall.c, bpf_prog_active).
 *
 * All of it runs with the run queue's lock held: no map allocates memory here.
 */
#include "base/bpf_types.h"

#include <bpf/bpf_helpers.h>

#include "perf/bpf_shared.h"

/* A group below this level is counted for the selected one above. */
#define MAX_LEVEL 48

/* ENOENT, where an event isn't set on a CPU. */
#define NO_EVENT 2

/* The slot of a cgroup that was seen; one of an older generation is worthless. */
struct resolved {
    __u32 generation;
    __u32 slot;
};

/* The arguments of the tracepoint sched_switch, see include/trace/events/sched.h. */
struct switch_arguments {
    __u64 preempt;
    __u64 previous;
    __u64 next;
};

const volatile struct count_settings settings = {0};

/* Of each event on each CPU. */
struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(__u32));
    __uint(value_size, sizeof(__u32));
} events SEC(".maps");

/* Rows of slots, by CPUs: each writes to its own. It is no per-CPU array, as these can't be mapped
 * into memory, and copying them takes longer than all else of a reading. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(__u32));
    __uint(value_size, sizeof(struct count_value));
} slots SEC(".maps");

/* The slots of the selected groups, by their ids. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, __u64);
    __type(value, __u32);
} selected SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct count_current);
} current SEC(".maps");

/* Rows, by CPUs: each writes to its own. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(__u32));
    __uint(value_size, 8);
} marks SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, __u64);
    __type(value, struct resolved);
} cgroups SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct count_cpu);
} cpus SEC(".maps");

static __u32 find_slot_above(void)
{
    for (int level = MAX_LEVEL; level > 0; level--) {
        __u64 id = bpf_get_current_ancestor_cgroup_id(level);
        __u32 *slot = id ? bpf_map_lookup_elem(&selected, &id) : 0;
        if (slot)
            return *slot;
    }
    return COUNT_REST;
}

/* Of the current task: that which leaves, where tasks are switched. */
static __always_inline __u32 find_slot(void)
{
    __u64 id = bpf_get_current_cgroup_id();
    __u32 zero = 0;
    struct count_current *now = bpf_map_lookup_elem(&current, &zero);
    struct resolved *seen = bpf_map_lookup_elem(&cgroups, &id), found;

    if (!now)
        return COUNT_REST;
    if (seen && seen->generation == now->generation)
        return seen->slot;
    found.generation = now->generation; /* before looking for it, as it may change meanwhile */
    found.slot = find_slot_above();
    bpf_map_update_elem(&cgroups, &id, &found, BPF_ANY);
    return found.slot;
}

/* Whether the difference to what was read last is what the event has counted since. */
static __always_inline int is_continued(struct count_value *last, const struct count_value *now)
{
    if (now->enabled_ns >= last->enabled_ns)
        return 1;
    if (now->enabled_ns >= last->enabled_ns / 2)
        return 0; /* the clock went back a little */
    /* It was opened again, as the CPU came back. */
    *last = (struct count_value){0};
    return 1;
}

static __always_inline void add(volatile struct count_value *sum, struct count_value *last,
                                const struct count_value *now)
{
    /* Each at once and in this order, as they may be read in between: an event that was always on a
     * counter is then not taken for one that wasn't. */
    sum->running_ns += now->running_ns - last->running_ns;
    sum->enabled_ns += now->enabled_ns - last->enabled_ns;
    sum->count += now->count - last->count;
    *last = *now;
}

/* Slots of groups that sleep, or run only where nothing is counted, aren't read. */
static __always_inline void mark(__u32 slot, __u32 cpu)
{
    __u32 zero = 0;
    struct count_current *now = bpf_map_lookup_elem(&current, &zero);
    __u8 *row = bpf_map_lookup_elem(&marks, &cpu);

    if (now && row && slot < settings.slot_count)
        row[slot] = now->reading;
}

static __always_inline struct count_value *find_values(__u32 cpu, __u32 slot)
{
    __u32 key = cpu * settings.slot_count + slot;

    return bpf_map_lookup_elem(&slots, &key);
}

/* @return a bit of each event that is there, but can't be read. */
static __always_inline __u64 count(void)
{
    __u32 slot = find_slot(), cpu = bpf_get_smp_processor_id();
    struct count_value *last = find_values(cpu, COUNT_LAST), *sum = find_values(cpu, slot);
    __u64 unreadable = 0;
    bool added = 0;

    if (!last || !sum)
        return 0;
    for (__u32 i = 0; i < COUNT_EVENTS && i < settings.event_count; i++) {
        struct count_value now;
        long status = bpf_perf_event_read_value(&events, i * settings.cpu_limit + cpu, (void *)&now,
                                                sizeof(now));
        if (status == 0 && is_continued(&last[i], &now)) {
            add(&sum[i], &last[i], &now);
            added = 1;
        }
        if (status != 0 && status != -NO_EVENT)
            unreadable |= 1ULL << i;
    }
    if (added)
        mark(slot, cpu);
    return unreadable;
}

static __always_inline int is_idle(void)
{
    return bpf_get_current_pid_tgid() == 0;
}

SEC("raw_tp/sched_switch")
int on_switch(const struct switch_arguments *arguments)
{
    __u32 zero = 0;
    struct count_cpu *cpu = bpf_map_lookup_elem(&cpus, &zero);

    count();
    if (!cpu)
        return 0;
    if (is_idle())
        cpu->idle_task = arguments->previous;
    cpu->is_idle = arguments->next == cpu->idle_task;
    return 0;
}

/* Run on a CPU whose task goes on; once on one that idles since before the programs were there. */
SEC("raw_tp")
int on_reading(void *context)
{
    __u32 zero = 0;
    struct count_cpu *cpu = bpf_map_lookup_elem(&cpus, &zero);

    __u64 unreadable = count();
    if (cpu) {
        cpu->unreadable = unreadable;
        cpu->is_idle = is_idle();
    }
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
