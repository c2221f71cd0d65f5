/* SPDX-License-Identifier: MIT */
/*
 * collectors/memory/check_smaps.c - the sums of smaps and smaps_rollup.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/process.h"
#include "headroom/root.h"
#include "memory/smaps.h"
#include "support/suite.h"
#include "support/tree.h"

#define KIB UINT64_C(1024)

/* --- Texts ---------------------------------------------------------------- */

#define ROLLUP                                                                                     \
    "55a000000000-7ffd0e5b2000 ---p 00000000 00:00 0                          [rollup]\n"          \
    "Rss:                1460 kB\n"                                                                \
    "Pss:                 299 kB\n"                                                                \
    "Pss_Dirty:            96 kB\n"                                                                \
    "Pss_Anon:             96 kB\n"                                                                \
    "Shared_Clean:       1260 kB\n"                                                                \
    "Referenced:         1356 kB\n"                                                                \
    "Anonymous:            96 kB\n"                                                                \
    "SwapPss:               7 kB\n"

/* Two mappings; one's path has what looks like a line of its own. */
#define TWO                                                                                        \
    "55a000000000-55a000001000 r--p 00000000 fd:00 42  /tmp/x\\012Rss: 9 kB\n"                     \
    "Size:                  4 kB\n"                                                                \
    "Rss:                   4 kB\n"                                                                \
    "Pss:                   1 kB\n"                                                                \
    "Referenced:            0 kB\n"                                                                \
    "VmFlags: rd mr mw me sd\n"                                                                    \
    "55a000001000-55a000003000 rw-p 00000000 00:00 0\n"                                            \
    "Rss:                   8 kB\n"                                                                \
    "Pss:                   8 kB\n"                                                                \
    "Referenced:            4 kB\n"

static const struct {
    const char *text;
    struct hr_smaps sums;
} texts[] = {
    {"", {0}},
    {ROLLUP, {true, true, true, 1460 * KIB, 299 * KIB, 1356 * KIB}},
    {TWO, {true, true, true, 12 * KIB, 9 * KIB, 4 * KIB}},
    {"Rss: 4 kB\nPss: 4 kB\n", {true, true, false, 4 * KIB, 4 * KIB, 0}},
    {"Rss: 4 kB\nReferenced: 4 kB\n", {true, false, true, 4 * KIB, 0, 4 * KIB}},
    {"Rss: 1099511627776 kB\n", {true, false, false, UINT64_C(1) << 50, 0, 0}},
    {"Rss: 18014398509481983 kB\n", {true, false, false, UINT64_MAX - 1023, 0, 0}},
};

START_TEST(adds_up)
{
    struct hr_smaps sums = {0};

    ck_assert_int_eq(hr_smaps_parse(texts[_i].text, strlen(texts[_i].text), &sums), 0);
    ck_assert_int_eq(sums.has_rss, texts[_i].sums.has_rss);
    ck_assert_int_eq(sums.has_pss, texts[_i].sums.has_pss);
    ck_assert_int_eq(sums.has_referenced, texts[_i].sums.has_referenced);
    ck_assert_uint_eq(sums.rss_bytes, texts[_i].sums.rss_bytes);
    ck_assert_uint_eq(sums.pss_bytes, texts[_i].sums.pss_bytes);
    ck_assert_uint_eq(sums.referenced_bytes, texts[_i].sums.referenced_bytes);
}
END_TEST

static const char *const faulty[] = {
    "Rss: 4 kB",
    "Rss: 4 MB\n",
    "Rss: kB\n",
    "Rss: -4 kB\n",
    "Rss: 4 kB \n",
    "Pss: 4\n",
    "Referenced: x kB\n",
    "Rss: 18014398509481984 kB\n",
    "Rss: 18014398509481983 kB\nRss: 1 kB\n",
    "no end",
};

START_TEST(refuses_what_it_does_not_understand)
{
    struct hr_smaps sums = {0};

    ck_assert_int_eq(hr_smaps_parse(faulty[_i], strlen(faulty[_i]), &sums), -EBADMSG);
}
END_TEST

/* --- Files ---------------------------------------------------------------- */

static struct tree *tree;
static struct hr_root *root;
static struct hr_process process;

static void set_up(void)
{
    tree = tree_new();
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    tree_add_process(tree, &(struct tree_process){.pid = 42, .name = "a", .started = 500});
    ck_assert_int_eq(hr_process_open(root, 42, &process), 0);
}

static void tear_down(void)
{
    hr_root_close(root);
    tree_free(tree);
}

START_TEST(prefers_the_rollup)
{
    struct hr_smaps sums;

    tree_write(tree, "proc/42/smaps", TWO);
    ck_assert_int_eq(hr_smaps_read(&process, &sums), 0);
    ck_assert_uint_eq(sums.rss_bytes, 12 * KIB);
    tree_write(tree, "proc/42/smaps_rollup", ROLLUP);
    ck_assert_int_eq(hr_smaps_read(&process, &sums), 0);
    ck_assert_uint_eq(sums.rss_bytes, 1460 * KIB);
}
END_TEST

/* Lines that lie across the pieces in which a long file is read. */
START_TEST(reads_a_long_file)
{
    struct hr_smaps sums;
    const size_t count = 4001;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (size_t i = 0; i < count; i++)
        fprintf(out,
                "%zx000-%zx000 r--p 0 fd:00 42  /%0*d\nRss: %zu kB\nPss: 1 kB\nReferenced: 3 kB\n",
                i + 1, i + 2, (int)(i % 97) + 1, 0, i);
    fclose(out);
    tree_write(tree, "proc/42/smaps", "%s", text);
    free(text);
    ck_assert_int_eq(hr_smaps_read(&process, &sums), 0);
    ck_assert_uint_eq(sums.rss_bytes, count * (count - 1) / 2 * KIB);
    ck_assert_uint_eq(sums.pss_bytes, count * KIB);
    ck_assert_uint_eq(sums.referenced_bytes, 3 * count * KIB);
}
END_TEST

/* --- Mappings ------------------------------------------------------------- */

static struct hr_smaps_mapping mappings[4];
static size_t mapping_count;

static int keep(const struct hr_smaps_mapping *mapping, void *context)
{
    ck_assert_uint_lt(mapping_count, 4);
    mappings[mapping_count++] = *mapping;
    return *(const int *)context;
}

START_TEST(reads_mappings)
{
    int status = 0;

    mapping_count = 0;
    tree_write(tree, "proc/42/smaps_rollup", ROLLUP);
    ck_assert_int_eq(hr_smaps_read_mappings(&process, keep, &status), -ENOENT);
    tree_write(tree, "proc/42/smaps", TWO);
    ck_assert_int_eq(hr_smaps_read_mappings(&process, keep, &status), 0);
    ck_assert_uint_eq(mapping_count, 2);
    ck_assert_uint_eq(mappings[0].start, 0x55a000000000);
    ck_assert_uint_eq(mappings[0].device, UINT64_C(0xfd) << 32);
    ck_assert_uint_eq(mappings[0].inode, 42);
    ck_assert_uint_eq(mappings[0].sums.rss_bytes, 4 * KIB);
    ck_assert_uint_eq(mappings[0].sums.pss_bytes, KIB);
    ck_assert(mappings[0].sums.has_referenced);
    ck_assert_uint_eq(mappings[0].sums.referenced_bytes, 0);
    ck_assert_uint_eq(mappings[1].start, 0x55a000001000);
    ck_assert_uint_eq(mappings[1].inode, 0);
    ck_assert_uint_eq(mappings[1].sums.referenced_bytes, 4 * KIB);
    status = -ENOMEM;
    ck_assert_int_eq(hr_smaps_read_mappings(&process, keep, &status), -ENOMEM);
    ck_assert_uint_eq(mapping_count, 3);
    tree_write(tree, "proc/42/smaps", "%s", "");
    ck_assert_int_eq(hr_smaps_read_mappings(&process, keep, &status), -ESRCH);
}
END_TEST

static const char *const no_mappings[] = {
    "Rss: 4 kB\n",
    "1-2 r--p 0 00:00 0\nRss: 4\n",
    "1-2 r--p 0 00:00 0",
    "1-\n",
    "1-2 r--p\n",
    "1-2 r-\n-p 0 00:00 0\n",
    "1-2 r--p 0 00 0\n",
    "1-2 r--p 0 00:00 x\n",
    "1-2 r--p 0 00:00 18446744073709551616\n",
};

START_TEST(refuses_what_is_no_mapping)
{
    int status = 0;

    mapping_count = 0;
    tree_write(tree, "proc/42/smaps", "%s", no_mappings[_i]);
    ck_assert_int_eq(hr_smaps_read_mappings(&process, keep, &status), -EBADMSG);
    ck_assert_uint_eq(mapping_count, 0);
}
END_TEST

START_TEST(reports_what_is_wrong)
{
    struct hr_smaps sums = {.rss_bytes = 7};

    ck_assert_int_eq(hr_smaps_read(&process, &sums), -ENOENT);
    tree_write(tree, "proc/42/smaps_rollup", "Rss: 4 kB\nPss");
    ck_assert_int_eq(hr_smaps_read(&process, &sums), -EBADMSG);
    tree_write(tree, "proc/42/smaps_rollup", "%040000d", 0);
    ck_assert_int_eq(hr_smaps_read(&process, &sums), -EBADMSG);
    /* as of a process whose memory is gone */
    tree_write(tree, "proc/42/smaps_rollup", "%s", "");
    ck_assert_int_eq(hr_smaps_read(&process, &sums), -ESRCH);
    tree_remove(tree, "proc/42");
    ck_assert_int_eq(hr_smaps_read(&process, &sums), -ESRCH);
    ck_assert_uint_eq(sums.rss_bytes, 7);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof(array[0]))

int main(void)
{
    TCase *tests = tcase_create("smaps");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, adds_up, 0, COUNT(texts));
    tcase_add_loop_test(tests, refuses_what_it_does_not_understand, 0, COUNT(faulty));
    tcase_add_test(tests, prefers_the_rollup);
    tcase_add_test(tests, reads_a_long_file);
    tcase_add_test(tests, reads_mappings);
    tcase_add_loop_test(tests, refuses_what_is_no_mapping, 0, COUNT(no_mappings));
    tcase_add_test(tests, reports_what_is_wrong);
    return run_suite("smaps", tests);
}
