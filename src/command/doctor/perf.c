/* SPDX-License-Identifier: MIT */
/*
 * doctor/perf.c - what of the cgroup_perf plugin works: counting software and hardware events and
 * tracepoints, of cgroups and of the whole machine.
 */
#include "doctor/checks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/perf_counting.h"
#include "headroom/perf.h"
#include "headroom/perf_event.h"

#define EVENTS_MAX 2

/* Events that are tried together, as in one Event line of a configuration. */
struct kind {
    const char *features[HR_PERF_SCOPE_COUNT];
    const char *events[EVENTS_MAX];
    size_t count;
    uint32_t type; /* of perf_event_attr; all others are counted by a PMU */
};

static const struct kind software = {{[HR_PERF_CGROUP] = "software events of cgroups",
                                      [HR_PERF_SYSTEM] = "software events of the machine"},
                                     {"task-clock", "context-switches"},
                                     2,
                                     PERF_TYPE_SOFTWARE};
static const struct kind hardware = {{[HR_PERF_CGROUP] = "hardware events of cgroups",
                                      [HR_PERF_SYSTEM] = "hardware events of the machine"},
                                     {"cycles", "instructions"},
                                     2,
                                     PERF_TYPE_HARDWARE};
static const struct kind tracepoints = {
    {[HR_PERF_CGROUP] = "tracepoints of cgroups", [HR_PERF_SYSTEM] = "tracepoints of the machine"},
    {"sched:sched_switch"},
    1,
    PERF_TYPE_TRACEPOINT};

/* What the checks of all kinds need. */
struct check_context {
    const struct hr_root *root;
    const struct usage_perf *usage;
    struct findings *findings;
    struct doctor_groups groups;
    struct hr_perf_vocabulary *vocabulary;
    size_t cpu_count;    /* on which events are counted; 0: not known */
    const char *missing; /* the event of a kind that can't be counted, where others can; NULL */
};

/* --- Findings ------------------------------------------------------------- */

#define NO_PMU                                                                                     \
    "no PMU of this machine counts them, as in most virtual machines",                             \
        "let the hypervisor pass one through, or leave these events out"

/* KVM's mediated PMU: what would be counted in guests, too, is refused while they run. */
#define NO_PMU_OR_GUESTS                                                                           \
    "no PMU of this machine counts them, or virtual machines that run have the PMU to themselves", \
        "count the host alone, by the modifier :H (Event), or leave these events out"

static const struct advice event_advice[] = {
    {-ENOSYS, "the kernel has no perf events", "it needs CONFIG_PERF_EVENTS=y"},
    {-EXDEV, "cgroups have no controller perf_event",
     "enable any controller at the top of the cgroup2 mount (echo +pids >cgroup.subtree_control); "
     "the kernel needs CONFIG_CGROUP_PERF=y"},
    {-EMFILE, DOCTOR_NO_DESCRIPTORS},
    {-ENODATA, "none of the CPUs that are online is chosen", "add one of them (CPUs)"},
    {-EADDRNOTAVAIL, "only CPUs that are left out count them",
     "add one of them (CPUs), or leave these events out"},
    {0},
};

/* Also for EPERM, which the seccomp filter of a container returns. */
static void add_permission(const struct check_context *context, const char *feature)
{
    char cause[128] = "no permission";
    const char *remedy =
        "add CAP_PERFMON (before Linux 5.8 CAP_SYS_ADMIN) to collectd's service, or set "
        "the sysctl to 0; in a container, also let seccomp allow perf_event_open";
    int level = 0;

    if (hr_perf_paranoid_read(context->root, &level) == 0)
        snprintf(cause, sizeof(cause),
                 "no permission, without %s and with kernel.perf_event_paranoid=%d",
                 level > HR_PERF_PARANOID_MAX ? "CAP_SYS_ADMIN" : "CAP_PERFMON", level);
    if (level > HR_PERF_PARANOID_MAX)
        remedy = "add CAP_PERFMON (before Linux 5.8 CAP_SYS_ADMIN) to collectd's service, and set "
                 "the sysctl to 2, or to 0 without it; in a container, also let seccomp allow "
                 "perf_event_open";
    findings_add(context->findings, FINDING_LACKS, feature, cause, remedy);
}

static bool is_without_pmu(int status)
{
    return status == -ENOENT || status == -EOPNOTSUPP || status == -ENODEV || status == -ENXIO;
}

static bool is_of_pmu(const struct hr_perf_event *event)
{
    const uint32_t type = event->encodings[0].attr.type;

    return type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT;
}

/* Of the CPUs' own PMU: its type is that of raw events, or it has a file "cpus". */
static bool is_of_cpus(const struct hr_perf_event *event)
{
    const struct hr_perf_encoding *encoding = &event->encodings[0];
    const uint32_t type = encoding->attr.type;

    return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW ||
           (is_of_pmu(event) && !event->whole_machine && !encoding->every_cpu);
}

/* Software events, tracepoints, and what the PMU of the CPUs counts. */
static bool is_of_kind(const struct hr_perf_event *event, const struct kind *kind)
{
    return kind->type == PERF_TYPE_HARDWARE ? is_of_cpus(event)
                                            : event->encodings[0].attr.type == kind->type;
}

/* Whether one of the configured events is what `is` says. */
static bool has_event(const struct check_context *context,
                      bool (*is)(const struct hr_perf_event *event))
{
    const struct usage_texts *texts = &context->usage->events;
    bool has = false;

    for (size_t i = 0; i < texts->count && !has; i++) {
        struct hr_perf_event_error fault;
        struct hr_perf_event *event;
        if (hr_perf_event_find(context->vocabulary, texts->list[i], &event, &fault) < 0)
            continue;
        has = is(event);
        hr_perf_event_free(event);
    }
    return has;
}

static bool needs_no_pmu(const struct hr_perf_event *event)
{
    return !is_of_pmu(event);
}

/* The plugin leaves out what no PMU counts, as the snippet says, and goes on with the other events.
 */
static enum finding_state state_without_pmu(const struct check_context *context)
{
    const struct findings *findings = context->findings;
    const bool goes_on = findings->judgement == FINDINGS_AS_CONFIGURED && findings->used &&
                         !context->usage->require_events && has_event(context, needs_no_pmu);

    return goes_on ? FINDING_NOTE : FINDING_LACKS;
}

static void add_missing(const struct check_context *context, const char *feature)
{
    char cause[128], remedy[128];

    snprintf(cause, sizeof(cause), "this machine's PMU doesn't count %s", context->missing);
    snprintf(remedy, sizeof(remedy), "leave %s out", context->missing);
    findings_add(context->findings, state_without_pmu(context), feature, cause, remedy);
}

static void add_status(const struct check_context *context, const char *feature, int status)
{
    if (status == -EACCES || status == -EPERM)
        add_permission(context, feature);
    else if (context->missing != NULL && is_without_pmu(status))
        add_missing(context, feature);
    else if (status == -EOPNOTSUPP)
        findings_add(context->findings, state_without_pmu(context), feature, NO_PMU_OR_GUESTS);
    else if (is_without_pmu(status))
        findings_add(context->findings, state_without_pmu(context), feature, NO_PMU);
    else
        findings_add_status(context->findings, feature, status, event_advice);
}

/* Where an event isn't known it is of no kind, but for tracepoints that can't be looked up. */
static bool is_text_of_kind(const struct check_context *context, const char *text,
                            const struct kind *kind)
{
    struct hr_perf_event_error fault;
    struct hr_perf_event *event;

    int status = hr_perf_event_find(context->vocabulary, text, &event, &fault);
    if (status < 0)
        return kind->type == PERF_TYPE_TRACEPOINT && (status == -EACCES || status == -ENODEV);
    bool is = is_of_kind(event, kind);
    hr_perf_event_free(event);
    return is;
}

static void use_scope(const struct check_context *context, const struct kind *kind,
                      enum hr_perf_scope scope)
{
    const struct usage_perf *usage = context->usage;
    bool used = false;

    for (size_t i = 0; i < usage->events.count && !used; i++)
        used = is_text_of_kind(context, usage->events.list[i], kind);
    findings_use(context->findings,
                 used &&
                     (scope == HR_PERF_SYSTEM ? usage->system : usage->groups.patterns.count > 0));
}

static void add_to_all_scopes(const struct check_context *context, const struct kind *kind,
                              const char *cause, const char *remedy)
{
    for (int scope = 0; scope < HR_PERF_SCOPE_COUNT; scope++) {
        use_scope(context, kind, scope);
        findings_add(context->findings, FINDING_LACKS, kind->features[scope], cause, remedy);
    }
}

/* Adds why the name of an event can't be resolved. */
static void add_unknown_event(const struct check_context *context, const struct kind *kind,
                              int status, const struct hr_perf_event_error *fault)
{
    if (status == -ENODEV)
        add_to_all_scopes(context, kind, "no tracefs is mounted",
                          "mount -t tracefs tracefs /sys/kernel/tracing");
    else if (status == -EACCES)
        add_to_all_scopes(
            context, kind, "no permission to read tracefs",
            "add CAP_DAC_READ_SEARCH to collectd's service, or run collectd as root, or as a "
            "member of the group that may read it");
    else
        add_to_all_scopes(context, kind, fault->reason, "it needs a kernel that has them");
}

/* --- Counting ------------------------------------------------------------- */

static size_t count_cpus(const struct hr_perf_target *target)
{
    size_t count = 0;
    unsigned cpu;

    while (hr_perf_target_cpu(target, count, &cpu))
        count++;
    return count;
}

/* Finds the first event that can't be counted. @return its status, or 0. */
static int find_missing(struct check_context *context, const struct hr_perf *perf,
                        enum hr_perf_scope scope, const struct kind *kind)
{
    size_t missing = 0;
    int first = 0;

    for (size_t e = 0; e < kind->count; e++) {
        int status = hr_perf_status(perf, scope, 0, e);
        if (status == 0 || status == -ECANCELED)
            continue;
        if (missing++ == 0) {
            context->missing = kind->events[e];
            first = status;
        }
    }
    if (missing == kind->count)
        context->missing = NULL;
    return first;
}

/* Opens and reads the counters of a target, and closes it.
 * @return 0, or the status of the first event that can't be counted */
static int count_once(struct check_context *context, struct hr_perf *perf, enum hr_perf_scope scope,
                      struct hr_perf_target *target, const struct kind *kind)
{
    int status = hr_perf_target_read(target);

    if (status == -EINPROGRESS) /* it was probed, which is enough to try */
        status = 0;
    if (status == 0)
        context->cpu_count = count_cpus(target);
    hr_perf_target_close(target);
    context->missing = NULL;
    int of_event = find_missing(context, perf, scope, kind);
    return of_event < 0 ? of_event : status;
}

static void count_system(struct check_context *context, struct hr_perf *perf,
                         const struct kind *kind)
{
    struct hr_perf_target *target;

    int status = hr_perf_target_open_system(perf, &target);
    if (status == 0)
        status = count_once(context, perf, HR_PERF_SYSTEM, target, kind);
    use_scope(context, kind, HR_PERF_SYSTEM);
    add_status(context, kind->features[HR_PERF_SYSTEM], status);
}

static void count_group(struct check_context *context, struct hr_perf *perf,
                        const struct kind *kind)
{
    const char *feature = kind->features[HR_PERF_CGROUP];
    int status = -ENODEV;

    use_scope(context, kind, HR_PERF_CGROUP);
    if (context->groups.sample_count == 0) {
        doctor_add_missing_group(context->findings, feature, &context->groups);
        return;
    }
    /* One may have been removed meanwhile. */
    for (size_t i = 0; i < context->groups.sample_count && status == -ENODEV; i++) {
        struct hr_perf_target *target;
        status = hr_perf_target_open_cgroup(perf, context->groups.samples[i], &target);
        if (status == 0)
            status = count_once(context, perf, HR_PERF_CGROUP, target, kind);
    }
    add_status(context, feature, status);
}

static void try_kind(struct check_context *context, const struct kind *kind,
                     struct hr_perf_event *const *events)
{
    const struct hr_perf_event_group group = {events, kind->count};
    const struct hr_perf_options options = {
        .groups = &group, .group_count = 1, .cpus = context->usage->cpus};
    struct hr_perf *perf = NULL;

    int status = hr_perf_open(context->root, &options, &perf);
    if (status == 0)
        status = hr_perf_read(perf);
    if (status == 0) {
        count_system(context, perf, kind);
        hr_perf_read(perf); /* else opening the machine may have taken the time of this, too */
        count_group(context, perf, kind);
    } else {
        add_to_all_scopes(context, kind, "can't find out which CPUs are online, or isolated",
                          "let collectd's user read online, isolated and nohz_full in "
                          "/sys/devices/system/cpu");
    }
    hr_perf_close(perf);
}

static void check_kind(struct check_context *context, const struct kind *kind)
{
    struct hr_perf_event *events[EVENTS_MAX] = {NULL};
    struct hr_perf_event_error fault = {.reason = ""};
    int status = 0;

    for (size_t e = 0; e < kind->count && status == 0; e++)
        status = hr_perf_event_find(context->vocabulary, kind->events[e], &events[e], &fault);
    if (status == 0)
        try_kind(context, kind, events);
    else
        add_unknown_event(context, kind, status, &fault);
    for (size_t e = 0; e < kind->count; e++)
        hr_perf_event_free(events[e]);
}

/* --- Events ---------------------------------------------------------------- */

/* @return 0, or why the machine as a whole can't be asked how often it occurs. */
static int try_event(const struct check_context *context, struct hr_perf_event *event)
{
    const struct hr_perf_event_group group = {&event, 1};
    const struct hr_perf_options options = {
        .groups = &group, .group_count = 1, .cpus = context->usage->cpus};
    struct hr_perf_target *target;
    struct hr_perf *perf = NULL;

    int status = hr_perf_open(context->root, &options, &perf);
    if (status == 0)
        status = hr_perf_read(perf);
    if (status == 0)
        status = hr_perf_target_open_system(perf, &target);
    if (status == 0) {
        status = hr_perf_target_read(target);
        const int of_event = hr_perf_status(perf, HR_PERF_SYSTEM, 0, 0);
        if (status == -EINPROGRESS || (of_event < 0 && of_event != -ECANCELED))
            status = of_event;
        hr_perf_target_close(target);
    }
    hr_perf_close(perf);
    return status;
}

static bool is_countable(const struct check_context *context, const char *text)
{
    struct hr_perf_event_error fault;
    struct hr_perf_event *event;

    if (hr_perf_event_find(context->vocabulary, text, &event, &fault) < 0)
        return false;
    const int status = try_event(context, event);
    hr_perf_event_free(event);
    return status == 0;
}

static bool is_text_of_pmu(const struct check_context *context, const char *text)
{
    struct hr_perf_event_error fault;
    struct hr_perf_event *event;

    if (hr_perf_event_find(context->vocabulary, text, &event, &fault) < 0)
        return false;
    const bool is = is_of_pmu(event);
    hr_perf_event_free(event);
    return is;
}

static void find_events(const struct check_context *context, struct doctor_events *events)
{
    const bool needs_clocks = !hr_perf_is_running_time_right(context->root);
    const struct usage_perf *usage = context->usage;
    const char *line_with_clock = NULL;

    for (size_t i = 0; i < usage->events.count; i++) {
        const char *text = usage->events.list[i];
        const bool adds_clock = needs_clocks && usage->lines.list[i] != line_with_clock &&
                                is_text_of_pmu(context, text);
        if (!is_countable(context, text))
            continue;
        events->texts.list[events->texts.count++] = text;
        if (adds_clock) {
            line_with_clock = usage->lines.list[i];
            events->clock_count++;
        }
    }
}

static void add_unknown_name(const struct check_context *context, const char *text,
                             const struct hr_perf_event_error *fault)
{
    char feature[80], similar[128] = "", remedy[256];
    size_t used = 0;

    for (size_t i = 0; i < fault->nearest_count && used < sizeof(similar); i++)
        used += (size_t)snprintf(similar + used, sizeof(similar) - used, "%s%s",
                                 i == 0 ? ", such as " : ", ", fault->nearest[i]);
    snprintf(feature, sizeof(feature), "event \"%s\"", text);
    snprintf(remedy, sizeof(remedy),
             "take another%s, see Events in collectd-cgroup_perf(5), or remove it", similar);
    findings_add(context->findings, FINDING_LACKS, feature, fault->reason, remedy);
}

/* Of a PMU that isn't the CPUs', as msr: no other event says whether it can be counted. */
static void check_other_pmu(const struct check_context *context, const char *text,
                            struct hr_perf_event *event)
{
    char feature[80];

    if (!is_of_pmu(event) || is_of_cpus(event))
        return;
    const int status = try_event(context, event);
    snprintf(feature, sizeof(feature), "event \"%s\"", text);
    add_status(context, feature, status);
}

/* Those of the configuration that this machine doesn't know, or that are of no kind. */
static void check_names(const struct check_context *context)
{
    struct hr_perf_event *event;

    for (size_t i = 0; i < context->usage->events.count; i++) {
        const char *text = context->usage->events.list[i];
        struct hr_perf_event_error fault = {.reason = ""};
        int status = hr_perf_event_find(context->vocabulary, text, &event, &fault);
        if (status == 0) {
            check_other_pmu(context, text, event);
            hr_perf_event_free(event);
        } else if (status != -EACCES && status != -ENODEV) {
            add_unknown_name(context, text, &fault);
        }
    }
}

void doctor_check_cgroup_perf(const struct hr_root *root, const struct usage *usage,
                              struct findings *findings)
{
    struct check_context context = {.root = root, .usage = &usage->perf, .findings = findings};

    int status = hr_perf_vocabulary_open(root, &context.vocabulary);
    if (status < 0) {
        findings_add(findings, FINDING_LACKS, "names of events", strerror(-status),
                     "let collectd's user read /sys/bus/event_source/devices");
        return;
    }
    doctor_groups_open(root, "perf_event", &context.groups);
    check_kind(&context, &software);
    check_kind(&context, &hardware);
    check_kind(&context, &tracepoints);
    findings_use(findings, true);
    check_names(&context);
    counting_check(root, &usage->perf,
                   &(struct counting_machine){.vocabulary = context.vocabulary,
                                              .cpu_count = context.cpu_count,
                                              .groups = context.groups.counts.populated},
                   findings);
    doctor_groups_close(&context.groups);
    hr_perf_vocabulary_close(context.vocabulary);
}

/* --- Costs ---------------------------------------------------------------- */

void doctor_find_events(const struct hr_root *root, const struct usage_perf *usage,
                        struct doctor_events *events)
{
    struct check_context context = {.root = root, .usage = usage};

    *events = (struct doctor_events){.texts.list = calloc(usage->events.count + 1, sizeof(char *))};
    if (events->texts.list == NULL || hr_perf_vocabulary_open(root, &context.vocabulary) < 0)
        return;
    find_events(&context, events);
    counting_find(root, usage, context.vocabulary, events);
    hr_perf_vocabulary_close(context.vocabulary);
}
