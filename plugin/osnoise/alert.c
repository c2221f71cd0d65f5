/* SPDX-License-Identifier: MIT */
#include "osnoise/alert.h"

#include <errno.h>

#include "common/complaint.h"
#include "common/dispatcher.h"
#include "headroom/array.h"

#define PLUGIN "osnoise"

/* Notifications per second, as those of psi by default. */
#define PER_SECOND 20

/* A CPU that has, or had, an alarm. */
struct alarm {
    unsigned cpu;
    bool is_raised;
    bool is_reported;         /* its beginning was queued */
    uint64_t lasting_ns;      /* the time read since it began */
    uint64_t repeat_ns;       /* when lasting_ns is that, it is reported again */
    uint64_t quiet_ns;        /* how long the CPU was measured without such a noise */
    uint64_t since_sample_ns; /* the time passed since, which may not have been measured */
    struct osnoise_excess excess;
};

struct osnoise_alert {
    struct osnoise_rule rule;
    struct dispatcher *dispatcher;
    struct alarm *alarms;
    size_t alarm_count, alarm_capacity;
    struct complaint shortage;
};

int osnoise_alert_open(const struct osnoise_rule *rule, struct osnoise_alert **alert)
{
    struct osnoise_alert *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    int status = dispatcher_open(PLUGIN, PER_SECOND, NULL, &opened->dispatcher);
    if (status < 0) {
        free(opened);
        return status;
    }
    opened->rule = *rule;
    *alert = opened;
    return 0;
}

/* A handler that hangs keeps the dispatcher. */
void osnoise_alert_close(struct osnoise_alert *alert)
{
    if (alert == NULL)
        return;
    dispatcher_close(alert->dispatcher);
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

static uint64_t alarm_id(const struct alarm *alarm)
{
    return (uint64_t)alarm->cpu + 1;
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
static void raise_alarm(struct osnoise_alert *alert, struct alarm *alarm)
{
    if (alarm->is_raised)
        return;
    if (!dispatcher_withdraw_end(alert->dispatcher, alarm_id(alarm)))
        *alarm = (struct alarm){.cpu = alarm->cpu};
    alarm->is_raised = true;
}

static bool is_report_due(const struct osnoise_rule *rule, const struct alarm *alarm)
{
    return !alarm->is_reported || (rule->repeat_ns > 0 && alarm->lasting_ns >= alarm->repeat_ns);
}

/* While the queue is full the next noise tries again. */
static void report_noise(struct osnoise_alert *alert, struct alarm *alarm,
                         const struct hr_osnoise_single_noise *noise)
{
    notification_t notice;

    if (!is_report_due(&alert->rule, alarm) || !dispatcher_can_queue(alert->dispatcher))
        return;
    osnoise_notification_single_noise(&notice, &alert->rule, noise,
                                      alarm->is_reported ? &alarm->excess : NULL,
                                      alarm->lasting_ns);
    if (!dispatcher_queue_beginning(alert->dispatcher, alarm_id(alarm), 0, &notice))
        return;
    alarm->is_reported = true;
    alarm->repeat_ns = alarm->lasting_ns + alert->rule.repeat_ns;
}

static void add_noises(struct osnoise_alert *alert, const struct hr_osnoise_cpu *cpu,
                       const struct hr_osnoise_single_noise *longest)
{
    struct alarm *alarm = find_or_add_alarm(alert, cpu->cpu);

    if (alarm == NULL)
        return;
    raise_alarm(alert, alarm);
    alarm->quiet_ns = alarm->since_sample_ns = 0;
    alarm->excess.count += cpu->single_count;
    if (longest->duration_ns > alarm->excess.longest_ns)
        alarm->excess.longest_ns = longest->duration_ns;
    report_noise(alert, alarm, longest);
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
    if (cpu->lost_count > 0)
        return;
    alarm->since_sample_ns += reading->elapsed_ns;
    if (cpu->sample_count == 0 && !reading->lacks_samples)
        return;
    alarm->quiet_ns += alarm->since_sample_ns;
    alarm->since_sample_ns = 0;
}

static void end_if_quiet(struct osnoise_alert *alert, struct alarm *alarm)
{
    notification_t notice;

    if (alarm->quiet_ns < alert->rule.quiet_ns)
        return;
    if (alarm->is_reported) {
        osnoise_notification_quiet(&notice, &alert->rule, alarm->cpu, &alarm->excess);
        if (!dispatcher_queue_end(alert->dispatcher, alarm_id(alarm), &notice))
            return;
    }
    alarm->is_raised = false;
}

static void update_cpu(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading,
                       const struct hr_osnoise_cpu *cpu)
{
    const struct hr_osnoise_single_noise *longest = find_longest(reading, cpu->cpu);
    struct alarm *alarm = find_alarm(alert, cpu->cpu);

    if (alarm != NULL && alarm->is_raised)
        alarm->lasting_ns += reading->elapsed_ns;
    if (longest != NULL) {
        add_noises(alert, cpu, longest);
        alarm = find_alarm(alert, cpu->cpu);
    } else if (alarm != NULL && alarm->is_raised) {
        count_quiet(alarm, reading, cpu);
        end_if_quiet(alert, alarm);
    }
    if (alarm != NULL && cpu->lost_count > 0)
        alarm->excess.is_more = true;
}

void osnoise_alert_update(struct osnoise_alert *alert, const struct hr_osnoise_reading *reading)
{
    for (size_t i = 0; i < reading->cpu_count; i++)
        update_cpu(alert, reading, &reading->cpus[i]);
}
