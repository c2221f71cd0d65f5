/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_plugin_psi_life.c - start and shutdown of the plugin psi, and kernels that lack
 * a system call.
 */
#include "support/plugin_harness.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "support/suite.h"

const char *const harness_plugin = "psi";

/* --- Start and shutdown --------------------------------------------------- */

START_TEST(begins_once_though_asked_twice)
{
    tree_add_group(tree, "a", true);
    harness_begin("Cgroup \"*\"");
    ck_assert_int_eq(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 1);
    harness_read();
    ck_assert_int_eq(fake_init(), 0);
    harness_read();
    harness_assert_count("psi-a/*", 12);
    harness_assert_logs(0, NULL);
}
END_TEST

START_TEST(fails_to_begin_without_its_root)
{
    char text[128];

    tree_add_directory(tree, "host");
    snprintf(text, sizeof(text), "<Plugin psi>\nRoot \"%s/host\"\n</Plugin>", tree_path(tree));
    ck_assert_int_eq(fake_configure(text), 0);
    tree_remove(tree, "host");
    ck_assert_int_ne(fake_init(), 0);
    ck_assert_uint_eq(fake_read_callbacks(), 0);
    snprintf(text, sizeof(text),
             "error: psi: can't use %s/host as root directory: ", tree_path(tree));
    harness_assert_logs(1, text);
}
END_TEST

START_TEST(runs_without_any_configuration)
{
    ck_assert_int_eq(fake_init(), 0);
    harness_read();
    harness_read();
    if (access("/proc/pressure/io", R_OK) == 0)
        harness_assert_count("psi-system/*-io-*", 4);
}
END_TEST

START_TEST(warns_if_there_is_nothing_to_do)
{
    harness_begin("System false");
    harness_read();
    harness_assert_count("*", 0);
    harness_assert_logs(1, "warning: psi: there is nothing to sample");
}
END_TEST

START_TEST(ends_before_it_began)
{
    ck_assert_int_eq(fake_configure("<Plugin psi>\nCgroup \"a\" \"b\"\n<Cgroup \"c\">\n"
                                    "Instance \"%l\"\n</Cgroup>\n</Plugin>"),
                     0);
}
END_TEST

START_TEST(exports_one_symbol)
{
    harness_assert_exports_one_symbol();
}
END_TEST

/* --- Other kernels -------------------------------------------------------- */

/* From now on a system call fails, for the rest of the process. */
static void make_fail(unsigned call, unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = COUNT(filter), .filter = filter};

    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* With psi=0 newer kernels have none of the files, not even a folder for them. */
static const char *const without_pressure[] = {
    "",
    "Cgroup \"g\"\nSystem false",
    "Cgroup \"g\"\nResource \"cpu\" \"memory\" \"io\" \"irq\"",
    "Resource \"irq\"",
    "Cgroup \"g\"\nResource \"irq\"\nSystem false",
};

START_TEST(reports_once_that_there_is_no_pressure_at_all)
{
    static const char *const resources[] = {"cpu", "memory", "io"};

    tree_add_group(tree, "g", true);
    for (size_t i = 0; i < COUNT(resources); i++)
        tree_remove_pressure(tree, "g", resources[i]);
    tree_remove(tree, "proc/pressure");
    harness_begin(without_pressure[_i]);
    for (int i = 0; i < 3; i++) {
        harness_read();
        harness_assert_count("*", 0);
    }
    harness_assert_logs(1, "add psi=1 to the kernel's command line");
}
END_TEST

/* With psi=0 older kernels have the files, but they can't be read. */
START_TEST(reports_once_that_the_kernel_has_pressure_switched_off)
{
    harness_begin("");
    make_fail(SYS_pread64, EOPNOTSUPP);
    for (int i = 0; i < 3; i++) {
        harness_read();
        harness_assert_count("*", 0);
    }
    ck_assert_uint_eq(fake_logs(LOG_WARNING, "cpu, memory, io pressure of the system"), 1);
    harness_assert_logs(1, "psi=1");
}
END_TEST

/* A root other than "/" needs openat2(2), and thus Linux 5.6. A log line must say so, at the start
 * or when nothing can be read. */
START_TEST(reports_that_a_root_needs_a_later_kernel)
{
    char text[128];

    make_fail(SYS_openat2, ENOSYS);
    snprintf(text, sizeof(text), "<Plugin psi>\nRoot \"%s\"\n</Plugin>", tree_path(tree));
    if (fake_configure(text) == 0 && fake_init() == 0) {
        harness_read();
        harness_read();
    }
    harness_assert_count("*", 0);
    harness_assert_logs(1, "5.6");
}
END_TEST

/* The root isn't to blame for a lack of descriptors. */
START_TEST(a_shortage_is_reported_as_that)
{
    char text[128];

    snprintf(text, sizeof(text), "<Plugin psi>\nRoot \"%s\"\n</Plugin>", tree_path(tree));
    ck_assert_int_eq(fake_configure(text), 0);
    make_fail(SYS_openat2, EMFILE);
    ck_assert_int_ne(fake_init(), 0);
    ck_assert_str_eq(fake_log(0),
                     "error: psi: can't start: Too many open files: raise LimitNOFILE= "
                     "of collectd's service (ulimit -n).");
    harness_assert_logs(1, "LimitNOFILE");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("life");

    tcase_add_checked_fixture(tests, harness_set_up, harness_tear_down);
    tcase_add_test(tests, begins_once_though_asked_twice);
    tcase_add_test(tests, fails_to_begin_without_its_root);
    tcase_add_test(tests, runs_without_any_configuration);
    tcase_add_test(tests, warns_if_there_is_nothing_to_do);
    tcase_add_test(tests, ends_before_it_began);
    tcase_add_test(tests, exports_one_symbol);
    tcase_add_loop_test(tests, reports_once_that_there_is_no_pressure_at_all, 0,
                        COUNT(without_pressure));
    tcase_add_test(tests, reports_once_that_the_kernel_has_pressure_switched_off);
    tcase_add_test(tests, a_shortage_is_reported_as_that);
    tcase_add_test(tests, reports_that_a_root_needs_a_later_kernel);
    return run_isolated_suite("plugin life", tests);
}
