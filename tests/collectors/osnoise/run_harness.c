/* SPDX-License-Identifier: MIT */
#include "collectors/osnoise/run_harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "support/fake_tracefs.h"

struct tree *tree;
struct hr_root *root;
struct hr_reason reason;
struct hr_osnoise *osnoise;
struct hr_osnoise_reading reading;
struct hr_cpu_set tested_cpus, occupied_cpus;
char state_path[256], instance[96], settings_before[4096];

int __wrap_hr_osnoise_find_reachable_cpus(const struct hr_cpu_set *cpus, uint64_t timeout_ns,
                                          struct hr_cpu_set *reachable);

/* However busy this machine is: see check_osnoise_reachable_cpus. */
int __wrap_hr_osnoise_find_reachable_cpus(const struct hr_cpu_set *cpus, uint64_t timeout_ns,
                                          struct hr_cpu_set *reachable)
{
    ck_assert_uint_ge(timeout_ns, HR_NS_PER_S);
    tested_cpus = *cpus;
    *reachable = *cpus;
    hr_cpu_set_remove(reachable, &occupied_cpus);
    return 0;
}

/* --- Each test ------------------------------------------------------------ */

static void set_up(void)
{
    tree = tree_new();
    fake_tracefs_begin(tree, 4);
    tree_write(tree, "sys/devices/system/cpu/possible", "0-3\n");
    fake_tracefs_set("osnoise/cpus", "0-3\n");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    snprintf(state_path, sizeof(state_path), "%s/osnoise.state", tree_path(tree));
    instance[0] = '\0';
    snprintf(settings_before, sizeof(settings_before), "%s", list_settings());
    osnoise = NULL;
    occupied_cpus = (struct hr_cpu_set){0};
}

static void tear_down(void)
{
    hr_osnoise_close(osnoise);
    hr_root_close(root);
    fake_tracefs_end();
    tree_free(tree);
}

TCase *new_run_tests(const char *name)
{
    TCase *tests = tcase_create(name);

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    return tests;
}

/* --- The run -------------------------------------------------------------- */

struct hr_osnoise_options options_of(enum hr_osnoise_mode mode, const char *cpus)
{
    struct hr_osnoise_options options = {
        .mode = mode,
        .period_us = 1000000,
        .runtime_us = 10000,
        .threshold_us = 1,
        .timerlat = hr_osnoise_defaults.timerlat,
        .max_duty_pct = 10,
        .state_path = state_path,
    };

    if (cpus[0] != '\0')
        ck_assert_int_eq(hr_cpu_choice_parse(cpus, &options.cpus), 0);
    return options;
}

void open_run(const struct hr_osnoise_options *options)
{
    ck_assert_msg(hr_osnoise_open(root, options, &osnoise, &reason) == 0, "%s", reason.text);
}

static bool has_run(pid_t pid)
{
    char pattern[64];

    snprintf(pattern, sizeof(pattern), "headroom_osnoise_%d_*", (int)pid);
    return fake_tracefs_find_instance(pattern, instance, sizeof(instance));
}

void find_instance(pid_t pid)
{
    ck_assert_msg(has_run(pid), "process %d has no instance", (int)pid);
}

void begin_run(const struct hr_osnoise_options *options)
{
    open_run(options);
    ck_assert_msg(hr_osnoise_begin(osnoise, &reason) == 0, "%s", reason.text);
    find_instance(getpid());
}

void begin_mode(enum hr_osnoise_mode mode, const char *cpus)
{
    struct hr_osnoise_options options = options_of(mode, cpus);

    begin_run(&options);
}

void read_run(void)
{
    ck_assert_msg(hr_osnoise_read(osnoise, &reading, &reason) == 0, "%s", reason.text);
}

/* --- Other runs ----------------------------------------------------------- */

int lock_instance(const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/" FAKE_TRACEFS "/instances/%s/tracing_on", tree_path(tree),
             name);
    int lock = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(lock, 0);
    ck_assert_int_eq(flock(lock, LOCK_EX | LOCK_NB), 0);
    return lock;
}

/* --- What it has done ----------------------------------------------------- */

const char *list_settings(void)
{
    static const char *const files[] = {
        "osnoise/cpus",        "osnoise/period_us",       "osnoise/runtime_us",
        "osnoise/options",     "osnoise/stop_tracing_us", "osnoise/stop_tracing_total_us",
        "tracing_thresh",      "current_tracer",          "osnoise/timerlat_period_us",
        "osnoise/print_stack",
    };
    static char list[4096];
    size_t length = 0;

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s=%s", files[i],
                                   fake_tracefs_get(files[i]));
    return list;
}

void assert_restored(void)
{
    ck_assert_str_eq(list_settings(), settings_before);
    ck_assert_msg(instance[0] == '\0' || !fake_tracefs_has(instance), "%s is left", instance);
    ck_assert_msg(!has_run(getpid()), "%s is left", instance);
    ck_assert_int_ne(access(state_path, F_OK), 0);
}

void assert_reason(int error, const char *part)
{
    ck_assert_int_eq(reason.error, error);
    ck_assert_msg(strstr(reason.text, part) != NULL, "'%s' isn't in: %s", part, reason.text);
}

const char *instance_file(const char *file)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", instance, file);
    return fake_tracefs_get(path);
}
