/* SPDX-License-Identifier: MIT */
#include "cgroup_perf/problems.h"

#include <errno.h>

#include "cgroup_perf/exceptions.h"
#include "common/complaint.h"
#include "common/log.h"
#include "utils/common/common.h"

#define PLUGIN "cgroup_perf"

static const char *const scope_names[HR_PERF_SCOPE_COUNT] = {
    [HR_PERF_SYSTEM] = "for the machine",
    [HR_PERF_CGROUP] = "for cgroups",
};

static const char *const resolved_scopes[HR_PERF_SCOPE_COUNT] = {
    [HR_PERF_SYSTEM] = "counting the machine",
    [HR_PERF_CGROUP] = "counting cgroups",
};

/* An event may go from one kind of problem to another, so each message covers its own kind only. */
static const char *const resolved_texts[PERF_PROBLEM_COUNT] = {
    [PERF_PROBLEM_ABSENT] = "every event has a PMU now",
    [PERF_PROBLEM_GUESTS] = "virtual machines keep no event from being counted now",
    [PERF_PROBLEM_OF_GUESTS] = "every event of virtual machines is being counted now",
    [PERF_PROBLEM_PERMISSION] = "there is permission for every event now",
    [PERF_PROBLEM_TOO_MANY] = "the events of each line can be counted together now",
    [PERF_PROBLEM_LEFT_OUT] = "each event is counted on some of the CPUs now",
    [PERF_PROBLEM_WHOLE] = "no event is limited to the whole machine now",
    [PERF_PROBLEM_REFUSED] = "the kernel refuses no event now",
};

/* --- Events --------------------------------------------------------------- */

/* As long as KVM's guests have a PMU to themselves (a "mediated" one, kernel/events/core.c), the
 * kernel refuses what would be counted in guests, too, or in guests alone. EBUSY is what a guest
 * gets that can't start, as such an event is open. */
static bool may_be_the_guests(const struct hr_perf_event *event, int status)
{
    const struct perf_event_attr *attr = &event->encodings[0].attr;

    return status == -EOPNOTSUPP && !attr->exclude_guest && attr->type != PERF_TYPE_SOFTWARE &&
           attr->type != PERF_TYPE_TRACEPOINT;
}

/* @return the kind of problem; PERF_PROBLEM_COUNT: none. */
static enum perf_problem_kind classify_status(const struct hr_perf_event *event,
                                              enum hr_perf_scope scope, int status)
{
    if (may_be_the_guests(event, status))
        return event->encodings[0].attr.exclude_host ? PERF_PROBLEM_OF_GUESTS : PERF_PROBLEM_GUESTS;
    switch (status) {
    case 0:
    case -ECANCELED:
        return PERF_PROBLEM_COUNT;
    case -ENOENT:
    case -EOPNOTSUPP:
    case -ENODEV:
    case -ENXIO:
        return PERF_PROBLEM_ABSENT;
    case -EACCES:
    case -EPERM:
        return PERF_PROBLEM_PERMISSION;
    case -E2BIG:
        return PERF_PROBLEM_TOO_MANY;
    case -EADDRNOTAVAIL:
        return PERF_PROBLEM_LEFT_OUT;
    default:
        return scope == HR_PERF_CGROUP && event->whole_machine ? PERF_PROBLEM_WHOLE
                                                               : PERF_PROBLEM_REFUSED;
    }
}

/* The events with one kind of problem. */
struct affected_events {
    char names[512]; /* "cycles, instructions" */
    size_t count;
    int status; /* of the first */
    int cause;  /* a hash of the names, not 0 */
};

static void add_affected(struct affected_events *affected, const struct hr_perf_event *event,
                         int status)
{
    const size_t used = strlen(affected->names), room = sizeof(affected->names) - used;

    if (strlen(event->text) + 3 < room)
        snprintf(affected->names + used, room, "%s%s", used > 0 ? ", " : "", event->text);
    else if (room > 5 && (used < 3 || strcmp(affected->names + used - 3, "...") != 0))
        snprintf(affected->names + used, room, ", ...");
    if (affected->count++ == 0)
        affected->status = status;
    for (const char *c = event->text; *c != '\0'; c++)
        affected->cause = (int)((unsigned)affected->cause * 31 + (unsigned char)*c);
    affected->cause |= 1;
}

static void find_affected(const struct perf_events *events, const struct hr_perf *perf,
                          enum hr_perf_scope scope,
                          struct affected_events found[PERF_PROBLEM_COUNT])
{
    for (size_t g = 0; g < events->group_count; g++) {
        for (size_t e = 0; e < events->groups[g].count; e++) {
            const struct hr_perf_event *event = events->groups[g].events[e];
            const int status = hr_perf_status(perf, scope, g, e);
            if (event->encoding_count == 0) /* which was logged when it was looked up */
                continue;
            /* A problem that was logged for the machine isn't logged again for cgroups. */
            if (scope == HR_PERF_CGROUP && status == hr_perf_status(perf, HR_PERF_SYSTEM, g, e))
                continue;
            enum perf_problem_kind kind = classify_status(event, scope, status);
            if (kind < PERF_PROBLEM_COUNT)
                add_affected(&found[kind], event, status);
        }
    }
}

static void log_permission(struct complaint *complaint, const struct affected_events *affected,
                           const struct hr_root *root)
{
    char level[32] = "", enough[64] = "";
    int paranoid;

    if (hr_perf_paranoid_read(root, &paranoid) == 0) {
        snprintf(level, sizeof(level), ", which is %d,", paranoid);
        if (paranoid > HR_PERF_PARANOID_MAX)
            snprintf(enough, sizeof(enough), "%d for CAP_PERFMON to be enough, or ",
                     HR_PERF_PARANOID_MAX);
    }
    complaint_log(complaint, LOG_ERR, affected->cause,
                  PLUGIN ": no permission to count %s: give collectd CAP_PERFMON "
                         "(CAP_SYS_ADMIN before Linux 5.8), %s lower sysctl "
                         "kernel.perf_event_paranoid%s to %s0. Retrying every minute.",
                  affected->names, *enough != '\0' ? "and" : "or", level, enough);
}

/* -EINVAL means that the PMU lacks a feature, which will not change. */
static void log_refusal(struct complaint *complaint, const struct affected_events *affected,
                        const char *of)
{
    complaint_log(
        complaint, LOG_ERR, affected->cause, PLUGIN ": the kernel refuses to count %s %s: %s. %s",
        affected->names, of, STRERROR(-affected->status),
        affected->status == -EINVAL ? "The PMU may lack a modifier (such as :u) or a term."
                                    : "Retrying every minute.");
}

static void log_affected(struct complaint *complaint, enum perf_problem_kind kind,
                         const struct affected_events *affected, const char *of,
                         const struct hr_root *root)
{
    const char *names = affected->names;
    const int cause = affected->cause;

    switch (kind) {
    case PERF_PROBLEM_ABSENT: /* by the snippet as it is, on most virtual machines */
        complaint_log(complaint, LOG_NOTICE, cause,
                      PLUGIN ": %s can't be counted: no PMU of this machine supports that; "
                             "most virtual machines have no PMU. Let the hypervisor pass one "
                             "through, or remove these events (Event).",
                      names);
        break;
    case PERF_PROBLEM_GUESTS:
        complaint_log(complaint, LOG_WARNING, cause,
                      PLUGIN ": %s can't be counted: no PMU of this machine supports that, or "
                             "virtual machines that run have the PMU to themselves: then count the "
                             "host alone, by the modifier :H (Event). Retrying every minute.",
                      names);
        break;
    case PERF_PROBLEM_OF_GUESTS:
        complaint_log(complaint, LOG_WARNING, cause,
                      PLUGIN ": %s can't be counted: no PMU of this machine supports that, or "
                             "virtual machines that run have the PMU to themselves: then what they "
                             "do can't be counted, so remove these events (Event). Retrying every "
                             "minute.",
                      names);
        break;
    case PERF_PROBLEM_PERMISSION:
        log_permission(complaint, affected, root);
        break;
    case PERF_PROBLEM_TOO_MANY:
        complaint_log(complaint, LOG_ERR, cause,
                      PLUGIN ": %s can't be counted together: they belong to several PMUs, or "
                             "are more than one PMU has counters for. Split the line (Event).",
                      names);
        break;
    case PERF_PROBLEM_LEFT_OUT:
        complaint_log(complaint, LOG_WARNING, cause,
                      PLUGIN ": %s can't be counted: only CPUs that are left out count that. Add "
                             "one of them (CPUs), or remove these events (Event).",
                      names);
        break;
    case PERF_PROBLEM_WHOLE:
        complaint_log(complaint, LOG_WARNING, cause,
                      PLUGIN ": %s can be counted for the whole machine only, not for cgroups, as "
                             "the PMU counts for several CPUs at once.",
                      names);
        break;
    case PERF_PROBLEM_REFUSED:
        log_refusal(complaint, affected, of);
        break;
    case PERF_PROBLEM_COUNT:
        break;
    }
}

static void log_event_problems(struct perf_problems *problems, const struct perf_events *events,
                               const struct hr_perf *perf, const struct hr_root *root,
                               enum hr_perf_scope scope)
{
    struct affected_events found[PERF_PROBLEM_COUNT] = {0};

    find_affected(events, perf, scope, found);
    for (int kind = 0; kind < PERF_PROBLEM_COUNT; kind++) {
        struct complaint *complaint = &problems->kinds[scope][kind];
        if (found[kind].count > 0)
            log_affected(complaint, kind, &found[kind], scope_names[scope], root);
        else
            complaint_resolve(complaint, PLUGIN ": %s: %s.", resolved_scopes[scope],
                              resolved_texts[kind]);
    }
}

/* --- Targets -------------------------------------------------------------- */

static bool is_shortage(int status)
{
    return status == -EMFILE || status == -ENFILE;
}

static void record_system(struct perf_problems *problems, int status)
{
    problems->system_read = true;
    problems->system_short_of_files = is_shortage(status);
    problems->system_status = problems->system_short_of_files ? 0 : status;
    problems->system_counted = status == 0;
}

static void record_group(struct perf_problems *problems, const char *group, int status)
{
    if (is_shortage(status)) {
        problems->short_of_files++;
    } else if (status == 0) {
        problems->counted++;
    } else if (problems->failed++ == 0) {
        problems->failed_status = status;
        snprintf(problems->example, sizeof(problems->example), "%s", group);
    }
}

void perf_problems_record(struct perf_problems *problems, const struct perf_events *events,
                          const struct hr_perf_target *target, const char *group, int status)
{
    for (size_t g = 0; g < events->group_count; g++)
        starvation_record(&problems->starvation, g, group, hr_perf_target_starved_ns(target, g));
    /* Lack of events is logged by log_event_problems(), and a cgroup may be removed. */
    if (status == -ENODATA || status == -ENODEV)
        status = 0;
    if (status == -EINPROGRESS && group == NULL)
        problems->system_opening = true;
    else if (status == -EINPROGRESS)
        problems->opening++;
    else if (group == NULL)
        record_system(problems, status);
    else
        record_group(problems, group, status);
}

static void log_system(struct perf_problems *problems, const char *of_lines)
{
    if (problems->system_status < 0)
        complaint_log(&problems->system, LOG_WARNING, problems->system_status,
                      PLUGIN ": the machine can't be counted%s: %s. Retrying every minute.",
                      of_lines, STRERROR(-problems->system_status));
    else if (problems->system_read && !problems->system_short_of_files)
        complaint_resolve(&problems->system, PLUGIN ": the machine is being counted again.");
    problems->system_read = false;
    problems->system_status = 0;
}

void perf_problems_log_cpus(struct perf_problems *problems, int status, bool known)
{
    if (status == 0)
        complaint_resolve(&problems->cpus, PLUGIN ": can read again which CPUs are online.");
    else
        complaint_log(&problems->cpus, LOG_WARNING, status,
                      PLUGIN ": can't read which CPUs are online, or isolated (online, isolated, "
                             "nohz_full in /sys/devices/system/cpu: %s), so %s. Retrying at each "
                             "interval.",
                      status == -EBADMSG ? "it isn't understood" : STRERROR(-status),
                      known ? "those known before are counted" : "nothing is counted");
}

void perf_problems_log_update(struct perf_problems *problems, int status)
{
    if (status == 0)
        complaint_resolve(&problems->update, PLUGIN ": events can be looked up again.");
    else
        complaint_log(&problems->update, LOG_WARNING, status,
                      PLUGIN ": can't look up again which CPUs count the events, so those known "
                             "before are counted on: %s. Retrying every minute.",
                      status == -EBADMSG ? "a file of a PMU isn't understood" : STRERROR(-status));
}

void perf_problems_log_left_out(struct perf_problems *problems, size_t count)
{
    if (count > 0)
        complaint_resolve(&problems->left_out, PLUGIN ": a CPU that is chosen is online now.");
    else
        complaint_log(&problems->left_out, LOG_WARNING, -ENODEV,
                      PLUGIN ": nothing is counted, as none of the CPUs that are online is chosen "
                             "(CPUs).");
}

/* "1 cgroup", "2 cgroups" */
static void print_cgroups(char *buffer, size_t size, size_t count)
{
    snprintf(buffer, size, "%zu cgroup%s", count, count == 1 ? "" : "s");
}

/* "the machine is", "the machine and 1 cgroup are", "2 cgroups are" */
static void print_targets(bool system, size_t count, char *buffer, size_t size)
{
    char cgroups[40];

    print_cgroups(cgroups, sizeof(cgroups), count);
    snprintf(buffer, size, "%s%s%s %s", system ? "the machine" : "",
             system && count > 0 ? " and " : "", count > 0 ? cgroups : "",
             count + system == 1 ? "is" : "are");
}

/* How many cgroups fit within the limit, where any are left out: ", enough for the machine and 12
 * cgroups". */
static void print_fitting(const struct perf_problems *problems, const struct hr_perf_files *files,
                          char *buffer, size_t size)
{
    const size_t system = problems->system_counted ? files->of_system : 0;
    char cgroups[40];

    buffer[0] = '\0';
    if (problems->short_of_files == 0 || files->of_group == 0 || files->limit < system)
        return;
    print_cgroups(cgroups, sizeof(cgroups), (files->limit - system) / files->of_group);
    snprintf(buffer, size, ", enough for %s%s", problems->system_counted ? "the machine and " : "",
             cgroups);
}

static void log_file_shortage(const struct perf_problems *problems,
                              const struct hr_perf_files *files, const char *of_lines)
{
    char what[80], limit[160], fitting[96];

    print_fitting(problems, files, fitting, sizeof(fitting));
    print_targets(problems->system_short_of_files, problems->short_of_files, what, sizeof(what));
    if (files->wanted == 0) { /* too few even for probing */
        WARNING(PLUGIN ": %s not counted%s, as file descriptors ran out: raise LimitNOFILE= of "
                       "collectd's service (ulimit -n), or sysctl fs.file-max.",
                what, of_lines);
        return;
    }
    switch (files->limited_by) {
    case HR_PERF_BY_OPTION:
        snprintf(limit, sizeof(limit), "MaxFiles is %zu", files->limit);
        break;
    case HR_PERF_BY_RLIMIT:
        snprintf(limit, sizeof(limit),
                 "LimitNOFILE= of collectd's service (ulimit -n) allows them %zu, as a quarter is "
                 "left to others",
                 files->limit);
        break;
    case HR_PERF_BY_OTHERS:
        snprintf(limit, sizeof(limit),
                 "no more than %zu could be opened, by LimitNOFILE= of collectd's service "
                 "(ulimit -n), or sysctl fs.file-max",
                 files->limit);
        break;
    }
    WARNING(PLUGIN
            ": %s not counted%s, as there are too few file descriptors: the counters need %zu "
            "in all (one for each event or clock, cgroup and CPU), but %s%s. Raise it, count "
            "fewer cgroups or events%s.",
            what, of_lines, files->wanted, limit, fitting,
            of_lines[0] == '\0' ? ", or count by BPF (Counting), which needs none" : "");
}

static void log_enough_files(const struct perf_problems *problems)
{
    char what[80];

    print_targets(problems->system_counted, problems->counted, what, sizeof(what));
    INFO(PLUGIN ": %s counted now, as file descriptors suffice for all.", what);
}

static void forget_files(struct perf_problems *problems)
{
    problems->short_of_files = 0;
    problems->system_short_of_files = false;
}

static void log_files(struct perf_problems *problems, const struct hr_perf *perf,
                      const char *of_lines)
{
    const size_t count = problems->short_of_files + problems->system_short_of_files;

    if (tally_should_log(&problems->logged_files, count)) {
        const struct hr_perf_files files = hr_perf_files(perf);
        log_file_shortage(problems, &files, of_lines);
        problems->shortage_logged = true;
    }
    if (count == 0 && problems->shortage_logged &&
        problems->counted + problems->system_counted > 0) {
        log_enough_files(problems);
        problems->shortage_logged = false;
    }
    forget_files(problems);
}

static void log_all_open(const struct perf_problems *problems)
{
    char what[80];

    print_targets(problems->system_counted, problems->counted, what, sizeof(what));
    if (problems->counted + problems->system_counted > 0)
        INFO(PLUGIN ": all counters are open: %s counted now.", what);
    else
        INFO(PLUGIN ": all counters are open.");
}

static void log_opening(struct perf_problems *problems, const char *of_lines)
{
    const size_t count = problems->opening + problems->system_opening;
    char what[80];

    print_targets(problems->system_opening, problems->opening, what, sizeof(what));
    if (count > 0 && !problems->opening_logged)
        INFO(PLUGIN
             ": opening counters takes time on each CPU, so it goes on at the next intervals; "
             "until then %s without values%s.",
             what, of_lines);
    if (count == 0 && problems->opening_logged)
        log_all_open(problems);
    problems->opening_logged = count > 0;
    problems->opening = 0;
    problems->system_opening = false;
}

static const char no_controller[] =
    "the kernel has no perf_event controller for it; cgroup2 creates one once any controller is "
    "enabled at the top (echo +pids >cgroup.subtree_control)";

static void log_failed_groups(struct perf_problems *problems, const char *of_lines)
{
    char cgroups[40];

    print_cgroups(cgroups, sizeof(cgroups), problems->failed);
    if (problems->failed == 0 && problems->failure_logged)
        INFO(PLUGIN ": all cgroups can be counted again.");
    problems->failure_logged = problems->failure_logged && problems->failed > 0;
    if (tally_should_log(&problems->logged_failed, problems->failed)) {
        problems->failure_logged = true;
        WARNING(PLUGIN ": %s (such as %s) can't be counted%s: %s. Retrying every minute.", cgroups,
                problems->example, of_lines,
                problems->failed_status == -EXDEV ? no_controller
                                                  : STRERROR(-problems->failed_status));
    }
    problems->failed = 0;
}

/* What was found for cgroups is copied from the machine then, which is logged for that alone. */
void perf_problems_change_to_bpf(struct perf_problems *problems)
{
    struct complaint *machine = problems->kinds[HR_PERF_SYSTEM];
    struct complaint *cgroups = problems->kinds[HR_PERF_CGROUP];

    for (int kind = 0; kind < PERF_PROBLEM_COUNT; kind++)
        if (kind != PERF_PROBLEM_WHOLE && machine[kind].cause == 0) {
            machine[kind] = cgroups[kind];
            cgroups[kind] = (struct complaint){0};
        }
    forget_files(problems);
    problems->opening = 0;
    problems->system_opening = false;
}

void perf_problems_log(struct perf_problems *problems, const struct perf_events *events,
                       const struct hr_perf *perf, const struct hr_root *root)
{
    const char *of_lines =
        exceptions_are_there(events, perf) ? " in lines that BPF can't count" : "";

    log_system(problems, of_lines);
    log_event_problems(problems, events, perf, root, HR_PERF_SYSTEM);
    log_event_problems(problems, events, perf, root, HR_PERF_CGROUP);
    log_files(problems, perf, of_lines);
    log_opening(problems, of_lines);
    log_failed_groups(problems, of_lines);
    for (size_t g = 0; g < events->group_count; g++)
        starvation_log(&problems->starvation, g, events->groups[g].events[0]->text);
    problems->counted = 0;
}
