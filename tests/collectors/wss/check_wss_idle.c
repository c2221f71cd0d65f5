/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_idle.c - the idle method in a tree of files, page by page: which bits
 * it writes, and how it counts those that it reads.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "collectors/memory/count_pages.h"
#include "collectors/wss/idle_harness.h"
#include "headroom/clock.h"
#include "memory/page_set.h"
#include "support/descriptor_shortage.h"
#include "support/suite.h"

/* --- Pages of processes --------------------------------------------------- */

static const struct scene scenes[] = {
    {"a page that is touched, one that isn't, one beyond a gap",
     2,
     {{0x10000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100},
      {0x11000, PRESENT | FILE_BIT | DIRTY, 103, 1, PLAIN, 0, ALWAYS, LEFT_ALONE, 103},
      {0x7f0000000000, PRESENT, 40000, 1, PLAIN, 0, ALWAYS, TOUCHED, 40000}}},
    {"swapped out: what looks like page frame 101 is none",
     1,
     {{0x10000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100},
      {0x11000, SWAPPED, 101, 3, PLAIN, PLAIN, ALWAYS, LEFT_ALONE, 0}}},
    {"swapped in since",
     1,
     {{0x10000, SWAPPED, 9, 1, 0, 0, GONE, LEFT_ALONE, 0},
      {0x10000, PRESENT, 100, 1, PLAIN, 0, FRESH, TOUCHED, 0}}},
    {"a huge page that is touched",
     512,
     {{0x200000, PRESENT, 1024, 512, PLAIN | HEAD | THP, MAPPED | TAIL | THP, ALWAYS, TOUCHED,
       1024}}},
    {"a huge page that isn't, one that is, as kernels since 6.10 report them",
     512,
     {{0x200000, PRESENT, 1024, 512, PLAIN | HEAD | THP, PLAIN | TAIL | THP, ALWAYS, LEFT_ALONE,
       1024},
      {0x400000, PRESENT, 1536, 512, PLAIN | HEAD | THP, PLAIN | TAIL | THP, ALWAYS, TOUCHED,
       1536}}},
    {"ten pages of a huge one that is touched, not its first",
     10,
     {{0x600000, 0, 2048, 100, PLAIN | HEAD | THP, PLAIN | TAIL | THP, ALWAYS, LEFT_ALONE, 0},
      {0x200000, PRESENT, 2148, 10, PLAIN | TAIL | THP, PLAIN | TAIL | THP, ALWAYS, TOUCHED,
       2048}}},
    {"folios of four pages side by side, one of them touched",
     4,
     {{0x200000, PRESENT, 4096, 4, PLAIN | HEAD, PLAIN | TAIL, ALWAYS, LEFT_ALONE, 4096},
      {0x204000, PRESENT, 4100, 4, PLAIN | HEAD, PLAIN | TAIL, ALWAYS, TOUCHED, 4100},
      {0x208000, PRESENT, 4104, 4, PLAIN | HEAD, PLAIN | TAIL, ALWAYS, LEFT_ALONE, 4104}}},
    {"hugetlb is no one's",
     0,
     {{0x200000, PRESENT, 1024, 512, HEAD | HUGETLB | MAPPED, TAIL | HUGETLB | MAPPED, ALWAYS,
       TOUCHED, 0},
      {0x400000, PRESENT, 2048, 512, HEAD | HUGETLB | MAPPED, TAIL | HUGETLB | MAPPED, FRESH,
       TOUCHED, 0}}},
    {"nor are the page of zeros, a device's, and what the kernel keeps",
     0,
     {{0x10000, PRESENT, 100, 1, ZERO | MAPPED, 0, FRESH, TOUCHED, 0},
      {0x11000, PRESENT, 101, 1, NOPAGE, 0, FRESH, TOUCHED, 0},
      {0x12000, PRESENT, 102, 1, RESERVED, 0, FRESH, TOUCHED, 0},
      {0x13000, PRESENT, 103, 1, 0, 0, FRESH, TOUCHED, 0},
      {0x14000, PRESENT, 104, 1, PLAIN | POISONED, 0, FRESH, TOUCHED, 0}}},
    {"of a folio, a page that is broken",
     1,
     {{0x200000, PRESENT, 4096, 1, PLAIN | HEAD, 0, FRESH, TOUCHED, 0},
      {0x201000, PRESENT, 4097, 1, PLAIN | TAIL | POISONED, 0, FRESH, TOUCHED, 0}}},
    {"on no list at the beginning: it isn't known",
     0,
     {{0x10000, PRESENT, 100, 2, MAPPED, MAPPED, ALWAYS, TOUCHED, 0}}},
    {"new, even if it is on no list yet; not what came along idle",
     3,
     {{0x10000, PRESENT, 100, 1, PLAIN, 0, FRESH, TOUCHED, 0},
      {0x11000, PRESENT, 101, 2, MAPPED, MAPPED, FRESH, TOUCHED, 0},
      {0x13000, PRESENT, 103, 1, PLAIN, 0, FRESH, LEFT_ALONE, 0}}},
    {"mapped twice",
     1,
     {{0x10000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100},
      {0x13000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100}}},
    {"memory above 1 and 32 TiB, addresses up to 2^47",
     4,
     {{0x7ffffffff000, PRESENT, TIB, 1, PLAIN, 0, ALWAYS, TOUCHED, TIB},
      {0x7fff00000000, PRESENT, TIB + 1, 1, PLAIN, 0, ALWAYS, LEFT_ALONE, TIB + 1},
      {0x600000000000, PRESENT, 32 * TIB, 1, PLAIN, 0, ALWAYS, TOUCHED, 32 * TIB},
      {0x400000000000, PRESENT, TIB + 70000, 2, PLAIN, PLAIN, ALWAYS, TOUCHED, TIB + 70000}}},
    {"a device at an address that is no memory's",
     1,
     {{0x10000, PRESENT, HR_PAGE_MAX, 1, 0, 0, ALWAYS, TOUCHED, 0},
      {0x11000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100}}},
    {"many words in a row",
     500,
     {{0x100000, PRESENT, 500, 500, PLAIN, PLAIN, ALWAYS, TOUCHED, 500},
      {0x400000, PRESENT, 1000, 500, PLAIN, PLAIN, ALWAYS, LEFT_ALONE, 1000}}},
    {"gone since", 0, {{0x10000, PRESENT, 100, 1, PLAIN, 0, GONE, TOUCHED, 100}}},
};

static void touch_scene(const struct scene *scene)
{
    const struct pages *row;

    place(42, scene, true);
    for (size_t i = 0; (row = next_row(scene, &i)) != NULL;)
        for (unsigned n = 0; n < row->count && row->pfn < MEMORY; n++)
            if (row->what == TOUCHED)
                fake_pages_set_idle(row->pfn + n, false);
            else if (row->when == FRESH)
                fake_pages_set_idle(row->pfn + n, true);
    for (size_t i = 0; (row = next_row(scene, &i)) != NULL;)
        if (row->what == TOUCHED && row->head != 0)
            fake_pages_set_idle(row->head, false);
}

/* A single page is its own head; adjacent pages that are no folio have a bit each. */
static void check_written(const struct scene *scene)
{
    const struct pages *row;
    struct hr_page_set wanted = {0};

    for (size_t i = 0; (row = next_row(scene, &i)) != NULL;) {
        unsigned heads = row->head == 0 ? 0 : (row->flags & TAIL) != 0 ? 1 : row->count;
        for (unsigned n = 0; n < heads; n++)
            hr_page_set_add(&wanted, row->head + n);
        for (unsigned n = 0; n < heads; n++)
            ck_assert_msg(hr_page_set_has(&fake_pages.written, row->head + n), "%s: %" PRIu64,
                          scene->what, row->head + n);
    }
    ck_assert_uint_eq(count_pages(&fake_pages.written), count_pages(&wanted));
    hr_page_set_free(&wanted);
}

START_TEST(counts_pages_of_a_process)
{
    const struct scene *scene = &scenes[_i / 2];

    fake_pages.longest_read = _i % 2 == 0 ? 0 : 24;
    begin_scene(scene);
    check_written(scene);
    touch_scene(scene);
    uint64_t pages = read_pages();
    ck_assert_msg(pages == scene->referenced, "%s: %" PRIu64 " pages rather than %u", scene->what,
                  pages, scene->referenced);
    ck_assert_uint_eq(sample.process_count, 1);
    ck_assert(sample.has_rss && !sample.has_pss);
    ck_assert_uint_eq(sample.rss_bytes, 100 * page_size);
    check_written(scene); /* reading writes nothing */
}
END_TEST

/* Bits of other pages are unchanged, in words that are written and in others. */
START_TEST(leaves_bits_of_others_alone)
{
    const struct scene scene = {
        "", 0, {{0x10000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100}}};
    static const uint64_t others[] = {64, 99, 101, 127, 128, 500};

    for (size_t i = 0; i < COUNT(others); i++) {
        fake_pages_put("proc/kpageflags", others[i], PLAIN);
        fake_pages_set_idle(others[i], i % 2 == 0);
    }
    begin_scene(&scene);
    for (size_t i = 0; i < COUNT(others); i++)
        ck_assert_int_eq(fake_pages_is_idle(others[i]), i % 2 == 0);
    ck_assert(fake_pages_is_idle(100));
    ck_assert_uint_eq(count_pages(&fake_pages.written), 1);
}
END_TEST

/* A page of a folio that was split since is a folio of its own, and idle if that was. */
START_TEST(follows_a_split)
{
    const struct scene scene = {"",
                                0,
                                {{0x200000, PRESENT, 1024, 512, PLAIN | HEAD | THP,
                                  MAPPED | TAIL | THP, ALWAYS, LEFT_ALONE, 1024}}};

    begin_scene(&scene);
    for (uint64_t pfn = 1024; pfn < 1536; pfn++) {
        fake_pages_put("proc/kpageflags", pfn, PLAIN);
        fake_pages_set_idle(pfn, pfn % 4 != 0);
    }
    ck_assert_uint_eq(read_pages(), 128);
}
END_TEST

/* A page that reclaim or compaction has isolated reads as touched, but its state is unknown. */
START_TEST(leaves_out_what_is_off_its_list)
{
    const struct scene scene = {
        "", 0, {{0x10000, PRESENT, 100, 2, PLAIN, PLAIN, ALWAYS, LEFT_ALONE, 100}}};

    begin_scene(&scene);
    fake_pages_put("proc/kpageflags", 100, MAPPED);
    fake_pages_set_idle(100, false);
    ck_assert_uint_eq(read_pages(), 0);
    fake_pages_put("proc/kpageflags", 100, PLAIN);
    ck_assert_uint_eq(read_pages(), 1);
}
END_TEST

/* The last word can be written, but not read; beyond it the bitmap ends. */
START_TEST(ends_with_the_memory)
{
    const struct scene scene = {
        "", 0, {{0x10000, PRESENT, 0x8000 + 120, 16, PLAIN, PLAIN, ALWAYS, LEFT_ALONE, 0}}};

    fake_pages.memory_end = 0x8000 + 128 + 2 + (_i == 0 ? 0 : (uint64_t)-2);
    begin_scene(&scene);
    ck_assert_uint_eq(read_pages(), 0);
    fake_pages_set_idle(0x8000 + 127, false);
    ck_assert_uint_eq(read_pages(), 1);
}
END_TEST

START_TEST(adds_up_over_readings)
{
    const struct scene scene = {
        "", 0, {{0x10000, PRESENT, 100, 8, PLAIN, PLAIN, ALWAYS, LEFT_ALONE, 100}}};

    begin_scene(&scene);
    for (unsigned i = 0; i < 8; i++) {
        ck_assert_uint_eq(read_pages(), i);
        fake_pages_set_idle(100 + i, false);
    }
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, NULL), 0);
    ck_assert_uint_eq(read_pages(), 0);
}
END_TEST

/* --- Several processes ---------------------------------------------------- */

START_TEST(counts_pages_of_several_once)
{
    const struct scene one = {
        "", 0, {{0x10000, PRESENT, 100, 4, PLAIN, PLAIN, ALWAYS, TOUCHED, 100}}};
    const struct scene other = {
        "", 0, {{0x10000, PRESENT, 102, 4, PLAIN, PLAIN, ALWAYS, TOUCHED, 102}}};
    int descriptors = count_descriptors();

    add_process(43, "mysqld");
    add_maps(43);
    place(42, &one, false);
    place(43, &other, false);
    open_wss(&(struct hr_wss_target){.processes = {.by = HR_PROCESS_BY_NAME, .text = "mysqld"}}, 0);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), 0);
    ck_assert_uint_eq(count_pages(&fake_pages.written), 6);
    for (uint64_t pfn = 100; pfn < 106; pfn++)
        fake_pages_set_idle(pfn, false);
    ck_assert_uint_eq(read_pages(), 6);
    ck_assert_uint_eq(sample.process_count, 2);
    ck_assert_uint_eq(sample.rss_bytes, 200 * page_size);
    tree_remove(tree, "proc/43");
    ck_assert_uint_eq(read_pages(), 4);
    ck_assert_uint_eq(sample.process_count, 1);
    ck_assert_uint_eq(sample.ended_count, 1);
    tree_write(tree, "proc/42/maps", "%s", ""); /* it has unmapped its memory */
    ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason), -ESRCH);
    hr_wss_close(wss);
    wss = NULL;
    ck_assert_int_eq(count_descriptors(), descriptors);
}
END_TEST

/* Its pages were touched, but those that it has from fork(2), which are another's, too. */
START_TEST(counts_pages_of_newcomers)
{
    const struct scene one = {
        "", 0, {{0x10000, PRESENT, 100, 4, PLAIN, PLAIN, ALWAYS, TOUCHED, 100}}};
    const struct scene other = {
        "", 0, {{0x10000, PRESENT, 102, 4, PLAIN, PLAIN, ALWAYS, TOUCHED, 102}}};

    place(42, &one, false);
    open_wss(&(struct hr_wss_target){.processes = {.by = HR_PROCESS_BY_NAME, .text = "mysqld"}}, 0);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), 0);
    ck_assert_uint_eq(count_pages(&fake_pages.written), 4);
    add_process(43, "mysqld");
    add_maps(43);
    place(43, &other, false);
    ck_assert_uint_eq(read_pages(), 2);
    ck_assert_uint_eq(sample.process_count, 2);
    fake_pages_set_idle(102, false);
    ck_assert_uint_eq(read_pages(), 3);
}
END_TEST

/* --- Cgroups -------------------------------------------------------------- */

/* What its processes have, and it is charged for. */
START_TEST(counts_pages_of_a_cgroup)
{
    static const uint64_t heads[] = {100, 102, 1024, 100000};

    set_groups();
    open_group();
    int status = hr_wss_begin(wss, HR_NS_PER_S, &reason);
    ck_assert_msg(status == 0, "%s", reason.text);
    for (size_t i = 0; i < COUNT(heads); i++)
        ck_assert(hr_page_set_has(&fake_pages.written, heads[i]));
    ck_assert_uint_eq(count_pages(&fake_pages.written), COUNT(heads));
    ck_assert_uint_eq(read_pages(), 0);
    ck_assert(sample.has_rss);
    ck_assert_uint_eq(sample.rss_bytes, (3 + 512) * page_size);
    fake_pages_set_idle(100, false);
    fake_pages_set_idle(100000, false);
    fake_pages_set_idle(99, false);
    ck_assert_uint_eq(read_pages(), 2);
    fake_pages_set_idle(1024, false);
    ck_assert_uint_eq(read_pages(), 514);
    ck_assert_uint_eq(sample.process_count, 2);
}
END_TEST

static const struct scene one_page = {
    "", 0, {{0x10000, PRESENT, 200, 1, PLAIN, 0, ALWAYS, TOUCHED, 200}}};

START_TEST(knows_groups_made_since)
{
    set_groups();
    open_group();
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, NULL), 0);
    tree_add_group(tree, "a/new", false);
    add_member("a/new", 60, &one_page);
    charge("a/new", 200, PLAIN);
    ck_assert_uint_eq(read_pages(), 1);
    ck_assert_uint_eq(sample.process_count, 3);
    tree_remove_group(tree, "a");
    ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason), -ENODEV);
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -ENODEV);
}
END_TEST

static void become_zombie(int pid)
{
    char path[64];

    tree_add_process(
        tree, &(struct tree_process){.pid = pid, .name = "member", .started = 5, .state = 'Z'});
    snprintf(path, sizeof(path), "proc/%d/maps", pid);
    tree_write(tree, path, "%s", "");
}

START_TEST(reports_that_all_of_a_cgroup_have_ended)
{
    set_groups();
    open_group();
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, NULL), 0);
    become_zombie(50);
    become_zombie(51);
    ck_assert_int_eq(hr_wss_read(wss, HR_NS_PER_S, &sample, &reason), -ESRCH);
}
END_TEST

START_TEST(wants_the_controller)
{
    set_groups();
    tree_remove(tree, TREE_CGROUPS "/a/memory.stat");
    open_group();
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "+memory"));
    ck_assert_uint_eq(count_pages(&fake_pages.written), 0);
}
END_TEST

/* That it lacks the controller lasts; that it has no process may not. */
START_TEST(reports_an_empty_cgroup_unless_it_lacks_the_controller)
{
    set_groups();
    tree_write(tree, TREE_CGROUPS "/a/cgroup.procs", "%s", "");
    tree_write(tree, TREE_CGROUPS "/a/b/c/cgroup.procs", "%s", "");
    open_group();
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -ESRCH);
    ck_assert_str_eq(reason.text, "no process is in the cgroup");
    tree_remove(tree, TREE_CGROUPS "/a/memory.stat");
    ck_assert_int_eq(hr_wss_begin(wss, HR_NS_PER_S, &reason), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "+memory"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("wss_idle");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, counts_pages_of_a_process, 0, 2 * COUNT(scenes));
    tcase_add_test(tests, leaves_bits_of_others_alone);
    tcase_add_test(tests, follows_a_split);
    tcase_add_test(tests, leaves_out_what_is_off_its_list);
    tcase_add_loop_test(tests, ends_with_the_memory, 0, 2);
    tcase_add_test(tests, adds_up_over_readings);
    tcase_add_test(tests, counts_pages_of_several_once);
    tcase_add_test(tests, counts_pages_of_newcomers);
    tcase_add_test(tests, counts_pages_of_a_cgroup);
    tcase_add_test(tests, knows_groups_made_since);
    tcase_add_test(tests, reports_that_all_of_a_cgroup_have_ended);
    tcase_add_test(tests, wants_the_controller);
    tcase_add_test(tests, reports_an_empty_cgroup_unless_it_lacks_the_controller);
    return run_suite("wss_idle", tests);
}
