/* SPDX-License-Identifier: MIT */
#include "support/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tree {
    char path[256];
};

static const char *const resources[] = {"cpu", "memory", "io"};

#define RESOURCE_COUNT (sizeof(resources) / sizeof(resources[0]))

__attribute__((noreturn)) static void fail(const char *doing, const char *path)
{
    fprintf(stderr, "tree: can't %s %s: %s\n", doing, path, strerror(errno));
    abort();
}

/* Puts a formatted path together; one that is too long is a test's mistake. */
__attribute__((format(printf, 2, 3))) static void print_path(char path[PATH_MAX],
                                                             const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(path, PATH_MAX, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        fail("form", format);
    }
}

/* --- Files ---------------------------------------------------------------- */

static void make_directory(const char *path)
{
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        fail("make", path);
}

/* Makes the directories that lie between the tree's own and the last slash of a path in it. */
static void make_directories_above(const struct tree *tree, char *path)
{
    char *slash = path + strlen(tree->path);

    while ((slash = strchr(slash + 1, '/')) != NULL) {
        *slash = '\0';
        make_directory(path);
        *slash = '/';
    }
}

void tree_add_directory(struct tree *tree, const char *path)
{
    char full[PATH_MAX];

    print_path(full, "%s/%s/", tree->path, path);
    make_directories_above(tree, full);
}

void tree_write(struct tree *tree, const char *path, const char *format, ...)
{
    char full[PATH_MAX];
    va_list arguments;

    print_path(full, "%s/%s", tree->path, path);
    make_directories_above(tree, full);
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        fail("write", full);
    va_start(arguments, format);
    int length = vdprintf(fd, format, arguments);
    va_end(arguments);
    if (length < 0 || close(fd) < 0)
        fail("write", full);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status, (void)type, (void)ftw;
    return remove(path);
}

static void remove_all(const char *path)
{
    if (nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0)
        fail("remove", path);
}

void tree_remove(struct tree *tree, const char *path)
{
    char full[PATH_MAX];

    print_path(full, "%s/%s", tree->path, path);
    remove_all(full);
}

void tree_rename(struct tree *tree, const char *from, const char *to)
{
    char full_from[PATH_MAX], full_to[PATH_MAX];

    print_path(full_from, "%s/%s", tree->path, from);
    print_path(full_to, "%s/%s", tree->path, to);
    make_directories_above(tree, full_to);
    if (access(full_to, F_OK) == 0) {
        errno = EEXIST;
        fail("rename to", full_to);
    }
    if (rename(full_from, full_to) < 0)
        fail("rename", full_from);
}

/* --- Processes ------------------------------------------------------------ */

void tree_set_shareable(struct tree *tree, int pid, uint64_t rss_bytes, uint64_t shareable_bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    char path[PATH_MAX];

    print_path(path, "proc/%d/statm", pid);
    tree_write(tree, path, "999999 %" PRIu64 " %" PRIu64 " 4 0 6 0\n", rss_bytes / page,
               shareable_bytes / page);
}

void tree_set_resident(struct tree *tree, int pid, uint64_t rss_bytes)
{
    tree_set_shareable(tree, pid, rss_bytes, 0);
}

void tree_add_process(struct tree *tree, const struct tree_process *process)
{
    char path[PATH_MAX];

    print_path(path, "proc/%d/stat", process->pid);
    tree_write(tree, path,
               "%d (%s) %c 1 4711 4711 0 -1 %u 1 2 3 4 5 6 7 8 20 0 1 0 %" PRIu64 " 2703360 236 "
               "18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0\n",
               process->pid, process->name, process->state != 0 ? process->state : 'S',
               process->flags, process->started);
    print_path(path, "proc/%d/comm", process->pid);
    tree_write(tree, path, "%s\n", process->name);
    tree_set_resident(tree, process->pid, process->rss_bytes);
}

/* --- Groups --------------------------------------------------------------- */

void tree_set_populated(struct tree *tree, const char *group, bool populated)
{
    char path[PATH_MAX];

    print_path(path, "%s/%s/%s", tree->path, TREE_CGROUPS, group);
    if (access(path, F_OK) < 0)
        fail("populate", path);
    print_path(path, TREE_CGROUPS "/%s/cgroup.procs", group);
    tree_write(tree, path, "%s", populated ? "4711\n" : "");
    print_path(path, TREE_CGROUPS "/%s/cgroup.events", group);
    tree_write(tree, path, "populated %d\nfrozen 0\n", populated);
}

static void fill_group(struct tree *tree, const char *group, bool populated)
{
    char path[PATH_MAX];

    print_path(path, TREE_CGROUPS "/%s", group);
    tree_add_directory(tree, path);
    tree_set_populated(tree, group, populated);
    print_path(path, TREE_CGROUPS "/%s/cgroup.pressure", group);
    tree_write(tree, path, "1\n");
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        tree_pressure(tree, group, resources[i], 0, 0);
}

/* A new one appears with all of its files, as the kernel's do: a plugin's thread may look at any
 * moment. */
static void add_one_group(struct tree *tree, const char *group, bool populated)
{
    static const char beside[] = "../new group";
    char path[PATH_MAX];

    print_path(path, "%s/%s/%s", tree->path, TREE_CGROUPS, group);
    if (access(path, F_OK) == 0) {
        fill_group(tree, group, populated);
        return;
    }
    fill_group(tree, beside, populated);
    print_path(path, TREE_CGROUPS "/%s", group);
    tree_rename(tree, TREE_CGROUPS "/../new group", path);
}

void tree_add_group(struct tree *tree, const char *group, bool populated)
{
    char path[PATH_MAX], above[PATH_MAX];

    for (const char *slash = group; (slash = strchr(slash, '/')) != NULL; slash++) {
        print_path(above, "%.*s", (int)(slash - group), group);
        print_path(path, "%s/%s/%s", tree->path, TREE_CGROUPS, above);
        if (access(path, F_OK) < 0)
            add_one_group(tree, above, populated);
    }
    add_one_group(tree, group, populated);
}

void tree_remove_group(struct tree *tree, const char *group)
{
    char path[PATH_MAX];

    print_path(path, TREE_CGROUPS "/%s", group);
    tree_remove(tree, path);
}

static void print_pressure_path(char path[PATH_MAX], const char *group, const char *resource)
{
    if (group != NULL)
        print_path(path, TREE_CGROUPS "/%s/%s.pressure", group, resource);
    else
        print_path(path, "proc/pressure/%s", resource);
}

void tree_pressure(struct tree *tree, const char *group, const char *resource,
                   uint64_t some_total_us, uint64_t full_total_us)
{
    char path[PATH_MAX], some[128] = "";

    print_pressure_path(path, group, resource);
    if (strcmp(resource, "irq") != 0)
        snprintf(some, sizeof(some), "some avg10=%.2f avg60=%.2f avg300=%.2f total=%" PRIu64 "\n",
                 TREE_SOME_AVG10, TREE_SOME_AVG60, TREE_SOME_AVG300, some_total_us);
    tree_write(tree, path, "%sfull avg10=%.2f avg60=%.2f avg300=%.2f total=%" PRIu64 "\n", some,
               TREE_FULL_AVG10, TREE_FULL_AVG60, TREE_FULL_AVG300, full_total_us);
}

void tree_remove_pressure(struct tree *tree, const char *group, const char *resource)
{
    char path[PATH_MAX];

    print_pressure_path(path, group, resource);
    tree_remove(tree, path);
}

/* --- The tree ------------------------------------------------------------- */

/* Makes the tree's directory in one of the usual places. */
static void make_home(struct tree *tree)
{
    const char *const places[] = {getenv("HEADROOM_TEST_TREES"), "/dev/shm", "/tmp"};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (places[i] == NULL)
            continue;
        snprintf(tree->path, sizeof(tree->path), "%s/headroom-tree-XXXXXX", places[i]);
        if (mkdtemp(tree->path) != NULL)
            return;
    }
    fail("make", tree->path);
}

struct tree *tree_new(void)
{
    struct tree *tree = calloc(1, sizeof(*tree));

    if (tree == NULL)
        fail("allocate", "a tree");
    make_home(tree);
    tree_write(tree, "proc/1/mounts",
               "proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0\n"
               "cgroup2 /" TREE_CGROUPS " cgroup2 rw,nosuid,nodev,noexec,relatime 0 0\n");
    tree_write(tree, TREE_CGROUPS "/cgroup.procs", "1\n");
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        tree_pressure(tree, NULL, resources[i], 0, 0);
    return tree;
}

void tree_free(struct tree *tree)
{
    remove_all(tree->path);
    free(tree);
}

const char *tree_path(const struct tree *tree)
{
    return tree->path;
}
