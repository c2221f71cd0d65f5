/* SPDX-License-Identifier: MIT */
#include "wss/compare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/group.h"
#include "common/output.h"
#include "common/usage.h"
#include "common/waiting.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "wss/output.h"
#include "wss/target.h"
#include "wss/warnings.h"

/* The methods are in a column of so many characters. */
#define NAME_WIDTH 12
#define FOLD_WIDTH 80

struct comparison {
    const struct wss_request *request;
    struct wss_output output;
    struct hr_root *root;
    struct hr_wss_target measured;
    struct group_patterns cgroups; /* where it was found by its name in series */
    struct hr_process_list processes;
    bool done[HR_WSS_METHOD_COUNT];
    struct hr_wss_sample samples[HR_WSS_METHOD_COUNT]; /* of those done */
};

static bool is_for_people(const struct comparison *comparison)
{
    return comparison->output.format == WSS_COLUMNS;
}

/* What measuring by a method does to what is measured, and to others. */
static const char *describe_effect(const struct comparison *comparison, enum hr_wss_method method)
{
    static const char *const effects[HR_WSS_METHOD_COUNT] = {
        [HR_WSS_REFERENCED] = "delays a process while its page tables are walked, and makes the "
                              "kernel forget which pages were in use: where memory is short it "
                              "may reclaim the wrong ones for a while",
        [HR_WSS_IDLE] = "keeps one CPU busy while pages are marked and read; the kernel remembers "
                        "which were in use",
        [HR_WSS_LRU_GEN] = "nothing: it reads what the kernel has recorded, in windows as long as "
                           "its generations happen to be",
        [HR_WSS_DAMON] = "runs a kernel thread that samples regions of memory; meanwhile nothing "
                         "else can use DAMON",
    };

    if (method == HR_WSS_LRU_GEN && comparison->request->aging)
        return "has the kernel scan the memory and begin new generations, by which it also "
               "chooses what to reclaim";
    return effects[method];
}

/* --- One method ------------------------------------------------------------------------ */

/* Each step returns 0, or a negative errno; with a reason unless the run is to end (-EINTR or
 * -EPIPE). */

static bool target_lives(void *context)
{
    const struct comparison *comparison = context;
    return wss_target_lives(&comparison->processes);
}

static int wait_for_window(struct comparison *comparison, uint64_t begun_ns,
                           struct hr_reason *reason)
{
    const struct waiting wait = {
        .from_ns = begun_ns,
        .until_ns = begun_ns + comparison->request->plan.window_ns,
        .what = "",
        .should_continue = target_lives,
        .context = comparison,
    };
    int status = waiting_wait(&wait);

    if (status == -ESRCH)
        snprintf(reason->text, sizeof(reason->text), "the target has ended");
    else if (status != 0)
        snprintf(reason->text, sizeof(reason->text), "%s", strerror(-status));
    return status;
}

static int measure_window(struct comparison *comparison, struct hr_wss *wss,
                          struct wss_reading *reading, struct hr_reason *reason)
{
    const uint64_t window_ns = comparison->request->plan.window_ns;
    int status = hr_wss_begin(wss, window_ns, reason);

    if (status == 0 && !hr_wss_looks_back(wss))
        status = wait_for_window(comparison, hr_clock_ns(), reason);
    if (status == 0)
        status = hr_wss_read(wss, window_ns, &reading->sample, reason);
    reading->asked_ns = window_ns;
    clock_gettime(CLOCK_REALTIME, &reading->time);
    return status;
}

static int measure(struct comparison *comparison, struct wss_reading *reading,
                   struct hr_reason *reason)
{
    const struct hr_wss_options options = {
        .target = comparison->measured,
        .method = reading->method,
        .window_count = 1,
        .longest_window_ns = comparison->request->plan.window_ns,
        .aging = comparison->request->aging && reading->method == HR_WSS_LRU_GEN,
    };
    struct hr_wss *wss;
    int status = hr_wss_open(comparison->root, &options, &wss, reason);

    if (status != 0)
        return status;
    status = measure_window(comparison, wss, reading, reason);
    hr_wss_close(wss);
    return status;
}

/* For people as a row. */
static int print_missing(const struct comparison *comparison, enum hr_wss_method method,
                         const struct hr_reason *reason)
{
    const char *name = hr_wss_method_name(method);

    if (!is_for_people(comparison)) {
        fprintf(stderr, "%s: %s: %s\n", comparison->request->title, name, reason->text);
        return 0;
    }
    fprintf(comparison->output.file, "%-*s", NAME_WIDTH, name);
    output_fold(comparison->output.file, reason->text, NAME_WIDTH, FOLD_WIDTH);
    return output_flush(comparison->output.file);
}

static int print_reading(const struct comparison *comparison, const struct wss_reading *reading)
{
    if (is_for_people(comparison))
        fprintf(comparison->output.file, "%-*s", NAME_WIDTH, hr_wss_method_name(reading->method));
    return wss_output_reading(&comparison->output, reading);
}

/* @return 0, or the negative errno of writing; -EINTR: a signal. */
static int compare_method(struct comparison *comparison, enum hr_wss_method method)
{
    struct wss_reading reading = {.method = method};
    struct hr_reason reason = {.text = ""};
    int status = measure(comparison, &reading, &reason);

    if (status == -EINTR || status == -EPIPE)
        return status;
    if (status != 0)
        return print_missing(comparison, method, &reason);
    comparison->done[method] = true;
    comparison->samples[method] = reading.sample;
    return print_reading(comparison, &reading);
}

/* --- All ------------------------------------------------------------------------------- */

static int print_heading(struct comparison *comparison)
{
    char target[WSS_TARGET_NAME_SIZE];
    FILE *file = comparison->output.file;

    wss_target_find(comparison->root, &comparison->measured, &comparison->processes);
    wss_target_name(&comparison->measured, &comparison->processes, target);
    if (is_for_people(comparison))
        fprintf(file, "Comparing what %s touches within %.9g s, by each method in turn...\n%-*s",
                target, (double)comparison->request->plan.window_ns / HR_NS_PER_S, NAME_WIDTH,
                "Method");
    return wss_output_heading(&comparison->output);
}

static int print_effects(const struct comparison *comparison)
{
    FILE *file = comparison->output.file;

    if (is_for_people(comparison))
        fputs("\nWhat each disturbs:\n", file);
    for (int i = 0; i < HR_WSS_METHOD_COUNT && is_for_people(comparison); i++) {
        if (!comparison->done[i])
            continue;
        fprintf(file, "%-*s", NAME_WIDTH, hr_wss_method_name(i));
        output_fold(file, describe_effect(comparison, i), NAME_WIDTH, FOLD_WIDTH);
    }
    return output_flush(file);
}

/* Behind the table, which they would tear apart. */
static void print_warnings(const struct comparison *comparison)
{
    const bool is_cgroup = comparison->measured.scope == HR_WSS_CGROUP;
    struct wss_warnings warnings = {.title = comparison->request->title};

    for (int i = 0; i < HR_WSS_METHOD_COUNT; i++) {
        warnings.ended = 0; /* since this one began */
        if (comparison->done[i])
            wss_warnings_print(&warnings, &comparison->samples[i], is_cgroup && i == HR_WSS_IDLE);
    }
}

static int compare_methods(struct comparison *comparison)
{
    bool any = false;
    int status = print_heading(comparison);

    for (int i = 0; i < HR_WSS_METHOD_COUNT && status == 0; i++) {
        status = compare_method(comparison, i);
        any = any || comparison->done[i];
    }
    if (any && (status == 0 || status == -EINTR)) {
        print_warnings(comparison);
        status = print_effects(comparison);
    }
    if (status == -EPIPE || status == -EINTR) /* whoever closes the pipe has read enough */
        return COMMAND_DONE;
    status = output_finish(comparison->request->title, status);
    return status == COMMAND_DONE && !any ? COMMAND_FAILED : status;
}

int wss_compare(const struct wss_request *request)
{
    struct comparison comparison = {
        .request = request,
        .output = {.file = stdout, .format = request->format, .scans = true},
        .measured = request->target,
    };

    waiting_hold_signals();
    int status = wss_target_open(request->title, request->root, &comparison.measured,
                                 &comparison.root, &comparison.cgroups);
    if (status == COMMAND_DONE)
        status = compare_methods(&comparison);
    hr_process_list_free(&comparison.processes);
    group_patterns_free(&comparison.cgroups);
    hr_root_close(comparison.root);
    const int number = waiting_signal();
    if (number != 0)
        waiting_end_by_signal(number);
    return status;
}
