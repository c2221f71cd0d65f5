/* SPDX-License-Identifier: MIT */
#include "collectors/perf/fake_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_FD     5000
#define MAX_EVENTS   2048
#define MAX_REFUSALS 16
#define MAX_CPUS     64
#define MAX_MEMBERS  (HR_PERF_GROUP_MAX + 1) /* a clock is one, too */

/* A descriptor is FIRST_FD plus the event's index in the table. */
struct fake_event {
    bool open;
    bool enabled; /* of a leader */
    uint64_t target;
    unsigned cpu;
    struct perf_event_attr attr;
    int leader;          /* the leader's descriptor, which may be its own */
    size_t member_count; /* of a leader, including itself */
    int members[MAX_MEMBERS];
    uint64_t count;
    uint64_t enabled_ns, running_ns;
    bool broken;
    enum fake_perf_trouble trouble;
    bool fallen_apart;
};

static struct fake_event events[MAX_EVENTS];
static struct fake_refusal refusals[MAX_REFUSALS];
static size_t refusal_count;
static int enable_error;
static void (*on_open)(unsigned number);
static bool away[MAX_CPUS], left_alone[MAX_CPUS], leaders_alone;
static struct fake_perf_log done;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "fake_perf: %s\n", what);
    abort();
}

static struct fake_event *event_of(int fd)
{
    require(fd >= FIRST_FD && fd < FIRST_FD + MAX_EVENTS && events[fd - FIRST_FD].open,
            "there is no such descriptor");
    return &events[fd - FIRST_FD];
}

static bool is_clock(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CPU_CLOCK;
}

static bool is_leader(const struct fake_event *event)
{
    return event->leader == FIRST_FD + (int)(event - events);
}

/* --- Opening -------------------------------------------------------------- */

/* Attributes that all counted events have in common. */
static void require_sound(const struct perf_event_attr *attr, int group_fd)
{
    require(attr->size == sizeof(*attr), "the attributes have no size");
    const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    require(
        attr->read_format == (times | (group_fd < 0 ? PERF_FORMAT_GROUP : 0)),
        "the read format isn't that of a leader of groups, or of another event, with both times");
    require(!attr->disabled || group_fd < 0, "not only the leader is disabled");
    require(attr->sample_period == 0 && attr->sample_type == 0, "it samples");
    require(!attr->inherit, "it is inherited");
}

/* @return the target's number, or a negative errno like the kernel's. */
static int64_t find_target(pid_t pid, unsigned long flags)
{
    struct stat about;

    require((flags & ~PERF_FLAG_PID_CGROUP) == 0, "there is an unknown flag");
    if ((flags & PERF_FLAG_PID_CGROUP) == 0) {
        require(pid == -1, "it is a process");
        return (int64_t)FAKE_MACHINE;
    }
    require(fstat(pid, &about) == 0 && S_ISDIR(about.st_mode), "the cgroup is no directory");
    int file = openat(pid, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -ENOENT; /* it was removed */
    close(file);
    return (int64_t)about.st_ino;
}

static bool refusal_matches(const struct fake_refusal *refusal, const struct fake_event *event,
                            size_t group_size)
{
    return (!refusal->in_cgroups || event->target != FAKE_MACHINE) &&
           (!refusal->in_machine || event->target == FAKE_MACHINE) &&
           (!refusal->on_cpu || refusal->cpu == (int)event->cpu) &&
           (!refusal->of_type || refusal->type == event->attr.type) &&
           (!refusal->of_config || refusal->config == event->attr.config) &&
           group_size >= refusal->group_size;
}

/* @return 0 or a negative errno. */
static int apply_refusals(const struct fake_event *event, size_t group_size)
{
    for (size_t i = 0; i < refusal_count; i++) {
        struct fake_refusal *refusal = &refusals[i];
        if (!refusal_matches(refusal, event, group_size))
            continue;
        if (refusal->after > 0) {
            refusal->after--;
            continue;
        }
        if (refusal->count > 0 && --refusal->count == 0)
            refusal->after = UINT32_MAX;
        return refusal->error;
    }
    return event->cpu < MAX_CPUS && away[event->cpu] ? -ENODEV : 0;
}

static void join_group(int fd, struct fake_event *event, int group_fd)
{
    struct fake_event *leader = group_fd < 0 ? event : event_of(group_fd);

    event->leader = group_fd < 0 ? fd : group_fd;
    require(leader->member_count < MAX_MEMBERS, "the group is too large");
    leader->members[leader->member_count++] = fd;
}

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                     unsigned long flags)
{
    require(cpu >= MAX_CPUS || !left_alone[cpu], "a CPU is named that is left out");
    done.opens++;
    if (on_open != NULL)
        on_open(done.opens);
    require_sound(attr, group_fd);
    require(cpu >= 0, "it is on any CPU");
    int64_t target = find_target(pid, flags);
    if (target < 0)
        return (int)target;
    int number = 0;
    while (number < MAX_EVENTS && events[number].open)
        number++;
    require(number < MAX_EVENTS, "there are too many descriptors");
    struct fake_event event = {
        .open = true,
        .target = (uint64_t)target,
        .cpu = (unsigned)cpu,
        .attr = *attr,
        .enabled = !attr->disabled,
    };
    size_t group_size = 1;
    if (group_fd >= 0) {
        const struct fake_event *leader = event_of(group_fd);
        require(is_leader(leader), "it isn't the leader's descriptor");
        require(leader->target == event.target && leader->cpu == event.cpu,
                "the leader is elsewhere");
        require(!leader->enabled, "the leader counts already");
        group_size += leader->member_count;
    }
    int status = apply_refusals(&event, group_size);
    if (status < 0)
        return status;
    events[number] = event;
    join_group(FIRST_FD + number, &events[number], group_fd);
    done.open++;
    if (done.open > done.most)
        done.most = done.open;
    return FIRST_FD + number;
}

static int fake_enable(int fd)
{
    struct fake_event *event = event_of(fd);
    int status = enable_error;

    done.enables++;
    require(is_leader(event), "what is enabled isn't the leader");
    require(!event->enabled, "it is enabled already");
    require(event->member_count > 1, "a single event isn't opened enabled");
    enable_error = 0;
    event->enabled = status == 0;
    return status;
}

static void fake_close(int fd)
{
    struct fake_event *event = event_of(fd);

    if (is_leader(event)) {
        require(event->member_count == 1, "the leader goes before the others");
    } else {
        struct fake_event *leader = event_of(event->leader);
        require(leader->members[leader->member_count - 1] == fd, "it isn't the group's last");
        leader->member_count--;
    }
    event->open = false;
    done.open--;
    done.closes++;
}

/* --- Reading -------------------------------------------------------------- */

/* After its CPU was offline, a leader reports as many other events, but zeros; or none. */
static size_t group_words(const struct fake_event *leader, uint64_t *words)
{
    const size_t count = leader->fallen_apart && leaders_alone ? 1 : leader->member_count;

    words[0] = count;
    words[1] = leader->enabled_ns;
    words[2] = leader->running_ns;
    for (size_t i = 0; i < count; i++)
        words[3 + i] =
            i > 0 && leader->fallen_apart ? 0 : events[leader->members[i] - FIRST_FD].count;
    return 3 + count;
}

/* Another event reports itself. */
static size_t member_words(const struct fake_event *event, uint64_t *words)
{
    const struct fake_event *leader = event_of(event->leader);

    words[0] = event->count;
    words[1] = leader->enabled_ns;
    words[2] = leader->running_ns;
    return 3;
}

static ssize_t fake_read(int fd, void *buffer, size_t size)
{
    const struct fake_event *event = event_of(fd), *leader = event_of(event->leader);
    uint64_t words[3 + MAX_MEMBERS];
    const size_t count = is_leader(event) ? group_words(event, words) : member_words(event, words);
    const size_t length = count * sizeof(words[0]);

    done.reads++;
    require(leader->enabled, "what is read isn't enabled");
    require(size >= length, "the buffer is too small for the group's values");
    ssize_t given = (ssize_t)length;
    if (leader->broken && leader->trouble == FAKE_PERF_ENDED)
        return 0;
    if (leader->broken && leader->trouble == FAKE_PERF_FAILS)
        return -EIO;
    if (leader->broken && leader->trouble == FAKE_PERF_SHORT)
        given -= (ssize_t)sizeof(words[0]);
    if (leader->broken && leader->trouble == FAKE_PERF_MISCOUNT)
        words[0]--;
    memcpy(buffer, words, (size_t)given);
    return given;
}

const struct hr_perf_calls fake_perf_calls = {
    .open = fake_open,
    .enable = fake_enable,
    .read = fake_read,
    .close = fake_close,
};

/* --- Control by a test ---------------------------------------------------- */

void fake_perf_reset(void)
{
    for (size_t i = 0; i < MAX_EVENTS; i++)
        require(!events[i].open, "something was left open");
    memset(away, 0, sizeof(away));
    memset(left_alone, 0, sizeof(left_alone));
    leaders_alone = false;
    refusal_count = 0;
    enable_error = 0;
    on_open = NULL;
    done = (struct fake_perf_log){0};
}

struct fake_perf_log fake_perf_log(void)
{
    return done;
}

size_t fake_perf_open_on(uint64_t target, unsigned cpu)
{
    size_t count = 0;

    for (size_t i = 0; i < MAX_EVENTS; i++)
        count += events[i].open && events[i].target == target && events[i].cpu == cpu;
    return count;
}

void fake_perf_refuse(struct fake_refusal refusal)
{
    require(refusal_count < MAX_REFUSALS, "there are too many refusals");
    refusals[refusal_count++] = refusal;
}

void fake_perf_allow(void)
{
    refusal_count = 0;
}

void fake_perf_refuse_enabling(int error)
{
    enable_error = error;
}

void fake_perf_on_open(void (*function)(unsigned number))
{
    on_open = function;
}

static struct fake_event *find_event(uint64_t target, unsigned cpu, uint64_t config)
{
    struct fake_event *found = NULL;

    for (size_t i = 0; i < MAX_EVENTS; i++) {
        struct fake_event *event = &events[i];
        if (!event->open || event->target != target || event->cpu != cpu ||
            event->attr.config != config)
            continue;
        require(found == NULL, "the event is open twice");
        found = event;
    }
    require(found != NULL, "the event isn't open");
    return found;
}

static struct fake_event *find_leader(uint64_t target, unsigned cpu, uint64_t config)
{
    struct fake_event *event = find_event(target, cpu, config);

    require(is_leader(event), "the event is no leader");
    return event;
}

void fake_perf_set_count(uint64_t target, unsigned cpu, uint64_t config, uint64_t count)
{
    find_event(target, cpu, config)->count = count;
}

void fake_perf_add_count(uint64_t target, unsigned cpu, uint64_t config, uint64_t count)
{
    find_event(target, cpu, config)->count += count;
}

void fake_perf_set_times(uint64_t target, unsigned cpu, uint64_t leader, uint64_t enabled_ns,
                         uint64_t running_ns)
{
    struct fake_event *event = find_leader(target, cpu, leader);

    event->enabled_ns = enabled_ns;
    event->running_ns = running_ns;
}

void fake_perf_add_times(uint64_t target, unsigned cpu, uint64_t leader, uint64_t enabled_ns,
                         uint64_t running_ns)
{
    struct fake_event *event = find_leader(target, cpu, leader);

    event->enabled_ns += enabled_ns;
    event->running_ns += running_ns;
}

void fake_perf_add_clock(uint64_t target, unsigned cpu, uint64_t leader, uint64_t time_ns)
{
    const struct fake_event *event = find_leader(target, cpu, leader);
    struct fake_event *clock = event_of(event->members[event->member_count - 1]);

    require(is_clock(&clock->attr), "the group's last event is no clock");
    clock->count += time_ns;
}

size_t fake_perf_clocks_on(uint64_t target, unsigned cpu)
{
    size_t count = 0;

    for (size_t i = 0; i < MAX_EVENTS; i++)
        count += events[i].open && events[i].target == target && events[i].cpu == cpu &&
                 is_clock(&events[i].attr);
    return count;
}

void fake_perf_break(uint64_t target, unsigned cpu, uint64_t leader, enum fake_perf_trouble trouble)
{
    struct fake_event *event = find_leader(target, cpu, leader);

    event->broken = true;
    event->trouble = trouble;
}

void fake_perf_leave_alone(unsigned cpu)
{
    left_alone[cpu] = true;
}

void fake_perf_take_cpu_away(unsigned cpu)
{
    require(cpu < MAX_CPUS, "there is no such CPU");
    away[cpu] = true;
    for (size_t i = 0; i < MAX_EVENTS; i++)
        if (events[i].open && events[i].cpu == cpu)
            events[i].fallen_apart = true;
}

void fake_perf_report_leaders_alone(void)
{
    leaders_alone = true;
}

void fake_perf_bring_cpu_back(unsigned cpu)
{
    require(cpu < MAX_CPUS, "there is no such CPU");
    away[cpu] = false;
}

uint32_t fake_perf_type(uint64_t target, unsigned cpu, uint64_t config)
{
    return find_event(target, cpu, config)->attr.type;
}
