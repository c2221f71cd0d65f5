/* SPDX-License-Identifier: MIT */
/*
 * collectors/psi/check_psi.c - pressure files: parsing, the interval between two samples, and each
 * way in which a file can be missing.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/psi.h"
#include "headroom/root.h"
#include "psi/file.h"
#include "support/descriptor_shortage.h"
#include "support/one_group.h"
#include "support/suite.h"
#include "support/tree.h"

/* --- The text of captured files ------------------------------------------- */

static const struct {
    const char *file;
    struct hr_psi_stall some, full;
} captured[] = {
    {"4.20-no-cpu-full/cpu", {true, 1.57, 0.93, 0.41, 8846013}, {0}},
    {"4.20-no-cpu-full/memory", {true, 0, 0.12, 0.08, 311377}, {true, 0, 0.05, 0.03, 198006}},
    {"4.20-no-cpu-full/io", {true, 12.3, 8.51, 3.77, 91552804}, {true, 9.8, 6.02, 2.61, 73310955}},
    {"5.13-cpu-full/cpu", {true, 99.51, 41.07, 10.99, 172890411}, {true, 0, 0, 0, 0}},
    {"5.13-cpu-full/memory", {true, 0, 0, 0, 0}, {true, 0, 0, 0, 0}},
    {"5.13-cpu-full/io", {true, 0.18, 0.55, 0.26, 4421907}, {true, 0.09, 0.31, 0.15, 2873110}},
    {"6.1-irq/cpu", {true, 3.01, 2.17, 1.88, 40012259}, {true, 0, 0, 0, 0}},
    {"6.1-irq/irq", {0}, {true, 0.36, 0.24, 0.19, 2210845}},
    {"6.1-irq/memory", {true, 0, 0, 0, 77}, {true, 0, 0, 0, 31}},
    {"6.1-irq/io", {true, 0, 0.02, 0, 600213}, {true, 0, 0.01, 0, 512004}},
};

static void assert_stall(const struct hr_psi_stall *is, const struct hr_psi_stall *expected)
{
    ck_assert_int_eq(is->present, expected->present);
    ck_assert_double_eq_tol(is->avg10_pct, expected->avg10_pct, 1e-9);
    ck_assert_double_eq_tol(is->avg60_pct, expected->avg60_pct, 1e-9);
    ck_assert_double_eq_tol(is->avg300_pct, expected->avg300_pct, 1e-9);
    ck_assert_uint_eq(is->total_us, expected->total_us);
}

static size_t read_fixture(const char *file, char *buffer, size_t size)
{
    const char *directory = getenv("srcdir");
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/fixtures/psi/%s", directory ? directory : ".", file);
    FILE *stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s: %s", path, strerror(errno));
    size_t length = fread(buffer, 1, size, stream);
    fclose(stream);
    return length;
}

START_TEST(parses_what_kernels_print)
{
    char text[512];
    size_t length = read_fixture(captured[_i].file, text, sizeof(text));
    struct hr_psi_sample sample;

    ck_assert_int_eq(hr_psi_parse(text, length, &sample), 0);
    assert_stall(&sample.stall[HR_PSI_SOME], &captured[_i].some);
    assert_stall(&sample.stall[HR_PSI_FULL], &captured[_i].full);
}
END_TEST

/* Every proper prefix of a file is refused, unless it ends with a complete line. */
START_TEST(refuses_every_truncation)
{
    char text[512];
    size_t length = read_fixture("5.13-cpu-full/io", text, sizeof(text));
    size_t line = (size_t)((char *)memchr(text, '\n', length) - text) + 1;
    struct hr_psi_sample sample;

    for (size_t cut = 1; cut < length; cut++)
        ck_assert_int_eq(hr_psi_parse(text, cut, &sample), cut == line ? 0 : -EBADMSG);
}
END_TEST

/* --- Text that no kernel prints today ------------------------------------- */

#define SOME "some avg10=1.00 avg60=2.00 avg300=3.00 total=4\n"
#define FULL "full avg10=5.00 avg60=6.00 avg300=7.00 total=8\n"

static const struct {
    const char *text;
    int status;
} odd[] = {
    {SOME FULL, 0},
    {FULL SOME, 0},
    {"future avg10=9.00\n" SOME, 0},
    {SOME "\n" FULL, 0},
    {"some avg10=0.00 avg60=0.00 avg300=0.00 total=18446744073709551615\n", 0},
    {"some avg10=0.00 avg60=0.00 avg300=0.00 total=18446744073709551616\n", -EBADMSG},
    {"some avg10=18446744073709551616.00 avg60=0.00 avg300=0.00 total=1\n", -EBADMSG},
    {"", -ENODATA},
    {"\n", -ENODATA},
    {"future avg10=9.00\n", -ENODATA},
    {"future", -EBADMSG},
    {SOME SOME, -EBADMSG},
    {SOME FULL SOME, -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00 total=4 \n", -EBADMSG},
    {"some new\n", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00 total=4 new=5", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00 total=4 new\n", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00 total=4 =5\n", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00 total=4  new=5\n", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00 total=4 new=5 \n", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00 total=4 total=5\n", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg60=2.00 avg300=3.00 total=4\n", -EBADMSG},
    {"some avg10=1.00new=5 avg60=2.00 avg300=3.00 total=4\n", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00 new=5\n" FULL, -EBADMSG}, /* not the next line's */
    {"some avg10=1.00 avg60=2.00 avg300=3.00 total=-4\n", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00 total=\n", -EBADMSG},
    {"some avg10=1.00 avg60=2.00 avg300=3.00\n", -EBADMSG},
    {"some avg10=1,00 avg60=2,00 avg300=3,00 total=4\n", -EBADMSG},
    {"some avg10=1.0 avg60=2.00 avg300=3.00 total=4\n", -EBADMSG},
    {"some avg10=1.000 avg60=2.00 avg300=3.00 total=4\n", -EBADMSG},
    {"some avg10=.00 avg60=2.00 avg300=3.00 total=4\n", -EBADMSG},
    {"some avg60=2.00 avg10=1.00 avg300=3.00 total=4\n", -EBADMSG},
    {"some  avg10=1.00 avg60=2.00 avg300=3.00 total=4\n", -EBADMSG},
    {"somewhat avg10=1.00 avg60=2.00 avg300=3.00 total=4\n", -ENODATA},
    {"somewhat avg10=1.00\n" SOME, 0},
    {"some \n", -EBADMSG},
};

START_TEST(distinguishes_odd_text)
{
    struct hr_psi_sample sample = {.time_ns = 4711};

    ck_assert_msg(hr_psi_parse(odd[_i].text, strlen(odd[_i].text), &sample) == odd[_i].status, "%s",
                  odd[_i].text);
    if (odd[_i].status < 0)
        ck_assert_uint_eq(sample.time_ns, 4711); /* unchanged */
}
END_TEST

/* A later kernel may have more fields, anywhere. */
static const char *const with_new_fields[] = {
    "some avg10=1.00 avg60=2.00 avg300=3.00 total=4 new=5\n" FULL,
    "some avg10=1.00 avg60=2.00 avg300=3.00 total=4 new=max more=\n" FULL,
    "some new=0.00 avg10=1.00 avg60=2.00 avg300=3.00 total=4\n" FULL,
    "some avg1=9.00 avg10=1.00 avg60=2.00 avg600=9.00 avg300=3.00 avg3000=9 total=4\n" FULL,
    FULL "some avg10=1.00 avg60=2.00 avg300=3.00 total_user=7 total=4 totals=9\n",
};

START_TEST(passes_over_fields_that_it_does_not_know)
{
    static const struct hr_psi_stall some = {true, 1, 2, 3, 4}, full = {true, 5, 6, 7, 8};
    const char *text = with_new_fields[_i];
    struct hr_psi_sample sample;

    ck_assert_int_eq(hr_psi_parse(text, strlen(text), &sample), 0);
    assert_stall(&sample.stall[HR_PSI_SOME], &some);
    assert_stall(&sample.stall[HR_PSI_FULL], &full);
}
END_TEST

START_TEST(takes_nul_bytes_for_junk)
{
    const char text[] = "some avg10=1.00 avg60=2.00 avg300=3.00 total=4\0\n";
    struct hr_psi_sample sample;

    ck_assert_int_eq(hr_psi_parse(text, sizeof(text) - 1, &sample), -EBADMSG);
}
END_TEST

START_TEST(clamps_averages)
{
    const char text[] = "some avg10=100.07 avg60=100.00 avg300=99.99 total=1\n";
    struct hr_psi_sample sample;

    ck_assert_int_eq(hr_psi_parse(text, strlen(text), &sample), 0);
    ck_assert(sample.stall[HR_PSI_SOME].avg10_pct == 100);
    ck_assert(sample.stall[HR_PSI_SOME].avg60_pct == 100);
    ck_assert(sample.stall[HR_PSI_SOME].avg300_pct < 100);
}
END_TEST

/* --- Intervals ------------------------------------------------------------ */

static const struct {
    uint64_t from_ns, from_us, to_ns, to_us;
    int status;
    double pct;
} intervals[] = {
    {1, 0, 1000000001, 500000, 0, 50},
    {1, 500000, 1000000001, 500000, 0, 0},
    {1, 500000, 10000000001, 500001, 0, 0.00001},
    {1, 0, 1000000001, 1000400, 0, 100}, /* slightly more than the time */
    {1, UINT64_MAX - 250000, 1000000001, UINT64_MAX, 0, 25},
    {1, 0, UINT64_MAX, UINT64_MAX / 1000, 0, 100},
    {1, 500000, 1000000001, 499999, -ENODATA, 0},
    {5, 0, 5, 10, -ENODATA, 0},
    {5, 0, 4, 10, -ENODATA, 0},
};

START_TEST(measures_intervals)
{
    struct hr_psi_sample before = {0}, after = {0};
    double pct = -1;

    before.time_ns = intervals[_i].from_ns;
    before.stall[HR_PSI_FULL] = (struct hr_psi_stall){true, 0, 0, 0, intervals[_i].from_us};
    after.time_ns = intervals[_i].to_ns;
    after.stall[HR_PSI_FULL] = (struct hr_psi_stall){true, 0, 0, 0, intervals[_i].to_us};
    ck_assert_int_eq(hr_psi_delta(&before, &after, HR_PSI_FULL, &pct), intervals[_i].status);
    if (intervals[_i].status == 0)
        ck_assert_double_eq_tol(pct, intervals[_i].pct, 1e-9);
    else
        ck_assert(pct == -1);
    ck_assert_int_eq(hr_psi_delta(&before, &after, HR_PSI_SOME, &pct), -ENODATA);
}
END_TEST

/* --- Files ---------------------------------------------------------------- */

static struct tree *tree;
static struct hr_root *root;
static const struct hr_psi_options every_resource = {.resources = {true, true, true, true}};

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_root_close(root);
    tree_free(tree);
}

/* Opens, reads once, and closes. */
static int read_system(struct hr_psi_snapshot *snapshot)
{
    struct hr_psi *psi;

    ck_assert_int_eq(hr_psi_open_system(root, &every_resource, &psi), 0);
    int status = hr_psi_read(psi, snapshot);
    hr_psi_close(psi);
    return status;
}

START_TEST(reads_the_system)
{
    struct hr_psi_snapshot snapshot;

    tree_pressure(tree, NULL, "cpu", 100, 0);
    tree_pressure(tree, NULL, "memory", 200, 20);
    tree_pressure(tree, NULL, "io", 300, 30);
    tree_write(tree, "proc/pressure/irq", "%s", FULL);
    ck_assert_int_eq(read_system(&snapshot), 0);
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++) {
        ck_assert_int_eq(snapshot.status[i], 0);
        ck_assert_uint_gt(snapshot.sample[i].time_ns, 0);
    }
    ck_assert_uint_eq(snapshot.sample[HR_PSI_CPU].stall[HR_PSI_SOME].total_us, 100);
    ck_assert(!snapshot.sample[HR_PSI_CPU].stall[HR_PSI_FULL].present);
    ck_assert_uint_eq(snapshot.sample[HR_PSI_MEMORY].stall[HR_PSI_FULL].total_us, 20);
    ck_assert_uint_eq(snapshot.sample[HR_PSI_IO].stall[HR_PSI_SOME].total_us, 300);
    ck_assert(!snapshot.sample[HR_PSI_IRQ].stall[HR_PSI_SOME].present);
    ck_assert_uint_eq(snapshot.sample[HR_PSI_IRQ].stall[HR_PSI_FULL].total_us, 8);
}
END_TEST

START_TEST(reports_missing_files_of_the_system)
{
    struct hr_psi_snapshot snapshot;

    tree_remove(tree, "proc/pressure");
    ck_assert_int_eq(read_system(&snapshot), 0);
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        ck_assert_int_eq(snapshot.status[i], -ENOENT);
    tree_write(tree, "proc/pressure/memory", "nonsense\n");
    tree_write(tree, "proc/pressure/io", "some nonsense\n");
    ck_assert_int_eq(read_system(&snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], -ENOENT);
    ck_assert_int_eq(snapshot.status[HR_PSI_MEMORY], -ENODATA);
    ck_assert_int_eq(snapshot.status[HR_PSI_IO], -EBADMSG);
}
END_TEST

START_TEST(reads_only_what_is_asked_for)
{
    const struct hr_psi_options options = {.resources = {[HR_PSI_MEMORY] = true}};
    struct hr_psi_snapshot snapshot;
    struct hr_psi *psi;

    tree_pressure(tree, NULL, "memory", 200, 20);
    ck_assert_int_eq(hr_psi_open_system(root, &options, &psi), 0);
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_MEMORY], 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], -ECANCELED);
    hr_psi_close(psi);
}
END_TEST

/* A missing file isn't tried for a while, then found again. */
START_TEST(looks_again_after_a_while)
{
    static const uint64_t retries_ns[] = {UINT64_C(3600000000000), 1};
    struct hr_psi_options options = every_resource;
    struct hr_psi_snapshot snapshot;
    struct hr_psi *psi;

    options.retry_ns = retries_ns[_i];
    tree_remove(tree, "proc/pressure/io");
    ck_assert_int_eq(hr_psi_open_system(root, &options, &psi), 0);
    hr_psi_read(psi, &snapshot);
    ck_assert_int_eq(snapshot.status[HR_PSI_IO], -ENOENT);
    tree_pressure(tree, NULL, "io", 1, 1);
    usleep(1000);
    hr_psi_read(psi, &snapshot);
    ck_assert_int_eq(snapshot.status[HR_PSI_IO], _i == 0 ? -ENOENT : 0);
    hr_psi_close(psi);
}
END_TEST

START_TEST(reads_a_group)
{
    struct hr_psi_snapshot snapshot;
    struct hr_cgroup_set *set;
    struct hr_psi *psi;

    tree_add_group(tree, "a", true);
    tree_pressure(tree, "a", "cpu", 11, 12);
    tree_pressure(tree, "a", "io", 13, 14);
    struct hr_cgroup *group = one_group_open(root, "a", &set);
    ck_assert_int_eq(hr_psi_open_cgroup(group, &every_resource, &psi), 0);
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_uint_eq(snapshot.sample[HR_PSI_CPU].stall[HR_PSI_SOME].total_us, 11);
    ck_assert_uint_eq(snapshot.sample[HR_PSI_CPU].stall[HR_PSI_FULL].total_us, 12);
    ck_assert_uint_eq(snapshot.sample[HR_PSI_IO].stall[HR_PSI_FULL].total_us, 14);
    ck_assert_int_eq(snapshot.status[HR_PSI_IRQ], -ENOENT);

    /* a file that is kept open is read again */
    tree_pressure(tree, "a", "cpu", 21, 22);
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_uint_eq(snapshot.sample[HR_PSI_CPU].stall[HR_PSI_SOME].total_us, 21);
    hr_psi_close(psi);
    hr_cgroup_set_close(set);
}
END_TEST

START_TEST(distinguishes_a_group_switched_off_from_one_without_files)
{
    struct hr_psi_snapshot snapshot;
    struct hr_cgroup_set *set;
    struct hr_psi *psi;

    tree_add_group(tree, "a", true);
    for (int i = HR_PSI_CPU; i <= HR_PSI_IO; i++)
        tree_remove_pressure(tree, "a", hr_psi_resource_name(i));
    struct hr_cgroup *group = one_group_open(root, "a", &set);
    ck_assert_int_eq(hr_psi_open_cgroup(group, &every_resource, &psi), 0);
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], -ENOENT);
    tree_write(tree, "sys/fs/cgroup/a/cgroup.pressure", "0\n");
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], -EOPNOTSUPP);
    ck_assert_int_eq(snapshot.status[HR_PSI_IO], -EOPNOTSUPP);
    ck_assert_int_eq(snapshot.status[HR_PSI_IRQ], -ENOENT);
    tree_write(tree, "sys/fs/cgroup/a/cgroup.pressure", "1\n");
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], -ENOENT);
    hr_psi_close(psi);
    hr_cgroup_set_close(set);
}
END_TEST

START_TEST(detects_a_removed_group)
{
    struct hr_psi_snapshot snapshot;
    struct hr_cgroup_set *set;
    struct hr_psi *psi;

    tree_add_group(tree, "a", true);
    struct hr_cgroup *group = one_group_open(root, "a", &set);
    ck_assert_int_eq(hr_psi_open_cgroup(group, &every_resource, &psi), 0);
    tree_remove(tree, "sys/fs/cgroup/a");
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), -ENODEV);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], -ENODEV);
    hr_psi_close(psi);
    hr_cgroup_set_close(set);
}
END_TEST

/* With few descriptors left nothing is kept open, but everything is read. */
START_TEST(gets_by_with_descriptor_shortage)
{
    struct hr_psi_snapshot snapshot;
    struct hr_cgroup_set *set;
    struct hr_psi *psi;

    tree_add_group(tree, "a", true);
    tree_pressure(tree, "a", "memory", 7, 5);
    leave_descriptors(6);
    struct hr_cgroup *group = one_group_open(root, "a", &set);
    ck_assert_int_eq(group->dirfd, -1);
    ck_assert_uint_eq(hr_cgroup_set_counts(set).reopened, 1);
    int followed = count_descriptors(); /* inotify and the mount */
    ck_assert_int_eq(hr_psi_open_cgroup(group, &every_resource, &psi), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
        ck_assert_uint_eq(snapshot.sample[HR_PSI_MEMORY].stall[HR_PSI_FULL].total_us, 5);
        ck_assert_int_eq(snapshot.status[HR_PSI_CPU], 0);
        ck_assert_int_eq(count_descriptors(), followed);
    }
    hr_psi_close(psi);
    hr_cgroup_set_close(set);
}
END_TEST

START_TEST(reports_when_descriptors_ran_out)
{
    struct hr_psi_snapshot snapshot;
    struct hr_psi *psi;
    struct rlimit limit;

    leave_descriptors(0);
    ck_assert_int_eq(hr_psi_open_system(root, &every_resource, &psi), 0);
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], -EMFILE);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur += 64;
    setrlimit(RLIMIT_NOFILE, &limit);
    ck_assert_int_eq(hr_psi_read(psi, &snapshot), 0);
    ck_assert_int_eq(snapshot.status[HR_PSI_CPU], 0);
    hr_psi_close(psi);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("psi");

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, parses_what_kernels_print, 0, COUNT(captured));
    tcase_add_test(tests, refuses_every_truncation);
    tcase_add_loop_test(tests, distinguishes_odd_text, 0, COUNT(odd));
    tcase_add_loop_test(tests, passes_over_fields_that_it_does_not_know, 0, COUNT(with_new_fields));
    tcase_add_test(tests, takes_nul_bytes_for_junk);
    tcase_add_test(tests, clamps_averages);
    tcase_add_loop_test(tests, measures_intervals, 0, COUNT(intervals));
    tcase_add_test(tests, reads_the_system);
    tcase_add_test(tests, reports_missing_files_of_the_system);
    tcase_add_test(tests, reads_only_what_is_asked_for);
    tcase_add_loop_test(tests, looks_again_after_a_while, 0, 2);
    tcase_add_test(tests, reads_a_group);
    tcase_add_test(tests, distinguishes_a_group_switched_off_from_one_without_files);
    tcase_add_test(tests, detects_a_removed_group);
    tcase_add_test(tests, gets_by_with_descriptor_shortage);
    tcase_add_test(tests, reports_when_descriptors_ran_out);
    return run_suite("psi", tests);
}
