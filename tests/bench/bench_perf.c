/* SPDX-License-Identifier: MIT */
/*
 * bench/bench_perf.c - the cost of counting perf events.
 *
 *     bench_perf [read | large | workload]      default: all
 *
 * "read": the CPU time of reading all counters, bench_perf_reading.c. "large": the same on 256
 * CPUs, whose kernel is a fake, bench_perf_large.c. "workload": the cost for what is counted,
 * bench_perf_switches.c.
 */
#include "bench_perf.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "headroom/cgroup.h"
#include "headroom/perf_event.h"
#include "headroom/root.h"

struct hr_root *bench_root;

static struct hr_perf_event *events[BENCH_LINES][2];
struct hr_perf_event_group bench_lines[BENCH_LINES] = {{events[0], 2}, {events[1], 2}};

/* Two lines of the option Event: the default one, split. */
static void find_events(void)
{
    static const char *const names[BENCH_LINES][2] = {{"task-clock", "context-switches"},
                                                      {"cpu-migrations", "page-faults"}};
    struct hr_perf_vocabulary *vocabulary;
    struct hr_perf_event_error error;

    require(hr_root_open("/", &bench_root) == 0, "/");
    require(hr_perf_vocabulary_open(bench_root, &vocabulary) == 0, "vocabulary");
    for (int l = 0; l < BENCH_LINES; l++)
        for (int e = 0; e < 2; e++)
            require(hr_perf_event_find(vocabulary, names[l][e], &events[l][e], &error) == 0,
                    names[l][e]);
    hr_perf_vocabulary_close(vocabulary);
}

static void open_target(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    struct hr_perf_target *target;

    if (event == HR_CGROUP_POPULATED) {
        require(hr_perf_target_open_cgroup(context, group, &target) == 0, "open a group");
        group->data = target;
    } else if (event == HR_CGROUP_EMPTIED) {
        hr_perf_target_close(group->data);
        group->data = NULL;
    }
}

void bench_open_counting(struct bench_counting *counting, const struct hr_root *root,
                         const struct bench_selection *selection)
{
    const struct hr_perf_options *options = counting->options;

    if (counting->by_bpf)
        require(hr_perf_open_bpf(root, options, &counting->perf, NULL) == 0, "open by BPF");
    else
        require(hr_perf_open(root, options, &counting->perf) == 0, "open");
    const struct hr_cgroup_options set_options = {.patterns = selection->patterns,
                                                  .pattern_count = selection->pattern_count,
                                                  .controller = "perf_event",
                                                  .event = open_target,
                                                  .context = counting->perf};
    require(hr_cgroup_set_open(root, &set_options, &counting->set) == 0, "open the set");
    for (int i = 0; i < 100 && hr_cgroup_set_counts(counting->set).populated < selection->count;
         i++) {
        if (i > 0)
            usleep(10000);
        require(hr_cgroup_set_read(counting->set) == 0, "read the set");
    }
    require(hr_cgroup_set_counts(counting->set).populated == selection->count, "find the groups");
    require(bench_read_counting(counting) ==
                selection->count * options->group_count * options->groups[0].count,
            "every event is counted");
}

size_t bench_read_counting(const struct bench_counting *counting)
{
    const struct hr_perf_options *options = counting->options;
    size_t count = 0;

    require(hr_perf_read(counting->perf) == 0, "online CPUs");
    for (struct hr_cgroup *group = NULL;
         (group = hr_cgroup_set_next(counting->set, group)) != NULL;) {
        require(hr_perf_target_read(group->data) == 0, "read a group");
        for (size_t l = 0; l < options->group_count; l++)
            for (size_t e = 0; e < options->groups[l].count; e++)
                count += hr_perf_target_value(group->data, l, e).counted;
    }
    return count;
}

void bench_close_counting(struct bench_counting *counting)
{
    hr_cgroup_set_close(counting->set);
    hr_perf_close(counting->perf);
    counting->set = NULL;
    counting->perf = NULL;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*measure)(void);
    } parts[] = {{"read", bench_perf_reading},
                 {"large", bench_perf_large},
                 {"workload", bench_perf_switches}};
    struct rlimit limit;

    require(getrlimit(RLIMIT_NOFILE, &limit) == 0, "RLIMIT_NOFILE");
    limit.rlim_cur = limit.rlim_max;
    require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "RLIMIT_NOFILE");
    find_events();
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (argc < 2 || strcmp(argv[1], parts[i].name) == 0)
            parts[i].measure();
    hr_root_close(bench_root);
    return 0;
}
