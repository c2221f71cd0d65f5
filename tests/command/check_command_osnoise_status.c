/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_osnoise_status.c - the exit status of `headroom osnoise`. The collector's
 * readings are made up here, and no time passes.
 */
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/usage.h"
#include "common/waiting.h"
#include "headroom/clock.h"
#include "osnoise/run.h"
#include "support/frozen_clock.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- The collector -------------------------------------------------------- */

static struct hr_osnoise_cpu cpus[2];
static const struct hr_osnoise_single_noise single_noise = {.cpu = 0, .duration_ns = 5000000};
static struct hr_osnoise_reading next_reading;
static int next_status, end_status;

int __wrap_hr_osnoise_open(const struct hr_root *root, const struct hr_osnoise_options *options,
                           struct hr_osnoise **osnoise, struct hr_reason *reason);
int __wrap_hr_osnoise_begin(struct hr_osnoise *osnoise, struct hr_reason *reason);
int __wrap_hr_osnoise_read(struct hr_osnoise *osnoise, struct hr_osnoise_reading *reading,
                           struct hr_reason *reason);
int __wrap_hr_osnoise_end(struct hr_osnoise *osnoise, struct hr_reason *reason);
void __wrap_hr_osnoise_close(struct hr_osnoise *osnoise);

static int give(int status, struct hr_reason *reason)
{
    *reason = (struct hr_reason){.error = status};
    snprintf(reason->text, sizeof(reason->text), "%s", status < 0 ? strerror(-status) : "");
    return status;
}

int __wrap_hr_osnoise_open(__attribute__((unused)) const struct hr_root *root,
                           __attribute__((unused)) const struct hr_osnoise_options *options,
                           struct hr_osnoise **osnoise,
                           __attribute__((unused)) struct hr_reason *reason)
{
    *osnoise = NULL;
    return 0;
}

int __wrap_hr_osnoise_begin(__attribute__((unused)) struct hr_osnoise *osnoise,
                            __attribute__((unused)) struct hr_reason *reason)
{
    return 0;
}

int __wrap_hr_osnoise_read(__attribute__((unused)) struct hr_osnoise *osnoise,
                           struct hr_osnoise_reading *reading, struct hr_reason *reason)
{
    *reading = next_reading;
    return give(next_status, reason);
}

int __wrap_hr_osnoise_end(__attribute__((unused)) struct hr_osnoise *osnoise,
                          struct hr_reason *reason)
{
    return give(end_status, reason);
}

void __wrap_hr_osnoise_close(__attribute__((unused)) struct hr_osnoise *osnoise)
{
}

int __wrap_waiting_wait(const struct waiting *wait);

int __wrap_waiting_wait(const struct waiting *wait)
{
    frozen_ns = wait->until_ns;
    return 0;
}

/* --- Runs ----------------------------------------------------------------- */

/* What is printed isn't the test's result. */
static int run_silently(const struct osnoise_request *request)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), output = dup(STDOUT_FILENO);

    ck_assert_int_ge(nowhere, 0);
    ck_assert_int_ge(output, 0);
    fflush(stdout);
    ck_assert_int_ge(dup2(nowhere, STDOUT_FILENO), 0);
    int status = osnoise_run(request);
    ck_assert_int_ge(dup2(output, STDOUT_FILENO), 0);
    close(output);
    close(nowhere);
    return status;
}

static const struct {
    unsigned single_noises;
    unsigned measured_cpus; /* of both */
    unsigned lost_records;
    int ended, not_restored;
    int expected;
} rows[] = {
    {0, 2, 0, 0, 0, COMMAND_DONE},
    {0, 1, 0, 0, 0, COMMAND_FAILED},
    {0, 2, 1, 0, 0, COMMAND_FAILED},
    {0, 2, 0, -ECANCELED, 0, COMMAND_FAILED},
    {0, 2, 0, 0, -EBUSY, COMMAND_FAILED},
    {1, 2, 0, 0, 0, COMMAND_EXCEEDED},
    /* Whatever else there was: that the limit was exceeded is known. */
    {1, 1, 0, 0, 0, COMMAND_EXCEEDED},
    {1, 0, 0, 0, 0, COMMAND_EXCEEDED},
    {1, 2, 1, 0, 0, COMMAND_EXCEEDED},
    {1, 1, 0, -ECANCELED, 0, COMMAND_EXCEEDED}, /* as the noise stopped tracing */
    {1, 2, 0, 0, -EBUSY, COMMAND_EXCEEDED},
};

START_TEST(the_limit_of_single_noises)
{
    struct osnoise_request request = {
        .title = "test", .total_ns = HR_NS_PER_S, .options = hr_osnoise_defaults};

    request.options.max_single_ns = 1000000;
    for (unsigned i = 0; i < COUNT(cpus); i++)
        cpus[i] = (struct hr_osnoise_cpu){.cpu = i, .sample_count = i < rows[_i].measured_cpus};
    cpus[0].lost_count = rows[_i].lost_records;
    next_reading = (struct hr_osnoise_reading){.elapsed_ns = HR_NS_PER_S,
                                               .cpus = cpus,
                                               .cpu_count = COUNT(cpus),
                                               .single_noises = &single_noise,
                                               .single_noise_count = rows[_i].single_noises};
    next_status = rows[_i].ended;
    end_status = rows[_i].not_restored;
    frozen_ns = HR_NS_PER_S;
    int status = run_silently(&request);
    frozen_ns = 0;
    ck_assert_int_eq(status, rows[_i].expected);
}
END_TEST

static const struct {
    uint64_t max_ns[2]; /* of each CPU; 0: it wasn't measured */
    uint64_t lost_records;
    int ended;
    int expected;
} latency_rows[] = {
    {{50000, 40000}, 0, 0, COMMAND_DONE},
    {{40000, 50001}, 0, 0, COMMAND_EXCEEDED},
    {{50000, 0}, 0, 0, COMMAND_FAILED},
    {{50000, 40000}, 1, 0, COMMAND_FAILED},
    {{50001, 0}, 1, -ECANCELED, COMMAND_EXCEEDED},
    {{50000, 40000}, 0, -ECANCELED, COMMAND_FAILED},
};

START_TEST(the_limit_of_latencies)
{
    struct osnoise_request request = {
        .title = "test", .total_ns = HR_NS_PER_S, .options = hr_osnoise_defaults};
    struct hr_osnoise_cpu_latencies latencies[COUNT(cpus)] = {{0}};

    request.options.mode = HR_OSNOISE_TIMERLAT;
    request.max_latency_ns = 50000;
    for (unsigned i = 0; i < COUNT(cpus); i++) {
        const uint64_t max_ns = latency_rows[_i].max_ns[i];
        cpus[i] = (struct hr_osnoise_cpu){.cpu = i, .sample_count = max_ns > 0};
        latencies[i].cpu = i;
        latencies[i].of[i] = (struct hr_osnoise_latency){
            .count = max_ns > 0, .min_ns = max_ns, .max_ns = max_ns, .sum_ns = max_ns};
    }
    cpus[0].lost_count = latency_rows[_i].lost_records;
    next_reading = (struct hr_osnoise_reading){
        .elapsed_ns = HR_NS_PER_S, .cpus = cpus, .cpu_count = COUNT(cpus), .latencies = latencies};
    next_status = latency_rows[_i].ended;
    end_status = 0;
    frozen_ns = HR_NS_PER_S;
    int status = run_silently(&request);
    frozen_ns = 0;
    ck_assert_int_eq(status, latency_rows[_i].expected);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("command osnoise status");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, the_limit_of_single_noises, 0, COUNT(rows));
    tcase_add_loop_test(tests, the_limit_of_latencies, 0, COUNT(latency_rows));
    return run_isolated_suite("command osnoise status", tests);
}
