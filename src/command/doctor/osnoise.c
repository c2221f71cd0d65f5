/* SPDX-License-Identifier: MIT */
/*
 * doctor/osnoise.c - what of the osnoise plugin works. The tracer isn't started for it, as it
 * takes time from the CPUs.
 */
#include "doctor/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/osnoise_state.h"
#include "headroom/capability.h"
#include "headroom/osnoise.h"

static const struct advice tracefs_advice[] = {
    {-ENOENT, "no tracefs is mounted",
     "mount -t tracefs tracefs /sys/kernel/tracing; the kernel needs CONFIG_FTRACE=y"},
    {-EACCES, "no permission to read tracefs",
     "add CAP_DAC_OVERRIDE to collectd's service, or run collectd as root"},
    {-EPERM, "no permission to read tracefs",
     "add CAP_DAC_OVERRIDE to collectd's service, or run collectd as root; a kernel that is locked "
     "down allows no tracing"},
    {-EMFILE, DOCTOR_NO_DESCRIPTORS},
    {0},
};

/* Returns whether the list of tracers can be opened: 0 or a negative errno. */
static int open_tracers(const struct hr_root *root)
{
    static const char *const places[] = {
        "sys/kernel/tracing/available_tracers",
        "sys/kernel/debug/tracing/available_tracers",
    };
    int status = -ENOENT;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        int fd = hr_root_openat(root, places[i], O_RDONLY);
        if (fd >= 0) {
            close(fd);
            return 0;
        }
        if (status == -ENOENT)
            status = fd;
    }
    return status;
}

/* @return whether the kernel has the tracer. */
static bool check_tracer(const struct hr_root *root, struct findings *findings)
{
    static const char tracer[] = "the osnoise tracer";
    struct hr_reason reason = {0};
    int status = open_tracers(root);

    findings_add_status(findings, "tracefs", status, tracefs_advice);
    if (status < 0) {
        findings_add(findings, FINDING_UNTRIED, tracer, "tracefs can't be read", NULL);
        return false;
    }
    /* As there is a tracefs, -ENOENT means that the kernel has no such tracer. */
    if (hr_osnoise_probe(root, HR_OSNOISE_WORKLOAD, &reason) == -ENOENT) {
        findings_add_reason(findings, FINDING_LACKS, tracer, &reason);
        return false;
    }
    findings_add(findings, FINDING_WORKS, tracer, NULL, NULL);
    return true;
}

/* --- Modes ---------------------------------------------------------------- */

static const char *const features[HR_OSNOISE_MODE_COUNT] = {
    [HR_OSNOISE_WORKLOAD] = "osnoise mode, a thread on chosen CPUs",
    [HR_OSNOISE_HARDWARE] = "hwnoise mode, the same with interrupts off",
    [HR_OSNOISE_SOURCES] = "sources mode, noise by source without a thread",
    [HR_OSNOISE_ATTACH] = "attach mode, reading along with another's run",
    [HR_OSNOISE_TIMERLAT] = "timerlat mode, latency of timers on chosen CPUs",
};

static void check_mode(const struct hr_root *root, enum hr_osnoise_mode mode, bool keeps_priority,
                       struct findings *findings)
{
    struct hr_reason reason = {0};
    int status = hr_osnoise_probe(root, mode, &reason);

    if (status == 0 && (mode <= HR_OSNOISE_HARDWARE || mode == HR_OSNOISE_TIMERLAT) &&
        !keeps_priority && !hr_capability_is_held(HR_CAP_SYS_NICE))
        findings_add(findings, FINDING_LACKS, features[mode],
                     "no permission to give the workload a priority",
                     mode == HR_OSNOISE_TIMERLAT ? HR_OSNOISE_TIMERLAT_PRIORITY_REMEDY
                                                 : HR_OSNOISE_PRIORITY_REMEDY);
    else if (status == 0)
        findings_add(findings, FINDING_WORKS, features[mode], NULL, NULL);
    else if (status == -EBUSY || status == -EAGAIN)
        /* Busy, or no run to attach to: that doesn't depend on the machine. Where the plugin runs,
         * the tracer is busy. */
        findings_add_reason(findings, FINDING_UNTRIED, features[mode], &reason);
    else
        findings_add_reason(findings, FINDING_LACKS, features[mode], &reason);
}

/* --- CPUs ------------------------------------------------------------------ */

/* A list is what the operator wants, whatever there is. */
static void check_cpus(const struct hr_root *root, const struct hr_cpu_choice *cpus,
                       struct findings *findings)
{
    static const char feature[] = "CPUs that are chosen by a word";
    struct hr_reason reason;
    struct hr_cpu_set found;

    if (cpus->words == 0)
        return;
    int status = hr_osnoise_find_cpus(root, cpus, &found, &reason);
    if (status == 0)
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
    else
        findings_add_reason(findings, status == -ENXIO ? FINDING_LACKS : FINDING_UNTRIED, feature,
                            &reason);
}

/* --- Leftovers of killed runs --------------------------------------------- */

/* Where the command and the plugin keep the settings to restore, by default. */
static const char *const state_paths[] = {
    OSNOISE_STATE_PATH,
    OSNOISE_ATTACH_STATE_PATH,
    OSNOISE_PLUGIN_STATE_PATH,
};

struct leftover {
    const char *path; /* NULL: there is none */
    enum finding_state state;
    int status;
    struct hr_reason reason;
};

/* Finds the first leftover; if there is none, the first file that can't be read. */
static struct leftover find_leftover(const struct hr_root *root)
{
    struct leftover worst = {.path = NULL, .state = FINDING_WORKS};

    for (size_t i = 0; i < sizeof(state_paths) / sizeof(state_paths[0]); i++) {
        struct leftover one = {.path = state_paths[i], .state = FINDING_UNTRIED};
        one.status = hr_osnoise_left_behind(root, one.path, &one.reason);
        if (one.status == -ESTALE || one.status == -EBADMSG)
            one.state = FINDING_LACKS;
        if (one.status < 0 && (worst.path == NULL || one.state < worst.state))
            worst = one;
    }
    return worst;
}

/* The first of those that were left behind. */
static void note_left_behind(const char *instance, bool is_alive, void *context)
{
    char *name = context;

    if (!is_alive && name[0] == '\0')
        snprintf(name, NAME_MAX + 1, "%s", instance);
}

/* Of a run whose state file isn't known, as it was in a container, or chosen. */
static void check_instances(const struct hr_root *root, const char *feature,
                            struct findings *findings)
{
    char name[NAME_MAX + 1] = "", cause[NAME_MAX + 64];
    const struct hr_osnoise_visitor visitor = {note_left_behind, name};
    struct hr_reason reason;

    if (hr_osnoise_visit(root, &visitor, &reason) < 0) {
        findings_add(findings, FINDING_UNTRIED, feature, reason.text, NULL);
    } else if (name[0] == '\0') {
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
    } else {
        snprintf(cause, sizeof(cause), "the trace instance %s has no process any more", name);
        findings_add(findings, FINDING_LACKS, feature, cause,
                     "headroom osnoise --restore, with --state FILE if there is one; the next run "
                     "does so, too");
    }
}

static void check_leftovers(const struct hr_root *root, struct findings *findings)
{
    static const char feature[] = "nothing left behind by a run that was killed";
    const struct leftover worst = find_leftover(root);
    char remedy[256];

    snprintf(remedy, sizeof(remedy),
             "headroom osnoise --restore --state %s; the next run does so, too",
             worst.path != NULL ? worst.path : "");
    if (worst.path == NULL)
        check_instances(root, feature, findings);
    else if (worst.state == FINDING_UNTRIED)
        findings_add(findings, FINDING_UNTRIED, feature, worst.reason.text, NULL);
    else
        findings_add(findings, FINDING_LACKS, feature, worst.reason.text,
                     worst.status == -ESTALE ? remedy : "check what it is, and remove it");
}

/* --- Options ---------------------------------------------------------------- */

/* Of a block, over those of the blocks before. */
static void read_options(const struct config_item *block, struct hr_osnoise_options *options)
{
    const struct config_item *alert = config_find(block, "Alert");

    options->mode = doctor_word("osnoise", "Plugin", block, "Mode", options->mode);
    options->period_us = doctor_us(block, "Period", options->period_us);
    options->timerlat.period_us = doctor_us(block, "Period", options->timerlat.period_us);
    options->runtime_us = doctor_us(block, "Runtime", options->runtime_us);
    options->threshold_us = doctor_us(block, "Threshold", options->threshold_us);
    options->max_duty_pct = config_number(config_find(block, "MaxDuty"), options->max_duty_pct);
    options->by_source =
        config_number(config_find(block, "Sources"), options->by_source ? 1 : 0) > 0;
    options->histogram = config_boolean(config_find(block, "Histogram"), options->histogram);
    if (alert != NULL)
        options->max_single_ns = doctor_us(alert, "MaxSingle", 0) * 1000;
}

static void add_combination(struct findings *findings, const struct config_item *block,
                            const struct hr_reason *reason)
{
    char cause[sizeof(reason->text)];
    size_t length;
    const char *remedy = hr_reason_remedy(reason, &length);

    snprintf(cause, sizeof(cause), "%.*s", (int)length, reason->text);
    doctor_add_combination(findings, block, cause, remedy);
}

/* The plugin checks them after each block; missing CPUs and the state file are no matter of it. */
void doctor_check_osnoise_options(const struct usage *usage, struct findings *findings)
{
    struct hr_osnoise_options options = hr_osnoise_defaults;
    const struct config_item *block;
    struct hr_reason reason;
    size_t next = 0;

    options.state_path = OSNOISE_PLUGIN_STATE_PATH;
    hr_cpu_set_add(&options.cpus.list, 0);
    while ((block = doctor_next_block(usage, "osnoise", &next)) != NULL) {
        read_options(block, &options);
        if (hr_osnoise_check(&options, &reason) < 0) {
            add_combination(findings, block, &reason);
            return;
        }
    }
}

/* --- All ---------------------------------------------------------------------- */

void doctor_check_osnoise(const struct hr_root *root, const struct usage *usage,
                          struct findings *findings)
{
    bool has_tracer = check_tracer(root, findings);

    for (int mode = 0; mode < HR_OSNOISE_MODE_COUNT; mode++) {
        findings_use(findings, usage->osnoise.modes[mode]);
        if (has_tracer)
            check_mode(root, mode, usage->osnoise.keeps_priority[mode], findings);
        else
            findings_add(findings, FINDING_UNTRIED, features[mode], "the tracer can't be found",
                         NULL);
    }
    findings_use(findings, true);
    check_cpus(root, &usage->osnoise.cpus, findings);
    check_leftovers(root, findings);
}
