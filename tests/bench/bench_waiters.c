/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_waiters.c - the cost of finding waiting tasks, as a ratio against a bare loop of the
 * same requests.
 *
 *     bench_waiters [PROCESSES…]      default: 200 2000
 *
 * Each round asks the kernel about every process of a group twice: by a bare loop, which sends
 * prepared messages and ignores the replies; and by the collector, which also lists the group,
 * takes two samples and ranks them. The table has medians.
 */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "headroom/cgroup.h"
#include "headroom/root.h"
#include "headroom/taskstats.h"
#include "headroom/waiters.h"
#include "process/taskstats_reply.h"
#include "support/groups.h"

#define ROUNDS 21
#define TOP    5

struct cost {
    double cpu_ms, wall_ms;
};

/* A group and its processes. */
struct setup {
    struct groups *groups;
    size_t count;
    struct hr_root *root;
    struct hr_cgroup_set *set;
    const struct hr_cgroup *group;
    struct hr_taskstats *taskstats;
    struct mnl_socket *socket; /* of the bare loop */
    unsigned char (*messages)[HR_TASKSTATS_REQUEST_SIZE];
    size_t message_length;
};

/* --- The bare loop -------------------------------------------------------- */

/* The family number of taskstats, requested as by the collector. */
static uint16_t find_family(struct mnl_socket *socket)
{
    _Alignas(8) unsigned char buffer[8192];
    const struct hr_taskstats_request request = {.sequence = 1};
    uint16_t family = 0;

    size_t length = hr_taskstats_build_request(&request, buffer);
    require(mnl_socket_sendto(socket, buffer, length) > 0, "send");
    ssize_t got = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
    require(got > 0 && hr_taskstats_parse_family(buffer, (size_t)got, &request, &family) == 0,
            "taskstats");
    return family;
}

static void open_bare(struct setup *setup, const pid_t *pids)
{
    setup->socket = mnl_socket_open(NETLINK_GENERIC);
    require(setup->socket != NULL && mnl_socket_bind(setup->socket, 0, MNL_SOCKET_AUTOPID) == 0,
            "netlink");
    setup->messages = calloc(setup->count, sizeof(*setup->messages));
    require(setup->messages != NULL, "memory");
    struct hr_taskstats_request request = {.family = find_family(setup->socket),
                                           .of_process = true};
    for (size_t i = 0; i < setup->count; i++) {
        request.pid = pids[i];
        request.sequence = (uint32_t)i + 2;
        setup->message_length = hr_taskstats_build_request(&request, setup->messages[i]);
    }
}

static void request_bare(const struct setup *setup)
{
    _Alignas(8) unsigned char buffer[8192];

    for (int sample = 0; sample < 2; sample++)
        for (size_t i = 0; i < setup->count; i++) {
            require(mnl_socket_sendto(setup->socket, setup->messages[i], setup->message_length) > 0,
                    "send");
            require(mnl_socket_recvfrom(setup->socket, buffer, sizeof(buffer)) > 500, "receive");
        }
}

/* --- The collector -------------------------------------------------------- */

static void request_by_collector(const struct setup *setup)
{
    struct hr_waiter top[TOP];
    struct hr_waiters_report report;
    struct hr_waiters *waiters;

    require(hr_waiters_open(setup->root, setup->group, setup->taskstats, HR_PSI_CPU,
                            2 * setup->count, &waiters) == 0,
            "the first sample");
    require(hr_waiters_read(waiters, top, TOP, &report) == 0, "the second sample");
    require(report.sampled_count == setup->count, "every process is sampled");
    hr_waiters_close(waiters);
}

/* --- One row of the table ------------------------------------------------- */

static void open_set(struct setup *setup)
{
    char pattern[128];
    const char *patterns[] = {pattern};
    const struct hr_cgroup_options options = {.patterns = patterns, .pattern_count = 1};

    snprintf(pattern, sizeof(pattern), "%s/a", groups_path(setup->groups));
    require(hr_cgroup_set_open(setup->root, &options, &setup->set) == 0 &&
                hr_cgroup_set_read(setup->set) == 0,
            "the group");
    setup->group = hr_cgroup_set_next(setup->set, NULL);
    require(setup->group != NULL, "the group is populated");
}

static void make_setup(struct setup *setup, size_t count)
{
    *setup = (struct setup){.groups = groups_new(), .count = count};
    require(setup->groups != NULL, "no cgroup2 hierarchy that can be written to");
    pid_t *pids = calloc(count, sizeof(*pids));
    require(pids != NULL, "memory");
    groups_make(setup->groups, "a");
    for (size_t i = 0; i < count; i++)
        pids[i] = groups_start_sleeper(setup->groups, "a");
    require(hr_root_open("/", &setup->root) == 0, "/");
    require(hr_taskstats_open(NULL, &setup->taskstats) == 0, "taskstats (root is needed)");
    open_set(setup);
    open_bare(setup, pids);
    free(pids);
}

static void clear_setup(struct setup *setup)
{
    mnl_socket_close(setup->socket);
    free(setup->messages);
    hr_taskstats_close(setup->taskstats);
    hr_cgroup_set_close(setup->set);
    hr_root_close(setup->root);
    groups_free(setup->groups);
}

static struct cost measure_one(void (*ask)(const struct setup *), const struct setup *setup)
{
    double cpu_ms = read_ms(CLOCK_PROCESS_CPUTIME_ID), wall_ms = read_ms(CLOCK_MONOTONIC);

    ask(setup);
    return (struct cost){read_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu_ms,
                         read_ms(CLOCK_MONOTONIC) - wall_ms};
}

static void measure_requests(size_t count)
{
    double bare_cpu[ROUNDS], bare_wall[ROUNDS], cpu[ROUNDS], wall[ROUNDS], ratio[ROUNDS];
    struct setup setup;

    make_setup(&setup, count);
    for (int round = -2; round < ROUNDS; round++) { /* the first two warm up */
        struct cost bare = measure_one(request_bare, &setup);
        struct cost ours = measure_one(request_by_collector, &setup);
        if (round < 0)
            continue;
        bare_cpu[round] = bare.cpu_ms;
        bare_wall[round] = bare.wall_ms;
        cpu[round] = ours.cpu_ms;
        wall[round] = ours.wall_ms;
        ratio[round] = ours.cpu_ms / bare.cpu_ms;
    }
    printf("%9zu  %10.2f  %10.2f  %10.2f  %10.2f  %5.2f  %10.2f\n", count, median(bare_cpu, ROUNDS),
           median(bare_wall, ROUNDS), median(cpu, ROUNDS), median(wall, ROUNDS),
           median(ratio, ROUNDS), 1e3 * median(cpu, ROUNDS) / (double)count);
    fflush(stdout);
    clear_setup(&setup);
}

int main(int argc, char **argv)
{
    static const size_t defaults[] = {200, 2000};

    printf("waiters: two samples of all processes in a group, in ms\n\n"
           "processes    bare cpu   bare wall         cpu        wall  ratio  us/process\n");
    if (argc > 1)
        for (int i = 1; i < argc; i++)
            measure_requests(strtoul(argv[i], NULL, 10));
    else
        for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
            measure_requests(defaults[i]);
    return 0;
}
