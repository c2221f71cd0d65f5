/* SPDX-License-Identifier: MIT */
#include "headroom/osnoise.h"

#include <errno.h>
#include <string.h>

#include "base/reason.h"
#include "headroom/clock.h"
#include "osnoise/buffers.h"
#include "osnoise/cpus.h"
#include "osnoise/instance.h"
#include "osnoise/internal.h"
#include "osnoise/ipi_senders.h"
#include "osnoise/users.h"

/* A CPU is silent after this many periods without a sample, but not before this time. */
#define SILENT_PERIODS 3
#define SILENT_NS      (3 * 1000 * HR_NS_PER_MS)

/* In SOURCES the first duration of a CPU that came online may be as long as it was offline: the
 * kernel remembers what ran before. It comes within one or two readings. */
#define SETTLING_READINGS 2

/* The subjects of warnings. */
enum { WARNED_STOP = 1, WARNED_PANIC, WARNED_SOURCES, WARNED_RANK };

/* --- Changes by other programs -------------------------------------------- */

static int check_instance(const struct hr_osnoise *osnoise,
                          const struct hr_osnoise_hazards *hazards, struct hr_reason *reason)
{
    const enum hr_osnoise_mode mode = osnoise->options.mode;
    int status = hr_osnoise_instance_is_running(
        &osnoise->tracefs, osnoise->state.instance,
        mode != HR_OSNOISE_ATTACH ? hr_osnoise_tracer_name(mode) : NULL);

    if (status == 1)
        return 0;
    if (status == -ENOENT)
        return hr_reason_set(reason, -ECANCELED, "another program removed the trace instance %s",
                             osnoise->state.instance);
    if (status < 0)
        return hr_reason_set(reason, status, "can't read the trace instance %s (%s)",
                             osnoise->state.instance, strerror(-status));
    if (hazards->stop_us > 0 || hazards->stop_total_us > 0)
        return hr_reason_set(reason, -ECANCELED,
                             "tracing was stopped by a noise or latency above "
                             "/sys/kernel/tracing/osnoise/stop_tracing_us or "
                             "stop_tracing_total_us, which another program has set: write 0 there");
    return hr_reason_set(reason, -ECANCELED,
                         "another program stopped the tracer in the trace instance %s",
                         osnoise->state.instance);
}

static int check_settings(const struct hr_osnoise *osnoise, const struct hr_osnoise_settings *now,
                          struct hr_reason *reason)
{
    const struct hr_osnoise_settings *seen = &osnoise->seen;
    enum hr_osnoise_setting setting = hr_osnoise_settings_differ(seen, now);
    bool is_theirs = osnoise->options.mode == HR_OSNOISE_ATTACH;
    char was[64], is[64];

    if (setting == HR_OSNOISE_SETTING_COUNT)
        return 0;
    hr_osnoise_setting_print(seen, setting, was, sizeof(was));
    hr_osnoise_setting_print(now, setting, is, sizeof(is));
    return hr_reason_set(reason, is_theirs ? -EAGAIN : -ECANCELED,
                         "another program changed the tracer's setting %s from %s to %s: %s",
                         hr_osnoise_setting_name(setting), was, is,
                         is_theirs ? "the run to attach to has new settings"
                                   : "its run takes precedence");
}

static int check_leader(const struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    if (osnoise->options.mode != HR_OSNOISE_ATTACH)
        return 0;
    int status = hr_osnoise_users_find_running(&osnoise->tracefs, osnoise->state.instance, NULL);
    if (status > 0)
        return 0;
    if (status < 0)
        return hr_reason_set(reason, status, "can't find the run of the osnoise tracer (%s)",
                             strerror(-status));
    return hr_reason_set(reason, -EAGAIN,
                         "the run of the osnoise tracer that was attached to has ended");
}

static int check_run(struct hr_osnoise *osnoise, struct hr_osnoise_settings *now,
                     struct hr_osnoise_hazards *hazards, struct hr_reason *reason)
{
    int status = hr_osnoise_settings_read(&osnoise->tracefs, now, reason);

    if (status == 0)
        status = hr_osnoise_hazards_read(&osnoise->tracefs, hazards, reason);
    if (status == 0)
        status = check_leader(osnoise, reason);
    if (status == 0)
        status = check_instance(osnoise, hazards, reason);
    if (status == 0)
        status = check_settings(osnoise, now, reason);
    if (status == 0)
        status = hr_osnoise_hazards_check(hazards, -ECANCELED, reason);
    return status;
}

static void set_warning(const struct hr_osnoise *osnoise, struct hr_reason *warning,
                        const struct hr_osnoise_hazards *hazards)
{
    if (hazards->stop_us > 0 || hazards->stop_total_us > 0)
        hr_reason_set(warning, WARNED_STOP,
                      "osnoise/stop_tracing_us or stop_tracing_total_us is set: a noise or "
                      "latency above it ends all tracing; write 0 there unless it is needed");
    else if (hazards->panic)
        hr_reason_set(
            warning, WARNED_PANIC,
            "PANIC_ON_STOP of the osnoise tracer is set: with a stop_tracing value, noise would "
            "panic the machine; write NO_PANIC_ON_STOP to osnoise/options unless it is needed");
    else if (osnoise->is_unranked)
        hr_reason_set(warning, WARNED_RANK,
                      "the workload's threads can't be seen, so they keep the priority %s: in a "
                      "container let it have the host's PIDs, else let this user see all processes "
                      "(hidepid, ProtectProc), or take that priority",
                      osnoise->options.mode == HR_OSNOISE_TIMERLAT
                          ? "f:95"
                          : "o:0 and take their runtime from other tasks");
}

/* --- CPUs ----------------------------------------------------------------- */

struct record_target {
    struct hr_osnoise *osnoise;
    size_t place;
    uint64_t lost, reported_lost; /* lost records; and those before the last record */
};

static void add_sample(struct hr_osnoise_cpu *row, const struct hr_osnoise_record *record)
{
    row->sample_count++;
    row->runtime_us += record->sample.runtime_us;
    row->noise_us += record->sample.noise_us;
    if (record->sample.max_single_us > row->max_single_us)
        row->max_single_us = record->sample.max_single_us;
    if (record->sample.noise_us > row->max_period_us)
        row->max_period_us = record->sample.noise_us;
    row->hw_count += record->sample.hw_count;
    row->nmi_count += record->sample.nmi_count;
    row->irq_count += record->sample.irq_count;
    row->softirq_count += record->sample.softirq_count;
    row->thread_count += record->sample.thread_count;
}

static void handle_record(const struct hr_osnoise_record *record, void *context)
{
    struct record_target *record_target = context;
    struct hr_osnoise *osnoise = record_target->osnoise;
    struct hr_osnoise_cpu *row = &osnoise->rows[record_target->place];
    const uint64_t lost = record_target->lost - record_target->reported_lost;

    record_target->reported_lost = record_target->lost;
    if (record->type == HR_OSNOISE_RECORD_SAMPLE)
        add_sample(row, record);
    if (record->type == HR_OSNOISE_RECORD_LATENCY) {
        if (osnoise->timerlat != NULL)
            hr_osnoise_timerlat_add_record(osnoise->timerlat, record_target->place, record);
        return;
    }
    if (osnoise->traces != NULL)
        hr_osnoise_traces_add(osnoise->traces, record_target->place, row->cpu, record, lost);
    if (osnoise->single_noises == NULL)
        return;
    if (lost > 0)
        hr_osnoise_single_noises_mark_lost(osnoise->single_noises, record_target->place);
    hr_osnoise_single_noises_add_record(osnoise->single_noises, record_target->place, row->cpu,
                                        record);
}

/* A CPU whose buffer can't be read now becomes silent; it is retried at each reading. */
static void read_cpu(struct hr_osnoise *osnoise, size_t place)
{
    struct record_target record_target = {.osnoise = osnoise, .place = place};
    struct hr_osnoise_cpu *row = &osnoise->rows[place];

    *row = (struct hr_osnoise_cpu){.cpu = row->cpu};
    if (osnoise->timerlat != NULL)
        hr_osnoise_timerlat_clear(osnoise->timerlat, place);
    hr_osnoise_pipe_read(osnoise->pipe, &osnoise->tracefs, row->cpu, handle_record, &record_target,
                         &record_target.lost);
    row->lost_count = record_target.lost;
    if (osnoise->timerlat != NULL)
        row->sample_count = hr_osnoise_timerlat_period_count(osnoise->timerlat, place);
}

static uint64_t silence_limit_ns(const struct hr_osnoise *osnoise,
                                 const struct hr_osnoise_settings *now)
{
    const enum hr_osnoise_setting period = osnoise->options.mode == HR_OSNOISE_TIMERLAT
                                               ? HR_OSNOISE_TIMERLAT_PERIOD
                                               : HR_OSNOISE_PERIOD;
    uint64_t periods_ns = SILENT_PERIODS * 1000 * now->numbers[period];

    return periods_ns > SILENT_NS ? periods_ns : SILENT_NS;
}

static void update_cpu_state(struct hr_osnoise_cpu *row, struct hr_osnoise_cpu_tracking *tracking,
                             bool is_online, uint64_t now_ns, uint64_t silent_after_ns)
{
    if (!is_online) {
        tracking->was_offline = true;
        row->state = HR_OSNOISE_CPU_OFFLINE;
        return;
    }
    if (tracking->was_offline || row->sample_count > 0)
        tracking->last_active_ns = now_ns;
    if (tracking->was_offline)
        tracking->settling_readings = SETTLING_READINGS;
    tracking->was_offline = false;
    row->state = now_ns - tracking->last_active_ns > silent_after_ns ? HR_OSNOISE_CPU_SILENT
                                                                     : HR_OSNOISE_CPU_FINE;
}

/* Whether a CPU came online lately: the kernel starts its thread a little later. */
static bool is_settling(const struct hr_osnoise *osnoise)
{
    for (size_t i = 0; i < osnoise->cpu_count; i++)
        if (osnoise->tracking[i].settling_readings > 0)
            return true;
    return false;
}

/* A buffer that the kernel made meanwhile may be of the least size; that it can't be set shows as
 * lost records at worst. */
static int prepare_new_cpus(struct hr_osnoise *osnoise, const struct hr_cpu_set *came,
                            struct hr_reason *reason)
{
    struct hr_cpu_set unsized = {0};

    for (size_t i = 0; i < osnoise->cpu_count; i++) {
        if (!hr_cpu_set_has(came, osnoise->rows[i].cpu))
            continue;
        if (osnoise->tracking[i].lacks_buffer)
            hr_cpu_set_add(&unsized, osnoise->rows[i].cpu);
        osnoise->tracking[i].lacks_buffer = false;
    }
    if (hr_cpu_set_count(&unsized) > 0)
        hr_osnoise_buffers_resize(&osnoise->tracefs, osnoise->state.instance, &osnoise->plan,
                                  &unsized);
    return is_settling(osnoise) ? hr_osnoise_set_rank(osnoise, reason) : 0;
}

static int read_cpus(struct hr_osnoise *osnoise, const struct hr_osnoise_settings *now,
                     uint64_t now_ns, struct hr_reason *reason)
{
    struct hr_cpu_set online, came = {0};
    bool has_workload =
        !now->has[HR_OSNOISE_OPTION_WORKLOAD] || now->numbers[HR_OSNOISE_OPTION_WORKLOAD] != 0;
    bool has_samples = has_workload && !osnoise->lacks_samples;
    uint64_t silent_after_ns = has_samples ? silence_limit_ns(osnoise, now) : UINT64_MAX;
    int status = hr_osnoise_read_online(osnoise->root, &online, reason);

    if (status < 0)
        return status;
    for (size_t i = 0; i < osnoise->cpu_count; i++) {
        struct hr_osnoise_cpu_tracking *tracking = &osnoise->tracking[i];
        const bool is_online = hr_cpu_set_has(&online, osnoise->rows[i].cpu);
        if (tracking->is_awaited && !is_online)
            continue;
        tracking->is_awaited = false;
        if (tracking->was_offline && is_online)
            hr_cpu_set_add(&came, osnoise->rows[i].cpu);
        read_cpu(osnoise, i);
        update_cpu_state(&osnoise->rows[i], tracking, is_online, now_ns, silent_after_ns);
    }
    return prepare_new_cpus(osnoise, &came, reason);
}

static size_t report_cpus(struct hr_osnoise *osnoise)
{
    size_t count = 0;

    for (size_t i = 0; i < osnoise->cpu_count; i++)
        if (!osnoise->tracking[i].is_awaited)
            osnoise->reported[count++] = osnoise->rows[i];
    return count;
}

/* --- Sources -------------------------------------------------------------- */

/* The CPUs whose sources are reported. */
static struct hr_cpu_set settled_cpus(struct hr_osnoise *osnoise)
{
    struct hr_cpu_set settled = {0};

    for (size_t i = 0; i < osnoise->cpu_count; i++) {
        struct hr_osnoise_cpu_tracking *tracking = &osnoise->tracking[i];
        if (osnoise->options.mode != HR_OSNOISE_SOURCES || tracking->settling_readings == 0)
            hr_cpu_set_add(&settled, osnoise->rows[i].cpu);
        if (tracking->settling_readings > 0)
            tracking->settling_readings--;
    }
    return settled;
}

static void read_sources(struct hr_osnoise *osnoise, struct hr_osnoise_reading *reading)
{
    struct hr_cpu_set settled = settled_cpus(osnoise);
    struct hr_osnoise_counts counts = {0};

    if (osnoise->sources == NULL)
        return;
    int status = hr_osnoise_sources_read(osnoise->sources, &osnoise->tracefs, &settled, &counts);
    const uint64_t counted_ns = hr_clock_ns();

    if (status < 0) {
        hr_reason_set(&reading->warning, WARNED_SOURCES,
                      "can't read the kernel's counts by source (%s)", strerror(-status));
        return;
    }
    /* Without memory, what the kernel has counted stands alone. */
    if (osnoise->running != NULL) {
        reading->elapsed_ns = counted_ns - osnoise->sources_ns;
        (void)hr_osnoise_running_add(osnoise->running, &settled, reading->elapsed_ns, &counts);
    }
    osnoise->sources_ns = counted_ns;
    reading->has_sources = osnoise->options.by_source;
    reading->sources = counts.sources;
    reading->source_count = counts.source_count;
    reading->buckets = counts.buckets;
    reading->bucket_count = counts.bucket_count;
    reading->dropped_count = counts.dropped_count;
}

/* --- Single noises -------------------------------------------------------- */

static const char *name_function(void *context, uint64_t function)
{
    struct hr_osnoise *osnoise = context;

    return hr_osnoise_function_name(osnoise->function_names, &osnoise->tracefs, function);
}

static void print_sender(void *context, const struct hr_osnoise_ipi_sender *sender,
                         char text[HR_OSNOISE_SENDER])
{
    const struct hr_osnoise *osnoise = context;

    hr_osnoise_ipi_sender_print(osnoise->root, sender, text);
}

static void read_single_noises(struct hr_osnoise *osnoise, struct hr_osnoise_reading *reading)
{
    const struct hr_osnoise_namer namer = {name_function, print_sender, osnoise};
    uint64_t all_count = 0;

    if (osnoise->single_noises == NULL)
        return;
    for (size_t i = 0; i < osnoise->cpu_count; i++) {
        osnoise->rows[i].single_count = hr_osnoise_single_noises_count(osnoise->single_noises, i);
        all_count += osnoise->rows[i].single_count;
    }
    hr_osnoise_function_names_renew(osnoise->function_names);
    reading->single_noises =
        hr_osnoise_single_noises_take(osnoise->single_noises, &namer, &reading->single_noise_count);
    if (osnoise->traces != NULL)
        hr_osnoise_traces_end(osnoise->traces, &namer);
    reading->traces = osnoise->traces;
    reading->single_noise_more_count = all_count - reading->single_noise_count;
}

/* --- Reading -------------------------------------------------------------- */

static int read_all(struct hr_osnoise *osnoise, const struct hr_osnoise_settings *now,
                    const struct hr_osnoise_hazards *hazards, struct hr_osnoise_reading *reading,
                    struct hr_reason *reason)
{
    struct hr_osnoise_reading got = {0};
    const uint64_t now_ns = hr_clock_ns();

    if (osnoise->traces != NULL)
        hr_osnoise_traces_begin(osnoise->traces);
    int status = read_cpus(osnoise, now, now_ns, reason);

    if (status < 0)
        return status;
    set_warning(osnoise, &got.warning, hazards);
    got.elapsed_ns = now_ns - osnoise->read_ns;
    osnoise->read_ns = now_ns;
    read_sources(osnoise, &got);
    read_single_noises(osnoise, &got);
    got.cpus = osnoise->reported;
    got.cpu_count = report_cpus(osnoise);
    if (osnoise->timerlat != NULL)
        got.latencies = hr_osnoise_timerlat_take(osnoise->timerlat, osnoise->rows,
                                                 osnoise->reported, got.cpu_count);
    got.lacks_samples = osnoise->lacks_samples;
    *reading = got;
    return 0;
}

/* Whether nothing is recorded any more. In ATTACH that is when the other program has stopped. */
static bool has_stopped(const struct hr_osnoise *osnoise)
{
    const struct hr_tracefs *tracefs = &osnoise->tracefs;
    const char *instance = osnoise->state.instance;

    if (osnoise->options.mode == HR_OSNOISE_ATTACH)
        return hr_osnoise_users_find_running(tracefs, instance, NULL) == 0;
    return hr_osnoise_instance_is_running(tracefs, instance,
                                          hr_osnoise_tracer_name(osnoise->options.mode)) == 0;
}

/* Once tracing was stopped, what stopped it is the last record in the buffers. While it isn't, they
 * may have records of other settings. */
int hr_osnoise_read(struct hr_osnoise *osnoise, struct hr_osnoise_reading *reading,
                    struct hr_reason *reason)
{
    struct hr_osnoise_hazards hazards = {0};
    struct hr_osnoise_settings now = {0};

    hr_reason_clear(reason);
    if (!osnoise->runs)
        return hr_reason_set(reason, -EINVAL, "nothing runs");
    *reading = (struct hr_osnoise_reading){0};
    int status = check_run(osnoise, &now, &hazards, reason);
    if (status == 0)
        status = read_all(osnoise, &now, &hazards, reading, reason);
    else if (has_stopped(osnoise))
        read_all(osnoise, &now, &hazards, reading, NULL);
    return status < 0 ? hr_osnoise_give_up(osnoise, status, reason) : 0;
}
