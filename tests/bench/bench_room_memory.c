/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_room_memory.c - how much memory a group needs, as it is said of its working set,
 * against the limit below which its tasks are in trouble, which is found by trying.
 *
 *     bench_room_memory [SECONDS [LOAD…] [file|anon]]   of each limit; default: 30 warm
 *
 * LOAD  warm    16 MiB touched all the time, 32 MiB once in 8 s, 48 MiB no more
 *       zipf    96 MiB, of which a page is touched the less often the later it is
 *       wide    96 MiB, touched at intervals from 0.2 to 100 s, as many pages in each octave
 *       scan    64 MiB, one page after the other, within 16 s
 *       phases  the one half of 64 MiB for 10 s, then the other
 *
 * Each load has its memory twice, unless one of both is named: mapped from a slow disk, /dev/slow
 * of the emulated machine, where there is one; and anonymous, which is swapped out. Needs cgroup2's
 * memory controller and, for the latter, swap space; see tests/vm/bench-room. What others would say
 * they say of the same seconds, in which there is no limit.
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_cgroup.h"
#include "headroom/clock.h"
#include "headroom/room.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "support/baselines.h"
#include "support/loads.h"
#include "support/tlb_flushers.h"

#define MIB      ((size_t)1 << 20)
#define PAGE     ((size_t)4096)
#define ROUND_S  0.2
#define LINE_PCT 10.0
#define STEPS    5
#define WINDOWS  7 /* 1 to 64 s */

static const struct hr_room_lines lines = {{40, LINE_PCT, 40, 101}};

static struct hr_root *root;
static struct groups *groups;
static double seconds = 30;

/* --- Loads ------------------------------------------------------------------------- */

static void touch(volatile char *memory, size_t from, size_t to, bool writes)
{
    for (size_t page = from; page < to; page++)
        if (writes)
            memory[page * PAGE]++;
        else
            (void)memory[page * PAGE];
}

/* Each is called once in ROUND_S, with the number of that round. */

static void be_warm(volatile char *memory, unsigned round, bool writes)
{
    const size_t hot = 16 * MIB / PAGE, part = 32 * MIB / PAGE / 40;

    touch(memory, 0, hot, writes);
    touch(memory, hot + round % 40 * part, hot + (round % 40 + 1) * part, writes);
}

/* Log-uniform ranks are Zipf's law with exponent 1. */
static void be_zipf(volatile char *memory, unsigned round, bool writes)
{
    const double pages = (double)(96 * MIB / PAGE);

    (void)round;
    for (int i = 0; i < 1500; i++) {
        const size_t page = (size_t)(exp(loads_uniform() * log(pages))) - 1;
        touch(memory, page, page + 1, writes);
    }
}

static void be_wide(volatile char *memory, unsigned round, bool writes)
{
    const size_t part = 96 * MIB / PAGE / 10;

    for (unsigned octave = 0; octave < 10; octave++) {
        const size_t slice = part >> octave, first = octave * part;
        const size_t from = first + (round % (1u << octave)) * slice;
        touch(memory, from, from + slice, writes);
    }
}

static void scan(volatile char *memory, unsigned round, bool writes)
{
    const size_t part = 64 * MIB / PAGE / 80;

    touch(memory, round % 80 * part, (round % 80 + 1) * part, writes);
}

static void be_in_phases(volatile char *memory, unsigned round, bool writes)
{
    const size_t half = 32 * MIB / PAGE, first = round / 50 % 2 * half;

    touch(memory, first, first + half, writes);
}

static const struct load {
    const char *name;
    size_t mib; /* that it has in the beginning */
    void (*touch)(volatile char *memory, unsigned round, bool writes);
} loads[] = {
    {"warm", 96, be_warm}, {"zipf", 96, be_zipf},        {"wide", 96, be_wide},
    {"scan", 64, scan},    {"phases", 64, be_in_phases},
};

static char *map_memory(const struct load *load, bool is_file)
{
    const size_t size = load->mib * MIB;
    int fd = is_file ? open("/dev/slow", O_RDONLY | O_CLOEXEC) : -1;
    char *memory;

    require(!is_file || fd >= 0, "/dev/slow");
    memory = mmap(NULL, size, is_file ? PROT_READ : PROT_READ | PROT_WRITE,
                  is_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    require(memory != MAP_FAILED, "mmap");
    if (!is_file)
        madvise(memory, size, MADV_NOHUGEPAGE);
    touch(memory, 0, size / PAGE, !is_file);
    return memory;
}

/* Says so by the pipe once it has its memory. */
static pid_t start_load(const struct load *load, bool is_file)
{
    int ready[2];
    char byte = 0;

    require(pipe2(ready, O_CLOEXEC) == 0, "pipe");
    const pid_t pid = fork();
    require(pid >= 0, "fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        groups_write(groups, "a", "cgroup.procs", "0");
        volatile char *memory = map_memory(load, is_file);
        loads_seed(1);
        require(write(ready[1], &byte, 1) == 1, "say ready");
        uint64_t time_ns = hr_clock_ns();
        for (unsigned round = 0;; round++) {
            load->touch(memory, round, !is_file);
            /* what it couldn't do in time it does later, but not all of it */
            time_ns += (uint64_t)(ROUND_S * 1e9);
            if (hr_clock_ns() > time_ns)
                time_ns = hr_clock_ns();
            sleep_until(time_ns);
        }
    }
    close(ready[1]);
    require(read(ready[0], &byte, 1) == 1, "the load");
    close(ready[0]);
    return pid;
}

/* --- What is said -------------------------------------------------------------------- */

static void wait_s(double for_s)
{
    sleep_until(hr_clock_ns() + (uint64_t)(for_s * 1e9));
}

static void read_room(struct hr_room_machine *machine, struct hr_room_source *source,
                      struct hr_room_reading *reading)
{
    hr_room_machine_read(machine);
    hr_room_read(source, &lines, reading);
}

/* A number from a file of the group: the one behind a key, or its only one. */
static double read_number(const char *file, const char *key)
{
    char path[64], line[128];
    const size_t length = strlen(key);
    double number = NAN;

    snprintf(path, sizeof(path), "a/%s", file);
    const int fd = openat(groups_dirfd(groups), path, O_RDONLY | O_CLOEXEC);
    require(fd >= 0, path);
    FILE *stream = fdopen(fd, "r");
    require(stream != NULL, path);
    while (isnan(number) && fgets(line, sizeof(line), stream) != NULL)
        if (strncmp(line, key, length) == 0)
            number = atof(line + length);
    fclose(stream);
    require(!isnan(number), path);
    return number;
}

/* What others look at, once a second. */
struct usage {
    struct baseline_peaks days, parts;
    double set; /* the latest */
};

static void watch_usage(struct usage *usage, uint64_t begin_ns, uint64_t end_ns)
{
    for (uint64_t time_ns = hr_clock_ns(); time_ns < end_ns; time_ns += HR_NS_PER_S) {
        const double t = (double)(time_ns - begin_ns) / HR_NS_PER_S;
        const double current = read_number("memory.current", "");
        usage->set = current - read_number("memory.stat", "inactive_file ");
        baseline_peaks_add(&usage->days, t, usage->set);
        baseline_peaks_add(&usage->parts, t, current);
        sleep_until(time_ns + HR_NS_PER_S < end_ns ? time_ns + HR_NS_PER_S : end_ns);
    }
}

/* The group's working set within 1, 2, 4 … seconds. */
static void measure_set(struct hr_room_working_set *set, struct usage *usage)
{
    char path[128], name[16];
    const struct hr_wss_options options = {.target = {.scope = HR_WSS_CGROUP, .cgroup = path},
                                           .method = HR_WSS_REFERENCED,
                                           .window_count = WINDOWS};
    struct hr_wss_sample sample;
    struct hr_reason reason;
    struct hr_wss *wss;

    snprintf(path, sizeof(path), "%s/a", groups_path(groups));
    *set = (struct hr_room_working_set){.count = 0};
    require(hr_wss_open(root, &options, &wss, &reason) == 0, reason.text);
    require(hr_wss_begin(wss, 64 * HR_NS_PER_S, &reason) == 0, reason.text);
    const uint64_t begin_ns = hr_clock_ns();
    for (int i = 0; i < WINDOWS; i++) {
        const uint64_t window_ns = HR_NS_PER_S << i;
        watch_usage(usage, begin_ns, begin_ns + window_ns);
        require(hr_wss_read(wss, window_ns, &sample, &reason) == 0, reason.text);
        snprintf(name, sizeof(name), "%us", 1u << i);
        hr_room_working_set_add(set, name, (double)sample.referenced_bytes);
        printf("# touched within %2u s: %.1f MiB\n", 1u << i,
               (double)sample.referenced_bytes / (double)MIB);
    }
    fflush(stdout);
    hr_wss_close(wss);
}

/* --- What is so ---------------------------------------------------------------------- */

/* @return how much of the time tasks waited for memory. */
static double try_limit(struct hr_room_machine *machine, struct hr_room_source *source, size_t mib)
{
    struct hr_room_reading before, after;
    char text[32];
    double pct = NAN;

    snprintf(text, sizeof(text), "%zu", mib * MIB);
    groups_write(groups, "a", "memory.max", text);
    wait_s(seconds / 3);
    read_room(machine, source, &before);
    wait_s(seconds);
    read_room(machine, source, &after);
    require(hr_psi_delta(&before.psi.sample[HR_PSI_MEMORY], &after.psi.sample[HR_PSI_MEMORY],
                         HR_PSI_SOME, &pct) == 0,
            "pressure");
    printf("# memory.max %zu MiB: waits %.1f %% of the time\n", mib, pct);
    fflush(stdout);
    return pct;
}

/* The lowest limit at which it hardly waits. */
struct truth {
    double mib;
    bool is_at_most; /* none that was tried was too low */
};

static struct truth find_truth(struct hr_room_machine *machine, struct hr_room_source *source,
                               const struct load *load)
{
    size_t low = 4, high = load->mib + 8;
    struct truth truth = {.is_at_most = true};

    for (int i = 0; i < STEPS && high - low > 2; i++) {
        const size_t middle = (low + high) / 2;
        const bool is_too_low = try_limit(machine, source, middle) >= LINE_PCT;
        *(is_too_low ? &low : &high) = middle;
        truth.is_at_most &= !is_too_low;
    }
    truth.mib = truth.is_at_most ? (double)high : (double)(low + high) / 2;
    return truth;
}

/* --- A load --------------------------------------------------------------------------- */

static void print_rule(const char *rule, double bytes, const struct truth *truth)
{
    const double mib = bytes / (double)MIB;

    if (!isfinite(bytes))
        printf("  %s absent", rule);
    else if (truth->is_at_most)
        printf("  %s %.1f", rule, mib);
    else
        printf("  %s %.1f (%+.0f %%)", rule, mib, 100 * (mib / truth->mib - 1));
}

static void print_load(const struct load *load, bool is_file, const struct truth *truth,
                       double need, double coarse, const struct usage *usage)
{
    printf("%-7s %-5s %5.1f MiB are enough%s;", load->name, is_file ? "file" : "anon", truth->mib,
           truth->is_at_most ? ", or less" : "");
    print_rule("headroom", need, truth);
    print_rule("without a profile", coarse, truth);
    print_rule("VPA", baseline_vpa(&usage->days), truth);
    print_rule("Autopilot", baseline_autopilot(&usage->parts), truth);
    print_rule("current - inactive_file", usage->set, truth);
    putchar('\n');
    fflush(stdout);
}

/* Memory that the kernel can't take, its own, has to be there anyway. */
static void run_load(const struct load *load, bool is_file)
{
    static struct usage usage;
    struct hr_room_machine *machine;
    struct hr_room_source *source;
    struct hr_room_working_set set;
    struct hr_room_reading reading;
    struct hr_cgroup_set *cgroups;

    groups_make(groups, "a");
    if (is_file)
        groups_write(groups, "a", "memory.swap.max", "0");
    const pid_t pid = start_load(load, is_file);
    const struct hr_cgroup *group = find_group(root, groups, "a", &cgroups);
    require(hr_room_machine_open(root, &machine) == 0, "the machine");
    require(hr_room_open(machine, group, 20 * HR_NS_PER_S, &source) == 0, "the group");
    read_room(machine, source, &reading);
    wait_s(2);
    read_room(machine, source, &reading);
    const double coarse = reading.memory.status == 0 ? reading.memory.used : NAN;
    usage = (struct usage){.days = {.part_s = 86400}, .parts = {.part_s = 300}};
    measure_set(&set, &usage);
    hr_room_set_working_set(source, &set);
    read_room(machine, source, &reading); /* from here on with the parts of its memory */
    const struct truth truth = find_truth(machine, source, load);
    /* What a page costs that is read again is known by now. What it has under a limit that is too
     * low is no need, so that it gets all of it back first. */
    read_room(machine, source, &reading);
    groups_write(groups, "a", "memory.max", "max");
    wait_s(1u << (WINDOWS - 1));
    read_room(machine, source, &reading);
    const double need = reading.working_set_status == 0 ? reading.memory.used : NAN;
    printf("# need by what it touches within %.0f s; status %d\n", reading.touched_s,
           reading.working_set_status);
    print_load(load, is_file, &truth, need, coarse, &usage);
    hr_room_close(source);
    hr_room_machine_close(machine);
    hr_cgroup_set_close(cgroups);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    groups_remove(groups, "a");
}

/* Takes the kind of memory off the arguments. @return NULL: both. */
static const char *take_kind(int *argc, char **argv)
{
    const char *last = *argc > 2 ? argv[*argc - 1] : "";

    if (strcmp(last, "file") != 0 && strcmp(last, "anon") != 0)
        return NULL;
    --*argc;
    return last;
}

/* Whether a kind of memory is the one that is named, or none is. */
static bool is_kind(const char *named, const char *kind)
{
    return named == NULL || strcmp(named, kind) == 0;
}

int main(int argc, char **argv)
{
    const char *kind = take_kind(&argc, argv);

    if (argc > 1)
        seconds = atof(argv[1]);
    errno = EINVAL;
    require(seconds >= 1, "SECONDS");
    require(hr_root_open("/", &root) == 0, "/");
    start_tlb_flushers(); /* what is touched would seem not to be */
    groups = groups_new();
    require(groups != NULL, "no cgroup2 hierarchy that can be written to");
    groups_write(groups, ".", "cgroup.subtree_control", "+memory");
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        if (!is_wanted(loads[i].name, argc, argv, "warm"))
            continue;
        if (is_kind(kind, "file") && access("/dev/slow", R_OK) == 0)
            run_load(&loads[i], true);
        if (is_kind(kind, "anon"))
            run_load(&loads[i], false);
    }
    groups_free(groups);
    hr_root_close(root);
    return 0;
}
