/* SPDX-License-Identifier: MIT */
#include "collectors/wss/idle_harness.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headroom/clock.h"

struct tree *tree;
struct hr_root *root;
struct hr_wss *wss;
struct hr_reason reason;
struct hr_wss_sample sample;
uint64_t page_size;

/* --- The machine ---------------------------------------------------------- */

void add_process(int pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    tree_write(tree, path, "%d (%s) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 77 1\n", pid, name);
    snprintf(path, sizeof(path), "proc/%d/comm", pid);
    tree_write(tree, path, "%s\n", name);
    snprintf(path, sizeof(path), "proc/%d/statm", pid);
    tree_write(tree, path, "1000 100 3 4 0 6 0\n");
}

void add_maps(int pid)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/maps", pid);
    tree_write(tree, path, "00010000-00020000 rw-p 00000000 00:00 0 \n");
    snprintf(path, sizeof(path), "proc/%d/pagemap", pid);
    fake_pages_put(path, 0x1ffff / page_size, 0);
}

void set_up(void)
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
    fake_pages_set_own(PRESENT | 7);
    add_process(1, "init");
    add_maps(1);
    add_process(42, "mysqld");
    add_maps(42);
}

void tear_down(void)
{
    hr_wss_close(wss);
    hr_root_close(root);
    fake_pages_end();
    tree_free(tree);
}

void open_wss(const struct hr_wss_target *target, uint64_t max_scan_ns)
{
    const struct hr_wss_options options = {
        .target = *target, .method = HR_WSS_IDLE, .max_scan_ns = max_scan_ns};

    int status = hr_wss_open(root, &options, &wss, &reason);
    ck_assert_msg(status == 0, "%s", reason.text);
}

void open_process(void)
{
    open_wss(&(struct hr_wss_target){.processes = {.by = HR_PROCESS_BY_PID, .pid = 42}}, 0);
}

uint64_t read_pages(void)
{
    int status = hr_wss_read(wss, HR_NS_PER_S, &sample, &reason);

    ck_assert_msg(status == 0, "%s", reason.text);
    ck_assert_uint_eq(sample.referenced_bytes % page_size, 0);
    return sample.referenced_bytes / page_size;
}

/* --- Pages of processes --------------------------------------------------- */

const struct pages *next_row(const struct scene *scene, size_t *index)
{
    for (; *index < MAX_ROWS; (*index)++)
        if (scene->rows[*index].count > 0)
            return &scene->rows[(*index)++];
    return NULL;
}

/* Puts a page into pagemap, and its flags into kpageflags. */
static void place_page(int pid, const struct pages *row, unsigned i, bool present)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/pagemap", pid);
    fake_pages_put(path, row->address / page_size + i, present ? row->entry | (row->pfn + i) : 0);
    if (row->pfn < MEMORY)
        fake_pages_put("proc/kpageflags", row->pfn + i, i == 0 ? row->first_flags : row->flags);
}

void place(int pid, const struct scene *scene, bool later)
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

/* The rows' pages are of 4 KiB, and pagemap must have an entry after the last one. */
void begin_scene(const struct scene *scene)
{
    const struct pages *row;

    for (size_t i = 0; (row = next_row(scene, &i)) != NULL;)
        fake_pages_put("proc/42/pagemap", row->address / page_size + row->count, 0);
    place(42, scene, false);
    open_process();
    int status = hr_wss_begin(wss, HR_NS_PER_S, &reason);
    ck_assert_msg(status == 0, "%s: %s", scene->what, reason.text);
}

/* --- Pages of cgroups ----------------------------------------------------- */

static uint64_t inode_of(const char *group)
{
    char path[512];
    struct stat status;

    snprintf(path, sizeof(path), "%s/%s/%s", tree_path(tree), TREE_CGROUPS, group);
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_ino;
}

void charge(const char *group, uint64_t pfn, uint64_t flags)
{
    fake_pages_put("proc/kpagecgroup", pfn, group != NULL ? inode_of(group) : 0);
    fake_pages_put("proc/kpageflags", pfn, flags);
}

/* A process in a group, with pages. */
void add_member(const char *group, int pid, const struct scene *scene)
{
    const struct pages *row;
    char path[128];

    add_process(pid, "member");
    snprintf(path, sizeof(path), "proc/%d/pagemap", pid);
    for (size_t i = 0; (row = next_row(scene, &i)) != NULL;)
        fake_pages_put(path, row->address / page_size + row->count, 0);
    place(pid, scene, false);
    snprintf(path, sizeof(path), TREE_CGROUPS "/%s/cgroup.procs", group);
    tree_write(tree, path, "%d\n", pid);
}

static const struct scene of_a = {
    "",
    0,
    {{0x10000, PRESENT, 99, 2, PLAIN, PLAIN, ALWAYS, LEFT_ALONE, 0},
     {0x20000, PRESENT, 103, 2, PLAIN, 0, ALWAYS, LEFT_ALONE, 0},
     {0x200000, PRESENT, 1024, 512, PLAIN | HEAD | THP, LRU | TAIL | THP, ALWAYS, LEFT_ALONE, 0}}};

static const struct scene of_c = {
    "",
    0,
    {{0x10000, PRESENT, 102, 1, PLAIN, 0, ALWAYS, LEFT_ALONE, 0},
     {0x20000, PRESENT, 100000, 2, PLAIN, PLAIN, ALWAYS, LEFT_ALONE, 0}}};

void set_groups(void)
{
    tree_add_group(tree, "a/b/c", false);
    tree_add_group(tree, "ab", false);
    tree_write(tree, TREE_CGROUPS "/a/memory.stat", "anon 0\n");
    add_member("a", 50, &of_a);
    add_member("a/b/c", 51, &of_c);
    charge("ab", 99, PLAIN);
    charge("a", 100, PLAIN);
    charge("a/b", 101, LRU); /* of a file, not mapped by any of them */
    charge("a/b/c", 102, PLAIN);
    charge(NULL, 103, PLAIN);
    charge("a", 104, 0); /* the kernel's */
    charge("a", 1024, PLAIN | HEAD | THP);
    for (uint64_t pfn = 1025; pfn < 1536; pfn++)
        charge(pfn % 2 == 0 ? "a" : NULL, pfn, LRU | TAIL | THP);
    charge("a/b/c", 100000, PLAIN);
    charge("ab", 100001, PLAIN);
}

void open_group(void)
{
    open_wss(&(struct hr_wss_target){.scope = HR_WSS_CGROUP, .cgroup = "a"}, 0);
}
