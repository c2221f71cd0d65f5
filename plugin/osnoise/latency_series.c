/* SPDX-License-Identifier: MIT */
#include "osnoise/latency_series.h"

void osnoise_latency_series_add(struct osnoise_latency_series *series,
                                const struct hr_osnoise_cpu_latencies *latencies)
{
    for (int i = 0; i < HR_OSNOISE_CONTEXT_COUNT; i++) {
        const struct hr_osnoise_latency *latency = &latencies->of[i];
        series->of[i].interval_count += latency->count;
        series->of[i].count += latency->count;
        series->of[i].sum_ns += latency->sum_ns;
        if (latency->max_ns > series->of[i].interval_max_ns)
            series->of[i].interval_max_ns = latency->max_ns;
        for (int power = 0; power < HR_OSNOISE_LATENCY_BUCKETS; power++)
            if (latency->buckets[power] > 0)
                osnoise_buckets_add(&series->of[i].buckets, UINT64_C(1) << power,
                                    latency->buckets[power]);
    }
}

/* "max_latency_irq", "latency_irq_us", "latency_irq", "latency_irq_2us" */
void osnoise_latency_series_submit(struct osnoise_latency_series *series,
                                   const struct submission *submission, bool histogram)
{
    char name[64];

    for (int i = 0; i < HR_OSNOISE_CONTEXT_COUNT; i++) {
        const char *context = hr_osnoise_context_name(i);
        snprintf(name, sizeof(name), "max_latency_%s", context);
        if (series->of[i].interval_count > 0)
            submit_gauge(submission, "duration", name, (double)series->of[i].interval_max_ns / 1e9);
        snprintf(name, sizeof(name), "latency_%s_us", context);
        submit_derive(submission, "derive", name, (int64_t)(series->of[i].sum_ns / 1000));
        snprintf(name, sizeof(name), "latency_%s", context);
        submit_derive(submission, "total_operations", name, (int64_t)series->of[i].count);
        if (histogram)
            osnoise_buckets_submit(&series->of[i].buckets, submission, name);
        series->of[i].interval_count = series->of[i].interval_max_ns = 0;
    }
}
