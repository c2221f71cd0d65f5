/* SPDX-License-Identifier: MIT */
#include "collectors/perf/perf_live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "headroom/reason.h"
#include "perf/calls.h"

#define MAX_TARGETS 8

struct groups *groups;
struct hr_root *root;
struct hr_perf *perf;

static struct hr_perf *other_perf; /* NULL: none yet */

static struct {
    struct hr_perf_target *target;
    struct hr_cgroup_set *set; /* NULL: the machine */
} targets[MAX_TARGETS];
static size_t target_count;

/* --- Events --------------------------------------------------------------- */

static struct hr_perf_encoding encodings[LIVE_EVENT_COUNT] = {
    [LIVE_TASK_CLOCK] = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK}},
    [LIVE_SWITCHES] = {.attr = {.type = PERF_TYPE_SOFTWARE,
                                .config = PERF_COUNT_SW_CONTEXT_SWITCHES}},
    [LIVE_FAULTS] = {.attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}},
};
static struct hr_perf_event events[LIVE_EVENT_COUNT];
static struct hr_perf_event *members[LIVE_EVENT_COUNT];
static struct hr_perf_event_group lines[2] = {{.events = members}};

static struct hr_perf_options perf_options = {
    .groups = lines, .group_count = 1, .max_targets = 8, .slice_ns = UINT64_MAX};

static void make_events(void)
{
    FILE *file = fopen("/sys/bus/event_source/devices/msr/type", "r");
    unsigned type;

    lines[0].count = LIVE_TSC;
    if (file != NULL && fscanf(file, "%u", &type) == 1 &&
        access("/sys/bus/event_source/devices/msr/events/tsc", R_OK) == 0) {
        encodings[LIVE_TSC].attr.type = type;
        lines[0].count = LIVE_EVENT_COUNT;
    }
    if (file != NULL)
        fclose(file);
    for (size_t i = 0; i < lines[0].count; i++) {
        encodings[i].attr.size = sizeof(encodings[i].attr);
        encodings[i].every_cpu = true;
        events[i] = (struct hr_perf_event){.encoding_count = 1, .encodings = &encodings[i]};
        members[i] = &events[i];
    }
}

static size_t count_events(void)
{
    return lines[0].count + lines[1].count;
}

/* Of its two lines, the one of LIVE_FAULTS is the second. */
static struct hr_perf_value value_of(const struct hr_perf_target *target, size_t event)
{
    if (lines[1].count == 0 || event < LIVE_FAULTS)
        return hr_perf_target_value(target, 0, event);
    return event == LIVE_FAULTS ? hr_perf_target_value(target, 1, 0)
                                : hr_perf_target_value(target, 0, event - 1);
}

void live_make_exception(void)
{
    static struct hr_perf_event *exception[] = {&events[LIVE_FAULTS]};

    encodings[LIVE_FAULTS].attr.inherit = 1;
    lines[1] = (struct hr_perf_event_group){.events = exception, .count = 1};
    lines[0].count--;
    members[LIVE_FAULTS] = members[LIVE_TSC];
    perf_options.group_count = 2;
}

bool live_has_tsc(void)
{
    return count_events() > LIVE_TSC;
}

void live_count(struct hr_perf_event *event)
{
    members[0] = event;
    lines[0].count = 1;
}

/* --- Requirements --------------------------------------------------------- */

const char *live_obstacle(void)
{
    const char *obstacle = NULL;
    int version = 0;

    make_events();
    if (hr_root_open("/", &root) < 0)
        return "there is no root";
    int mount = hr_root_open_cgroup(root, "perf_event", &version);
    struct groups *made = mount >= 0 && version == 2 ? groups_new() : NULL;
    if (made == NULL) {
        obstacle = "no cgroup2 hierarchy with perf_event that can be written to (root is needed)";
    } else {
        int fd = hr_perf_kernel_calls.open(&encodings[0].attr, groups_dirfd(made), 0, -1,
                                           PERF_FLAG_PID_CGROUP);
        if (fd < 0)
            obstacle = "perf events aren't permitted, or not of cgroups";
        else
            hr_perf_kernel_calls.close(fd);
        groups_free(made);
    }
    if (mount >= 0)
        close(mount);
    hr_root_close(root);
    return obstacle;
}

const char *live_bpf_obstacle(void)
{
    static struct hr_reason reason;
    const char *obstacle = live_obstacle();
    struct hr_perf *opened;

    if (obstacle != NULL)
        return obstacle;
    if (hr_root_open("/", &root) < 0)
        return "there is no root";
    int status = hr_perf_open_bpf(root, &perf_options, &opened, &reason);
    if (status == 0)
        hr_perf_close(opened);
    hr_root_close(root);
    return status == 0 ? NULL : reason.text;
}

/* --- Targets -------------------------------------------------------------- */

struct hr_perf_target *live_open(const char *name)
{
    char path[128];
    const char *pattern = path;
    const struct hr_cgroup_options options = {.patterns = &pattern, .pattern_count = 1};
    struct hr_cgroup_set *set = NULL;
    struct hr_perf_target *target;

    ck_assert_uint_lt(target_count, MAX_TARGETS);
    if (name == NULL) {
        ck_assert_int_eq(hr_perf_target_open_system(perf, &target), 0);
    } else {
        snprintf(path, sizeof(path), "%s/%s", groups_path(groups), name);
        ck_assert_int_eq(hr_cgroup_set_open(root, &options, &set), 0);
        ck_assert_int_eq(hr_cgroup_set_read(set), 0);
        const struct hr_cgroup *found = hr_cgroup_set_next(set, NULL);
        ck_assert_ptr_nonnull(found); /* it must have a process */
        ck_assert_int_eq(hr_perf_target_open_cgroup(perf, found, &target), 0);
    }
    targets[target_count].target = target;
    targets[target_count++].set = set;
    return target;
}

void live_close(struct hr_perf_target *target)
{
    size_t i = 0;

    while (targets[i].target != target)
        i++;
    hr_perf_target_close(target);
    hr_cgroup_set_close(targets[i].set);
    targets[i] = targets[--target_count];
}

void live_swap(void)
{
    struct hr_perf *swapped = other_perf;

    if (swapped == NULL)
        ck_assert_int_eq(hr_perf_open(root, &perf_options, &swapped), 0);
    other_perf = perf;
    perf = swapped;
}

/* Of a failure. */
static void print_times(const struct hr_perf_target *target, size_t event)
{
    unsigned cpu;

    for (size_t i = 0; hr_perf_target_cpu(target, i, &cpu); i++) {
        const struct hr_perf_value value = hr_perf_target_cpu_value(target, i, 0, event);
        printf("# event %zu on CPU %u: %.6f s enabled, %.6f s running, total %llu\n", event, cpu,
               (double)value.enabled_ns / HR_NS_PER_S, (double)value.running_ns / HR_NS_PER_S,
               (unsigned long long)value.total);
    }
}

struct live_counts live_read(struct hr_perf_target *target)
{
    struct live_counts counts = {{0}};

    ck_assert_int_eq(hr_perf_read(perf), 0);
    ck_assert_int_eq(hr_perf_target_read(target), 0);
    for (size_t i = 0; i < count_events(); i++) {
        struct hr_perf_value value = value_of(target, i);
        ck_assert(value.counted);
        if (value.running_ns != value.enabled_ns && lines[1].count == 0)
            print_times(target, i);
        ck_assert_uint_eq(value.running_ns, value.enabled_ns); /* these have no counters to share */
        counts.of[i] = value.total;
    }
    return counts;
}

struct live_counts live_read_since(struct hr_perf_target *target, const struct live_counts *before)
{
    struct live_counts counts = live_read(target);

    for (size_t i = 0; i < count_events(); i++)
        counts.of[i] -= before->of[i];
    return counts;
}

/* --- Clocks --------------------------------------------------------------- */

uint64_t live_cpu_time_ns(pid_t pid)
{
    struct timespec time;
    clockid_t clock;

    ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
    ck_assert_int_eq(clock_gettime(clock, &time), 0);
    return (uint64_t)time.tv_sec * HR_NS_PER_S + (uint64_t)time.tv_nsec;
}

void live_nap(unsigned ms, uint64_t took_ns)
{
    const uint64_t nap_ns = ms * HR_NS_PER_MS;

    usleep(
        (useconds_t)((took_ns > LIVE_SHORT_NS ? nap_ns / LIVE_SHORT_NS * took_ns : nap_ns) / 1000));
}

/* --- The worker ----------------------------------------------------------- */

static pid_t worker; /* 0: there is none */
static int worker_pipes[2];

/* With AddressSanitizer, each eighth page would touch a page of its shadow memory, too. */
__attribute__((no_sanitize("address"))) static void touch_pages(unsigned count)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * count;
    volatile char *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || madvise((void *)memory, size, MADV_NOHUGEPAGE) < 0)
        _exit(1);
    for (size_t i = 0; i < size; i += page)
        memory[i] = 1;
    munmap((void *)memory, size);
}

static void do_work(const struct live_work *work)
{
    const uint64_t end = live_cpu_time_ns(0) + work->spin_ms * HR_NS_PER_MS;

    if (work->pages > 0)
        touch_pages(work->pages);
    for (unsigned i = 0; i < work->sleeps; i++)
        usleep(500);
    signal(SIGUSR1, SIG_IGN);
    for (unsigned i = 0; i < work->signals; i++)
        raise(SIGUSR1);
    while (work->spin_ms > 0 && live_cpu_time_ns(0) < end)
        for (volatile unsigned i = 0; i < 10000; i++)
            continue;
}

__attribute__((noreturn)) static void be_worker(const char *name, int in, int out)
{
    struct live_work work;
    char own[16];

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed test leaves no process behind */
    snprintf(own, sizeof(own), "%d", (int)getpid());
    groups_write(groups, name, "cgroup.procs", own);
    while (write(out, "", 1) == 1 && read(in, &work, sizeof(work)) == sizeof(work))
        do_work(&work);
    _exit(0);
}

static void wait_for_worker(void)
{
    char byte;

    ck_assert_int_eq(read(worker_pipes[0], &byte, 1), 1);
    groups_await_sleep(worker);
}

pid_t live_start_worker(const char *name)
{
    const struct live_work warming_up = {.spin_ms = 1, .pages = 2, .sleeps = 2};
    int in[2], out[2];

    ck_assert_int_eq(worker, 0);
    ck_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    worker = fork();
    ck_assert_int_ge(worker, 0);
    if (worker == 0) {
        close(in[1]);
        close(out[0]);
        be_worker(name, in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    worker_pipes[0] = out[0];
    worker_pipes[1] = in[1];
    wait_for_worker();
    live_work(&warming_up);
    return worker;
}

void live_work(const struct live_work *work)
{
    ck_assert_int_eq(write(worker_pipes[1], work, sizeof(*work)), sizeof(*work));
    wait_for_worker();
}

/* --- Fixture -------------------------------------------------------------- */

static void set_up(void)
{
    worker = 0;
    target_count = 0;
    other_perf = NULL;
    groups = groups_new();
    ck_assert_ptr_nonnull(groups);
    ck_assert_int_eq(hr_root_open("/", &root), 0);
}

void live_set_up(void)
{
    set_up();
    ck_assert_int_eq(hr_perf_open(root, &perf_options, &perf), 0);
}

void live_set_up_bpf(void)
{
    set_up();
    ck_assert_int_eq(hr_perf_open_bpf(root, &perf_options, &perf, NULL), 0);
}

void live_open_again(void)
{
    while (target_count > 0)
        live_close(targets[target_count - 1].target);
    hr_perf_close(perf);
    ck_assert_int_eq(hr_perf_open(root, &perf_options, &perf), 0);
}

void live_tear_down(void)
{
    if (worker > 0) {
        kill(worker, SIGKILL);
        waitpid(worker, NULL, 0);
        close(worker_pipes[0]);
        close(worker_pipes[1]);
    }
    while (target_count > 0)
        live_close(targets[target_count - 1].target);
    hr_perf_close(perf);
    hr_perf_close(other_perf);
    hr_root_close(root);
    groups_free(groups);
}
