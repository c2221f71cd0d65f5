/* SPDX-License-Identifier: MIT */
#include "collectors/perf/fake_bpf.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#define MAX_CPUS   8
#define MAX_SLOTS  64
#define MAX_EVENTS 8

static struct {
    bool loaded, attached;
    size_t possible, slot_count, event_count;
    struct count_value values[MAX_SLOTS][MAX_CPUS][MAX_EVENTS];
    uint64_t ids[MAX_SLOTS], last_ids[MAX_SLOTS];
    bool set[MAX_CPUS][MAX_EVENTS];
    bool left_alone[MAX_CPUS];
    unsigned changed[MAX_CPUS][MAX_SLOTS]; /* for so many readings */
    struct count_cpu cpus[MAX_CPUS];
    struct {
        uint64_t id, count, time_ns;
        size_t event;
    } pending[MAX_CPUS];
    int refused[FAKE_CALLS];
    bool unreadable[MAX_EVENTS];
    uint64_t misread[MAX_CPUS]; /* a bit of each event */
    struct fake_bpf_log log;
} fake;

void fake_bpf_reset(size_t possible)
{
    ck_assert(!fake.loaded && possible <= MAX_CPUS);
    memset(&fake, 0, sizeof(fake));
    fake.possible = possible;
}

struct fake_bpf_log fake_bpf_log(void)
{
    fake.log.selected = 0;
    for (size_t slot = COUNT_FIRST_GROUP; slot < MAX_SLOTS; slot++)
        fake.log.selected += fake.ids[slot] != 0;
    return fake.log;
}

void fake_bpf_refuse(enum fake_bpf_call call, int error)
{
    fake.refused[call] = error;
}

void fake_bpf_make_unreadable(size_t event)
{
    fake.unreadable[event] = true;
}

void fake_bpf_misread(unsigned cpu, size_t event)
{
    fake.misread[cpu] |= UINT64_C(1) << event;
}

size_t fake_bpf_count_set(void)
{
    size_t count = 0;

    for (size_t cpu = 0; cpu < MAX_CPUS; cpu++)
        for (size_t event = 0; event < MAX_EVENTS; event++)
            count += fake.set[cpu][event];
    return count;
}

void fake_bpf_set_idle(unsigned cpu, bool idle)
{
    fake.cpus[cpu].is_idle = idle;
}

void fake_bpf_leave_alone(unsigned cpu)
{
    fake.left_alone[cpu] = true;
}

/* --- Counting ------------------------------------------------------------- */

static size_t find_slot(const uint64_t *ids, uint64_t id)
{
    for (size_t slot = COUNT_FIRST_GROUP; slot < MAX_SLOTS && id != FAKE_REST; slot++)
        if (ids[slot] == id)
            return slot;
    return COUNT_REST;
}

static void add(size_t slot, unsigned cpu, size_t event, const struct count_value *value)
{
    struct count_value *sum = &fake.values[slot][cpu][event];

    ck_assert(fake.attached && fake.set[cpu][event]);
    sum->count += value->count;
    sum->enabled_ns += value->enabled_ns;
    sum->running_ns += value->running_ns;
    fake.changed[cpu][slot] = 2; /* this one and the next */
}

void fake_bpf_add(uint64_t id, unsigned cpu, size_t event, uint64_t count, uint64_t enabled_ns,
                  uint64_t running_ns)
{
    const struct count_value value = {count, enabled_ns, running_ns};
    const size_t slot = find_slot(fake.ids, id);

    ck_assert(id == FAKE_REST || slot != COUNT_REST);
    add(slot, cpu, event, &value);
}

void fake_bpf_add_by_flush(uint64_t id, unsigned cpu, size_t event, uint64_t count,
                           uint64_t time_ns)
{
    fake.pending[cpu].id = id;
    fake.pending[cpu].event = event;
    fake.pending[cpu].count = count;
    fake.pending[cpu].time_ns = time_ns;
}

void fake_bpf_add_late(uint64_t id, unsigned cpu, size_t event, uint64_t count, uint64_t time_ns)
{
    const struct count_value value = {count, time_ns, time_ns};
    const size_t slot = find_slot(fake.last_ids, id);

    ck_assert(slot != COUNT_REST && fake.ids[slot] == 0);
    add(slot, cpu, event, &value);
}

/* --- Calls ---------------------------------------------------------------- */

static int fake_load(const struct count_settings *settings, size_t slots, size_t possible,
                     void **object)
{
    if (fake.refused[FAKE_LOAD] < 0)
        return fake.refused[FAKE_LOAD];
    ck_assert(!fake.loaded);
    ck_assert_uint_eq(possible, fake.possible);
    ck_assert_uint_le(settings->cpu_limit, MAX_CPUS);
    ck_assert_uint_le(settings->event_count, MAX_EVENTS);
    ck_assert_uint_le(slots, MAX_SLOTS);
    fake.slot_count = slots;
    fake.event_count = settings->event_count;
    fake.loaded = true;
    *object = &fake;
    return 0;
}

static void fake_unload(void *object)
{
    ck_assert(object == &fake && fake.loaded);
    fake.loaded = fake.attached = false;
    memset(fake.values, 0, sizeof(fake.values));
    memset(fake.ids, 0, sizeof(fake.ids));
    memset(fake.last_ids, 0, sizeof(fake.last_ids));
    memset(fake.set, 0, sizeof(fake.set));
    memset(fake.changed, 0, sizeof(fake.changed));
}

static int fake_attach(__attribute__((unused)) void *object)
{
    fake.attached = fake.refused[FAKE_ATTACH] == 0;
    return fake.refused[FAKE_ATTACH];
}

static int fake_set_event(__attribute__((unused)) void *object, size_t event, unsigned cpu, int fd)
{
    if (fake.refused[FAKE_SET_EVENT] < 0)
        return fake.refused[FAKE_SET_EVENT];
    if (fake.unreadable[event])
        return -EOPNOTSUPP;
    ck_assert(event < fake.event_count && cpu < MAX_CPUS && fd >= 0);
    ck_assert_msg(!fake.left_alone[cpu], "an event on a CPU that is left out");
    fake.set[cpu][event] = true;
    fake.log.events++;
    return 0;
}

static void fake_unset_event(__attribute__((unused)) void *object, size_t event, unsigned cpu)
{
    ck_assert(event < fake.event_count && cpu < MAX_CPUS);
    fake.set[cpu][event] = false;
}

static int fake_select(__attribute__((unused)) void *object, uint64_t id, __u32 slot)
{
    if (fake.refused[FAKE_SELECT] < 0)
        return fake.refused[FAKE_SELECT];
    ck_assert(slot >= COUNT_FIRST_GROUP && slot < fake.slot_count);
    ck_assert(fake.ids[slot] == 0 && find_slot(fake.ids, id) == COUNT_REST);
    fake.ids[slot] = fake.last_ids[slot] = id;
    return 0;
}

static int fake_deselect(__attribute__((unused)) void *object, uint64_t id)
{
    const size_t slot = find_slot(fake.ids, id);

    ck_assert_uint_ne(slot, COUNT_REST);
    fake.ids[slot] = 0;
    return 0;
}

static int fake_read_cpus(__attribute__((unused)) void *object, struct count_cpu *cpus)
{
    memcpy(cpus, fake.cpus, fake.possible * sizeof(*cpus));
    return 0;
}

static int fake_flush(__attribute__((unused)) void *object, unsigned cpu)
{
    const struct count_value value = {fake.pending[cpu].count, fake.pending[cpu].time_ns,
                                      fake.pending[cpu].time_ns};

    ck_assert(!fake.cpus[cpu].is_idle);
    ck_assert_msg(!fake.left_alone[cpu], "a CPU is flushed that is left out");
    if (fake.refused[FAKE_FLUSH] < 0)
        return fake.refused[FAKE_FLUSH];
    fake.log.flushes++;
    fake.cpus[cpu].unreadable = 0;
    for (size_t event = 0; event < MAX_EVENTS; event++)
        if (fake.set[cpu][event])
            fake.cpus[cpu].unreadable |= fake.misread[cpu] & UINT64_C(1) << event;
    if (value.enabled_ns > 0)
        add(find_slot(fake.ids, fake.pending[cpu].id), cpu, fake.pending[cpu].event, &value);
    memset(&fake.pending[cpu], 0, sizeof(fake.pending[cpu]));
    return 0;
}

static int fake_begin_reading(__attribute__((unused)) void *object)
{
    for (size_t cpu = 0; cpu < MAX_CPUS; cpu++)
        for (size_t slot = 0; slot < MAX_SLOTS; slot++)
            fake.changed[cpu][slot] -= fake.changed[cpu][slot] > 0;
    return 0;
}

static void fake_find_changed(__attribute__((unused)) void *object, __u32 count, bool *changed)
{
    ck_assert_uint_le(count, fake.slot_count);
    for (size_t slot = 0; slot < count; slot++) {
        changed[slot] = false;
        for (size_t cpu = 0; cpu < MAX_CPUS; cpu++)
            changed[slot] = changed[slot] || fake.changed[cpu][slot] > 0;
    }
}

static bool fake_is_changed(__attribute__((unused)) const void *object, __u32 slot, unsigned cpu)
{
    ck_assert(slot < fake.slot_count && cpu < MAX_CPUS);
    return fake.changed[cpu][slot] > 0;
}

static void fake_read(__attribute__((unused)) const void *object, __u32 slot, unsigned cpu,
                      struct count_value *values)
{
    ck_assert(slot < fake.slot_count && cpu < MAX_CPUS);
    fake.log.slots_read++;
    memcpy(values, fake.values[slot][cpu], fake.event_count * sizeof(*values));
}

const struct hr_perf_bpf_calls fake_bpf_calls = {
    .load = fake_load,
    .unload = fake_unload,
    .attach = fake_attach,
    .set_event = fake_set_event,
    .unset_event = fake_unset_event,
    .select = fake_select,
    .deselect = fake_deselect,
    .read_cpus = fake_read_cpus,
    .flush = fake_flush,
    .begin_reading = fake_begin_reading,
    .find_changed = fake_find_changed,
    .is_changed = fake_is_changed,
    .read = fake_read,
};
