/* SPDX-License-Identifier: MIT */
/*
 * osnoise/check_osnoise_state.c - the state file: what a run must restore, for any process that
 * finds it, whatever happened to it and to its writer.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "osnoise/state.h"
#include "support/suite.h"

#define INSTANCE "headroom_osnoise_1"

static bool has_namespaces = true;

/* Takes the place of libc's. Without CONFIG_PID_NS a kernel has no such file. */
int stat(const char *file, struct stat *info)
{
    if (!has_namespaces && strcmp(file, "/proc/self/ns/pid") == 0) {
        errno = ENOENT;
        return -1;
    }
    return fstatat(AT_FDCWD, file, info, 0);
}

static char directory[64], path[128], new_path[160];
static struct hr_osnoise_state state;

static void set_up(void)
{
    snprintf(directory, sizeof(directory), "/tmp/check_osnoise_state.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/osnoise.state", directory);
    snprintf(new_path, sizeof(new_path), "%s.new", path);
    state = (struct hr_osnoise_state){.instance = INSTANCE};
    ck_assert_int_eq(hr_osnoise_state_sign(&state), 0);
    for (int i = 0; i < HR_OSNOISE_SETTING_COUNT; i++)
        state.ours.has[i] = state.original.has[i] = true;
    hr_cpu_set_add(&state.ours.cpus, 2);
    for (unsigned cpu = 0; cpu < 8; cpu++)
        hr_cpu_set_add(&state.original.cpus, cpu);
    state.ours.numbers[HR_OSNOISE_RUNTIME] = 10000;
    state.original.numbers[HR_OSNOISE_RUNTIME] = UINT64_MAX;
    state.ours.numbers[HR_OSNOISE_OPTION_IRQ_DISABLE] = 1;
    state.original.numbers[HR_OSNOISE_OPTION_WORKLOAD] = 1;
}

static void tear_down(void)
{
    unlink(path);
    unlink(new_path);
    ck_assert_int_eq(rmdir(directory), 0); /* nothing else is in it */
}

static void assert_same(const struct hr_osnoise_state *a, const struct hr_osnoise_state *b)
{
    ck_assert_str_eq(a->boot_id, b->boot_id);
    ck_assert_int_eq(a->pid, b->pid);
    ck_assert_uint_eq(a->pid_namespace, b->pid_namespace);
    ck_assert_str_eq(a->instance, b->instance);
    ck_assert_mem_eq(&a->ours, &b->ours, sizeof(a->ours));
    ck_assert_mem_eq(&a->original, &b->original, sizeof(a->original));
}

static size_t get(char *text, size_t size)
{
    FILE *stream = fopen(path, "r");

    ck_assert_ptr_nonnull(stream);
    size_t length = fread(text, 1, size - 1, stream);
    fclose(stream);
    text[length] = '\0';
    return length;
}

static void put(const char *text, size_t length)
{
    FILE *stream = fopen(path, "w");

    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(text, 1, length, stream), length);
    fclose(stream);
    ck_assert_int_eq(chmod(path, 0600), 0);
}

/* --- The text ------------------------------------------------------------- */

START_TEST(reads_what_it_wrote)
{
    struct hr_osnoise_state again;
    struct stat stat_of;

    ck_assert_int_eq(hr_osnoise_state_read(path, &again), -ENOENT);
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), 0);
    assert_same(&state, &again);
    ck_assert_int_eq(stat(path, &stat_of), 0);
    ck_assert_uint_eq(stat_of.st_mode & 0777, 0600);
    ck_assert_int_ne(access(new_path, F_OK), 0);
    /* another in its place, with fewer settings and no CPUs */
    state.ours = state.original = (struct hr_osnoise_settings){.has = {[HR_OSNOISE_CPUS] = true}};
    strcpy(state.instance, INSTANCE "_15");
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), 0);
    assert_same(&state, &again);
    ck_assert_int_eq(hr_osnoise_state_remove(path), 0);
    ck_assert_int_eq(hr_osnoise_state_remove(path), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), -ENOENT);
}
END_TEST

/* The longest lists that there are. */
START_TEST(keeps_long_lists)
{
    struct hr_osnoise_state again;

    state.ours.cpus = state.original.cpus = (struct hr_cpu_set){0};
    for (unsigned cpu = 0; cpu + 1 < HR_CPU_MAX; cpu += 3) {
        hr_cpu_set_add(&state.ours.cpus, cpu);
        hr_cpu_set_add(&state.ours.cpus, cpu + 1);
        hr_cpu_set_add(&state.original.cpus, cpu + 1);
    }
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), 0);
    assert_same(&state, &again);
}
END_TEST

START_TEST(one_that_is_cut_off_is_none)
{
    struct hr_osnoise_state again = {.pid = 4711};
    char text[4096];

    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0);
    size_t length = get(text, sizeof(text));
    ck_assert_int_eq(hr_osnoise_state_parse(text, length, &again), 0);
    again.pid = 4711;
    for (size_t cut = 0; cut < length; cut++)
        ck_assert_int_eq(hr_osnoise_state_parse(text, cut, &again), -EBADMSG);
    text[length] = '\n';
    ck_assert_int_eq(hr_osnoise_state_parse(text, length + 1, &again), -EBADMSG);
    ck_assert_int_eq(again.pid, 4711);
    put(text, length / 2);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), -EBADMSG);
}
END_TEST

/* Part of a good text, and what it is replaced by. */
static const struct {
    const char *good, *bad;
} wrong[] = {
    {"state 2", "state 3"},
    {"headroom's", "something else's"},
    {"boot_id ", "boot_id x"},
    {"pid_namespace", "namespace"},
    {"pid 4711", "pid -4711"},
    {"pid 4711", "pid 0"},
    {"pid 4711", "pid 4294967297"},
    {"instance " INSTANCE, "instance .."},
    {"instance " INSTANCE, "instance ../per_cpu"},
    {"instance " INSTANCE, "instance a b"},
    {"instance " INSTANCE, "instance "},
    {"instance " INSTANCE, "instance "
                           "0123456789012345678901234567890123456789012345678901234567890123"},
    {"instance " INSTANCE "\n", ""},
    {"instance " INSTANCE, "instance headroom-1"},
    {"instance " INSTANCE, "instance headroom_osnoise_"},
    {"instance " INSTANCE, "instance headroom_osnoise_/../rtla"},
    {"instance " INSTANCE, "instance " INSTANCE "a"},
    {"instance " INSTANCE, "instance rtla_osnoise_1"},
    {"instance " INSTANCE, "instance "
                           "headroom_osnoise_01234567890123456789012345678901234567890123456"},
    {"cpus 2 was 0-7", "cpus 2 was 0-8192"},
    {"cpus 2 was 0-7", "cpus 2 was "},
    {"cpus 2 was 0-7", "cpus 2"},
    {"runtime_us 10000", "runtime_us 18446744073709551616"},
    {"runtime_us 10000", "runtime_us -1"},
    {"OSNOISE_WORKLOAD off", "OSNOISE_WORKLOAD maybe"},
    {"OSNOISE_IRQ_DISABLE", "OSNOISE_OTHER"},
    {"tracing_thresh 0 was 0\n", "tracing_thresh 0 was 0\ntracing_thresh 0 was 0\n"},
};

START_TEST(refuses_other_text)
{
    struct hr_osnoise_state again = {.pid = 42};
    char text[4096], bad[4096];

    state.pid = 4711;
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0);
    get(text, sizeof(text));
    char *at = strstr(text, wrong[_i].good);
    ck_assert_msg(at != NULL, "%s", wrong[_i].good);
    snprintf(bad, sizeof(bad), "%.*s%s%s", (int)(at - text), text, wrong[_i].bad,
             at + strlen(wrong[_i].good));
    ck_assert_msg(hr_osnoise_state_parse(bad, strlen(bad), &again) == -EBADMSG, "%s", bad);
    ck_assert_int_eq(again.pid, 42);
}
END_TEST

/* What couldn't be read back isn't written. */
START_TEST(refuses_to_write_what_it_could_not_read)
{
    strcpy(state.instance, "../x");
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), -EINVAL);
    state.instance[0] = '\0';
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), -EINVAL);
    strcpy(state.instance, INSTANCE);
    state.boot_id[0] = '\0';
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), -EINVAL);
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

/* --- The file ------------------------------------------------------------- */

START_TEST(only_its_owner_may_have_written_it)
{
    static const mode_t modes[] = {0620, 0602, 0666};
    struct hr_osnoise_state again = {.pid = 42};

    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(chmod(path, modes[i]), 0);
        ck_assert_int_eq(hr_osnoise_state_read(path, &again), -EPERM);
    }
    ck_assert_int_eq(chmod(path, 0644), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path, 65534, 0), 0);
        ck_assert_int_eq(hr_osnoise_state_read(path, &again), -EPERM);
    }
}
END_TEST

START_TEST(follows_no_link)
{
    struct hr_osnoise_state again;
    char other[128];

    snprintf(other, sizeof(other), "%s/other", directory);
    ck_assert_int_eq(hr_osnoise_state_write(other, &state), 0);
    ck_assert_int_eq(symlink(other, path), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), -EPERM);
    state.pid++;
    ck_assert_int_eq(symlink(other, new_path), 0);
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0); /* replaces both links */
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), 0);
    ck_assert_int_eq(again.pid, state.pid);
    ck_assert_int_eq(hr_osnoise_state_read(other, &again), 0);
    ck_assert_int_eq(again.pid, state.pid - 1);
    ck_assert_int_eq(hr_osnoise_state_remove(other), 0);
}
END_TEST

/* Neither a FIFO, whose open would block, nor a directory. */
START_TEST(reads_nothing_but_files)
{
    struct hr_osnoise_state again;

    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), -EPERM);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), -EPERM);
    ck_assert_int_lt(hr_osnoise_state_write(path, &state), 0);
    ck_assert_int_ne(access(new_path, F_OK), 0);
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

/* A predecessor died while it wrote. */
START_TEST(a_file_left_in_the_way_is_replaced)
{
    struct hr_osnoise_state again;

    int fd = open(new_path, O_WRONLY | O_CREAT, 0400);
    ck_assert_int_eq(write(fd, "headroom's osn", 14), 14);
    close(fd);
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &again), 0);
    assert_same(&state, &again);
}
END_TEST

START_TEST(needs_a_directory)
{
    char nowhere[128];

    snprintf(nowhere, sizeof(nowhere), "%s/none/state", directory);
    ck_assert_int_eq(hr_osnoise_state_write(nowhere, &state), -ENOENT);
    ck_assert_int_eq(hr_osnoise_state_read(nowhere, &state), -ENOENT);
    ck_assert_int_eq(hr_osnoise_state_remove(nowhere), 0);
}
END_TEST

/* --- Whose it is ---------------------------------------------------------- */

START_TEST(names_its_process)
{
    struct hr_osnoise_state read_again;
    char text[80], expected[80];

    ck_assert(hr_osnoise_state_is_own(&state));
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &read_again), 0);
    ck_assert(hr_osnoise_state_is_own(&read_again));
    hr_osnoise_state_print_process(&read_again, text, sizeof(text));
    snprintf(expected, sizeof(expected), "process %d", (int)getpid());
    ck_assert_str_eq(text, expected);

    /* The same number in a container. */
    state.pid_namespace--;
    ck_assert(!hr_osnoise_state_is_own(&state));
    hr_osnoise_state_print_process(&state, text, sizeof(text));
    snprintf(expected, sizeof(expected), "process %d of the PID namespace %" PRIu64, (int)getpid(),
             state.pid_namespace);
    ck_assert_str_eq(text, expected);

    state.pid_namespace++;
    state.pid++;
    ck_assert(!hr_osnoise_state_is_own(&state));
}
END_TEST

/* The same process, but before the machine was started. */
START_TEST(nothing_outlives_the_boot)
{
    ck_assert(!hr_osnoise_state_is_past(&state));
    state.boot_id[0] = state.boot_id[0] == '0' ? '1' : '0';
    ck_assert(hr_osnoise_state_is_past(&state));
}
END_TEST

#define COUNT(table) (int)(sizeof(table) / sizeof((table)[0]))

START_TEST(a_kernel_without_pid_namespaces)
{
    has_namespaces = false;
    ck_assert_int_eq(hr_osnoise_state_sign(&state), 0);
    ck_assert_uint_eq(state.pid_namespace, 0);
    ck_assert(hr_osnoise_state_is_own(&state));
    ck_assert_int_eq(hr_osnoise_state_write(path, &state), 0);
    ck_assert_int_eq(hr_osnoise_state_read(path, &state), 0);
    has_namespaces = true;
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("osnoise_state");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, reads_what_it_wrote);
    tcase_add_test(tests, keeps_long_lists);
    tcase_add_test(tests, one_that_is_cut_off_is_none);
    tcase_add_loop_test(tests, refuses_other_text, 0, COUNT(wrong));
    tcase_add_test(tests, refuses_to_write_what_it_could_not_read);
    tcase_add_test(tests, only_its_owner_may_have_written_it);
    tcase_add_test(tests, follows_no_link);
    tcase_add_test(tests, reads_nothing_but_files);
    tcase_add_test(tests, a_file_left_in_the_way_is_replaced);
    tcase_add_test(tests, needs_a_directory);
    tcase_add_test(tests, names_its_process);
    tcase_add_test(tests, nothing_outlives_the_boot);
    tcase_add_test(tests, a_kernel_without_pid_namespaces);
    return run_suite("osnoise_state", tests);
}
