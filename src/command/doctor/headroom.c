/* SPDX-License-Identifier: MIT */
/*
 * doctor/headroom.c - what of the headroom plugin works: the room of the system and of cgroups is
 * read, as the plugin does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/checks.h"
#include "headroom/array.h"
#include "headroom/oom.h"
#include "headroom/psi.h"
#include "headroom/reclaim.h"
#include "headroom/room.h"
#include "headroom/utf8.h"

#define READABLE "let collectd's user read /proc and the cgroup mounts"

/* Why the room by one resource isn't known. */
struct obstacle {
    int status;
    struct hr_reason reason; /* a cause and its remedy; empty where the status says all */
};

/* Groups whose room by one resource isn't known. */
struct obstructed {
    size_t count;
    char example[128];
    struct obstacle first;
};

/* What the checks share. */
struct check_context {
    const struct hr_root *root;
    struct findings *findings;
    struct hr_room_machine *machine;
    size_t tried;     /* groups */
    bool are_samples; /* that nothing selects: one may have it switched off */
    struct obstructed cpu, memory, io;
    struct hr_room_source **kept; /* all at once, as the plugin has them */
    size_t kept_count, kept_capacity;
    unsigned reopened; /* files */
};

/* --- One reading ---------------------------------------------------------- */

/* CPU time is known by two readings only. */
static int status_of(const struct hr_room *room)
{
    return room->status == -EAGAIN ? 0 : room->status;
}

/* The rest is said by the system's words. */
static void explain(struct obstacle *obstacle)
{
    struct hr_reason *reason = &obstacle->reason;

    if (obstacle->status == -EMFILE)
        snprintf(reason->text, sizeof(reason->text), "%s: %s", DOCTOR_NO_DESCRIPTORS);
    else if (obstacle->status == -ENXIO || obstacle->status == -E2BIG)
        hr_room_explain_limits(obstacle->status, reason);
}

static struct obstacle find_cpu_obstacle(const struct hr_room_reading *reading, bool is_system)
{
    struct obstacle obstacle = {.status = reading->psi.status[HR_PSI_CPU]};

    if (obstacle.status < 0) {
        hr_psi_explain(obstacle.status, HR_PSI_CPU, is_system, &obstacle.reason);
        return obstacle;
    }
    obstacle.status = reading->cpu_limits_status;
    if (obstacle.status == 0)
        obstacle.status = status_of(&reading->cpu);
    explain(&obstacle);
    return obstacle;
}

static struct obstacle find_memory_obstacle(const struct hr_room_reading *reading, bool is_system)
{
    struct obstacle obstacle = {.status = status_of(&reading->memory)};

    explain(&obstacle);
    if ((obstacle.status == -ENOENT || obstacle.status == -EXDEV) && !is_system)
        hr_room_explain_memory(obstacle.status, &obstacle.reason);
    return obstacle;
}

/* @return 0, or a negative errno: it was removed, or memory is short. */
static int read_room(struct check_context *context, const struct hr_cgroup *group,
                     struct hr_room_reading *reading)
{
    static const struct hr_room_lines any = {{100, 100, 100, 100}};
    struct hr_room_source **source;

    if (HR_ARRAY_RESERVE(context->kept, context->kept_capacity, context->kept_count + 1) < 0)
        return -ENOMEM;
    source = &context->kept[context->kept_count];
    int status = hr_room_open(context->machine, group, 1, source);
    if (status < 0)
        return status;
    context->kept_count++;
    status = hr_room_read(*source, &any, reading);
    context->reopened += reading->psi.reopened_count;
    return status;
}

static void close_all(struct check_context *context)
{
    while (context->kept_count > 0)
        hr_room_close(context->kept[--context->kept_count]);
    free(context->kept);
    context->kept = NULL;
    context->kept_capacity = 0;
}

static void add_obstacle(const struct check_context *context, const char *feature,
                         const struct obstacle *obstacle)
{
    static const struct advice advice[] = {{0, NULL, READABLE}};

    if (obstacle->reason.text[0] != '\0')
        findings_add_reason(context->findings, FINDING_LACKS, feature, &obstacle->reason);
    else
        findings_add_status(context->findings, feature, obstacle->status, advice);
}

/* Without a limit there is nothing that could be known. */
static struct obstacle find_io_obstacle(const struct hr_room_reading *reading)
{
    struct obstacle obstacle = {.status = reading->io_limits_status};

    explain(&obstacle);
    if (obstacle.status == 0 && reading->io.room.status == -ENODATA) {
        obstacle.status = -ENODATA;
        hr_room_explain_io(-ENODATA, &obstacle.reason);
    }
    return obstacle;
}

/* --- The system ----------------------------------------------------------- */

static void check_system(struct check_context *context)
{
    struct hr_room_reading reading;
    struct obstacle cpu = {.status = -ENOMEM}, memory = cpu;

    if (read_room(context, NULL, &reading) == 0) {
        cpu = find_cpu_obstacle(&reading, true);
        memory = find_memory_obstacle(&reading, true);
    }
    add_obstacle(context, "room of the system by CPU time", &cpu);
    add_obstacle(context, "room of the system by memory", &memory);
    close_all(context);
}

/* --- Cgroups -------------------------------------------------------------- */

static void add_obstructed(struct obstructed *groups, const char *path,
                           const struct obstacle *obstacle)
{
    if (obstacle->status == 0 || groups->count++ > 0)
        return;
    snprintf(groups->example, sizeof(groups->example), "%s", path);
    hr_utf8_make_safe(groups->example);
    groups->first = *obstacle;
}

static void try_group(struct check_context *context, const struct hr_cgroup *group)
{
    struct hr_room_reading reading;

    if (read_room(context, group, &reading) < 0)
        return;
    const struct obstacle cpu = find_cpu_obstacle(&reading, false);
    const struct obstacle memory = find_memory_obstacle(&reading, false);
    const struct obstacle io = find_io_obstacle(&reading);
    context->tried++;
    add_obstructed(&context->cpu, group->path, &cpu);
    add_obstructed(&context->memory, group->path, &memory);
    add_obstructed(&context->io, group->path, &io);
}

/* Those that are selected; where none is, the samples. */
static void try_groups(struct check_context *context, const struct cgroups_of_plugin *of,
                       const struct doctor_groups *groups)
{
    struct hr_cgroup_set *set = cgroups_open(context->root, of);
    const struct hr_cgroup *group = NULL;

    while (set != NULL && (group = hr_cgroup_set_next(set, group)) != NULL)
        try_group(context, group);
    context->are_samples = context->tried == 0;
    for (size_t i = 0; context->are_samples && i < groups->sample_count; i++)
        try_group(context, groups->samples[i]);
    close_all(context);
    hr_cgroup_set_close(set);
}

/* "of 3 of 12, such as system.slice/a.service", "of system.slice/a.service" if that is all; the
 * name of our own says nothing. */
static void describe_obstructed(const struct check_context *context,
                                const struct obstructed *obstructed, bool is_own, char *text,
                                size_t size)
{
    if (is_own)
        snprintf(text, size, "of a test cgroup");
    else if (context->tried == 1)
        snprintf(text, size, "of %s", obstructed->example);
    else
        snprintf(text, size, "of %zu of %zu%s, such as %s", obstructed->count, context->tried,
                 context->are_samples ? " that were tried, as none is selected" : "",
                 obstructed->example);
}

static void add_lacking(const struct check_context *context, const char *feature,
                        const struct obstructed *obstructed, bool is_own)
{
    const struct obstacle *first = &obstructed->first;
    const char *text = first->reason.text;
    size_t length;
    char of[192], cause[256];

    const char *remedy = hr_reason_remedy(&first->reason, &length);
    if (length == 0) {
        text = strerror(-first->status);
        length = strlen(text);
    }
    describe_obstructed(context, obstructed, is_own, of, sizeof(of));
    snprintf(cause, sizeof(cause), "%s, %.*s", of, (int)length, text);
    findings_add(context->findings, FINDING_LACKS, feature, cause,
                 remedy != NULL ? remedy : READABLE);
}

/* @param bearable  of how many it may be unknown. */
static void add_of_groups(const struct check_context *context, const char *feature,
                          const struct obstructed *obstructed, const struct doctor_groups *groups,
                          size_t bearable)
{
    if (context->tried == 0)
        doctor_add_missing_group(context->findings, feature, groups);
    else if (obstructed->count <= bearable)
        findings_add(context->findings, FINDING_WORKS, feature, NULL, NULL);
    else
        add_lacking(context, feature, obstructed, groups->own.mount >= 0);
}

static void check_keeping(const struct check_context *context, const struct doctor_groups *groups)
{
    static const char feature[] = "keeping the files of many cgroups open";

    if (context->tried == 0)
        doctor_add_missing_group(context->findings, feature, groups);
    else if (context->reopened == 0)
        findings_add(context->findings, FINDING_WORKS, feature, NULL, NULL);
    else
        findings_add(context->findings, FINDING_LACKS, feature,
                     "there are too few file descriptors, so files are reopened at each interval",
                     "raise LimitNOFILE= of collectd's service (ulimit -n)");
}

static void check_groups(struct check_context *context, const struct cgroups_of_plugin *of,
                         const struct doctor_groups *groups)
{
    try_groups(context, of, groups);
    const size_t bearable = context->are_samples && context->tried > 0 ? context->tried - 1 : 0;
    add_of_groups(context, "room of cgroups by CPU time", &context->cpu, groups, bearable);
    add_of_groups(context, "room of cgroups by memory", &context->memory, groups, bearable);
    /* Most have no limit. */
    if (context->io.count > bearable)
        add_of_groups(context, "room of cgroups by I/O", &context->io, groups, bearable);
    check_keeping(context, groups);
}

/* --- OOM kills ------------------------------------------------------------ */

static void check_oom(struct check_context *context)
{
    static const struct advice log_advice[] = {
        {-EPERM, "no permission to read /dev/kmsg", "run as root, or with CAP_SYSLOG"},
        {-EACCES, "no permission to read /dev/kmsg", "run as root, or with CAP_SYSLOG"},
        {-ENODATA, "/dev/kmsg isn't the kernel's log", "let collectd have the host's /dev/kmsg"},
        {0, NULL, "let collectd have the host's /dev/kmsg"}};
    static const struct advice count_advice[] = {
        {-ENODATA, "/proc/vmstat has no count of them", "it is there since Linux 4.13"},
        {0, NULL, READABLE}};
    struct hr_oom *oom;
    struct hr_oom_sources sources = {.log_status = -ENOMEM, .count_status = -ENOMEM};

    int status = hr_oom_open(context->root, &oom);
    if (status == 0) {
        sources = hr_oom_sources(oom);
        hr_oom_close(oom);
    }
    findings_add_status(context->findings, "names of processes killed for lack of memory",
                        sources.log_status, log_advice);
    findings_add_status(context->findings, "counting processes killed for lack of memory",
                        sources.count_status, count_advice);
}

/* --- Memory that can be taken --------------------------------------------- */

/* Of one of several, as the controller may be enabled for some only. The plugin does without, and
 * the configuration never uses it: `headroom probe` does, by hand. */
static void check_reclaim(const struct check_context *context, const struct doctor_groups *groups)
{
    static const char feature[] = "taking memory from cgroups, for headroom probe";
    struct hr_reason reason, first = {.error = 0};
    struct hr_reclaim *reclaim;

    findings_use(context->findings, false);
    for (size_t i = 0; i < groups->sample_count; i++) {
        if (hr_reclaim_open(context->root, groups->samples[i], &reclaim, &reason) == 0) {
            hr_reclaim_close(reclaim);
            findings_add(context->findings, FINDING_WORKS, feature, NULL, NULL);
            return;
        }
        if (first.error == 0)
            first = reason;
    }
    if (first.error != 0)
        findings_add_reason(context->findings, FINDING_NOTE, feature, &first);
    else
        doctor_add_missing_group(context->findings, feature, groups);
}

void doctor_check_headroom(const struct hr_root *root, const struct usage *usage,
                           struct findings *findings)
{
    const struct usage_headroom *headroom = &usage->headroom;
    const struct cgroups_of_plugin of = {"headroom", NULL, &headroom->groups};
    struct check_context context = {.root = root, .findings = findings};
    struct doctor_groups groups;

    if (hr_room_machine_open(root, &context.machine) < 0)
        return; /* memory is short */
    hr_room_machine_read(context.machine);
    doctor_groups_open(root, NULL, &groups);
    findings_use(findings, headroom->system);
    check_system(&context);
    findings_use(findings, headroom->groups.patterns.count > 0);
    doctor_add_mount(findings, &groups);
    check_groups(&context, &of, &groups);
    findings_use(findings, headroom->oom);
    check_oom(&context);
    findings_use(findings, true);
    doctor_check_history(usage, findings);
    check_reclaim(&context, &groups);
    doctor_groups_close(&groups);
    hr_room_machine_close(context.machine);
}
