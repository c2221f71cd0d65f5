/* SPDX-License-Identifier: MIT */
#include "headroom/osnoise.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/reason.h"
#include "base/scheduler_domains.h"
#include "headroom/clock.h"
#include "headroom/pid_namespace.h"
#include "osnoise/cpus.h"
#include "osnoise/instance.h"
#include "osnoise/internal.h"
#include "osnoise/owner.h"
#include "osnoise/probe.h"
#include "osnoise/process_exit.h"
#include "osnoise/rank.h"
#include "osnoise/recover.h"

/* The longest that threads of timerlat are waited for, after a period. */
#define TIMERS_BEGIN_NS HR_NS_PER_S

/* --- Settings ------------------------------------------------------------- */

static void request_setting(struct hr_osnoise_settings *settings, enum hr_osnoise_setting setting,
                            uint64_t value)
{
    settings->has[setting] = true;
    settings->numbers[setting] = value;
}

/* A kernel without an option behaves as with its default. */
static void request_option(struct hr_osnoise_settings *settings,
                           const struct hr_osnoise_settings *now, enum hr_osnoise_setting setting,
                           bool on)
{
    if (now->has[setting] || on != (setting == HR_OSNOISE_OPTION_WORKLOAD))
        request_setting(settings, setting, on);
}

/* The kernel's threads measure whatever the options of osnoise are. */
static void choose_timerlat_settings(const struct hr_osnoise_options *options,
                                     const struct hr_osnoise_settings *now,
                                     struct hr_osnoise_settings *ours)
{
    request_setting(ours, HR_OSNOISE_TIMERLAT_PERIOD, options->timerlat.period_us);
    if (now->has[HR_OSNOISE_PRINT_STACK])
        request_setting(ours, HR_OSNOISE_PRINT_STACK, 0);
    request_option(ours, now, HR_OSNOISE_OPTION_ALIGN, false);
}

static void choose_settings(struct hr_osnoise *osnoise, const struct hr_osnoise_settings *now)
{
    const struct hr_osnoise_options *options = &osnoise->options;
    struct hr_osnoise_settings *ours = &osnoise->state.ours;
    bool has_workload = options->mode != HR_OSNOISE_SOURCES;

    *ours = (struct hr_osnoise_settings){0};
    if (options->mode == HR_OSNOISE_ATTACH)
        return;
    ours->has[HR_OSNOISE_CPUS] = true;
    ours->cpus = hr_osnoise_possible_cpus(osnoise->root, &osnoise->cpus);
    request_option(ours, now, HR_OSNOISE_OPTION_WORKLOAD, has_workload);
    if (!has_workload)
        return;
    if (options->mode == HR_OSNOISE_TIMERLAT) {
        choose_timerlat_settings(options, now, ours);
        return;
    }
    request_setting(ours, HR_OSNOISE_PERIOD, options->period_us);
    request_setting(ours, HR_OSNOISE_RUNTIME, options->runtime_us);
    request_setting(ours, HR_OSNOISE_THRESHOLD, options->threshold_us);
    request_option(ours, now, HR_OSNOISE_OPTION_IRQ_DISABLE, options->mode == HR_OSNOISE_HARDWARE);
    request_option(ours, now, HR_OSNOISE_OPTION_PREEMPT_DISABLE, false);
}

static void remember_originals(struct hr_osnoise_state *state,
                               const struct hr_osnoise_settings *now)
{
    state->original = *now;
    for (int setting = 0; setting < HR_OSNOISE_SETTING_COUNT; setting++)
        state->original.has[setting] = now->has[setting] && state->ours.has[setting];
}

/* The settings that an attached run's readings are of: those of timerlat mean nothing to it. */
static struct hr_osnoise_settings settings_of_osnoise(const struct hr_osnoise_settings *now)
{
    struct hr_osnoise_settings settings = *now;

    settings.has[HR_OSNOISE_TIMERLAT_PERIOD] = false;
    settings.has[HR_OSNOISE_PRINT_STACK] = false;
    settings.has[HR_OSNOISE_OPTION_ALIGN] = false;
    return settings;
}

static int plan_settings(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    struct hr_osnoise_settings now = {0};
    int status = hr_osnoise_settings_read(&osnoise->tracefs, &now, reason);

    if (status < 0)
        return status;
    status = hr_osnoise_choose_cpus(osnoise, &now.cpus, reason);
    if (status < 0)
        return status;
    choose_settings(osnoise, &now);
    remember_originals(&osnoise->state, &now);
    osnoise->seen = osnoise->options.mode == HR_OSNOISE_ATTACH ? settings_of_osnoise(&now)
                                                               : osnoise->state.ours;
    return 0;
}

/* --- The instance --------------------------------------------------------- */

/* With the tracer's lock, so that no other run begins at that time: not even in a PID namespace in
 * which its process has the same PID. */
static void choose_instance_name(struct hr_osnoise *osnoise)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    snprintf(osnoise->state.instance, sizeof(osnoise->state.instance),
             HR_OSNOISE_INSTANCE_PREFIX "%d_%" PRIu64, (int)osnoise->state.pid,
             (uint64_t)now.tv_sec * HR_NS_PER_S + (uint64_t)now.tv_nsec);
}

static int write_state_file(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    int status = hr_osnoise_state_write(osnoise->state_path, &osnoise->state);

    if (status < 0)
        return hr_reason_set(reason, status,
                             "can't write the state file %s, from which settings are restored "
                             "after a crash (%s): create its directory, or choose another file",
                             osnoise->state_path, strerror(-status));
    osnoise->needs_restore = true;
    return 0;
}

/* By boot parameters, or as partitions of cpuset. Those that can't be read are left out. */
static struct hr_cpu_set find_isolated_cpus(const struct hr_root *root)
{
    const struct hr_cpu_choice of_boot = {.words = HR_CPUS_ISOLATED};
    struct hr_cpu_set isolated = {{0}}, without_domain;

    (void)hr_cpu_choice_find(&of_boot, root, &isolated);
    (void)hr_cpus_without_domain_read(root, &without_domain);
    hr_cpu_set_merge(&isolated, &without_domain);
    return isolated;
}

/* Without a choice of CPUs all are recorded. */
static void make_plan(struct hr_osnoise *osnoise)
{
    const enum hr_osnoise_mode mode = osnoise->options.mode;
    const struct hr_cpu_set possible = hr_osnoise_possible_cpus(osnoise->root, &osnoise->cpus);
    const bool records_all =
        mode == HR_OSNOISE_SOURCES && hr_cpu_choice_is_all(&osnoise->options.cpus);
    /* In ATTACH as the other program has set them. */
    const struct hr_osnoise_settings *const set = mode == HR_OSNOISE_ATTACH ? &osnoise->seen : NULL;

    osnoise->plan = (struct hr_osnoise_plan){
        .cpus = records_all ? (struct hr_cpu_set){{0}} : possible,
        .online = osnoise->online,
        .counted = set != NULL ? hr_osnoise_possible_cpus(osnoise->root, &set->cpus) : possible,
        .isolated = find_isolated_cpus(osnoise->root),
        .tracer = hr_osnoise_tracer_name(mode),
        .has_workload = hr_osnoise_has_workload(mode),
        .by_source = osnoise->options.by_source,
        .histogram = osnoise->options.histogram && mode != HR_OSNOISE_TIMERLAT,
        .samples_by_event = mode == HR_OSNOISE_ATTACH && !osnoise->lacks_samples,
        .max_single_ns = osnoise->options.max_single_ns,
        .causes = osnoise->options.causes && osnoise->options.max_single_ns > 0 &&
                  mode != HR_OSNOISE_HARDWARE, /* nothing runs there */
        .buffer_bytes = osnoise->options.buffer_bytes,
        .period_us =
            set != NULL ? set->numbers[HR_OSNOISE_PERIOD] : hr_osnoise_period_us(&osnoise->options),
        .runtime_us = set != NULL ? set->numbers[HR_OSNOISE_RUNTIME] : osnoise->options.runtime_us,
    };
}

/* The state file names the instance before it is created: a crash in between leaves one that isn't
 * there, which needs no removal, but none that is unknown. */
static int make_instance(struct hr_osnoise *osnoise, struct hr_cpu_set *occupied,
                         struct hr_reason *reason)
{
    int status = hr_osnoise_state_sign(&osnoise->state);

    if (status < 0)
        return hr_reason_set(reason, status, "can't find this process in /proc (%s)",
                             strerror(-status));
    make_plan(osnoise);
    choose_instance_name(osnoise);
    status = write_state_file(osnoise, reason);
    return status < 0 ? status
                      : hr_osnoise_instance_make(&osnoise->tracefs, osnoise->state.instance,
                                                 &osnoise->plan, occupied, &osnoise->instance_lock,
                                                 reason);
}

/* Another program that has begun meanwhile would get this run's settings. */
static int recheck_users(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    return hr_osnoise_probe_users(&osnoise->tracefs, osnoise->options.mode, osnoise->state.instance,
                                  reason);
}

/* The threads of timerlat don't sleep when no instance records. */
static bool needs_guard(const struct hr_osnoise *osnoise)
{
    if (osnoise->options.mode == HR_OSNOISE_TIMERLAT)
        return true;
    return osnoise->options.mode != HR_OSNOISE_SOURCES &&
           !hr_osnoise_exit_will_stop(&osnoise->tracefs, osnoise->state.instance);
}

static int start_guard(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    if (!needs_guard(osnoise))
        return 0;
    if (osnoise->options.mode == HR_OSNOISE_HARDWARE)
        return hr_reason_set(reason, -EOPNOTSUPP,
                             "interrupts would stay off if headroom were killed, as the kernel "
                             "can't be set to stop the tracer then: use the osnoise mode");
    int status =
        hr_osnoise_guard_start(&osnoise->tracefs, osnoise->state.instance, &osnoise->guard);
    return status == 0 ? 0
                       : hr_reason_set(reason, -ECHILD,
                                       "can't start the process that stops the workload if this "
                                       "one is killed (%s): raise its limit of processes",
                                       strerror(-status));
}

static const struct hr_priority *rank_of(const struct hr_osnoise_options *options)
{
    return options->mode == HR_OSNOISE_TIMERLAT ? &options->timerlat.priority : &options->priority;
}

/* Whether the kernel starts the threads with it. */
static bool has_default_rank(const struct hr_osnoise_options *options)
{
    static const struct hr_priority ordinary = {HR_POLICY_OTHER, 0};
    static const struct hr_priority of_timerlat = {HR_OSNOISE_TIMERLAT_RANK};
    const struct hr_priority *rank = rank_of(options);
    const struct hr_priority *kernel =
        options->mode == HR_OSNOISE_TIMERLAT ? &of_timerlat : &ordinary;

    return rank->policy == kernel->policy && rank->value == kernel->value;
}

int hr_osnoise_set_rank(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    const struct hr_osnoise_options *options = &osnoise->options;
    char rank[16];

    osnoise->is_unranked = false;
    if (!hr_osnoise_has_workload(options->mode) || has_default_rank(options))
        return 0;
    int found = hr_has_pids_of_kernel()
                    ? hr_osnoise_rank_workload(osnoise->root, &osnoise->cpus, rank_of(options))
                    : 0;
    if (found == -EPERM || found == -EACCES)
        return hr_reason_set(
            reason, found, "no permission to give the workload the priority %s: %s",
            hr_priority_format(rank_of(options), rank),
            options->mode == HR_OSNOISE_TIMERLAT ? HR_OSNOISE_TIMERLAT_PRIORITY_REMEDY
                                                 : HR_OSNOISE_PRIORITY_REMEDY
                ", by which it takes its runtime from other tasks");
    osnoise->is_unranked = found <= 0;
    return 0;
}

/* A thread of timerlat gives itself the kernel's rank when it begins, and with that replaces one
 * that was set before. It has begun once there is a record of its CPU, within a period. */
static void wait_for_timers(const struct hr_osnoise *osnoise)
{
    const struct timespec pause = {.tv_nsec = HR_NS_PER_MS};
    const uint64_t end_ns =
        hr_clock_ns() + 1000 * osnoise->options.timerlat.period_us + TIMERS_BEGIN_NS;
    struct hr_cpu_set cpus = osnoise->cpus;

    hr_cpu_set_keep(&cpus, &osnoise->online);
    for (unsigned cpu = hr_cpu_set_next(&cpus, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(&cpus, cpu + 1))
        while (hr_osnoise_instance_has_records(&osnoise->tracefs, osnoise->state.instance, cpu) ==
                   0 &&
               hr_clock_ns() < end_ns)
            nanosleep(&pause, NULL);
}

/* In ATTACH the instance has no tracer: with one it would keep the other program's workload running
 * after that has ended, with whatever settings are restored, such as all of every CPU. */
static int start_tracer(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    if (osnoise->options.mode == HR_OSNOISE_ATTACH)
        return 0;
    int status = start_guard(osnoise, reason);
    if (status < 0)
        return status;
    const char *tracer = hr_osnoise_tracer_name(osnoise->options.mode);
    status = hr_osnoise_instance_start(&osnoise->tracefs, osnoise->state.instance, tracer);

    if (status == -EBUSY)
        return hr_reason_set(reason, status,
                             "the %s tracer can't start beside another, such as %s: "
                             "wait until that has ended, or end it",
                             tracer,
                             osnoise->options.mode == HR_OSNOISE_TIMERLAT ? "osnoise" : "timerlat");
    if (status < 0)
        return hr_reason_set(reason, status, "can't start the %s tracer (%s)", tracer,
                             strerror(-status));
    if (osnoise->options.mode == HR_OSNOISE_TIMERLAT && !has_default_rank(&osnoise->options))
        wait_for_timers(osnoise);
    status = hr_osnoise_set_rank(osnoise, reason);
    return status < 0 ? status : recheck_users(osnoise, reason);
}

/* --- Readers -------------------------------------------------------------- */

static int create_rows(struct hr_osnoise *osnoise)
{
    size_t place = 0;

    osnoise->cpu_count = hr_cpu_set_count(&osnoise->cpus);
    osnoise->rows = calloc(osnoise->cpu_count, sizeof(*osnoise->rows));
    osnoise->reported = calloc(osnoise->cpu_count, sizeof(*osnoise->reported));
    osnoise->tracking = calloc(osnoise->cpu_count, sizeof(*osnoise->tracking));
    if (osnoise->rows == NULL || osnoise->reported == NULL || osnoise->tracking == NULL)
        return -ENOMEM;
    for (unsigned cpu = hr_cpu_set_next(&osnoise->cpus, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(&osnoise->cpus, cpu + 1))
        osnoise->rows[place++].cpu = cpu;
    return 0;
}

/* Latencies are counted here, and not by the kernel. */
static bool counts_noise(const struct hr_osnoise_options *options)
{
    return options->mode != HR_OSNOISE_TIMERLAT && (options->by_source || options->histogram);
}

static int open_readers(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    const struct hr_osnoise_options *options = &osnoise->options;
    int status = create_rows(osnoise);

    if (status == 0)
        status = hr_osnoise_decoder_open(&osnoise->tracefs, &osnoise->decoder, reason);
    if (status == 0 && counts_noise(options))
        status = hr_osnoise_sources_open(osnoise->state.instance, options->by_source,
                                         options->histogram, &osnoise->sources);
    if (status == 0 && options->mode == HR_OSNOISE_SOURCES)
        status = hr_osnoise_running_open(osnoise->root, &osnoise->cpus, &osnoise->running);
    if (status == 0 && options->mode == HR_OSNOISE_TIMERLAT)
        status = hr_osnoise_timerlat_open(osnoise->cpu_count, &osnoise->timerlat);
    if (status == 0 && osnoise->plan.causes)
        status = hr_osnoise_function_names_open(osnoise->state.instance, &osnoise->function_names);
    if (status == 0 && options->max_single_ns > 0)
        status = hr_osnoise_single_noises_open(osnoise->cpu_count, options->max_single_ns,
                                               &osnoise->single_noises);
    if (status == 0 && options->max_single_ns > 0 && options->traces)
        status =
            hr_osnoise_traces_open(osnoise->cpu_count, options->max_single_ns, &osnoise->traces);
    return status;
}

/* What keeps the instance. */
static void close_pipe(struct hr_osnoise *osnoise)
{
    hr_osnoise_pipe_close(osnoise->pipe);
    osnoise->pipe = NULL;
}

/* What the last reading points to, too. */
static void close_readers(struct hr_osnoise *osnoise)
{
    close_pipe(osnoise);
    hr_osnoise_single_noises_close(osnoise->single_noises);
    osnoise->single_noises = NULL;
    hr_osnoise_traces_close(osnoise->traces);
    osnoise->traces = NULL;
    hr_osnoise_function_names_close(osnoise->function_names);
    osnoise->function_names = NULL;
    hr_osnoise_sources_close(osnoise->sources);
    osnoise->sources = NULL;
    hr_osnoise_running_close(osnoise->running);
    osnoise->running = NULL;
    hr_osnoise_timerlat_close(osnoise->timerlat);
    osnoise->timerlat = NULL;
    hr_osnoise_decoder_close(osnoise->decoder);
    osnoise->decoder = NULL;
    free(osnoise->rows);
    osnoise->rows = NULL;
    free(osnoise->reported);
    osnoise->reported = NULL;
    free(osnoise->tracking);
    osnoise->tracking = NULL;
}

/* --- Begin and end -------------------------------------------------------- */

/*
 * The workload is stopped even if the settings can't be restored now.
 *
 * Since an end that could not restore all, another process may have done it, and begun a run with
 * the same values: so it is as for any other process then, by the state file.
 */
static int restore(struct hr_osnoise *osnoise, bool is_repeated, struct hr_reason *reason)
{
    const bool was_locked = osnoise->tracer_lock >= 0;
    int status = 0;

    if (!was_locked)
        status = hr_osnoise_owner_lock_tracer(&osnoise->tracefs, &osnoise->tracer_lock, reason);
    if (status == 0 && is_repeated)
        status =
            hr_osnoise_recover_in(osnoise->root, &osnoise->tracefs, osnoise->state_path, reason);
    else if (status == 0)
        status = hr_osnoise_restore(osnoise->root, &osnoise->tracefs, &osnoise->state,
                                    &osnoise->instance_lock, osnoise->state_path, reason);
    else if (!is_repeated)
        hr_osnoise_instance_remove(&osnoise->tracefs, osnoise->state.instance,
                                   &osnoise->instance_lock);
    if (!was_locked)
        hr_osnoise_owner_unlock(&osnoise->tracer_lock);
    return status;
}

/* The last reading stays. */
static int end_run(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    const bool is_repeated = osnoise->instance_lock < 0; /* or it has failed early */
    int status = 0;

    hr_reason_clear(reason);
    if (!osnoise->runs && !osnoise->needs_restore)
        return 0;
    close_pipe(osnoise);
    osnoise->runs = false;
    if (osnoise->tracefs.fd < 0)
        status = hr_tracefs_open(osnoise->root, &osnoise->tracefs, reason);
    if (status == 0 && osnoise->needs_restore)
        status = restore(osnoise, is_repeated, reason);
    if (status == 0)
        osnoise->needs_restore = false;
    hr_osnoise_guard_end(&osnoise->guard); /* the tracer is stopped, or else it can't be */
    hr_tracefs_close(&osnoise->tracefs);
    return status;
}

int hr_osnoise_end(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    close_readers(osnoise);
    return end_run(osnoise, reason);
}

/* Whether there is anything to record without the tracer. */
static int check_events(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    const struct hr_osnoise_options *options = &osnoise->options;

    osnoise->lacks_samples = options->mode == HR_OSNOISE_ATTACH &&
                             !hr_osnoise_instance_has_sample_event(&osnoise->tracefs);
    if (!osnoise->lacks_samples || options->by_source || options->histogram ||
        options->max_single_ns > 0)
        return 0;
    return hr_reason_set(reason, -EOPNOTSUPP,
                         "this kernel has samples only for the program that runs the tracer, "
                         "others need Linux 6.15 or later: count noise by its source or by its "
                         "length, or report single noises");
}

static int prepare_run(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    const enum hr_osnoise_mode mode = osnoise->options.mode;
    int status =
        hr_osnoise_recover_in(osnoise->root, &osnoise->tracefs, osnoise->state_path, reason);

    /* One that can't be removed is in the way only if it has the tracer, which is seen next. One
     * that is removed may have been what kept the settings of the state file. */
    if (status == 0 || status == -EBUSY)
        hr_osnoise_remove_left_behind_in(osnoise->root, &osnoise->tracefs, NULL, NULL);
    if (status == -EBUSY)
        status =
            hr_osnoise_recover_in(osnoise->root, &osnoise->tracefs, osnoise->state_path, reason);
    if (status == 0)
        status = hr_osnoise_probe_users(&osnoise->tracefs, mode, NULL, reason);
    if (status == 0)
        status = check_events(osnoise, reason);
    if (status == 0)
        status = plan_settings(osnoise, reason);
    return status;
}

static void avoid_measured_cpus(struct hr_osnoise *osnoise, const struct hr_cpu_set *occupied)
{
    const bool is_attached = osnoise->options.mode == HR_OSNOISE_ATTACH;

    hr_osnoise_affinity_avoid(&osnoise->affinity,
                              is_attached ? &osnoise->seen.cpus : &osnoise->cpus, occupied,
                              &osnoise->plan.isolated);
}

static int set_up_run(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    struct hr_cpu_set occupied;
    int status = make_instance(osnoise, &occupied, reason);

    if (status == 0)
        avoid_measured_cpus(osnoise, &occupied);
    if (status == 0)
        status = open_readers(osnoise, reason);
    if (status == 0)
        status = recheck_users(osnoise, reason);
    if (status == 0)
        status = hr_osnoise_settings_set(&osnoise->tracefs, &osnoise->state.ours, reason);
    if (status == 0)
        status = start_tracer(osnoise, reason);
    if (status == 0)
        status = hr_osnoise_pipe_open(&osnoise->tracefs, osnoise->state.instance, &osnoise->cpus,
                                      &osnoise->online, osnoise->decoder, &osnoise->pipe);
    return status;
}

static void mark_started(struct hr_osnoise *osnoise)
{
    osnoise->runs = true;
    osnoise->read_ns = osnoise->sources_ns = hr_clock_ns();
    for (size_t i = 0; i < osnoise->cpu_count; i++) {
        const unsigned cpu = osnoise->rows[i].cpu;
        const bool is_offline = !hr_cpu_set_has(&osnoise->online, cpu);
        osnoise->tracking[i] = (struct hr_osnoise_cpu_tracking){
            .last_active_ns = osnoise->read_ns,
            .was_offline = is_offline,
            .is_awaited = is_offline && !hr_cpu_set_has(&osnoise->options.cpus.list, cpu),
            .lacks_buffer = is_offline,
        };
    }
}

int hr_osnoise_give_up(struct hr_osnoise *osnoise, int error, struct hr_reason *reason)
{
    struct hr_reason left = {0};

    if (reason != NULL && reason->error == 0)
        hr_reason_set(reason, error, "%s", strerror(-error));
    if (end_run(osnoise, &left) < 0 && reason != NULL) {
        size_t length = strlen(reason->text);
        snprintf(reason->text + length, sizeof(reason->text) - length, "; and %s", left.text);
    }
    return error;
}

int hr_osnoise_begin(struct hr_osnoise *osnoise, struct hr_reason *reason)
{
    int status = 0;

    hr_reason_clear(reason);
    if (osnoise->runs)
        return hr_reason_set(reason, -EALREADY, "it runs already");
    close_readers(osnoise);
    if (osnoise->needs_restore)
        status = hr_osnoise_end(osnoise, reason);
    if (status == 0)
        status = hr_tracefs_open(osnoise->root, &osnoise->tracefs, reason);
    if (status < 0)
        return status;
    status = hr_osnoise_probe_kernel(&osnoise->tracefs, osnoise->options.mode, reason);
    if (status == 0)
        status = hr_osnoise_owner_lock_tracer(&osnoise->tracefs, &osnoise->tracer_lock, reason);
    if (status == 0)
        status = prepare_run(osnoise, reason);
    if (status == 0)
        status = set_up_run(osnoise, reason);
    if (status == 0) {
        mark_started(osnoise);
    } else {
        status = hr_osnoise_give_up(osnoise, status, reason);
        close_readers(osnoise);
        hr_tracefs_close(&osnoise->tracefs);
    }
    hr_osnoise_owner_unlock(&osnoise->tracer_lock);
    return status;
}

/* --- The object ----------------------------------------------------------- */

int hr_osnoise_open(const struct hr_root *root, const struct hr_osnoise_options *options,
                    struct hr_osnoise **osnoise, struct hr_reason *reason)
{
    int status = hr_osnoise_check(options, reason);

    if (status < 0)
        return status;
    struct hr_osnoise *opened = calloc(1, sizeof(*opened));
    if (opened == NULL)
        return -ENOMEM;
    opened->root = root;
    opened->tracefs.fd = -1;
    opened->guard.fd = opened->instance_lock = opened->tracer_lock = -1;
    opened->options = *options;
    if (options->mode == HR_OSNOISE_SOURCES)
        opened->options.by_source = true;
    opened->state_path = strdup(options->state_path);
    if (opened->state_path == NULL) {
        free(opened);
        return -ENOMEM;
    }
    opened->options.state_path = opened->state_path;
    *osnoise = opened;
    return 0;
}

void hr_osnoise_close(struct hr_osnoise *osnoise)
{
    if (osnoise == NULL)
        return;
    hr_osnoise_end(osnoise, NULL);
    free(osnoise->state_path);
    free(osnoise);
}
