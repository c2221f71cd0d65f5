/* SPDX-License-Identifier: MIT */
/*
 * plugin/psi/check_psi_blame.c - who took the CPU: when groups are distinguished, what is removed
 * from the programs' maps, and what is logged. The programs are a stand-in.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/blame.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/pid_namespace.h"
#include "psi/blame.h"
#include "support/fake_collectd.h"
#include "support/suite.h"

enum { TOP = 1, WEB = 10, BACKUP = 20 };

static struct psi_blame *blame;
static struct hr_cgroup groups[2] = {{.id = WEB, .path = "web"}, {.id = BACKUP, .path = "backup"}};
static size_t group_count;

/* --- The stand-in --------------------------------------------------------- */

static int watch_error, read_error;
static size_t watched_count, measured_count, watches, reads, peeks;
static uint64_t first_id;
static uint64_t lost_ns, unsplit_ns;
static pthread_t opened_by, attached_by;
static bool is_contained;

bool hr_has_pids_of_kernel(void)
{
    return !is_contained;
}

int hr_blame_find_top(const struct hr_root *root, const char *controller, uint64_t *id)
{
    (void)root;
    (void)controller;
    *id = TOP;
    return 0;
}

int hr_blame_open(const struct hr_blame_options *options, struct hr_blame **programs,
                  struct hr_reason *reason)
{
    (void)options;
    (void)reason;
    opened_by = pthread_self();
    *programs = malloc(1);
    return 0;
}

void hr_blame_close(struct hr_blame *programs)
{
    free(programs);
}

int hr_blame_attach(struct hr_blame *programs, struct hr_reason *reason)
{
    (void)programs;
    (void)reason;
    attached_by = pthread_self();
    return 0;
}

void hr_blame_detach(struct hr_blame *programs)
{
    (void)programs;
}

int hr_blame_watch_first(struct hr_blame *programs, const uint64_t *ids, size_t count,
                         size_t measured)
{
    (void)programs;
    watches++;
    if (watch_error != 0)
        return watch_error;
    watched_count = count;
    measured_count = measured;
    first_id = count > 0 ? ids[0] : 0;
    return 0;
}

int hr_blame_watch(struct hr_blame *programs, const uint64_t *ids, size_t count)
{
    return hr_blame_watch_first(programs, ids, count, count);
}

static int read_matrix(struct hr_blame_matrix *matrix)
{
    matrix->count = 0;
    matrix->time_ns = hr_clock_ns();
    matrix->lost_ns = lost_ns;
    matrix->unsplit_ns = unsplit_ns;
    return read_error;
}

int hr_blame_read(struct hr_blame *programs, struct hr_blame_matrix *matrix)
{
    (void)programs;
    reads++;
    return read_matrix(matrix);
}

int hr_blame_peek(struct hr_blame *programs, struct hr_blame_matrix *matrix)
{
    (void)programs;
    peeks++;
    return read_matrix(matrix);
}

void hr_blame_explain(int status, struct hr_reason *reason)
{
    reason->error = status;
    strcpy(reason->text, "it failed: mend it");
}

struct hr_cgroup *hr_cgroup_set_next(struct hr_cgroup_set *set, const struct hr_cgroup *group)
{
    size_t next = group == NULL ? 0 : (size_t)(group - groups) + 1;

    (void)set;
    return next < group_count ? &groups[next] : NULL;
}

/* --- The test ------------------------------------------------------------- */

static void open_with(const struct psi_blame_options *options, bool of_system)
{
    blame = psi_blame_open(NULL, options, 100, of_system);
    ck_assert_ptr_nonnull(blame);
    while (!psi_blame_is_ready(blame))
        sched_yield();
}

static void open_blame(enum psi_blame_mode mode, bool of_system)
{
    open_with(&(struct psi_blame_options){.mode = mode}, of_system);
}

static void set_up(void)
{
    fake_start_parts();
    group_count = watched_count = measured_count = watches = reads = peeks = 0;
    lost_ns = unsplit_ns = 0;
    watch_error = read_error = 0;
    is_contained = false;
}

static void tear_down(void)
{
    psi_blame_close(blame);
    blame = NULL;
    fake_stop();
}

/* So many groups are there now. */
static void find_groups(size_t count)
{
    static size_t changes;

    group_count = count;
    psi_blame_update_groups(blame, NULL, ++changes);
}

static size_t samples;

static void note_sample(const struct hr_blame_matrix *interval, const struct psi_watched *watched,
                        void *context)
{
    (void)interval;
    (void)watched;
    (void)context;
    samples++;
}

static void sample(void)
{
    psi_blame_sample(blame, note_sample, NULL);
}

/* Loading takes tens of milliseconds: neither collectd's start nor what reads values is to have
 * them. */
START_TEST(test_a_thread_of_its_own_loads_the_programs)
{
    const bool always = _i == 1;

    opened_by = attached_by = pthread_self();
    open_blame(always ? PSI_BLAME_ALWAYS : PSI_BLAME_ALERT, false);
    ck_assert(!pthread_equal(opened_by, pthread_self()));
    ck_assert(pthread_equal(attached_by, always ? opened_by : pthread_self()));
}
END_TEST

START_TEST(test_new_groups_are_distinguished_before_the_next_sample)
{
    open_blame(PSI_BLAME_ALWAYS, false);
    psi_blame_watch_new(blame);
    ck_assert_uint_eq(watches, 0); /* none is known */
    find_groups(1);
    sample();
    ck_assert_uint_eq(watched_count, 1);
    psi_blame_watch_new(blame);
    ck_assert_uint_eq(watches, 1);
    find_groups(2);
    psi_blame_watch_new(blame);
    ck_assert_uint_eq(watched_count, 2);
    sample();
    ck_assert_uint_eq(watches, 2);
}
END_TEST

/* The programs cost nothing there as long as there is no alarm. */
START_TEST(test_for_alerts_groups_are_distinguished_when_there_is_one)
{
    open_blame(PSI_BLAME_ALERT, false);
    ck_assert(!psi_blame_has_series(blame));
    find_groups(2);
    psi_blame_watch_new(blame);
    ck_assert_uint_eq(watches, 0);
    struct psi_measurement *measurement = psi_blame_begin(blame, WEB);
    ck_assert_ptr_nonnull(measurement);
    ck_assert_uint_eq(watched_count, 2);
    psi_blame_end(blame, measurement, NULL);
}
END_TEST

static void expect_measured(size_t count, uint64_t first)
{
    ck_assert_uint_eq(measured_count, count);
    ck_assert_uint_eq(first_id, first);
}

/* As much of the CPUs' time as there is for it is for those; the others are distinguished as
 * takers. */
START_TEST(test_for_alerts_only_waits_of_their_groups_are_measured)
{
    struct psi_measurement *many[10];

    open_blame(PSI_BLAME_ALERT, true);
    find_groups(2);
    for (int i = 0; i < 10; i++) {
        many[i] = psi_blame_begin(blame, i % 2 == 0 ? BACKUP : WEB);
        ck_assert_uint_eq(watched_count, 3);
        if (i == 0)
            expect_measured(1, BACKUP);
        else if (i < 8)
            expect_measured(2, WEB);
        else
            expect_measured(3, TOP);
    }
    ck_assert_uint_eq(watches, 9);
    for (int i = 0; i < 10; i++)
        psi_blame_end(blame, many[i], NULL);
    psi_blame_end(blame, psi_blame_begin(blame, WEB), NULL);
    expect_measured(1, WEB);
    psi_blame_end(blame, psi_blame_begin(blame, 0), NULL);
    expect_measured(3, TOP);
}
END_TEST

/* What was read for another alert doesn't have them. */
START_TEST(test_waits_that_were_not_measured_before_are_read_anew)
{
    open_blame(PSI_BLAME_ALERT, false);
    find_groups(2);
    struct psi_measurement *first = psi_blame_begin(blame, WEB);
    struct psi_measurement *second = psi_blame_begin(blame, BACKUP);
    ck_assert_uint_eq(reads + peeks, 2);
    psi_blame_end(blame, second, NULL);
    psi_blame_end(blame, first, NULL);
}
END_TEST

/* All that ran would be other tasks. */
START_TEST(test_without_groups_the_system_has_no_takers)
{
    open_blame(PSI_BLAME_ALERT, true);
    ck_assert_ptr_null(psi_blame_begin(blame, 0));
    find_groups(1);
    struct psi_measurement *measurement = psi_blame_begin(blame, 0);
    ck_assert_ptr_nonnull(measurement);
    psi_blame_end(blame, measurement, NULL);
    ck_assert_uint_eq(fake_logs(0, NULL), 0);
}
END_TEST

START_TEST(test_nothing_is_removed_that_is_still_to_be_compared)
{
    const bool always = _i == 1;

    open_blame(always ? PSI_BLAME_ALWAYS : PSI_BLAME_ALERT, false);
    find_groups(2);
    struct psi_measurement *first = psi_blame_begin(blame, WEB);
    ck_assert_uint_eq(reads, always ? 0 : 1);
    sample();
    struct psi_measurement *second = psi_blame_begin(blame, BACKUP);
    psi_blame_end(blame, first, NULL);
    psi_blame_end(blame, second, NULL);
    ck_assert_uint_eq(reads, always ? 0 : 1);
    sample();
    psi_blame_detach_unused(blame);
    psi_blame_end(blame, psi_blame_begin(blame, WEB), NULL);
    ck_assert_uint_eq(reads, always ? 1 : 2);
}
END_TEST

START_TEST(test_a_failure_is_logged_once_with_its_remedy)
{
    static const struct {
        int *error;
        const char *failed, *works;
    } cases[] = {
        {&watch_error,
         "psi: who took the CPU isn't known, as cgroups can't be distinguished: it failed: mend "
         "it.",
         "psi: cgroups are distinguished as takers again."},
        {&read_error, "psi: can't read who took the CPU: it failed: mend it.",
         "psi: who took the CPU can be read again."},
    };

    open_blame(PSI_BLAME_ALWAYS, false);
    *cases[_i].error = -EPERM;
    samples = 0;
    for (int i = 0; i < 3; i++) {
        find_groups(1);
        sample();
        ck_assert_ptr_null(psi_blame_begin(blame, WEB));
    }
    ck_assert_uint_eq(samples, 0);
    ck_assert_uint_eq(fake_logs(0, cases[_i].failed), 1);
    *cases[_i].error = 0;
    for (int i = 0; i < 3; i++)
        sample();
    ck_assert_uint_eq(samples, 3);
    ck_assert_uint_eq(fake_logs(0, cases[_i].works), 1);
}
END_TEST

START_TEST(test_a_full_table_is_logged)
{
    static const char message[] = "psi: for 7 ms of waiting it isn't known who took the CPU, as";

    open_blame(PSI_BLAME_ALWAYS, false);
    find_groups(1);
    sample();
    ck_assert_uint_eq(fake_logs(0, message), 0);
    lost_ns += 3 * HR_NS_PER_MS;
    unsplit_ns += 4 * HR_NS_PER_MS;
    sample();
    ck_assert_uint_eq(fake_logs(0, message), 1);
    sample();
    ck_assert_uint_eq(fake_logs(0, message), 1);
}
END_TEST

/* Waits of others that last are not in what is measured. */
START_TEST(test_in_another_pid_namespace_it_says_what_it_lacks)
{
    static const char message[] =
        "psi: who took the CPU from tasks outside of collectd's PID namespace is known only once "
        "their waits end: run the container with the host's, by --pid=host or hostPID: true.";
    const struct psi_blame_options options[] = {
        {.mode = PSI_BLAME_ALERT},
        {.mode = PSI_BLAME_ALERT, .is_given = true},
        {.mode = PSI_BLAME_ALWAYS, .is_given = true},
    };
    const struct psi_blame_options *given = &options[_i];

    open_with(given, false);
    ck_assert_uint_eq(fake_logs(0, message), 0);
    psi_blame_close(blame);
    is_contained = true;
    open_with(given, false);
    ck_assert_uint_eq(fake_logs(LOG_INFO, message), given->is_given ? 0 : 1);
    ck_assert_uint_eq(fake_logs(LOG_WARNING, message), given->is_given ? 1 : 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("blame");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, test_a_thread_of_its_own_loads_the_programs, 0, 2);
    tcase_add_test(tests, test_new_groups_are_distinguished_before_the_next_sample);
    tcase_add_test(tests, test_for_alerts_groups_are_distinguished_when_there_is_one);
    tcase_add_test(tests, test_for_alerts_only_waits_of_their_groups_are_measured);
    tcase_add_test(tests, test_waits_that_were_not_measured_before_are_read_anew);
    tcase_add_test(tests, test_without_groups_the_system_has_no_takers);
    tcase_add_loop_test(tests, test_nothing_is_removed_that_is_still_to_be_compared, 0, 2);
    tcase_add_loop_test(tests, test_a_failure_is_logged_once_with_its_remedy, 0, 2);
    tcase_add_test(tests, test_a_full_table_is_logged);
    tcase_add_loop_test(tests, test_in_another_pid_namespace_it_says_what_it_lacks, 0, 3);
    return run_suite("psi_blame", tests);
}
