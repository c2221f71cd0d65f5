/* SPDX-License-Identifier: MIT */
#include "osnoise/problems.h"

#include <errno.h>

#include "common/complaint.h"
#include "common/log.h"
#include "headroom/clock.h"
#include "headroom/hash.h"

#define PLUGIN "osnoise"

/* A loss is over after this time without one. */
#define LOSS_OVER_NS (60 * HR_NS_PER_S)

/* Longer lists of CPUs are abbreviated. */
#define LIST_SIZE 256

/* A number that is different for each reason, also if the error is the same. */
static int cause_of(const struct hr_reason *reason)
{
    return (int)((hr_hash(reason->text) ^ (uint32_t)reason->error << 24) | 1);
}

void osnoise_problems_init(struct osnoise_problems *problems,
                           const struct hr_osnoise_options *options)
{
    *problems = (struct osnoise_problems){
        .is_attached = options->mode == HR_OSNOISE_ATTACH,
        .is_timerlat = options->mode == HR_OSNOISE_TIMERLAT,
        .has_alert = options->max_single_ns > 0,
    };
}

/* --- Beginning and end of a run ------------------------------------------- */

static int severity_of(int error)
{
    switch (error) {
    case -EAGAIN: /* no program runs the tracer to attach to */
        return LOG_NOTICE;
    case -EBUSY:
    case -ECANCELED:
    case -ENXIO:
        return LOG_WARNING;
    default:
        return LOG_ERR;
    }
}

void osnoise_problems_log_stopped(struct osnoise_problems *problems, const struct hr_reason *reason,
                                  uint64_t retry_ns)
{
    complaint_log(&problems->run, severity_of(reason->error), cause_of(reason),
                  PLUGIN ": noise is not measured: %s. Retrying in %.6g s.", reason->text,
                  (double)retry_ns / 1e9);
}

void osnoise_problems_log_running(struct osnoise_problems *problems)
{
    complaint_resolve(&problems->run, PLUGIN ": noise is being measured now.");
}

void osnoise_problems_log_unrestored(struct osnoise_problems *problems,
                                     const struct hr_reason *reason)
{
    complaint_log(&problems->restoring, LOG_WARNING, cause_of(reason),
                  PLUGIN ": not all settings of the tracer are restored: %s.", reason->text);
}

/* --- CPUs without samples ------------------------------------------------- */

/* "CPU 3" or "CPUs 2-3,7" */
static void print_cpus(const struct hr_cpu_set *cpus, char *buffer, size_t size)
{
    char list[LIST_SIZE];

    if (hr_cpu_set_format(cpus, list, sizeof(list)) < 0)
        snprintf(list, sizeof(list), "%u and %zu more", hr_cpu_set_next(cpus, 0),
                 hr_cpu_set_count(cpus) - 1);
    snprintf(buffer, size, "CPU%s %s", hr_cpu_set_count(cpus) == 1 ? "" : "s", list);
}

static struct hr_cpu_set find_cpus_in_state(const struct hr_osnoise_reading *reading,
                                            enum hr_osnoise_cpu_state state)
{
    struct hr_cpu_set cpus = {{0}};

    for (size_t i = 0; i < reading->cpu_count; i++)
        if (reading->cpus[i].state == state)
            hr_cpu_set_add(&cpus, reading->cpus[i].cpu);
    return cpus;
}

static void print_offline(const struct hr_cpu_set *cpus, char *buffer, size_t size)
{
    const size_t count = hr_cpu_set_count(cpus);
    char list[LIST_SIZE + 8];

    buffer[0] = '\0';
    if (count == 0)
        return;
    print_cpus(cpus, list, sizeof(list));
    snprintf(buffer, size, "%s %s offline: no values until %s online again", list,
             count == 1 ? "is" : "are", count == 1 ? "it is" : "they are");
}

/* If attached, the other program chooses the CPUs. Otherwise the thread may have failed to start,
 * which the kernel only logs. */
static void print_silent(const struct osnoise_problems *problems, const struct hr_cpu_set *cpus,
                         char *buffer, size_t size)
{
    char list[LIST_SIZE + 8];

    buffer[0] = '\0';
    if (hr_cpu_set_count(cpus) == 0)
        return;
    print_cpus(cpus, list, sizeof(list));
    snprintf(
        buffer, size,
        "no samples come from %s: check %s, and whether other tasks leave no time to the thread "
        "%s/N there",
        list,
        problems->is_attached ? "whether the other program still measures there"
                              : "dmesg for \"could not start sampling thread\"",
        problems->is_timerlat ? "timerlat" : "osnoise");
}

static bool has_absent(const struct hr_osnoise_reading *reading)
{
    for (size_t i = 0; i < reading->cpu_count; i++)
        if (reading->cpus[i].state != HR_OSNOISE_CPU_FINE)
            return true;
    return false;
}

static void log_absent_cpus(struct osnoise_problems *problems,
                            const struct hr_osnoise_reading *reading)
{
    char offline[LIST_SIZE + 96], silent[LIST_SIZE + 224];

    if (!has_absent(reading)) {
        complaint_resolve(&problems->absent, PLUGIN ": samples come from all CPUs.");
        return;
    }
    const struct hr_cpu_set off = find_cpus_in_state(reading, HR_OSNOISE_CPU_OFFLINE);
    const struct hr_cpu_set mute = find_cpus_in_state(reading, HR_OSNOISE_CPU_SILENT);
    print_offline(&off, offline, sizeof(offline));
    print_silent(problems, &mute, silent, sizeof(silent));
    int cause = (int)(hr_hash(offline) ^ hr_hash(silent)) | 1;
    complaint_log(&problems->absent, LOG_WARNING, cause, PLUGIN ": %s%s%s.", offline,
                  offline[0] != '\0' && silent[0] != '\0' ? "; " : "", silent);
}

/* --- What the values lack ------------------------------------------------- */

/* Without an alert only samples are recorded, one a period; with one also all that interferes while
 * the kernel looks, however long the noises are. If attached, these times are the other program's.
 */
static const char *remedy_of_loss(const struct osnoise_problems *problems)
{
    static const char *const remedies[2][2] = {
        {"samples come faster than they are read, and values are too low. Lengthen Period, or "
         "raise BufferSize",
         "samples come faster than they are read, and values are too low. Raise BufferSize"},
        {"more interferes than the kernel's buffer holds until it is read, and values are too low. "
         "Raise BufferSize, set Causes false, or shorten Runtime",
         "more interferes than the kernel's buffer holds until it is read, and values are too low. "
         "Raise BufferSize, or set Causes false"},
    };

    return remedies[problems->has_alert][problems->is_attached];
}

static void log_lost_records(struct osnoise_problems *problems,
                             const struct hr_osnoise_reading *reading)
{
    struct hr_cpu_set cpus = {{0}};
    char list[LIST_SIZE + 8];
    uint64_t lost = 0;

    for (size_t i = 0; i < reading->cpu_count; i++)
        if (reading->cpus[i].lost_count > 0) {
            lost += reading->cpus[i].lost_count;
            hr_cpu_set_add(&cpus, reading->cpus[i].cpu);
        }
    problems->without_loss_ns = lost > 0 ? 0 : problems->without_loss_ns + reading->elapsed_ns;
    if (problems->without_loss_ns >= LOSS_OVER_NS)
        complaint_resolve(&problems->lost, PLUGIN ": no records lost for %.6g s.",
                          (double)LOSS_OVER_NS / 1e9);
    if (!tally_should_log(&problems->lost_tally, lost))
        return;
    problems->lost.cause = 1;
    print_cpus(&cpus, list, sizeof(list));
    WARNING(PLUGIN ": %" PRIu64 " records of %s were overwritten before they were read: %s.", lost,
            list, remedy_of_loss(problems));
}

static void log_dropped_noises(struct osnoise_problems *problems,
                               const struct hr_osnoise_reading *reading)
{
    if (tally_should_log(&problems->dropped_tally, reading->dropped_count))
        WARNING(PLUGIN ": %" PRIu64 " noises are counted in \"other\", not by name, as the "
                       "kernel's table of names was full.",
                reading->dropped_count);
}

static void log_warning(struct osnoise_problems *problems, const struct hr_reason *warning)
{
    if (warning->error == 0) {
        complaint_resolve(&problems->warning, PLUGIN ": this no longer applies: \"%s\".",
                          problems->warned.text);
        return;
    }
    problems->warned = *warning;
    complaint_log(&problems->warning, LOG_WARNING, cause_of(warning), PLUGIN ": %s.",
                  warning->text);
}

void osnoise_problems_log_reading(struct osnoise_problems *problems,
                                  const struct hr_osnoise_reading *reading)
{
    log_warning(problems, &reading->warning);
    log_absent_cpus(problems, reading);
    log_lost_records(problems, reading);
    log_dropped_noises(problems, reading);
}
