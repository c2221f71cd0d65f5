/* SPDX-License-Identifier: MIT */
/*
 * collectors/process/check_taskstats.c - taskstats: each version of the kernel's struct, lost and
 * late replies, and refusals.
 */
#include <check.h>
#include <errno.h>
#include <linux/taskstats.h>
#include <string.h>

#include "headroom/taskstats.h"
#include "support/fake_taskstats.h"
#include "support/suite.h"

/* The fake kernel's structs match this header's, but for those of version 15. */
#define SAME(ours, kernels)                                                                        \
    _Static_assert(offsetof(struct fake_stats, ours) == offsetof(struct taskstats, kernels),       \
                   #ours " is elsewhere")
#if TASKSTATS_VERSION != 15
SAME(cpu_total, cpu_delay_total);
SAME(blkio_total, blkio_delay_total);
SAME(swapin_total, swapin_delay_total);
SAME(etime, ac_etime);
SAME(freepages_total, freepages_delay_total);
#if TASKSTATS_VERSION >= 9
SAME(thrashing_total, thrashing_delay_total);
#endif
#if TASKSTATS_VERSION >= 11
SAME(compact_total, compact_delay_total);
#endif
#if TASKSTATS_VERSION >= 13
SAME(wpcopy_total, wpcopy_delay_total);
#endif
#if TASKSTATS_VERSION >= 14
SAME(irq_total, irq_delay_total);
#endif
#if TASKSTATS_VERSION == 16
_Static_assert(sizeof(struct fake_stats) == sizeof(struct taskstats), "version 16 is longer");
#endif
#endif

static const struct hr_task_delays example = {
    .ns = {[HR_DELAY_CPU] = 1000001,
           [HR_DELAY_BLKIO] = 2000002,
           [HR_DELAY_SWAPIN] = 4000004,
           [HR_DELAY_FREEPAGES] = 8000008,
           [HR_DELAY_THRASHING] = 16000016,
           [HR_DELAY_COMPACT] = 32000032,
           [HR_DELAY_WPCOPY] = 64000064,
           [HR_DELAY_IRQ] = UINT64_MAX},
    .elapsed_us = 77,
};

static struct fake_taskstats *fake;
static struct hr_taskstats *taskstats;

static void open_fake(void)
{
    const struct hr_taskstats_calls calls = fake_taskstats_calls(fake);

    ck_assert_int_eq(hr_taskstats_open(&calls, &taskstats), 0);
}

static void set_up(void)
{
    fake = fake_taskstats_new();
    fake_taskstats_set_process(fake, 100, &example);
    fake_taskstats_set_thread(fake, 101, &example);
    taskstats = NULL;
}

static void tear_down(void)
{
    hr_taskstats_close(taskstats);
    fake_taskstats_free(fake);
}

/* --- The struct of each version ------------------------------------------- */

static const struct {
    uint16_t version;
    size_t size;
    unsigned known;
} versions[] = {
    {1, 80, 0x07},   /* up to swapin; the process's name follows */
    {8, 328, 0x0f},  /* and freepages */
    {9, 344, 0x1f},  /* thrashing: 4.20 */
    {10, 352, 0x1f}, /* 5.12 */
    {11, 368, 0x3f}, /* compact: 5.17 */
    {12, 400, 0x3f}, /* 5.18 */
    {13, 416, 0x7f}, /* wpcopy: 6.0 */
    {14, 432, 0xff}, /* irq: 6.5 */
    {15, 560, 0xff}, /* 6.14 */
    {16, 560, 0xff}, /* 6.15 */
    {17, 640, 0xff}, /* a later one */
    {14, 431, 0x7f}, /* all but a byte of irq */
    {14, 424, 0x7f}, {8, 321, 0x07}, {1, 32, 0x01},
};

START_TEST(reads_each_version)
{
    struct hr_task_delays delays;

    fake->version = versions[_i].version;
    fake->size = versions[_i].size;
    open_fake();
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), 0);
    ck_assert_uint_eq(delays.known, versions[_i].known);
    for (int i = 0; i < HR_DELAY_COUNT; i++)
        ck_assert_uint_eq(delays.ns[i], versions[_i].known & 1u << i ? example.ns[i] : 0);
    ck_assert_uint_eq(delays.elapsed_us, 0); /* the kernel's sum over threads is meaningless */
    ck_assert_int_eq(hr_taskstats_read_thread(taskstats, 101, &delays), 0);
    ck_assert_uint_eq(delays.known, versions[_i].known);
    ck_assert_uint_eq(delays.ns[HR_DELAY_CPU], 1000001);
    ck_assert_uint_eq(delays.elapsed_us, versions[_i].size >= 152 ? 77 : 0);
}
END_TEST

/* A struct that ends before the first delay isn't one. */
START_TEST(refuses_a_struct_without_delays)
{
    static const size_t sizes[] = {0, 1, 2, 31};
    struct hr_task_delays delays = {.known = 5};

    open_fake();
    fake->size = sizes[_i];
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), -EBADMSG);
    ck_assert_uint_eq(delays.known, 5);
}
END_TEST

/* --- Refusals ------------------------------------------------------------- */

START_TEST(reports_a_task_that_is_not_there)
{
    struct hr_task_delays delays = {.known = 5};

    open_fake();
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 101, &delays), -ESRCH);
    ck_assert_int_eq(hr_taskstats_read_thread(taskstats, 100, &delays), -ESRCH);
    ck_assert_uint_eq(delays.known, 5);
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), 0);
}
END_TEST

START_TEST(reports_a_missing_privilege)
{
    const struct hr_taskstats_calls calls = fake_taskstats_calls(fake);
    struct hr_task_delays delays;

    fake->error = -EPERM;
    ck_assert_int_eq(hr_taskstats_open(&calls, &taskstats), -EPERM);
    ck_assert_ptr_null(taskstats);
    fake->error = 0;
    open_fake();
    fake->error = -EPERM; /* the privilege was dropped meanwhile */
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), -EPERM);
}
END_TEST

START_TEST(detects_a_kernel_without_taskstats)
{
    const struct hr_taskstats_calls calls = fake_taskstats_calls(fake);

    fake->family_error = -ENOENT;
    ck_assert_int_eq(hr_taskstats_open(&calls, &taskstats), -ENOENT);
    ck_assert_ptr_null(taskstats);
    ck_assert(!fake->is_open);
    fake->open_error = -EMFILE;
    ck_assert_int_eq(hr_taskstats_open(&calls, &taskstats), -EMFILE);
    fake->open_error = 0;
    fake->family_error = 1; /* no errno */
    ck_assert_int_eq(hr_taskstats_open(&calls, &taskstats), -EBADMSG);
}
END_TEST

/* --- Lost and late replies ------------------------------------------------ */

START_TEST(gets_over_a_lost_reply)
{
    static const struct {
        enum fake_trouble trouble;
        int status;
    } losses[] = {{FAKE_LOST, -ENOBUFS}, {FAKE_SILENT, -EAGAIN}, {FAKE_STALE_ONLY, -EAGAIN}};
    struct hr_task_delays delays = {.known = 5};

    open_fake();
    fake->trouble = losses[_i].trouble;
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), losses[_i].status);
    ck_assert_uint_eq(delays.known, 5);
    fake->trouble = FAKE_NONE;
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), 0);
    ck_assert_uint_eq(delays.ns[HR_DELAY_CPU], 1000001);
}
END_TEST

START_TEST(passes_over_a_reply_to_an_earlier_request)
{
    static const enum fake_trouble troubles[] = {FAKE_STALE_FIRST, FAKE_TWO_MESSAGES, FAKE_OVERRUN};
    struct hr_task_delays delays;

    open_fake();
    fake->trouble = troubles[_i];
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), 0);
        ck_assert_uint_eq(delays.ns[HR_DELAY_CPU], 1000001);
    }
}
END_TEST

static ssize_t receive_forever(void *context, void *buffer, size_t size)
{
    ck_assert_uint_ge(size, 20);
    ck_assert_ptr_nonnull(context);
    memset(buffer, 0, 20);
    memcpy(buffer, &(uint32_t){20}, sizeof(uint32_t));
    return 20;
}

/* It ends however many unrelated datagrams there are. */
START_TEST(comes_to_an_end)
{
    struct hr_taskstats_calls calls = fake_taskstats_calls(fake);

    calls.receive = receive_forever;
    ck_assert_int_eq(hr_taskstats_open(&calls, &taskstats), -EAGAIN);
}
END_TEST

/* --- Batches -------------------------------------------------------------- */

static struct hr_taskstats_query queries[HR_TASKSTATS_BATCH];

/* Queries 100, 101, …, all of them threads but the first; there are threads of odd numbers. */
static void set_queries(void)
{
    for (int i = 0; i < HR_TASKSTATS_BATCH; i++) {
        const struct hr_task_delays delays = {.ns = {[HR_DELAY_CPU] = 5000 + (uint64_t)i}};
        queries[i] = (struct hr_taskstats_query){.id = 100 + i, .is_thread = i > 0, .status = 77};
        if (i % 2 == 1)
            fake_taskstats_set_thread(fake, 100 + i, &delays);
    }
}

START_TEST(reads_batches)
{
    static const enum fake_trouble troubles[] = {FAKE_NONE, FAKE_STALE_FIRST, FAKE_TWO_MESSAGES,
                                                 FAKE_OVERRUN};

    open_fake();
    set_queries();
    fake->trouble = troubles[_i];
    ck_assert_int_eq(hr_taskstats_read_batch(taskstats, queries, HR_TASKSTATS_BATCH), 0);
    ck_assert_int_eq(queries[0].status, 0);
    ck_assert_uint_eq(queries[0].delays.ns[HR_DELAY_CPU], 1000001);
    for (int i = 1; i < HR_TASKSTATS_BATCH; i++) {
        ck_assert_int_eq(queries[i].status, i % 2 == 1 ? 0 : -ESRCH);
        if (i % 2 == 1)
            ck_assert_uint_eq(queries[i].delays.ns[HR_DELAY_CPU], 5000 + (uint64_t)i);
    }
    ck_assert_int_eq(hr_taskstats_read_batch(taskstats, queries, 0), 0);
    ck_assert_int_eq(hr_taskstats_read_batch(taskstats, queries, HR_TASKSTATS_BATCH + 1), -EINVAL);
}
END_TEST

/* A reply to a request of a batch is still queued when the next is sent. */
START_TEST(gets_over_a_batch_that_failed)
{
    struct hr_task_delays delays;

    open_fake();
    set_queries();
    fake->trouble = FAKE_LOST;
    ck_assert_int_eq(hr_taskstats_read_batch(taskstats, queries, 4), 0);
    ck_assert_int_eq(queries[0].status, -ENOBUFS);
    ck_assert_int_eq(queries[1].status, -ENOBUFS);
    ck_assert_int_eq(queries[2].status, -ESRCH);
    fake->trouble = FAKE_NONE;
    ck_assert_int_eq(hr_taskstats_read_thread(taskstats, 103, &delays), 0);
    ck_assert_uint_eq(delays.ns[HR_DELAY_CPU], 5003);
}
END_TEST

/* --- Malformed replies ---------------------------------------------------- */

START_TEST(refuses_a_reply_about_another_task)
{
    struct hr_task_delays delays;

    open_fake();
    fake->trouble = FAKE_OTHER_PID;
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), -EBADMSG);
    fake->trouble = FAKE_OTHER_FAMILY;
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), -EBADMSG);
}
END_TEST

/* Lengths and types in a reply: the message's, the outer attribute's at 20, that of the number at
 * 24 and of the struct at 32. */
static const struct {
    size_t offset;
    uint8_t byte;
} faults[] = {
    {1, 0xff}, {3, 0x80}, {20, 3}, {21, 0xff}, {22, 77}, {24, 3},    {24, 9},
    {25, 0xf}, {26, 77},  {32, 0}, {33, 0xff}, {34, 77}, {32, 0x35},
};

START_TEST(refuses_bad_lengths_and_types)
{
    struct hr_task_delays delays = {.known = 5};

    open_fake();
    fake->bad_offset = faults[_i].offset;
    fake->bad_byte = faults[_i].byte;
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), -EBADMSG);
    ck_assert_uint_eq(delays.known, 5);
}
END_TEST

START_TEST(refuses_every_truncation)
{
    struct hr_task_delays delays;

    open_fake();
    for (fake->cut = 1; fake->cut < 596; fake->cut++)
        ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), -EBADMSG);
    fake->cut = 0;
    ck_assert_int_eq(hr_taskstats_read_process(taskstats, 100, &delays), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("taskstats");

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, reads_each_version, 0, COUNT(versions));
    tcase_add_loop_test(tests, refuses_a_struct_without_delays, 0, 4);
    tcase_add_test(tests, reports_a_task_that_is_not_there);
    tcase_add_test(tests, reports_a_missing_privilege);
    tcase_add_test(tests, detects_a_kernel_without_taskstats);
    tcase_add_loop_test(tests, gets_over_a_lost_reply, 0, 3);
    tcase_add_loop_test(tests, passes_over_a_reply_to_an_earlier_request, 0, 3);
    tcase_add_test(tests, comes_to_an_end);
    tcase_add_loop_test(tests, reads_batches, 0, 4);
    tcase_add_test(tests, gets_over_a_batch_that_failed);
    tcase_add_test(tests, refuses_a_reply_about_another_task);
    tcase_add_loop_test(tests, refuses_bad_lengths_and_types, 0, COUNT(faults));
    tcase_add_test(tests, refuses_every_truncation);
    return run_suite("taskstats", tests);
}
