/* SPDX-License-Identifier: MIT */
#include "plugin/osnoise/alert_harness.h"

#include "headroom/clock.h"
#include "plugin/osnoise/fake_dispatcher.h"

struct osnoise_alert *alert;
struct osnoise_alert_options alert_options;
struct hr_osnoise_options measured;
const struct hr_osnoise_traces *alert_traces;
const struct hr_osnoise_traces *const alert_traces_there = (const void *)&alert_traces_there;
struct tree *tree;

static char state_path[PATH_MAX];

void restart_alert(void)
{
    osnoise_alert_close(alert);
    ck_assert_int_eq(osnoise_alert_open(&alert_options, &alert), 0);
}

void alert_set_up(void)
{
    tree = tree_new();
    snprintf(state_path, sizeof(state_path), "%s/state", tree_path(tree));
    measured = (struct hr_osnoise_options){.state_path = state_path};
    hr_cpu_set_add(&measured.cpus.list, 3);
    hr_cpu_set_add(&measured.cpus.list, 4);
    hr_cpu_set_add(&measured.cpus.list, 8191);
    alert_options = (struct osnoise_alert_options){
        .rule = {.max_single_ns = 50000, .quiet_ns = 60 * HR_NS_PER_S, .severity = NOTIF_FAILURE},
        .osnoise = &measured,
    };
    fake_dispatcher = (struct fake_dispatcher){.is_held = false};
    alert_traces = NULL;
    fake_start_parts();
    restart_alert();
}

void alert_tear_down(void)
{
    osnoise_alert_close(alert);
    alert = NULL;
    ck_assert_uint_eq(fake_truncations(), 0);
    ck_assert_uint_eq(fake_logs(0, NULL), 0);
    fake_stop();
    tree_free(tree);
}

/* --- Meta data ------------------------------------------------------------ */

const notification_meta_t *meta(const notification_t *notice, const char *name)
{
    const notification_meta_t *entry = notice->meta;

    while (entry != NULL && strcmp(entry->name, name) != 0)
        entry = entry->next;
    return entry;
}

double meta_double(const notification_t *notice, const char *name)
{
    const notification_meta_t *entry = meta(notice, name);

    ck_assert_msg(entry != NULL && entry->type == NM_TYPE_DOUBLE, "no double %s", name);
    return entry->nm_value.nm_double;
}

uint64_t meta_count(const notification_t *notice, const char *name)
{
    const notification_meta_t *entry = meta(notice, name);

    ck_assert_msg(entry != NULL && entry->type == NM_TYPE_UNSIGNED_INT, "no number %s", name);
    return entry->nm_value.nm_unsigned_int;
}

const char *meta_text(const notification_t *notice, const char *name)
{
    const notification_meta_t *entry = meta(notice, name);

    ck_assert_msg(entry != NULL && entry->type == NM_TYPE_STRING, "no text %s", name);
    return entry->nm_value.nm_string;
}

/* --- Readings ------------------------------------------------------------- */

void take_as(enum hr_osnoise_cpu_state state, uint64_t samples,
             const struct hr_osnoise_single_noise *single_noises, size_t count)
{
    struct hr_osnoise_cpu cpus[] = {
        {.cpu = 3, .state = state, .sample_count = samples},
        {.cpu = 4, .state = state, .sample_count = samples},
        {.cpu = 8191, .state = state, .sample_count = samples},
    };
    const struct hr_osnoise_reading reading = {
        .elapsed_ns = HR_NS_PER_S,
        .cpus = cpus,
        .cpu_count = COUNT(cpus),
        .single_noises = single_noises,
        .single_noise_count = count,
        .traces = alert_traces,
    };

    for (size_t i = 0; i < COUNT(cpus); i++)
        for (size_t n = 0; n < count; n++)
            cpus[i].single_count += single_noises[n].cpu == cpus[i].cpu;
    osnoise_alert_update(alert, &reading);
}

void take(const struct hr_osnoise_single_noise *single_noises, size_t count)
{
    take_as(HR_OSNOISE_CPU_FINE, 1, single_noises, count);
}

void take_one(unsigned cpu, uint64_t duration_us)
{
    const struct hr_osnoise_single_noise single_noise = {
        .cpu = cpu, .duration_ns = duration_us * 1000, .parts_are_all = true};

    take(&single_noise, 1);
}

void pass(int seconds)
{
    for (int i = 0; i < seconds; i++)
        take(NULL, 0);
}

void pass_in_period(int seconds)
{
    for (int i = 0; i < seconds; i++)
        take_as(HR_OSNOISE_CPU_FINE, 0, NULL, 0);
}

const notification_t *last(void)
{
    ck_assert_uint_gt(fake_notifications(), 0);
    return fake_notification(fake_notifications() - 1);
}
