/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_psi.c - the cost of sampling pressure, as a ratio against a bare loop over the same
 * files in the same run.
 *
 *     bench_psi [GROUPS…]      default: 100 1000 10000
 *
 * Each round measures the CPU time of the bare loop and of the collectors, one after the other; the
 * table has the medians. Where descriptors suffice for all files, the bare loop is pread of files
 * kept open; beyond that it is open, read and close by path. At last groups come and go, 1,000 a
 * second.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "headroom/cgroup.h"
#include "headroom/psi.h"
#include "headroom/root.h"
#include "support/groups.h"

#define ROUNDS    21
#define RESOURCES 3

static const char *const files[RESOURCES] = {"cpu.pressure", "memory.pressure", "io.pressure"};
static const struct hr_psi_options options = {.resources = {true, true, true, false}};

/* Groups and what reads them. */
struct setup {
    struct groups *groups;
    size_t count;
    struct hr_root *root;
    struct hr_cgroup_set *set;
    int *fds; /* of the bare loop; NULL: it opens, reads and closes */
};

static void name_group(char name[32], size_t number)
{
    snprintf(name, 32, "g%zu", number);
}

/* --- The collectors ------------------------------------------------------- */

static void open_group(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    (void)context;
    if (event == HR_CGROUP_POPULATED) {
        struct hr_psi *psi;
        require(hr_psi_open_cgroup(group, &options, &psi) == 0, "open a group");
        group->data = psi;
    } else if (event == HR_CGROUP_EMPTIED) {
        hr_psi_close(group->data);
        group->data = NULL;
    }
}

/* @return how many groups were read */
static size_t read_by_collectors(const struct setup *setup)
{
    struct hr_psi_snapshot snapshot;
    size_t count = 0;

    require(hr_cgroup_set_read(setup->set) == 0, "read the set");
    for (struct hr_cgroup *group = NULL; (group = hr_cgroup_set_next(setup->set, group)) != NULL;
         count++)
        if (hr_psi_read(group->data, &snapshot) == 0)
            require(snapshot.status[HR_PSI_CPU] == 0, "read a group");
    return count;
}

/* --- The bare loop -------------------------------------------------------- */

static void open_bare(struct setup *setup)
{
    char path[128], name[32];
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    if (2 * RESOURCES * setup->count + setup->count > limit.rlim_cur)
        return;
    setup->fds = calloc(setup->count * RESOURCES, sizeof(*setup->fds));
    for (size_t i = 0; i < setup->count * RESOURCES; i++) {
        name_group(name, i / RESOURCES);
        snprintf(path, sizeof(path), "%s/%s", name, files[i % RESOURCES]);
        setup->fds[i] = openat(groups_dirfd(setup->groups), path, O_RDONLY | O_CLOEXEC);
        require(setup->fds[i] >= 0, path);
    }
}

static void close_bare(struct setup *setup)
{
    for (size_t i = 0; setup->fds != NULL && i < setup->count * RESOURCES; i++)
        close(setup->fds[i]);
    free(setup->fds);
    setup->fds = NULL;
}

static void read_by_pread(const struct setup *setup)
{
    char text[512];

    for (size_t i = 0; i < setup->count * RESOURCES; i++)
        require(pread(setup->fds[i], text, sizeof(text), 0) > 0, "pread");
}

static void read_by_path(const struct setup *setup)
{
    char text[512], path[256], mount[128], link[64];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", groups_dirfd(setup->groups));
    ssize_t length = readlink(link, mount, sizeof(mount) - 1);
    require(length > 0, link);
    mount[length] = '\0';
    for (size_t i = 0; i < setup->count * RESOURCES; i++) {
        snprintf(path, sizeof(path), "%s/g%zu/%s", mount, i / RESOURCES, files[i % RESOURCES]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        require(fd >= 0 && read(fd, text, sizeof(text)) > 0, path);
        close(fd);
    }
}

/* --- One row of the table ------------------------------------------------- */

static void make_setup(struct setup *setup, size_t count)
{
    char name[32];

    *setup = (struct setup){.groups = groups_new(), .count = count};
    require(setup->groups != NULL, "no cgroup2 hierarchy that can be written to");
    for (size_t i = 0; i < count; i++) {
        name_group(name, i);
        groups_make(setup->groups, name);
        groups_start_sleeper(setup->groups, name);
    }
    require(hr_root_open("/", &setup->root) == 0, "/");
}

static void open_set(struct setup *setup)
{
    char pattern[128];
    const char *patterns[] = {pattern};
    const struct hr_cgroup_options set_options = {
        .patterns = patterns, .pattern_count = 1, .event = open_group};

    snprintf(pattern, sizeof(pattern), "%s/*", groups_path(setup->groups));
    require(hr_cgroup_set_open(setup->root, &set_options, &setup->set) == 0, "open the set");
    require(read_by_collectors(setup) == setup->count || setup->count == 0, "every group is read");
}

static void clear_setup(struct setup *setup)
{
    hr_cgroup_set_close(setup->set);
    hr_root_close(setup->root);
    groups_free(setup->groups);
}

static size_t read_slab_kb(void)
{
    FILE *stream = fopen("/proc/meminfo", "r");
    char line[128];
    size_t kb = 0;

    require(stream != NULL, "/proc/meminfo");
    while (fgets(line, sizeof(line), stream) != NULL)
        if (sscanf(line, "Slab: %zu kB", &kb) == 1)
            break;
    fclose(stream);
    return kb;
}

static void measure_sampling(size_t count)
{
    double bare[ROUNDS], ours[ROUNDS], ratio[ROUNDS];
    struct setup setup;

    make_setup(&setup, count);
    size_t slab = read_slab_kb();
    size_t heap = mallinfo2().uordblks;
    open_set(&setup);
    slab = read_slab_kb() - slab;
    heap = mallinfo2().uordblks - heap;
    open_bare(&setup);
    for (int round = -2; round < ROUNDS; round++) { /* the first two warm up */
        double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
        if (setup.fds != NULL)
            read_by_pread(&setup);
        else
            read_by_path(&setup);
        double between = read_us(CLOCK_PROCESS_CPUTIME_ID);
        require(read_by_collectors(&setup) == count, "every group is read");
        double end = read_us(CLOCK_PROCESS_CPUTIME_ID);
        if (round < 0)
            continue;
        bare[round] = between - start;
        ours[round] = end - between;
        ratio[round] = ours[round] / bare[round];
    }
    printf("%7zu  %-16s  %10.0f  %10.0f  %5.2f  %8.2f  %9.0f  %9.1f\n", count,
           setup.fds != NULL ? "pread" : "open/read/close", median(bare, ROUNDS),
           median(ours, ROUNDS), median(ratio, ROUNDS), median(ours, ROUNDS) / (double)count,
           (double)heap / (double)count, (double)slab / (double)count);
    fflush(stdout);
    close_bare(&setup);
    clear_setup(&setup);
}

/* --- Short-lived groups --------------------------------------------------- */

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 32768; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Makes and removes groups for a tenth of a second, at 1,000 a second. */
static void make_and_remove(const struct setup *setup, unsigned *number)
{
    char name[32];

    for (int i = 0; i < 100; i++) {
        name_group(name, 100000 + (*number)++);
        groups_make(setup->groups, name);
        groups_remove(setup->groups, name);
        usleep(900);
    }
}

static void measure_churn(void)
{
    enum { SECONDS = 10, LASTING = 100 };
    double cost[SECONDS];
    unsigned number = 0;
    struct setup setup;

    make_setup(&setup, LASTING);
    open_set(&setup);
    size_t heap = mallinfo2().uordblks;
    int descriptors = count_descriptors();
    for (int second = 0; second < SECONDS; second++) {
        for (int tenth = 0; tenth < 10; tenth++)
            make_and_remove(&setup, &number);
        double start = read_us(CLOCK_PROCESS_CPUTIME_ID);
        require(read_by_collectors(&setup) == LASTING, "every lasting group is read");
        cost[second] = read_us(CLOCK_PROCESS_CPUTIME_ID) - start;
    }
    printf("\n%u groups made and removed in %d s beside %d that last: %.0f us CPU a sample, "
           "%+d descriptors, %+ld bytes\n",
           number, SECONDS, LASTING, median(cost, SECONDS), count_descriptors() - descriptors,
           (long)mallinfo2().uordblks - (long)heap);
    clear_setup(&setup);
}

int main(int argc, char **argv)
{
    static const size_t defaults[] = {100, 1000, 10000};

    printf("psi: CPU time of one interval, 3 files a group\n\n"
           " groups  bare loop          bare (us)   ours (us)  ratio  us/group  heap/grp  slab "
           "kB/grp\n");
    if (argc > 1)
        for (int i = 1; i < argc; i++)
            measure_sampling(strtoul(argv[i], NULL, 10));
    else
        for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
            measure_sampling(defaults[i]);
    measure_churn();
    return 0;
}
