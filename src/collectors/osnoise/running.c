/* SPDX-License-Identifier: MIT */
#include "osnoise/running.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/array.h"
#include "headroom/clock.h"
#include "osnoise/running_task.h"

/* The search for tasks takes up to this part of the time, of which so much may be saved up. */
#define SEARCH_PART    1000
#define SEARCH_MOST_NS (100 * (int64_t)HR_NS_PER_MS)

/* What the kernel's sums miss of each switch adds up: a CPU that switches as often has no thread
 * that runs for long. */
#define MANY_SWITCHES 20

enum runner { UNKNOWN, IDLE, TASK };

struct cpu {
    uint64_t run_ns;   /* for how long the thread that runs now has run, net */
    uint64_t added_ns; /* how much of that was reported */
    enum runner runner;
    struct hr_osnoise_running_task task;
    /* What would have been more than the interval: comes with the next one. */
    char held_name[HR_OSNOISE_NAME];
    uint64_t held_ns;
    /* Since the last reading: */
    uint64_t counted_ns, switch_count; /* by the kernel */
    uint64_t idle_ns;                  /* by /proc/stat */
};

struct hr_osnoise_running {
    const struct hr_root *root;
    struct cpu *cpus; /* by number */
    size_t cpu_end;
    uint64_t *idle_before_ns, *idle_now_ns; /* since boot */
    bool knows_idle, knew_idle;
    struct hr_file_text stat;              /* /proc/stat */
    struct hr_osnoise_running_task *found; /* by CPU */
    int64_t search_ns; /* for how long may be searched; negative: not yet again */
    struct hr_osnoise_source *sources;
    size_t source_count, source_capacity;
};

int hr_osnoise_running_open(const struct hr_root *root, const struct hr_cpu_set *cpus,
                            struct hr_osnoise_running **running)
{
    struct hr_osnoise_running *made = calloc(1, sizeof(*made));

    if (made == NULL)
        return -ENOMEM;
    made->root = root;
    made->search_ns = SEARCH_MOST_NS;
    for (unsigned cpu = hr_cpu_set_next(cpus, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(cpus, cpu + 1))
        made->cpu_end = cpu + 1;
    made->cpus = calloc(made->cpu_end, sizeof(*made->cpus));
    made->idle_before_ns = calloc(made->cpu_end, sizeof(*made->idle_before_ns));
    made->idle_now_ns = calloc(made->cpu_end, sizeof(*made->idle_now_ns));
    made->found = calloc(made->cpu_end, sizeof(*made->found));
    if (made->cpus == NULL || made->idle_before_ns == NULL || made->idle_now_ns == NULL ||
        made->found == NULL) {
        hr_osnoise_running_close(made);
        return -ENOMEM;
    }
    made->knows_idle =
        hr_osnoise_read_idle(root, &made->stat, made->idle_now_ns, made->cpu_end) == 0;
    *running = made;
    return 0;
}

void hr_osnoise_running_close(struct hr_osnoise_running *running)
{
    if (running == NULL)
        return;
    free(running->cpus);
    free(running->idle_before_ns);
    free(running->idle_now_ns);
    free(running->stat.start);
    free(running->found);
    free(running->sources);
    free(running);
}

/* --- What the kernel has counted ------------------------------------------ */

/* A CPU that isn't reported begins anew: it was offline. */
static void forget_others(struct hr_osnoise_running *running, const struct hr_cpu_set *reported)
{
    for (unsigned cpu = 0; cpu < running->cpu_end; cpu++) {
        struct cpu *row = &running->cpus[cpu];
        if (!hr_cpu_set_has(reported, cpu))
            *row = (struct cpu){0};
        row->counted_ns = row->switch_count = row->idle_ns = 0;
    }
}

static void sum_up(struct hr_osnoise_running *running, const struct hr_osnoise_counts *counts)
{
    for (size_t i = 0; i < counts->source_count; i++) {
        const struct hr_osnoise_source *source = &counts->sources[i];
        if (source->cpu >= running->cpu_end)
            continue;
        running->cpus[source->cpu].counted_ns += source->duration_ns;
        if (source->kind == HR_OSNOISE_THREAD)
            running->cpus[source->cpu].switch_count += source->count;
    }
    for (size_t i = 0; i < counts->idle_count; i++) {
        const struct hr_osnoise_idle *idle = &counts->idle[i];
        if (idle->cpu >= running->cpu_end)
            continue;
        running->cpus[idle->cpu].counted_ns += idle->duration_ns;
        running->cpus[idle->cpu].switch_count += idle->count;
    }
}

static void read_idle(struct hr_osnoise_running *running)
{
    uint64_t *const before = running->idle_before_ns, *const now = running->idle_now_ns;

    memcpy(before, now, running->cpu_end * sizeof(*before));
    running->knew_idle = running->knows_idle;
    running->knows_idle =
        hr_osnoise_read_idle(running->root, &running->stat, now, running->cpu_end) == 0;
    for (size_t cpu = 0; running->knew_idle && running->knows_idle && cpu < running->cpu_end; cpu++)
        running->cpus[cpu].idle_ns = now[cpu] > before[cpu] ? now[cpu] - before[cpu] : 0;
}

/* --- The sources ---------------------------------------------------------- */

static struct hr_osnoise_source *find_source(struct hr_osnoise_running *running, unsigned cpu,
                                             const char *name)
{
    for (size_t i = 0; i < running->source_count; i++) {
        struct hr_osnoise_source *source = &running->sources[i];
        if (source->cpu == cpu && source->kind == HR_OSNOISE_THREAD &&
            strcmp(source->name, name) == 0)
            return source;
    }
    return NULL;
}

static struct hr_osnoise_source *find_longest(struct hr_osnoise_running *running, unsigned cpu)
{
    struct hr_osnoise_source *longest = NULL;

    for (size_t i = 0; i < running->source_count; i++) {
        struct hr_osnoise_source *source = &running->sources[i];
        if (source->cpu == cpu && source->kind == HR_OSNOISE_THREAD &&
            (longest == NULL || longest->duration_ns < source->duration_ns))
            longest = source;
    }
    return longest;
}

static uint64_t sum_threads(const struct hr_osnoise_running *running, unsigned cpu)
{
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < running->source_count; i++)
        if (running->sources[i].cpu == cpu && running->sources[i].kind == HR_OSNOISE_THREAD)
            sum_ns += running->sources[i].duration_ns;
    return sum_ns;
}

/* There is room for two more of each CPU. */
static void add_time(struct hr_osnoise_running *running, unsigned cpu, const char *name,
                     uint64_t duration_ns)
{
    struct hr_osnoise_source *source = find_source(running, cpu, name);

    if (duration_ns == 0)
        return;
    if (source == NULL) {
        source = &running->sources[running->source_count++];
        *source = (struct hr_osnoise_source){.cpu = cpu, .kind = HR_OSNOISE_THREAD};
        memcpy(source->name, name, strlen(name) + 1);
    }
    source->duration_ns += duration_ns;
}

static void deduct(struct hr_osnoise_source *source, uint64_t *duration_ns)
{
    if (source == NULL)
        return;
    const uint64_t part_ns =
        *duration_ns < source->duration_ns ? *duration_ns : source->duration_ns;
    source->duration_ns -= part_ns;
    *duration_ns -= part_ns;
}

/* The thread has left: what was added before is part of what the kernel has counted now. It may
 * have another name by now. */
static void deduct_added(struct hr_osnoise_running *running, unsigned cpu)
{
    struct cpu *row = &running->cpus[cpu];

    if (row->added_ns > 0)
        deduct(find_source(running, cpu, row->task.name), &row->added_ns);
    if (row->added_ns > 0)
        deduct(find_longest(running, cpu), &row->added_ns);
    row->added_ns = 0;
    row->runner = UNKNOWN;
}

/* A thread that had begun shortly before an interval, which doesn't count as running yet, or wasn't
 * found. */
static void hold_excess(struct hr_osnoise_running *running, unsigned cpu, uint64_t elapsed_ns)
{
    struct cpu *row = &running->cpus[cpu];

    add_time(running, cpu, row->held_name, row->held_ns);
    row->held_ns = 0;
    const uint64_t sum_ns = sum_threads(running, cpu);
    if (sum_ns <= elapsed_ns)
        return;
    struct hr_osnoise_source *longest = find_longest(running, cpu);
    uint64_t excess_ns = sum_ns - elapsed_ns, left_ns = excess_ns;
    deduct(longest, &left_ns);
    row->held_ns = excess_ns - left_ns;
    if (row->held_ns > 2 * elapsed_ns) /* long past, as who ran couldn't be told */
        row->held_ns = 2 * elapsed_ns;
    memcpy(row->held_name, longest->name, sizeof(row->held_name));
}

/* --- Who runs ------------------------------------------------------------- */

static void update_run_time(struct cpu *row, uint64_t elapsed_ns)
{
    const uint64_t run_ns = row->run_ns + elapsed_ns;

    row->run_ns = run_ns > row->counted_ns ? run_ns - row->counted_ns : 0;
    if (row->switch_count > 0 && row->run_ns > elapsed_ns)
        row->run_ns = elapsed_ns;
    if (row->switch_count >= MANY_SWITCHES)
        row->run_ns = 0;
}

/* The first switch of a CPU since the beginning isn't counted, as it is unknown for how long that
 * thread had run. */
static void check_task(struct hr_osnoise_running *running, unsigned cpu)
{
    struct cpu *row = &running->cpus[cpu];

    if (row->runner != TASK || hr_osnoise_running_task_stays(running->root, cpu, &row->task))
        return;
    row->added_ns = row->run_ns = 0;
    row->runner = UNKNOWN;
}

/* An idle CPU, as far as its ticks tell, or one that runs something. */
static bool is_busy(const struct hr_osnoise_running *running, const struct cpu *row,
                    uint64_t elapsed_ns)
{
    return running->knew_idle && running->knows_idle && row->idle_ns < elapsed_ns / 2;
}

/* One that has begun to run did so within this interval. Where a switch wasn't counted, what was
 * idle would be taken for its time.
 *
 * @return whether it is to be found which task runs. */
static bool update_cpu(struct hr_osnoise_running *running, unsigned cpu, uint64_t elapsed_ns)
{
    struct cpu *row = &running->cpus[cpu];

    update_run_time(row, elapsed_ns);
    if (row->switch_count > 0)
        deduct_added(running, cpu);
    else
        check_task(running, cpu);
    if (row->run_ns < elapsed_ns / 2 || row->runner == TASK)
        return false;
    if (!is_busy(running, row, elapsed_ns)) {
        row->runner = IDLE;
        return false;
    }
    if (row->added_ns == 0 && row->run_ns > elapsed_ns - row->idle_ns)
        row->run_ns = elapsed_ns - row->idle_ns;
    /* The task that ran before, interrupted for a moment. */
    row->runner = hr_osnoise_running_task_stays(running->root, cpu, &row->task) ? TASK : UNKNOWN;
    return row->runner == UNKNOWN;
}

static void find_tasks(struct hr_osnoise_running *running, const struct hr_cpu_set *wanted,
                       uint64_t elapsed_ns)
{
    running->search_ns += (int64_t)(elapsed_ns / SEARCH_PART);
    if (running->search_ns > SEARCH_MOST_NS)
        running->search_ns = SEARCH_MOST_NS;
    if (hr_cpu_set_count(wanted) == 0 || running->search_ns < 0)
        return;
    const uint64_t begun_ns = hr_clock_ns();
    int status = hr_osnoise_running_task_find(running->root, wanted, running->found);
    running->search_ns -= (int64_t)(hr_clock_ns() - begun_ns);
    if (status < 0)
        return;
    for (unsigned cpu = hr_cpu_set_next(wanted, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(wanted, cpu + 1)) {
        running->cpus[cpu].task = running->found[cpu];
        running->cpus[cpu].runner = running->found[cpu].id != 0 ? TASK : UNKNOWN;
    }
}

static void add_running(struct hr_osnoise_running *running, unsigned cpu, uint64_t elapsed_ns)
{
    struct cpu *row = &running->cpus[cpu];

    if (row->run_ns < elapsed_ns / 2 || row->run_ns <= row->added_ns ||
        (row->runner != TASK && !is_busy(running, row, elapsed_ns)))
        return;
    add_time(running, cpu, row->runner == TASK ? row->task.name : "", row->run_ns - row->added_ns);
    row->added_ns = row->run_ns;
}

/* --- Public --------------------------------------------------------------- */

static int copy_sources(struct hr_osnoise_running *running, const struct hr_osnoise_counts *counts)
{
    if (HR_ARRAY_RESERVE(running->sources, running->source_capacity,
                         counts->source_count + 2 * running->cpu_end) < 0)
        return -ENOMEM;
    if (counts->source_count > 0)
        memcpy(running->sources, counts->sources, counts->source_count * sizeof(*counts->sources));
    running->source_count = counts->source_count;
    return 0;
}

/* Sources of which nothing is left are those that were reported before. */
static void keep_noise(struct hr_osnoise_running *running)
{
    size_t kept = 0;

    for (size_t i = 0; i < running->source_count; i++)
        if (running->sources[i].count > 0 || running->sources[i].duration_ns > 0)
            running->sources[kept++] = running->sources[i];
    running->source_count = kept;
}

int hr_osnoise_running_add(struct hr_osnoise_running *running, const struct hr_cpu_set *cpus,
                           uint64_t elapsed_ns, struct hr_osnoise_counts *counts)
{
    struct hr_cpu_set wanted = {0};
    int status = elapsed_ns > 0 ? copy_sources(running, counts) : 0;

    if (status < 0 || elapsed_ns == 0)
        return status;
    forget_others(running, cpus);
    sum_up(running, counts);
    read_idle(running);
    for (unsigned cpu = 0; cpu < running->cpu_end; cpu++)
        if (hr_cpu_set_has(cpus, cpu) && update_cpu(running, cpu, elapsed_ns))
            hr_cpu_set_add(&wanted, cpu);
    find_tasks(running, &wanted, elapsed_ns);
    for (unsigned cpu = 0; cpu < running->cpu_end; cpu++)
        if (hr_cpu_set_has(cpus, cpu)) {
            add_running(running, cpu, elapsed_ns);
            hold_excess(running, cpu, elapsed_ns);
        }
    keep_noise(running);
    counts->sources = running->sources;
    counts->source_count = running->source_count;
    return 0;
}
