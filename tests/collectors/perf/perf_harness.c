/* SPDX-License-Identifier: MIT */
#include "collectors/perf/perf_harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_TARGETS 16

struct tree *tree;
struct hr_root *root;
struct hr_perf *perf;
struct hr_perf_options perf_options;

static struct hr_perf_event events[MAX_CONFIG + 1];
static struct hr_perf_encoding encodings[MAX_CONFIG + 1][4];
static char texts[MAX_CONFIG + 1][16];
static struct hr_perf_event *members[80];
static struct hr_perf_event_group groups[16];

static struct {
    struct hr_perf_target *target;
    struct hr_cgroup_set *set; /* NULL: the machine */
} targets[MAX_TARGETS];
static size_t target_count;

static time_t skipped_s;    /* of the clock */
static uint64_t stopped_ns; /* the clock's; 0: it goes on */
static uint64_t idle_ns;    /* for which no CPU time was used while it was stopped */

/* --- Events --------------------------------------------------------------- */

static struct perf_event_attr make_attributes(uint32_t type, uint64_t config)
{
    return (struct perf_event_attr){
        .type = type, .size = sizeof(struct perf_event_attr), .config = config};
}

static void make_plain(uint64_t config)
{
    encodings[config][0] = (struct hr_perf_encoding){
        .attr = make_attributes(PERF_TYPE_HARDWARE, config), .every_cpu = true};
    events[config] = (struct hr_perf_event){
        .text = texts[config], .encoding_count = 1, .encodings = encodings[config]};
    snprintf(texts[config], sizeof(texts[config]), "event-%u", (unsigned)config);
}

void count_on(uint64_t config, uint32_t type, const char *cpus)
{
    struct hr_perf_event *event = &events[config];

    if (encodings[config][0].every_cpu)
        event->encoding_count = 0;
    struct hr_perf_encoding *encoding = &encodings[config][event->encoding_count++];
    *encoding = (struct hr_perf_encoding){.attr = make_attributes(type, config)};
    ck_assert_int_eq(hr_cpu_set_parse(cpus, strlen(cpus), &encoding->cpus), 0);
}

void count_for_the_machine(uint64_t config)
{
    events[config].whole_machine = true;
}

void make_unknown(uint64_t config)
{
    encodings[config][0] = (struct hr_perf_encoding){.every_cpu = false};
    events[config].encoding_count = 0;
}

void move_to(uint64_t config, const char *cpus)
{
    ck_assert_int_eq(hr_cpu_set_parse(cpus, strlen(cpus), &encodings[config][0].cpus), 0);
}

void make_extended(uint64_t config, uint32_t pmu)
{
    for (size_t i = 0; i < events[config].encoding_count; i++) {
        struct perf_event_attr *attr = &encodings[config][i].attr;
        if (attr->type != pmu)
            continue;
        attr->type = PERF_TYPE_HARDWARE;
        attr->config |= (uint64_t)pmu << 32;
    }
}

void set_groups(const char *text)
{
    size_t count = 0, member = 0;

    for (; *text != '\0'; text++) {
        if (*text == ' ')
            continue;
        if (count == 0 || text[-1] == ' ')
            groups[count++] = (struct hr_perf_event_group){.events = &members[member]};
        members[member++] = &events[*text - '0'];
        groups[count - 1].count++;
    }
    perf_options.groups = groups;
    perf_options.group_count = count;
    perf_options.calls = &fake_perf_calls;
}

void open_perf(const char *text)
{
    set_groups(text);
    ck_assert_int_eq(hr_perf_open(root, &perf_options, &perf), 0);
    memset(groups, 0, sizeof(groups)); /* the array may be reused */
}

int open_perf_bpf(const char *text, struct hr_reason *reason)
{
    set_groups(text);
    tree_add_group(tree, "headroom-test", true);
    int status = hr_perf_open_bpf(root, &perf_options, &perf, reason);
    memset(groups, 0, sizeof(groups));
    return status;
}

void close_perf(void)
{
    while (target_count > 0)
        close_target(targets[target_count - 1].target);
    hr_perf_close(perf);
    perf = NULL;
}

/* --- CPUs ----------------------------------------------------------------- */

void set_online(const char *cpus)
{
    tree_write(tree, "sys/devices/system/cpu/online", "%s\n", cpus);
}

void add_cpus(unsigned count)
{
    char text[16];

    for (unsigned cpu = 0; cpu < count; cpu++)
        add_cpu(cpu);
    snprintf(text, sizeof(text), "0-%u", count - 1);
    set_online(text);
}

static void print_topology(char path[64], unsigned cpu)
{
    snprintf(path, 64, "sys/devices/system/cpu/cpu%u/topology", cpu);
}

void add_cpu(unsigned cpu)
{
    char path[64];

    print_topology(path, cpu);
    tree_add_directory(tree, path);
}

void renew_cpu(unsigned cpu)
{
    char path[64];

    print_topology(path, cpu);
    tree_remove(tree, path);
    tree_add_directory(tree, path);
}

void set_release(const char *release)
{
    tree_write(tree, "proc/sys/kernel/osrelease", "%s\n", release);
}

/* --- Targets -------------------------------------------------------------- */

static struct hr_perf_target *remember_target(struct hr_perf_target *target,
                                              struct hr_cgroup_set *set)
{
    ck_assert_uint_lt(target_count, MAX_TARGETS);
    targets[target_count].set = set;
    targets[target_count++].target = target;
    return target;
}

struct hr_perf_target *open_machine(void)
{
    struct hr_perf_target *target;

    ck_assert_int_eq(hr_perf_target_open_system(perf, &target), 0);
    return remember_target(target, NULL);
}

struct hr_perf_target *open_cgroup(const char *path)
{
    const struct hr_cgroup_options options = {.patterns = &path, .pattern_count = 1};
    struct hr_perf_target *target;
    struct hr_cgroup_set *set;

    tree_add_group(tree, path, true);
    ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
    ck_assert_int_eq(hr_cgroup_set_read(set), 0);
    struct hr_cgroup *group = hr_cgroup_set_next(set, NULL);
    ck_assert_ptr_nonnull(group);
    ck_assert_int_eq(hr_perf_target_open_cgroup(perf, group, &target), 0);
    return remember_target(target, set);
}

uint64_t id_of(const char *path)
{
    struct stat about;
    char full[512];

    snprintf(full, sizeof(full), "%s/" TREE_CGROUPS "/%s", tree_path(tree), path);
    ck_assert_int_eq(stat(full, &about), 0);
    return about.st_ino;
}

void close_target(struct hr_perf_target *target)
{
    size_t i = 0;

    while (i < target_count && targets[i].target != target)
        i++;
    ck_assert_uint_lt(i, target_count);
    hr_perf_target_close(target);
    hr_cgroup_set_close(targets[i].set);
    targets[i] = targets[--target_count];
}

int read_target(struct hr_perf_target *target)
{
    ck_assert_int_eq(hr_perf_read(perf), 0);
    return hr_perf_target_read(target);
}

void add_counted(uint64_t target, unsigned cpu, uint64_t leader, uint64_t count, uint64_t time_ns)
{
    fake_perf_add_count(target, cpu, leader, count);
    fake_perf_add_times(target, cpu, leader, time_ns, time_ns);
}

int status_of(enum hr_perf_scope scope, size_t group, size_t event)
{
    return hr_perf_status(perf, scope, group, event);
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = __real_clock_gettime(clock, now);

    const uint64_t ns = clock == CLOCK_THREAD_CPUTIME_ID ? stopped_ns - idle_ns : stopped_ns;

    if (stopped_ns != 0)
        *now = (struct timespec){.tv_sec = (time_t)(ns / HR_NS_PER_S),
                                 .tv_nsec = (long)(ns % HR_NS_PER_S)};
    now->tv_sec += skipped_s;
    return status;
}

void stop_clock(void)
{
    stopped_ns = hr_clock_ns();
}

void advance_clock(uint64_t ns)
{
    stopped_ns += ns;
}

void let_others_run(uint64_t ns)
{
    stopped_ns += ns;
    idle_ns += ns;
}

void wait_for_retry(void)
{
    skipped_s += RETRY_S;
}

void check_value(const struct hr_perf_value *value, bool counted, uint64_t total, uint64_t delta,
                 const char *file, int line)
{
    ck_assert_msg(value->counted == counted, "%s:%d: counted is %d", file, line, value->counted);
    ck_assert_msg(value->total == total, "%s:%d: the total is %" PRIu64 ", not %" PRIu64, file,
                  line, value->total, total);
    ck_assert_msg(value->delta == delta, "%s:%d: the delta is %" PRIu64 ", not %" PRIu64, file,
                  line, value->delta, delta);
}

/* --- Fixture -------------------------------------------------------------- */

void set_up(void)
{
    target_count = 0;
    skipped_s = 0;
    stopped_ns = idle_ns = 0;
    perf = NULL;
    perf_options = (struct hr_perf_options){0};
    for (uint64_t config = 1; config <= MAX_CONFIG; config++)
        make_plain(config);
    tree = tree_new();
    add_cpu(0);
    add_cpu(1);
    set_online("0-1");
    set_release(RIGHT_RELEASE);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    fake_perf_reset();
}

void tear_down(void)
{
    close_perf();
    hr_root_close(root);
    tree_free(tree);
    fake_perf_reset();
}
