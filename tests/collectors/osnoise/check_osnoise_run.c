/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_run.c - runs of the osnoise tracer: what they set, what they report, and
 * that everything is restored whatever happens. Over a stand-in for tracefs; see
 * check_osnoise_samples_live for a kernel's.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "headroom/osnoise.h"
#include "headroom/root.h"
#include "support/fake_tracefs.h"
#include "support/suite.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* IDs of events in the stand-in. */
enum { OSNOISE = 16, SAMPLE_THRESHOLD = 216, THREAD_NOISE = 220 };

static struct tree *tree;
static struct hr_root *root;
static struct hr_reason reason;
static struct hr_osnoise *osnoise;
static struct hr_osnoise_reading reading;
static char state_path[256], instance[64], before[4096];

/* --- The clock ------------------------------------------------------------ */

static uint64_t skipped_ns;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = __real_clock_gettime(clock, now);

    now->tv_sec += (time_t)(skipped_ns / 1000000000);
    now->tv_nsec += (long)(skipped_ns % 1000000000);
    if (now->tv_nsec >= 1000000000) {
        now->tv_nsec -= 1000000000;
        now->tv_sec++;
    }
    return status;
}

/* --- CPUs ----------------------------------------------------------------- */

int __wrap_hr_osnoise_find_reachable_cpus(const struct hr_cpu_set *cpus, uint64_t timeout_ns,
                                          struct hr_cpu_set *reachable);

/* All are reachable, however busy this machine is: see check_osnoise_reachable_cpus. */
int __wrap_hr_osnoise_find_reachable_cpus(const struct hr_cpu_set *cpus, uint64_t timeout_ns,
                                          struct hr_cpu_set *reachable)
{
    ck_assert_uint_ge(timeout_ns, 1000000000);
    *reachable = *cpus;
    return 0;
}

/* --- All that may be changed ---------------------------------------------- */

static const char *list_settings(void)
{
    static const char *const files[] = {
        "osnoise/cpus",    "osnoise/period_us",       "osnoise/runtime_us",
        "osnoise/options", "osnoise/stop_tracing_us", "osnoise/stop_tracing_total_us",
        "tracing_thresh",  "current_tracer",
    };
    static char list[4096];
    size_t length = 0;

    for (size_t i = 0; i < COUNT(files); i++)
        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s=%s", files[i],
                                   fake_tracefs_get(files[i]));
    return list;
}

static void assert_restored(void)
{
    ck_assert_str_eq(list_settings(), before);
    ck_assert_msg(!fake_tracefs_has(instance), "%s is left", instance);
    ck_assert_int_ne(access(state_path, F_OK), 0);
}

/* --- Each test ------------------------------------------------------------ */

static void set_up(void)
{
    skipped_ns = 0;
    tree = tree_new();
    fake_tracefs_begin(tree, 4);
    tree_write(tree, "sys/devices/system/cpu/possible", "0-3\n");
    fake_tracefs_set("osnoise/cpus", "0-3\n");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    snprintf(state_path, sizeof(state_path), "%s/osnoise.state", tree_path(tree));
    snprintf(instance, sizeof(instance), "instances/headroom_osnoise_%d", (int)getpid());
    snprintf(before, sizeof(before), "%s", list_settings());
    osnoise = NULL;
}

static void tear_down(void)
{
    hr_osnoise_close(osnoise);
    hr_root_close(root);
    fake_tracefs_end();
    tree_free(tree);
}

static struct hr_osnoise_options options_of(enum hr_osnoise_mode mode, const char *cpus)
{
    struct hr_osnoise_options options = {
        .mode = mode,
        .period_us = 1000000,
        .runtime_us = 10000,
        .threshold_us = 1,
        .max_duty_pct = 10,
        .state_path = state_path,
    };

    ck_assert_int_eq(hr_cpu_set_parse(cpus, strlen(cpus), &options.cpus), 0);
    return options;
}

static void open_run(const struct hr_osnoise_options *options)
{
    ck_assert_msg(hr_osnoise_open(root, options, &osnoise, &reason) == 0, "%s", reason.text);
}

static void begin(const struct hr_osnoise_options *options)
{
    open_run(options);
    ck_assert_msg(hr_osnoise_begin(osnoise, &reason) == 0, "%s", reason.text);
}

static void begin_mode(enum hr_osnoise_mode mode, const char *cpus)
{
    struct hr_osnoise_options options = options_of(mode, cpus);

    begin(&options);
}

static void read_run(void)
{
    ck_assert_msg(hr_osnoise_read(osnoise, &reading, &reason) == 0, "%s", reason.text);
}

static void assert_reason(int error, const char *part)
{
    ck_assert_int_eq(reason.error, error);
    ck_assert_msg(strstr(reason.text, part) != NULL, "'%s' isn't in: %s", part, reason.text);
}

static const char *ours(const char *file)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", instance, file);
    return fake_tracefs_get(path);
}

/* --- Records -------------------------------------------------------------- */

struct page {
    unsigned char bytes[4096];
    size_t used;
};

static void put(struct page *page, const void *data, size_t size)
{
    uint32_t head = (uint32_t)(size / 4); /* the type of short data is its words */

    memcpy(page->bytes + 16 + page->used, &head, 4);
    memcpy(page->bytes + 20 + page->used, data, size);
    page->used += 4 + size;
    uint64_t commit = page->used;
    memcpy(page->bytes + 8, &commit, sizeof(commit));
}

static void put_sample(struct page *page, uint64_t runtime, uint64_t noise, uint64_t max_single)
{
    struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        uint64_t noise, runtime, max_sample;
        uint32_t hw, nmi, irq, softirq, thread;
    } __attribute__((packed)) event = {OSNOISE, 0, 0, 1, noise, runtime, max_single, 1, 2, 3, 4, 5};

    put(page, &event, sizeof(event));
}

static void put_noise(struct page *page, const char *comm, uint64_t start, uint64_t duration)
{
    struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t common_pid;
        char comm[16];
        uint64_t start, duration;
        int32_t pid;
    } __attribute__((packed)) thread = {THREAD_NOISE, 0, 0, 1, "", start + 10, duration - 20, 77};
    struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        int32_t pid;
        uint64_t start, duration, interference;
    } single_noise = {SAMPLE_THRESHOLD, 0, 0, 1, start, duration, 1};

    snprintf(thread.comm, sizeof(thread.comm), "%s", comm);
    put(page, &thread, sizeof(thread));
    put(page, &single_noise, sizeof(single_noise));
}

static void hand_over(unsigned cpu, const struct page *page)
{
    fake_tracefs_add_pages(strchr(instance, '/') + 1, cpu, page->bytes, sizeof(page->bytes));
}

/* --- What is set ---------------------------------------------------------- */

START_TEST(workload_is_set_up_and_everything_put_back)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1-2");
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), "1-2\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");
    ck_assert_str_eq(fake_tracefs_get("tracing_thresh"), "1\n");
    ck_assert_str_eq(ours("current_tracer"), "osnoise\n");
    ck_assert_int_eq(access(state_path, F_OK), 0);

    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0); /* twice is no harm */
}
END_TEST

START_TEST(hardware_switches_interrupts_off)
{
    begin_mode(HR_OSNOISE_HARDWARE, "1");
    ck_assert_ptr_nonnull(strstr(fake_tracefs_get("osnoise/options"), " OSNOISE_IRQ_DISABLE"));
    hr_osnoise_close(osnoise);
    osnoise = NULL;
    assert_restored();
}
END_TEST

START_TEST(sources_run_no_workload)
{
    begin_mode(HR_OSNOISE_SOURCES, "");
    ck_assert_ptr_nonnull(strstr(fake_tracefs_get("osnoise/options"), "NO_OSNOISE_WORKLOAD"));
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "1000000\n"); /* means nothing then */
    ck_assert_str_eq(fake_tracefs_get("tracing_thresh"), "0\n");
    read_run();
    ck_assert_uint_eq(reading.cpu_count, 4);
    ck_assert(reading.has_sources);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

START_TEST(attaching_changes_nothing)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_ATTACH, "");

    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EAGAIN);
    assert_reason(-EAGAIN, "no program runs the osnoise tracer");
    assert_restored();

    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
    fake_tracefs_set("osnoise/cpus", "2-3\n");
    snprintf(before, sizeof(before), "%s", list_settings());
    ck_assert_msg(hr_osnoise_begin(osnoise, &reason) == 0, "%s", reason.text);
    ck_assert_str_eq(list_settings(), before);
    read_run();
    ck_assert_uint_eq(reading.cpu_count, 2);
    ck_assert_uint_eq(reading.cpus[0].cpu, 2);
    ck_assert_int_ge(hr_osnoise_fd(osnoise), 0);

    fake_tracefs_set("instances/rtla/current_tracer", "nop\n");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EAGAIN);
    assert_reason(-EAGAIN, "has ended");
    assert_restored();
    ck_assert_int_eq(hr_osnoise_fd(osnoise), -1);
}
END_TEST

START_TEST(attached_to_one_that_stops_or_changes_something)
{
    static const struct {
        const char *file, *text, *told;
    } rows[] = {
        {"instances/rtla/tracing_on", "0\n", "has ended"},
        {"osnoise/cpus", "0\n", "cpus from 0-3 to 0: the run to attach to has new settings"},
        {"osnoise/runtime_us", "5000\n", "runtime_us from 1000000 to 5000"},
    };

    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
    begin_mode(HR_OSNOISE_ATTACH, "");
    read_run();
    fake_tracefs_set(rows[_i].file, "%s", rows[_i].text);
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EAGAIN);
    assert_reason(-EAGAIN, rows[_i].told);
    ck_assert(!fake_tracefs_has(instance));
    /* What was stopped isn't started again. */
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), _i == 0 ? -EAGAIN : 0);
}
END_TEST

START_TEST(attaching_to_cpus_that_the_other_doesnt_measure)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_ATTACH, "0-1");

    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
    fake_tracefs_set("osnoise/cpus", "1-3\n");
    begin(&options);
    read_run();
    ck_assert_uint_eq(reading.cpu_count, 1);
    ck_assert_uint_eq(reading.cpus[0].cpu, 1);
    hr_osnoise_end(osnoise, NULL);

    fake_tracefs_set("osnoise/cpus", "2-3\n");
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -ENXIO);
    assert_reason(-ENXIO, "measures none of the CPUs");
}
END_TEST

START_TEST(cpus_that_the_machine_lacks_are_offline)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "3,200");
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), "3\n");
    read_run();
    ck_assert_uint_eq(reading.cpu_count, 2);
    ck_assert_int_eq(reading.cpus[0].state, HR_OSNOISE_CPU_FINE);
    ck_assert_int_eq(reading.cpus[1].state, HR_OSNOISE_CPU_OFFLINE);
    ck_assert_uint_eq(reading.cpus[1].cpu, 200);

    hr_osnoise_close(osnoise);
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "200-201");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -ENXIO);
    assert_restored();
}
END_TEST

START_TEST(long_lists_of_cpus)
{
    static const struct {
        const char *cpus;
        int error;
    } rows[] = {
        /* each second: 64 of them, written out 255 bytes and a newline */
        {"128,130,132,134,136,138,140,142,144,146,148,150,152,154,156,158,160,162,164,166,168,170,"
         "172,174,176,178,180,182,184,186,188,190,192,194,196,198,200,202,204,206,208,210,212,214,"
         "216,218,220,222,224,226,228,230,232,234,236,238,240,242,244,246,248,250,252,254",
         0},
        /* 64 without a pattern */
        {"128,131,132,137,139,142,144,149,151,156,158,163,165,170,172,177,180,183,185,190,193,196,"
         "198,203,206,209,211,216,219,222,224,229,232,235,237,242,245,248,250,255,258,261,263,268,"
         "271,274,276,281,284,287,289,294,297,300,302,307,310,313,315,320,323,326,328,333",
         -E2BIG},
    };

    tree_write(tree, "sys/devices/system/cpu/possible", "0-511\n");
    tree_write(tree, "sys/devices/system/cpu/online", "0-511\n");
    fake_tracefs_set("osnoise/cpus", "0-511\n");
    snprintf(before, sizeof(before), "%s", list_settings());
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, rows[_i].cpus);
    ck_assert_uint_eq(hr_cpu_set_count(&options.cpus), 64);
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), rows[_i].error);
    if (rows[_i].error == 0) {
        read_run();
        ck_assert_uint_eq(reading.cpu_count, 64);
    } else {
        assert_reason(rows[_i].error, "too long for the kernel");
    }
    hr_osnoise_end(osnoise, NULL);
    assert_restored();
}
END_TEST

/* --- A tracer that runs already ------------------------------------------- */

START_TEST(others_come_first)
{
    static const struct {
        const char *instance, *tracer, *told;
    } rows[] = {
        {"rtla_timerlat", "timerlat", "the trace instance rtla_timerlat runs the timerlat tracer"},
        {"rtla_top", "osnoise", "use the attach mode"},
        {"headroom_osnoise_1", "osnoise", "headroom osnoise --restore"},
        {NULL, "function", "the top-level trace instance runs the function tracer"},
    };
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");
    char file[128] = "current_tracer";

    if (rows[_i].instance != NULL) {
        fake_tracefs_add_instance(rows[_i].instance);
        snprintf(file, sizeof(file), "instances/%s/current_tracer", rows[_i].instance);
    }
    fake_tracefs_set(file, "%s\n", rows[_i].tracer);
    open_run(&options);
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, rows[_i].told);
    ck_assert_str_eq(fake_tracefs_log(), ""); /* nothing was even tried */

    fake_tracefs_set(file, "nop\n");
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

START_TEST(names_that_are_taken)
{
    fake_tracefs_add_instance(strchr(instance, '/') + 1);
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    ck_assert_str_eq(ours("current_tracer"), "nop\n");
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert(fake_tracefs_has(instance)); /* it is another program's */
    fake_tracefs_remove_instance(strchr(instance, '/') + 1);
    assert_restored();
}
END_TEST

START_TEST(hazards_of_others)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    fake_tracefs_set("osnoise/stop_tracing_us", "50\n");
    read_run();
    ck_assert_ptr_nonnull(strstr(reading.warning.text, "stop_tracing_us"));

    fake_tracefs_set("osnoise/options", "OSNOISE_WORKLOAD PANIC_ON_STOP "
                                        "NO_OSNOISE_PREEMPT_DISABLE NO_OSNOISE_IRQ_DISABLE \n");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    assert_reason(-ECANCELED, "NO_PANIC_ON_STOP");
    ck_assert(!fake_tracefs_has(instance));
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, "NO_PANIC_ON_STOP");

    fake_tracefs_set("osnoise/stop_tracing_us", "0\n");
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
    read_run();
    ck_assert_ptr_nonnull(strstr(reading.warning.text, "PANIC_ON_STOP"));
}
END_TEST

/* --- Reading -------------------------------------------------------------- */

START_TEST(samples_add_up)
{
    struct page pages[2] = {{.used = 0}};

    begin_mode(HR_OSNOISE_WORKLOAD, "1-2");
    put_sample(&pages[0], 10000, 100, 60);
    put_sample(&pages[0], 10002, 300, 40);
    put_sample(&pages[1], 10001, 7, 7);
    hand_over(1, &pages[0]);
    hand_over(2, &pages[1]);
    skipped_ns += 2000000000;
    read_run();
    ck_assert_uint_ge(reading.elapsed_ns, 2000000000);
    ck_assert_uint_lt(reading.elapsed_ns, 60000000000);
    const struct hr_osnoise_cpu *cpu = &reading.cpus[0];
    ck_assert_uint_eq(cpu->sample_count, 2);
    ck_assert_uint_eq(cpu->runtime_us, 20002);
    ck_assert_uint_eq(cpu->noise_us, 400);
    ck_assert_uint_eq(cpu->max_single_us, 60);
    ck_assert_uint_eq(cpu->max_period_us, 300);
    ck_assert_uint_eq(cpu->hw_count, 2);
    ck_assert_uint_eq(cpu->thread_count, 10);
    ck_assert_uint_eq(reading.cpus[1].runtime_us, 10001);
    read_run(); /* what was read doesn't come again */
    ck_assert_uint_eq(reading.cpus[0].sample_count, 0);
    ck_assert_uint_eq(reading.cpus[0].runtime_us, 0);
}
END_TEST

START_TEST(singles_are_reported_with_their_parts)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1-2");
    struct page page = {.used = 0};

    options.max_single_ns = 50000;
    begin(&options);
    put_noise(&page, "backup", 1000, 80000);
    hand_over(2, &page);
    read_run();
    ck_assert_uint_eq(reading.single_noise_count, 1);
    ck_assert_uint_eq(reading.single_noises[0].cpu, 2);
    ck_assert_uint_eq(reading.single_noises[0].duration_ns, 80000);
    ck_assert_str_eq(reading.single_noises[0].parts[0].name, "backup");
    ck_assert_int_eq(reading.single_noises[0].parts[0].number, 77);
}
END_TEST

START_TEST(silence_isnt_quiet)
{
    struct page page = {.used = 0};

    begin_mode(HR_OSNOISE_WORKLOAD, "1-2");
    skipped_ns += 2000000000;
    read_run();
    ck_assert_int_eq(reading.cpus[0].state, HR_OSNOISE_CPU_FINE);
    put_sample(&page, 10000, 1, 1);
    hand_over(1, &page);
    skipped_ns += 1500000000;
    read_run();
    ck_assert_int_eq(reading.cpus[0].state, HR_OSNOISE_CPU_FINE);
    ck_assert_int_eq(reading.cpus[1].state, HR_OSNOISE_CPU_SILENT);

    tree_write(tree, "sys/devices/system/cpu/online", "0-1,3\n");
    read_run();
    ck_assert_int_eq(reading.cpus[1].state, HR_OSNOISE_CPU_OFFLINE);
    tree_write(tree, "sys/devices/system/cpu/online", "0-3\n");
    read_run(); /* has time to be heard again */
    ck_assert_int_eq(reading.cpus[1].state, HR_OSNOISE_CPU_FINE);
}
END_TEST

static void write_table(const char *event, unsigned cpu, uint64_t duration_ns)
{
    char file[256];

    snprintf(file, sizeof(file), "%s/events/osnoise/%s/hist", instance, event);
    fake_tracefs_set(file,
                     "# event histogram\n#\n# trigger info: hist:keys=common_cpu,comm [active]\n"
                     "#\n\n{ common_cpu: %10u, comm: %-50s } hitcount: %10d  duration: %10llu\n\n"
                     "Totals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0\n",
                     cpu, "app", 1, (unsigned long long)duration_ns);
}

START_TEST(what_a_cpu_reports_after_it_was_offline_isnt_noise)
{
    begin_mode(HR_OSNOISE_SOURCES, "");
    write_table("thread_noise", 2, 1000);
    read_run();
    ck_assert_uint_eq(reading.source_count, 1);
    ck_assert_uint_eq(reading.sources[0].duration_ns, 1000);

    tree_write(tree, "sys/devices/system/cpu/online", "0-1,3\n");
    read_run();
    tree_write(tree, "sys/devices/system/cpu/online", "0-3\n");
    write_table("thread_noise", 2, 90000001000); /* as long as it was offline */
    read_run();
    ck_assert_uint_eq(reading.source_count, 0);
    write_table("thread_noise", 2, 90000002000); /* it may come late */
    read_run();
    ck_assert_uint_eq(reading.source_count, 0);
    write_table("thread_noise", 2, 90000005000);
    read_run();
    ck_assert_uint_eq(reading.source_count, 1);
    ck_assert_uint_eq(reading.sources[0].duration_ns, 3000);
}
END_TEST

START_TEST(reading_allocates_nothing)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "0-3");

    options.by_source = options.histogram = true;
    options.max_single_ns = 1000;
    begin(&options);
    read_run();
    size_t used = mallinfo2().uordblks;
    for (int i = 0; i < 100; i++)
        read_run();
    ck_assert_uint_eq(mallinfo2().uordblks, used);
}
END_TEST

/* --- Others meanwhile ----------------------------------------------------- */

START_TEST(a_foreign_change_ends_the_run_and_stays)
{
    static const struct {
        const char *file, *text, *told;
    } rows[] = {
        {"osnoise/cpus", "0-3\n", "setting cpus from 1 to 0-3"},
        {"osnoise/period_us", "2000000\n", "period_us from 1000000 to 2000000"},
        {"osnoise/runtime_us", "20000\n", "runtime_us from 10000 to 20000"},
        {"tracing_thresh", "100\n", "tracing_thresh from 1 to 100"},
        {"osnoise/options",
         "OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE OSNOISE_IRQ_DISABLE \n",
         "OSNOISE_IRQ_DISABLE from off to on"},
    };
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    fake_tracefs_set(rows[_i].file, "%s", rows[_i].text);
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    assert_reason(-ECANCELED, rows[_i].told);
    ck_assert_str_eq(fake_tracefs_get(rows[_i].file), rows[_i].text);
    ck_assert(!fake_tracefs_has(instance));
    ck_assert_int_ne(access(state_path, F_OK), 0);
    if (strcmp(rows[_i].file, "tracing_thresh") != 0)
        ck_assert_str_eq(fake_tracefs_get("tracing_thresh"), "0\n"); /* the rest is restored */
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EINVAL);

    /* It begins again, on top of what is there now. */
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert_str_eq(fake_tracefs_get(rows[_i].file), rows[_i].text);
}
END_TEST

START_TEST(what_cant_be_put_back_is_reported_as_well)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    fake_tracefs_set("osnoise/period_us", "2000000\n");
    fake_tracefs_fail(instance, EBUSY);
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    assert_reason(-ECANCELED, "period_us from");
    assert_reason(-ECANCELED, "; and can't remove the trace instance headroom_osnoise_");
    fake_tracefs_fail(instance, 0);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert(!fake_tracefs_has(instance));
}
END_TEST

START_TEST(a_tracer_that_was_stopped)
{
    char file[128];

    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    snprintf(file, sizeof(file), "%s/%s", instance, _i == 0 ? "current_tracer" : "tracing_on");
    if (_i == 2)
        fake_tracefs_remove_instance(strchr(instance, '/') + 1);
    else
        fake_tracefs_set(file, "%s\n", _i == 0 ? "nop" : "0");
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -ECANCELED);
    assert_reason(-ECANCELED, _i == 2 ? "removed the trace instance" : "stopped the tracer");
    assert_restored();
}
END_TEST

START_TEST(one_that_has_joined_keeps_our_settings)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    fake_tracefs_add_instance("other");
    fake_tracefs_set("instances/other/current_tracer", "osnoise\n");
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY,
                  "the trace instance other runs the osnoise tracer with this run's settings");
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");
    ck_assert(!fake_tracefs_has(instance));
    ck_assert_int_eq(access(state_path, F_OK), 0);
    ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), -EBUSY);

    fake_tracefs_set("instances/other/current_tracer", "nop\n");
    if (_i == 0)
        ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), 0);
    else
        ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

/* --- Failures ------------------------------------------------------------- */

START_TEST(whatever_fails_nothing_is_left)
{
    struct hr_osnoise_options options = options_of(_i % HR_OSNOISE_ATTACH, "1");
    unsigned nth = 0;

    if (options.mode == HR_OSNOISE_WORKLOAD)
        options.max_single_ns = 1000, options.histogram = true;
    options.by_source = true;
    open_run(&options);
    for (nth = 1; nth < 200; nth++) {
        fake_tracefs_fail_nth(nth, EIO);
        int status = hr_osnoise_begin(osnoise, &reason);
        bool failed = fake_tracefs_failed();
        fake_tracefs_fail_nth(0, 0);
        if (status == 0)
            hr_osnoise_end(osnoise, NULL);
        else
            ck_assert_str_ne(reason.text, "");
        assert_restored();
        if (!failed)
            break;
    }
    ck_assert_uint_gt(nth, 10);
    ck_assert_uint_lt(nth, 200);
}
END_TEST

START_TEST(without_a_place_for_the_state_nothing_begins)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");

    options.state_path = "/nowhere/at/all/osnoise.state";
    open_run(&options);
    fake_tracefs_log();
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -ENOENT);
    assert_reason(-ENOENT, "the state file /nowhere/at/all/osnoise.state");
    assert_restored();
}
END_TEST

START_TEST(a_dead_predecessor_is_recovered)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");
        if (hr_osnoise_open(root, &options, &osnoise, &reason) != 0 ||
            hr_osnoise_begin(osnoise, &reason) != 0)
            _exit(1);
        raise(SIGKILL);
    }
    waitpid(child, &status, 0);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    snprintf(instance, sizeof(instance), "instances/headroom_osnoise_%d", (int)child);
    ck_assert(fake_tracefs_has(instance));
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");

    if (_i == 0) {
        ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), 0);
    } else {
        begin_mode(HR_OSNOISE_WORKLOAD, "2");
        ck_assert(!fake_tracefs_has(instance));
        ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    }
    assert_restored();
    ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), 0); /* no more to do */
}
END_TEST

START_TEST(a_state_that_isnt_understood_stops)
{
    tree_write(tree, "osnoise.state", "%s", "what is this?\n");
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBADMSG);
    assert_reason(-EBADMSG, "isn't understood");
    tree_remove(tree, "osnoise.state");
    assert_restored();
}
END_TEST

/* --- Options -------------------------------------------------------------- */

START_TEST(options_are_checked)
{
    static const struct {
        enum hr_osnoise_mode mode;
        const char *cpus;
        uint64_t period_us, runtime_us, threshold_us;
        double max_duty_pct;
        const char *told; /* NULL: they are good */
    } rows[] = {
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 100000, 1, 10, NULL},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 100001, 1, 10, "10 % of each CPU"},
        {HR_OSNOISE_WORKLOAD, "", 1000000, 10000, 1, 10, "no CPUs are given"},
        {HR_OSNOISE_SOURCES, "", 0, 0, 0, 0, NULL},
        {HR_OSNOISE_WORKLOAD, "1", 999, 100, 1, 100, "period"},
        {HR_OSNOISE_WORKLOAD, "1", 3600000001, 100, 1, 100, "period"},
        {HR_OSNOISE_WORKLOAD, "1", 1000, 99, 1, 100, "too short"},
        {HR_OSNOISE_WORKLOAD, "1", 1000, 1001, 1, 100, "longer than the period"},
        {HR_OSNOISE_WORKLOAD, "1", 1000, 1000, 1, 100, NULL},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 1000, 0, 10, "threshold"},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 1000, 1000001, 10, "threshold"},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 1000, 1, 0, "duty"},
        {HR_OSNOISE_WORKLOAD, "1", 1000000, 1000, 1, 100.1, "duty"},
        {HR_OSNOISE_HARDWARE, "1", 10000000, 100001, 1, 10, "hwnoise"},
        {HR_OSNOISE_HARDWARE, "1", 10000000, 100000, 1, 10, NULL},
    };
    struct hr_osnoise_options options = options_of(rows[_i].mode, rows[_i].cpus);

    options.period_us = rows[_i].period_us;
    options.runtime_us = rows[_i].runtime_us;
    options.threshold_us = rows[_i].threshold_us;
    options.max_duty_pct = rows[_i].max_duty_pct;
    int status = hr_osnoise_check(&options, &reason);
    ck_assert_int_eq(status, rows[_i].told == NULL ? 0 : -EINVAL);
    if (rows[_i].told != NULL)
        assert_reason(-EINVAL, rows[_i].told);
    ck_assert_int_eq(hr_osnoise_open(root, &options, &osnoise, NULL), status);
}
END_TEST

/* The kernel reports no noise below the threshold. */
START_TEST(singles_are_no_shorter_than_the_threshold)
{
    static const struct {
        enum hr_osnoise_mode mode;
        uint64_t threshold_us, max_single_ns;
        bool good;
    } rows[] = {
        {HR_OSNOISE_WORKLOAD, 20, 19999, false}, {HR_OSNOISE_WORKLOAD, 20, 20000, true},
        {HR_OSNOISE_HARDWARE, 20, 19999, false}, {HR_OSNOISE_HARDWARE, 20, 20000, true},
        {HR_OSNOISE_WORKLOAD, 20, 0, true},   /* of none */
        {HR_OSNOISE_ATTACH, 20, 19999, true}, /* the threshold is the other's */
    };
    struct hr_osnoise_options options = options_of(rows[_i].mode, "1");

    options.threshold_us = rows[_i].threshold_us;
    options.max_single_ns = rows[_i].max_single_ns;
    ck_assert_int_eq(hr_osnoise_check(&options, &reason), rows[_i].good ? 0 : -EINVAL);
    if (!rows[_i].good)
        assert_reason(-EINVAL, "below the threshold");
}
END_TEST

START_TEST(sources_have_no_singles)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_SOURCES, "");

    options.max_single_ns = _i;
    options.histogram = _i == 0;
    ck_assert_int_eq(hr_osnoise_check(&options, &reason), -EINVAL);
    assert_reason(-EINVAL, "no single noises");
}
END_TEST

/* --- The kernel ----------------------------------------------------------- */

START_TEST(what_the_kernel_lacks_is_reported)
{
    static const struct {
        const char *file, *text;
        enum hr_osnoise_mode mode;
        int error;
        const char *told;
    } rows[] = {
        {"available_tracers", "function nop\n", HR_OSNOISE_WORKLOAD, -ENOENT, "5.17"},
        {"osnoise/options", "OSNOISE_WORKLOAD NO_PANIC_ON_STOP \n", HR_OSNOISE_HARDWARE,
         -EOPNOTSUPP, "interrupts off"},
        {"osnoise/options", "NO_PANIC_ON_STOP \n", HR_OSNOISE_SOURCES, -EOPNOTSUPP,
         "without the workload"},
    };
    ck_assert_int_eq(hr_osnoise_probe(root, rows[_i].mode, &reason), 0);
    fake_tracefs_set(rows[_i].file, "%s", rows[_i].text);
    ck_assert_int_eq(hr_osnoise_probe(root, rows[_i].mode, &reason), rows[_i].error);
    assert_reason(rows[_i].error, rows[_i].told);
    struct hr_osnoise_options options = options_of(rows[_i].mode, "1");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), rows[_i].error);
}
END_TEST

START_TEST(no_tracefs_at_all)
{
    tree_remove(tree, "sys/kernel/tracing");
    ck_assert_int_eq(hr_osnoise_probe(root, HR_OSNOISE_WORKLOAD, &reason), -ENOENT);
    assert_reason(-ENOENT, "mount -t tracefs");
}
END_TEST

static void add_setting(TCase *tests)
{
    tcase_add_test(tests, workload_is_set_up_and_everything_put_back);
    tcase_add_test(tests, hardware_switches_interrupts_off);
    tcase_add_test(tests, sources_run_no_workload);
    tcase_add_test(tests, attaching_changes_nothing);
    tcase_add_loop_test(tests, attached_to_one_that_stops_or_changes_something, 0, 3);
    tcase_add_test(tests, attaching_to_cpus_that_the_other_doesnt_measure);
    tcase_add_test(tests, cpus_that_the_machine_lacks_are_offline);
    tcase_add_loop_test(tests, long_lists_of_cpus, 0, 2);
    tcase_add_loop_test(tests, others_come_first, 0, 4);
    tcase_add_test(tests, names_that_are_taken);
    tcase_add_test(tests, hazards_of_others);
    tcase_add_loop_test(tests, options_are_checked, 0, 15);
    tcase_add_loop_test(tests, singles_are_no_shorter_than_the_threshold, 0, 6);
    tcase_add_loop_test(tests, sources_have_no_singles, 0, 2);
    tcase_add_loop_test(tests, what_the_kernel_lacks_is_reported, 0, 3);
    tcase_add_test(tests, no_tracefs_at_all);
}

/* --- What others can't wait for ------------------------------------------- */

/* A program that has joined a run of hwnoise goes on with its runtime and period, but not with
 * interrupts off; the same if the instance stays, as another program has its pipe open. */
START_TEST(interrupts_come_back_for_one_that_has_joined)
{
    char pipe[128];
    int fd = -1;

    begin_mode(HR_OSNOISE_HARDWARE, "1");
    fake_tracefs_add_instance("other");
    fake_tracefs_set("instances/other/current_tracer", "osnoise\n");
    if (_i == 1) {
        snprintf(pipe, sizeof(pipe), "%s/" FAKE_TRACEFS "/%s/per_cpu/cpu0/trace_pipe_raw",
                 tree_path(tree), instance);
        fd = open(pipe, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(fd, 0);
    }
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), -EBUSY);
    assert_reason(-EBUSY, _i == 0 ? "the trace instance other runs the" : "a program reads it");
    ck_assert_ptr_nonnull(strstr(fake_tracefs_get("osnoise/options"), "NO_OSNOISE_IRQ_DISABLE"));
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");
    ck_assert_int_eq(access(state_path, F_OK), 0);
    if (fd >= 0)
        close(fd);
    fake_tracefs_set("instances/other/current_tracer", "nop\n");
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

/* An attached run's samples come as often as the leader's settings say. */
START_TEST(buffers_are_as_large_as_periods_are_short)
{
    struct hr_osnoise_options options =
        options_of(_i == 0 ? HR_OSNOISE_WORKLOAD : HR_OSNOISE_ATTACH, "1");

    if (_i == 0) {
        options.period_us = 1000;
        options.runtime_us = 100;
    } else {
        fake_tracefs_add_instance("rtla");
        fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
        fake_tracefs_set("osnoise/period_us", "1000\n");
    }
    begin(&options);
    ck_assert_int_ge(atoi(ours("per_cpu/cpu1/buffer_size_kb")), 125);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
}
END_TEST

static void add_control(TCase *tests)
{
    tcase_add_loop_test(tests, buffers_are_as_large_as_periods_are_short, 0, 2);
    tcase_add_loop_test(tests, interrupts_come_back_for_one_that_has_joined, 0, 2);
}

int main(void)
{
    TCase *tests = tcase_create("osnoise");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    add_setting(tests);
    add_control(tests);
    tcase_add_test(tests, samples_add_up);
    tcase_add_test(tests, singles_are_reported_with_their_parts);
    tcase_add_test(tests, silence_isnt_quiet);
    tcase_add_test(tests, what_a_cpu_reports_after_it_was_offline_isnt_noise);
    tcase_add_test(tests, reading_allocates_nothing);
    tcase_add_loop_test(tests, a_foreign_change_ends_the_run_and_stays, 0, 5);
    tcase_add_test(tests, what_cant_be_put_back_is_reported_as_well);
    tcase_add_loop_test(tests, a_tracer_that_was_stopped, 0, 3);
    tcase_add_loop_test(tests, one_that_has_joined_keeps_our_settings, 0, 2);
    tcase_add_loop_test(tests, whatever_fails_nothing_is_left, 0, 3);
    tcase_add_test(tests, without_a_place_for_the_state_nothing_begins);
    tcase_add_loop_test(tests, a_dead_predecessor_is_recovered, 0, 2);
    tcase_add_test(tests, a_state_that_isnt_understood_stops);
    return run_suite("osnoise", tests);
}
