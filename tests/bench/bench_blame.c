/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_blame.c - what it costs to measure who took the CPU: a switch between tasks, and
 * loading; and what isn't known of the waits of a thousand groups.
 *
 * A byte goes there and back between two processes on one CPU, two switches and two wakeups. The
 * fastest of many short batches counts, as other load of the machine is in the others; the cases
 * alternate. What a switch may cost is a part of one that costs nothing, so that it holds whatever
 * the machine's speed.
 *
 * The exit status is 1 if a bound is exceeded.
 */
#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "headroom/blame.h"
#include "support/groups.h"

enum { ROUNDS = 20, BATCHES = 20, TRIPS = 250 };

enum { UNLOADED, DETACHED, UNWATCHED, TAKERS, WATCHED, WATCHED_BY_TASK, CASES };

static const struct {
    const char *name;
    double most; /* so much of an unloaded one it may cost; 0: no bound */
} cases[CASES] = {
    [UNLOADED] = {"not loaded", 0},
    [DETACHED] = {"loaded, but detached", 0.05},
    [UNWATCHED] = {"attached, of groups that aren't watched", 0.11},
    [TAKERS] = {"of groups that are takers only", 0.11},
    [WATCHED] = {"of watched groups", 0.3},
    [WATCHED_BY_TASK] = {"the same, by task", 0},
};

static struct groups *groups;
static int there[2], back[2];
static bool is_exceeded; /* a bound */

static void join_group(const char *name)
{
    char pid[16];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    groups_write(groups, name, "cgroup.procs", pid);
}

/* As fork(2), of a process that ends with us, even if we ended before it ran for the first time. */
static pid_t start_process(void)
{
    const pid_t parent = getpid();
    pid_t pid = fork();

    require(pid >= 0, "fork");
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    return 0;
}

static pid_t start_echo(void)
{
    char byte;
    pid_t pid = start_process();

    if (pid > 0)
        return pid;
    join_group("echo");
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
        continue;
    _exit(0);
}

/* Microseconds for a switch. */
static double time_switches(void)
{
    char byte = 'x';
    double from_us = read_us(CLOCK_MONOTONIC);

    for (int i = 0; i < TRIPS; i++)
        require(write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1, "pipe");
    return (read_us(CLOCK_MONOTONIC) - from_us) / (2 * TRIPS);
}

static uint64_t id_of(const char *name)
{
    struct stat status;

    require(fstatat(groups_dirfd(groups), name, &status, 0) == 0, name);
    return status.st_ino;
}

static struct hr_blame *open_blame(const struct hr_blame_options *options)
{
    struct hr_reason reason = {0};
    struct hr_blame *blame;

    if (hr_blame_open(options, &blame, &reason) != 0) {
        fprintf(stderr, "%s\n", reason.text);
        exit(1);
    }
    return blame;
}

static double time_case(int which, struct hr_blame *plain, struct hr_blame *by_task)
{
    const uint64_t other = id_of("other"), own[] = {id_of("echo"), id_of("sender")};
    struct hr_blame *blame = which == WATCHED_BY_TASK ? by_task : plain;
    struct hr_reason reason;

    if (which <= DETACHED) {
        time_switches();
        return time_switches();
    }
    require((which == UNWATCHED
                 ? hr_blame_watch(blame, &other, 1)
                 : hr_blame_watch_first(blame, own, 2, which == TAKERS ? 0 : 2)) == 0,
            "watch");
    require(hr_blame_attach(blame, &reason) == 0, "attach");
    time_switches();
    double us = time_switches();
    hr_blame_detach(blame);
    return us;
}

static void time_loaded(double fastest[CASES])
{
    struct hr_blame *plain = open_blame(&(struct hr_blame_options){.by_task = false});
    struct hr_blame *by_task = open_blame(&(struct hr_blame_options){.by_task = true});

    for (int batch = 0; batch < BATCHES; batch++)
        for (int which = DETACHED; which < CASES; which++)
            fastest[which] = fmin(fastest[which], time_case(which, plain, by_task));
    hr_blame_close(plain);
    hr_blame_close(by_task);
}

static void print_switches(const double us[CASES])
{
    printf("blame: a switch between two tasks on one CPU, with its wakeup, in us:\n\n");
    for (int which = 0; which < CASES; which++) {
        const double cost = us[which] - us[UNLOADED];
        const bool exceeds = cases[which].most > 0 && cost > cases[which].most * us[UNLOADED];
        printf("%-42s %6.3f  %+6.3f%s\n", cases[which].name, us[which], cost,
               exceeds ? "  too much" : "");
        is_exceeded |= exceeds;
    }
}

static void measure_switches(void)
{
    double fastest[CASES] = {1e9, 1e9, 1e9, 1e9, 1e9, 1e9};

    for (int round = 0; round < ROUNDS; round++) {
        for (int batch = 0; batch < BATCHES; batch++)
            fastest[UNLOADED] = fmin(fastest[UNLOADED], time_case(UNLOADED, NULL, NULL));
        time_loaded(fastest);
    }
    print_switches(fastest);
}

/* What the maps that we have open take in the kernel. */
static double sum_map_memory_mib(void)
{
    struct dirent *entry;
    double bytes = 0;
    DIR *directory = opendir("/proc/self/fdinfo");

    require(directory != NULL, "fdinfo");
    while ((entry = readdir(directory)) != NULL) {
        char path[300], line[128];
        snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
        FILE *file = fopen(path, "r");
        bool is_map = false;
        while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
            is_map |= strncmp(line, "map_type:", 9) == 0;
            if (is_map && strncmp(line, "memlock:", 8) == 0)
                bytes += strtod(line + 8, NULL);
        }
        if (file != NULL)
            fclose(file);
    }
    closedir(directory);
    return bytes / (1 << 20);
}

/* As the psi plugin has them, for alerts. */
static void measure_loading(void)
{
    enum { RUNS = 15 };
    const struct hr_blame_options options = {
        .max_groups = 1001, .max_cells = 16 * 1001, .lasting = true};
    double open_ms[RUNS], attach_ms[RUNS], detach_ms[RUNS], close_ms[RUNS], cpu_ms[RUNS];
    double read_ms_of[RUNS], mib = 0;
    struct hr_blame_matrix matrix = {0};
    struct hr_reason reason;

    for (int run = 0; run < RUNS; run++) {
        double cpu = read_ms(CLOCK_PROCESS_CPUTIME_ID), at = read_ms(CLOCK_MONOTONIC);
        struct hr_blame *blame = open_blame(&options);
        open_ms[run] = read_ms(CLOCK_MONOTONIC) - at;
        at = read_ms(CLOCK_MONOTONIC);
        require(hr_blame_attach(blame, &reason) == 0, "attach");
        attach_ms[run] = read_ms(CLOCK_MONOTONIC) - at;
        cpu_ms[run] = read_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        mib = sum_map_memory_mib();
        at = read_ms(CLOCK_MONOTONIC);
        require(hr_blame_read(blame, &matrix) == 0, "read");
        read_ms_of[run] = read_ms(CLOCK_MONOTONIC) - at;
        at = read_ms(CLOCK_MONOTONIC);
        hr_blame_detach(blame);
        detach_ms[run] = read_ms(CLOCK_MONOTONIC) - at;
        at = read_ms(CLOCK_MONOTONIC);
        hr_blame_close(blame);
        close_ms[run] = read_ms(CLOCK_MONOTONIC) - at;
    }
    hr_blame_matrix_free(&matrix);
    printf("\nloading %.1f ms, attaching %.1f ms (%.1f ms of CPU in all), reading %.1f ms, "
           "detaching %.1f ms, closing %.1f ms; maps of %.1f MiB\n",
           median(open_ms, RUNS), median(attach_ms, RUNS), median(cpu_ms, RUNS),
           median(read_ms_of, RUNS), median(detach_ms, RUNS), median(close_ms, RUNS), mib);
}

/* --- A thousand groups ---------------------------------------------------- */

/* Each two of them hand a byte to each other on one CPU. */
enum { MANY = 1000, SETTLING_US = 2000 * 1000 };

struct load {
    const char *name;
    int burst;        /* so many times at once, */
    unsigned rest_us; /* and then they rest for about so long */
    bool in_turn;     /* one pair after another on each CPU, which is what rests then */
    size_t max_cells; /* 0: the default */
    unsigned ms;      /* for so long it is measured */
    double least; /* of so many switches a second all waits are to be known; 0: they may not be */
};

static const struct load loads[] = {
    {"one pair after another, for 20 s", 20, 20, true, 0, 20000, 100000},
    {"at any time, in long bursts, which leave the CPUs time", 1000, 12000000, false, 0, 3000, 0},
    {"in short ones, for which the CPUs don't suffice", 10, 100000, false, 0, 3000, 0},
    {"the same, with room for all pairs of groups", 10, 100000, false, (size_t)MANY *MANY, 3000, 0},
    {"without rests", 10, 1, false, 0, 3000, 0},
};

static cpu_set_t all_cpus;
static pid_t many[MANY];
static int gate[2]; /* they begin once it is closed */

static int nth_cpu(int n)
{
    int cpu = -1;

    for (n %= CPU_COUNT(&all_cpus); n >= 0; n--)
        do
            cpu++;
        while (!CPU_ISSET(cpu, &all_cpus));
    return cpu;
}

/* Each CPU's has a byte, which is the turn. Who waits for it first gets it, but who has it would
 * get it again without a pause. */
static int turns[CPU_SETSIZE][2];

static void rest(const struct load *load, const int turn[2])
{
    if (!load->in_turn) {
        usleep(load->rest_us / 2 + (unsigned)rand() % load->rest_us);
        return;
    }
    usleep(load->rest_us);
    if (write(turn[1], "x", 1) != 1)
        _exit(0);
    usleep(1);
}

static void pass_bytes(int from, int to, bool begins, const struct load *load, const int turn[2])
{
    char byte = 'x';

    if (begins && !load->in_turn)
        usleep((unsigned)rand() % load->rest_us);
    for (;;) {
        if (begins && load->in_turn && read(turn[0], &byte, 1) != 1)
            _exit(0);
        for (int i = 0; i < load->burst; i++)
            if ((begins && write(to, &byte, 1) != 1) || read(from, &byte, 1) != 1 ||
                (!begins && write(to, &byte, 1) != 1))
                _exit(0);
        if (begins)
            rest(load, turn);
    }
}

static void start_pair(int first, const struct load *load)
{
    int to_second[2], to_first[2];
    char name[16];

    require(pipe(to_second) == 0 && pipe(to_first) == 0, "pipe");
    for (int which = 0; which < 2; which++) {
        many[first + which] = start_process();
        if (many[first + which] > 0)
            continue;
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(nth_cpu(first / 2), &only);
        sched_setaffinity(0, sizeof(only), &only);
        snprintf(name, sizeof(name), "many%d", first + which);
        join_group(name);
        char none;
        close(gate[1]);
        require(read(gate[0], &none, 1) == 0, "gate");
        srand((unsigned)first);
        pass_bytes(which == 0 ? to_first[0] : to_second[0], which == 0 ? to_second[1] : to_first[1],
                   which == 0, load, turns[first / 2 % CPU_COUNT(&all_cpus)]);
    }
    for (int end = 0; end < 2; end++) {
        close(to_second[end]);
        close(to_first[end]);
    }
}

/* Switches of all CPUs since boot. */
static double read_switches(void)
{
    char line[256];
    double count = -1;
    FILE *file = fopen("/proc/stat", "r");

    while (file != NULL && count < 0 && fgets(line, sizeof(line), file) != NULL)
        sscanf(line, "ctxt %lf", &count);
    require(file != NULL && count >= 0, "/proc/stat");
    fclose(file);
    return count;
}

static double measure_rate(unsigned ms)
{
    const double switches = read_switches(), begin_ms = read_ms(CLOCK_MONOTONIC);

    usleep(ms * 1000);
    return (read_switches() - switches) / (read_ms(CLOCK_MONOTONIC) - begin_ms) * 1e3;
}

/* @param rate  so many switches a second there were. */
static void print_waits(const struct hr_blame_matrix *waits, double rate, double least)
{
    double total_ms = 0, unknown_ms = 0;

    for (size_t i = 0; i < waits->count; i++) {
        const double ms = (double)waits->cells[i].wait_ns / 1e6;
        total_ms += ms;
        unknown_ms += waits->cells[i].taker == HR_BLAME_UNKNOWN ? ms : 0;
    }
    const bool exceeds = least > 0 && (unknown_ms > total_ms / 100 || waits->lost_ns > 0);
    printf("%.0f attached%s: waits of %.0f ms: %.2f %% unattributed, %.2f %% without a cell; lost: "
           "%.0f ms%s\n",
           rate, rate < least ? ", which are too few" : "", total_ms, 100 * unknown_ms / total_ms,
           (double)waits->unsplit_ns / 1e4 / total_ms, (double)waits->lost_ns / 1e6,
           exceeds ? "  too much" : "");
    is_exceeded |= exceeds || rate < least;
}

/* Only then they begin. Among so many we would have the CPU for a moment only. */
static void start_many(const struct load *load)
{
    require(pipe(gate) == 0, "pipe");
    for (int i = 0; i < CPU_COUNT(&all_cpus); i++)
        require(pipe(turns[i]) == 0 && write(turns[i][1], "x", 1) == 1, "pipe");
    for (int i = 0; i < MANY; i += 2)
        start_pair(i, load);
    close(gate[0]);
    require(sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}) == 0,
            "priority");
    close(gate[1]);
}

static void end_many(void)
{
    for (int i = 0; i < MANY; i++) {
        kill(many[i], SIGKILL);
        waitpid(many[i], NULL, 0);
    }
    for (int i = 0; i < CPU_COUNT(&all_cpus); i++) {
        close(turns[i][0]);
        close(turns[i][1]);
    }
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
}

static void watch_many(struct hr_blame *blame)
{
    uint64_t ids[MANY];
    char name[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many%d", i);
        ids[i] = id_of(name);
    }
    require(hr_blame_watch(blame, ids, MANY) == 0, "watch");
}

static void measure_many(const struct load *load)
{
    struct hr_blame *blame =
        open_blame(&(struct hr_blame_options){.max_groups = MANY, .max_cells = load->max_cells});
    struct hr_blame_matrix before = {0}, after = {0}, waits = {0};
    struct hr_reason reason;

    watch_many(blame);
    start_many(load);
    usleep(SETTLING_US);
    printf("%s:\n    %.0f switches a second, ", load->name, measure_rate(2000));
    require(hr_blame_attach(blame, &reason) == 0, "attach");
    usleep(SETTLING_US);
    require(hr_blame_read(blame, &before) == 0, "read");
    const double rate = measure_rate(load->ms);
    require(hr_blame_read(blame, &after) == 0, "read");
    require(hr_blame_delta(&before, &after, &waits) == 0, "delta");
    print_waits(&waits, rate, load->least);
    end_many();
    hr_blame_close(blame);
    hr_blame_matrix_free(&before);
    hr_blame_matrix_free(&after);
    hr_blame_matrix_free(&waits);
}

static void measure_thousand_groups(void)
{
    char name[16];

    printf("\n%d groups, each two of them hand bytes to each other,\n\n", MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many%d", i);
        groups_make(groups, name);
    }
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        measure_many(&loads[i]);
}

/* Of the three parts, all or the one that is named. */
static bool is_part_wanted(const char *part, char **arguments)
{
    return arguments[1] == NULL || strcmp(arguments[1], part) == 0;
}

int main(int count, char **arguments)
{
    cpu_set_t own;

    (void)count;

    setvbuf(stdout, NULL, _IOLBF, 0);
    groups = groups_new();
    require(groups != NULL && sched_getaffinity(0, sizeof(own), &own) == 0, "a cgroup2 mount");
    all_cpus = own;
    groups_make(groups, "echo");
    groups_make(groups, "sender");
    groups_make(groups, "other");
    require(pipe(there) == 0 && pipe(back) == 0, "pipe");
    CPU_ZERO(&own);
    CPU_SET(0, &own);
    require(sched_setaffinity(0, sizeof(own), &own) == 0, "CPU 0");
    pid_t echo = start_echo();
    join_group("sender");
    if (is_part_wanted("switches", arguments))
        measure_switches();
    if (is_part_wanted("loading", arguments))
        measure_loading();
    if (is_part_wanted("groups", arguments))
        measure_thousand_groups();
    kill(echo, SIGKILL);
    waitpid(echo, NULL, 0);
    groups_write(groups, "..", "cgroup.procs", "0");
    groups_free(groups);
    return is_exceeded;
}
