/* SPDX-License-Identifier: MIT */
/*
 * doctor/wss.c - what of the wss plugin works: each method, for each scope that it can measure.
 */
#include "doctor/checks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/process.h"
#include "headroom/room.h"
#include "headroom/utf8.h"
#include "headroom/wss.h"

static const char *const scopes[HR_WSS_SCOPE_COUNT] = {
    [HR_WSS_PROCESSES] = "processes",
    [HR_WSS_CGROUP] = "cgroups",
    [HR_WSS_SYSTEM] = "the system",
};

static void check_method(const struct hr_root *root, enum hr_wss_method method,
                         enum hr_wss_scope scope, struct findings *findings)
{
    char feature[64];
    struct hr_reason reason;

    int status = hr_wss_probe(root, method, scope, &reason);
    snprintf(feature, sizeof(feature), "the %s method, for %s", hr_wss_method_name(method),
             scopes[scope]);
    if (status == 0)
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
    else if (reason.error == -EMFILE && strstr(reason.text, ": ") == NULL)
        findings_add(findings, FINDING_LACKS, feature, DOCTOR_NO_DESCRIPTORS);
    else
        findings_add_reason(findings, FINDING_LACKS, feature, &reason);
}

/* "auto" needs one of the methods. */
static void check_auto(const struct hr_root *root, enum hr_wss_scope scope,
                       struct findings *findings)
{
    char feature[64];
    struct hr_reason reason;
    bool works = false;

    for (int method = 0; method < HR_WSS_METHOD_COUNT && !works; method++)
        works = hr_wss_measures(method, scope) && hr_wss_probe(root, method, scope, &reason) == 0;
    snprintf(feature, sizeof(feature), "the auto method, for %s", scopes[scope]);
    if (works)
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
    else
        findings_add(findings, FINDING_LACKS, feature, "no method works for it",
                     "make one of them work: headroom doctor --all lists what each lacks");
}

/* --- collectd's own limit ------------------------------------------------- */

/* Finds the lowest limit of CPU time of a group and those above. @return 0; -ENODATA: there is
 * none; or another negative errno. */
static int find_limit(const struct hr_root *root, const char *path, double *cpus)
{
    static const struct hr_room_lines any = {{100, 100, 100, 100}};
    const struct hr_cgroup_options options = {.patterns = &path, .pattern_count = 1};
    struct hr_room_machine *machine = NULL;
    struct hr_room_source *source = NULL;
    struct hr_cgroup_set *set = NULL;
    struct hr_room_reading reading;
    size_t level;

    int status = hr_cgroup_set_open(root, &options, &set);
    if (status == 0)
        status = hr_cgroup_set_read(set);
    if (status == 0)
        status = hr_room_machine_open(root, &machine);
    const struct hr_cgroup *group = status == 0 ? hr_cgroup_set_next(set, NULL) : NULL;
    if (status == 0)
        status = group != NULL ? hr_room_open(machine, group, 1, &source) : -ENOENT;
    if (status == 0)
        status = hr_room_read(source, &any, &reading);
    if (status == 0)
        status = hr_room_find_cpu_limit(source, cpus, &level);
    hr_room_close(source);
    hr_room_machine_close(machine);
    hr_cgroup_set_close(set);
    return status;
}

/* While collectd is throttled in the middle of a scan, it holds the lock of the memory map: not on
 * each kernel. What isn't known isn't reported. */
static void check_own_limit(const struct hr_root *root, struct findings *findings)
{
    const struct hr_process_choice choice = {.by = HR_PROCESS_BY_NAME, .text = "collectd"};
    struct hr_process_list list = {0};
    char path[4096], cause[256], remedy[256];
    double cpus;

    if (!hr_wss_scans_are_throttled(root))
        return;
    hr_process_list_find(root, &choice, &list);
    for (size_t i = 0; i < list.count; i++) {
        if (hr_process_read_cgroup(&list.items[i], path, sizeof(path)) < 0 || path[0] == '\0' ||
            find_limit(root, path, &cpus) < 0)
            continue;
        hr_utf8_make_safe(path);
        snprintf(cause, sizeof(cause),
                 "collectd, in %.80s, has no more than %.3g CPUs: what it measures with the "
                 "referenced method waits while it is throttled in a scan",
                 path, cpus);
        snprintf(remedy, sizeof(remedy), "choose another method, or lift the limit (CPUQuota=)");
        findings_add(findings, FINDING_LACKS, "scans without being throttled", cause, remedy);
        break;
    }
    hr_process_list_free(&list);
}

/* "auto" may choose the referenced method. */
static bool uses_scans(const struct usage_wss *wss)
{
    bool uses = false;

    for (int scope = 0; scope < HR_WSS_SCOPE_COUNT; scope++)
        if (hr_wss_measures(HR_WSS_REFERENCED, scope))
            uses =
                uses || wss->methods[HR_WSS_REFERENCED][scope] || wss->methods[HR_WSS_AUTO][scope];
    return uses;
}

/* --- What was left behind ------------------------------------------------- */

/* The plugin ends by itself what it knows to be left behind; where it isn't loaded, nothing does.
 */
static void check_leftovers(const struct hr_root *root, struct findings *findings)
{
    static const char feature[] = "nothing left behind by a measurement that was killed";
    struct hr_reason reason;

    const int status = hr_wss_left_behind(root, &reason);
    if (status == 0)
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
    else if (status == -EMFILE || status == -ENFILE)
        findings_add(findings, FINDING_UNTRIED, feature, DOCTOR_NO_DESCRIPTORS);
    else if (status == -ESTALE || status == -EAGAIN)
        findings_add(findings, status == -ESTALE ? FINDING_LACKS : FINDING_UNTRIED, feature,
                     reason.text, "headroom wss --restore");
    else
        findings_add_reason(findings, FINDING_UNTRIED, feature, &reason);
}

/* --- All ------------------------------------------------------------------ */

void doctor_check_wss(const struct hr_root *root, const struct usage *usage,
                      struct findings *findings)
{
    const struct usage_wss *wss = &usage->wss;

    for (int method = 0; method < HR_WSS_METHOD_COUNT; method++)
        for (int scope = 0; scope < HR_WSS_SCOPE_COUNT; scope++) {
            findings_use(findings, wss->methods[method][scope]);
            if (hr_wss_measures(method, scope))
                check_method(root, method, scope, findings);
        }
    for (int scope = 0; scope < HR_WSS_SCOPE_COUNT; scope++) {
        findings_use(findings, wss->methods[HR_WSS_AUTO][scope]);
        check_auto(root, scope, findings);
    }
    findings_use(findings, uses_scans(wss));
    check_own_limit(root, findings);
    findings_use(findings, true);
    check_leftovers(root, findings);
}

/* --- Costs ---------------------------------------------------------------- */

/* Preparing to measure something, whatever it is, chooses the method. */
static enum hr_wss_method choose_method(const struct hr_root *root,
                                        const struct usage_wss_target *target)
{
    const struct hr_wss_options options = {
        .target = {.scope = target->scope,
                   .processes = {HR_PROCESS_BY_PID, getpid(), NULL},
                   .cgroup = "any"},
        .method = target->method,
        .window_count = target->window_count,
        .longest_window_ns = (uint64_t)(target->longest_s * (double)HR_NS_PER_S),
        .aging = target->aging,
    };
    struct hr_wss *wss;

    if (target->method != HR_WSS_AUTO || hr_wss_open(root, &options, &wss, NULL) < 0)
        return target->method;
    const enum hr_wss_method chosen = hr_wss_method(wss);
    hr_wss_close(wss);
    return chosen;
}

static struct costs_of_target make_target(const struct hr_root *root,
                                          const struct config_item *item, size_t count)
{
    struct costs_of_target made = {usage_wss_target(item), count};

    made.target.method = choose_method(root, &made.target);
    return made;
}

static void count_groups(const struct hr_root *root, const struct cgroups_of_plugin *of,
                         struct costs_of_target *patterns)
{
    struct hr_cgroup_set *set = cgroups_open(root, of);
    const struct hr_cgroup *group = NULL;

    while (set != NULL && (group = hr_cgroup_set_next(set, group)) != NULL)
        patterns[group->pattern].count++;
    hr_cgroup_set_close(set);
}

size_t doctor_wss_targets(const struct hr_root *root, const struct cgroups_of_plugin *of,
                          const struct usage_wss *wss, struct costs_of_target **targets)
{
    const size_t blocks = wss->blocks.count, patterns = wss->groups.options.count;
    struct costs_of_target *made = calloc(blocks + patterns + 1, sizeof(*made));

    *targets = made;
    if (made == NULL)
        return 0;
    for (size_t i = 0; i < blocks; i++)
        made[i] = make_target(root, wss->blocks.list[i], 1);
    for (size_t i = 0; i < patterns; i++)
        made[blocks + i] = make_target(root, wss->groups.options.list[i], 0);
    if (patterns > 0)
        count_groups(root, of, made + blocks);
    return blocks + patterns;
}
