/* SPDX-License-Identifier: MIT */
/*
 * doctor/groups.c - the cgroups on which `headroom doctor` tries features.
 */
#include "doctor/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Others remove groups meanwhile. */
static void drop_sample(struct doctor_groups *groups, const struct hr_cgroup *group)
{
    size_t count = 0;

    for (size_t i = 0; i < groups->sample_count; i++)
        if (groups->samples[i] != group)
            groups->samples[count++] = groups->samples[i];
    groups->sample_count = count;
    if (groups->spare == group)
        groups->spare = NULL;
}

static void collect_sample(struct hr_cgroup *group, enum hr_cgroup_event event, void *context)
{
    struct doctor_groups *groups = context;

    if (event == HR_CGROUP_ADDED && groups->spare == NULL)
        groups->spare = group;
    if (event == HR_CGROUP_POPULATED && groups->sample_count < DOCTOR_SAMPLES)
        groups->samples[groups->sample_count++] = group;
    if (event == HR_CGROUP_REMOVED)
        drop_sample(groups, group);
}

/* --- One of our own ------------------------------------------------------- */

static void hold_signals(sigset_t *before)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaddset(&set, signals[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

/* @return whether there is one now. */
static bool make_own_group(const struct hr_root *root, const char *controller,
                           struct doctor_own_group *own)
{
    own->mount = hr_root_open_cgroup(root, controller, NULL);
    if (own->mount < 0)
        return false;
    snprintf(own->name, sizeof(own->name), "headroom-doctor-%d", (int)getpid());
    hold_signals(&own->signals);
    if (mkdirat(own->mount, own->name, 0755) == 0)
        return true;
    sigprocmask(SIG_SETMASK, &own->signals, NULL);
    close(own->mount);
    own->mount = -1;
    return false;
}

static void remove_own_group(struct doctor_own_group *own)
{
    if (own->mount < 0)
        return;
    unlinkat(own->mount, own->name, AT_REMOVEDIR);
    close(own->mount);
    sigprocmask(SIG_SETMASK, &own->signals, NULL);
}

/* --- Those to try things on ----------------------------------------------- */

void doctor_groups_open(const struct hr_root *root, const char *controller,
                        struct doctor_groups *groups)
{
    static const char *const everywhere[] = {"**"};
    const struct hr_cgroup_options options = {
        .controller = controller,
        .patterns = everywhere,
        .pattern_count = 1,
        .max_count = DOCTOR_MAX_CGROUPS,
        .event = collect_sample,
        .context = groups,
    };

    *groups = (struct doctor_groups){.own.mount = -1};
    groups->status = hr_cgroup_set_open(root, &options, &groups->set);
    if (groups->status < 0)
        return;
    groups->status = hr_cgroup_set_read(groups->set);
    groups->counts = hr_cgroup_set_counts(groups->set);
    if (groups->status == 0 && groups->spare == NULL &&
        make_own_group(root, controller, &groups->own))
        hr_cgroup_set_read(groups->set);
    if (groups->sample_count == 0 && groups->spare != NULL)
        groups->samples[groups->sample_count++] = groups->spare;
}

void doctor_groups_close(struct doctor_groups *groups)
{
    hr_cgroup_set_close(groups->set);
    remove_own_group(&groups->own);
    *groups = (struct doctor_groups){0};
}

void doctor_add_mount(struct findings *findings, const struct doctor_groups *groups)
{
    static const struct advice advice[] = {
        {-ENOENT, "no cgroup2 hierarchy is mounted",
         "mount -t cgroup2 none /sys/fs/cgroup/unified; in a container, see collectd-headroom(5)"},
        {-EACCES, "no permission to list the cgroup2 mount", "let collectd's user read it"},
        {-EMFILE, DOCTOR_NO_DESCRIPTORS},
        {0},
    };

    findings_add_status(findings, "cgroups of version 2", groups->status, advice);
}

void doctor_add_missing_group(struct findings *findings, const char *feature,
                              const struct doctor_groups *groups)
{
    static const char cause[] = "there is no cgroup to try this with";

    if (groups->status == -ENOENT)
        findings_add(findings, FINDING_UNTRIED, feature, cause, "mount cgroup2");
    else if (groups->status < 0)
        findings_add(findings, FINDING_UNTRIED, feature, "cgroups can't be listed",
                     "let collectd's user read the cgroup mount");
    else
        findings_add(findings, FINDING_UNTRIED, feature, cause,
                     "run headroom doctor as root, which creates one for the test, or create one");
}
