/* SPDX-License-Identifier: MIT */
#include "osnoise/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/text.h"
#include "headroom/capability.h"
#include "headroom/clock.h"
#include "osnoise/cause_events.h"
#include "osnoise/owner.h"
#include "osnoise/reachable_cpus.h"

/* A new instance has 1.4 MB for each CPU, which is enough for any period. Recording single noises
 * with all their interferences takes as much each second as there is noise. */
#define SMALL_KB         16
#define SINGLE_NOISES_KB 128
#define MOST_KB          1408

/* Works of kworkers are recorded all the time, by 28 bytes: 9,000 a second. */
#define CAUSES_KB 256

/* The size of a sample record, or of the two of a timer; and how long samples are kept, as they are
 * read each second by a thread that may be late. */
#define SAMPLE_SIZE 64
#define KEPT_US     UINT64_C(2000000)

/* A throttled real-time task leaves the other threads 50 ms of each second. */
#define REACHABLE_TIMEOUT_NS UINT64_C(2000000000)

/* Another program may just be reading the instance's files. */
#define BUSY_TRIES    5
#define BUSY_PAUSE_NS HR_NS_PER_MS

#define NAME_SIZE 320 /* of a path, with the longest name that a directory may have */

/* What began before the tracer did has start 0, and the time since boot as its duration. */
#define STARTED "start != 0"

/* The sum of all names. */
#define SUM_KEYS "common_cpu:vals=duration"

#define EXIT_EVENT   "sched/sched_process_exit"
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

static void print_file_path(char path[NAME_SIZE], const char *instance, const char *file)
{
    snprintf(path, NAME_SIZE, "instances/%s/%s", instance, file);
}

static void print_directory_path(char path[NAME_SIZE], const char *instance)
{
    snprintf(path, NAME_SIZE, "instances/%s", instance);
}

static void print_event_path(char path[NAME_SIZE], const char *instance, const char *event,
                             const char *file)
{
    snprintf(path, NAME_SIZE, "instances/%s/events/osnoise/%s/%s", instance, event, file);
}

static int write_file(const struct hr_tracefs *tracefs, const char *instance, const char *file,
                      const char *text)
{
    char path[NAME_SIZE];

    print_file_path(path, instance, file);
    return hr_tracefs_write(tracefs, path, text);
}

static int write_number(const struct hr_tracefs *tracefs, const char *instance, const char *file,
                        uint64_t value)
{
    char path[NAME_SIZE];

    print_file_path(path, instance, file);
    return hr_tracefs_write_number(tracefs, path, value);
}

/* --- Errors --------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int explain_error(struct hr_reason *reason, int error,
                                                               const char *format, ...)
{
    char what[128], remedy[HR_REMEDY_SIZE];
    va_list arguments;

    if (error == -EACCES || error == -EPERM)
        return hr_reason_set(reason, error, "no permission to create an instance in tracefs: %s",
                             hr_capability_remedy(HR_CAP_DAC_OVERRIDE, remedy));
    if (error == -ENOMEM)
        return hr_reason_set(reason, error,
                             "the kernel has no memory for the buffers of an instance "
                             "in tracefs: it needs 1.4 MB for each CPU at first");
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return hr_reason_set(reason, error, "%s in tracefs (%s)", what, strerror(-error));
}

/* --- Creation ------------------------------------------------------------- */

static int make_directory(const struct hr_tracefs *tracefs, const char *name,
                          struct hr_reason *reason)
{
    char path[NAME_SIZE];

    print_directory_path(path, name);
    if (mkdirat(tracefs->fd, path, 0750) == 0)
        return 0;
    int error = -errno;
    if (error == -EEXIST)
        return hr_reason_set(
            reason, error,
            "tracefs has an instance %s already: remove it with rmdir if no program uses it", name);
    if (error == -ENOENT)
        return hr_reason_set(reason, error, "this kernel's tracefs has no instances");
    return explain_error(reason, error, "can't create the instance %s", name);
}

/* "timerlat osnoise hwlat function nop\n": an instance lists only tracers that may run in one. */
static int check_tracer(const struct hr_tracefs *tracefs, const char *name, const char *tracer,
                        struct hr_reason *reason)
{
    char path[NAME_SIZE], tracers[1024];

    print_file_path(path, name, "available_tracers");
    int status = hr_tracefs_read(tracefs, path, tracers, sizeof(tracers), NULL);
    if (status < 0)
        return explain_error(reason, status, "can't read the tracers of an instance");
    if (hr_text_has_word(tracers, tracer))
        return 0;
    return hr_reason_set(reason, -EOPNOTSUPP,
                         "this kernel has no %s tracer for instances: it needs Linux 5.17 or "
                         "later with CONFIG_%s_TRACER=y",
                         tracer, strcmp(tracer, "timerlat") == 0 ? "TIMERLAT" : "OSNOISE");
}

/* Interferences are recorded while the tracer looks for noise: what a CPU that is measured all the
 * time may need, by its share of that time. */
static uint64_t single_noises_kb(const struct hr_osnoise_plan *plan)
{
    if (plan->max_single_ns == 0)
        return SMALL_KB;
    if (plan->period_us == 0 || plan->runtime_us >= plan->period_us)
        return MOST_KB;
    uint64_t kb = (uint64_t)((double)plan->runtime_us / (double)plan->period_us * MOST_KB) + 1;
    if (kb < SINGLE_NOISES_KB)
        kb = SINGLE_NOISES_KB;
    if (plan->causes)
        kb += CAUSES_KB;
    return kb < MOST_KB ? kb : MOST_KB;
}

/* The buffer size that a measured CPU needs. */
static uint64_t needed_kb(const struct hr_osnoise_plan *plan)
{
    uint64_t kb = single_noises_kb(plan), samples_kb = 0;

    if (plan->buffer_bytes > 0)
        return plan->buffer_bytes / 1024;
    if (plan->period_us > 0)
        samples_kb = (KEPT_US / plan->period_us + 1) * SAMPLE_SIZE / 1024 + 1;
    if (samples_kb > MOST_KB)
        samples_kb = MOST_KB;
    return samples_kb > kb ? samples_kb : kb;
}

static bool is_measured(const struct hr_osnoise_plan *plan, unsigned cpu)
{
    return hr_cpu_set_count(&plan->cpus) == 0 || hr_cpu_set_has(&plan->cpus, cpu);
}

/* The tracer's threads would never run there, and stopping the tracer would wait for them forever.
 */
static int check_reachable(const struct hr_osnoise_plan *plan, const struct hr_cpu_set *reachable,
                           struct hr_reason *reason)
{
    struct hr_cpu_set unreachable = {0};
    char list[128] = "";

    if (!plan->has_workload)
        return 0;
    for (unsigned cpu = hr_cpu_set_next(&plan->online, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(&plan->online, cpu + 1))
        if (is_measured(plan, cpu) && !hr_cpu_set_has(reachable, cpu))
            hr_cpu_set_add(&unreachable, cpu);
    if (hr_cpu_set_count(&unreachable) == 0)
        return 0;
    if (hr_cpu_set_format(&unreachable, list, sizeof(list)) < 0)
        snprintf(list, sizeof(list), "%u and others", hr_cpu_set_next(&unreachable, 0));
    return hr_reason_set(reason, -EBUSY,
                         "a real-time task leaves the kernel no time on CPU %s, where its tracer "
                         "could neither measure nor be stopped: leave that CPU out, or use the "
                         "sources mode, which runs no thread there",
                         list);
}

static struct hr_cpu_set find_disturbed_cpus(const struct hr_osnoise_plan *plan)
{
    struct hr_cpu_set disturbed = {0};

    for (unsigned cpu = hr_cpu_set_next(&plan->online, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(&plan->online, cpu + 1))
        if (is_measured(plan, cpu) || !hr_cpu_set_has(&plan->isolated, cpu))
            hr_cpu_set_add(&disturbed, cpu);
    return disturbed;
}

static int resize(const struct hr_tracefs *tracefs, const char *name,
                  const struct hr_osnoise_plan *plan, const struct hr_cpu_set *cpus)
{
    char file[64];
    int status = 0;

    for (unsigned cpu = hr_cpu_set_next(cpus, 0); status == 0 && cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(cpus, cpu + 1)) {
        snprintf(file, sizeof(file), "per_cpu/cpu%u/buffer_size_kb", cpu);
        status =
            write_number(tracefs, name, file, is_measured(plan, cpu) ? needed_kb(plan) : SMALL_KB);
        if (status == -ENOENT)
            status = 0; /* the CPU wasn't there when the instance was created */
    }
    return status;
}

/* Each CPU resizes its own buffer, in a worker that the kernel waits for unkillably: so CPUs where
 * ordinary threads get no time keep the large one. The file for all CPUs would wait for those, too.
 */
static int set_buffer_sizes(const struct hr_tracefs *tracefs, const char *name,
                            const struct hr_osnoise_plan *plan, struct hr_reason *reason)
{
    const struct hr_cpu_set disturbed = find_disturbed_cpus(plan);
    struct hr_cpu_set reachable;

    int status = hr_osnoise_find_reachable_cpus(&disturbed, REACHABLE_TIMEOUT_NS, &reachable);
    if (status < 0)
        return hr_reason_set(reason, status, "can't run a thread on each CPU (%s)",
                             strerror(-status));
    status = check_reachable(plan, &reachable, reason);
    if (status < 0)
        return status;
    status = resize(tracefs, name, plan, &reachable);
    return status < 0 ? explain_error(reason, status, "can't set the size of buffers") : 0;
}

int hr_osnoise_instance_resize(const struct hr_tracefs *tracefs, const char *name,
                               const struct hr_osnoise_plan *plan, const struct hr_cpu_set *cpus)
{
    struct hr_cpu_set reachable;
    int status = hr_osnoise_find_reachable_cpus(cpus, REACHABLE_TIMEOUT_NS, &reachable);

    return status < 0 ? status : resize(tracefs, name, plan, &reachable);
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
    int status = write_file(tracefs, name, "tracing_cpumask", mask);
    return status < 0 ? explain_error(reason, status, "can't set the CPUs to record") : 0;
}

/* --- Recording ------------------------------------------------------------ */

/* @param filter  NULL: none. */
static int record_event(const struct hr_tracefs *tracefs, const char *name, const char *event,
                        const char *filter, struct hr_reason *reason)
{
    char path[NAME_SIZE];
    int status = 0;

    print_event_path(path, name, event, "filter");
    if (filter != NULL)
        status = hr_tracefs_write(tracefs, path, filter);
    if (status == 0) {
        print_event_path(path, name, event, "enable");
        status = hr_tracefs_write(tracefs, path, "1");
    }
    return status < 0 ? explain_error(reason, status, "can't record the event osnoise:%s", event)
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

static size_t count_cpus(const struct hr_osnoise_plan *plan)
{
    const size_t measured = hr_cpu_set_count(&plan->cpus);

    return measured > 0 ? measured : hr_cpu_set_count(&plan->online);
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
    char path[NAME_SIZE], text[192];

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
    const size_t cpus = count_cpus(plan), most = plan->cpu_count > cpus ? plan->cpu_count : cpus;
    int status = 0;

    /* What has no room among the names is in the sum, which must have room for all. */
    if (of->has_sum)
        status = add_histogram(tracefs, name, table, SUM_KEYS, choose_size(most, LEAST_SUMS, 2));
    if (status == 0)
        status = add_histogram(tracefs, name, table, of->keys,
                               choose_size(cpus, LEAST_ENTRIES, of->each_cpu));
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
            return explain_error(reason, status, "can't count the event osnoise:%s",
                                 tables[i].event);
    }
    return 0;
}

/* --- Process exit --------------------------------------------------------- */

/* The inode number of the first PID namespace (PROC_PID_INIT_INO). */
#define FIRST_PIDS 0xEFFFFFFCU

bool hr_osnoise_has_pids_of_kernel(void)
{
    struct stat pids;

    if (stat("/proc/self/ns/pid", &pids) < 0)
        return errno == ENOENT; /* without CONFIG_PID_NS there is no other */
    return pids.st_ino == FIRST_PIDS;
}

bool hr_osnoise_instance_workload_sleeps(const struct hr_tracefs *tracefs)
{
    return hr_tracefs_exists(tracefs, "osnoise/per_cpu");
}

bool hr_osnoise_instance_stops_on_exit(const struct hr_tracefs *tracefs)
{
    return hr_osnoise_instance_workload_sleeps(tracefs) &&
           hr_tracefs_exists(tracefs, "events/" EXIT_EVENT "/trigger");
}

bool hr_osnoise_instance_is_stopped_on_exit(const struct hr_tracefs *tracefs, const char *name)
{
    static const char command[] = "traceoff";
    char path[NAME_SIZE], text[1024];

    print_file_path(path, name, "events/" EXIT_EVENT "/trigger");
    return hr_osnoise_instance_workload_sleeps(tracefs) &&
           hr_tracefs_read(tracefs, path, text, sizeof(text), NULL) == 0 &&
           strncmp(text, command, sizeof(command) - 1) == 0;
}

/* Has this thread write a line into the buffer, and reads the PID that the kernel records with it:
 * "4711 1 81234567890 # ffffffff81234567 headroom", below lines that begin with '#'. */
static int read_recorded_pid(const struct hr_tracefs *tracefs, const char *name, uint64_t *pid)
{
    char path[NAME_SIZE], text[4096];
    struct hr_text rest = {text, 0};

    int status = write_file(tracefs, name, "trace_marker", "headroom");
    print_file_path(path, name, "trace");
    if (status == 0)
        status = hr_tracefs_read(tracefs, path, text, sizeof(text), &rest.length);
    if (status < 0)
        return status;
    while (hr_text_skip(&rest, "#"))
        if (!hr_text_skip_line(&rest))
            return -EBADMSG;
    return hr_text_u64(&rest, pid) && hr_text_skip(&rest, " ") ? 0 : -EBADMSG;
}

/* The PID by which the kernel's events know this process, or in a container with PIDs of its own
 * this thread, which goes when the process does. The instance must be new; it has the options of
 * the top-level one, which another program may have set. @return 0: it isn't known. */
static uint64_t find_own_pid(const struct hr_tracefs *tracefs, const char *name)
{
    static const char *const options[] = {"markers", "context-info", "nobin", "nohex", "raw"};
    uint64_t pid = 0;
    int status = 0;

    if (hr_osnoise_has_pids_of_kernel())
        return (uint64_t)getpid();
    if (!hr_osnoise_instance_stops_on_exit(tracefs))
        return 0;
    for (size_t i = 0; status == 0 && i < sizeof(options) / sizeof(options[0]); i++)
        status = write_file(tracefs, name, "trace_options", options[i]);
    if (status == 0)
        status = read_recorded_pid(tracefs, name, &pid);
    write_file(tracefs, name, "trace_options", "noraw");
    return status == 0 ? pid : 0;
}

/* Once this process has exited, for whatever reason, the instance stops recording; and while no
 * instance of the tracer records, its workload sleeps. A safeguard only: a run does without if the
 * kernel has no such trigger, or the PID isn't known. */
static void stop_on_process_exit(const struct hr_tracefs *tracefs, const char *name, uint64_t pid)
{
    char path[NAME_SIZE], text[64];

    if (pid == 0)
        return;
    print_file_path(path, name, "events/" EXIT_EVENT "/trigger");
    snprintf(text, sizeof(text), "traceoff if pid == %" PRIu64, pid);
    hr_tracefs_append(tracefs, path, text);
}

/* --- Public --------------------------------------------------------------- */

static int set_up_instance(const struct hr_tracefs *tracefs, const char *name,
                           const struct hr_osnoise_plan *plan, struct hr_reason *reason)
{
    uint64_t pid = 0;
    int status = check_tracer(tracefs, name, plan->tracer, reason);

    if (status == 0)
        pid = find_own_pid(tracefs, name);
    if (status == 0)
        status = set_buffer_sizes(tracefs, name, plan, reason);
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
    stop_on_process_exit(tracefs, name, pid);
    status = write_file(tracefs, name, "tracing_on", "1");
    return status < 0 ? explain_error(reason, status, "can't switch recording on") : 0;
}

int hr_osnoise_instance_make(const struct hr_tracefs *tracefs, const char *name,
                             const struct hr_osnoise_plan *plan, int *lock,
                             struct hr_reason *reason)
{
    int status = make_directory(tracefs, name, reason);

    if (status < 0)
        return status;
    status = hr_osnoise_owner_lock_instance(tracefs, name, lock);
    if (status < 0)
        explain_error(reason, status, "can't lock the instance %s", name);
    else
        status = set_up_instance(tracefs, name, plan, reason);
    if (status == 0)
        return 0;
    hr_osnoise_instance_remove(tracefs, name, lock);
    return status;
}

int hr_osnoise_instance_start(const struct hr_tracefs *tracefs, const char *name,
                              const char *tracer)
{
    return write_file(tracefs, name, "current_tracer", tracer);
}

/* Reads the name of the instance's tracer. An instance that is being removed still has its files
 * for a moment. */
static int read_tracer(const struct hr_tracefs *tracefs, const char *name, char *tracer,
                       size_t size)
{
    char path[NAME_SIZE];

    print_file_path(path, name, "current_tracer");
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
    char path[NAME_SIZE], now[64];
    uint64_t on = 0;

    int status = read_tracer(tracefs, name, now, sizeof(now));
    if (status < 0)
        return status;
    print_file_path(path, name, "tracing_on");
    status = hr_tracefs_read_number(tracefs, path, &on);
    if (status < 0)
        return status == -ENODEV ? -ENOENT : status;
    return on == 1 && (tracer == NULL || strcmp(tracer, now) == 0);
}

/* "entries: 12\noverrun: 0\n…" */
int hr_osnoise_instance_has_records(const struct hr_tracefs *tracefs, const char *name,
                                    unsigned cpu)
{
    char path[NAME_SIZE], file[64], text[1024];
    struct hr_text rest = {text, 0};
    uint64_t count;

    snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
    print_file_path(path, name, file);
    int status = hr_tracefs_read(tracefs, path, text, sizeof(text), &rest.length);
    if (status < 0)
        return status;
    return hr_text_skip(&rest, "entries: ") && hr_text_u64(&rest, &count) ? count > 0 : -EBADMSG;
}

int hr_osnoise_instance_remove(const struct hr_tracefs *tracefs, const char *name, int *lock)
{
    /* Failures show when the instance is removed. While another program reads its pipes the tracer
     * can't be stopped, but with tracing off the workload sleeps. */
    write_file(tracefs, name, "tracing_on", "0");
    write_file(tracefs, name, "current_tracer", "nop");
    if (lock != NULL)
        hr_osnoise_owner_unlock(lock);
    return hr_osnoise_instance_remove_unused(tracefs, name);
}

int hr_osnoise_instance_remove_unused(const struct hr_tracefs *tracefs, const char *name)
{
    const struct timespec pause = {.tv_nsec = BUSY_PAUSE_NS};
    char path[NAME_SIZE];
    int status = -EBUSY;

    print_directory_path(path, name);
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
