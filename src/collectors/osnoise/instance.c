/* SPDX-License-Identifier: MIT */
#include "osnoise/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/text.h"
#include "headroom/clock.h"
#include "osnoise/buffers.h"
#include "osnoise/cause_events.h"
#include "osnoise/instance_file.h"
#include "osnoise/ipi_senders.h"
#include "osnoise/owner.h"
#include "osnoise/process_exit.h"

/* Another program may just be reading the instance's files. */
#define BUSY_TRIES    5
#define BUSY_PAUSE_NS HR_NS_PER_MS

/* What began before the tracer did has start 0, and the time since boot as its duration. */
#define STARTED "start != 0"

/* The sum of all names. */
#define SUM_KEYS "common_cpu:vals=duration"

#define SAMPLE_EVENT "osnoise_sample"

/* What is counted of each event. */
static const struct table {
    const char *event;
    const char *keys, *filter;
    bool has_sum;    /* names may come to more than there is room for */
    size_t each_cpu; /* how many entries there is room for */
} tables[HR_OSNOISE_TABLE_COUNT] = {
    [HR_OSNOISE_TABLE_IRQ] = {"irq_noise", "common_cpu,desc:vals=duration", STARTED, true, 64},
    [HR_OSNOISE_TABLE_SOFTIRQ] = {"softirq_noise", "common_cpu,vector:vals=duration", STARTED,
                                  false, 16},
    [HR_OSNOISE_TABLE_THREAD] = {"thread_noise", "common_cpu,comm:vals=duration",
                                 STARTED " && pid != 0", true, 256},
    [HR_OSNOISE_TABLE_NMI] = {"nmi_noise", SUM_KEYS, STARTED, false, 1},
    [HR_OSNOISE_TABLE_DURATION] = {"sample_threshold", "common_cpu,duration.log2:vals=hitcount",
                                   STARTED, false, 64},
};

/* The sizes of tables: powers of two. All entries are allocated at once, and printed at each
 * reading. */
#define LEAST_ENTRIES 4096
#define LEAST_SUMS    128
#define MOST_ENTRIES  65536

static void print_event_path(char path[HR_OSNOISE_PATH], const char *instance, const char *event,
                             const char *file)
{
    snprintf(path, HR_OSNOISE_PATH, "instances/%s/events/osnoise/%s/%s", instance, event, file);
}

/* --- Creation ------------------------------------------------------------- */

static int make_directory(const struct hr_tracefs *tracefs, const char *name,
                          struct hr_reason *reason)
{
    char path[HR_OSNOISE_PATH];

    hr_osnoise_instance_file(path, name, "");
    if (mkdirat(tracefs->fd, path, 0750) == 0)
        return 0;
    int error = -errno;
    if (error == -EEXIST)
        return hr_reason_set(reason, error,
                             "tracefs has an instance %s already: if no program uses it, remove it "
                             "by headroom osnoise "
                             "--restore",
                             name);
    if (error == -ENOENT)
        return hr_reason_set(reason, error, "this kernel's tracefs has no instances");
    return hr_osnoise_instance_explain(reason, error, "can't create the instance %s", name);
}

/* "timerlat osnoise hwlat function nop\n": an instance lists only tracers that may run in one. */
static int check_tracer(const struct hr_tracefs *tracefs, const char *name, const char *tracer,
                        struct hr_reason *reason)
{
    char path[HR_OSNOISE_PATH], tracers[1024];

    hr_osnoise_instance_file(path, name, "available_tracers");
    int status = hr_tracefs_read(tracefs, path, tracers, sizeof(tracers), NULL);
    if (status < 0)
        return hr_osnoise_instance_explain(reason, status, "can't read the tracers of an instance");
    if (hr_text_has_word(tracers, tracer))
        return 0;
    return hr_reason_set(reason, -EOPNOTSUPP,
                         "this kernel has no %s tracer for instances: it needs Linux 5.17 or "
                         "later with CONFIG_%s_TRACER=y",
                         tracer, strcmp(tracer, "timerlat") == 0 ? "TIMERLAT" : "OSNOISE");
}

/* Only as many words of 32 bits as needed: "3,00000000,0000000f". */
static void print_mask(const struct hr_cpu_set *cpus, char *text, size_t size)
{
    size_t length = 0, words = HR_CPU_MAX / 32;

#define WORD(i) (uint32_t)(cpus->words[(i) / 2] >> ((i) % 2 * 32))
    while (words > 1 && WORD(words - 1) == 0)
        words--;
    for (size_t i = words; i-- > 0 && length < size;)
        length += (size_t)snprintf(text + length, size - length, i + 1 == words ? "%x" : ",%08x",
                                   WORD(i));
#undef WORD
}

static int set_cpus(const struct hr_tracefs *tracefs, const char *name,
                    const struct hr_osnoise_plan *plan, struct hr_reason *reason)
{
    char mask[HR_CPU_MAX / 32 * 9 + 1];

    if (hr_cpu_set_count(&plan->cpus) == 0)
        return 0;
    print_mask(&plan->cpus, mask, sizeof(mask));
    int status = hr_osnoise_instance_write(tracefs, name, "tracing_cpumask", mask);
    return status < 0 ? hr_osnoise_instance_explain(reason, status, "can't set the CPUs to record")
                      : 0;
}

/* --- Recording ------------------------------------------------------------ */

/* @param filter  NULL: none. */
static int record_event(const struct hr_tracefs *tracefs, const char *name, const char *event,
                        const char *filter, struct hr_reason *reason)
{
    char path[HR_OSNOISE_PATH];
    int status = 0;

    print_event_path(path, name, event, "filter");
    if (filter != NULL)
        status = hr_tracefs_write(tracefs, path, filter);
    if (status == 0) {
        print_event_path(path, name, event, "enable");
        status = hr_tracefs_write(tracefs, path, "1");
    }
    return status < 0 ? hr_osnoise_instance_explain(reason, status,
                                                    "can't record the event osnoise:%s", event)
                      : 0;
}

/* Single noises, each preceded by its interferences. */
static int record_single_noises(const struct hr_tracefs *tracefs, const char *name,
                                const struct hr_osnoise_plan *plan, struct hr_reason *reason)
{
    char filter[64];
    int status = 0;

    if (plan->max_single_ns == 0)
        return 0;
    snprintf(filter, sizeof(filter), "duration > %" PRIu64, plan->max_single_ns);
    for (int i = 0; status == 0 && i < HR_OSNOISE_TABLE_COUNT; i++)
        status = record_event(tracefs, name, tables[i].event,
                              i == HR_OSNOISE_TABLE_DURATION ? filter : STARTED, reason);
    if (status == 0 && plan->causes)
        hr_osnoise_cause_events_record(tracefs, name, &plan->cpus);
    return status;
}

/* Elsewhere the tracer itself records them. */
static int record_samples(const struct hr_tracefs *tracefs, const char *name,
                          const struct hr_osnoise_plan *plan, struct hr_reason *reason)
{
    return plan->samples_by_event ? record_event(tracefs, name, SAMPLE_EVENT, NULL, reason) : 0;
}

bool hr_osnoise_instance_has_sample_event(const struct hr_tracefs *tracefs)
{
    return hr_tracefs_exists(tracefs, "events/osnoise/" SAMPLE_EVENT "/enable");
}

/* --- Counting ------------------------------------------------------------- */

static size_t count_online(const struct hr_osnoise_plan *plan)
{
    struct hr_cpu_set online = plan->counted;

    hr_cpu_set_keep(&online, &plan->online);
    return hr_cpu_set_count(&online);
}

static size_t choose_size(size_t cpus, size_t least, size_t each_cpu)
{
    size_t size = least;

    while (size < MOST_ENTRIES && size < cpus * each_cpu)
        size *= 2;
    return size;
}

/* @param command  ":clear" */
static int write_trigger(const struct hr_tracefs *tracefs, const char *name,
                         enum hr_osnoise_table table, const char *keys, const char *command)
{
    char path[HR_OSNOISE_PATH], text[192];

    print_event_path(path, name, tables[table].event, "trigger");
    snprintf(text, sizeof(text), "hist:keys=%s%s if %s", keys, command, tables[table].filter);
    return hr_tracefs_append(tracefs, path, text);
}

static int add_histogram(const struct hr_tracefs *tracefs, const char *name,
                         enum hr_osnoise_table table, const char *keys, size_t size)
{
    char command[32];

    snprintf(command, sizeof(command), ":size=%zu", size);
    return write_trigger(tracefs, name, table, keys, command);
}

/* The kernel prints histograms in this order: so a sum is a moment older than its names. */
static int add_count_trigger(const struct hr_tracefs *tracefs, const char *name,
                             const struct hr_osnoise_plan *plan, enum hr_osnoise_table table)
{
    const struct table *of = &tables[table];
    const size_t sums = choose_size(hr_cpu_set_count(&plan->counted), LEAST_SUMS, 2);
    const size_t entries = choose_size(count_online(plan), LEAST_ENTRIES, of->each_cpu);
    int status = 0;

    /* What has no room among the names is in the sum, which must have room for all. */
    if (of->has_sum)
        status = add_histogram(tracefs, name, table, SUM_KEYS, sums);
    if (status == 0)
        status = add_histogram(tracefs, name, table, of->keys, entries);
    return status;
}

static int add_count_triggers(const struct hr_tracefs *tracefs, const char *name,
                              const struct hr_osnoise_plan *plan, struct hr_reason *reason)
{
    for (int i = 0; i < HR_OSNOISE_TABLE_COUNT; i++) {
        if (i == HR_OSNOISE_TABLE_DURATION ? !plan->histogram : !plan->by_source)
            continue;
        int status = add_count_trigger(tracefs, name, plan, i);
        if (status == -EINVAL)
            return hr_reason_set(reason, -EOPNOTSUPP,
                                 "the kernel has no hist triggers to count noise with: it needs "
                                 "CONFIG_HIST_TRIGGERS=y");
        if (status < 0)
            return hr_osnoise_instance_explain(reason, status, "can't count the event osnoise:%s",
                                               tables[i].event);
    }
    return 0;
}

/* --- Public --------------------------------------------------------------- */

static int set_up_instance(const struct hr_tracefs *tracefs, const char *name,
                           const struct hr_osnoise_plan *plan, struct hr_cpu_set *occupied,
                           struct hr_reason *reason)
{
    uint64_t pid = 0;
    int status = check_tracer(tracefs, name, plan->tracer, reason);

    if (status == 0)
        pid = hr_osnoise_exit_find_pid(tracefs, name);
    if (status == 0)
        status = hr_osnoise_buffers_set(tracefs, name, plan, occupied, reason);
    if (status == 0)
        status = set_cpus(tracefs, name, plan, reason);
    if (status == 0)
        status = record_samples(tracefs, name, plan, reason);
    if (status == 0)
        status = record_single_noises(tracefs, name, plan, reason);
    if (status == 0)
        status = add_count_triggers(tracefs, name, plan, reason);
    if (status < 0)
        return status;
    hr_osnoise_exit_stop(tracefs, name, pid);
    status = hr_osnoise_instance_write(tracefs, name, "tracing_on", "1");
    return status < 0 ? hr_osnoise_instance_explain(reason, status, "can't switch recording on")
                      : 0;
}

int hr_osnoise_instance_make(const struct hr_tracefs *tracefs, const char *name,
                             const struct hr_osnoise_plan *plan, struct hr_cpu_set *occupied,
                             int *lock, struct hr_reason *reason)
{
    int status = make_directory(tracefs, name, reason);

    if (status < 0)
        return status;
    status = hr_osnoise_owner_lock_instance(tracefs, name, lock);
    if (status < 0)
        hr_osnoise_instance_explain(reason, status, "can't lock the instance %s", name);
    else
        status = set_up_instance(tracefs, name, plan, occupied, reason);
    if (status == 0)
        return 0;
    hr_osnoise_instance_remove(tracefs, name, lock);
    return status;
}

int hr_osnoise_instance_start(const struct hr_tracefs *tracefs, const char *name,
                              const char *tracer)
{
    return hr_osnoise_instance_write(tracefs, name, "current_tracer", tracer);
}

/* Reads the name of the instance's tracer. An instance that is being removed still has its files
 * for a moment. */
static int read_tracer(const struct hr_tracefs *tracefs, const char *name, char *tracer,
                       size_t size)
{
    char path[HR_OSNOISE_PATH];

    hr_osnoise_instance_file(path, name, "current_tracer");
    int status = hr_tracefs_read(tracefs, path, tracer, size, NULL);
    if (status < 0)
        return status == -ENODEV ? -ENOENT : status;
    tracer[strcspn(tracer, "\n")] = '\0';
    return 0;
}

int hr_osnoise_instance_has_tracer(const struct hr_tracefs *tracefs, const char *name)
{
    char tracer[64];
    int status = read_tracer(tracefs, name, tracer, sizeof(tracer));

    return status < 0 ? status : strcmp(tracer, "osnoise") == 0 || strcmp(tracer, "timerlat") == 0;
}

int hr_osnoise_instance_is_running(const struct hr_tracefs *tracefs, const char *name,
                                   const char *tracer)
{
    char path[HR_OSNOISE_PATH], now[64];
    uint64_t on = 0;

    int status = read_tracer(tracefs, name, now, sizeof(now));
    if (status < 0)
        return status;
    hr_osnoise_instance_file(path, name, "tracing_on");
    status = hr_tracefs_read_number(tracefs, path, &on);
    if (status < 0)
        return status == -ENODEV ? -ENOENT : status;
    return on == 1 && (tracer == NULL || strcmp(tracer, now) == 0);
}

/* "entries: 12\noverrun: 0\n…" */
int hr_osnoise_instance_has_records(const struct hr_tracefs *tracefs, const char *name,
                                    unsigned cpu)
{
    char path[HR_OSNOISE_PATH], file[64], text[1024];
    struct hr_text rest = {text, 0};
    uint64_t count;

    snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
    hr_osnoise_instance_file(path, name, file);
    int status = hr_tracefs_read(tracefs, path, text, sizeof(text), &rest.length);
    if (status < 0)
        return status;
    return hr_text_skip(&rest, "entries: ") && hr_text_u64(&rest, &count) ? count > 0 : -EBADMSG;
}

int hr_osnoise_instance_remove(const struct hr_tracefs *tracefs, const char *name, int *lock)
{
    /* Failures show when the instance is removed. While another program reads its pipes the tracer
     * can't be stopped, but with tracing off the workload sleeps. */
    hr_osnoise_instance_write(tracefs, name, "tracing_on", "0");
    hr_osnoise_instance_write(tracefs, name, "current_tracer", "nop");
    if (lock != NULL)
        hr_osnoise_owner_unlock(lock);
    return hr_osnoise_instance_remove_unused(tracefs, name);
}

int hr_osnoise_instance_remove_unused(const struct hr_tracefs *tracefs, const char *name)
{
    const struct timespec pause = {.tv_nsec = BUSY_PAUSE_NS};
    char path[HR_OSNOISE_PATH];
    int status = -EBUSY;

    hr_osnoise_ipi_senders_remove(tracefs, name);
    hr_osnoise_instance_file(path, name, "");
    for (int i = 0; i < BUSY_TRIES && status == -EBUSY; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        status = unlinkat(tracefs->fd, path, AT_REMOVEDIR) < 0 ? -errno : 0;
    }
    return status == -ENOENT ? 0 : status;
}

void hr_osnoise_instance_table_path(const char *name, enum hr_osnoise_table table, char *path,
                                    size_t size)
{
    snprintf(path, size, "instances/%s/events/osnoise/%s/hist", name, tables[table].event);
}

int hr_osnoise_instance_clear_table(const struct hr_tracefs *tracefs, const char *name,
                                    enum hr_osnoise_table table)
{
    return write_trigger(tracefs, name, table, tables[table].keys, ":clear");
}
