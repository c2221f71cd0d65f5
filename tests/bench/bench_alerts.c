/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_alerts.c - the cost and the latency of alerts.
 *
 *     bench_alerts
 *
 * Latency: from the moment in which the kernel wakes the thread of the alerts (the tracepoint
 * sched:sched_waking) until collectd's handler of notifications is called, over 100 events or more;
 * against a bare loop of epoll and pread on triggers of its own, on the same groups, in the same
 * run.
 *
 * Idle cost: CPU time of the thread while triggers of 1,000 groups are armed and nothing happens.
 */
#include "support/fake_collectd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "bench.h"
#include "support/groups.h"
#include "wakings.h"

#define HOGS        12 /* groups under load */
#define EVENTS      100
#define PATIENCE_S  60
#define EVENTS_MAX  4096
#define WINDOW_NS   UINT64_C(2000000000)
#define IDLE_GROUPS 1000
#define IDLE_S      10

#define OUR_THREAD  "psi alerts"
#define BARE_THREAD "bare loop"

/* When a thread handled events, and of which groups. */
struct handled {
    pid_t tid;
    size_t count;
    struct {
        size_t group;
        uint64_t time_ns;
    } events[EVENTS_MAX];
};

static struct handled ours, bare;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void record_event(struct handled *handled, size_t group)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    size_t count = __atomic_load_n(&handled->count, __ATOMIC_RELAXED);

    handled->tid = gettid();
    if (count == EVENTS_MAX)
        return;
    handled->events[count].group = group;
    handled->events[count].time_ns = now;
    __atomic_store_n(&handled->count, count + 1, __ATOMIC_RELEASE);
}

static void on_notification(const notification_t *notification, void *context)
{
    const char *number = strrchr(notification->plugin_instance, 'g');

    (void)context;
    if (notification->severity == NOTIF_WARNING && number != NULL)
        record_event(&ours, strtoul(number + 1, NULL, 10));
}

/* --- Loads ---------------------------------------------------------------- */

static void name_group(char name[32], size_t number)
{
    snprintf(name, 32, "g%zu", number);
}

/* --- The bare loop -------------------------------------------------------- */

static struct groups *bare_groups;

static void *run_bare(void *context)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC), fds[HOGS];
    struct epoll_event events[HOGS];
    char path[64], text[512];

    (void)context;
    for (size_t i = 0; i < HOGS; i++) {
        struct epoll_event event = {.events = EPOLLPRI, .data.u64 = i};
        snprintf(path, sizeof(path), "g%zu/cpu.pressure", i);
        fds[i] = openat(groups_dirfd(bare_groups), path, O_RDWR | O_NONBLOCK);
        require(fds[i] >= 0 && write(fds[i], "some 100000 2000000", 20) == 20,
                "arm a bare trigger");
        require(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) == 0, "epoll");
    }
    for (;;) {
        int count = epoll_wait(epoll, events, HOGS, -1);
        for (int i = 0; i < count; i++)
            if (pread(fds[events[i].data.u64], text, sizeof(text), 0) > 0)
                record_event(&bare, events[i].data.u64);
    }
    return NULL;
}

/* --- Latency -------------------------------------------------------------- */

/* When the previous event of the group was handled; 0: there was none. */
static uint64_t find_former(const struct handled *handled, size_t index)
{
    for (size_t i = index; i-- > 0;)
        if (handled->events[i].group == handled->events[index].group)
            return handled->events[i].time_ns;
    return 0;
}

/* When the kernel signalled the event that was handled: it wakes the bare loop and the plugin one
 * after the other. 0: it signalled none, or so early after the last that the plugin had to ignore
 * it; then the plugin found the stall by its own clock, as it does without CAP_SYS_RESOURCE. */
static uint64_t find_kernel_event(const struct wakings *wakings, const struct handled *handled,
                                  size_t index)
{
    const uint64_t former_ns = find_former(handled, index);
    const uint64_t time_ns = handled->events[index].time_ns;
    uint64_t latest = 0;

    for (size_t i = 0; i < bare.count; i++) {
        if (bare.events[i].group != handled->events[index].group)
            continue;
        const struct waking *waking = wakings_find(wakings, bare.tid, bare.events[i].time_ns);
        if (waking != NULL && waking->time_ns <= time_ns && waking->time_ns > latest)
            latest = waking->time_ns;
    }
    return former_ns == 0 || latest > former_ns + WINDOW_NS / 100 * 95 ? latest : 0;
}

static void print_latencies(const char *who, const struct handled *handled,
                            const struct wakings *wakings)
{
    static double late_us[EVENTS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < handled->count; i++) {
        uint64_t event_ns = find_kernel_event(wakings, handled, i);
        if (event_ns != 0)
            late_us[count++] = (double)(handled->events[i].time_ns - event_ns) / 1000;
    }
    require(count > 0, "no event of the kernel's was handled");
    qsort(late_us, count, sizeof(late_us[0]), by_value);
    printf("%-28s %6zu %9zu %8.0f %8.0f %8.0f\n", who, count, handled->count - count,
           late_us[count / 2], late_us[(count * 99 + 99) / 100 - 1], late_us[count - 1]);
}

static void start_plugin(const char *pattern, const char *mode, double stall_s)
{
    char text[1024];

    fake_start("psi");
    snprintf(text, sizeof(text),
             "<Plugin psi>\nSystem false\nCgroup \"%s\"\nMaxCgroups 100000\n"
             "MaxNotificationsPerSecond 1000\n<Trigger \"bench\">\nResource \"cpu\"\nStall %.3f\n"
             "Window 2\nScope \"cgroups\"\nMode \"%s\"\n</Trigger>\n</Plugin>\n",
             pattern, stall_s, mode);
    require(fake_configure(text) == 0 && fake_init() == 0, "begin the plugin");
}

/* The load has the first CPU, we the last: how long a thread waits for a busy CPU is not measured
 * here. */
static void leave_first_cpu(void)
{
    cpu_set_t last;

    CPU_ZERO(&last);
    CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
    require(sched_setaffinity(0, sizeof(last), &last) == 0, "leave the first CPU");
}

static void measure_latency(struct groups *groups)
{
    struct wakings *wakings = wakings_open(OUR_THREAD, BARE_THREAD);
    char name[32], pattern[128];
    pthread_t thread;

    require(wakings != NULL, "trace the scheduler");
    leave_first_cpu();
    for (size_t i = 0; i < HOGS; i++) {
        name_group(name, i);
        groups_make(groups, name);
        groups_start_busy(groups, name, 0);
        usleep(2000000 / HOGS); /* so that the kernel checks them one by one */
    }
    bare_groups = groups;
    require(pthread_create(&thread, NULL, run_bare, NULL) == 0, "start a thread");
    pthread_setname_np(thread, BARE_THREAD);
    fake_on_notification(on_notification, NULL);
    snprintf(pattern, sizeof(pattern), "%s/*", groups_path(groups));
    start_plugin(pattern, "kernel", 0.1);
    for (int i = 0; i < 10 * PATIENCE_S; i++) {
        usleep(100000);
        wakings_read(wakings);
        if (__atomic_load_n(&ours.count, __ATOMIC_ACQUIRE) >= 2 * EVENTS)
            break;
    }
    fake_shutdown();
    wakings_read(wakings);
    printf("alerts: from the kernel's waking to the handler of notifications, in us\n\n"
           "%-28s %6s %9s %8s %8s %8s\n",
           "", "events", "by clock", "p50", "p99", "max");
    print_latencies("bare epoll and pread", &bare, wakings);
    print_latencies("plugin psi", &ours, wakings);
    wakings_close(wakings);
}

/* --- Idle cost ------------------------------------------------------------ */

static pid_t find_thread(const char *name)
{
    char path[64], found[32];

    for (pid_t tid = getpid(); tid < getpid() + 10000; tid++) {
        snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        bool same =
            fgets(found, sizeof(found), file) != NULL && strncmp(found, name, strlen(name)) == 0;
        fclose(file);
        if (same)
            return tid;
    }
    require(false, "the thread of the alerts isn't found");
    return -1;
}

/* CPU time of a thread. */
static double thread_us(pid_t tid)
{
    char path[64];
    unsigned long long ns = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)tid);
    FILE *file = fopen(path, "r");
    require(file != NULL && fscanf(file, "%llu", &ns) == 1, path);
    fclose(file);
    return (double)ns / 1000;
}

/* Each group has a series once it is armed. */
static void await_armed(void)
{
    for (int i = 0; i < 10 * PATIENCE_S; i++) {
        fake_read();
        if (fake_count("*/derive-trigger_bench") == IDLE_GROUPS)
            return;
        usleep(100000);
    }
    require(false, "not all groups were armed");
}

static void measure_idle(struct groups *groups, const char *mode)
{
    char pattern[128];

    snprintf(pattern, sizeof(pattern), "%s/*", groups_path(groups));
    start_plugin(pattern, mode, 1.9);
    await_armed();
    pid_t tid = find_thread(OUR_THREAD);
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    double before = thread_us(tid);
    sleep(IDLE_S);
    double spent = thread_us(tid) - before;
    double elapsed = (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1000;
    printf("%d groups armed, mode %-8s %6.3f %% of a CPU\n", IDLE_GROUPS, mode,
           100 * spent / elapsed);
    fake_shutdown();
    fake_stop();
}

/* --- In processes of their own, as the plugin is opened once in each ------ */

static void in_child(void (*measure)(struct groups *groups), struct groups *groups)
{
    int status;

    fflush(stdout);
    pid_t pid = fork();
    require(pid >= 0, "fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        measure(groups);
        fflush(stdout);
        _exit(0);
    }
    require(waitpid(pid, &status, 0) == pid && status == 0, "a measurement failed");
}

static void measure_idle_kernel(struct groups *groups)
{
    measure_idle(groups, "kernel");
}

static void measure_idle_poll(struct groups *groups)
{
    measure_idle(groups, "poll");
}

int main(void)
{
    struct rlimit limit = {20000, 20000};
    char name[32];

    require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "raise the limit of descriptors");
    struct groups *groups = groups_new();
    require(groups != NULL, "make cgroups");
    in_child(measure_latency, groups);
    for (size_t i = 0; i < HOGS; i++) {
        name_group(name, i);
        groups_remove(groups, name);
    }
    for (size_t i = 0; i < IDLE_GROUPS; i++) {
        name_group(name, i);
        groups_make(groups, name);
        groups_start_sleeper(groups, name);
    }
    putchar('\n');
    in_child(measure_idle_kernel, groups);
    in_child(measure_idle_poll, groups);
    groups_free(groups);
    return 0;
}
