/* SPDX-License-Identifier: MIT */
#include "perf/open_group.h"

#include <errno.h>
#include <string.h>

#include "headroom/clock.h"
#include "headroom/perf_event.h"

/* --- Opening -------------------------------------------------------------- */

const struct hr_perf_encoding *hr_perf_find_encoding(const struct hr_perf_event *event,
                                                     unsigned cpu)
{
    for (size_t i = 0; i < event->encoding_count; i++) {
        const struct hr_perf_encoding *encoding = &event->encodings[i];
        if (encoding->every_cpu || hr_cpu_set_has(&encoding->cpus, cpu))
            return encoding;
    }
    return NULL;
}

/* Whether events of a PMU, which may have to take turns, are among them. */
static bool is_on_counters(const struct perf_event_attr *attr)
{
    return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT;
}

static const struct hr_perf_encoding *encoding_of(const struct hr_perf_place *place,
                                                  const struct hr_perf_event_group *group,
                                                  uint32_t events, size_t event)
{
    return (events >> event & 1) != 0 ? hr_perf_find_encoding(group->events[event], place->cpu)
                                      : NULL;
}

bool hr_perf_group_uses_pmu(const struct hr_perf_place *place,
                            const struct hr_perf_event_group *group, uint32_t events)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct hr_perf_encoding *encoding = encoding_of(place, group, events, i);
        if (encoding != NULL && is_on_counters(&encoding->attr))
            return true;
    }
    return false;
}

static bool needs_clock(const struct hr_perf_place *place, const struct hr_perf_event_group *group,
                        uint32_t events)
{
    return place->with_clock && hr_perf_group_uses_pmu(place, group, events);
}

size_t hr_perf_group_files(const struct hr_perf_place *place,
                           const struct hr_perf_event_group *group, uint32_t events)
{
    size_t count = needs_clock(place, group, events);

    for (size_t i = 0; i < group->count; i++)
        count += encoding_of(place, group, events, i) != NULL;
    return count;
}

static const struct hr_perf_encoding clock_encoding = {
    .attr = {.type = PERF_TYPE_SOFTWARE,
             .size = sizeof(clock_encoding.attr),
             .config = PERF_COUNT_SW_CPU_CLOCK},
    .every_cpu = true,
};

/* A generic event with a PMU's type in the upper half of config (PERF_PMU_TYPE_SHIFT). */
static bool has_extended_type(const struct perf_event_attr *attr)
{
    return (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE) &&
           attr->config > UINT32_MAX;
}

int hr_perf_group_open_event(const struct hr_perf_place *place,
                             const struct hr_perf_encoding *encoding, int leader, bool disabled)
{
    struct perf_event_attr attr = encoding->attr;
    unsigned long flags = place->cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0;

    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    if (leader < 0)
        attr.read_format |= PERF_FORMAT_GROUP;
    attr.disabled = disabled && leader < 0; /* which disables the others, too */
    int fd = place->calls->open(&attr, place->cgroup, (int)place->cpu, leader, flags);
    if ((fd != -ENOENT && fd != -EINVAL && fd != -EOPNOTSUPP) || !has_extended_type(&attr))
        return fd;
    /* On Arm, Linux before 6.6 supports only the plain generic type. It opens the event on the PMU
     * of the CPU, or not at all. */
    attr.config &= UINT32_MAX;
    int plain = place->calls->open(&attr, place->cgroup, (int)place->cpu, leader, flags);
    return plain >= 0 ? plain : fd;
}

static int append_event(struct hr_perf_open_group *open_group, const struct hr_perf_place *place,
                        const struct hr_perf_encoding *encoding, bool disabled)
{
    int fd = hr_perf_group_open_event(place, encoding,
                                      open_group->count > 0 ? open_group->leader : -1, disabled);

    if (fd < 0)
        return fd;
    if (open_group->count == 0)
        open_group->leader = fd;
    open_group->fds[open_group->count++] = fd;
    return 0;
}

static int append_events(struct hr_perf_open_group *open_group, const struct hr_perf_place *place,
                         const struct hr_perf_event_group *group, uint32_t events, bool disabled)
{
    int status = 0;

    open_group->events = 0;
    for (size_t i = 0; i < group->count && status == 0; i++) {
        const struct hr_perf_encoding *encoding = encoding_of(place, group, events, i);
        if (encoding == NULL)
            continue;
        status = append_event(open_group, place, encoding, disabled);
        open_group->events |= UINT32_C(1) << i;
    }
    return status;
}

int hr_perf_group_open(struct hr_perf_open_group *open_group, const struct hr_perf_place *place,
                       const struct hr_perf_event_group *group, uint32_t events)
{
    const bool disabled = hr_perf_group_files(place, group, events) > 1;
    int status = append_events(open_group, place, group, events, disabled);

    open_group->takes_turns = hr_perf_group_uses_pmu(place, group, events);
    open_group->has_clock = needs_clock(place, group, events);
    if (status == 0 && open_group->has_clock)
        status = append_event(open_group, place, &clock_encoding, disabled);
    if (status == 0 && disabled)
        status = place->calls->enable(open_group->leader);
    if (status < 0)
        hr_perf_group_close(open_group, place->calls);
    open_group->base = open_group->last = (struct hr_perf_times){0};
    open_group->kernel_running_ns = open_group->clock_ns = 0;
    memset(open_group->base_counts, 0, (open_group->size + 1) * sizeof(*open_group->base_counts));
    return status;
}

void hr_perf_group_close(struct hr_perf_open_group *open_group, const struct hr_perf_calls *calls)
{
    /* The leader last: closing it first would make each of the others a group of its own. */
    while (open_group->count > 0)
        calls->close(open_group->fds[--open_group->count]);
}

/* --- Reading -------------------------------------------------------------- */

/* The kernel's format, by read_format GROUP, TOTAL_TIME_ENABLED and TOTAL_TIME_RUNNING. */
struct reading {
    uint64_t count;
    struct hr_perf_times times;
    uint64_t counts[HR_PERF_OPEN_MAX]; /* in the order of the open events */
};

/* @return whether the reading is complete. */
static bool read_descriptor(const struct hr_perf_calls *calls, int fd, size_t size,
                            struct reading *reading)
{
    const ssize_t length = calls->read(fd, reading, size);
    const size_t head = offsetof(struct reading, counts);

    return length > (ssize_t)head && reading->count <= HR_PERF_OPEN_MAX &&
           (size_t)length == head + reading->count * sizeof(uint64_t);
}

static bool read_by_leader(const struct hr_perf_open_group *open_group,
                           const struct hr_perf_calls *calls, struct reading *reading)
{
    const size_t size = offsetof(struct reading, counts) + open_group->count * sizeof(uint64_t);

    return read_descriptor(calls, open_group->leader, size, reading) &&
           reading->count == open_group->count;
}

/* For a group whose leader no longer reports the others' counts. All have the same times. */
static bool read_each_event(const struct hr_perf_open_group *open_group,
                            const struct hr_perf_calls *calls, struct reading *reading)
{
    uint64_t one[3]; /* without GROUP: the count, and the times */

    if (!read_descriptor(calls, open_group->leader, sizeof(*reading), reading))
        return false;
    reading->count = open_group->count;
    for (size_t i = 1; i < open_group->count; i++) {
        if (calls->read(open_group->fds[i], one, sizeof(one)) != sizeof(one))
            return false;
        reading->counts[i] = one[0];
    }
    return true;
}

/* 0 where the kernel's times went back a little, as they may. */
static uint64_t time_since(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

/* Extrapolates a count from running_ns to enabled_ns, rounded. */
static uint64_t scale_count(uint64_t count, uint64_t enabled_ns, uint64_t running_ns)
{
    if (running_ns >= enabled_ns)
        return count;
    unsigned __int128 scaled = (unsigned __int128)count * enabled_ns + running_ns / 2;
    scaled /= running_ns;
    return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

/* Counters are 64 bits wide in the kernel, whatever the hardware's, and may wrap. */
static bool went_back(uint64_t before, uint64_t now)
{
    return now - before > INT64_MAX;
}

/* The group was detached, as the CPU is offline: the leader may still report as many events, but
 * the others as zeros. */
static bool is_detached(const struct hr_perf_open_group *open_group, const struct reading *reading)
{
    for (size_t i = 0; i < open_group->count; i++)
        if (went_back(open_group->base_counts[i], reading->counts[i]))
            return true;
    return false;
}

static void clear_deltas(struct hr_perf_open_group *open_group)
{
    if (!open_group->nonzero)
        return;
    open_group->nonzero = false;
    memset(open_group->deltas, 0, open_group->size * sizeof(*open_group->deltas));
    open_group->interval = (struct hr_perf_times){0};
}

/* @return the scaled delta of one counter; 0 for one that went back. */
static uint64_t advance_count(uint64_t *base, uint64_t now, uint64_t enabled_ns,
                              uint64_t running_ns)
{
    if (running_ns == 0 || went_back(*base, now))
        return 0;
    const uint64_t delta = scale_count(now - *base, enabled_ns, running_ns);
    *base = now;
    return delta;
}

/* At each switch of tasks the clock starts later, and stops earlier, than the cgroup's time. What
 * it lacks by that is no turn of other events if the kernel has seen none either, which is wrong
 * only about turns that began and ended while the same task ran. These last 1 ms at least, the
 * shortest period of the kernel's timer (perf_event_mux_interval_ms); and those that add up to no
 * more than this share of the time aren't told from switches. */
#define SHORTEST_TURN_NS HR_NS_PER_MS
#define SWITCHING_SHARE  16

static bool is_switching(uint64_t enabled_ns, uint64_t kernel_ns, uint64_t clock_ns)
{
    const uint64_t lacking_ns = time_since(clock_ns, enabled_ns);

    return kernel_ns >= enabled_ns &&
           (lacking_ns < SHORTEST_TURN_NS || lacking_ns <= enabled_ns / SWITCHING_SHARE);
}

/* Replaces the kernel's running time by that of the clock. */
static void take_clock(struct hr_perf_open_group *open_group, struct reading *reading)
{
    const size_t clock = open_group->count - 1;
    struct hr_perf_times *now = &reading->times;
    const uint64_t enabled_ns = time_since(open_group->last.enabled_ns, now->enabled_ns);
    const uint64_t kernel_ns = time_since(open_group->kernel_running_ns, now->running_ns);
    const uint64_t clock_ns = time_since(open_group->clock_ns, reading->counts[clock]);

    open_group->kernel_running_ns = now->running_ns;
    open_group->clock_ns = open_group->base_counts[clock] = reading->counts[clock];
    now->running_ns = open_group->last.running_ns +
                      (is_switching(enabled_ns, kernel_ns, clock_ns) ? enabled_ns : clock_ns);
}

/* What a group of events counts in a turn is taken for what it would have counted since its last
 * one, but not for longer than this, unless the interval itself is longer. */
#define EXTRAPOLATED_NS (60 * HR_NS_PER_S)

static uint64_t limit_extrapolation(const struct hr_perf_open_group *open_group,
                                    uint64_t enabled_ns)
{
    const uint64_t interval_ns = open_group->interval.enabled_ns;
    const uint64_t limit_ns = interval_ns > EXTRAPOLATED_NS ? interval_ns : EXTRAPOLATED_NS;

    return enabled_ns < limit_ns ? enabled_ns : limit_ns;
}

static void advance_group(struct hr_perf_open_group *open_group, struct reading *reading)
{
    if (open_group->has_clock)
        take_clock(open_group, reading);
    const struct hr_perf_times *now = &reading->times;
    uint64_t enabled_ns = time_since(open_group->base.enabled_ns, now->enabled_ns);
    const uint64_t running_ns = time_since(open_group->base.running_ns, now->running_ns);
    size_t number = 0;

    open_group->nonzero = true;
    open_group->interval.enabled_ns = time_since(open_group->last.enabled_ns, now->enabled_ns);
    open_group->interval.running_ns = time_since(open_group->last.running_ns, now->running_ns);
    if (open_group->interval.running_ns > open_group->interval.enabled_ns)
        open_group->interval.running_ns = open_group->interval.enabled_ns;
    open_group->last = *now;
    enabled_ns = limit_extrapolation(open_group, enabled_ns);
    for (uint32_t i = 0; i < open_group->size; i++) {
        if ((open_group->events >> i & 1) == 0)
            continue;
        open_group->deltas[i] = advance_count(&open_group->base_counts[number],
                                              reading->counts[number], enabled_ns, running_ns);
        number++;
    }
    if (running_ns > 0)
        open_group->base = *now;
}

/* False while the group waits for a turn: what it counts is then extrapolated. */
static bool has_counted(const struct hr_perf_open_group *open_group, const struct reading *reading)
{
    return open_group->base.enabled_ns == open_group->last.enabled_ns &&
           memcmp(open_group->base_counts, reading->counts,
                  reading->count * sizeof(*reading->counts)) != 0;
}

/* The kernel (6.18) keeps the time of a cgroup only since a process of it was switched to the CPU
 * with its events there, not since they were enabled; nor where events were there already, since an
 * enabled one was opened (ctx_time_freeze). One that polls may never leave its CPU. Its counts are
 * right, but nothing is known of turns. The time is made up for in the first case never, in the
 * second at the next switch: by then the clock's must be that of all of it. */
static void take_counts(struct hr_perf_open_group *open_group, const struct reading *reading)
{
    size_t number = 0;

    open_group->nonzero = true;
    open_group->interval = (struct hr_perf_times){0};
    for (uint32_t i = 0; i < open_group->size; i++) {
        if ((open_group->events >> i & 1) == 0)
            continue;
        open_group->deltas[i] =
            advance_count(&open_group->base_counts[number], reading->counts[number], 1, 1);
        number++;
    }
    if (open_group->has_clock)
        open_group->base_counts[number] = reading->counts[number];
}

/* Most groups on most machines are idle: these cost only the reading. */
static void take_reading(struct hr_perf_open_group *open_group, struct reading *reading)
{
    /* Where there are no turns, a time that the kernel leaves out isn't one without counting: of a
     * cgroup's task-clock 6.18 was seen to give half of the time with all of the count. */
    if (!open_group->takes_turns)
        reading->times.running_ns = reading->times.enabled_ns;
    if (reading->times.enabled_ns != open_group->last.enabled_ns)
        advance_group(open_group, reading);
    else if (has_counted(open_group, reading))
        take_counts(open_group, reading);
    else
        clear_deltas(open_group);
}

int hr_perf_group_read(struct hr_perf_open_group *open_group, const struct hr_perf_calls *calls,
                       bool together)
{
    struct reading reading;

    if (open_group->count == 0) {
        clear_deltas(open_group);
        return 0;
    }
    const bool whole = together && read_by_leader(open_group, calls, &reading) &&
                       !is_detached(open_group, &reading);
    if (!whole && !read_each_event(open_group, calls, &reading)) {
        clear_deltas(open_group);
        return -EIO;
    }
    take_reading(open_group, &reading);
    return 0;
}

/* --- Sums, by BPF --------------------------------------------------------- */

/* All events of a group have the same times. */
static void sums_to_reading(const struct hr_perf_open_group *open_group,
                            const struct count_value *sums, struct reading *reading)
{
    reading->count = 0;
    reading->times = (struct hr_perf_times){0};
    for (size_t i = 0; i < open_group->size; i++) {
        if ((open_group->events >> i & 1) == 0)
            continue;
        if (reading->count == 0)
            reading->times = (struct hr_perf_times){sums[i].enabled_ns, sums[i].running_ns};
        reading->counts[reading->count++] = sums[i].count;
    }
    if (reading->times.running_ns > reading->times.enabled_ns) /* they were read amid an addition */
        reading->times.running_ns = reading->times.enabled_ns;
}

void hr_perf_group_choose(struct hr_perf_open_group *open_group, const struct hr_perf_place *place,
                          const struct hr_perf_event_group *group, uint32_t events,
                          const struct count_value *sums)
{
    struct reading reading;

    open_group->takes_turns = hr_perf_group_uses_pmu(place, group, events);
    open_group->has_clock = false;
    open_group->events = 0;
    for (size_t i = 0; i < group->count; i++)
        if (encoding_of(place, group, events, i) != NULL)
            open_group->events |= UINT32_C(1) << i;
    sums_to_reading(open_group, sums, &reading);
    open_group->base = open_group->last = reading.times;
    memcpy(open_group->base_counts, reading.counts, reading.count * sizeof(*reading.counts));
}

void hr_perf_group_take(struct hr_perf_open_group *open_group, const struct count_value *sums)
{
    struct reading reading;

    sums_to_reading(open_group, sums, &reading);
    take_reading(open_group, &reading);
}
