/* SPDX-License-Identifier: MIT */
#include "osnoise/alert.h"

#include "common/complaint.h"
#include "headroom/array.h"

#define PLUGIN "osnoise"

/* A CPU that has, or had, an alarm. */
struct alarm {
    unsigned cpu;
    bool is_raised;
    uint64_t notified_ns;     /* the longest noise notified */
    uint64_t quiet_ns;        /* how long the CPU was measured without such a noise */
    uint64_t since_sample_ns; /* the time passed since, which may not have been measured */
    struct osnoise_excess excess;
    const struct hr_osnoise_single_noise *longest; /* of the current reading */
};

struct osnoise_alert {
    struct osnoise_rule rule;
    struct alarm *alarms;
    size_t alarm_count, alarm_capacity;
    struct complaint shortage;
};

struct osnoise_alert *osnoise_alert_new(const struct osnoise_rule *rule)
{
    struct osnoise_alert *alert = calloc(1, sizeof(*alert));

    if (alert != NULL)
        alert->rule = *rule;
    return alert;
}

void osnoise_alert_free(struct osnoise_alert *alert)
{
    if (alert == NULL)
        return;
    free(alert->alarms);
    free(alert);
}

static struct alarm *find_alarm(const struct osnoise_alert *alert, unsigned cpu)
{
    for (size_t i = 0; i < alert->alarm_count; i++)
        if (alert->alarms[i].cpu == cpu)
            return &alert->alarms[i];
    return NULL;
}

static struct alarm *find_or_add_alarm(struct osnoise_alert *alert, unsigned cpu)
{
    struct alarm *alarm = find_alarm(alert, cpu);

    if (alarm != NULL)
        return alarm;
    if (HR_ARRAY_RESERVE(alert->alarms, alert->alarm_capacity, alert->alarm_count + 1) < 0) {
        complaint_log(&alert->shortage, LOG_ERR, 1, PLUGIN ": no alerts for CPU %u: out of memory.",
                      cpu);
        return NULL;
    }
    alert->alarms[alert->alarm_count] = (struct alarm){.cpu = cpu};
    return &alert->alarms[alert->alarm_count++];
}

static void dispatch_notification(notification_t *notice)
{
    notice->time = cdtime();
    plugin_dispatch_notification(notice);
    plugin_notification_meta_free(notice->meta);
}

/* --- Noises --------------------------------------------------------------- */

static void raise_alarm(struct alarm *alarm)
{
    if (!alarm->is_raised)
        *alarm = (struct alarm){.cpu = alarm->cpu, .is_raised = true};
}

static void add_single_noise(struct osnoise_alert *alert,
                             const struct hr_osnoise_single_noise *single_noise)
{
    struct alarm *alarm = find_or_add_alarm(alert, single_noise->cpu);

    if (alarm == NULL)
        return;
    raise_alarm(alarm);
    alarm->quiet_ns = alarm->since_sample_ns = 0;
    alarm->excess.count++;
    if (single_noise->duration_ns > alarm->excess.longest_ns)
        alarm->excess.longest_ns = single_noise->duration_ns;
    if (alarm->longest == NULL || single_noise->duration_ns > alarm->longest->duration_ns)
        alarm->longest = single_noise;
}

static void notify_longest(struct osnoise_alert *alert, struct alarm *alarm)
{
    const struct hr_osnoise_single_noise *single_noise = alarm->longest;
    notification_t notice;

    alarm->longest = NULL;
    if (single_noise->duration_ns / 2 < alarm->notified_ns)
        return;
    alarm->notified_ns = single_noise->duration_ns;
    osnoise_notification_single_noise(&notice, &alert->rule, single_noise);
    dispatch_notification(&notice);
}

/* --- Quiet ---------------------------------------------------------------- */

/* Adds the time of a reading without such a noise. A CPU that isn't measured isn't quiet, nor one
 * whose noises may be unknown. Only its next sample shows that it was measured, which may come an
 * hour later: the kernel writes the sample of a period at its end. */
static void count_quiet(struct alarm *alarm, const struct hr_osnoise_reading *reading,
                        const struct hr_osnoise_cpu *cpu)
{
    if (cpu->state != HR_OSNOISE_CPU_FINE) {
        alarm->since_sample_ns = 0;
        return;
    }
    if (cpu->lost_count > 0 || reading->single_noise_more_count > 0)
        return;
    alarm->since_sample_ns += reading->elapsed_ns;
    if (cpu->sample_count == 0)
        return;
    alarm->quiet_ns += alarm->since_sample_ns;
    alarm->since_sample_ns = 0;
}

static void update_quiet(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading,
                         const struct hr_osnoise_cpu *cpu)
{
    struct alarm *alarm = find_alarm(alert, cpu->cpu);
    notification_t notice;

    if (alarm == NULL || !alarm->is_raised || alarm->longest != NULL)
        return;
    count_quiet(alarm, reading, cpu);
    if (alarm->quiet_ns < alert->rule.quiet_ns)
        return;
    alarm->is_raised = false;
    osnoise_notification_quiet(&notice, &alert->rule, cpu->cpu, &alarm->excess);
    dispatch_notification(&notice);
}

void osnoise_alert_update(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading)
{
    for (size_t i = 0; i < reading->single_noise_count; i++)
        add_single_noise(alert, &reading->single_noises[i]);
    for (size_t i = 0; i < reading->cpu_count; i++)
        update_quiet(alert, reading, &reading->cpus[i]);
    for (size_t i = 0; i < alert->alarm_count; i++) {
        struct alarm *alarm = &alert->alarms[i];
        /* The CPU of those noises is unknown. */
        alarm->excess.is_more = alarm->excess.is_more || reading->single_noise_more_count > 0;
        if (alarm->longest != NULL)
            notify_longest(alert, alarm);
    }
}
