/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_timerlat_live.c - the timerlat tracer on the running kernel: its latencies
 * against the kernel's own text of them and against rtla's; and that it ends with its run.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/osnoise/osnoise_live.h"
#include "support/suite.h"

#define OTHER "headroom-test"

static void set_up(void)
{
    live_set_up();
    live_set("osnoise/timerlat_period_us", "1000");
    live_set("osnoise/print_stack", "0");
    live_list(live.before);
    live.options.mode = HR_OSNOISE_TIMERLAT;
    live.options.timerlat = hr_osnoise_defaults.timerlat;
}

static const struct hr_osnoise_latency *latency_of(unsigned cpu, enum hr_osnoise_context context)
{
    for (size_t i = 0; i < live.reading.cpu_count; i++)
        if (live.reading.latencies[i].cpu == cpu)
            return &live.reading.latencies[i].of[context];
    ck_abort_msg("the reading has no CPU %u", cpu);
    return NULL;
}

static void show(const char *whose, unsigned cpu, int context,
                 const struct hr_osnoise_latency *latency)
{
    printf("# %s, CPU %u, %s: %" PRIu64 ", from %" PRIu64 " to %" PRIu64 " ns, sum %" PRIu64
           ", last %" PRIu64 "\n",
           whose, cpu, hr_osnoise_context_name(context), latency->count, latency->min_ns,
           latency->max_ns, latency->sum_ns, latency->last_ns);
    fflush(stdout);
}

/* --- Lists of latencies --------------------------------------------------- */

#define MAX_TIMERS 4096

/* Of a CPU and a context, in their order. */
struct list {
    uint64_t ns[MAX_TIMERS];
    size_t count;
};

static struct list lists[2][HR_OSNOISE_CONTEXT_COUNT];

static void append(struct list *list, uint64_t ns)
{
    ck_assert_uint_lt(list->count, MAX_TIMERS);
    list->ns[list->count++] = ns;
}

/* What the collector should have of a part of a list. The bucket is found another way. */
static struct hr_osnoise_latency sum_of(const struct list *list, size_t from, size_t count)
{
    struct hr_osnoise_latency sum = {.count = count};

    for (size_t i = from; i < from + count; i++) {
        const uint64_t ns = list->ns[i];
        int power = 0;
        while (UINT64_C(2) << power < ns)
            power++;
        sum.buckets[power]++;
        sum.sum_ns += ns;
        sum.last_ns = ns;
        if (ns > sum.max_ns)
            sum.max_ns = ns;
        if (i == from || ns < sum.min_ns)
            sum.min_ns = ns;
    }
    return sum;
}

/* --- The kernel's own text ------------------------------------------------ */

/* From the text of an instance's `trace`, where a latency is a line:
 *
 *     timerlat/0-125     [000] ...11    12.345678: #7     context thread timer_latency     17824 ns
 */
static void parse_trace(const char *instance)
{
    static char text[1 << 20];
    char file[128], *rest = NULL, context[16];
    uint64_t ns;

    snprintf(file, sizeof(file), "instances/%s/trace", instance);
    live_get(file, text, sizeof(text));
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *bracket = strchr(line, '['), *values = strstr(line, ": #");
        if (line[0] == '#' || bracket == NULL || values == NULL)
            continue;
        ck_assert_int_eq(sscanf(values, ": #%*u context %15s timer_latency %" SCNu64, context, &ns),
                         2);
        const unsigned long cpu = strtoul(bracket + 1, NULL, 10);
        ck_assert_uint_lt(cpu, 2);
        append(&lists[cpu][strcmp(context, "thread") == 0], ns);
    }
}

#define MAX_READINGS 100

static struct hr_osnoise_latency readings[2][HR_OSNOISE_CONTEXT_COUNT][MAX_READINGS];
static size_t reading_count;

static void keep_reading(void)
{
    ck_assert_uint_lt(reading_count, MAX_READINGS);
    live_read();
    ck_assert_uint_eq(live.reading.cpu_count, 2);
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        ck_assert_uint_eq(live_cpu(cpu)->lost_count, 0);
        ck_assert_int_eq(live_cpu(cpu)->state, HR_OSNOISE_CPU_FINE);
        for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++)
            readings[cpu][context][reading_count] = *latency_of(cpu, context);
        ck_assert_uint_eq(live_cpu(cpu)->sample_count,
                          readings[cpu][HR_OSNOISE_TIMER_THREAD][reading_count].count);
    }
    reading_count++;
}

/* Whether the readings are the latencies of the list, one after another, from one on. */
static bool is_run(const struct hr_osnoise_latency *of, const struct list *list, size_t from)
{
    for (size_t i = 0; i < reading_count; i++) {
        if (from + of[i].count > list->count)
            return false;
        const struct hr_osnoise_latency expected = sum_of(list, from, of[i].count);
        if (memcmp(&expected, &of[i], sizeof(expected)) != 0)
            return false;
        from += of[i].count;
    }
    return true;
}

/* Latencies may have come between joining and the first reading. */
static void assert_as_in_trace(unsigned cpu, int context, uint64_t least)
{
    const struct list *list = &lists[cpu][context];
    const struct hr_osnoise_latency *of = readings[cpu][context];
    struct hr_osnoise_latency ours = {0}, kernel = sum_of(list, 0, list->count);
    size_t from = 0;

    for (size_t i = 0; i < reading_count; i++)
        hr_osnoise_latency_add(&ours, &of[i]);
    show("ours", cpu, context, &ours);
    show("the kernel's", cpu, context, &kernel);
    ck_assert_uint_ge(ours.count, least);
    while (from + ours.count <= list->count && !is_run(of, list, from))
        from++;
    ck_assert_msg(from + ours.count <= list->count, "they aren't the kernel's");
}

/* Begins a run, with another instance beside it that keeps all of the kernel's text. */
static void begin_beside_trace(uint64_t period_us)
{
    live.options.timerlat.period_us = period_us;
    live_begin();
    live_instance_make(OTHER, "timerlat");
    ck_assert_uint_eq(live_count_workers(), 2);
    live_read();
}

static void compare_with_trace(uint64_t least)
{
    parse_trace(OTHER);
    for (unsigned cpu = 0; cpu < 2; cpu++)
        for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++)
            assert_as_in_trace(cpu, context, least);
}

START_TEST(reports_what_the_kernel_reports)
{
    begin_beside_trace(10000);
    for (size_t i = 0; i < 6; i++) {
        live_sleep_ms(300);
        keep_reading();
    }
    compare_with_trace(100);
    live_instance_remove(OTHER);
}
END_TEST

START_TEST(measures_the_given_cpus_alone)
{
    live_choose_cpus("1");
    live_begin();
    ck_assert_uint_eq(live_count_workers(), 1);
    live_sleep_ms(300);
    live_read();
    ck_assert_uint_eq(live.reading.cpu_count, 1);
    ck_assert_uint_ge(latency_of(1, HR_OSNOISE_TIMER_IRQ)->count, 100);
}
END_TEST

/* The shortest period, read once a second, as usual. */
START_TEST(loses_nothing)
{
    live.options.timerlat.period_us = 100;
    live_begin();
    for (int i = 0; i < 3; i++) {
        live_sleep_ms(1000);
        live_read();
        for (unsigned cpu = 0; cpu < 2; cpu++) {
            ck_assert_uint_eq(live_cpu(cpu)->lost_count, 0);
            ck_assert_uint_ge(live_cpu(cpu)->sample_count, 5000);
        }
    }
}
END_TEST

/* --- rtla ----------------------------------------------------------------- */

#define BUCKET 1024
#define RTLA   "rtla timerlat hist -n -b 1024 -E 100000 -c 0-1 -p 1000000 -d 5s"

/* What rtla prints of a CPU and a context: a column. */
struct rtla {
    uint64_t count, min, avg, max;
    uint64_t buckets[64]; /* those that aren't empty... */
    uint64_t lower[64];   /* ...and where they begin */
    size_t bucket_count;
};

static struct rtla theirs[2][HR_OSNOISE_CONTEXT_COUNT];

/* Each line has a column for the IRQ and the thread of CPU 0, then of CPU 1:
 *
 *     Index   IRQ-000   Thr-000   IRQ-001   Thr-001
 *     2048          4         0         4         0
 *     18432         0         1         0         0
 *     over:         0         0         0         0
 *     count:        4         4         4         4
 *     min:       2948     19368      2964     19504
 */
static void parse_rtla_line(const char *line)
{
    char what[16];
    uint64_t values[4];

    if (sscanf(line, "%15s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, what, &values[0],
               &values[1], &values[2], &values[3]) != 5)
        return;
    for (int i = 0; i < 4; i++) {
        struct rtla *column = &theirs[i / 2][i % 2];
        if (strcmp(what, "count:") == 0)
            column->count = values[i];
        else if (strcmp(what, "min:") == 0)
            column->min = values[i];
        else if (strcmp(what, "avg:") == 0)
            column->avg = values[i];
        else if (strcmp(what, "max:") == 0)
            column->max = values[i];
        else if (strcmp(what, "over:") == 0)
            ck_assert_uint_eq(values[i], 0);
        else if (values[i] > 0 && column->bucket_count < 64) {
            column->lower[column->bucket_count] = strtoull(what, NULL, 10);
            column->buckets[column->bucket_count++] = values[i];
        }
    }
}

static bool has_their_buckets(const struct rtla *rtla, const struct list *list, size_t from)
{
    for (size_t b = 0; b < rtla->bucket_count; b++) {
        uint64_t count = 0;
        for (size_t i = from; i < from + rtla->count; i++)
            count += list->ns[i] / BUCKET * BUCKET == rtla->lower[b];
        if (count != rtla->buckets[b])
            return false;
    }
    return true;
}

/* What rtla has is a part of what the kernel has, as we have, too: without what was before it began
 * and after it ended. */
static void assert_as_rtla(unsigned cpu, int context)
{
    const struct rtla *rtla = &theirs[cpu][context];
    const struct list *list = &lists[cpu][context];

    printf("# rtla's, CPU %u, %s: %" PRIu64 ", from %" PRIu64 " to %" PRIu64 " ns, average %" PRIu64
           ", %zu buckets\n",
           cpu, hr_osnoise_context_name(context), rtla->count, rtla->min, rtla->max, rtla->avg,
           rtla->bucket_count);
    ck_assert_uint_ge(rtla->count, 3);
    ck_assert_uint_ge(rtla->bucket_count, 1);
    for (size_t from = 0; from + rtla->count <= list->count; from++) {
        const struct hr_osnoise_latency same = sum_of(list, from, rtla->count);
        if (same.min_ns == rtla->min && same.max_ns == rtla->max &&
            same.sum_ns / same.count == rtla->avg && has_their_buckets(rtla, list, from)) {
            show("the same", cpu, context, &same);
            return;
        }
    }
    for (size_t i = 0; i < list->count; i++)
        printf("# the kernel's: %" PRIu64 " ns\n", list->ns[i]);
    ck_abort_msg("they aren't rtla's");
}

START_TEST(agrees_with_rtla)
{
    char line[256];

    if (system("command -v rtla >/dev/null") != 0) {
        ck_assert_ptr_null(getenv("HEADROOM_REQUIRE_ALL"));
        puts("# not tried: there is no rtla");
        return;
    }
    begin_beside_trace(1000000);
    FILE *rtla = popen(RTLA, "r");
    ck_assert_ptr_nonnull(rtla);
    while (fgets(line, sizeof(line), rtla) != NULL) { /* at its end, all at once */
        parse_rtla_line(line);
        if (reading_count == 0)
            keep_reading();
    }
    ck_assert_int_eq(pclose(rtla), 0);
    live_sleep_ms(1100);
    keep_reading();
    compare_with_trace(3);
    for (unsigned cpu = 0; cpu < 2; cpu++)
        for (int context = 0; context < HR_OSNOISE_CONTEXT_COUNT; context++)
            assert_as_rtla(cpu, context);
    live_instance_remove(OTHER);
}
END_TEST

/* --- Settings and others -------------------------------------------------- */

START_TEST(restores_when_it_ends)
{
    live_set("osnoise/timerlat_period_us", "300");
    live_set("osnoise/print_stack", "40");
    live_set("osnoise/cpus", "0");
    live_list(live.before);
    live_begin();
    ck_assert(live_has_word("osnoise/timerlat_period_us", "1000"));
    ck_assert(live_has_word("osnoise/print_stack", "0"));
    live_end();
    live_assert_restored();
}
END_TEST

/* The kernel lets these threads run on even if no instance records. */
START_TEST(the_threads_of_one_that_was_killed_end)
{
    int status;

    live_open();
    pid_t child = fork();
    if (child == 0) {
        if (hr_osnoise_begin(live.osnoise, &live.reason) == 0 && live_count_workers() == 2)
            raise(SIGKILL);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WTERMSIG(status), SIGKILL);
    for (int i = 0; i < 300 && live_count_workers() > 0; i++)
        live_sleep_ms(100);
    ck_assert_uint_eq(live_count_workers(), 0);
    if (_i == 0)
        ck_assert_msg(hr_osnoise_recover(live.root, LIVE_STATE_PATH, &live.reason) == 0, "%s",
                      live.reason.text);
    else
        live_begin(); /* and is closed */
}
END_TEST

START_TEST(osnoise_and_timerlat_exclude_one_another)
{
    live_instance_make(OTHER, "osnoise");
    live_open();
    ck_assert_int_eq(hr_osnoise_begin(live.osnoise, &live.reason), -EBUSY);
    ck_assert_str_eq(live.reason.text, "the trace instance " OTHER
                                       " runs the osnoise tracer: wait until it has ended, or end "
                                       "it");
    live_instance_remove(OTHER);
    live_begin();
    live_instance_make(OTHER, "nop");
    ck_assert_int_eq(live_try("instances/" OTHER "/current_tracer", "osnoise"), -EBUSY);
    live_instance_remove(OTHER);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise timerlat live");

    if (!live_can_run(HR_OSNOISE_TIMERLAT))
        return 0;
    tcase_add_checked_fixture(tests, set_up, live_tear_down);
    tcase_add_test(tests, reports_what_the_kernel_reports);
    tcase_add_test(tests, measures_the_given_cpus_alone);
    tcase_add_test(tests, loses_nothing);
    tcase_add_test(tests, agrees_with_rtla);
    tcase_add_test(tests, restores_when_it_ends);
    tcase_add_loop_test(tests, the_threads_of_one_that_was_killed_end, 0, 2);
    tcase_add_test(tests, osnoise_and_timerlat_exclude_one_another);
    tcase_set_timeout(tests, 60);
    return run_suite("osnoise timerlat live", tests);
}
