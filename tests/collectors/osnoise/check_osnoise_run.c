/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_run.c - what runs of the osnoise tracer set, and that everything is
 * restored whatever happens. Over a stand-in for tracefs; see check_osnoise_samples_live for a
 * kernel's.
 */
#include "collectors/osnoise/run_harness.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fake_tracefs.h"
#include "support/suite.h"

/* --- What is set ---------------------------------------------------------- */

START_TEST(workload_is_set_up_and_everything_put_back)
{
    begin_mode(HR_OSNOISE_WORKLOAD, "1-2");
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), "1-2\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");
    ck_assert_str_eq(fake_tracefs_get("tracing_thresh"), "1\n");
    ck_assert_str_eq(instance_file("current_tracer"), "osnoise\n");
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

START_TEST(timers_are_set_up_and_everything_put_back)
{
    fake_tracefs_set("osnoise/timerlat_period_us", "5000\n");
    fake_tracefs_set("osnoise/print_stack", "40\n");
    fake_tracefs_set("osnoise/options",
                     "NO_DEFAULTS NO_OSNOISE_WORKLOAD OSNOISE_IRQ_DISABLE TIMERLAT_ALIGN \n");
    snprintf(settings_before, sizeof(settings_before), "%s", list_settings());
    begin_mode(HR_OSNOISE_TIMERLAT, "1-2");
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), "1-2\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/timerlat_period_us"), "1000\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/print_stack"), "0\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/options"),
                     "NO_DEFAULTS OSNOISE_WORKLOAD OSNOISE_IRQ_DISABLE NO_TIMERLAT_ALIGN \n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "1000000\n"); /* means nothing */
    ck_assert_str_eq(fake_tracefs_get("tracing_thresh"), "0\n");
    ck_assert_str_eq(instance_file("current_tracer"), "timerlat\n");
    ck_assert_int_ge(atoi(instance_file("per_cpu/cpu1/buffer_size_kb")), 125);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

/* Whatever the kernel, as its threads don't sleep while no instance records. */
START_TEST(the_timers_of_one_that_was_killed_are_stopped)
{
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t child = fork();
    if (child == 0) {
        struct hr_osnoise_options options = options_of(HR_OSNOISE_TIMERLAT, "1");
        if (hr_osnoise_open(root, &options, &osnoise, &reason) != 0 ||
            hr_osnoise_begin(osnoise, &reason) != 0)
            _exit(1);
        raise(SIGKILL);
    }
    /* Also the process that did it. */
    while (waitpid(-1, NULL, 0) >= 0 || errno == EINTR)
        ;
    find_instance(child);
    ck_assert_str_eq(instance_file("current_tracer"), "nop\n");
    ck_assert_str_eq(fake_tracefs_get("osnoise/timerlat_period_us"), "1000\n");
    ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), 0);
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
    snprintf(settings_before, sizeof(settings_before), "%s", list_settings());
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, rows[_i].cpus);
    ck_assert_uint_eq(hr_cpu_set_count(&options.cpus.list), 64);
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

/* An attached run's samples come as often as the leader's settings say. */
START_TEST(buffers_are_as_large_as_periods_are_short)
{
    struct hr_osnoise_options options =
        options_of(_i == 0 ? HR_OSNOISE_WORKLOAD : HR_OSNOISE_ATTACH, "1");

    if (_i == 0) {
        options.period_us = 1000;
        options.runtime_us = 100;
    } else {
        fake_tracefs_add_sample_event();
        fake_tracefs_add_instance("rtla");
        fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
        fake_tracefs_set("osnoise/period_us", "1000\n");
    }
    begin_run(&options);
    ck_assert_int_ge(atoi(instance_file("per_cpu/cpu1/buffer_size_kb")), 125);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
}
END_TEST

/* A word that a fleet of machines can share. */
START_TEST(words_choose_of_the_cpus_that_there_are)
{
    static const struct {
        enum hr_osnoise_mode mode;
        const char *isolated, *nohz_full, *word, *set;
        size_t count;
    } rows[] = {
        {HR_OSNOISE_WORKLOAD, "2-3\n", "(null)\n", "isolated", "2-3\n", 2},
        {HR_OSNOISE_WORKLOAD, "2-3\n", "1\n", "nohz_full", "1\n", 1},
        {HR_OSNOISE_SOURCES, "2-3\n", "1\n", "isolated", "1-3\n", 3},
        {HR_OSNOISE_HARDWARE, "2-3\n", "1\n", "!isolated", "0\n", 1},
        {HR_OSNOISE_WORKLOAD, "2-100\n", "\n", "isolated", "2-3\n", 2},
    };

    tree_write(tree, "sys/devices/system/cpu/isolated", "%s", rows[_i].isolated);
    tree_write(tree, "sys/devices/system/cpu/nohz_full", "%s", rows[_i].nohz_full);
    tree_write(tree, "sys/devices/system/cpu/possible", "%s", "0-3\n");
    begin_mode(rows[_i].mode, rows[_i].word);
    ck_assert_str_eq(fake_tracefs_get("osnoise/cpus"), rows[_i].set);
    read_run();
    ck_assert_uint_eq(reading.cpu_count, rows[_i].count);
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    assert_restored();
}
END_TEST

START_TEST(a_word_that_chooses_none_is_refused_with_the_remedy)
{
    static const struct {
        const char *isolated, *nohz_full, *word, *reason;
    } rows[] = {
        {"\n", "(null)\n", "isolated",
         "no CPU is isolated: boot the kernel with isolcpus=LIST or nohz_full=LIST, or list the "
         "CPUs"},
        {"2-3\n", "(null)\n", "nohz_full",
         "no CPU is without ticks, as \"nohz_full\" asks for: boot the kernel with nohz_full=LIST, "
         "or list the CPUs"},
    };
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, rows[_i].word);

    tree_write(tree, "sys/devices/system/cpu/isolated", "%s", rows[_i].isolated);
    tree_write(tree, "sys/devices/system/cpu/nohz_full", "%s", rows[_i].nohz_full);
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -ENXIO);
    ck_assert_str_eq(reason.text, rows[_i].reason);
    assert_restored();
}
END_TEST

/* Threads on an isolated CPU, or resizing its buffer, would be noise for what runs there. */
START_TEST(isolated_cpus_that_arent_named_are_left_alone)
{
    static const struct {
        const char *isolated, *nohz_full, *partitions;
        enum hr_osnoise_mode mode;
        const char *cpus, *tested;
        bool isolated_is_resized;
    } rows[] = {
        {"2-3\n", "(null)\n", NULL, HR_OSNOISE_WORKLOAD, "1,3", "0-1,3", false},
        {"2-3\n", "1\n", NULL, HR_OSNOISE_SOURCES, "3", "0,3", false},
        {"2-3\n", "1\n", NULL, HR_OSNOISE_WORKLOAD, "2", "0,2", true},
        {"2-3\n", "1\n", NULL, HR_OSNOISE_SOURCES, "", "0-3", true},
        /* of cpuset, with and without others */
        {"3\n", "1\n", "2\n", HR_OSNOISE_SOURCES, "3", "0,3", false},
        {"\n", "(null)\n", "2-3\n", HR_OSNOISE_WORKLOAD, "1,3", "0-1,3", false},
        {"\n", "(null)\n", "\n", HR_OSNOISE_WORKLOAD, "1,3", "0-3", true},
    };
    struct hr_cpu_set expected = {0};

    tree_write(tree, "sys/devices/system/cpu/isolated", "%s", rows[_i].isolated);
    tree_write(tree, "sys/devices/system/cpu/nohz_full", "%s", rows[_i].nohz_full);
    if (rows[_i].partitions != NULL) {
        tree_write(tree, "proc/1/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
        tree_write(tree, "sys/fs/cgroup/cgroup.procs", "%s", "");
        tree_write(tree, "sys/fs/cgroup/cpuset.cpus.isolated", "%s", rows[_i].partitions);
    }
    begin_mode(rows[_i].mode, rows[_i].cpus);
    hr_cpu_set_parse(rows[_i].tested, strlen(rows[_i].tested), &expected);
    ck_assert(hr_cpu_set_equal(&tested_cpus, &expected));
    ck_assert_str_eq(instance_file("per_cpu/cpu0/buffer_size_kb"), "16\n");
    ck_assert_str_eq(instance_file("per_cpu/cpu2/buffer_size_kb"),
                     rows[_i].isolated_is_resized ? "16\n" : "1410\n");
}
END_TEST

/* --- Where it reads ---------------------------------------------------------- */

static cpu_set_t own_cpus(void)
{
    cpu_set_t cpus;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    return cpus;
}

static unsigned nth_cpu(const cpu_set_t *cpus, int n)
{
    unsigned cpu = 0;

    while (cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, cpus) || n-- > 0))
        cpu++;
    return cpu;
}

/* As many CPUs as this machine has are in the stand-in, and the tracer is set to all. */
static cpu_set_t prepare_cpus(void)
{
    tree_write(tree, "sys/devices/system/cpu/possible", "%s", "0-1023\n");
    tree_write(tree, "sys/devices/system/cpu/online", "%s", "0-1023\n");
    return own_cpus();
}

START_TEST(reads_on_other_cpus_than_it_measures)
{
    const cpu_set_t before = prepare_cpus();
    const unsigned first = nth_cpu(&before, 0), second = nth_cpu(&before, 1);
    char list[16];

    if (CPU_COUNT(&before) < 2)
        return; /* there is no other, which is the next test's */
    snprintf(list, sizeof(list), "%u,1000", first);
    begin_mode(HR_OSNOISE_WORKLOAD, list);
    cpu_set_t now = own_cpus(), expected = before;
    CPU_CLR(first, &expected);
    ck_assert(CPU_EQUAL(&now, &expected));
    hr_osnoise_close(osnoise);

    /* Of an attached run those are the other program's. */
    fake_tracefs_add_sample_event();
    fake_tracefs_add_instance("rtla");
    fake_tracefs_set("instances/rtla/current_tracer", "osnoise\n");
    fake_tracefs_set("osnoise/cpus", "%u\n", first);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
    begin_mode(HR_OSNOISE_ATTACH, "");
    now = own_cpus();
    ck_assert(CPU_EQUAL(&now, &expected));

    /* Another one, with other CPUs. */
    fake_tracefs_set("osnoise/cpus", "%u\n", second);
    ck_assert_int_eq(hr_osnoise_read(osnoise, &reading, &reason), -EAGAIN);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), 0);
    now = own_cpus();
    expected = before;
    CPU_CLR(second, &expected);
    ck_assert(CPU_EQUAL(&now, &expected));
}
END_TEST

/* A thread that is never run can't be killed either: it stays on what is measured rather than to be
 * moved to such a CPU. */
START_TEST(reads_where_it_gets_time)
{
    const cpu_set_t before = prepare_cpus();
    const unsigned first = nth_cpu(&before, 0), second = nth_cpu(&before, 1);
    cpu_set_t now, expected = before;
    char list[16];

    if (CPU_COUNT(&before) < 2)
        return;
    hr_cpu_set_add(&occupied_cpus, second);
    begin_mode(HR_OSNOISE_SOURCES, "1000");
    now = own_cpus();
    CPU_CLR(second, &expected);
    ck_assert(CPU_EQUAL(&now, &expected));
    hr_osnoise_close(osnoise);

    snprintf(list, sizeof(list), "%u,1000", first);
    begin_mode(HR_OSNOISE_WORKLOAD, list);
    now = own_cpus();
    if (CPU_COUNT(&before) > 2)
        CPU_CLR(first, &expected);
    ck_assert(CPU_EQUAL(&now, &expected));
}
END_TEST

START_TEST(reads_anywhere_if_it_measures_all)
{
    const cpu_set_t before = prepare_cpus();

    begin_mode(_i == 0 ? HR_OSNOISE_WORKLOAD : HR_OSNOISE_SOURCES, _i == 0 ? "0-1023" : "");
    const cpu_set_t now = own_cpus();
    ck_assert(CPU_EQUAL(&now, &before));
}
END_TEST

/* --- What is restored ----------------------------------------------------- */

START_TEST(whatever_fails_nothing_is_left)
{
    static const enum hr_osnoise_mode modes[] = {HR_OSNOISE_WORKLOAD, HR_OSNOISE_HARDWARE,
                                                 HR_OSNOISE_SOURCES, HR_OSNOISE_TIMERLAT};
    struct hr_osnoise_options options = options_of(modes[_i], "1");
    unsigned nth = 0;

    if (options.mode == HR_OSNOISE_WORKLOAD)
        options.max_single_ns = 1000, options.histogram = true;
    options.by_source = options.mode != HR_OSNOISE_TIMERLAT;
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
    find_instance(child);
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");

    if (_i == 0) {
        ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), 0);
    } else {
        char before[sizeof(instance)];
        snprintf(before, sizeof(before), "%s", instance);
        begin_mode(HR_OSNOISE_WORKLOAD, "2");
        ck_assert(!fake_tracefs_has(before));
        ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    }
    assert_restored();
    ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), 0); /* no more to do */
}
END_TEST

/* Before Linux 6.5 the kernel itself doesn't. */
START_TEST(the_workload_of_one_that_was_killed_is_stopped)
{
    pid_t child;

    tree_remove(tree, FAKE_TRACEFS "/osnoise/per_cpu");
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    child = fork();
    if (child == 0) {
        struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");
        if (hr_osnoise_open(root, &options, &osnoise, &reason) != 0 ||
            hr_osnoise_begin(osnoise, &reason) != 0 ||
            strcmp(instance_file("current_tracer"), "osnoise\n") != 0)
            _exit(1);
        raise(SIGKILL);
    }
    /* Also the process that did it. */
    while (waitpid(-1, NULL, 0) >= 0 || errno == EINTR)
        ;
    find_instance(child);
    ck_assert_str_eq(instance_file("current_tracer"), "nop\n");
    ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), 0);
    assert_restored();

    begin_mode(HR_OSNOISE_WORKLOAD, "1"); /* that process ends with the run */
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
    assert_restored();
}
END_TEST

START_TEST(interrupts_stay_on_where_nothing_switches_them_on_again)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_HARDWARE, "1");

    tree_remove(tree, FAKE_TRACEFS "/osnoise/per_cpu");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EOPNOTSUPP);
    assert_reason(-EOPNOTSUPP,
                  "interrupts would stay off if headroom were killed: it needs Linux 6.5");
    assert_restored();
}
END_TEST

/* The kernel has the event, but won't have a trigger for it. */
START_TEST(where_the_kernel_cant_stop_it_a_process_does)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_HARDWARE, "1");

    fake_tracefs_fail("instances/*/events/sched/sched_process_exit/trigger", EINVAL);
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EOPNOTSUPP);
    assert_reason(-EOPNOTSUPP, "interrupts would stay off if headroom were killed, as the kernel");
    assert_restored();
    hr_osnoise_close(osnoise);

    begin_mode(HR_OSNOISE_WORKLOAD, "1");
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), 0); /* there is one */
    ck_assert_int_eq(hr_osnoise_end(osnoise, &reason), 0);
    ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
    assert_restored();
}
END_TEST

/* The run of headroom_osnoise_1_2, which has set the runtime. */
static void write_state_of_another_boot(void)
{
    tree_write(tree, "osnoise.state", "%s",
               "headroom's osnoise state 2\n"
               "boot_id 6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11\n"
               "pid 1\npid_namespace 0\ninstance headroom_osnoise_1_2\n"
               "runtime_us 10000 was 1000000\nend\n");
}

/* Maybe with another kernel, without the tracer. */
START_TEST(a_state_of_before_the_last_boot_is_removed)
{
    write_state_of_another_boot();
    if (_i == 0)
        tree_remove(tree, FAKE_TRACEFS);
    else
        fake_tracefs_set("osnoise/runtime_us", "10000\n"); /* by another program since */
    ck_assert_int_eq(hr_osnoise_left_behind(root, state_path, &reason), 0);
    ck_assert_str_eq(reason.text, "");
    ck_assert_msg(hr_osnoise_recover(root, state_path, &reason) == 0, "%s", reason.text);
    ck_assert_str_eq(reason.text, "");
    ck_assert_int_ne(access(state_path, F_OK), 0);
    if (_i == 1)
        ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");
}
END_TEST

/* As a container may have, of this boot nevertheless. */
START_TEST(a_state_with_another_boot_id_counts_while_its_instance_is_there)
{
    struct hr_osnoise_options options = options_of(HR_OSNOISE_WORKLOAD, "1");

    write_state_of_another_boot();
    fake_tracefs_add_instance("headroom_osnoise_1_2");
    fake_tracefs_set("instances/headroom_osnoise_1_2/current_tracer", "osnoise\n");
    fake_tracefs_set("osnoise/runtime_us", "10000\n");
    const int lock = lock_instance("headroom_osnoise_1_2");
    ck_assert_int_eq(hr_osnoise_left_behind(root, state_path, &reason), 1);
    ck_assert_int_eq(hr_osnoise_recover(root, state_path, &reason), -EBUSY);
    assert_reason(-EBUSY, "runs the tracer with the same state file");
    open_run(&options);
    ck_assert_int_eq(hr_osnoise_begin(osnoise, &reason), -EBUSY);
    ck_assert_int_eq(access(state_path, F_OK), 0);
    ck_assert_str_eq(fake_tracefs_get("osnoise/runtime_us"), "10000\n");

    close(lock);
    ck_assert_int_eq(hr_osnoise_left_behind(root, state_path, &reason), -ESTALE);
    ck_assert_msg(hr_osnoise_recover(root, state_path, &reason) == 0, "%s", reason.text);
    ck_assert(!fake_tracefs_has("instances/headroom_osnoise_1_2"));
    assert_restored();
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

int main(void)
{
    TCase *tests = new_run_tests("osnoise run");

    tcase_add_test(tests, workload_is_set_up_and_everything_put_back);
    tcase_add_test(tests, hardware_switches_interrupts_off);
    tcase_add_test(tests, timers_are_set_up_and_everything_put_back);
    tcase_add_test(tests, the_timers_of_one_that_was_killed_are_stopped);
    tcase_add_test(tests, sources_run_no_workload);
    tcase_add_test(tests, cpus_that_the_machine_lacks_are_offline);
    tcase_add_loop_test(tests, long_lists_of_cpus, 0, 2);
    tcase_add_loop_test(tests, buffers_are_as_large_as_periods_are_short, 0, 2);
    tcase_add_loop_test(tests, words_choose_of_the_cpus_that_there_are, 0, 5);
    tcase_add_loop_test(tests, a_word_that_chooses_none_is_refused_with_the_remedy, 0, 2);
    tcase_add_loop_test(tests, isolated_cpus_that_arent_named_are_left_alone, 0, 7);
    tcase_add_test(tests, reads_on_other_cpus_than_it_measures);
    tcase_add_test(tests, reads_where_it_gets_time);
    tcase_add_loop_test(tests, reads_anywhere_if_it_measures_all, 0, 2);
    tcase_add_loop_test(tests, whatever_fails_nothing_is_left, 0, 4);
    tcase_add_test(tests, without_a_place_for_the_state_nothing_begins);
    tcase_add_loop_test(tests, a_dead_predecessor_is_recovered, 0, 2);
    tcase_add_test(tests, the_workload_of_one_that_was_killed_is_stopped);
    tcase_add_test(tests, interrupts_stay_on_where_nothing_switches_them_on_again);
    tcase_add_test(tests, where_the_kernel_cant_stop_it_a_process_does);
    tcase_add_loop_test(tests, a_state_of_before_the_last_boot_is_removed, 0, 2);
    tcase_add_test(tests, a_state_with_another_boot_id_counts_while_its_instance_is_there);
    tcase_add_test(tests, a_state_that_isnt_understood_stops);
    return run_suite("osnoise run", tests);
}
