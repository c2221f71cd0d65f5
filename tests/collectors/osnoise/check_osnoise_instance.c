/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_instance.c - a trace instance: what it records and counts, and that nothing
 * of it is left behind. Over a stand-in for tracefs.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headroom/root.h"
#include "osnoise/instance.h"
#include "osnoise/process_exit.h"
#include "support/fake_tracefs.h"
#include "support/suite.h"

#define AT     "instances/ours/"
#define EVENTS AT "events/osnoise/"

#define AT_EXIT AT "events/sched/sched_process_exit/trigger"

static struct tree *tree;
static struct hr_root *root;
static struct hr_tracefs tracefs;
static struct hr_reason reason;
static struct hr_cpu_set hogged, occupied;
static int find_error;
static int lock; /* of the instance; -1: none */

/* --- Which CPUs have time ------------------------------------------------- */

int __wrap_hr_osnoise_find_reachable_cpus(const struct hr_cpu_set *cpus, uint64_t timeout_ns,
                                          struct hr_cpu_set *reachable);

int __wrap_hr_osnoise_find_reachable_cpus(const struct hr_cpu_set *cpus, uint64_t timeout_ns,
                                          struct hr_cpu_set *reachable)
{
    ck_assert_uint_ge(timeout_ns, 1000000000);
    if (find_error < 0)
        return find_error;
    *reachable = *cpus;
    hr_cpu_set_remove(reachable, &hogged);
    return 0;
}

/* --- PIDs ----------------------------------------------------------------- */

#define FIRST_PIDS 4026531836

static ino_t pid_namespace; /* 0: the kernel has none */

/* Takes the place of libc's. */
int stat(const char *path, struct stat *info)
{
    int status = fstatat(AT_FDCWD, path, info, 0);

    if (strcmp(path, "/proc/self/ns/pid") != 0)
        return status;
    info->st_ino = pid_namespace;
    errno = ENOENT;
    return pid_namespace == 0 ? -1 : 0;
}

/* --- Each test ------------------------------------------------------------ */

static void set_up(void)
{
    hogged = (struct hr_cpu_set){0};
    pid_namespace = FIRST_PIDS;
    find_error = 0;
    lock = -1;
    tree = tree_new();
    fake_tracefs_begin(tree, 4);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    ck_assert_int_eq(hr_tracefs_open(root, &tracefs, &reason), 0);
}

static void tear_down(void)
{
    close(lock);
    hr_tracefs_close(&tracefs);
    hr_root_close(root);
    fake_tracefs_end();
    tree_free(tree);
}

static void add_cpus(struct hr_cpu_set *cpus, unsigned first, unsigned last)
{
    for (unsigned cpu = first; cpu <= last; cpu++)
        hr_cpu_set_add(cpus, cpu);
}

static void make(struct hr_osnoise_plan *plan)
{
    add_cpus(&plan->online, 0, 3);
    ck_assert_msg(hr_osnoise_instance_make(&tracefs, "ours", plan, &occupied, &lock, &reason) == 0,
                  "%s", reason.text);
}

static int remove_ours(void)
{
    return hr_osnoise_instance_remove(&tracefs, "ours", &lock);
}

static const char *const events[] = {"irq_noise", "softirq_noise", "thread_noise", "nmi_noise",
                                     "sample_threshold"};

static const char *event_file(const char *event, const char *file)
{
    char name[128];

    snprintf(name, sizeof(name), EVENTS "%s/%s", event, file);
    return fake_tracefs_get(name);
}

/* --- What a plan makes ---------------------------------------------------- */

#define SMALL(cpu) AT "per_cpu/cpu" #cpu "/buffer_size_kb=16\n"

START_TEST(records_only_samples_by_default)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .max_single_ns = 0};
    char at_exit[128], log[512];

    add_cpus(&plan.cpus, 2, 3);
    make(&plan);
    snprintf(at_exit, sizeof(at_exit), AT_EXIT "=traceoff if pid == %d\n", (int)getpid());
    snprintf(log, sizeof(log),
             "+instances/ours\n" SMALL(0) SMALL(1) SMALL(2) SMALL(3) AT "tracing_cpumask=c\n%s" AT
                                                                        "tracing_on=1\n",
             at_exit);
    ck_assert_str_eq(fake_tracefs_log(), log);
    ck_assert_str_eq(fake_tracefs_get(AT "current_tracer"), "nop\n");
    for (int i = 0; i < 5; i++) {
        ck_assert_str_eq(event_file(events[i], "enable"), "0\n");
        ck_assert_str_eq(event_file(events[i], "trigger"), "");
    }
}
END_TEST

START_TEST(counts_by_source)
{
    static const char *const triggers[] = {
        "hist:keys=common_cpu:vals=duration:size=128 if start != 0\n"
        "hist:keys=common_cpu,desc:vals=duration:size=4096 if start != 0\n",
        "hist:keys=common_cpu,vector:vals=duration:size=4096 if start != 0\n",
        "hist:keys=common_cpu:vals=duration:size=128 if start != 0 && pid != 0\n"
        "hist:keys=common_cpu,comm:vals=duration:size=4096 if start != 0 && pid != 0\n",
        "hist:keys=common_cpu:vals=duration:size=4096 if start != 0\n",
    };
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    make(&plan);
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(event_file(events[i], "trigger"), triggers[i]);
        ck_assert_str_eq(event_file(events[i], "enable"), "0\n");
    }
    ck_assert_str_eq(event_file("sample_threshold", "trigger"), "");
    ck_assert_str_eq(fake_tracefs_get(AT "tracing_cpumask"), "f\n"); /* all, as it was */
}
END_TEST

static const struct {
    unsigned recorded, counted, online, sums, irqs, softirqs, threads;
} tables[] = {
    {16, 16, 16, 128, 4096, 4096, 4096},
    {17, 17, 17, 128, 4096, 4096, 8192},
    {65, 65, 65, 256, 8192, 4096, 32768},
    {128, 128, 128, 256, 8192, 4096, 32768},
    {256, 256, 256, 512, 16384, 4096, 65536},
    {512, 512, 512, 1024, 32768, 8192, 65536},
    {4096, 4096, 4096, 8192, 65536, 65536, 65536},
    /* all that are measured are counted, as tables don't heed which CPUs are recorded */
    {1, 256, 256, 512, 16384, 4096, 65536},
    {0, 256, 16, 512, 4096, 4096, 4096},
};

START_TEST(tables_have_room_by_the_number_of_cpus)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};
    const unsigned wanted[] = {tables[_i].irqs, tables[_i].softirqs, tables[_i].threads};
    char sum[64], size[64];

    if (tables[_i].recorded > 0)
        add_cpus(&plan.cpus, 0, tables[_i].recorded - 1);
    add_cpus(&plan.counted, 0, tables[_i].counted - 1);
    add_cpus(&plan.online, 0, tables[_i].online - 1);
    make(&plan);
    snprintf(sum, sizeof(sum), "common_cpu:vals=duration:size=%u if", tables[_i].sums);
    for (int i = 0; i < 3; i++) {
        snprintf(size, sizeof(size), ":size=%u if", wanted[i]);
        ck_assert_ptr_nonnull(strstr(event_file(events[i], "trigger"), size));
        ck_assert((strstr(event_file(events[i], "trigger"), sum) != NULL) == (i != 1));
    }
}
END_TEST

START_TEST(counts_durations)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .histogram = true};

    make(&plan);
    ck_assert_str_eq(event_file("sample_threshold", "trigger"),
                     "hist:keys=common_cpu,duration.log2:vals=hitcount:size=4096 if start != 0\n");
    ck_assert_str_eq(event_file("irq_noise", "trigger"), "");
    ck_assert_str_eq(event_file("sample_threshold", "enable"), "0\n");
}
END_TEST

START_TEST(records_long_noises_and_what_interfered)
{
    struct hr_osnoise_plan plan = {
        .tracer = "osnoise", .max_single_ns = 50000, .period_us = 1000000, .runtime_us = 10000};

    add_cpus(&plan.cpus, 1, 1);
    add_cpus(&plan.cpus, 9, 9); /* the machine has no such */
    make(&plan);
    for (int i = 0; i < 5; i++) {
        ck_assert_str_eq(event_file(events[i], "enable"), "1\n");
        ck_assert_str_eq(event_file(events[i], "filter"),
                         i == 4 ? "duration > 50000\n" : "start != 0\n");
        ck_assert_str_eq(event_file(events[i], "trigger"), "");
    }
    ck_assert_str_eq(fake_tracefs_get(AT "per_cpu/cpu0/buffer_size_kb"), "16\n");
    ck_assert_str_eq(fake_tracefs_get(AT "per_cpu/cpu1/buffer_size_kb"), "128\n");
    ck_assert_str_eq(fake_tracefs_get("buffer_size_kb"), "1410\n"); /* the kernel's own */
}
END_TEST

START_TEST(of_all_cpus_if_none_is_given)
{
    struct hr_osnoise_plan plan = {
        .tracer = "osnoise", .max_single_ns = 1, .period_us = 1000000, .runtime_us = 10000};

    make(&plan);
    for (int cpu = 0; cpu < 4; cpu++) {
        char name[64];
        snprintf(name, sizeof(name), AT "per_cpu/cpu%d/buffer_size_kb", cpu);
        ck_assert_str_eq(fake_tracefs_get(name), "128\n");
    }
}
END_TEST

/* Two seconds of samples, of 64 bytes each. */
static const struct {
    uint64_t period_us, runtime_us, max_single_ns, buffer_bytes;
    unsigned least_kb, most_kb;
    bool causes;
} sizes[] = {
    {1000000, 10000, 0, 0, 16, 16, false},
    {10000, 100, 0, 0, 16, 16, false},
    {1000, 100, 0, 0, 125, 130, false},
    {1000, 10, 1, 0, 128, 130, false},
    {100, 100, 0, 0, 1250, 1255, false},
    {1, 1, 0, 0, 1250, 1410, false},
    {UINT64_MAX, 1, 0, 0, 16, 16, false},
    /* with an alert by the share of time in which interferences are recorded */
    {1000000, 10000, 1, 0, 128, 128, false},
    {1000000, 90000, 1, 0, 128, 128, false},
    {1000000, 500000, 1, 0, 704, 706, false},
    {1000000, 1000000, 1, 0, 1408, 1408, false},
    {UINT64_MAX, UINT64_MAX / 2, 1, 0, 704, 706, false},
    {0, 0, 1, 0, 1408, 1408, false}, /* of the other program, and unknown */
    {1000000, 1000000, 1, 16384, 16, 16, false},
    {1000000, 10000, 0, 16 << 20, 16384, 16384, false},
    /* and by the works of kworkers, which are recorded all the time */
    {1000000, 10000, 1, 0, 384, 384, true},
    {1000000, 500000, 1, 0, 960, 962, true},
    {1000000, 1000000, 1, 0, 1408, 1408, true},
    {1000000, 10000, 0, 0, 16, 16, true},
    {1000000, 10000, 1, 16384, 16, 16, true},
};

START_TEST(buffers_are_as_large_as_needed)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise",
                                   .period_us = sizes[_i].period_us,
                                   .runtime_us = sizes[_i].runtime_us,
                                   .buffer_bytes = sizes[_i].buffer_bytes,
                                   .max_single_ns = sizes[_i].max_single_ns,
                                   .causes = sizes[_i].causes};

    add_cpus(&plan.cpus, 1, 2);
    make(&plan);
    unsigned size = (unsigned)atoi(fake_tracefs_get(AT "per_cpu/cpu2/buffer_size_kb"));
    ck_assert_uint_ge(size, sizes[_i].least_kb);
    ck_assert_uint_le(size, sizes[_i].most_kb);
    ck_assert_str_eq(fake_tracefs_get(AT "per_cpu/cpu3/buffer_size_kb"), "16\n");
}
END_TEST

static const struct {
    unsigned cpus[3];
    const char *mask;
} masks[] = {
    {{0, 0, 0}, "1\n"},
    {{31, 31, 31}, "80000000\n"},
    {{32, 32, 32}, "1,00000000\n"},
    {{0, 63, 64}, "1,80000000,00000001\n"},
    {{3, 40, 130}, "4,00000000,00000000,00000100,00000008\n"},
};

START_TEST(prints_masks_in_words_of_32)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .max_single_ns = 0};

    for (int i = 0; i < 3; i++)
        hr_cpu_set_add(&plan.cpus, masks[_i].cpus[i]);
    make(&plan);
    ck_assert_str_eq(fake_tracefs_get(AT "tracing_cpumask"), masks[_i].mask);
}
END_TEST

/* --- CPUs without any time ------------------------------------------------ */

/* Resizing the buffer of such a CPU, or of all, would never end. */
START_TEST(a_cpu_without_time_keeps_its_buffer)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .has_workload = true};

    add_cpus(&plan.cpus, 1, 2);
    hr_cpu_set_add(&hogged, 3);
    make(&plan);
    const char *log = fake_tracefs_log();
    ck_assert_ptr_nonnull(strstr(log, SMALL(0) SMALL(1) SMALL(2)));
    ck_assert_ptr_null(strstr(log, "cpu3/buffer_size_kb"));
    ck_assert_ptr_null(strstr(log, AT "buffer_size_kb"));
    ck_assert(hr_cpu_set_equal(&occupied, &hogged));
}
END_TEST

/* Nor would a thread of the tracer's on it. Without such threads it does no harm. */
START_TEST(a_workload_needs_time)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .has_workload = true};

    if (_i == 0)
        add_cpus(&plan.cpus, 1, 3); /* or all */
    add_cpus(&plan.online, 0, 3);
    hr_cpu_set_add(&hogged, 2);
    ck_assert_int_eq(hr_osnoise_instance_make(&tracefs, "ours", &plan, &occupied, &lock, &reason),
                     -EBUSY);
    ck_assert_msg(strstr(reason.text, "no time on CPU 2,") != NULL, "%s", reason.text);
    ck_assert_ptr_null(strstr(fake_tracefs_log(), "buffer_size_kb"));
    ck_assert(!fake_tracefs_has("instances/ours"));
    plan.has_workload = false;
    make(&plan);
    ck_assert_str_eq(fake_tracefs_get(AT "per_cpu/cpu2/buffer_size_kb"), "1410\n");
}
END_TEST

START_TEST(cpus_that_cant_be_tried)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    find_error = -EAGAIN;
    ck_assert_int_eq(hr_osnoise_instance_make(&tracefs, "ours", &plan, &occupied, &lock, &reason),
                     -EAGAIN);
    ck_assert_int_eq(reason.error, -EAGAIN);
    ck_assert(!fake_tracefs_has("instances/ours"));
}
END_TEST

/* --- What it fails on ----------------------------------------------------- */

START_TEST(a_taken_name_stays_with_its_owner)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    fake_tracefs_add_instance("ours");
    ck_assert_int_eq(hr_osnoise_instance_make(&tracefs, "ours", &plan, &occupied, &lock, &reason),
                     -EEXIST);
    ck_assert_int_eq(reason.error, -EEXIST);
    ck_assert_str_eq(fake_tracefs_log(), "+instances/ours\n");
    ck_assert(fake_tracefs_has("instances/ours/current_tracer"));
}
END_TEST

/* Whichever step fails, nothing is left behind, and the error is that of the step. */
START_TEST(leaves_nothing_behind)
{
    struct hr_osnoise_plan plan = {
        .tracer = "osnoise", .by_source = true, .histogram = true, .max_single_ns = 1};
    unsigned nth = 0;
    int status;

    add_cpus(&plan.cpus, 0, 1);
    add_cpus(&plan.online, 0, 3);
    fake_tracefs_remove_event("sched/sched_process_exit"); /* whose failing is no failure */
    do {
        fake_tracefs_fail_nth(++nth, EIO);
        reason = (struct hr_reason){0};
        status = hr_osnoise_instance_make(&tracefs, "ours", &plan, &occupied, &lock, &reason);
        ck_assert_int_eq(status, fake_tracefs_failed() ? -EIO : 0);
        ck_assert_int_eq(reason.error, status);
        ck_assert_int_eq(fake_tracefs_has("instances/ours"), status == 0);
    } while (status < 0);
    ck_assert_uint_ge(nth, 1 + 4 + 1 + 10 + 5 + 1);
}
END_TEST

/* It is there before anything is recorded; see above. A kernel may lack it, or refuse it. */
START_TEST(does_without_the_dead_mans_switch)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    if (_i == 0)
        fake_tracefs_fail(AT_EXIT, EINVAL);
    else
        fake_tracefs_remove_event("sched/sched_process_exit");
    make(&plan);
    ck_assert_str_eq(fake_tracefs_get(AT_EXIT), "");
    ck_assert_str_eq(fake_tracefs_get(AT "tracing_on"), "1\n");
    ck_assert_int_eq(hr_osnoise_instance_start(&tracefs, "ours", "osnoise"), 0);
}
END_TEST

static const struct {
    ino_t pid_namespace;
    const char *failing; /* NULL: nothing */
    const char *pid;     /* "": our own; NULL: unknown */
} pids[] = {
    {FIRST_PIDS, AT "trace_marker", ""},        {0, AT "trace_marker", ""},
    {FIRST_PIDS + 1, NULL, FAKE_TRACEFS_PID},   {FIRST_PIDS + 1, AT "trace_marker", NULL},
    {FIRST_PIDS + 1, AT "trace_options", NULL},
};

START_TEST(is_stopped_by_the_pid_that_the_kernel_knows)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};
    char expected[64] = "", own[16];

    pid_namespace = pids[_i].pid_namespace;
    if (pids[_i].failing != NULL)
        fake_tracefs_fail(pids[_i].failing, EBADF);
    snprintf(own, sizeof(own), "%d", (int)getpid());
    if (pids[_i].pid != NULL)
        snprintf(expected, sizeof(expected), "traceoff:unlimited if pid == %s\n",
                 pids[_i].pid[0] != '\0' ? pids[_i].pid : own);
    make(&plan);
    ck_assert_str_eq(fake_tracefs_get(AT_EXIT), expected);
    ck_assert_int_eq(hr_osnoise_exit_will_stop(&tracefs, "ours"), pids[_i].pid != NULL);
    if (_i == 2)
        ck_assert_ptr_nonnull(strstr(fake_tracefs_log(),
                                     AT "trace_options=markers\n" AT
                                        "trace_options=context-info\n" AT "trace_options=nobin\n" AT
                                        "trace_options=nohex\n" AT "trace_options=raw\n" AT
                                        "trace_marker=headroom\n" AT "trace_options=noraw\n"));
}
END_TEST

static const struct {
    const char *file;
    int error, status;
    const char *reason;
} failures[] = {
    {EVENTS "irq_noise/trigger", EINVAL, -EOPNOTSUPP, "CONFIG_HIST_TRIGGERS=y"},
    {EVENTS "thread_noise/trigger", ENOMEM, -ENOMEM, "memory"},
    {"instances/ours", EACCES, -EACCES, "run as root, or add CAP_DAC_OVERRIDE"},
    {"instances/ours", EPERM, -EPERM, "run as root, or add CAP_DAC_OVERRIDE"},
    {"instances/ours", ENOMEM, -ENOMEM, "1.4 MB"},
    {AT "per_cpu/cpu3/buffer_size_kb", EINVAL, -EINVAL, "size of buffers"},
};

START_TEST(says_why_not)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    add_cpus(&plan.online, 0, 3);
    fake_tracefs_fail(failures[_i].file, failures[_i].error);
    ck_assert_int_eq(hr_osnoise_instance_make(&tracefs, "ours", &plan, &occupied, &lock, &reason),
                     failures[_i].status);
    ck_assert_int_eq(reason.error, failures[_i].status);
    ck_assert_msg(strstr(reason.text, failures[_i].reason) != NULL, "%s", reason.text);
}
END_TEST

/* Kernels before 5.17 have the tracer, but not for instances. */
START_TEST(a_kernel_without_the_tracer_in_instances)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    fake_tracefs_offer("hwlat osnoise_other nop\n");
    ck_assert_int_eq(hr_osnoise_instance_make(&tracefs, "ours", &plan, &occupied, &lock, &reason),
                     -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "Linux 5.17"));
    ck_assert(!fake_tracefs_has("instances/ours"));
    tree_remove(tree, FAKE_TRACEFS "/instances");
    ck_assert_int_eq(hr_osnoise_instance_make(&tracefs, "ours", &plan, &occupied, &lock, &reason),
                     -ENOENT);
}
END_TEST

/* --- Its life ------------------------------------------------------------- */

START_TEST(starts_stops_and_goes)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    ck_assert_int_eq(hr_osnoise_instance_is_running(&tracefs, "ours", "osnoise"), -ENOENT);
    ck_assert_int_eq(remove_ours(), 0);
    make(&plan);
    ck_assert_int_eq(hr_osnoise_instance_is_running(&tracefs, "ours", "osnoise"), 0);
    ck_assert_int_eq(hr_osnoise_instance_start(&tracefs, "ours", "osnoise"), 0);
    ck_assert_int_eq(hr_osnoise_instance_is_running(&tracefs, "ours", "osnoise"), 1);
    fake_tracefs_set(AT "tracing_on", "0\n");
    ck_assert_int_eq(hr_osnoise_instance_is_running(&tracefs, "ours", "osnoise"), 0);
    fake_tracefs_set(AT "tracing_on", "1\n");
    fake_tracefs_set(AT "current_tracer", "timerlat\n");
    ck_assert_int_eq(hr_osnoise_instance_is_running(&tracefs, "ours", "osnoise"), 0);
    fake_tracefs_set(AT "current_tracer", "osnoise\n");
    fake_tracefs_log();
    ck_assert_int_eq(remove_ours(), 0);
    ck_assert_str_eq(fake_tracefs_log(),
                     AT "tracing_on=0\n" AT "current_tracer=nop\n-instances/ours\n");
    ck_assert(!fake_tracefs_has("instances/ours"));
    ck_assert_int_eq(hr_osnoise_instance_is_running(&tracefs, "ours", "osnoise"), -ENOENT);
    ck_assert_int_eq(hr_osnoise_instance_start(&tracefs, "ours", "osnoise"), -ENOENT);
}
END_TEST

START_TEST(does_not_start_beside_timerlat)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    make(&plan);
    fake_tracefs_set("current_tracer", "timerlat\n");
    ck_assert_int_eq(hr_osnoise_instance_start(&tracefs, "ours", "osnoise"), -EBUSY);
}
END_TEST

START_TEST(stays_while_its_pipes_are_read)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};
    char page[4096] = {0};

    make(&plan);
    ck_assert_int_eq(hr_osnoise_instance_start(&tracefs, "ours", "osnoise"), 0);
    fake_tracefs_add_pages("ours", 1, page, sizeof(page));
    int fd = openat(tracefs.fd, AT "per_cpu/cpu1/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
    ck_assert_int_eq(read(fd, page, sizeof(page)), sizeof(page));
    ck_assert_int_eq(read(fd, page, sizeof(page)), -1);
    ck_assert_int_eq(errno, EAGAIN);
    ck_assert_int_eq(remove_ours(), -EBUSY);
    ck_assert(fake_tracefs_has("instances/ours"));
    ck_assert_str_eq(fake_tracefs_get(AT "current_tracer"), "osnoise\n"); /* can't be stopped */
    ck_assert_str_eq(fake_tracefs_get(AT "tracing_on"), "0\n");           /* but sleeps */
    close(fd);
    ck_assert_int_eq(remove_ours(), 0);
}
END_TEST

/* Another process just reads a file of it. */
START_TEST(waits_a_moment_for_others)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    make(&plan);
    fake_tracefs_fail_nth(3, EBUSY); /* after tracing_on and "nop" the first rmdir */
    ck_assert_int_eq(remove_ours(), 0);
    ck_assert(fake_tracefs_failed());
    ck_assert(!fake_tracefs_has("instances/ours"));
}
END_TEST

/* As long as its owner has it locked, or anyone has a file of it open. */
START_TEST(one_that_is_used_stays_as_it_is)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true};

    make(&plan);
    ck_assert_int_eq(hr_osnoise_instance_start(&tracefs, "ours", "osnoise"), 0);
    ck_assert_int_eq(hr_osnoise_instance_remove_unused(&tracefs, "ours"), -EBUSY);
    ck_assert_str_eq(fake_tracefs_get(AT "current_tracer"), "osnoise\n");
    ck_assert_str_eq(fake_tracefs_get(AT "tracing_on"), "1\n");
    close(lock);
    lock = -1;
    ck_assert_int_eq(hr_osnoise_instance_remove_unused(&tracefs, "ours"), 0);
    ck_assert(!fake_tracefs_has("instances/ours"));
    ck_assert_int_eq(hr_osnoise_instance_remove_unused(&tracefs, "ours"), 0);
}
END_TEST

START_TEST(empties_a_table_that_goes_on)
{
    struct hr_osnoise_plan plan = {.tracer = "osnoise", .by_source = true, .histogram = true};
    char path[128], before[256];

    make(&plan);
    for (int i = 0; i < HR_OSNOISE_TABLE_COUNT; i++) {
        hr_osnoise_instance_table_path("ours", i, path, sizeof(path));
        ck_assert_ptr_nonnull(strstr(fake_tracefs_get(path), "Hits: 0\n"));
        fake_tracefs_set(path, "Hits: 1\n");
        snprintf(before, sizeof(before), "%s", event_file(events[i], "trigger"));
        ck_assert_int_eq(hr_osnoise_instance_clear_table(&tracefs, "ours", i), 0);
        ck_assert_ptr_nonnull(strstr(fake_tracefs_get(path), "Hits: 0\n"));
        ck_assert_str_eq(event_file(events[i], "trigger"), before);
    }
}
END_TEST

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

int main(void)
{
    TCase *tests = tcase_create("osnoise_instance");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, records_only_samples_by_default);
    tcase_add_test(tests, counts_by_source);
    tcase_add_loop_test(tests, tables_have_room_by_the_number_of_cpus, 0, COUNT(tables));
    tcase_add_test(tests, counts_durations);
    tcase_add_test(tests, records_long_noises_and_what_interfered);
    tcase_add_test(tests, of_all_cpus_if_none_is_given);
    tcase_add_loop_test(tests, buffers_are_as_large_as_needed, 0, COUNT(sizes));
    tcase_add_loop_test(tests, prints_masks_in_words_of_32, 0, COUNT(masks));
    tcase_add_test(tests, a_cpu_without_time_keeps_its_buffer);
    tcase_add_loop_test(tests, a_workload_needs_time, 0, 2);
    tcase_add_test(tests, cpus_that_cant_be_tried);
    tcase_add_test(tests, a_taken_name_stays_with_its_owner);
    tcase_add_test(tests, leaves_nothing_behind);
    tcase_add_loop_test(tests, does_without_the_dead_mans_switch, 0, 2);
    tcase_add_loop_test(tests, is_stopped_by_the_pid_that_the_kernel_knows, 0, COUNT(pids));
    tcase_add_loop_test(tests, says_why_not, 0, COUNT(failures));
    tcase_add_test(tests, a_kernel_without_the_tracer_in_instances);
    tcase_add_test(tests, starts_stops_and_goes);
    tcase_add_test(tests, does_not_start_beside_timerlat);
    tcase_add_test(tests, stays_while_its_pipes_are_read);
    tcase_add_test(tests, waits_a_moment_for_others);
    tcase_add_test(tests, one_that_is_used_stays_as_it_is);
    tcase_add_test(tests, empties_a_table_that_goes_on);
    return run_suite("osnoise_instance", tests);
}
