/* SPDX-License-Identifier: MIT */
#include "osnoise/alert.h"

#include <errno.h>

#include "headroom/clock.h"
#include "osnoise/alarms.h"
#include "osnoise/kept_traces.h"

struct osnoise_alert {
    struct osnoise_rule rule;
    const struct hr_osnoise_options *osnoise;
    struct osnoise_alarms *alarms;
    struct kept_traces *traces; /* NULL: none are kept */
    uint64_t claim_ns;          /* from when on alarms end that can't go on */
};

/* --- Opening and closing -------------------------------------------------- */

static bool measures_any(const struct hr_osnoise_options *osnoise)
{
    return osnoise->mode == HR_OSNOISE_ATTACH || !hr_cpu_choice_is_all(&osnoise->cpus);
}

/* That an alarm of the previous run lasts is reported after that time in this one. */
static void set_repeating(const struct osnoise_alert *alert)
{
    for (size_t i = 0; i < osnoise_alarms_count(alert->alarms); i++)
        osnoise_alarms_get(alert->alarms, i)->repeat_ns = alert->rule.repeat_ns;
}

int osnoise_alert_open(const struct osnoise_alert_options *options, struct osnoise_alert **alert)
{
    const bool can_begin = options->rule.max_single_ns > 0 && measures_any(options->osnoise);
    struct osnoise_alert *opened = calloc(1, sizeof(*opened));

    *alert = NULL;
    if (opened == NULL)
        return -ENOMEM;
    int status = osnoise_alarms_open(options->osnoise->state_path, can_begin, &opened->alarms);
    if (opened->alarms == NULL) {
        free(opened);
        return status;
    }
    opened->rule = options->rule;
    opened->osnoise = options->osnoise;
    opened->claim_ns = hr_clock_ns() + options->claim_ns;
    set_repeating(opened);
    if (can_begin && options->rule.kept_traces > 0)
        status = kept_traces_open(options->osnoise->state_path, options->rule.kept_traces,
                                  &opened->traces);
    if (status < 0)
        osnoise_alert_close(opened);
    else
        *alert = opened;
    return status;
}

void osnoise_alert_close(struct osnoise_alert *alert)
{
    if (alert == NULL)
        return;
    osnoise_alarms_close(alert->alarms);
    kept_traces_close(alert->traces);
    free(alert);
}

/* --- Noises --------------------------------------------------------------- */

static const struct hr_osnoise_single_noise *find_longest(const struct hr_osnoise_reading *reading,
                                                          unsigned cpu)
{
    const struct hr_osnoise_single_noise *longest = NULL;

    for (size_t i = 0; i < reading->single_noise_count; i++) {
        const struct hr_osnoise_single_noise *noise = &reading->single_noises[i];
        if (noise->cpu == cpu && (longest == NULL || noise->duration_ns > longest->duration_ns))
            longest = noise;
    }
    return longest;
}

/* The alarm before goes on if its end wasn't dispatched yet. */
static void raise_alarm(struct osnoise_alert *alert, struct osnoise_alarm *alarm)
{
    if (alarm->is_raised)
        return;
    if (!osnoise_alarms_withdraw_end(alert->alarms, alarm))
        *alarm = (struct osnoise_alarm){.cpu = alarm->cpu};
    alarm->is_raised = true;
}

/* Of an alarm of the previous run it may not be known: then it is reported again. */
static bool is_reported(const struct osnoise_alarm *alarm)
{
    return alarm->is_open && alarm->sent != ALARM_INHERITED;
}

static bool is_report_due(const struct osnoise_rule *rule, const struct osnoise_alarm *alarm)
{
    return !is_reported(alarm) || (rule->repeat_ns > 0 && alarm->lasting_ns >= alarm->repeat_ns);
}

/* While the queue is full the next noise tries again. */
static void report_noise(struct osnoise_alert *alert, struct osnoise_alarm *alarm,
                         const struct hr_osnoise_reading *reading,
                         const struct hr_osnoise_single_noise *noise)
{
    notification_t notice;

    if (!is_report_due(&alert->rule, alarm) || !osnoise_alarms_can_begin(alert->alarms))
        return;
    osnoise_notification_single_noise(&notice, &alert->rule, noise,
                                      is_reported(alarm) ? &alarm->excess : NULL,
                                      alarm->lasting_ns);
    const char *trace = kept_traces_put(alert->traces, reading, alarm->cpu, notice.message);
    if (trace != NULL)
        osnoise_notification_add_trace(&notice, trace);
    if (osnoise_alarms_begin(alert->alarms, alarm, &notice))
        alarm->repeat_ns = alarm->lasting_ns + alert->rule.repeat_ns;
}

static void add_noises(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading,
                       const struct hr_osnoise_cpu *cpu,
                       const struct hr_osnoise_single_noise *longest)
{
    struct osnoise_alarm *alarm = osnoise_alarms_find_or_add(alert->alarms, cpu->cpu);

    if (alarm == NULL)
        return;
    raise_alarm(alert, alarm);
    alarm->quiet_ns = alarm->since_sample_ns = 0;
    alarm->excess.count += cpu->single_count;
    if (longest->duration_ns > alarm->excess.longest_ns)
        alarm->excess.longest_ns = longest->duration_ns;
    report_noise(alert, alarm, reading, longest);
}

/* --- Quiet ---------------------------------------------------------------- */

/* Adds the time of a reading without such a noise. A CPU that isn't measured isn't quiet, nor one
 * whose noises may be unknown. Only its next sample shows that it was measured, which may come an
 * hour later: the kernel writes the sample of a period at its end. */
static void count_quiet(struct osnoise_alarm *alarm, const struct hr_osnoise_reading *reading,
                        const struct hr_osnoise_cpu *cpu)
{
    if (cpu->state != HR_OSNOISE_CPU_FINE) {
        alarm->since_sample_ns = 0;
        return;
    }
    if (cpu->lost_count > 0)
        return;
    alarm->since_sample_ns += reading->elapsed_ns;
    if (cpu->sample_count == 0 && !reading->lacks_samples)
        return;
    alarm->quiet_ns += alarm->since_sample_ns;
    alarm->since_sample_ns = 0;
}

/* If memory is short it stays, and ends later. @param reason  NULL: it is quiet. */
static void end_alarm(struct osnoise_alert *alert, struct osnoise_alarm *alarm, const char *reason)
{
    notification_t notice;

    if (alarm->is_open) {
        if (reason != NULL)
            osnoise_notification_unwatched(&notice, &alert->rule, alarm->cpu, reason);
        else
            osnoise_notification_quiet(&notice, &alert->rule, alarm->cpu, &alarm->excess);
        if (!osnoise_alarms_end(alert->alarms, alarm, &notice))
            return;
    }
    alarm->is_raised = false;
}

static void update_cpu(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading,
                       const struct hr_osnoise_cpu *cpu)
{
    const struct hr_osnoise_single_noise *longest = find_longest(reading, cpu->cpu);
    struct osnoise_alarm *alarm = osnoise_alarms_find(alert->alarms, cpu->cpu);

    if (alarm != NULL && alarm->is_raised)
        alarm->lasting_ns += reading->elapsed_ns;
    if (longest != NULL) {
        add_noises(alert, reading, cpu, longest);
        alarm = osnoise_alarms_find(alert->alarms, cpu->cpu);
    } else if (alarm != NULL && alarm->is_raised) {
        count_quiet(alarm, reading, cpu);
        if (alarm->quiet_ns >= alert->rule.quiet_ns)
            end_alarm(alert, alarm, NULL);
    }
    if (alarm != NULL && cpu->lost_count > 0)
        alarm->excess.is_more = true;
}

/* --- Alarms that can't go on ---------------------------------------------- */

static int compare_cpu(const void *number, const void *row)
{
    const unsigned a = *(const unsigned *)number, b = ((const struct hr_osnoise_cpu *)row)->cpu;

    return (a > b) - (a < b);
}

/* Whether a CPU is measured, or may be once any can be: those that words choose show then, and
 * without any choice it is another program that chooses them. */
static bool is_measured(const struct osnoise_alert *alert, unsigned cpu,
                        const struct hr_osnoise_reading *reading)
{
    const struct hr_osnoise_options *osnoise = alert->osnoise;

    if (reading != NULL)
        return bsearch(&cpu, reading->cpus, reading->cpu_count, sizeof(reading->cpus[0]),
                       compare_cpu) != NULL;
    return hr_cpu_set_has(&osnoise->cpus.list, cpu) || osnoise->cpus.words != 0 ||
           (osnoise->mode == HR_OSNOISE_ATTACH && hr_cpu_choice_is_all(&osnoise->cpus));
}

/* What raised an alarm before a reboot is gone with it, unless such a noise came again. */
static bool is_of_another_boot(const struct osnoise_alert *alert, const struct osnoise_alarm *alarm)
{
    return alarm->excess.is_since_restart && alarm->excess.count == 0 &&
           osnoise_alarms_has_rebooted(alert->alarms);
}

/* @return why an alarm can't go on; NULL: it can. */
static const char *explain(const struct osnoise_alert *alert, const struct osnoise_alarm *alarm,
                           const struct hr_osnoise_reading *reading)
{
    if (alert->rule.max_single_ns == 0)
        return "<Alert> is no longer configured";
    if (!is_measured(alert, alarm->cpu, reading))
        return "it is no longer measured";
    return is_of_another_boot(alert, alarm) ? "the machine was rebooted" : NULL;
}

static void end_unwatched(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading)
{
    for (size_t i = 0; i < osnoise_alarms_count(alert->alarms); i++) {
        struct osnoise_alarm *alarm = osnoise_alarms_get(alert->alarms, i);
        const char *reason = alarm->is_raised ? explain(alert, alarm, reading) : NULL;
        if (reason != NULL)
            end_alarm(alert, alarm, reason);
    }
}

/* --- Updating ------------------------------------------------------------- */

static void add_reading(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading)
{
    kept_traces_begin_reading(alert->traces);
    for (size_t i = 0; i < reading->cpu_count; i++)
        update_cpu(alert, reading, &reading->cpus[i]);
}

void osnoise_alert_update(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading)
{
    if (reading != NULL && alert->rule.max_single_ns > 0)
        add_reading(alert, reading);
    if (hr_clock_ns() >= alert->claim_ns)
        end_unwatched(alert, reading);
    osnoise_alarms_save(alert->alarms);
}
