/* The method idle in a tree of files, and page by page: which bits are fake_pages.written, and what
 * is made of those that are read. The bitmap behaves as the kernel's does: writing sets bits, of
 * the first pages of folios that are on an LRU list only; it ends with the memory. */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_inodes.h"
#include "fake_pages.h"
#include "few_descriptors.h"
#include "headroom/root.h"
#include "headroom/wss.h"
#include "page_set.h"
#include "pagemap.h"
#include "suite.h"
#include "tree.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NS_PER_S     UINT64_C(1000000000)

static struct tree *tree;
static struct hr_root *root;
static struct hr_wss *wss;
static struct hr_wss_reason reason;
static struct hr_wss_sample sample;
static uint64_t page_size;

/* --- The machine ---------------------------------------------------------- */

/* What the probe looks at: the page of one of its variables. */
static void fill_own_pagemap(uint64_t entry)
{
    volatile char own = 0;

    for (uint64_t i = 0; i < 512; i++)
        fake_pages_put("proc/self/pagemap", (uintptr_t)&own / page_size - 256 + i, entry);
}

static void add_process(int pid, const char *name)
{
    const struct tree_process process = {
        .pid = pid, .name = name, .started = 77, .rss_bytes = 100 * page_size};

    tree_add_process(tree, &process);
}

/* It has the 16 pages at 64 KiB, of which none is there. */
static void add_maps(int pid)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/maps", pid);
    tree_write(tree, path, "00010000-00020000 rw-p 00000000 00:00 0 \n");
    snprintf(path, sizeof(path), "proc/%d/pagemap", pid);
    fake_pages_put(path, 0x1ffff / page_size, 0);
}

static void set_up(void)
{
    page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    wss = NULL;
    tree = tree_new();
    fake_pages_begin(tree);
    ck_assert_int_eq(hr_root_open(tree_path(tree), &root), 0);
    tree_add_directory(tree, "sys/kernel/mm/page_idle");
    tree_add_directory(tree, "proc/self");
    fake_pages_put(BITMAP, 0, 0);
    fake_pages_put("proc/kpageflags", 0, 0);
    fake_pages_put("proc/kpagecgroup", 0, 0);
    fill_own_pagemap(PRESENT | 7);
    add_process(42, "mysqld");
    add_maps(42);
}

static void tear_down(void)
{
    hr_wss_close(wss);
    hr_root_close(root);
    fake_pages_end();
    tree_free(tree);
}

static void open_wss(const struct hr_wss_target *target, uint64_t max_scan_ns)
{
    const struct hr_wss_options options = {
        .target = *target, .method = HR_WSS_IDLE, .max_scan_ns = max_scan_ns};

    int status = hr_wss_open(root, &options, &wss, &reason);
    ck_assert_msg(status == 0, "%s", reason.text);
}

static void open_process(void)
{
    open_wss(&(struct hr_wss_target){.processes = {.by = HR_PROCESS_BY_PID, .pid = 42}}, 0);
}

static uint64_t read_pages(void)
{
    int status = hr_wss_read(wss, NS_PER_S, &sample, &reason);

    ck_assert_msg(status == 0, "%s", reason.text);
    ck_assert_uint_eq(sample.referenced_bytes % page_size, 0);
    return sample.referenced_bytes / page_size;
}

/* --- Pages of processes --------------------------------------------------- */

/* Pages side by side, in addresses and in memory. */
struct pages {
    uint64_t address, entry; /* without the page frame */
    uint64_t pfn;
    unsigned count;
    uint64_t first_flags, flags; /* of the first one, and of the others */
    enum { ALWAYS, GONE, FRESH } when;
    enum { LEFT_ALONE, TOUCHED } what;
    uint64_t head; /* whose bit is to be fake_pages.written; 0: none's */
};

#define MAX_ROWS 5

static const struct scene {
    const char *what;
    unsigned referenced;
    struct pages rows[MAX_ROWS];
} scenes[] = {
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
    {"a huge page that isn't, one that is, as kernels since 6.10 tell them",
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

static const struct pages *next_row(const struct scene *scene, size_t *index)
{
    for (; *index < MAX_ROWS; (*index)++)
        if (scene->rows[*index].count > 0)
            return &scene->rows[(*index)++];
    return NULL;
}

/* Bits that the process itself has nothing to do with; also of neighbours. */
static void place_page(int pid, const struct pages *row, unsigned i, bool present)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/pagemap", pid);
    fake_pages_put(path, row->address / page_size + i, present ? row->entry | (row->pfn + i) : 0);
    if (row->pfn < MEMORY)
        fake_pages_put("proc/kpageflags", row->pfn + i, i == 0 ? row->first_flags : row->flags);
}

static void place(int pid, const struct scene *scene, bool later)
{
    const struct pages *row;
    char path[64], line[80], text[512] = "";

    for (size_t i = 0; (row = next_row(scene, &i)) != NULL;) {
        bool present = row->when == ALWAYS || (row->when == FRESH) == later;
        for (unsigned n = 0; n < row->count; n++)
            if (present || row->when == GONE)
                place_page(pid, row, n, present);
        snprintf(line, sizeof(line), "%08" PRIx64 "-%08" PRIx64 " rw-p 00000000 00:00 0 \n",
                 row->address, row->address + row->count * page_size);
        strcat(text, line);
    }
    snprintf(path, sizeof(path), "proc/%d/maps", pid);
    tree_write(tree, path, "%sffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n",
               text);
}

/* The rows' pages are of 4 KiB, and the last one's end must have an entry. */
static void begin_scene(const struct scene *scene)
{
    const struct pages *row;

    for (size_t i = 0; (row = next_row(scene, &i)) != NULL;)
        fake_pages_put("proc/42/pagemap", row->address / page_size + row->count, 0);
    place(42, scene, false);
    open_process();
    int status = hr_wss_begin(wss, NS_PER_S, &reason);
    ck_assert_msg(status == 0, "%s: %s", scene->what, reason.text);
}

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

/* A single page is its own head; pages side by side that are no folio have a bit each. */
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
    ck_assert_uint_eq(hr_page_set_count(&fake_pages.written), hr_page_set_count(&wanted));
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

/* Bits of neighbours are what they were, in words that are fake_pages.written and in others. */
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
    ck_assert_uint_eq(hr_page_set_count(&fake_pages.written), 1);
}
END_TEST

/* A page of a folio that is split since is a folio of its own, and idle as that was. */
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

/* What reclaim or compaction has taken off its list for now reads as touched, but isn't known. */
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

/* The last word can be fake_pages.written, but not read; beyond it there is nothing. */
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
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, NULL), 0);
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
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, &reason), 0);
    ck_assert_uint_eq(hr_page_set_count(&fake_pages.written), 6);
    for (uint64_t pfn = 100; pfn < 106; pfn++)
        fake_pages_set_idle(pfn, false);
    ck_assert_uint_eq(read_pages(), 6);
    ck_assert_uint_eq(sample.process_count, 2);
    ck_assert_uint_eq(sample.rss_bytes, 200 * page_size);
    tree_remove(tree, "proc/43");
    ck_assert_uint_eq(read_pages(), 4);
    ck_assert_uint_eq(sample.process_count, 1);
    ck_assert_uint_eq(sample.ended_count, 1);
    tree_write(tree, "proc/42/maps", "%s", ""); /* it has given its memory back */
    ck_assert_int_eq(hr_wss_read(wss, NS_PER_S, &sample, &reason), -ESRCH);
    hr_wss_close(wss);
    wss = NULL;
    ck_assert_int_eq(count_descriptors(), descriptors);
}
END_TEST

/* --- Cgroups -------------------------------------------------------------- */

static uint64_t inode_of(const char *group)
{
    char path[512];
    struct stat status;

    snprintf(path, sizeof(path), "%s/%s/%s", tree_path(tree), TREE_CGROUPS, group);
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_ino;
}

static void charge(const char *group, uint64_t pfn, uint64_t flags)
{
    fake_pages_put("proc/kpagecgroup", pfn, group != NULL ? inode_of(group) : 0);
    fake_pages_put("proc/kpageflags", pfn, flags);
}

static void set_groups(void)
{
    tree_add_group(tree, "a/b/c", true);
    tree_add_group(tree, "ab", true);
    tree_write(tree, TREE_CGROUPS "/a/memory.stat", "anon 0\n");
    charge("ab", 99, PLAIN);
    charge("a", 100, PLAIN);
    charge("a/b", 101, LRU); /* of a file, not mapped */
    charge("a/b/c", 102, PLAIN);
    charge(NULL, 103, PLAIN);
    charge("a", 104, 0); /* the kernel's */
    charge("a", 1024, PLAIN | HEAD | THP);
    for (uint64_t pfn = 1025; pfn < 1536; pfn++)
        charge(pfn % 2 == 0 ? "a" : NULL, pfn, LRU | TAIL | THP);
    charge("a/b/c", 100000, PLAIN);
    charge("ab", 100001, PLAIN);
}

static void open_group(void)
{
    open_wss(&(struct hr_wss_target){.scope = HR_WSS_CGROUP, .cgroup = "a"}, 0);
}

START_TEST(counts_pages_of_a_cgroup)
{
    static const uint64_t heads[] = {100, 101, 102, 1024, 100000};

    set_groups();
    open_group();
    int status = hr_wss_begin(wss, NS_PER_S, &reason);
    ck_assert_msg(status == 0, "%s", reason.text);
    for (size_t i = 0; i < COUNT(heads); i++)
        ck_assert(hr_page_set_has(&fake_pages.written, heads[i]));
    ck_assert_uint_eq(hr_page_set_count(&fake_pages.written), COUNT(heads));
    ck_assert_uint_eq(read_pages(), 0);
    ck_assert(sample.has_rss);
    ck_assert_uint_eq(sample.rss_bytes, (4 + 512) * page_size);
    fake_pages_set_idle(101, false);
    fake_pages_set_idle(100000, false);
    ck_assert_uint_eq(read_pages(), 2);
    fake_pages_set_idle(1024, false);
    ck_assert_uint_eq(read_pages(), 514);
    ck_assert_uint_eq(sample.process_count, 0);
}
END_TEST

START_TEST(knows_groups_made_since)
{
    set_groups();
    open_group();
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, NULL), 0);
    tree_add_group(tree, "a/new", true);
    charge("a/new", 200, PLAIN);
    ck_assert_uint_eq(read_pages(), 1);
    tree_remove_group(tree, "a");
    ck_assert_int_eq(hr_wss_read(wss, NS_PER_S, &sample, &reason), -ENODEV);
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, &reason), -ENODEV);
}
END_TEST

START_TEST(wants_the_controller)
{
    set_groups();
    tree_remove(tree, TREE_CGROUPS "/a/memory.stat");
    open_group();
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, &reason), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(reason.text, "+memory"));
    ck_assert_uint_eq(hr_page_set_count(&fake_pages.written), 0);
}
END_TEST

/* --- What can go wrong ---------------------------------------------------- */

static void break_v1(void)
{
    tree_add_directory(tree, "sys/fs/cgroup/memory");
    tree_write(tree, "sys/fs/cgroup/memory/cgroup.procs", "%s", "");
    tree_write(tree, "proc/1/mounts",
               "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
               "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n");
}

static void break_pagemap(void)
{
    fill_own_pagemap(PRESENT);
}

static const struct {
    const char *removed;
    void (*break_it)(void);
    bool of_cgroup;
    int error;
    const char *text;
} obstacles[] = {
    {BITMAP, NULL, false, -ENOENT, "CONFIG_IDLE_PAGE_TRACKING=y"},
    {"proc/kpageflags", NULL, false, -ENOENT, "CONFIG_PROC_PAGE_MONITOR=y"},
    {"proc/self/pagemap", NULL, false, -ENOENT, "CONFIG_PROC_PAGE_MONITOR=y"},
    {"proc/kpagecgroup", NULL, true, -ENOENT, "CONFIG_MEMCG=y"},
    {NULL, break_pagemap, false, -EPERM, "CAP_SYS_ADMIN"},
    {NULL, break_v1, true, -EOPNOTSUPP, "cgroup_no_v1=memory"},
};

START_TEST(tells_what_is_missing)
{
    enum hr_wss_scope scope = obstacles[_i].of_cgroup ? HR_WSS_CGROUP : HR_WSS_PROCESSES;

    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_IDLE, scope, &reason), 0);
    if (obstacles[_i].removed != NULL)
        tree_remove(tree, obstacles[_i].removed);
    else
        obstacles[_i].break_it();
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_IDLE, scope, &reason), obstacles[_i].error);
    ck_assert_msg(strstr(reason.text, obstacles[_i].text) != NULL, "%s", reason.text);
    ck_assert_int_eq(hr_wss_probe(root, HR_WSS_IDLE, HR_WSS_SYSTEM, &reason), -EOPNOTSUPP);
}
END_TEST

static const struct scene one_page = {
    "", 0, {{0x10000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100}}};

START_TEST(never_takes_hidden_frames_for_none)
{
    begin_scene(&one_page);
    fake_pages_put("proc/42/pagemap", 0x10000 / page_size, PRESENT);
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, &reason), -EPERM);
    ck_assert_ptr_nonnull(strstr(reason.text, "CAP_SYS_ADMIN"));
}
END_TEST

static const char *const no_maps[] = {
    "x\n",
    "00010000-00020000 rw-p 0 00:00 0",
    "00020000-00010000 r\n",
    "11112222333344445-6 r\n",
    "00010000-00020000\n",
};

START_TEST(refuses_what_is_no_maps)
{
    open_process();
    tree_write(tree, "proc/42/maps", "%s", no_maps[_i]);
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, &reason), -EBADMSG);
}
END_TEST

/* Its addresses are there, but pagemap ends: the memory was given back in between. */
START_TEST(notices_an_end_in_between)
{
    open_process();
    tree_write(tree, "proc/42/maps", "00010000-00040000 rw-p 0 00:00 0\n");
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, &reason), -ESRCH);
}
END_TEST

/* More lines than fit one read, ranges without a gap, and ones of several reads. */
START_TEST(reads_long_maps)
{
    size_t size = (size_t)1 << 20, length = 0;
    char *text = malloc(size);

    open_process();
    for (unsigned i = 0; i < 5000; i++)
        length +=
            (size_t)snprintf(text + length, size - length,
                             "%08x-%08x rw-p 00000000 00:00 0     /some/file/%04d.so\n",
                             0x10000 + i * 0x4000, 0x10000 + i * 0x4000 + 0x1000 * (2 + i % 3), i);
    snprintf(text + length, size - length, "7f0000000000-7f0020000000 rw-p 00000000 00:00 0\n");
    tree_write(tree, "proc/42/maps", "%s", text);
    fake_pages_put("proc/42/pagemap", 0x7f0020000000 / page_size - 1, PRESENT | 6000);
    fake_pages_put("proc/kpageflags", 6000, PLAIN);
    for (unsigned i = 0; i < 5000; i++) {
        fake_pages_put("proc/42/pagemap", (0x10000 + i * 0x4000) / page_size + 1,
                       PRESENT | (100 + i));
        fake_pages_put("proc/kpageflags", 100 + i, PLAIN);
    }
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, &reason), 0);
    ck_assert_uint_eq(hr_page_set_count(&fake_pages.written), 5001);
    free(text);
}
END_TEST

/* Three ranges, in memory in two chunks. */
static const struct scene spread = {
    "",
    0,
    {{0x10000, PRESENT, 100, 1, PLAIN, 0, ALWAYS, TOUCHED, 100},
     {0x20000, PRESENT, 101, 1, PLAIN, 0, ALWAYS, TOUCHED, 101},
     {0x30000, PRESENT, 40000, 1, PLAIN, 0, ALWAYS, TOUCHED, 40000}}};

/* Looks at the clock: for the deadline, at each range, after each chunk. */
START_TEST(gives_up_in_time)
{
    int begin_count = 0, read_count = 0;

    place(42, &spread, false);
    open_wss(&(struct hr_wss_target){.processes = {.by = HR_PROCESS_BY_PID, .pid = 42}}, NS_PER_S);
    fake_pages.jump_ns = 2 * NS_PER_S;
    for (int look = 0; look < 20; look++) {
        fake_pages.looks_left = look;
        int status = hr_wss_begin(wss, NS_PER_S, &reason);
        ck_assert(status == 0 || status == -ETIME);
        begin_count += status == -ETIME;
        ck_assert(status == 0 || strstr(reason.text, "1000 ms") != NULL);
        fake_pages.looks_left = 20;
        ck_assert_int_eq(hr_wss_read(wss, NS_PER_S, &sample, &reason), status == 0 ? 0 : -EINVAL);
    }
    ck_assert_int_eq(begin_count, 5);
    ck_assert_int_eq(hr_wss_begin(wss, NS_PER_S, &reason), 0);
    for (int look = 0; look < 20; look++) {
        fake_pages.looks_left = look;
        int status = hr_wss_read(wss, NS_PER_S, &sample, &reason);
        ck_assert(status == 0 || status == -ETIME);
        read_count += status == -ETIME;
    }
    ck_assert_int_eq(read_count, 5);
}
END_TEST

START_TEST(gives_up_a_cgroup_in_time)
{
    int count = 0;

    set_groups();
    open_wss(&(struct hr_wss_target){.scope = HR_WSS_CGROUP, .cgroup = "a"}, NS_PER_S);
    fake_pages.jump_ns = 2 * NS_PER_S;
    for (int look = 0; look < 30; look++) {
        fake_pages.looks_left = look;
        count += hr_wss_begin(wss, NS_PER_S, &reason) == -ETIME;
    }
    ck_assert_int_eq(count, 5 + 2); /* four chunks and their end; two of them have pages */
}
END_TEST

/* Each allocation of a beginning and a reading fails once. */
START_TEST(survives_a_lack_of_memory)
{
    int status = -ENOMEM, failures = -1;

    set_groups();
    place(42, &one_page, false);
    if (_i == 0)
        open_process();
    else
        open_group();
    for (; status == -ENOMEM && failures < 100; failures++) {
        fake_pages.allocations_left = failures + 1;
        status = hr_wss_begin(wss, NS_PER_S, NULL);
        if (status == 0)
            status = hr_wss_read(wss, NS_PER_S, &sample, NULL);
        fake_pages.allocations_left = -1;
    }
    ck_assert_int_eq(status, 0);
    ck_assert_int_gt(failures, 8);
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
    tcase_add_test(tests, counts_pages_of_a_cgroup);
    tcase_add_test(tests, knows_groups_made_since);
    tcase_add_test(tests, wants_the_controller);
    tcase_add_loop_test(tests, tells_what_is_missing, 0, COUNT(obstacles));
    tcase_add_test(tests, never_takes_hidden_frames_for_none);
    tcase_add_loop_test(tests, refuses_what_is_no_maps, 0, COUNT(no_maps));
    tcase_add_test(tests, notices_an_end_in_between);
    tcase_add_test(tests, reads_long_maps);
    tcase_add_test(tests, gives_up_in_time);
    tcase_add_test(tests, gives_up_a_cgroup_in_time);
    tcase_add_loop_test(tests, survives_a_lack_of_memory, 0, 2);
    return run_suite("wss_idle", tests);
}
