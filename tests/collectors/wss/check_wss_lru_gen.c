/* SPDX-License-Identifier: MIT */
/*
 * collectors/wss/check_wss_lru_gen.c - the lru_gen method: what kernels print, and, against a fake
 * kernel, what is aged and summed. The fake replaces the two functions that read and write the
 * file.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "headroom/clock.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "memory/lru_gen.h"
#include "memory/lru_gen_file.h"
#include "memory/lru_gen_table.h"
#include "support/suite.h"
#include "support/tree.h"

#define ENABLED   "sys/kernel/mm/lru_gen/enabled"
#define FILE_PATH "sys/kernel/debug/lru_gen"

/* --- Parsing -------------------------------------------------------------- */

static size_t read_fixture(const char *file, char *buffer, size_t size)
{
    const char *directory = getenv("srcdir");
    char path[512];

    snprintf(path, sizeof(path), "%s/tests/fixtures/lru_gen/%s", directory ? directory : ".", file);
    FILE *stream = fopen(path, "r");
    ck_assert_msg(stream != NULL, "%s: %s", path, strerror(errno));
    size_t length = fread(buffer, 1, size, stream);
    fclose(stream);
    return length;
}

/* The last list of each file. */
static const struct {
    const char *file, *path;
    size_t lists, count;
    uint64_t memcg_id, youngest, pages;
    unsigned node;
} printed[] = {
    {"6.1-two-nodes", "/system.slice/mysql.service2", 8, 2, 41, 3, 28, 1},
    {"6.12-path-with-spaces", "/a", 4, 2, 4, 4, 36, 0},
    {"6.12-removed-group", "/gone", 3, 4, 9, 3, 7, 0},
    {"6.12-no-memcg", "", 1, 4, 0, 3, 28, 0},
    {"6.18-cgroup-ids", "/user.slice", 2, 2, 4294967312, 9, 26, 0},
};

START_TEST(parses_what_kernels_print)
{
    char text[8192];
    struct hr_lru_gen_list list = {0};
    struct hr_lru_gen_reader reader = {
        .rest = {text, read_fixture(printed[_i].file, text, sizeof(text))}};
    size_t lists = 0;
    int status;

    while ((status = hr_lru_gen_parse_next(&reader, &list)) > 0)
        lists++;
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(lists, printed[_i].lists);
    ck_assert_uint_eq(list.count, printed[_i].count);
    ck_assert_uint_eq(list.memcg_id, printed[_i].memcg_id);
    ck_assert_uint_eq(list.node, printed[_i].node);
    ck_assert_uint_eq(list.path.length, strlen(printed[_i].path));
    ck_assert_mem_eq(list.path.start, printed[_i].path, list.path.length);
    ck_assert_uint_eq(hr_lru_gen_youngest(&list), printed[_i].youngest);
    ck_assert_uint_eq(hr_lru_gen_pages_since(&list, 0), printed[_i].pages);
}
END_TEST

static const char *const not_understood[] = {
    "x",
    "memcg 1 /",
    "memcg 1 /\n",
    "memcg  /\n node 0\n 1 2 3  4 \n",
    "memcg 1 a\n node 0\n 1 2 3  4 \n",
    "memcg 1/\n node 0\n 1 2 3  4 \n",
    " node 0\n 1 2 3  4 \n",
    "memcg 1 /\n node 0\n",
    "memcg 1 /\n node\n 1 2 3  4 \n",
    "memcg 1 /\n node 65536\n 1 2 3  4 \n",
    "memcg 1 /\n node 0\n 1 2 3\n",
    "memcg 1 /\n node 0\n 1 2 3  4 5\n",
    "memcg 1 /\n node 0\n 1 2 3  4 ",
    "memcg 1 /\n node 0\n 1 2 3x 4x\n",
    "memcg 1 /\n node 0\n 1 -2 3  4 \n",
    "memcg 1 /\n node 0\n 1 4294967296 3  4 \n",
    "memcg 1 /\n node 0\n 1 2 18446744073709551615  1 \n",
    "memcg 1 /\n node 0\n 1 2 18446744073709551616  0 \n",
    "memcg 1 /\n node 0\n 1 2 18446744073709551615  0 \n 2 2 1  0 \n",
    "memcg 1 /\n node 0\n 1 2 3  4 \n 3 2 3  4 \n",
    "memcg 1 /\n node 0\n 2 2 3  4 \n 1 2 3  4 \n",
    "memcg 1 /\n node 0\n 1 2 3  4 \n 2 2 3  4 \n 3 2 3  4 \n 4 2 3  4 \n 5 2 3  4 \n",
};

START_TEST(understands_nothing_else)
{
    struct hr_lru_gen_list list = {.node = 77};
    struct hr_lru_gen_reader reader = {.rest = {not_understood[_i], strlen(not_understood[_i])}};

    ck_assert_int_eq(hr_lru_gen_parse_next(&reader, &list), -EBADMSG);
    ck_assert_uint_eq(list.node, 77);
    ck_assert_ptr_eq(reader.rest.start, not_understood[_i]);
}
END_TEST

static const struct {
    uint64_t memcg_id;
    const char *path, *group;
    bool below, of;
} groups[] = {
    {1, "/", "/", true, true},       {5, "/a", "/", true, false},
    {5, "/a", "/a", true, true},     {5, "/a/b", "/a", true, false},
    {5, "/ab", "/a", false, false},  {5, "/", "/a", false, false},
    {5, "/a b", "/a", false, false}, {5, "/a b/c", "/a b", true, false},
    {0, "/a", "/a", false, false},   {0, "/a/b", "/a", true, false},
    {0, "", "/", true, true},        {0, "", "/a", false, false},
};

START_TEST(distinguishes_groups_by_their_paths)
{
    struct hr_lru_gen_list list = {
        .memcg_id = groups[_i].memcg_id,
        .path = {groups[_i].path, strlen(groups[_i].path)},
    };

    ck_assert_int_eq(hr_lru_gen_is_below(&list, groups[_i].group), groups[_i].below);
    ck_assert_int_eq(hr_lru_gen_is_of(&list, groups[_i].group), groups[_i].of);
}
END_TEST

/* Ages from the oldest generation on; they have 1, 10, 100, … pages, the oldest the fewest. */
static const struct {
    uint64_t ages_ms[4], window_ms, touched, expected_window_ms, known;
} recalls[] = {
    {{9000, 7000, 5000, 1000}, 10000, 1111, 9000, 1111},
    {{9000, 7000, 5000, 1000}, 9000, 1111, 9000, 1111},
    {{9000, 7000, 5000, 1000}, 8999, 1110, 7000, 1111},
    {{9000, 7000, 5000, 1000}, 5000, 1100, 5000, 1111},
    /* the youngest has only faulted pages */
    {{9000, 7000, 5000, 1000}, 4999, 0, 0, 0},
    {{9000, 7000, 5000, 1000}, 999, 0, 0, 0},
    /* a group that was just created */
    {{300, 300, 300, 300}, 1000, 1111, 300, 1111},
    {{300, 300, 300, 300}, 100, 0, 0, 0},
    /* the oldest was reclaimed while it was printed */
    {{3, 7000, 5000, 1000}, 8000, 1110, 7000, 1111},
};

START_TEST(recalls_what_is_known_of_a_window)
{
    struct hr_lru_gen_list list = {.count = 4};
    struct hr_lru_gen_window_sum recall = {0};

    for (uint64_t i = 0, pages = 1; i < 4; i++, pages *= 10)
        list.generations[i] = (struct hr_lru_gen_generation){i + 1, recalls[_i].ages_ms[i], pages};
    hr_lru_gen_sum_window(&list, recalls[_i].window_ms, &recall);
    ck_assert_uint_eq(recall.touched_pages, recalls[_i].touched);
    ck_assert_uint_eq(recall.window_ms, recalls[_i].expected_window_ms);
    ck_assert_uint_eq(recall.known_pages, recalls[_i].known);
    ck_assert_uint_eq(recall.all_pages, 1111);
    ck_assert_uint_eq(hr_lru_gen_pages_since(&list, 3), 1100);
}
END_TEST

/* --- A fake kernel -------------------------------------------------------- */

#define BLOCKS  4
#define TARGETS 500

/* Blocks of 100 pages, each in a generation. */
struct fake_list {
    uint64_t memcg_id;
    const char *path;
    unsigned node;
    uint64_t oldest, youngest;
    struct {
        uint64_t seq;
        bool accessed;
    } blocks[BLOCKS];
    bool is_removed; /* since Linux 7.0 it still has its number, but commands fail */
};

static struct {
    bool on;
    struct fake_list lists[TARGETS + 1];
    size_t count;
    int ignored;  /* so many commands have no effect */
    int commands; /* seen so far */
    int reads;    /* of the file */
    unsigned slow_us;
    bool is_preempted; /* and the thread doesn't run meanwhile */
    uint64_t clock_us;
    int left_out; /* so many readings lack the first list */
} kernel;

static void age(struct fake_list *list)
{
    for (int i = 0; i < BLOCKS; i++) {
        if (list->blocks[i].accessed)
            list->blocks[i].seq = list->youngest;
        list->blocks[i].accessed = false;
    }
    list->youngest++;
    if (list->youngest - list->oldest == HR_LRU_GEN_MAX)
        list->oldest++;
    for (int i = 0; i < BLOCKS; i++)
        if (list->blocks[i].seq < list->oldest)
            list->blocks[i].seq = list->oldest;
}

static struct fake_list *add_list(uint64_t memcg_id, const char *path, unsigned node)
{
    struct fake_list *list = &kernel.lists[kernel.count++];

    *list = (struct fake_list){memcg_id, path, node, 0, 3, {{3, false}, {3, false}}, false};
    for (int i = 0; i < BLOCKS; i++)
        list->blocks[i].seq = 3;
    return list;
}

static void print(FILE *stream, const struct fake_list *list, bool with_group)
{
    if (with_group)
        fprintf(stream, "memcg %5" PRIu64 " %s\n", list->memcg_id, list->path);
    fprintf(stream, " node %5u\n", list->node);
    for (uint64_t seq = list->oldest; seq <= list->youngest; seq++) {
        int pages = 0;
        for (int i = 0; i < BLOCKS; i++)
            pages += list->blocks[i].seq == seq ? 100 : 0;
        fprintf(stream, " %10" PRIu64 " %10u %10d  %10d \n", seq, 1000, pages, 0);
    }
}

int __real_hr_lru_gen_file_read(const struct hr_root *root, struct hr_file_text *text);
int __wrap_hr_lru_gen_file_read(const struct hr_root *root, struct hr_file_text *text);
int __wrap_hr_lru_gen_file_age(int fd, uint64_t memcg_id, unsigned node, uint64_t seq);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

/* The clock advances only by what commands take, as a busy machine would add to that. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    uint64_t us = clock == CLOCK_THREAD_CPUTIME_ID && kernel.is_preempted ? 0 : kernel.clock_us;

    *now = (struct timespec){.tv_sec = 1000 + (time_t)(us / 1000000),
                             .tv_nsec = (long)(us % 1000000 * 1000)};
    return 0;
}

int __wrap_hr_lru_gen_file_read(const struct hr_root *root, struct hr_file_text *text)
{
    kernel.reads++;
    if (!kernel.on)
        return __real_hr_lru_gen_file_read(root, text);
    free(text->start);
    FILE *stream = open_memstream(&text->start, &text->length);
    size_t first = kernel.left_out > 0;
    kernel.left_out -= kernel.left_out > 0;
    for (size_t i = first; i < kernel.count; i++)
        print(stream, &kernel.lists[i],
              i == first || kernel.lists[i].memcg_id != kernel.lists[i - 1].memcg_id ||
                  strcmp(kernel.lists[i].path, kernel.lists[i - 1].path) != 0);
    fclose(stream);
    text->capacity = text->length;
    return 0;
}

int __wrap_hr_lru_gen_file_age(int fd, uint64_t memcg_id, unsigned node, uint64_t seq)
{
    ck_assert_int_ge(fd, 0);
    kernel.commands++;
    kernel.clock_us += kernel.slow_us;
    if (kernel.ignored > 0) {
        kernel.ignored--;
        return 0;
    }
    for (size_t i = 0; i < kernel.count; i++) {
        struct fake_list *list = &kernel.lists[i];
        if (list->memcg_id != memcg_id || memcg_id == 0 || list->node != node)
            continue;
        if (list->is_removed || seq > list->youngest)
            return -EINVAL;
        if (seq == list->youngest)
            age(list);
        return 0;
    }
    return -EINVAL;
}

/* --- Measuring ------------------------------------------------------------ */

static struct tree *tree;
static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_reason reason;
static struct hr_wss_sample sample;

static void set_up(void)
{
    memset(&kernel, 0, sizeof(kernel));
    tree = tree_new();
    wss = NULL;
    tree_write(tree, ENABLED, "0x0007\n");
    tree_write(tree, FILE_PATH, "%s", "");
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
}

static void tear_down(void)
{
    hr_wss_close(wss);
    hr_root_close(root);
    tree_free(tree);
}

static void open_wss(const char *group, bool aging, uint64_t max_scan_ns)
{
    struct hr_wss_options options = {
        .target = {.scope = group != NULL ? HR_WSS_CGROUP : HR_WSS_SYSTEM, .cgroup = group},
        .method = HR_WSS_LRU_GEN,
        .aging = aging,
        .max_scan_ns = max_scan_ns,
    };

    if (group != NULL && *group != '\0')
        tree_add_group(tree, group, true);
    ck_assert_msg(hr_wss_open(root, &options, &wss, &reason) == 0, "%s", reason.text);
    ck_assert_uint_eq(hr_wss_max_windows(wss), aging ? 2 : 0);
    ck_assert_int_eq(hr_wss_looks_back(wss), !aging);
}

static int begin(void)
{
    return hr_wss_begin(wss, 10 * HR_NS_PER_S, &reason);
}

static int read_window(uint64_t window_ms)
{
    return hr_wss_read(wss, window_ms * 1000000, &sample, &reason);
}

static uint64_t pages(void)
{
    return sample.referenced_bytes / (uint64_t)sysconf(_SC_PAGESIZE);
}

static const struct {
    const char *file, *group;
    uint64_t window_ms;
    int status;
    uint64_t pages, expected_window_ms;
} looks[] = {
    {"6.1-two-nodes", "system.slice/mysql.service", 62000, 0, 6732, 61000},
    {"6.1-two-nodes", "system.slice/mysql.service", 10000, 0, 689, 9500},
    {"6.1-two-nodes", "system.slice/mysql.service", 2000, -ENODATA, 0, 0},
    /* both nodes with memory are covered: node 1 of system.slice has none */
    {"6.1-two-nodes", "system.slice", 10000, 0, 3300 + 689 + 56, 9500},
    {"6.1-two-nodes", NULL, 100000, 0, 604 + 112 + 3330 + 6732 + 56, 90000},
    {"6.12-path-with-spaces", "a b", 2500, 0, 210 + 412, 2000},
    {"6.12-path-with-spaces", "a b/ c d ", 2500, 0, 412, 2000},
    {"6.12-path-with-spaces", "a", 2500, 0, 36, 10},
    {"6.12-path-with-spaces", "missing", 2500, -EOPNOTSUPP, 0, 0},
    {"6.12-removed-group", "gone", 6000, 0, 7, 100},
    {"6.12-removed-group", NULL, 6000, 0, 4912, 5000},
    {"6.12-no-memcg", NULL, 3000, 0, 12, 3000},
    {"6.12-no-memcg", "a", 3000, -EOPNOTSUPP, 0, 0},
    {"6.18-cgroup-ids", "user.slice", 3000, 0, 26, 3000},
};

START_TEST(looks_back)
{
    char text[8192];
    size_t length = read_fixture(looks[_i].file, text, sizeof(text) - 1);

    text[length] = '\0';
    tree_write(tree, FILE_PATH, "%s", text);
    open_wss(looks[_i].group, false, 0);
    ck_assert_int_eq(begin(), 0);
    int status = read_window(looks[_i].window_ms);
    ck_assert_msg(status == looks[_i].status, "%d: %s", status, reason.text);
    if (status < 0) {
        ck_assert_ptr_nonnull(strstr(reason.text, ": "));
        return;
    }
    ck_assert_uint_eq(pages(), looks[_i].pages);
    ck_assert_uint_eq(sample.window_ns, looks[_i].expected_window_ms * 1000000);
}
END_TEST

START_TEST(does_not_report_a_part_as_the_whole)
{
    tree_write(
        tree, FILE_PATH,
        "memcg 1 /\n node 0\n 1 900 10  0 \n 2 800 80  0 \n node 1\n 1 9000 9  0 \n 2 1 0  0 "
        "\n");
    open_wss("", false, 0);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_uint_eq(pages(), 90);
    tree_write(tree, FILE_PATH,
               "memcg 1 /\n node 0\n 1 900 10  0 \n 2 800 80  0 \n node 1\n 1 9000 11  0 \n 2 1 0  "
               "0 \n");
    ck_assert_int_eq(read_window(1000), -ENODATA);
    ck_assert_ptr_nonnull(strstr(reason.text, "part of the memory"));
    tree_write(tree, FILE_PATH, "memcg 1 /\n node 0\n");
    ck_assert_int_eq(read_window(1000), -EBADMSG);
}
END_TEST

/* Removed groups below one that has no memory cgroup of its own any more. */
START_TEST(looks_back_at_groups_only_that_are_counted)
{
    tree_write(tree, FILE_PATH,
               "memcg 1 /\n node 0\n 1 9 1  0 \n 2 8 1  0 \n"
               "memcg 0 /a/b\n node 0\n 1 9 1  0 \n 2 8 1  0 \n");
    open_wss("a", false, 0);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_window(1000), -EOPNOTSUPP);
}
END_TEST

/* There may be a thousand targets, and the file has all groups of the machine. */
START_TEST(keeps_no_text_between_calls)
{
    tree_write(tree, FILE_PATH, "memcg 1 /\n node 0\n 1 9 1  0 \n 2 8 1  0 \n");
    open_wss("", false, 0);
    ck_assert_int_eq(begin(), 0);
    size_t before = mallinfo2().uordblks;
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_uint_le(mallinfo2().uordblks, before + 4096);
}
END_TEST

START_TEST(counts_what_is_accessed_since_the_beginning)
{
    kernel.on = true;
    add_list(1, "/", 0);
    struct fake_list *here = add_list(7, "/a", 0), *there = add_list(7, "/a", 1);
    struct fake_list *below = add_list(3, "/a/b", 0), *beside = add_list(4, "/ab", 0);
    open_wss("a", true, 0);
    for (int i = 0; i < 3; i++) {
        here->blocks[0].accessed = here->blocks[1].accessed = true; /* before */
        ck_assert_int_eq(begin(), 0);
        here->blocks[0].accessed = below->blocks[1].accessed = beside->blocks[2].accessed = true;
        ck_assert_int_eq(read_window(1000), 0);
        ck_assert_uint_eq(pages(), 200);
        here->blocks[0].accessed = there->blocks[3].accessed = true;
        ck_assert_int_eq(read_window(1000), 0);
        ck_assert_uint_eq(pages(), 300);
        ck_assert_int_eq(read_window(1000), -EINVAL); /* no third */
    }
    ck_assert_uint_eq(kernel.lists[0].youngest, 3); /* not ours */
    ck_assert_uint_eq(beside->youngest, 3);
    ck_assert_int_eq(kernel.commands, 3 * 3 * 3);
}
END_TEST

START_TEST(measures_all_groups_for_the_system)
{
    kernel.on = true;
    struct fake_list *top = add_list(1, "/", 0), *gone = add_list(0, "/gone", 0);
    struct fake_list *group = add_list(2, "/a", 0);
    open_wss(NULL, true, 0);
    ck_assert_int_eq(begin(), 0);
    top->blocks[0].accessed = group->blocks[0].accessed = gone->blocks[0].accessed = true;
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_uint_eq(pages(), 200);
    ck_assert_uint_eq(gone->youngest, 3);
    ck_assert_int_eq(kernel.commands, 4);
}
END_TEST

START_TEST(retries_while_another_process_ages)
{
    kernel.on = true;
    struct fake_list *group = add_list(2, "/a", 0);
    open_wss("a", true, 0);
    kernel.ignored = 2;
    ck_assert_int_eq(begin(), 0);
    group->blocks[0].accessed = true;
    kernel.ignored = 2;
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_uint_eq(pages(), 100);
    kernel.ignored = 1000;
    ck_assert_int_eq(read_window(1000), -EBUSY);
    ck_assert_int_eq(begin(), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "try again"));
}
END_TEST

/* When untouched pages may have been merged into the generation of time zero. */
START_TEST(reports_that_others_aged_too_often)
{
    kernel.on = true;
    struct fake_list *group = add_list(2, "/a", 0);
    open_wss("a", true, 0);
    ck_assert_int_eq(begin(), 0);
    age(group);
    group->blocks[0].accessed = true;
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_uint_eq(pages(), 100);
    ck_assert_int_eq(read_window(1000), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "in /a: "));
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_window(1000), 0);
}
END_TEST

START_TEST(follows_groups_that_come_and_go)
{
    kernel.on = true;
    add_list(2, "/a", 0);
    add_list(3, "/a/b", 0)->blocks[0].accessed = true;
    open_wss("a", true, 0);
    ck_assert_int_eq(begin(), 0);
    kernel.lists[1] = kernel.lists[0]; /* gone */
    kernel.lists[1].memcg_id = 5; /* and another was created: all its pages were touched since */
    kernel.lists[1].path = "/a/c";
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_uint_eq(pages(), 100 * BLOCKS);
    ck_assert_uint_eq(kernel.lists[1].youngest, 4);
    kernel.lists[0].memcg_id = 0; /* of a removed one of that name */
    ck_assert_int_eq(read_window(1000), -EOPNOTSUPP);
    kernel.count = 0;
    ck_assert_int_eq(read_window(1000), -EOPNOTSUPP);
    tree_remove_group(tree, "a");
    ck_assert_int_eq(read_window(1000), -ENODEV);
    ck_assert_int_eq(begin(), -ENODEV);
}
END_TEST

/* The kernel may leave out a group that exists while others come and go. */
START_TEST(reads_again_where_a_group_is_missing)
{
    const bool aging = _i;

    kernel.on = true;
    add_list(2, "/a", 0);
    add_list(3, "/b", 0);
    open_wss("a", aging, 0);
    tree_write(tree, TREE_CGROUPS "/a/memory.stat", "anon 0\n");
    kernel.left_out = 1;
    ck_assert_msg(begin() == 0, "%s", reason.text);
    kernel.left_out = 1;
    ck_assert_msg(read_window(2000) == 0, "%s", reason.text);
    kernel.left_out = 10;
    ck_assert_int_eq(aging ? begin() : read_window(2000), -EBUSY);
    ck_assert_ptr_nonnull(strstr(reason.text, "try again"));
    kernel.left_out = 0;
    ck_assert_int_eq(begin(), 0);
}
END_TEST

/* What was read for another one a moment ago is older than this group. */
START_TEST(reads_again_for_a_new_group)
{
    struct hr_wss_shared *shared = hr_wss_shared_new();
    struct hr_wss_options options = {.target = {.scope = HR_WSS_CGROUP, .cgroup = "a"},
                                     .method = HR_WSS_AUTO,
                                     .aging = true,
                                     .shared = shared};

    kernel.on = true;
    add_list(2, "/a", 0);
    open_wss("a", true, 0);
    hr_wss_close(wss);
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_int_eq(begin(), 0);
    hr_wss_close(wss);
    wss = NULL;
    kernel.clock_us += 100000;
    options.target.cgroup = "new";
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    tree_add_group(tree, "new", true);
    tree_write(tree, TREE_CGROUPS "/new/memory.stat", "anon 0\n");
    add_list(3, "/new", 0);
    ck_assert_msg(begin() == 0, "%s", reason.text);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_LRU_GEN);
    hr_wss_close(wss);
    wss = NULL;
    hr_wss_shared_free(shared);
}
END_TEST

/* Since Linux 7.0 the text has the number of a removed group, too: only a command shows that it is
 * gone. */
START_TEST(knows_removed_groups_by_commands)
{
    kernel.on = true;
    struct fake_list *gone = add_list(7, "/a", 0); /* one of the same name */
    struct fake_list *group = add_list(20, "/a", 0), *inner = add_list(21, "/a/b", 0);
    gone->is_removed = true;
    open_wss("a", true, 0);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(kernel.commands, 3);
    gone->blocks[0].accessed = group->blocks[0].accessed = inner->blocks[0].accessed = true;
    age(gone); /* the kernel reclaims it */
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_uint_eq(pages(), 200);
    ck_assert_int_eq(kernel.commands, 5);
    inner->is_removed = true; /* what it touched is freed with it */
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_uint_eq(pages(), 100);
    ck_assert_int_eq(begin(), 0);
    group->blocks[1].accessed = true;
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_uint_eq(pages(), 100);
}
END_TEST

/* Without commands the number of its directory's inode shows which of a path the group is. What was
 * removed below it counts, as its memory is still charged to the group. */
START_TEST(looks_back_at_no_removed_group_of_its_name)
{
    struct stat group;
    char path[512];

    kernel.on = true;
    open_wss("a", false, 0);
    snprintf(path, sizeof(path), "%s/" TREE_CGROUPS "/a", tree_path(tree));
    ck_assert_int_eq(stat(path, &group), 0);
    add_list(group.st_ino + 1, "/a", 0);
    add_list(group.st_ino, "/a", 0);
    add_list(group.st_ino, "/a", 1);
    add_list(group.st_ino + 2, "/a/removed", 0);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_window(2000), 0);
    ck_assert_uint_eq(pages(), 3 * BLOCKS * 100);
}
END_TEST

START_TEST(takes_no_longer_than_is_allowed)
{
    kernel.on = true;
    add_list(2, "/a", 0);
    add_list(2, "/a", 1);
    kernel.slow_us = 400000;
    open_wss("a", true, HR_NS_PER_S / 5);
    ck_assert_int_eq(begin(), -ETIME);
    ck_assert_int_eq(kernel.commands, 1);
    ck_assert_ptr_nonnull(strstr(reason.text, ": "));
    ck_assert_ptr_nonnull(strstr(reason.text, "limit of 200 ms"));
    ck_assert_int_eq(begin(), -ETIME); /* each call tries again */
    ck_assert_int_eq(kernel.commands, 2);
    kernel.slow_us = 0;
    ck_assert_int_eq(begin(), 0);
}
END_TEST

/* Where there is one list only, the command itself works, but takes too long. */
START_TEST(takes_no_longer_for_a_single_list)
{
    kernel.on = true;
    add_list(2, "/a", 0);
    kernel.slow_us = 400000;
    open_wss("a", true, HR_NS_PER_S / 5);
    ck_assert_int_eq(begin(), -ETIME);
    ck_assert_ptr_nonnull(strstr(reason.text, "takes the kernel 400 ms"));
    kernel.slow_us = 0;
    ck_assert_int_eq(begin(), 0);
    kernel.slow_us = 400000;
    ck_assert_int_eq(read_window(1000), -ETIME);
    ck_assert_ptr_nonnull(strstr(reason.text, "limit of 200 ms"));
}
END_TEST

/* However often that is asked for before it is read. */
START_TEST(ends_a_window_once_if_that_takes_too_long)
{
    kernel.on = true;
    add_list(2, "/a", 0);
    open_wss("a", true, HR_NS_PER_S / 5);
    ck_assert_int_eq(begin(), 0);
    kernel.slow_us = 400000;
    kernel.commands = 0;
    for (int i = 0; i < 3; i++)
        hr_wss_end_window(wss);
    ck_assert_int_eq(kernel.commands, 1);
    ck_assert_int_eq(read_window(1000), -ETIME);
    ck_assert_ptr_nonnull(strstr(reason.text, "limit of 200 ms"));
    ck_assert_int_eq(kernel.commands, 1);
    kernel.slow_us = 0;
    ck_assert_int_eq(begin(), 0);
    hr_wss_end_window(wss);
    ck_assert_int_eq(read_window(1000), 0);
}
END_TEST

START_TEST(ends_a_window_that_could_not_be_ended_before)
{
    kernel.on = true;
    add_list(2, "/a", 0);
    open_wss("a", true, 0);
    ck_assert_int_eq(begin(), 0);
    tree_remove(tree, FILE_PATH);
    kernel.reads = 0;
    for (int i = 0; i < 3; i++)
        hr_wss_end_window(wss);
    ck_assert_int_eq(kernel.reads, 1);
    tree_write(tree, FILE_PATH, "%s", "");
    ck_assert_msg(read_window(1000) == 0, "%s", reason.text);
}
END_TEST

START_TEST(may_have_to_wait_for_longer)
{
    kernel.on = true;
    add_list(2, "/a", 0);
    kernel.slow_us = 400000;
    kernel.is_preempted = true;
    open_wss("a", true, HR_NS_PER_S / 5);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_window(1000), 0);
}
END_TEST

/* An estimate from several groups applies to more of them. */
START_TEST(does_not_begin_what_will_take_longer_than_allowed)
{
    kernel.on = true;
    add_list(2, "/a", 0);
    kernel.slow_us = 100000;
    open_wss("a", true, HR_NS_PER_S / 2);
    ck_assert_int_eq(begin(), 0);
    ck_assert_int_eq(read_window(1000), 0);
    ck_assert_int_eq(kernel.commands, 2);
    for (uint64_t id = 3; id < 10; id++)
        add_list(id, "/a/b", 0);
    ck_assert_int_eq(begin(), -ETIME);
    ck_assert_int_eq(kernel.commands, 2);
}
END_TEST

/* --- Many targets --------------------------------------------------------- */

static struct hr_wss *many[TARGETS];

static void open_many(struct hr_wss_shared *shared)
{
    static char names[TARGETS][8];
    char path[64];

    for (unsigned i = 0; i < TARGETS; i++) {
        snprintf(names[i], sizeof(names[i]), "/g%u", i);
        snprintf(path, sizeof(path), TREE_CGROUPS "%.7s/cgroup.procs", names[i]);
        tree_write(tree, path, "%s", "");
        add_list(i + 2, names[i], 0);
        const struct hr_wss_options options = {
            .target = {.scope = HR_WSS_CGROUP, .cgroup = names[i] + 1},
            .method = HR_WSS_LRU_GEN,
            .aging = true,
            .shared = shared,
        };
        ck_assert_int_eq(hr_wss_open(root, &options, &many[i], &reason), 0);
    }
}

/* Those of a tenth of the targets. */
static void measure_tenth(unsigned tenth, bool has_begun)
{
    for (unsigned i = tenth; has_begun && i < TARGETS; i += 10) {
        kernel.lists[i].blocks[i % BLOCKS].accessed = true;
        hr_wss_end_window(many[i]);
        kernel.lists[i].blocks[(i + 1) % BLOCKS].accessed = true; /* too late for this window */
    }
    for (unsigned i = tenth; has_begun && i < TARGETS; i += 10) {
        int status = hr_wss_read(many[i], 10 * HR_NS_PER_S, &sample, &reason);
        ck_assert_msg(status == 0, "%u: %s", i, reason.text);
        ck_assert_uint_eq(pages(), 100);
        ck_assert_uint_eq(sample.window_ns, 10 * HR_NS_PER_S);
    }
    for (unsigned i = tenth; i < TARGETS; i += 10)
        ck_assert_int_eq(hr_wss_begin(many[i], 10 * HR_NS_PER_S, &reason), 0);
}

/* Each target is measured every 10 s, 50 of them a second: not four times each, but once a second
 * for all is the file read. */
START_TEST(reads_once_a_second_for_all_targets)
{
    struct hr_wss_shared *shared = hr_wss_shared_new();

    kernel.on = true;
    open_many(shared);
    kernel.reads = 0;
    for (unsigned second = 0; second < 40; second++) {
        measure_tenth(second % 10, second >= 10);
        kernel.clock_us += 1000000;
    }
    ck_assert_int_eq(kernel.commands, TARGETS * (4 + 3));
    ck_assert_int_le(kernel.reads, 40);
    for (unsigned i = 0; i < TARGETS; i++)
        hr_wss_close(many[i]);
    hr_wss_shared_free(shared);
}
END_TEST

/* What was commanded shows in what is read later only, however soon. */
START_TEST(notices_late_that_a_shared_generation_is_missing)
{
    struct hr_wss_shared *shared = hr_wss_shared_new();

    kernel.on = true;
    open_many(shared);
    kernel.ignored = 1;
    ck_assert_int_eq(hr_wss_begin(many[7], HR_NS_PER_S, &reason), 0);
    ck_assert_int_eq(hr_wss_read(many[7], HR_NS_PER_S, &sample, &reason), -EBUSY);
    ck_assert_int_eq(hr_wss_begin(many[7], HR_NS_PER_S, &reason), 0);
    kernel.lists[7].blocks[0].accessed = true;
    kernel.ignored = 1; /* but when it ends, it is commanded again */
    ck_assert_int_eq(hr_wss_read(many[7], HR_NS_PER_S, &sample, &reason), 0);
    ck_assert_uint_eq(pages(), 100);
    for (unsigned i = 0; i < TARGETS; i++)
        hr_wss_close(many[i]);
    hr_wss_shared_free(shared);
}
END_TEST

/* Paths sorted as they are would have "/a b" and "/a.b" between "/a" and "/a/b". */
START_TEST(finds_a_group_with_all_below_it)
{
    static const char *const paths[] = {"/a", "/a b", "/a.b", "/a/b", "/a/b/c", "/a0", "/ab"};
    struct hr_lru_gen_table table = {0};
    size_t count;

    kernel.on = true;
    for (unsigned i = 0; i < 7; i++)
        add_list(i + 1, paths[(i * 3) % 7], 0);
    ck_assert_int_eq(hr_lru_gen_table_read(&table, root, 1, 0), 0);
    const struct hr_lru_gen_list *list = hr_lru_gen_table_find(&table, "/a", &count);
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < count; i++)
        ck_assert(hr_lru_gen_is_below(&list[i], "/a"));
    hr_lru_gen_table_find(&table, "/a/b", &count);
    ck_assert_uint_eq(count, 2);
    hr_lru_gen_table_find(&table, "/", &count);
    ck_assert_uint_eq(count, 7);
    hr_lru_gen_table_find(&table, "/b", &count);
    ck_assert_uint_eq(count, 0);
    hr_lru_gen_table_free(&table);
}
END_TEST

/* Where the kernel doesn't walk page tables, another method is chosen or the reason is reported. */
START_TEST(is_not_chosen_for_aging_where_it_cannot)
{
    struct hr_wss_options options = {
        .target = {.scope = HR_WSS_SYSTEM}, .method = HR_WSS_AUTO, .aging = true};

    tree_write(tree, ENABLED, "0x0001\n");
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "write y to it"));
    options.aging = false;
    ck_assert_int_eq(hr_wss_open(root, &options, &wss, &reason), 0);
    ck_assert_int_eq(hr_wss_method(wss), HR_WSS_LRU_GEN);
}
END_TEST

/* --- Requirements --------------------------------------------------------- */

static const struct {
    const char *enabled; /* NULL: missing */
    bool file;
    int passive, aging;
    const char *remedy;
} needs[] = {
    {"0x0007\n", true, 0, 0, ""},
    {"0x0001\n", true, 0, -EOPNOTSUPP, "write y to it"},
    {"0x0000\n", true, -EOPNOTSUPP, -EOPNOTSUPP, "write y to /sys/kernel/mm/lru_gen/enabled"},
    {NULL, true, -ENOENT, -ENOENT, "CONFIG_LRU_GEN=y"},
    {"0x0007\n", false, -ENOENT, -ENOENT, "mount -t debugfs"},
    {"7\n", true, -EBADMSG, -EBADMSG, ""},
    {"0x\n", true, -EBADMSG, -EBADMSG, ""},
    {"0x00g7\n", true, -EBADMSG, -EBADMSG, ""},
    {"0x0007\n0", true, -EBADMSG, -EBADMSG, ""},
    {"0x000000007\n", true, -EBADMSG, -EBADMSG, ""},
};

START_TEST(reports_what_it_lacks)
{
    tree_remove(tree, ENABLED);
    tree_remove(tree, FILE_PATH);
    if (needs[_i].enabled != NULL)
        tree_write(tree, ENABLED, "%s", needs[_i].enabled);
    if (needs[_i].file)
        tree_write(tree, FILE_PATH, "%s", "");
    for (int aging = 0; aging < 2; aging++) {
        struct hr_reason why = {0};
        int expected = aging ? needs[_i].aging : needs[_i].passive;
        ck_assert_int_eq(hr_lru_gen_file_probe(root, aging, &why), expected);
        ck_assert_int_eq(why.error, expected);
        if (expected < 0)
            ck_assert_ptr_nonnull(strstr(why.text, needs[_i].remedy));
    }
}
END_TEST

static const struct {
    const char *release, *nodes, *enabled; /* the first two NULL: missing */
    int aging;
} nodes[] = {
    {"6.1.0-50-amd64\n", "0-1\n", "0x0007\n", -EOPNOTSUPP},
    {"6.11.10\n", "0,2\n", "0x0007\n", -EOPNOTSUPP},
    {"6.1.0-50-amd64\n", "0-1\n", "0x0003\n", 0},
    {"6.1.0-50-amd64\n", "0\n", "0x0007\n", 0},
    {"6.1.0-50-amd64\n", NULL, "0x0007\n", 0},
    {"6.12.1\n", "0-1\n", "0x0007\n", 0},
    {"7.2.0\n", "0-1\n", "0x0007\n", 0},
    {NULL, "0-1\n", "0x0007\n", 0},
};

/* What the kernel misses by itself isn't taken for untouched. */
START_TEST(does_not_age_several_nodes_where_that_misses_pages)
{
    tree_write(tree, ENABLED, "%s", nodes[_i].enabled);
    tree_write(tree, FILE_PATH, "%s", "");
    if (nodes[_i].release != NULL)
        tree_write(tree, "proc/sys/kernel/osrelease", "%s", nodes[_i].release);
    if (nodes[_i].nodes != NULL)
        tree_write(tree, "sys/devices/system/node/has_memory", "%s", nodes[_i].nodes);
    reason = (struct hr_reason){0};
    ck_assert_int_eq(hr_lru_gen_file_probe(root, true, &reason), nodes[_i].aging);
    ck_assert(nodes[_i].aging == 0 || strstr(reason.text, "0x0007): write 3 to it") != NULL);
    ck_assert_int_eq(hr_lru_gen_file_probe(root, false, &reason), 0);
}
END_TEST

START_TEST(measures_no_processes)
{
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_LRU_GEN, HR_WSS_PROCESSES, &reason), -EOPNOTSUPP);
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_LRU_GEN, HR_WSS_SYSTEM, &reason), 0);
}
END_TEST

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
    TCase *tests = tcase_create("wss lru_gen");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, parses_what_kernels_print, 0, ROWS(printed));
    tcase_add_loop_test(tests, understands_nothing_else, 0, ROWS(not_understood));
    tcase_add_loop_test(tests, distinguishes_groups_by_their_paths, 0, ROWS(groups));
    tcase_add_loop_test(tests, recalls_what_is_known_of_a_window, 0, ROWS(recalls));
    tcase_add_loop_test(tests, looks_back, 0, ROWS(looks));
    tcase_add_test(tests, does_not_report_a_part_as_the_whole);
    tcase_add_test(tests, looks_back_at_groups_only_that_are_counted);
    tcase_add_test(tests, keeps_no_text_between_calls);
    tcase_add_test(tests, counts_what_is_accessed_since_the_beginning);
    tcase_add_test(tests, measures_all_groups_for_the_system);
    tcase_add_test(tests, retries_while_another_process_ages);
    tcase_add_test(tests, reports_that_others_aged_too_often);
    tcase_add_test(tests, follows_groups_that_come_and_go);
    tcase_add_loop_test(tests, reads_again_where_a_group_is_missing, 0, 2);
    tcase_add_test(tests, reads_again_for_a_new_group);
    tcase_add_test(tests, knows_removed_groups_by_commands);
    tcase_add_test(tests, looks_back_at_no_removed_group_of_its_name);
    tcase_add_test(tests, takes_no_longer_than_is_allowed);
    tcase_add_test(tests, takes_no_longer_for_a_single_list);
    tcase_add_test(tests, ends_a_window_once_if_that_takes_too_long);
    tcase_add_test(tests, ends_a_window_that_could_not_be_ended_before);
    tcase_add_test(tests, may_have_to_wait_for_longer);
    tcase_add_test(tests, does_not_begin_what_will_take_longer_than_allowed);
    tcase_add_test(tests, reads_once_a_second_for_all_targets);
    tcase_add_test(tests, notices_late_that_a_shared_generation_is_missing);
    tcase_add_test(tests, finds_a_group_with_all_below_it);
    tcase_add_test(tests, is_not_chosen_for_aging_where_it_cannot);
    tcase_add_loop_test(tests, reports_what_it_lacks, 0, ROWS(needs));
    tcase_add_loop_test(tests, does_not_age_several_nodes_where_that_misses_pages, 0, ROWS(nodes));
    tcase_add_test(tests, measures_no_processes);
    return run_suite("wss lru_gen", tests);
}
