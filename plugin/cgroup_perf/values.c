/* SPDX-License-Identifier: MIT */
#include "cgroup_perf/values.h"

#include "common/submit.h"
#include "utils/common/common.h"

/* The source of values: the sum over all CPUs, or one CPU, with its suffix of type instances. */
struct source {
    const struct hr_perf_target *target;
    bool one_cpu;
    size_t index;
    char suffix[16]; /* "" or "cpu3" */
};

static struct hr_perf_value get_value(const struct source *source, size_t group, size_t event)
{
    if (source->one_cpu)
        return hr_perf_target_cpu_value(source->target, source->index, group, event);
    return hr_perf_target_value(source->target, group, event);
}

/* "NAME", "NAME-cpu3", "cpu3" or "" */
static const char *with_suffix(const char *name, const struct source *source,
                               char buffer[DATA_MAX_NAME_LEN])
{
    if (!source->one_cpu)
        return name;
    ssnprintf(buffer, DATA_MAX_NAME_LEN, "%s%s%s", name, name[0] != '\0' ? "-" : "",
              source->suffix);
    return buffer;
}

static void submit_event(const struct submission *submission, const struct perf_series *series,
                         const struct source *source, const struct hr_perf_value *value,
                         bool running)
{
    char buffer[DATA_MAX_NAME_LEN];

    /* Beyond 2^63 a total starts from 0 again, as DERIVE is signed. */
    if (value->counted)
        submit_derive(submission, "perf", with_suffix(series->event->label, source, buffer),
                      (int64_t)(value->total & INT64_MAX));
    /* The times are those of the whole line; they don't apply to an event that can't be counted. */
    if (running && value->enabled_ns > 0 && (value->counted || value->running_ns == 0))
        submit_gauge(submission, "percent", with_suffix(series->running, source, buffer),
                     100.0 * (double)value->running_ns / (double)value->enabled_ns);
}

static void submit_ratio(const struct submission *submission, const struct perf_ratio *ratio,
                         const struct source *source)
{
    const struct hr_perf_value numerator = get_value(source, ratio->group, ratio->numerator);
    const struct hr_perf_value denominator = get_value(source, ratio->group, ratio->denominator);
    char buffer[DATA_MAX_NAME_LEN];

    if (!numerator.counted || !denominator.counted || denominator.delta == 0)
        return;
    double value = ratio->factor * (double)numerator.delta / (double)denominator.delta;
    if (value <= ratio->max)
        submit_gauge(submission, ratio->type, with_suffix(ratio->type_instance, source, buffer),
                     value);
}

static void submit_source(const struct submission *submission, const struct perf_events *events,
                          const struct source *source, const struct perf_values_options *publishing)
{
    const bool running = publishing->running && !publishing->totals_only;

    for (size_t g = 0; g < events->group_count; g++) {
        for (size_t e = 0; e < events->groups[g].count; e++) {
            const struct hr_perf_value value = get_value(source, g, e);
            if (events->series[g][e].published)
                submit_event(submission, &events->series[g][e], source, &value, running);
        }
    }
    for (size_t i = 0; i < events->ratio_count && !publishing->totals_only; i++)
        submit_ratio(submission, &events->ratios[i], source);
}

void perf_values_submit(const struct submission *submission, const struct perf_events *events,
                        const struct hr_perf_target *target,
                        const struct perf_values_options *publishing)
{
    struct source source = {.target = target};
    unsigned cpu;

    submit_source(submission, events, &source, publishing);
    if (!publishing->per_cpu)
        return;
    source.one_cpu = true;
    for (; hr_perf_target_cpu(target, source.index, &cpu); source.index++) {
        snprintf(source.suffix, sizeof(source.suffix), "cpu%u", cpu);
        submit_source(submission, events, &source, publishing);
    }
}
