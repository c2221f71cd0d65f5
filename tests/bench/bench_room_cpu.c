/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_room_cpu.c - how much CPU time a group could use before its tasks are in trouble, as
 * it is said at 30, 50 and 70 % of a CPU, against the load at which they are: jobs of 1 to 5 ms
 * that come at random times, each by a task of its own, more and more of them.
 *
 *     bench_room_cpu [SECONDS [SCENARIO…]]   of each load, 20 at least, as nothing is said before;
 *                                            default: 20 alone
 *
 * SCENARIO  alone     nothing else runs
 *           equal     beside a group that uses 30 %, of the same weight
 *           favoured  beside one, of a quarter of the weight
 *           quota     it may use half of a CPU
 *           timer     30 % of load, without and with a timer that interrupts 20,000 times a second:
 * what the machine is said to use more, against the kernel's own time of interrupts
 *           two       alone, on two CPUs
 *           one_of_two  beside a group that uses 30 % of one of two CPUs, and none of the other
 *
 * All but the last two are for a machine with one CPU, these for one with two; for both see
 * tests/vm/bench-room. Needs cgroup2's cpu controller.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_cgroup.h"
#include "headroom/clock.h"
#include "headroom/room.h"
#include "headroom/root.h"
#include "support/loads.h"

#define WORKERS  64
#define LINE_PCT 40.0
#define STEPS    6
#define NO_CPU   (-1)

static const struct hr_room_lines lines = {{LINE_PCT, 10, 40, 101}};
static const double begins[] = {0.3, 0.5, 0.7};

static struct hr_root *root;
static struct groups *groups;
static double seconds = 20;

/* --- Jobs ------------------------------------------------------------------------- */

/* Jobs of one group, which come through a pipe; each is the seconds of CPU time that it takes. */
struct stream {
    int pipe[2];
    pid_t pid;
    double load; /* CPUs */
    uint64_t next_ns;
};

static void *work(void *context)
{
    const struct stream *stream = context;
    double job;

    while (read(stream->pipe[0], &job, sizeof(job)) == (ssize_t)sizeof(job)) {
        const double end_us = read_us(CLOCK_THREAD_CPUTIME_ID) + job * 1e6;
        while (read_us(CLOCK_THREAD_CPUTIME_ID) < end_us)
            for (volatile int i = 0; i < 200; i++)
                ;
    }
    return NULL;
}

/* This program's own CPU isn't that of others. @param cpu  NO_CPU: they may use all. */
static void use_cpu(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (cpu == NO_CPU || i == cpu)
            CPU_SET(i, &set);
    require(sched_setaffinity(0, sizeof(set), &set) == 0, "choose a CPU");
}

static void start_stream(struct stream *stream, const char *group, int cpu)
{
    require(pipe2(stream->pipe, O_CLOEXEC) == 0, "pipe");
    stream->pid = fork();
    require(stream->pid >= 0, "fork");
    if (stream->pid > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    groups_write(groups, group, "cgroup.procs", "0");
    use_cpu(cpu);
    close(stream->pipe[1]);
    for (int i = 0; i < WORKERS; i++) {
        pthread_t thread;
        require(pthread_create(&thread, NULL, work, stream) == 0, "a thread");
    }
    for (;;)
        pause();
}

static void end_stream(struct stream *stream)
{
    if (stream->pid == 0)
        return;
    kill(stream->pid, SIGKILL);
    waitpid(stream->pid, NULL, 0);
    close(stream->pipe[0]);
    close(stream->pipe[1]);
    *stream = (struct stream){.pid = 0};
}

static void set_next(struct stream *stream, uint64_t now_ns)
{
    const double mean_s = 0.003 / stream->load; /* a job takes 3 ms on average */

    stream->next_ns = stream->pid == 0 || stream->load <= 0
                          ? UINT64_MAX
                          : now_ns + (uint64_t)(-log(fmax(loads_uniform(), 1e-9)) * mean_s * 1e9);
}

static void send_job(struct stream *stream)
{
    const double job = 0.001 + 0.004 * loads_uniform();

    require(write(stream->pipe[1], &job, sizeof(job)) == (ssize_t)sizeof(job), "send a job");
    set_next(stream, stream->next_ns);
}

static void send_jobs(struct stream *streams, size_t count, double for_s)
{
    const uint64_t begin_ns = hr_clock_ns(), end_ns = begin_ns + (uint64_t)(for_s * 1e9);

    for (size_t i = 0; i < count; i++)
        set_next(&streams[i], begin_ns);
    for (;;) {
        struct stream *next = &streams[0];
        for (size_t i = 1; i < count; i++)
            if (streams[i].next_ns < next->next_ns)
                next = &streams[i];
        sleep_until(next->next_ns < end_ns ? next->next_ns : end_ns);
        if (next->next_ns >= end_ns)
            return;
        send_job(next);
    }
}

/* --- Measuring ---------------------------------------------------------------------- */

struct measured {
    double some_pct, used;
    struct hr_room room;
};

static struct measured measure(const struct hr_cgroup *group, struct stream *streams, double load)
{
    struct hr_room_machine *machine;
    struct hr_room_source *source;
    struct hr_room_reading before, after;
    struct measured measured = {.some_pct = NAN};

    streams[0].load = load;
    send_jobs(streams, 2, seconds / 8); /* as the load before may have left jobs */
    require(hr_room_machine_open(root, &machine) == 0, "the machine");
    require(hr_room_open(machine, group, 20 * HR_NS_PER_S, &source) == 0, "the group");
    hr_room_machine_read(machine);
    hr_room_read(source, &lines, &before);
    send_jobs(streams, 2, seconds);
    hr_room_machine_read(machine);
    hr_room_read(source, &lines, &after);
    require(hr_psi_delta(&before.psi.sample[HR_PSI_CPU], &after.psi.sample[HR_PSI_CPU], HR_PSI_SOME,
                         &measured.some_pct) == 0,
            "pressure");
    /* Only then its use is known, whether or not its room is. */
    errno = -after.cpu.status;
    require(after.cpu.status == 0 || after.cpu.status == -ENODATA || after.cpu.status == -EBUSY,
            "the use of the group isn't known");
    measured.room = after.cpu;
    measured.used = after.cpu.used;
    hr_room_close(source);
    hr_room_machine_close(machine);
    return measured;
}

/* What the group uses when tasks are stalled for as long as the line says: somewhat more than the
 * load, as waking up takes time, too. */
static double find_truth(const struct hr_cgroup *group, struct stream *streams, double most)
{
    double low = 0.1 * most, high = most, used_low = low, used_high = high;

    for (int i = 0; i < STEPS; i++) {
        const double middle = (low + high) / 2;
        const struct measured measured = measure(group, streams, middle);
        const bool is_too_much = measured.some_pct >= LINE_PCT;
        printf("# load %.3f: stalled %.1f %%, used %.3f\n", middle, measured.some_pct,
               measured.used);
        fflush(stdout);
        *(is_too_much ? &high : &low) = middle;
        *(is_too_much ? &used_high : &used_low) = measured.used;
    }
    return (used_low + used_high) / 2;
}

/* --- Scenarios ------------------------------------------------------------------------ */

static const struct scenario {
    const char *name, *weight, *max;
    double neighbour, most; /* CPUs */
    int neighbour_cpu, cpus;
} scenarios[] = {
    {"alone", "100", "max 100000", 0, 0.97, NO_CPU, 1},
    {"equal", "100", "max 100000", 0.3, 0.67, NO_CPU, 1},
    {"favoured", "400", "max 100000", 0.3, 0.67, NO_CPU, 1},
    {"quota", "100", "50000 100000", 0, 0.49, NO_CPU, 1},
    {"two", "100", "max 100000", 0, 1.94, NO_CPU, 2},
    {"one_of_two", "100", "max 100000", 0.3, 1.67, 1, 2},
};

static void run_scenario(const struct scenario *scenario)
{
    struct stream streams[2] = {{.pid = 0}, {.pid = 0}};
    struct measured at[3];
    struct hr_cgroup_set *set;

    errno = EINVAL;
    require(sysconf(_SC_NPROCESSORS_ONLN) == scenario->cpus, "the number of CPUs");
    groups_make(groups, "a");
    groups_make(groups, "b");
    groups_write(groups, "a", "cpu.weight", scenario->weight);
    groups_write(groups, "a", "cpu.max", scenario->max);
    start_stream(&streams[0], "a", NO_CPU);
    if (scenario->neighbour > 0)
        start_stream(&streams[1], "b", scenario->neighbour_cpu);
    streams[1].load = scenario->neighbour;
    usleep(200000);
    const struct hr_cgroup *group = find_group(root, groups, "a", &set);
    for (int i = 0; i < 3; i++)
        at[i] = measure(group, streams, begins[i] * scenario->most);
    const double truth = find_truth(group, streams, scenario->most);
    for (int i = 0; i < 3; i++)
        printf("%-10s  %4.2f  %6.1f %%  %8.3f  %8.3f  %+5.0f %%  %s, status %d\n", scenario->name,
               begins[i] * scenario->most, at[i].some_pct, at[i].room.attainable, truth,
               100 * (at[i].room.attainable / truth - 1),
               at[i].room.is_at_least ? "at least" : "as is", at[i].room.status);
    fflush(stdout);
    hr_cgroup_set_close(set);
    end_stream(&streams[0]);
    end_stream(&streams[1]);
    groups_remove(groups, "a");
    groups_remove(groups, "b");
}

/* --- Interrupts ------------------------------------------------------------------------ */

/* Of a perf event, as its timer begins anew by itself: that of a timerfd does when it is read, and
 * one that sends a signal when that is handled. */
static int start_timer(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = 50000, /* ns */
    };
    const int timer = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

    require(timer >= 0, "a timer");
    return timer;
}

struct busy {
    double used_pct, irq_pct;
};

/* What the machine uses, by /proc/stat, beside what the kernel says of interrupts. */
static struct busy measure_machine(struct stream *streams)
{
    static const struct hr_psi_options irq = {.resources = {[HR_PSI_IRQ] = true}};
    struct hr_room_machine *machine;
    struct hr_room_source *source;
    struct hr_room_reading before, after;
    struct hr_psi *pressure;
    struct hr_psi_snapshot before_irq, after_irq;
    struct busy busy = {.irq_pct = NAN};

    require(hr_psi_open_system(root, &irq, &pressure) == 0, "the pressure of interrupts");
    require(hr_room_machine_open(root, &machine) == 0, "the machine");
    require(hr_room_open(machine, NULL, 20 * HR_NS_PER_S, &source) == 0, "its room");
    hr_room_machine_read(machine);
    hr_room_read(source, &lines, &before);
    hr_psi_read(pressure, &before_irq);
    send_jobs(streams, 2, seconds);
    hr_room_machine_read(machine);
    hr_room_read(source, &lines, &after);
    hr_psi_read(pressure, &after_irq);
    require(after.cpu.status == 0, "the use of the machine isn't known");
    busy.used_pct = 100 * after.cpu.used;
    require(after_irq.status[HR_PSI_IRQ] == 0, "the kernel has no pressure of interrupts");
    hr_psi_delta(&before_irq.sample[HR_PSI_IRQ], &after_irq.sample[HR_PSI_IRQ], HR_PSI_FULL,
                 &busy.irq_pct);
    hr_psi_close(pressure);
    hr_room_close(source);
    hr_room_machine_close(machine);
    return busy;
}

static void run_timer(void)
{
    struct stream streams[2] = {{.load = 0.3}, {.pid = 0}};

    groups_make(groups, "a");
    start_stream(&streams[0], "a", NO_CPU);
    send_jobs(streams, 2, seconds / 8);
    const struct busy without = measure_machine(streams);
    const int timer = start_timer();
    const struct busy with = measure_machine(streams);
    close(timer);
    printf("timer       used %.1f -> %.1f %%: %+.1f; interrupts %.1f -> %.1f %%: %+.1f\n",
           without.used_pct, with.used_pct, with.used_pct - without.used_pct, without.irq_pct,
           with.irq_pct, with.irq_pct - without.irq_pct);
    fflush(stdout);
    end_stream(&streams[0]);
    groups_remove(groups, "a");
}

/* What sends jobs must not wait for those that do them. */
static void prefer_this(void)
{
    const struct sched_param priority = {.sched_priority = 1};

    use_cpu(0);
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) < 0)
        fputs("bench_room_cpu: without real-time priority jobs may come late\n", stderr);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seconds = atof(argv[1]);
    errno = EINVAL;
    require(seconds >= 20, "SECONDS");
    require(hr_root_open("/", &root) == 0, "/");
    groups = groups_new();
    require(groups != NULL, "no cgroup2 hierarchy that can be written to");
    groups_write(groups, ".", "cgroup.subtree_control", "+cpu");
    loads_seed(1);
    prefer_this();
    printf("scenario    load  stalled    could be     could  error\n");
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        if (is_wanted(scenarios[i].name, argc, argv, "alone"))
            run_scenario(&scenarios[i]);
    if (is_wanted("timer", argc, argv, "alone"))
        run_timer();
    groups_free(groups);
    hr_root_close(root);
    return 0;
}
