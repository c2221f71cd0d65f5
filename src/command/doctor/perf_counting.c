/* SPDX-License-Identifier: MIT */
#include "doctor/perf_counting.h"

#include <stdio.h>
#include <stdlib.h>

#include "headroom/descriptor.h"
#include "headroom/perf.h"
#include "headroom/reason.h"

static const char descriptors[] = "file descriptors for the events of each cgroup";

/* Where there is no configuration. */
#define TYPICAL_EVENTS 4

/* The events of the configuration that this machine knows, as the plugin counts them. */
struct known_events {
    struct hr_perf_event **list;
    struct hr_perf_event_group *groups;
    size_t count, group_count;
};

static void free_events(struct known_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        hr_perf_event_free(events->list[i]);
    free((void *)events->list);
    free(events->groups);
}

static void look_up_events(const struct usage_perf *usage,
                           const struct hr_perf_vocabulary *vocabulary, struct known_events *events)
{
    const char *line = NULL;
    struct hr_perf_event_error fault;

    *events = (struct known_events){
        .list = calloc(usage->events.count + 1, sizeof(struct hr_perf_event *)),
        .groups = calloc(usage->events.count + 1, sizeof(*events->groups)),
    };
    for (size_t i = 0; i < usage->events.count && events->list != NULL && events->groups != NULL;
         i++) {
        struct hr_perf_event **event = &events->list[events->count];
        if (hr_perf_event_find(vocabulary, usage->events.list[i], event, &fault) < 0)
            continue;
        if (usage->lines.list[i] != line ||
            events->groups[events->group_count - 1].count == HR_PERF_GROUP_MAX)
            events->groups[events->group_count++] = (struct hr_perf_event_group){.events = event};
        line = usage->lines.list[i];
        events->groups[events->group_count - 1].count++;
        events->count++;
    }
}

static struct hr_perf_options options_of(const struct usage_perf *usage,
                                         const struct known_events *events)
{
    return (struct hr_perf_options){
        .groups = events->groups,
        .group_count = events->group_count,
        .max_files = usage->max_files,
        .max_targets = usage->groups.max_count,
        .cpus = usage->cpus,
    };
}

/* --- The choice ----------------------------------------------------------- */

static struct hr_perf_demand find_demand(const struct hr_root *root, const struct usage_perf *usage)
{
    const struct cgroups_of_plugin of = {"cgroup_perf", "perf_event", &usage->groups};
    struct hr_perf_demand demand = {.system = usage->system};
    struct hr_cgroup_set *set = usage->groups.patterns.count > 0 ? cgroups_open(root, &of) : NULL;

    if (set == NULL)
        return demand;
    demand.groups = hr_cgroup_set_counts(set).populated;
    demand.nested = usage->system || hr_cgroup_set_is_nested(set);
    hr_cgroup_set_close(set);
    return demand;
}

/* What the plugin would need by descriptors; nothing where nothing can be counted.
 * @param cpus  receives on how many CPUs it counts; NULL. */
static struct hr_perf_need find_need(const struct hr_root *root, const struct usage_perf *usage,
                                     const struct hr_perf_demand *demand,
                                     const struct hr_perf_options *options, size_t *cpus)
{
    struct hr_perf_need need = {.files = 0};
    struct hr_perf *perf = NULL;

    hr_descriptor_raise_limit(usage->max_files); /* as the plugin does */
    if (hr_perf_open(root, options, &perf) == 0 && hr_perf_read(perf) == 0)
        need = hr_perf_find_need(perf, demand);
    if (cpus != NULL && perf != NULL)
        *cpus = hr_perf_cpu_count(perf);
    hr_perf_close(perf);
    return need;
}

/* Lines that are counted by descriptors though others are counted by BPF. */
struct exceptions {
    size_t count;
    char first[160]; /* what it is, and why */
    struct hr_perf_need need;
};

static void find_exceptions(struct hr_perf *perf, const struct hr_perf_options *options,
                            const struct hr_perf_demand *demand, struct exceptions *exceptions)
{
    for (size_t g = 0; g < options->group_count; g++) {
        const struct hr_perf_event *event = hr_perf_exception(perf, g);
        if (event != NULL && exceptions->count++ == 0)
            snprintf(exceptions->first, sizeof(exceptions->first),
                     "the line with \"%.48s\" is counted by descriptors, as %s", event->text,
                     event->whole_machine ? "that event counts for the whole machine"
                                          : "BPF programs can't read that event");
    }
    if (exceptions->count > 0)
        exceptions->need = hr_perf_find_need(perf, demand);
}

static int open_by_bpf(const struct hr_root *root, const struct hr_perf_options *options,
                       const struct hr_perf_demand *demand, struct exceptions *exceptions,
                       struct hr_reason *reason)
{
    struct hr_perf *perf = NULL;
    int status = hr_perf_open_bpf(root, options, &perf, reason);

    *exceptions = (struct exceptions){.count = 0};
    if (status == 0)
        find_exceptions(perf, options, demand, exceptions);
    hr_perf_close(perf);
    return status;
}

void counting_find(const struct hr_root *root, const struct usage_perf *usage,
                   const struct hr_perf_vocabulary *vocabulary, struct doctor_events *events)
{
    const struct hr_perf_demand demand = find_demand(root, usage);
    struct hr_perf_choice *choice = &events->choice;
    struct exceptions exceptions = {.count = 0};
    struct known_events known;

    look_up_events(usage, vocabulary, &known);
    const struct hr_perf_options options = options_of(usage, &known);
    const struct hr_perf_need need = find_need(root, usage, &demand, &options, &events->cpu_count);
    *choice = (struct hr_perf_choice){.counting = usage->counting};
    if (choice->counting == HR_PERF_AUTO)
        hr_perf_choose(&need, choice);
    if (choice->counting == HR_PERF_BPF &&
        open_by_bpf(root, &options, &demand, &exceptions, &events->obstacle) < 0)
        choice->counting = HR_PERF_DESCRIPTORS;
    events->exception_files = exceptions.need.files;
    if (hr_perf_bpf_memory(root, &options, &events->bpf_bytes) < 0)
        events->bpf_bytes = 0;
    free_events(&known);
}

/* --- Checks --------------------------------------------------------------- */

static void add_exceptions(const struct exceptions *exceptions, const char *feature,
                           struct findings *findings)
{
    char cause[224], others[48] = "";

    if (exceptions->count == 2)
        snprintf(others, sizeof(others), "; so is another one");
    else if (exceptions->count > 2)
        snprintf(others, sizeof(others), "; so are %zu others", exceptions->count - 1);
    snprintf(cause, sizeof(cause), "%s%s", exceptions->first, others);
    findings_add(findings, FINDING_NOTE, feature, cause, NULL);
}

/* @param suffices  whether descriptors do, too, so that it isn't missed.
 * @return whether it works; false also if it isn't tried. */
static bool check_bpf(const struct hr_root *root, const struct hr_perf_options *options,
                      const struct hr_perf_demand *demand, bool suffices,
                      struct exceptions *exceptions, struct findings *findings)
{
    static const char feature[] = "counting by BPF";
    struct hr_reason reason = {.text = ""};

    if (options->group_count == 0) {
        findings_add(findings, FINDING_UNTRIED, feature, "no event is known", NULL);
        return false;
    }
    if (!findings->used && !findings->tries_unused) {
        findings_add(findings, FINDING_UNTRIED, feature,
                     "its programs are loaded only where it is used",
                     "headroom doctor --all tries it anyway");
        return false;
    }
    if (open_by_bpf(root, options, demand, exceptions, &reason) == 0) {
        if (exceptions->count > 0)
            add_exceptions(exceptions, feature, findings);
        else
            findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
        return true;
    }
    findings_use(findings, findings->used && !suffices);
    findings_add_reason(findings, FINDING_LACKS, feature, &reason);
    return false;
}

/* @param by_bpf  those of lines that BPF can't count. */
static void add_shortage(struct findings *findings, const struct hr_perf_need *need, size_t groups,
                         size_t cpus, bool by_option, bool by_bpf)
{
    char cause[192], remedy[160];

    snprintf(cause, sizeof(cause),
             "the events of %zu cgroups on %zu CPUs take %zu, but no more than %zu are allowed",
             groups, cpus, need->files, need->limit);
    snprintf(remedy, sizeof(remedy), "raise %s, %sor count fewer cgroups or events",
             by_option ? "MaxFiles" : "LimitNOFILE= of collectd's service (ulimit -Hn)",
             by_bpf ? "" : "count by BPF (Counting), ");
    findings_add(findings, FINDING_LACKS, descriptors, cause, remedy);
}

/* Calculated, not tried: opening all counters would slow down each switch between groups. */
static void check_descriptors(const struct hr_perf_need *need, size_t groups, size_t cpus,
                              bool by_option, bool by_bpf, struct findings *findings)
{
    if (cpus == 0)
        findings_add(findings, FINDING_UNTRIED, descriptors, "nothing can be counted", NULL);
    else if (need->files <= need->limit)
        findings_add(findings, FINDING_WORKS, descriptors, NULL, NULL);
    else
        add_shortage(findings, need, groups, cpus, by_option, by_bpf);
}

/* Of all cgroups, where no configuration says which. */
static struct hr_perf_need find_typical_need(const struct counting_machine *machine)
{
    struct hr_perf_need need = {.files =
                                    TYPICAL_EVENTS * (machine->groups + 1) * machine->cpu_count};

    hr_descriptor_raise_limit(need.files);
    need.limit = hr_descriptor_share(HR_KEEP_FILE);
    return need;
}

void counting_check(const struct hr_root *root, const struct usage_perf *usage,
                    const struct counting_machine *machine, struct findings *findings)
{
    const bool judged = findings->judgement == FINDINGS_AS_CONFIGURED;
    struct hr_perf_choice choice = {.counting = usage->counting};
    struct hr_perf_demand demand = {.groups = machine->groups};
    struct exceptions exceptions = {.count = 0};
    struct known_events known;

    look_up_events(usage, machine->vocabulary, &known);
    const struct hr_perf_options options = options_of(usage, &known);
    if (judged)
        demand = find_demand(root, usage);
    struct hr_perf_need need =
        judged ? find_need(root, usage, &demand, &options, NULL) : find_typical_need(machine);
    if (judged && choice.counting == HR_PERF_AUTO)
        hr_perf_choose(&need, &choice);
    findings_use(findings, choice.counting == HR_PERF_BPF);
    const bool works =
        check_bpf(root, &options, &demand, usage->counting == HR_PERF_AUTO && choice.fits,
                  &exceptions, findings);
    if (choice.counting == HR_PERF_BPF && exceptions.count > 0)
        need = exceptions.need;
    findings_use(findings, !works || choice.counting != HR_PERF_BPF || exceptions.need.files > 0);
    check_descriptors(&need, demand.groups, machine->cpu_count,
                      judged && need.limit == usage->max_files, exceptions.count > 0, findings);
    free_events(&known);
}
