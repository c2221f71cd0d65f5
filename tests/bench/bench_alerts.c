/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_alerts.c - the cost and the latency of alerts.
 *
 *     bench_alerts [removals | system | latency | cost]
 *
 * Without an argument, all of it.
 *
 * Latency of the kernel's triggers, where it accepts them: from the moment in which the kernel
 * wakes the thread of the alerts (the tracepoint sched:sched_waking) until collectd's handler of
 * notifications is called, over 100 events or more; against a bare loop of epoll and pread on
 * triggers of its own, on the same groups, in the same run. So that of the system's trigger.
 *
 * Latency of polled triggers: from the limit's crossing, seen by a bare loop that reads the totals
 * every 20 ms, to the handler; where nothing had stalled before, and where something had.
 *
 * Cost: CPU time of the thread with triggers on 1,000 groups in which nothing happens, or 50 stall,
 * against a bare loop that reads each of their files once a window; the rules on memory and io have
 * the stalls and windows of contrib/collectd.conf.d/psi.conf.
 *
 * Side effects: how long the removal of a group takes, with 1,000 a second that come and go.
 */
#include "support/fake_collectd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "bench.h"
#include "support/groups.h"
#include "wakings.h"

#define HOGS        12 /* groups under load */
#define EVENTS      100
#define PATIENCE_S  60
#define EVENTS_MAX  4096
#define IDLE_GROUPS 1000
#define IDLE_S      30

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
static bool of_system; /* the trigger is one of the system, which is number 0 */
static pid_t our_thread;
static char state_file[64];

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

/* Each event is reported again; the first of an alarm waits until its causes are found. */
static bool only_repeats;

static void on_notification(const notification_t *notification, void *context)
{
    const char *number = strrchr(notification->plugin_instance, 'g');

    (void)context;
    if (only_repeats && strstr(notification->message, ", for ") == NULL)
        return;
    if (notification->severity == NOTIF_WARNING && (number != NULL || of_system))
        record_event(&ours, of_system ? 0 : strtoul(number + 1, NULL, 10));
}

/* --- Threads -------------------------------------------------------------- */

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

/* --- Loads ---------------------------------------------------------------- */

static void name_group(char name[32], size_t number)
{
    snprintf(name, 32, "g%zu", number);
}

/* --- The bare loop -------------------------------------------------------- */

static struct groups *bare_groups;

static unsigned window_ms(void)
{
    return of_system ? 500 : 2000;
}

static void arm_bare_trigger(int epoll, size_t number, int *fd)
{
    struct epoll_event event = {.events = EPOLLPRI, .data.u64 = number};
    char path[64], text[64];

    snprintf(path, sizeof(path), "g%zu/cpu.pressure", number);
    *fd = of_system ? open("/proc/pressure/cpu", O_RDWR | O_NONBLOCK)
                    : openat(groups_dirfd(bare_groups), path, O_RDWR | O_NONBLOCK);
    int length = snprintf(text, sizeof(text), "some %u %u", window_ms() * 50, window_ms() * 1000);
    require(*fd >= 0 && write(*fd, text, (size_t)length + 1) == length + 1, "arm a bare trigger");
    require(epoll_ctl(epoll, EPOLL_CTL_ADD, *fd, &event) == 0, "epoll");
}

static void *run_bare(void *context)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC), fds[HOGS];
    struct epoll_event events[HOGS];
    char text[512];

    (void)context;
    for (size_t i = 0; i < (of_system ? 1 : HOGS); i++)
        arm_bare_trigger(epoll, i, &fds[i]);
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

/* Of the system: when the kernel's thread that watches it, which has woken the bare loop, last woke
 * the plugin's. 0: not since the event before. */
static uint64_t find_system_event(const struct wakings *wakings, const struct handled *handled,
                                  size_t index)
{
    const struct waking *of_bare = wakings_find(wakings, bare.tid, 0, bare.events[0].time_ns);
    const pid_t woken = handled == &bare ? bare.tid : our_thread;
    const uint64_t until_ns = handled->events[index].time_ns;

    require(of_bare != NULL, "the bare loop was not woken");
    const struct waking *waking = wakings_find(wakings, woken, of_bare->waker, until_ns);
    return waking != NULL && waking->time_ns > find_former(handled, index) ? waking->time_ns : 0;
}

/* Of groups: when the kernel signalled the event that was handled: it wakes the bare loop and the
 * plugin one after the other. 0: it signalled none to the bare loop. */
static uint64_t find_kernel_event(const struct wakings *wakings, const struct handled *handled,
                                  size_t index)
{
    const uint64_t former_ns = find_former(handled, index);
    const uint64_t time_ns = handled->events[index].time_ns;
    uint64_t latest = 0;

    for (size_t i = 0; i < bare.count; i++) {
        if (bare.events[i].group != handled->events[index].group)
            continue;
        const struct waking *waking = wakings_find(wakings, bare.tid, 0, bare.events[i].time_ns);
        if (waking != NULL && waking->time_ns <= time_ns && waking->time_ns > latest)
            latest = waking->time_ns;
    }
    return former_ns == 0 || latest > former_ns + window_ms() * UINT64_C(950000) ? latest : 0;
}

static void print_latencies(const char *who, const struct handled *handled,
                            const struct wakings *wakings)
{
    static double late_us[EVENTS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < handled->count; i++) {
        uint64_t event_ns = of_system ? find_system_event(wakings, handled, i)
                                      : find_kernel_event(wakings, handled, i);
        if (event_ns != 0)
            late_us[count++] = (double)(handled->events[i].time_ns - event_ns) / 1000;
    }
    require(count > 0, "no event of the kernel's was handled");
    qsort(late_us, count, sizeof(late_us[0]), by_value);
    printf("%-28s %6zu %9zu %8.0f %8.0f %8.0f\n", who, count, handled->count - count,
           late_us[count / 2], late_us[(count * 99 + 99) / 100 - 1], late_us[count - 1]);
}

/* Starts the plugin with a rule, as if for the first time: no alarm is open.
 *
 * @param more  further options of the rule. */
static void start_plugin(const char *pattern, const char *mode, double stall_s, unsigned window_s,
                         const char *more)
{
    char text[1024];

    unlink(state_file);
    fake_start("psi");
    snprintf(text, sizeof(text),
             "<Plugin psi>\nSystem false\nCgroup \"%s\"\nMaxCgroups 100000\n"
             "MaxNotificationsPerSecond 1000\nStateFile \"%s\"\n<Trigger \"bench\">\nResource "
             "\"cpu\"\nStall %.3f\n"
             "Window %u\nQuiet 1\nScope \"cgroups\"\nMode \"%s\"\n%s</Trigger>\n</Plugin>\n",
             pattern, state_file, stall_s, window_s, mode, more);
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

/* Of the kernel's triggers. */
static void measure_latency(struct groups *groups)
{
    struct wakings *wakings = wakings_open(OUR_THREAD, BARE_THREAD);
    char name[32], pattern[128], options[128];
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
    only_repeats = true;
    snprintf(options, sizeof(options), "Repeat 0.1\nScope \"%s\"\nStall %.3f\nWindow %.1f\n",
             of_system ? "system" : "cgroups", window_ms() / 20e3, window_ms() / 1e3);
    start_plugin(pattern, "kernel", 0.1, 2, options);
    for (int i = 0; i < 20 * PATIENCE_S; i++) {
        usleep(100000);
        wakings_read(wakings);
        if (__atomic_load_n(&ours.count, __ATOMIC_ACQUIRE) >= 2 * EVENTS)
            break;
    }
    our_thread = find_thread(OUR_THREAD);
    fake_shutdown();
    wakings_read(wakings);
    printf("alerts of %s: from the kernel's waking to the handler of notifications, in us\n\n"
           "%-28s %6s %9s %8s %8s %8s\n",
           of_system ? "the system" : "groups", "", "events", "by clock", "p50", "p99", "max");
    print_latencies("bare epoll and pread", &bare, wakings);
    print_latencies("plugin psi", &ours, wakings);
    wakings_close(wakings);
}

/* --- Idle cost ------------------------------------------------------------ */

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

struct rule {
    const char *resource, *mode;
    double stall_s;
    unsigned window_s;
};

static void print_cost(const char *resource, const char *what, const char *mode, unsigned window_s,
                       double share)
{
    printf("%d groups, %-6s %-10s %-9s window %u s  %6.3f %% of a CPU\n", IDLE_GROUPS, resource,
           what, mode, window_s, 100 * share);
}

/* Prints the share of a CPU that the thread takes. */
static void measure_cost(struct groups *groups, const struct rule *rule, const char *what)
{
    char pattern[128], more[64];

    snprintf(pattern, sizeof(pattern), "%s/*", groups_path(groups));
    snprintf(more, sizeof(more), "Resource \"%s\"\n", rule->resource);
    start_plugin(pattern, rule->mode, rule->stall_s, rule->window_s, more);
    await_armed();
    sleep(3 * rule->window_s);
    pid_t tid = find_thread(OUR_THREAD);
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    double before = thread_us(tid);
    sleep(IDLE_S);
    double spent = thread_us(tid) - before;
    double elapsed = (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1000;
    print_cost(rule->resource, what, rule->mode, rule->window_s, spent / elapsed);
    fake_shutdown();
    fake_stop();
}

static void open_pressures(struct groups *groups, int fds[IDLE_GROUPS])
{
    char path[64];

    for (size_t i = 0; i < IDLE_GROUPS; i++) {
        snprintf(path, sizeof(path), "g%zu/cpu.pressure", i);
        fds[i] = openat(groups_dirfd(groups), path, O_RDONLY | O_CLOEXEC);
        require(fds[i] >= 0, path);
    }
}

/* Reads each file once a window, a tenth of them in each tenth of a window, as the plugin does. */
static void measure_bare_cost(struct groups *groups, unsigned window_s)
{
    static int fds[IDLE_GROUPS];
    char text[512];
    const unsigned tenths = IDLE_S * 10 / window_s;

    open_pressures(groups, fds);
    uint64_t start = clock_ns(CLOCK_MONOTONIC), before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned tenth = 0; tenth < tenths; tenth++) {
        for (size_t i = 0; i < IDLE_GROUPS / 10; i++)
            require(pread(fds[tenth % 10 * IDLE_GROUPS / 10 + i], text, sizeof(text), 0) > 0,
                    "read a pressure file");
        usleep(window_s * 100000);
    }
    double spent = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
    print_cost("cpu", "idle", "bare loop", window_s,
               spent / (double)(clock_ns(CLOCK_MONOTONIC) - start));
    for (size_t i = 0; i < IDLE_GROUPS; i++)
        close(fds[i]);
}

/* --- Latency of polling --------------------------------------------------- */

#define POLL_LIMIT_US 150000
#define CYCLES        8

/* The totals are read seldom: what a CPU did in less than a jiffy between two reads is lost. A
 * cycle isn't a multiple of the window, so that the loads begin at any time between two reads of
 * ours. */
enum {
    WINDOW_MS = 1000,
    LOOK_MS = 20,
    CYCLE_MS = 6620,
    START_MS = 5000,
    LOOKS = WINDOW_MS / LOOK_MS
};

static pid_t loads[HOGS];
static int total_fds[HOGS];
static uint64_t crossings_ns[HOGS];

static uint64_t read_group_total(size_t group)
{
    char text[256];
    unsigned long long total_us;

    ssize_t length = pread(total_fds[group], text, sizeof(text) - 1, 0);
    require(length > 0, "read a total");
    text[length] = '\0';
    require(sscanf(text, "some %*s %*s %*s total=%llu", &total_us) == 1, "read a total");
    return total_us;
}

static void signal_loads(int signal)
{
    for (size_t i = 0; i < HOGS; i++)
        kill(loads[i], signal);
}

/* Looks at the totals once: notes when the growth within the last window reaches the limit. */
static void look(uint64_t totals_us[HOGS][LOOKS], unsigned number)
{
    for (size_t i = 0; i < HOGS; i++) {
        uint64_t total_us = read_group_total(i), *oldest_us = &totals_us[i][number % LOOKS];
        if (number >= LOOKS && crossings_ns[i] == 0 && total_us - *oldest_us >= POLL_LIMIT_US)
            crossings_ns[i] = clock_ns(CLOCK_MONOTONIC);
        *oldest_us = total_us;
    }
}

/* The loads run from START_MS of a cycle on until all have crossed the limit; before, if they are
 * to be active, 20 ms in each 400. */
static void run_loads(unsigned ms, bool is_active)
{
    const bool is_before = ms < START_MS;

    if (ms == START_MS || (is_active && ms > START_MS - 3000 && is_before && ms % 400 == 0))
        signal_loads(SIGCONT);
    if (ms == START_MS + 500 || (is_before && ms % 400 == 20))
        signal_loads(SIGSTOP);
}

static void run_cycle(bool is_active)
{
    static uint64_t totals_us[HOGS][LOOKS];
    uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

    memset(crossings_ns, 0, sizeof(crossings_ns));
    for (unsigned ms = 0; ms < CYCLE_MS; ms += LOOK_MS) {
        run_loads(ms, is_active);
        look(totals_us, ms / LOOK_MS);
        uint64_t next_ns = begin_ns + (ms + LOOK_MS) * UINT64_C(1000000),
                 now = clock_ns(CLOCK_MONOTONIC);
        if (next_ns > now)
            usleep((unsigned)((next_ns - now) / 1000));
    }
}

static void add_late(double *late_us, size_t *count, size_t first_event)
{
    for (size_t i = first_event; i < ours.count; i++) {
        uint64_t crossed_ns = crossings_ns[ours.events[i].group];
        if (crossed_ns != 0) /* the first only */
            late_us[(*count)++] = ((double)ours.events[i].time_ns - (double)crossed_ns) / 1000;
        crossings_ns[ours.events[i].group] = 0;
    }
}

static void measure_polled_latency(struct groups *groups)
{
    static double late_us[EVENTS_MAX];
    char name[32], pattern[128], path[64];

    leave_first_cpu();
    for (size_t i = 0; i < HOGS; i++) {
        name_group(name, i);
        groups_make(groups, name);
        loads[i] = groups_start_busy(groups, name, 0);
        kill(loads[i], SIGSTOP);
        snprintf(path, sizeof(path), "%s/cpu.pressure", name);
        total_fds[i] = openat(groups_dirfd(groups), path, O_RDONLY);
        require(total_fds[i] >= 0, path);
    }
    fake_on_notification(on_notification, NULL);
    snprintf(pattern, sizeof(pattern), "%s/*", groups_path(groups));
    start_plugin(pattern, "auto", POLL_LIMIT_US / 1e6, WINDOW_MS / 1000, "");
    printf("alerts: from the total's crossing to the handler of notifications, polled, in ms\n\n"
           "%-28s %6s %8s %8s %8s\n",
           "", "events", "p50", "p99", "max");
    for (int active = 0; active < 2; active++) {
        size_t count = 0;
        for (int cycle = 0; cycle < CYCLES; cycle++) {
            size_t first_event = ours.count;
            run_cycle(active);
            add_late(late_us, &count, first_event);
        }
        require(count > 0, "no event was handled");
        qsort(late_us, count, sizeof(late_us[0]), by_value);
        printf("%-28s %6zu %8.1f %8.1f %8.1f\n", active ? "moved before" : "idle before", count,
               late_us[count / 2] / 1000, late_us[(count * 99 + 99) / 100 - 1] / 1000,
               late_us[count - 1] / 1000);
    }
    fake_shutdown();
}

/* --- Removals ------------------------------------------------------------- */

enum { ALIVE = 100, REMOVALS = 5000 };

static pid_t start_inside(int dirfd)
{
    struct clone_args arguments = {
        .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (uint64_t)dirfd};
    pid_t pid = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

    require(pid >= 0, "clone3");
    while (pid == 0)
        pause();
    return pid;
}

static pid_t make_churned(struct groups *groups, size_t number)
{
    char name[32];

    snprintf(name, sizeof(name), "c%zu", number);
    require(mkdirat(groups_dirfd(groups), name, 0755) == 0, "make a group");
    int fd = openat(groups_dirfd(groups), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(fd >= 0, "open a group");
    pid_t pid = start_inside(fd);
    close(fd);
    return pid;
}

/* @return how long the rmdir took, in us. */
static double remove_churned(struct groups *groups, size_t number, pid_t pid)
{
    char name[32];
    double begin_us;
    int status;

    snprintf(name, sizeof(name), "c%zu", number);
    kill(pid, SIGKILL);
    require(waitpid(pid, NULL, 0) == pid, "wait");
    do {
        begin_us = read_us(CLOCK_MONOTONIC);
        status = unlinkat(groups_dirfd(groups), name, AT_REMOVEDIR);
    } while (status < 0 && errno == EBUSY);
    require(status == 0, "remove a group");
    return read_us(CLOCK_MONOTONIC) - begin_us;
}

/* How long a removal waits for a busy CPU is not measured here, only for locks. */
static void become_real_time(void)
{
    const struct sched_param first = {.sched_priority = 1};

    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) < 0)
        printf("(not real-time: %s)\n", strerror(errno));
}

static void churn(struct groups *groups, const char *what)
{
    static double spent_us[REMOVALS];
    pid_t pids[ALIVE];

    become_real_time();
    double begin_us = read_us(CLOCK_MONOTONIC);

    for (size_t i = 0; i < REMOVALS + ALIVE; i++) {
        if (i >= ALIVE)
            spent_us[i - ALIVE] = remove_churned(groups, i - ALIVE, pids[i % ALIVE]);
        if (i < REMOVALS)
            pids[i % ALIVE] = make_churned(groups, i);
        double next_us = begin_us + (double)(i + 1) * 1000, now_us = read_us(CLOCK_MONOTONIC);
        if (next_us > now_us)
            usleep((unsigned)(next_us - now_us));
    }
    double elapsed_s = (read_us(CLOCK_MONOTONIC) - begin_us) / 1e6;
    qsort(spent_us, REMOVALS, sizeof(spent_us[0]), by_value);
    printf("%-28s %6.0f %8.0f %8.0f %8.0f\n", what, REMOVALS / elapsed_s, spent_us[REMOVALS / 2],
           spent_us[REMOVALS / 100 * 99], spent_us[REMOVALS - 1]);
}

/* In a process of its own: others' removals, not those of collectd itself, whose memory a clone(2)
 * would copy. */
static void churn_with(struct groups *groups, const char *mode, const char *what)
{
    char pattern[128];
    int status;

    pid_t pid = fork();
    require(pid >= 0, "fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep(2);
        churn(groups, what);
        fflush(stdout);
        _exit(0);
    }
    snprintf(pattern, sizeof(pattern), "%s/*", groups_path(groups));
    start_plugin(pattern, mode, 0.15, 1, "");
    require(waitpid(pid, &status, 0) == pid && status == 0, "the churn failed");
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

static void measure_system_latency(struct groups *groups)
{
    of_system = true;
    measure_latency(groups);
}

static void measure_idle_kernel(struct groups *groups)
{
    measure_cost(groups, &(struct rule){"cpu", "kernel", 0.15, 1}, "idle");
}

static void measure_bare(struct groups *groups)
{
    measure_bare_cost(groups, 1);
    measure_bare_cost(groups, 2);
}

static void measure_idle_1(struct groups *groups)
{
    measure_cost(groups, &(struct rule){"cpu", "auto", 0.15, 1}, "idle");
}

static void measure_idle_2(struct groups *groups)
{
    measure_cost(groups, &(struct rule){"cpu", "auto", 1, 2}, "idle");
}

static void measure_idle_memory(struct groups *groups)
{
    measure_cost(groups, &(struct rule){"memory", "auto", 0.15, 1}, "idle");
}

static void measure_idle_io(struct groups *groups)
{
    measure_cost(groups, &(struct rule){"io", "auto", 1, 2}, "idle");
}

static void measure_stalled_1(struct groups *groups)
{
    measure_cost(groups, &(struct rule){"cpu", "auto", 0.15, 1}, "50 stalled");
}

static void measure_stalled_2(struct groups *groups)
{
    measure_cost(groups, &(struct rule){"cpu", "auto", 1, 2}, "50 stalled");
}

static void churn_without(struct groups *groups)
{
    churn(groups, "without the plugin");
}

static void churn_auto(struct groups *groups)
{
    churn_with(groups, "auto", "mode auto");
}

static void churn_kernel(struct groups *groups)
{
    churn_with(groups, "kernel", "mode kernel");
}

/* Whether the kernel watches for us: it takes this window with CAP_SYS_RESOURCE only. */
static bool is_privileged(void)
{
    static const char text[] = "some 1000000 1999999";
    int fd = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    bool accepted = fd >= 0 && write(fd, text, sizeof(text)) == sizeof(text);

    if (fd >= 0)
        close(fd);
    return accepted;
}

static void remove_groups(struct groups *groups, size_t count)
{
    char name[32];

    for (size_t i = 0; i < count; i++) {
        name_group(name, i);
        groups_remove(groups, name);
    }
}

static void measure_latencies(struct groups *groups, bool privileged)
{
    if (privileged) {
        in_child(measure_latency, groups);
        remove_groups(groups, HOGS);
        putchar('\n');
    }
    in_child(measure_polled_latency, groups);
    remove_groups(groups, HOGS);
}

static void measure_latency_of_system(struct groups *groups, bool privileged)
{
    if (!privileged)
        return;
    in_child(measure_system_latency, groups);
    remove_groups(groups, HOGS);
    putchar('\n');
}

static void measure_removals(struct groups *groups, bool privileged)
{
    printf("\n%-28s %6s %8s %8s %8s\n", "rmdir, in us", "a s", "p50", "p99", "max");
    in_child(churn_without, groups);
    in_child(churn_auto, groups);
    if (privileged)
        in_child(churn_kernel, groups);
    putchar('\n');
}

static void measure_costs(struct groups *groups, bool privileged)
{
    char name[32];

    for (size_t i = 0; i < IDLE_GROUPS; i++) {
        name_group(name, i);
        groups_make(groups, name);
        groups_start_sleeper(groups, name);
    }
    if (privileged)
        in_child(measure_idle_kernel, groups);
    in_child(measure_bare, groups);
    in_child(measure_idle_1, groups);
    in_child(measure_idle_2, groups);
    in_child(measure_idle_memory, groups);
    in_child(measure_idle_io, groups);
    for (size_t i = 0; i < 50; i++) {
        name_group(name, i);
        groups_start_busy(groups, name, 0);
    }
    in_child(measure_stalled_1, groups);
    in_child(measure_stalled_2, groups);
}

static bool is_wanted(const char *part, int argc, char **argv)
{
    return argc < 2 || strcmp(argv[1], part) == 0;
}

int main(int argc, char **argv)
{
    struct rlimit limit = {20000, 20000};

    require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "raise the limit of descriptors");
    struct groups *groups = groups_new();
    require(groups != NULL, "make cgroups");
    snprintf(state_file, sizeof(state_file), "/tmp/bench_alerts.%d", (int)getpid());
    bool privileged = is_privileged();
    if (!privileged)
        printf("without CAP_SYS_RESOURCE the kernel's triggers aren't measured\n\n");
    if (is_wanted("removals", argc, argv))
        measure_removals(groups, privileged);
    if (is_wanted("system", argc, argv))
        measure_latency_of_system(groups, privileged);
    if (is_wanted("latency", argc, argv))
        measure_latencies(groups, privileged);
    if (is_wanted("cost", argc, argv))
        measure_costs(groups, privileged);
    unlink(state_file);
    groups_free(groups);
    return 0;
}
