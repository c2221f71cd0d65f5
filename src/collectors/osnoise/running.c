/* SPDX-License-Identifier: MIT */
#include "osnoise/running.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "base/text.h"
#include "headroom/array.h"
#include "headroom/clock.h"

/* Two numbers of ticks, both cut, are idle time; and the tables are read a moment after the clock.
 */
#define TOLERANCE_PART 50
#define TOLERANCE_NS   (2 * HR_NS_PER_TICK)

struct cpu {
    uint64_t idle_ns, idle_before_ns; /* since boot */
    bool is_listed, was_listed;       /* whether these are known */
    /* What was reported of the thread that runs; and of one that has left, which is deducted with
     * the next reading, as its time may come as late. */
    uint64_t reported_ns, late_ns;
    bool began_before; /* since the beginning one thread has run: the kernel won't count it */
    bool has_left;     /* it has left within this interval */
    uint64_t counted_ns, switch_count; /* of this reading */
    bool was_offline;                  /* within this interval, though not at its ends */
};

struct hr_osnoise_running {
    const struct hr_root *root;
    struct hr_file_text text; /* of /proc/stat */
    struct cpu *cpus;         /* by number */
    size_t cpu_end;
    struct hr_osnoise_source *sources;
    size_t source_count, source_capacity;
};

/* --- Idle time ------------------------------------------------------------ */

/* "3 user nice system idle iowait irq softirq …", in ticks. */
static bool parse_cpu_line(struct hr_osnoise_running *running, struct hr_text line)
{
    uint64_t number, fields[5];

    if (!hr_text_u64(&line, &number))
        return false;
    for (size_t i = 0; i < 5; i++)
        if (!hr_text_skip(&line, " ") || !hr_text_u64(&line, &fields[i]))
            return false;
    if (number >= running->cpu_end)
        return true;
    running->cpus[number].idle_ns = (fields[3] + fields[4]) * HR_NS_PER_TICK;
    running->cpus[number].is_listed = true;
    return true;
}

/* Only CPUs that are online are listed, behind the sum of all. */
static void read_idle(struct hr_osnoise_running *running)
{
    for (size_t i = 0; i < running->cpu_end; i++) {
        struct cpu *cpu = &running->cpus[i];
        cpu->idle_before_ns = cpu->idle_ns;
        cpu->was_listed = cpu->is_listed;
        cpu->is_listed = false;
    }
    if (hr_file_text_read(running->root, "proc/stat", &running->text) < 0)
        return;
    struct hr_text text = {running->text.start, running->text.length};
    while (hr_text_skip_line(&text) && hr_text_skip(&text, "cpu"))
        if (!parse_cpu_line(running, text))
            break;
}

/* A CPU that was offline meanwhile may begin its idle time anew. */
static bool find_idle(const struct cpu *cpu, uint64_t *idle_ns)
{
    *idle_ns = cpu->idle_ns - cpu->idle_before_ns;
    return cpu->was_listed && cpu->is_listed && cpu->idle_ns >= cpu->idle_before_ns;
}

static uint64_t tolerance_of(uint64_t duration_ns)
{
    return TOLERANCE_NS + duration_ns / TOLERANCE_PART;
}

/* It was idle within the interval, for as long as is certain. */
static bool was_idle(const struct cpu *cpu, uint64_t elapsed_ns)
{
    uint64_t idle_ns;

    return find_idle(cpu, &idle_ns) && idle_ns > tolerance_of(elapsed_ns);
}

/* --- Sources of a CPU ----------------------------------------------------- */

/* How long it had the CPU at a time. */
static double mean_of(const struct hr_osnoise_source *source)
{
    return (double)source->duration_ns / (double)(source->count > 0 ? source->count : 1);
}

/* The thread whose single stay is the likeliest to be as long. */
static struct hr_osnoise_source *find_long_stay(struct hr_osnoise_running *running, unsigned number,
                                                uint64_t least_ns)
{
    struct hr_osnoise_source *found = NULL;

    for (size_t i = 0; i < running->source_count; i++) {
        struct hr_osnoise_source *source = &running->sources[i];
        if (source->cpu == number && source->kind == HR_OSNOISE_THREAD &&
            source->duration_ns >= least_ns && (found == NULL || mean_of(source) > mean_of(found)))
            found = source;
    }
    return found;
}

static uint64_t deduct(struct hr_osnoise_source *source, uint64_t most_ns)
{
    const uint64_t part_ns = most_ns < source->duration_ns ? most_ns : source->duration_ns;

    source->duration_ns -= part_ns;
    return part_ns;
}

/* @return whether the thread was found of which this was reported: it has at least that. */
static bool deduct_reported(struct hr_osnoise_running *running, unsigned number,
                            uint64_t reported_ns)
{
    const uint64_t slack_ns = tolerance_of(reported_ns);
    struct hr_osnoise_source *source =
        find_long_stay(running, number, reported_ns > slack_ns ? reported_ns - slack_ns : 1);

    if (source == NULL)
        return false;
    running->cpus[number].counted_ns -= deduct(source, reported_ns);
    return true;
}

/* A thread that had begun before the interval, or before anything was counted. */
static void deduct_excess(struct hr_osnoise_running *running, unsigned number, uint64_t elapsed_ns)
{
    struct cpu *cpu = &running->cpus[number];
    struct hr_osnoise_source *source;

    while (cpu->counted_ns > elapsed_ns && (source = find_long_stay(running, number, 1)) != NULL)
        cpu->counted_ns -= deduct(source, cpu->counted_ns - elapsed_ns);
}

/* Of a thread that ran before the beginning, the kernel counts nothing, or all of its time. */
static void settle_first(struct hr_osnoise_running *running, unsigned number, uint64_t elapsed_ns)
{
    struct cpu *cpu = &running->cpus[number];

    if (cpu->switch_count == 0 && !was_idle(cpu, elapsed_ns))
        return;
    if (find_long_stay(running, number, elapsed_ns + 1) != NULL)
        deduct_reported(running, number, cpu->reported_ns);
    cpu->reported_ns = 0;
    cpu->began_before = false;
    cpu->has_left = true;
}

/* Where a thread has left, the one that ran at the last reading has. */
static void settle(struct hr_osnoise_running *running, unsigned number, uint64_t elapsed_ns)
{
    struct cpu *cpu = &running->cpus[number];

    cpu->has_left = false;
    if (cpu->late_ns > 0)
        deduct_reported(running, number, cpu->late_ns);
    cpu->late_ns = 0;
    if (cpu->began_before)
        settle_first(running, number, elapsed_ns);
    if (cpu->switch_count > 0 && cpu->reported_ns > 0) {
        if (!deduct_reported(running, number, cpu->reported_ns))
            cpu->late_ns = cpu->reported_ns;
        cpu->reported_ns = 0;
    }
    /* Idle, and no thread has left: what was reported ran no more, if it ever did. */
    if (cpu->switch_count == 0 && was_idle(cpu, elapsed_ns))
        cpu->reported_ns = 0;
    deduct_excess(running, number, elapsed_ns);
}

/* Ticks don't show how long a CPU was idle whose threads change with each of them. */
static void report_running(struct hr_osnoise_running *running, unsigned number, uint64_t elapsed_ns)
{
    struct cpu *cpu = &running->cpus[number];
    uint64_t idle_ns;

    if (!find_idle(cpu, &idle_ns) || cpu->switch_count > elapsed_ns / HR_NS_PER_TICK)
        return;
    const uint64_t known_ns = cpu->counted_ns + idle_ns;
    if (known_ns + tolerance_of(elapsed_ns) >= elapsed_ns || cpu->was_offline)
        return;
    running->sources[running->source_count++] =
        (struct hr_osnoise_source){.cpu = number,
                                   .kind = HR_OSNOISE_THREAD,
                                   .name = HR_OSNOISE_RUNNING,
                                   .duration_ns = elapsed_ns - known_ns};
    /* How much of it is of the one that ran before the beginning, which won't be counted, isn't
     * known; deducted from another, it would be reported again at each interval. */
    if (!cpu->has_left)
        cpu->reported_ns += elapsed_ns - known_ns;
}

/* --- Public --------------------------------------------------------------- */

int hr_osnoise_running_open(const struct hr_root *root, const struct hr_cpu_set *cpus,
                            struct hr_osnoise_running **running)
{
    struct hr_osnoise_running *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return -ENOMEM;
    made->root = root;
    for (unsigned cpu = hr_cpu_set_next(cpus, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(cpus, cpu + 1))
        made->cpu_end = cpu + 1;
    made->cpus = calloc(made->cpu_end, sizeof(*made->cpus));
    if (made->cpus == NULL) {
        free(made);
        return -ENOMEM;
    }
    for (size_t i = 0; i < made->cpu_end; i++)
        made->cpus[i].began_before = true;
    read_idle(made);
    *running = made;
    return 0;
}

void hr_osnoise_running_close(struct hr_osnoise_running *running)
{
    if (running == NULL)
        return;
    free(running->text.start);
    free(running->cpus);
    free(running->sources);
    free(running);
}

static void sum_up(struct hr_osnoise_running *running)
{
    for (size_t i = 0; i < running->cpu_end; i++) {
        running->cpus[i].counted_ns = running->cpus[i].switch_count = 0;
        running->cpus[i].was_offline = false;
    }
    for (size_t i = 0; i < running->source_count; i++) {
        const struct hr_osnoise_source *source = &running->sources[i];
        if (source->cpu >= running->cpu_end)
            continue;
        struct cpu *cpu = &running->cpus[source->cpu];
        cpu->counted_ns += source->duration_ns;
        if (source->kind != HR_OSNOISE_THREAD)
            continue;
        cpu->switch_count += source->count;
        /* The kernel's own thread that takes a CPU offline, and back. */
        if (strncmp(source->name, "cpuhp/", strlen("cpuhp/")) == 0)
            cpu->was_offline = true;
    }
}

static int copy_sources(struct hr_osnoise_running *running, const struct hr_osnoise_counts *counts)
{
    if (HR_ARRAY_RESERVE(running->sources, running->source_capacity,
                         counts->source_count + running->cpu_end) < 0)
        return -ENOMEM;
    if (counts->source_count > 0)
        memcpy(running->sources, counts->sources, counts->source_count * sizeof(*counts->sources));
    running->source_count = counts->source_count;
    return 0;
}

int hr_osnoise_running_add(struct hr_osnoise_running *running, const struct hr_cpu_set *cpus,
                           uint64_t elapsed_ns, struct hr_osnoise_counts *counts)
{
    int status = copy_sources(running, counts);

    if (status < 0)
        return status;
    read_idle(running);
    sum_up(running);
    for (unsigned number = 0; number < running->cpu_end; number++) {
        if (!hr_cpu_set_has(cpus, number)) {
            running->cpus[number].reported_ns = running->cpus[number].late_ns = 0;
            running->cpus[number].began_before = true;
            continue;
        }
        settle(running, number, elapsed_ns);
        report_running(running, number, elapsed_ns);
    }
    counts->sources = running->sources;
    counts->source_count = running->source_count;
    return 0;
}
