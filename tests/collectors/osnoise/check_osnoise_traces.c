/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_traces.c - what is kept around the longest noise, and its text. The records
 * of a page are compared with what the kernel itself printed of them
 * (fixtures/osnoise/6.12-singles/page.text, which has neither task, CPU, flags nor times).
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/osnoise/osnoise_pages.h"
#include "osnoise/traces.h"
#include "support/suite.h"

static struct hr_osnoise_traces *traces;

static const char *name_function(void *context, uint64_t function)
{
    (void)context;
    return function == 0xffff1 ? "vmstat_update" : NULL;
}

static const struct hr_osnoise_namer namer = {name_function, NULL, NULL};

static void set_up(void)
{
    ck_assert_int_eq(hr_osnoise_traces_open(3, 1000, &traces), 0);
    hr_osnoise_traces_begin(traces);
}

static void tear_down(void)
{
    hr_osnoise_traces_close(traces);
}

static struct hr_osnoise_record irq_noise(uint64_t time_ns, int vector)
{
    struct hr_osnoise_record record = {
        .type = HR_OSNOISE_RECORD_PART, .event = "irq_noise", .time_ns = time_ns};

    record.part.kind = HR_OSNOISE_IRQ;
    strcpy(record.part.name, "local_timer");
    record.part.number = vector;
    record.part.start_ns = time_ns;
    record.part.duration_ns = 40;
    return record;
}

static struct hr_osnoise_record noise(uint64_t duration_ns)
{
    struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_SINGLE_NOISE,
                                       .event = "sample_threshold"};

    record.single_noise.duration_ns = duration_ns;
    return record;
}

static void add(const struct hr_osnoise_record *record)
{
    hr_osnoise_traces_add(traces, 1, 8, record, 0);
}

static void add_irqs(int from, int to)
{
    for (int i = from; i < to; i++) {
        const struct hr_osnoise_record record = irq_noise(1000 * (uint64_t)i, i);
        add(&record);
    }
}

static void add_noise(uint64_t duration_ns)
{
    const struct hr_osnoise_record record = noise(duration_ns);

    add(&record);
}

/* Without the heading. "": there is none. */
static const char *text(unsigned cpu)
{
    static char printed[65536];
    const struct hr_osnoise_reading reading = {.traces = traces};
    FILE *file = fmemopen(printed, sizeof(printed), "w");

    hr_osnoise_traces_end(traces, &namer);
    const bool is_there = hr_osnoise_trace_print(&reading, cpu, file);
    const long length = ftell(file);
    fclose(file);
    printed[length] = '\0';
    ck_assert_int_eq(is_there, length > 0);
    char *line = printed;
    while (*line == '#')
        line = strchr(line, '\n') + 1;
    return line;
}

static size_t count_lines(const char *line)
{
    size_t count = 0;

    for (; *line != '\0'; line++)
        count += *line == '\n';
    return count;
}

/* --- Which are kept ------------------------------------------------------- */

START_TEST(of_each_cpu_the_longest_noise_is_kept)
{
    const struct hr_osnoise_record of_another = noise(7000);

    add_irqs(0, 2);
    add_noise(5000);
    add_noise(4000);
    hr_osnoise_traces_add(traces, 2, 9, &of_another, 0);
    const char *of_8 = text(8);
    ck_assert_uint_eq(count_lines(of_8), 4);
    ck_assert_ptr_nonnull(strstr(of_8, "duration 5000 ns interference 0\n"));
    ck_assert_ptr_nonnull(strstr(of_8, "duration 4000 ns interference 0\n")); /* behind it */
    ck_assert_uint_eq(count_lines(text(9)), 1);
    ck_assert_str_eq(text(7), "");
    add_noise(6000);
    ck_assert_uint_eq(count_lines(text(8)), 5);
}
END_TEST

START_TEST(each_reading_has_its_own)
{
    add_noise(5000);
    hr_osnoise_traces_begin(traces);
    ck_assert_str_eq(text(8), "");
    add_noise(1000); /* not above the limit */
    ck_assert_str_eq(text(8), "");
    add_noise(1001);
    ck_assert_uint_eq(count_lines(text(8)), 3); /* also those before */
}
END_TEST

START_TEST(how_many_are_kept_is_limited)
{
    add_irqs(0, 1000);
    add_noise(5000);
    add_irqs(1000, 2000);
    const char *all = text(8);
    ck_assert_uint_eq(count_lines(all), HR_OSNOISE_TRACE_BEFORE + HR_OSNOISE_TRACE_AFTER);
    char first[32], last[32];
    snprintf(first, sizeof(first), "local_timer:%d ", 1000 - HR_OSNOISE_TRACE_BEFORE + 1);
    snprintf(last, sizeof(last), "local_timer:%d ", 1000 + HR_OSNOISE_TRACE_AFTER - 1);
    ck_assert_ptr_nonnull(strstr(all, first));
    ck_assert_ptr_nonnull(strstr(all, last));
    ck_assert_ptr_null(strstr(all, "local_timer:872 "));
    ck_assert_ptr_null(strstr(all, "local_timer:1016 "));
}
END_TEST

/* --- Their text ----------------------------------------------------------- */

static void add_recorded(const struct hr_osnoise_record *record, void *context)
{
    (void)context;
    hr_osnoise_traces_add(traces, 0, 1, record, 0);
}

/* Behind "<...>-81      [001] d..h.    11.628902: ". */
static const char *event_of(const char *line)
{
    return strstr(strstr(line, "] "), ": ") + 2;
}

/* Compares an event with the front of the kernel's text, which has names as they are. @return its
 * length. */
static size_t compare(const char *event, const char *kernels)
{
    const size_t length = strcspn(event, "\n") + 1;

    if (strncmp(event, "osnoise: ", 9) == 0) /* which the tracer prints in a way of its own */
        return strcspn(kernels, "\n") + 1;
    for (size_t i = 0; i < length; i++)
        ck_assert_msg(event[i] == kernels[i] || (event[i] == '?' && kernels[i] == '\n'), "%.*s",
                      (int)length, event);
    return length;
}

START_TEST(the_text_is_the_kernels)
{
    static char page[8192], expected[65536];
    struct hr_osnoise_decoder *decoder = open_recorded();
    const struct hr_osnoise_record longest = noise(UINT64_MAX);
    const char *kernels = expected;
    uint64_t lost = 0;

    read_fixture("page.text", expected, sizeof(expected));
    size_t size = read_fixture("page", page, sizeof(page));
    ck_assert_int_eq(hr_osnoise_decode(decoder, page, size, add_recorded, NULL, &lost), 0);
    hr_osnoise_traces_add(traces, 0, 1, &longest, 0);
    const char *line = text(1);
    ck_assert_uint_eq(count_lines(line), 93 + 1);
    for (int i = 0; i < 93; i++) {
        kernels += compare(event_of(line), kernels);
        line = strchr(line, '\n') + 1;
    }
    ck_assert_str_eq(kernels, "");
    hr_osnoise_decoder_close(decoder);
}
END_TEST

/* trace_print_lat_fmt() */
static const struct {
    uint8_t flags, preempt_count;
    const char *expected;
} contexts[] = {
    {0x00, 0x00, "....."}, {0x01, 0x01, "d..1."}, {0x09, 0x01, "d.h1."}, {0x19, 0x12, "d.H21"},
    {0x10, 0x01, "..s1."}, {0x80, 0x00, "b...."}, {0x81, 0x00, "D...."}, {0x04, 0x00, ".n..."},
    {0x20, 0x00, ".p..."}, {0x24, 0x00, ".N..."}, {0x40, 0x00, "..z.."}, {0x48, 0xf0, "..Z.f"},
};

START_TEST(the_context_is_the_kernels)
{
    struct hr_osnoise_record record = noise(5000);
    char expected[256];

    record.pid = 4711;
    record.time_ns = 5858404871999; /* rounded to the next microsecond */
    record.flags = contexts[_i].flags;
    record.preempt_count = contexts[_i].preempt_count;
    record.single_noise.start_ns = 5858404555001;
    record.single_noise.interference_count = 2;
    add(&record);
    snprintf(expected, sizeof(expected),
             "           <...>-4711    [008] %s  5858.404872: sample_threshold: start "
             "5858.404555001 duration 5000 ns interference 2\n",
             contexts[_i].expected);
    ck_assert_str_eq(text(8), expected);
}
END_TEST

START_TEST(functions_have_names)
{
    struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_CAUSE,
                                       .event = "workqueue_execute_start",
                                       .cause = {.function = 0xffff1}};

    add(&record);
    record.event = "hrtimer_expire_entry";
    record.cause.function = 0xffff2;
    add(&record);
    add_noise(5000);
    const char *line = text(8);
    ck_assert_ptr_nonnull(strstr(line, ": workqueue_execute_start: function=vmstat_update\n"));
    ck_assert_ptr_nonnull(strstr(line, ": hrtimer_expire_entry: function=?\n"));
}
END_TEST

START_TEST(lost_records_are_reported)
{
    const struct hr_osnoise_record record = noise(5000);

    add_irqs(0, 1);
    hr_osnoise_traces_add(traces, 1, 8, &record, 42);
    ck_assert_ptr_nonnull(strstr(text(8), "\nCPU:8 [LOST 42 EVENTS]\n"));
}
END_TEST

START_TEST(a_name_makes_no_line)
{
    struct hr_osnoise_record record = irq_noise(1, 2);

    record.event = "thread_noise";
    record.part.kind = HR_OSNOISE_THREAD;
    strcpy(record.part.name, "a\nb\x1b[2J");
    add(&record);
    add_noise(5000);
    ck_assert_ptr_nonnull(strstr(text(8), ": thread_noise:  a?b?[2J:2 start 0.000000001"));
    ck_assert_uint_eq(count_lines(text(8)), 2);
}
END_TEST

START_TEST(a_sample_has_all_sums)
{
    const struct hr_osnoise_record record = {.type = HR_OSNOISE_RECORD_SAMPLE,
                                             .event = "osnoise",
                                             .sample = {10000, 40, 20, 1, 2, 3, 4, 5}};

    add(&record);
    add_noise(5000);
    ck_assert_ptr_nonnull(strstr(text(8), ": osnoise: runtime:10000 noise:40 max_sample:20 hw:1 "
                                          "nmi:2 irq:3 softirq:4 thread:5\n"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("traces");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, of_each_cpu_the_longest_noise_is_kept);
    tcase_add_test(tests, each_reading_has_its_own);
    tcase_add_test(tests, how_many_are_kept_is_limited);
    tcase_add_test(tests, the_text_is_the_kernels);
    tcase_add_loop_test(tests, the_context_is_the_kernels, 0,
                        (int)(sizeof(contexts) / sizeof(contexts[0])));
    tcase_add_test(tests, functions_have_names);
    tcase_add_test(tests, lost_records_are_reported);
    tcase_add_test(tests, a_name_makes_no_line);
    tcase_add_test(tests, a_sample_has_all_sums);
    return run_suite("osnoise_traces", tests);
}
