/* SPDX-License-Identifier: MIT */
/*
 * command/check_command_osnoise_output.c - the output of `headroom osnoise`: tables, lines, JSON.
 */
#include "support/suite.h"

#include "common/grid.h"
#include "headroom/utf8.h"
#include "osnoise/json.h"
#include "osnoise/table.h"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char printed[1 << 18];

static FILE *printing(void)
{
    memset(printed, 0, sizeof(printed));
    FILE *file = fmemopen(printed, sizeof(printed), "w");
    ck_assert_ptr_nonnull(file);
    return file;
}

/* --- readings ------------------------------------------------------------- */

static const struct hr_osnoise_cpu cpus[] = {
    {0, HR_OSNOISE_CPU_FINE, 12, 6000000, 1234, 74, 300, 18, 0, 1007, 18, 1, 0, 0},
    {1, HR_OSNOISE_CPU_FINE, 12, 6000000, 240123, 2013, 20040, 0, 1, 1006, 16, 120, 5, 0},
    {2, HR_OSNOISE_CPU_OFFLINE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {3, HR_OSNOISE_CPU_SILENT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {5, HR_OSNOISE_CPU_FINE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0},
};

static const struct hr_osnoise_source sources[] = {
    {1, HR_OSNOISE_IRQ, "local_timer", 1006, 2103456},
    {1, HR_OSNOISE_THREAD, "spinner", 120, 240000000},
    {1, HR_OSNOISE_SOFTIRQ, "TIMER", 16, 8000},
    {1, HR_OSNOISE_NMI, "NMI", 1, 1500},
    {0, HR_OSNOISE_IRQ, "local_timer", 1007, 1000000},
};

static const struct hr_osnoise_bucket buckets[] = {{1, 1048576, 120}, {0, 32768, 18}, {1, 512, 3}};

static const struct hr_osnoise_reading reading = {
    .elapsed_ns = UINT64_C(12000000000),
    .cpus = cpus,
    .cpu_count = COUNT(cpus),
    .has_sources = true,
    .sources = sources,
    .source_count = COUNT(sources),
    .dropped_count = 3,
    .buckets = buckets,
    .bucket_count = COUNT(buckets),
};

static const struct hr_osnoise_options workload = {
    .mode = HR_OSNOISE_WORKLOAD,
    .period_us = 1000000,
    .runtime_us = 500000,
    .threshold_us = 20,
    .by_source = true,
};

static struct osnoise_totals totals;

static void forget(void)
{
    osnoise_totals_free(&totals);
}

static void add(const struct hr_osnoise_reading *one)
{
    static const struct timespec time = {1795261677, 450999999};
    ck_assert_int_eq(osnoise_totals_add(&totals, one, &time), 0);
}

static struct osnoise_report report_of(const struct hr_osnoise_options *options)
{
    return (struct osnoise_report){
        .options = options,
        .cpus = "0-3,5",
        .sources = 2,
        .totals = &totals,
        .begin = {1795261665, 1000000},
        .end = {1795261677, 450999999},
        .charset = LABEL_UTF8,
    };
}

static void print_table(const struct osnoise_report *report)
{
    FILE *file = printing();
    ck_assert_int_eq(osnoise_table_print(file, report), 0);
    fclose(file);
}

static void print_json(const struct osnoise_report *report)
{
    FILE *file = printing();
    osnoise_json_print(file, report);
    fclose(file);
}

/* --- tables --------------------------------------------------------------- */

START_TEST(prints_tables)
{
    struct hr_osnoise_options options = workload;
    struct osnoise_report report = report_of(&options);
    options.histogram = true;
    add(&reading);
    print_table(&report);
    ck_assert_str_eq(
        printed, "Mode osnoise, CPUs 0-3,5, gaps of at least 20 us in 0.5 s of each 1 s; 12.0 s\n"
                 "\n"
                 "            RUNTIME  NOISE AVAILABLE SINGLE PERIOD             SOFT\n"
                 "CPU PERIODS      us     us         % max us max us HW NMI  IRQ  IRQ THREAD LOST\n"
                 "  0      12 6000000   1234  99.97943     74    300 18   0 1007   18      1    0\n"
                 "  1      12 6000000 240123  95.99795   2013  20040  0   1 1006   16    120    5\n"
                 "  2       0       -      -         -      -      -  -   -    -    -      -    0\n"
                 "  3       0       -      -         -      -      -  -   -    -    -      -    0\n"
                 "  5       0       -      -         -      -      -  -   -    -    -      -    7\n"
                 "CPU 2: offline\n"
                 "CPU 3: silent: online, but no sample has come for three periods\n"
                 "CPU 5: no period has ended yet\n"
                 "CPUs 1,5: records were lost: the sums lack some noise\n"
                 "3 noises are counted in other, not by name: the kernel's tables were full\n"
                 "\n"
                 "                             NOISE   EACH OF RUNTIME\n"
                 "CPU SOURCE          COUNT       us     us          %\n"
                 "  0 irq local_timer  1007   1000.0    1.0    0.01666\n"
                 "  1 thread spinner    120 240000.0 2000.0    4.00000\n"
                 "  1 irq local_timer  1006   2103.5    2.1    0.03505\n"
                 "  1 other (2)          17      9.5    0.6    0.00015\n"
                 "\n"
                 "       ABOVE    UP TO SINGLE\n"
                 "CPU       us       us NOISES\n"
                 "  0   32.768   65.536     18\n"
                 "  1    0.512    1.024      3\n"
                 "  1 1048.576 2097.152    120\n"
                 "\n"
                 "        50 %     99 %   99.9 %\n"
                 "CPU    <= us    <= us    <= us\n"
                 "  0   65.536   65.536   65.536\n"
                 "  1 2097.152 2097.152 2097.152\n");
}
END_TEST

START_TEST(names_one_cpu)
{
    struct hr_osnoise_options options = workload;
    struct osnoise_report report = report_of(&options);
    hr_cpu_set_add(&options.cpus.list, 1);
    report.cpus = "1";
    print_table(&report);
    ck_assert_ptr_eq(strstr(printed, "Mode osnoise, CPU 1, gaps "), printed);
    ck_assert_uint_le(strcspn(printed, "\n"), 80);
}
END_TEST

/* Without a workload there are no samples, and shares are of all time. */
START_TEST(prints_sources_without_a_workload)
{
    const struct hr_osnoise_options options = {.mode = HR_OSNOISE_SOURCES, .by_source = true};
    struct osnoise_report report = report_of(&options);
    const struct hr_osnoise_cpu cpu = {.cpu = 1};
    struct hr_osnoise_reading one = {.elapsed_ns = UINT64_C(12000000000),
                                     .cpus = &cpu,
                                     .cpu_count = 1,
                                     .has_sources = true,
                                     .sources = sources,
                                     .source_count = 2};
    report.cpus = NULL;
    add(&one);
    one.has_sources = false;
    one.source_count = 0;
    add(&one);
    print_table(&report);
    ck_assert_str_eq(
        printed,
        "Mode sources, all CPUs, whatever interrupts or takes a CPU, without a workload; 24.0 s\n"
        "\n"
        "                             NOISE   EACH OF TIME\n"
        "CPU SOURCE          COUNT       us     us       %\n"
        "  1 thread spinner    120 240000.0 2000.0 2.00000\n"
        "  1 irq local_timer  1006   2103.5    2.1 0.01752\n"
        "1 of 2 readings have no sources\n");
}
END_TEST

/* --- latencies ------------------------------------------------------------ */

static const struct hr_osnoise_cpu timed_cpus[] = {
    {.cpu = 1, .sample_count = 999},
    {.cpu = 2, .state = HR_OSNOISE_CPU_SILENT},
    {.cpu = 3, .sample_count = 1, .lost_count = 4},
};

static const struct hr_osnoise_cpu_latencies latencies[] = {
    {1,
     {{1000, 2500, 2400, 9600, 3000500, {[11] = 999, [13] = 1}},
      {999, 17800, 16000, 83400, 18000000, {[13] = 1, [14] = 998}}}},
    {2, {{0}, {0}}},
    {3, {{0}, {1, 50000, 50000, 50000, 50000, {[15] = 1}}}},
};

static const struct hr_osnoise_reading timed = {
    .elapsed_ns = UINT64_C(1000000000),
    .cpus = timed_cpus,
    .cpu_count = COUNT(timed_cpus),
    .latencies = latencies,
};

static const struct hr_osnoise_options timerlat = {
    .mode = HR_OSNOISE_TIMERLAT,
    .timerlat = {.period_us = 1000, .priority = {HR_POLICY_FIFO, 95}},
    .histogram = true,
};

static struct osnoise_report report_latencies(const struct hr_osnoise_options *options)
{
    struct osnoise_report report = report_of(options);
    report.cpus = "1-3";
    report.sources = 0;
    report.max_latency_ns = 50000;
    add(&timed);
    return report;
}

START_TEST(prints_latencies)
{
    const struct osnoise_report report = report_latencies(&timerlat);
    print_table(&report);
    ck_assert_str_eq(
        printed, "Mode timerlat, CPUs 1-3, a timer each 0.001 s for f:95, latencies in us; 1.0 s\n"
                 "\n"
                 "             IRQ IRQ IRQ IRQ THREAD THREAD THREAD THREAD\n"
                 "CPU PERIODS last min avg max   last    min    avg    max LOST\n"
                 "  1     999  2.5 2.4 3.0 9.6   17.8   16.0   18.0   83.4    0\n"
                 "  2       0    -   -   -   -      -      -      -      -    0\n"
                 "  3       1    -   -   -   -   50.0   50.0   50.0   50.0    4\n"
                 "\n"
                 "     ABOVE  UP TO\n"
                 "CPU     us     us IRQ THREAD\n"
                 "  1  2.048  4.096 999      0\n"
                 "  1  8.192 16.384   1      1\n"
                 "  1 16.384 32.768   0    998\n"
                 "  3 32.768 65.536   0      1\n"
                 "\n"
                 "    IRQ 50 % IRQ 99 % IRQ 99.9 % THREAD 50 % THREAD 99 % THREAD 99.9 %\n"
                 "CPU    <= us    <= us      <= us       <= us       <= us         <= us\n"
                 "  1    4.096    4.096      4.096      32.768      32.768        32.768\n"
                 "  3        -        -          -      65.536      65.536        65.536\n"
                 "CPU 1: thread latency of 83.4 us, above 50 us\n"
                 "CPU 2: silent: online, but no thread of timerlat has run for three seconds\n"
                 "CPU 3: records were lost: the longest latency may be among them\n");
}
END_TEST

/* --- the worst first ------------------------------------------------------ */

/* Two nodes, and one without CPUs that are measured. */
static struct hr_numa_node nodes[] = {
    {0, {{0x5}}},
    {1, {{0x2a}}},
    {2, {{0xf00}}},
};

static const struct hr_numa numa = {.nodes = nodes, .count = COUNT(nodes)};

START_TEST(sums_nodes_and_prints_the_worst_first)
{
    struct osnoise_report report = report_of(&workload);
    report.order = OSNOISE_WORST_FIRST;
    report.numa = &numa;
    add(&reading);
    print_table(&report);
    ck_assert_ptr_nonnull(strstr(
        printed,
        "\n"
        "               RUNTIME  NOISE AVAILABLE SINGLE PERIOD             SOFT\n"
        "   CPU PERIODS      us     us         % max us max us HW NMI  IRQ  IRQ THREAD LOST\n"
        "node 0      12 6000000   1234  99.97943     74    300 18   0 1007   18      1    0\n"
        "node 1      12 6000000 240123  95.99795   2013  20040  0   1 1006   16    120   12\n"
        "     1      12 6000000 240123  95.99795   2013  20040  0   1 1006   16    120    5\n"
        "     0      12 6000000   1234  99.97943     74    300 18   0 1007   18      1    0\n"
        "     2       0       -      -         -      -      -  -   -    -    -      -    0\n"
        "     3       0       -      -         -      -      -  -   -    -    -      -    0\n"
        "     5       0       -      -         -      -      -  -   -    -    -      -    7\n"));
    ck_assert_ptr_nonnull(strstr(printed,
                                 "\n"
                                 "                                NOISE   EACH OF RUNTIME\n"
                                 "   CPU SOURCE          COUNT       us     us          %\n"
                                 "node 0 all              1007   1000.0    1.0    0.01666\n"
                                 "node 1 all              1143 242113.0  211.8    4.03521\n"
                                 "     1 thread spinner    120 240000.0 2000.0    4.00000\n"
                                 "     1 irq local_timer  1006   2103.5    2.1    0.03505\n"
                                 "     1 other (2)          17      9.5    0.6    0.00015\n"
                                 "     0 irq local_timer  1007   1000.0    1.0    0.01666\n"));
}
END_TEST

/* Where no nodes are known, or there is one. */
START_TEST(sums_all_cpus)
{
    const struct hr_numa one = {.nodes = nodes, .count = 1};
    struct osnoise_report report = report_of(&workload);
    report.order = OSNOISE_WORST_FIRST;
    report.numa = _i == 0 ? NULL : &one;
    add(&reading);
    print_table(&report);
    ck_assert_ptr_nonnull(strstr(
        printed, "LOST\n"
                 "all      24 12000000 241357  97.98869   2013  20040 18   1 2013   34    121 "
                 "  12\n"
                 "  1 "));
    ck_assert_ptr_nonnull(
        strstr(printed, "\nall all              2150 243113.0  113.1    2.02594\n"));
}
END_TEST

/* Of timers by the latency of threads; which one was the last isn't known of several CPUs. */
START_TEST(sums_latencies)
{
    struct osnoise_report report = report_latencies(&timerlat);
    report.order = OSNOISE_WORST_FIRST;
    print_table(&report);
    ck_assert_ptr_nonnull(
        strstr(printed, "LOST\n"
                        "all    1000    - 2.4 3.0 9.6      -   16.0   18.1   83.4    4\n"
                        "  1     999  2.5 2.4 3.0 9.6   17.8   16.0   18.0   83.4    0\n"
                        "  3       1    -   -   -   -   50.0   50.0   50.0   50.0    4\n"
                        "  2       0    -   -   -   -      -      -      -      -    0\n"));
}
END_TEST

/* As one would have read them at once. */
START_TEST(adds_latencies_up)
{
    static const struct hr_osnoise_cpu_latencies later[] = {
        {1, {{1, 1000, 1000, 1000, 1000, {[9] = 1}}, {1, 90000, 90000, 90000, 90000, {[16] = 1}}}},
    };
    const struct hr_osnoise_cpu_latencies expected = {
        1,
        {{1001, 1000, 1000, 9600, 3001500, {[9] = 1, [11] = 999, [13] = 1}},
         {1000, 90000, 16000, 90000, 18090000, {[13] = 1, [14] = 998, [16] = 1}}}};
    struct hr_osnoise_reading next = timed;
    add(&timed);
    next.cpu_count = 1;
    next.latencies = later;
    add(&next);
    ck_assert_mem_eq(totals.cpus[0].latencies, expected.of, sizeof(expected.of));
    ck_assert_uint_eq(osnoise_totals_max_latency(&totals), 90000);
}
END_TEST

START_TEST(prints_latencies_as_json)
{
    const struct osnoise_report report = report_latencies(&timerlat);
    print_json(&report);
    ck_assert_ptr_nonnull(strstr(printed, "\"mode\":\"timerlat\",\"period_s\":0.001000,"
                                          "\"runtime_s\":null,\"threshold_s\":null,"
                                          "\"max_single_s\":null,\"max_latency_s\":0.000050,"));
    ck_assert_ptr_nonnull(
        strstr(printed, "\"cpu\":1,\"state\":\"fine\",\"sample_count\":999,\"runtime_us\":null,"
                        "\"noise_us\":null,\"available_pct\":null,\"max_single_us\":null,"));
    ck_assert_ptr_nonnull(strstr(
        printed, "\"histogram\":null,\"p50_ns\":null,\"p99_ns\":null,\"p999_ns\":null,"
                 "\"latency\":{"
                 "\"irq\":{\"count\":1000,\"last_ns\":2500,\"min_ns\":2400,\"avg_ns\":3000.5,"
                 "\"max_ns\":9600,\"histogram\":[{\"lower_ns\":2048,\"count\":999},"
                 "{\"lower_ns\":8192,\"count\":1}],\"p50_ns\":4096,\"p99_ns\":4096,"
                 "\"p999_ns\":4096},"
                 "\"thread\":{\"count\":999,\"last_ns\":17800,\"min_ns\":16000,\"avg_ns\":18018.0,"
                 "\"max_ns\":83400,\"histogram\":[{\"lower_ns\":8192,\"count\":1},"
                 "{\"lower_ns\":16384,\"count\":998}],\"p50_ns\":32768,\"p99_ns\":32768,"
                 "\"p999_ns\":32768}}}"));
    ck_assert_ptr_nonnull(strstr(printed,
                                 "{\"count\":0,\"last_ns\":null,\"min_ns\":null,\"avg_ns\":null,"
                                 "\"max_ns\":null,\"histogram\":[],\"p50_ns\":null,"
                                 "\"p99_ns\":null,\"p999_ns\":null}"));
}
END_TEST

/* It has no count yet, nor has what it is a part of. */
START_TEST(prints_what_has_not_left_its_cpu)
{
    const struct hr_osnoise_options options = {.mode = HR_OSNOISE_SOURCES, .by_source = true};
    struct osnoise_report report = report_of(&options);
    const struct hr_osnoise_cpu both[] = {{.cpu = 1}, {.cpu = 2}};
    const struct hr_osnoise_source some[] = {
        {1, HR_OSNOISE_THREAD, HR_OSNOISE_RUNNING, 0, 1500000000},
        {2, HR_OSNOISE_THREAD, "app", 3, 300000000},
        {2, HR_OSNOISE_IRQ, "eth0", 1, 200000000},
        {2, HR_OSNOISE_THREAD, HR_OSNOISE_RUNNING, 0, 150000000},
    };
    const struct hr_osnoise_reading one = {.elapsed_ns = UINT64_C(2000000000),
                                           .cpus = both,
                                           .cpu_count = 2,
                                           .has_sources = true,
                                           .sources = some,
                                           .source_count = 4};
    add(&one);
    print_table(&report);
    ck_assert_str_eq(strstr(printed, "\nCPU SOURCE"),
                     "\nCPU SOURCE                      COUNT        us       us        %\n"
                     "  1 thread not yet switched out     0 1500000.0        - 75.00000\n"
                     "  2 thread app                      3  300000.0 100000.0 15.00000\n"
                     "  2 irq eth0                        1  200000.0 200000.0 10.00000\n"
                     "  2 other (1)                       0  150000.0        -  7.50000\n");
}
END_TEST

START_TEST(prints_what_it_reads_along)
{
    const struct hr_osnoise_options options = {.mode = HR_OSNOISE_ATTACH, .by_source = true};
    struct osnoise_report report = report_of(&options);
    report.cpus = NULL;
    print_table(&report);
    ck_assert_str_eq(
        printed, "Mode attach, CPUs of the other run, attached to it; 0.0 s\n"
                 "\n"
                 "            RUNTIME NOISE AVAILABLE SINGLE PERIOD            SOFT\n"
                 "CPU PERIODS      us    us         % max us max us HW NMI IRQ  IRQ THREAD LOST\n"
                 "\n"
                 "                 NOISE EACH OF RUNTIME\n"
                 "CPU SOURCE COUNT    us   us          %\n"
                 "  - none was seen\n");
}
END_TEST

/* The heading's last line and `rows` behind it are as wide. @return how wide. */
static size_t expect_aligned(const char *heading, size_t rows)
{
    const char *line = strstr(printed, heading);
    ck_assert_ptr_nonnull(line);
    while (line > printed && line[-1] != '\n')
        line--;
    size_t width = strcspn(line, "\n");
    for (size_t i = 0; i <= rows; i++, line += width + 1)
        ck_assert_msg(strcspn(line, "\n") == width, "%s", line);
    return width;
}

START_TEST(is_aligned_with_any_numbers)
{
    static const unsigned counts[] = {1, 2, 64, 300};
    struct hr_osnoise_cpu many[300];
    struct hr_osnoise_options options = workload;
    struct osnoise_report report = report_of(&options);
    const unsigned count = counts[_i / 2];
    for (unsigned i = 0; i < count; i++) {
        uint64_t huge = UINT64_MAX >> (i % 60);
        many[i] = (struct hr_osnoise_cpu){i * 27,   HR_OSNOISE_CPU_FINE,
                                          i % 5,    huge,
                                          huge / 3, huge,
                                          huge,     huge,
                                          huge,     huge,
                                          huge,     huge,
                                          huge,     huge};
        if (_i % 2 == 0)
            many[i] = (struct hr_osnoise_cpu){.cpu = i};
    }
    const struct hr_osnoise_source source = {0, HR_OSNOISE_IRQ, "x", UINT64_MAX, UINT64_MAX};
    add(&(struct hr_osnoise_reading){.cpus = many,
                                     .cpu_count = count,
                                     .sources = &source,
                                     .source_count = 1,
                                     .has_sources = true});
    print_table(&report);
    expect_aligned("CPU PERIODS", count);
    expect_aligned("CPU SOURCE", 1);
    ck_assert(_i % 2 == 0 || strstr(printed, "18446744073709551615") != NULL);
}
END_TEST

/* Twelve seconds of a usual CPU fit the usual terminal. */
START_TEST(fits_eighty_columns)
{
    struct osnoise_report report = report_of(&workload);
    add(&(struct hr_osnoise_reading){.cpus = cpus, .cpu_count = 1});
    print_table(&report);
    ck_assert_uint_le(expect_aligned("CPU PERIODS", 1), 80);
}
END_TEST

START_TEST(reports_memory_that_ran_out)
{
    struct grid grid = {.column_count = 1, .failed = true};
    FILE *file = printing();
    grid_cell(&grid, "x");
    ck_assert_int_lt(grid_print(&grid, file), 0);
    fclose(file);
    ck_assert_str_eq(printed, "");
    ck_assert_ptr_null(grid.text);
}
END_TEST

/* --- single noises -------------------------------------------------------- */

static const struct {
    struct hr_osnoise_single_noise single_noise;
    const char *text;
} single_noises[] = {
    {{1,
      2013400,
      4,
      {{HR_OSNOISE_THREAD, "spinner", 812, 2001140, .count = 1},
       {HR_OSNOISE_IRQ, "local_timer", 236, 7100, .count = 3,
        .functions = {"tick_nohz_handler", "hrtimer_wakeup"}, .senders = {"", "perf[423] on CPU 0"},
        .function_count = 2, .has_more_functions = true}},
      2,
      true},
     "11:47:57 CPU 1: 2013.4 us: thread spinner[812] 2001.1 us, irq local_timer "
     "(tick_nohz_handler, hrtimer_wakeup for perf[423] on CPU 0 and more) 7.1 us (3 times); 5.2 us "
     "unexplained\n"},
    {{1, 3038200, 1, {{HR_OSNOISE_IRQ, "local_timer", 236, 66100, .count = 1}}, 1, true},
     "11:47:57 CPU 1: 3038.2 us: irq local_timer 66.1 us; 2972.1 us unexplained\n"},
    {{1,
      9000,
      1,
      {{HR_OSNOISE_IRQ, "a", 1, 5000, .count = 1}, {HR_OSNOISE_IRQ, "b", 2, 4500, .count = 1}},
      2,
      true},
     "11:47:57 CPU 1: 9.0 us: irq a 5.0 us, irq b 4.5 us\n"},
    {{1,
      9000,
      1,
      {{HR_OSNOISE_IRQ, "a", 1, 8951, .count = 1, .functions = {"f [m]", "g"},
        .senders = {"", "p\xff[7] on CPU 0"}, .function_count = 2},
       {HR_OSNOISE_IRQ, "b", 1, 40, .count = 2, .functions = {"h"}, .function_count = 1,
        .has_more_functions = true}},
      2,
      true},
     "11:47:57 CPU 1: 9.0 us: irq a (f [m], g for p?[7] on CPU 0) 9.0 us, irq b (h and more) 0.0 "
     "us (2 times)\n"},
    {{1, 9000, 1, {{HR_OSNOISE_IRQ, "a", 1, 8951, .count = 1}}, 1, true},
     "11:47:57 CPU 1: 9.0 us: irq a 9.0 us\n"},
    {{0, 900, 9, {{HR_OSNOISE_NMI, "NMI", 0, 1, .count = 1}}, 1, false},
     "11:47:57 CPU 0: 0.9 us: nmi NMI 0.0 us, and more\n"},
    {{63, 50000, 0, {{0}}, 0, true}, "11:47:57 CPU 63: 50.0 us: the hardware\n"},
    {{63, 50000, 2, {{0}}, 0, false}, "11:47:57 CPU 63: 50.0 us: cause unknown\n"},
};

START_TEST(prints_single_noises)
{
    const struct osnoise_timed_noise seen = {{1795261677, 0}, single_noises[_i].single_noise};
    FILE *file = printing();
    osnoise_single_noise_print(file, &seen, LABEL_UTF8);
    fclose(file);
    ck_assert_str_eq(printed, single_noises[_i].text);
}
END_TEST

/* --- names ---------------------------------------------------------------- */

static struct hr_osnoise_source odd_source(const char *name)
{
    struct hr_osnoise_source source = {0, HR_OSNOISE_THREAD, "", 1, 1000};
    snprintf(source.name, sizeof(source.name), "%s", name);
    return source;
}

static void add_named(const char *name)
{
    const struct hr_osnoise_source source = odd_source(name);
    const struct hr_osnoise_cpu cpu = {.sample_count = 1, .runtime_us = 1000};
    struct hr_osnoise_single_noise single_noise = {.part_count = 1, .parts = {{.count = 1}}};
    snprintf(single_noise.parts[0].name, sizeof(single_noise.parts[0].name), "%s", name);
    add(&(struct hr_osnoise_reading){.cpus = &cpu,
                                     .cpu_count = 1,
                                     .has_sources = true,
                                     .sources = &source,
                                     .source_count = 1,
                                     .single_noises = &single_noise,
                                     .single_noise_count = 1});
}

/* A thread may have any name: colours, a new title of the terminal, a forged line. */
START_TEST(shows_no_control_characters)
{
    const struct hr_osnoise_options options = {.mode = HR_OSNOISE_SOURCES, .max_single_ns = 1};
    struct osnoise_report report = report_of(&options);
    add_named("\033]0;x\a\xff\n\x7f \xc2\x9b m\xc3\xa4");
    print_table(&report);
    ck_assert_ptr_nonnull(strstr(printed, "  0 thread ?]0;x???? ? m\xc3\xa4     1"));
    FILE *file = printing();
    osnoise_single_noise_print(file, osnoise_totals_single_noise(&totals, 0), LABEL_ASCII);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(printed, " irq ?]0;x???? ? m? 0.0 us, and more\n"));
}
END_TEST

START_TEST(aligns_wide_names)
{
    const struct hr_osnoise_options options = {.mode = HR_OSNOISE_SOURCES};
    struct osnoise_report report = report_of(&options);
    add_named("\xe6\x97\xa5\xe6\x9c\xac"); /* two characters, four columns, six bytes */
    add_named("abcd");
    print_table(&report);
    ck_assert_ptr_nonnull(strstr(printed, "  0 thread \xe6\x97\xa5\xe6\x9c\xac     1   1.0"));
    ck_assert_ptr_nonnull(strstr(printed, "  0 thread abcd     1   1.0"));
}
END_TEST

/* --- JSON ----------------------------------------------------------------- */

START_TEST(prints_json)
{
    struct hr_osnoise_options options = workload;
    struct osnoise_report report = report_of(&options);
    const struct hr_osnoise_reading one = {
        .elapsed_ns = UINT64_C(12000000000),
        .cpus = cpus + 1,
        .cpu_count = 2,
        .has_sources = true,
        .sources = sources,
        .source_count = 4,
        .dropped_count = 3,
        .buckets = buckets,
        .bucket_count = 1,
        .single_noises = &single_noises[0].single_noise,
        .single_noise_count = 1,
        .single_noise_more_count = 4,
    };
    options.histogram = true;
    options.max_single_ns = 1000000;
    report.sources = 1;
    report.ended = "somebody changed osnoise/cpus";
    add(&one);
    print_json(&report);
    ck_assert_str_eq(
        printed,
        "{\"begin_s\":1795261665.001,\"end_s\":1795261677.450,\"elapsed_s\":12.000000,"
        "\"mode\":\"osnoise\",\"period_s\":1.000000,\"runtime_s\":0.500000,"
        "\"threshold_s\":0.000020,\"max_single_s\":0.001000,\"max_latency_s\":null,\"cpus\":["
        "{\"cpu\":1,\"state\":\"fine\",\"sample_count\":12,\"runtime_us\":6000000,"
        "\"noise_us\":240123,\"available_pct\":95.99795,\"max_single_us\":2013,"
        "\"max_period_us\":20040,\"hw_count\":0,\"nmi_count\":1,\"irq_count\":1006,"
        "\"softirq_count\":16,\"thread_count\":120,\"lost_count\":5,\"sources\":["
        "{\"kind\":\"thread\",\"name\":\"spinner\",\"count\":120,\"duration_ns\":240000000,"
        "\"share_pct\":4.00000}],\"other\":{\"source_count\":3,\"count\":1023,"
        "\"duration_ns\":2112956,\"share_pct\":0.03521},\"histogram\":[{\"lower_ns\":1048576,"
        "\"count\":120}],\"p50_ns\":2097152,\"p99_ns\":2097152,\"p999_ns\":2097152,\"latency\":"
        "null},"
        "{\"cpu\":2,\"state\":\"offline\",\"sample_count\":0,\"runtime_us\":null,"
        "\"noise_us\":null,\"available_pct\":null,\"max_single_us\":null,\"max_period_us\":null,"
        "\"hw_count\":null,\"nmi_count\":null,\"irq_count\":null,\"softirq_count\":null,"
        "\"thread_count\":null,\"lost_count\":0,\"sources\":null,\"other\":null,"
        "\"histogram\":[],\"p50_ns\":null,\"p99_ns\":null,\"p999_ns\":null,\"latency\":null}],"
        "\"dropped_count\":3,\"singles\":[{\"time_s\":1795261677.450,\"cpu\":1,"
        "\"duration_ns\":2013400,\"interference_count\":4,\"parts\":[{\"kind\":\"thread\","
        "\"name\":\"spinner\",\"number\":812,\"functions\":[],\"senders\":[],"
        "\"more_functions\":false,\"count\":1,\"duration_ns\":2001140},"
        "{\"kind\":\"irq\",\"name\":\"local_timer\",\"number\":236,"
        "\"functions\":[\"tick_nohz_handler\",\"hrtimer_wakeup\"],"
        "\"senders\":[null,\"perf[423] on CPU 0\"],\"more_functions\":true,"
        "\"count\":3,"
        "\"duration_ns\":7100}],\"parts_are_all\":true}],\"single_count\":5,"
        "\"ended\":\"somebody changed osnoise/cpus\",\"warning\":null}\n");
}
END_TEST

START_TEST(prints_null_for_what_is_not_known)
{
    const struct hr_osnoise_options options = {.mode = HR_OSNOISE_ATTACH};
    struct osnoise_report report = report_of(&options);
    report.sources = 0;
    print_json(&report);
    ck_assert_str_eq(
        printed, "{\"begin_s\":1795261665.001,\"end_s\":1795261677.450,\"elapsed_s\":0.000000,"
                 "\"mode\":\"attach\",\"period_s\":null,\"runtime_s\":null,"
                 "\"threshold_s\":null,\"max_single_s\":null,\"max_latency_s\":null,\"cpus\":[],"
                 "\"dropped_count\":null,\"singles\":null,\"single_count\":null,"
                 "\"ended\":null,\"warning\":null}\n");
}
END_TEST

/* What JSON (RFC 8259) lets a string have, in ASCII. @return behind the string. */
static const char *skip_string(const char *at)
{
    ck_assert_int_eq(*at++, '"');
    for (; *at != '"'; at++) {
        ck_assert_msg((unsigned char)*at >= 0x20, "a control character or the end: %s", at);
        if (*at != '\\')
            continue;
        at++;
        ck_assert_ptr_nonnull(strchr("\"\\/bfnrtu", *at));
        for (int digit = 0; *at == 'u' && digit < 4; digit++)
            ck_assert(isxdigit((unsigned char)at[digit + 1]));
    }
    return at + 1;
}

/* Each byte that a name may have, on either side of a quote. */
START_TEST(json_is_valid_with_any_byte)
{
    const struct hr_osnoise_options options = {.mode = HR_OSNOISE_SOURCES, .max_single_ns = 1};
    struct osnoise_report report = report_of(&options);
    const char name[] = {(char)_i, '"', (char)_i, '\\', (char)_i, '\0'};
    uint32_t character;
    int names = 0;
    add_named(name);
    print_json(&report);
    for (const char *at = printed; *at != '\0';) {
        size_t length = hr_utf8_decode(at, &character);
        ck_assert_msg(length > 0, "no UTF-8: %s", at);
        if (*at == '"') {
            names += strncmp(at, "\"name\":", 7) == 0;
            at = skip_string(at);
            continue;
        }
        ck_assert_msg(strchr("{}[]:,.0123456789truefalsenull\n", *at) != NULL, "not JSON: %s", at);
        at += length;
    }
    ck_assert_int_eq(names, 2);
}
END_TEST

/* C1 controls and marks of direction are valid in JSON, but a terminal obeys them. */
START_TEST(json_escapes_what_a_terminal_obeys)
{
    const struct hr_osnoise_options options = {.mode = HR_OSNOISE_SOURCES, .max_single_ns = 1};
    struct osnoise_report report = report_of(&options);

    add_named("\xc3\xa9\xc2\x9b\xe2\x80\xae\x7f");
    print_json(&report);
    ck_assert_ptr_nonnull(strstr(printed, "\"\xc3\xa9\\u009b\\u202e\\u007f\""));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise_output");

    setenv("TZ", "UTC", 1);
    setlocale(LC_CTYPE, "C.UTF-8");
    tcase_add_checked_fixture(tests, NULL, forget);
    tcase_add_test(tests, prints_tables);
    tcase_add_test(tests, names_one_cpu);
    tcase_add_test(tests, prints_sources_without_a_workload);
    tcase_add_test(tests, prints_latencies);
    tcase_add_test(tests, sums_nodes_and_prints_the_worst_first);
    tcase_add_loop_test(tests, sums_all_cpus, 0, 2);
    tcase_add_test(tests, sums_latencies);
    tcase_add_test(tests, adds_latencies_up);
    tcase_add_test(tests, prints_latencies_as_json);
    tcase_add_test(tests, prints_what_has_not_left_its_cpu);
    tcase_add_test(tests, prints_what_it_reads_along);
    tcase_add_loop_test(tests, is_aligned_with_any_numbers, 0, 8);
    tcase_add_test(tests, fits_eighty_columns);
    tcase_add_test(tests, reports_memory_that_ran_out);
    tcase_add_loop_test(tests, prints_single_noises, 0, COUNT(single_noises));
    tcase_add_test(tests, shows_no_control_characters);
    tcase_add_test(tests, aligns_wide_names);
    tcase_add_test(tests, prints_json);
    tcase_add_test(tests, prints_null_for_what_is_not_known);
    tcase_add_loop_test(tests, json_is_valid_with_any_byte, 1, 256);
    tcase_add_test(tests, json_escapes_what_a_terminal_obeys);
    return run_suite("osnoise_output", tests);
}
