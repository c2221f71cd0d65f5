/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_osnoise.c - the cost of reading the osnoise tracer, beside its workload; and what the
 * sources mode costs the interrupted task.
 *
 *     bench_osnoise [SECONDS]      of each measurement, default: 8
 *
 * It is skipped where the kernel has no such tracer. The emulated machine has it:
 *
 *     HEADROOM_VM_CLOCK=real tests/vm/run KERNEL 400 "./bench_osnoise; echo 1..0"
 *
 * First a run with a reading each second, each followed by a bare one: read(2) of the same samples
 * from the trace_pipe_raw of a second instance. Times are CPU time of the reading thread, medians.
 * With fewer than 8 CPUs, the time for 8 is extrapolated from that for one and for all.
 *
 * Then the same measured by two programs from beginning to end, ours and rtla, in a short run and
 * in a long one: the difference of these is the cost per second, the rest is starting and ending.
 *
 * Then a loop of known length on one CPU, interrupted 10,000 times a second, alone and in the
 * sources mode; the result is the shortest of several times.
 *
 * An emulated machine is slow; the line at the beginning allows a comparison with other machines.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "headroom/osnoise.h"
#include "headroom/root.h"

#define MAX_CPUS    8
#define MAX_SECONDS 60
#define INSTANCE    "/sys/kernel/tracing/instances/headroom_bench"
#define STATE_PATH  "/run/headroom-bench.osnoise"

static struct hr_root *root;
static struct hr_reason reason;
static unsigned cpus[MAX_CPUS];
static size_t cpu_count;

static void find_cpus(void)
{
    cpu_set_t all;

    require(sched_getaffinity(0, sizeof(all), &all) == 0, "sched_getaffinity");
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && cpu_count < MAX_CPUS; cpu++)
        if (CPU_ISSET(cpu, &all))
            cpus[cpu_count++] = cpu;
}

static void require_ours(int status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, reason.text);
    exit(1);
}

/* --- The cost of a reading ------------------------------------------------ */

static const struct kind {
    const char *name;
    bool by_source, histogram;
    uint64_t max_single_ns;
    bool causes; /* and traces */
} kinds[] = {
    {"samples", false, false, 0, false},      {"and sources", true, false, 0, false},
    {"and histogram", true, true, 0, false},  {"and singles", true, true, 100000, false},
    {"and causes", true, true, 100000, true},
};

/* Uses the last `count` CPUs, as the first often is the busiest. The clock of an emulated CPU is
 * slow: 20 us are no noise there. */
static struct hr_osnoise *begin_measurement(const struct kind *kind, size_t count)
{
    struct hr_osnoise_options options = {
        .mode = HR_OSNOISE_WORKLOAD,
        .period_us = 1000000,
        .runtime_us = 10000,
        .threshold_us = 20,
        .max_duty_pct = 1,
        .by_source = kind->by_source,
        .histogram = kind->histogram,
        .max_single_ns = kind->max_single_ns,
        .causes = kind->causes,
        .traces = kind->causes,
        .state_path = STATE_PATH,
    };
    struct hr_osnoise *osnoise;

    for (size_t i = cpu_count - count; i < cpu_count; i++)
        hr_cpu_set_add(&options.cpus.list, cpus[i]);
    require_ours(hr_osnoise_open(root, &options, &osnoise, &reason), "opening");
    require_ours(hr_osnoise_begin(osnoise, &reason), "beginning");
    return osnoise;
}

static void join_bare(int fds[MAX_CPUS], size_t count)
{
    char path[256];

    require(mkdir(INSTANCE, 0700) == 0, INSTANCE);
    int fd = open(INSTANCE "/current_tracer", O_WRONLY | O_CLOEXEC);
    require(fd >= 0 && write(fd, "osnoise\n", 8) == 8, "current_tracer");
    close(fd);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%u/trace_pipe_raw",
                 cpus[cpu_count - count + i]);
        fds[i] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        require(fds[i] >= 0, path);
    }
}

static void leave_bare(const int fds[MAX_CPUS], size_t count)
{
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    int fd = open(INSTANCE "/current_tracer", O_WRONLY | O_CLOEXEC);
    require(fd >= 0 && write(fd, "nop\n", 4) == 4, "current_tracer");
    close(fd);
    require(rmdir(INSTANCE) == 0, INSTANCE);
}

static void read_bare(const int fds[MAX_CPUS], size_t count)
{
    static char page[4096];

    for (size_t i = 0; i < count; i++)
        while (read(fds[i], page, sizeof(page)) > 0)
            continue;
}

struct cost {
    double ours_us, bare_us;
    uint64_t sample_count;
};

static struct cost measure_readings(const struct kind *kind, size_t count, int seconds)
{
    double ours_us[MAX_SECONDS], bare_us[MAX_SECONDS];
    struct cost cost = {0};
    struct hr_osnoise_reading reading;
    int fds[MAX_CPUS];
    struct hr_osnoise *osnoise = begin_measurement(kind, count);

    join_bare(fds, count);
    for (int i = -1; i < seconds; i++) {
        sleep(1);
        double from_us = read_us(CLOCK_THREAD_CPUTIME_ID);
        require_ours(hr_osnoise_read(osnoise, &reading, &reason), "reading");
        double between_us = read_us(CLOCK_THREAD_CPUTIME_ID);
        read_bare(fds, count);
        double to_us = read_us(CLOCK_THREAD_CPUTIME_ID);
        if (i < 0)
            continue; /* the first one faults in all memory */
        ours_us[i] = between_us - from_us;
        bare_us[i] = to_us - between_us;
        for (size_t n = 0; n < reading.cpu_count; n++)
            cost.sample_count += reading.cpus[n].sample_count;
    }
    leave_bare(fds, count);
    require_ours(hr_osnoise_end(osnoise, &reason), "ending");
    hr_osnoise_close(osnoise);
    cost.ours_us = median(ours_us, (size_t)seconds);
    cost.bare_us = median(bare_us, (size_t)seconds);
    return cost;
}

static double for_eight(double one_us, double all_us)
{
    if (cpu_count < 2 || cpu_count == MAX_CPUS)
        return all_us;
    double each_us = (all_us - one_us) / (double)(cpu_count - 1);
    return all_us + (each_us > 0 ? each_us : 0) * (double)(MAX_CPUS - cpu_count);
}

static void compare_readings(int seconds)
{
    char title[32];

    snprintf(title, sizeof(title), "us of %zu CPUs", cpu_count);
    puts("A reading a second: CPU time");
    printf("%-14s %10s %14s %10s %8s %20s %12s\n", "what", "us of one", title, "bare, us", "ratio",
           "% of a CPU, 8 of them", "of it, bare");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct cost one = measure_readings(&kinds[i], 1, seconds);
        struct cost all = measure_readings(&kinds[i], cpu_count, seconds);
        require(all.sample_count > 0, "no samples came");
        double eight_us = for_eight(one.ours_us, all.ours_us);
        double bare_us = for_eight(one.bare_us, all.bare_us);
        printf("%-14s %10.0f %14.0f %10.0f %8.2f %20.4f %12.4f\n", kinds[i].name, one.ours_us,
               all.ours_us, all.bare_us, all.ours_us / all.bare_us, eight_us / 1e4, bare_us / 1e4);
        fflush(stdout);
    }
}

/* --- Beside rtla ---------------------------------------------------------- */

static void run_ours(int seconds)
{
    struct hr_osnoise_reading reading;
    struct hr_osnoise *osnoise = begin_measurement(&kinds[0], cpu_count);

    for (int i = 0; i < seconds; i++) {
        sleep(1);
        require_ours(hr_osnoise_read(osnoise, &reading, &reason), "reading");
    }
    hr_osnoise_close(osnoise);
    exit(0);
}

static void run_rtla(int seconds)
{
    char list[64] = "", duration[16];

    for (size_t i = 0; i < cpu_count; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u", i == 0 ? "" : ",",
                 cpus[i]);
    snprintf(duration, sizeof(duration), "%ds", seconds);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    execlp("rtla", "rtla", "osnoise", "top", "-q", "-c", list, "-p", "1000000", "-r", "10000", "-T",
           "20", "-d", duration, (char *)NULL);
    _exit(127);
}

/* Until a program has started, and while it ends. */
#define EARLY_S 5

struct usage {
    double each_second_ms, all_ms; /* CPU time of all its threads */
};

static bool run_program(void (*program)(int), int seconds, struct usage *usage)
{
    struct rusage all;
    clockid_t clock;
    int status;

    fflush(stdout);
    pid_t pid = fork();
    require(pid >= 0, "fork");
    if (pid == 0)
        program(EARLY_S + seconds + EARLY_S);
    require(clock_getcpuclockid(pid, &clock) == 0, "clock_getcpuclockid");
    sleep(EARLY_S);
    double from_ms = read_ms(clock);
    sleep((unsigned)seconds);
    usage->each_second_ms = (read_ms(clock) - from_ms) / seconds;
    require(wait4(pid, &status, 0, &all) == pid, "wait4");
    usage->all_ms = (double)(all.ru_utime.tv_sec + all.ru_stime.tv_sec) * 1e3 +
                    (double)(all.ru_utime.tv_usec + all.ru_stime.tv_usec) / 1e3;
    return status == 0;
}

static void compare_programs(int seconds)
{
    static const struct {
        const char *name;
        void (*run)(int seconds);
    } programs[] = {{"ours", run_ours}, {"rtla", run_rtla}};

    printf("\nThe samples of %zu CPUs, a reading a second: CPU time of the whole program\n",
           cpu_count);
    printf("%-14s %14s %14s\n", "", "ms a second", "all, ms");
    for (size_t i = 0; i < 2; i++) {
        struct usage usage;
        if (run_program(programs[i].run, seconds, &usage))
            printf("%-14s %14.3f %14.1f\n", programs[i].name, usage.each_second_ms, usage.all_ms);
        else
            printf("%-14s can't be run\n", programs[i].name);
        fflush(stdout);
    }
}

/* --- The cost of the sources mode ----------------------------------------- */

#define ROUNDS       9
#define INTERRUPT_NS 100000

/* Opens an event that interrupts this thread after each 100 us of its time. */
static int interrupt_me(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = INTERRUPT_NS,
    };

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static double loop_ms(uint64_t count)
{
    double from_ms = read_ms(CLOCK_MONOTONIC);
    volatile uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++)
        sum += i;
    return read_ms(CLOCK_MONOTONIC) - from_ms;
}

static uint64_t count_irqs(const struct hr_osnoise_reading *reading, unsigned cpu)
{
    uint64_t count = 0;

    for (size_t i = 0; i < reading->source_count; i++)
        if (reading->sources[i].cpu == cpu && reading->sources[i].kind == HR_OSNOISE_IRQ)
            count += reading->sources[i].count;
    return count;
}

static struct hr_osnoise *open_sources(void)
{
    const struct hr_osnoise_options options = {.mode = HR_OSNOISE_SOURCES,
                                               .state_path = STATE_PATH};
    struct hr_osnoise *osnoise;

    require_ours(hr_osnoise_open(root, &options, &osnoise, &reason), "opening");
    return osnoise;
}

static void cost_of_sources(void)
{
    unsigned cpu = cpus[cpu_count - 1];
    double alone_ms[ROUNDS], traced_ms[ROUNDS], counts[ROUNDS];
    struct hr_osnoise_reading reading;
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    require(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity");
    puts("\nThe sources mode: its cost for the interrupted task");
    int fd = interrupt_me();
    if (fd < 0 || hr_osnoise_probe(root, HR_OSNOISE_SOURCES, &reason) < 0) {
        printf("skipped: %s\n", fd < 0 ? "no event interrupts here" : reason.text);
        return;
    }
    struct hr_osnoise *osnoise = open_sources();
    uint64_t length = (uint64_t)(2e7 * 1000 / loop_ms(20000000));
    for (int i = 0; i < ROUNDS; i++) {
        alone_ms[i] = loop_ms(length);
        require_ours(hr_osnoise_begin(osnoise, &reason), "beginning");
        require_ours(hr_osnoise_read(osnoise, &reading, &reason), "reading");
        traced_ms[i] = loop_ms(length);
        require_ours(hr_osnoise_read(osnoise, &reading, &reason), "reading");
        counts[i] = (double)count_irqs(&reading, cpu);
        require_ours(hr_osnoise_end(osnoise, &reason), "ending");
    }
    hr_osnoise_close(osnoise);
    close(fd);
    median(alone_ms, ROUNDS);
    median(traced_ms, ROUNDS);
    double alone = alone_ms[0], traced = traced_ms[0]; /* sorted */
    double count = median(counts, ROUNDS);
    printf("a loop: %.0f ms alone, %.0f ms traced, with %.0f interrupts: %.0f ms per 100,000 (%.2f "
           "us each)\n",
           alone, traced, count, (traced - alone) / count * 1e5, (traced - alone) / count * 1e3);
}

static void print_speed(void)
{
    double times_us[101];
    char text[128];

    for (size_t i = 0; i < 101; i++) {
        double from_us = read_us(CLOCK_THREAD_CPUTIME_ID);
        int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
        require(fd >= 0 && read(fd, text, sizeof(text)) > 0, "/proc/loadavg");
        close(fd);
        times_us[i] = read_us(CLOCK_THREAD_CPUTIME_ID) - from_us;
    }
    printf("The osnoise tracer, where it takes %.1f us to open, read and close /proc/loadavg\n",
           median(times_us, 101));
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 8;

    require(seconds >= 1 && seconds <= MAX_SECONDS, "SECONDS: 1 to 60");
    require(hr_root_open("/", &root) == 0, "/");
    print_speed();
    if (hr_osnoise_probe(root, HR_OSNOISE_WORKLOAD, &reason) < 0) {
        printf("skipped: %s\n", reason.text);
        return 0;
    }
    find_cpus();
    compare_readings(seconds);
    compare_programs(seconds);
    cost_of_sources();
    hr_root_close(root);
    return 0;
}
