/* SPDX-License-Identifier: MIT */
#include "wss/choice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "headroom/capability.h"
#include "headroom/root.h"

/* --- Methods -------------------------------------------------------------- */

static const struct hr_wss_ops *const methods[HR_WSS_METHOD_COUNT] = {
    [HR_WSS_REFERENCED] = &hr_wss_referenced_ops,
    [HR_WSS_IDLE] = &hr_wss_idle_ops,
    [HR_WSS_LRU_GEN] = &hr_wss_lru_gen_ops,
    [HR_WSS_DAMON] = &hr_wss_damon_ops,
};

static const char *const method_names[HR_WSS_METHOD_COUNT + 1] = {
    [HR_WSS_REFERENCED] = "referenced", [HR_WSS_IDLE] = "idle", [HR_WSS_LRU_GEN] = "lru_gen",
    [HR_WSS_DAMON] = "damon",           [HR_WSS_AUTO] = "auto",
};

static const char *const scope_names[HR_WSS_SCOPE_COUNT] = {
    [HR_WSS_PROCESSES] = "processes",
    [HR_WSS_CGROUP] = "a cgroup",
    [HR_WSS_SYSTEM] = "the whole system",
};

/* What HR_WSS_AUTO tries, in this order. Without aging, generations cover arbitrary windows, so
 * reading them comes last, or not at all. */
struct preference {
    enum hr_wss_method method;
    enum { EITHER, IF_AGING, UNLESS_AGING } aging;
};

#define PREFERENCE_MAX 4

static const struct preference preferences[HR_WSS_SCOPE_COUNT][PREFERENCE_MAX] = {
    [HR_WSS_PROCESSES] = {{HR_WSS_IDLE, EITHER},
                          {HR_WSS_REFERENCED, EITHER},
                          {HR_WSS_DAMON, EITHER}},
    [HR_WSS_CGROUP] = {{HR_WSS_LRU_GEN, IF_AGING},
                       {HR_WSS_IDLE, EITHER},
                       {HR_WSS_REFERENCED, EITHER},
                       {HR_WSS_LRU_GEN, UNLESS_AGING}},
    [HR_WSS_SYSTEM] = {{HR_WSS_LRU_GEN, IF_AGING},
                       {HR_WSS_DAMON, EITHER},
                       {HR_WSS_LRU_GEN, UNLESS_AGING}},
};

static const size_t preference_counts[HR_WSS_SCOPE_COUNT] = {
    [HR_WSS_PROCESSES] = 3,
    [HR_WSS_CGROUP] = 4,
    [HR_WSS_SYSTEM] = 3,
};

const struct hr_wss_ops *hr_wss_ops_of(enum hr_wss_method method)
{
    return methods[method];
}

const char *hr_wss_method_name(enum hr_wss_method method)
{
    return method_names[method];
}

int hr_wss_method_parse(const char *name, enum hr_wss_method *method)
{
    for (int i = 0; i <= HR_WSS_AUTO; i++)
        if (strcmp(name, method_names[i]) == 0) {
            *method = i;
            return 0;
        }
    return -ENOENT;
}

/* --- Reasons -------------------------------------------------------------- */

int hr_wss_fill_in_reason(struct hr_reason *reason, int status)
{
    const char *text = strerror(-status);
    char remedy[HR_REMEDY_SIZE];

    if (reason == NULL || reason->error != 0)
        return status;
    if (status == -ESRCH)
        text = "there is no such process (any more)";
    else if (status == -ENODEV)
        text = "there is no such cgroup (any more)";
    else if (status == -EACCES || status == -EPERM)
        return hr_reason_set(reason, status,
                             "no permission to access the memory of other users' processes: %s",
                             hr_capability_remedy(HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE, remedy));
    return hr_reason_set(reason, status, "%s", text);
}

/* --- The mount ------------------------------------------------------------- */

int hr_wss_open_mount(const struct hr_root *root, struct hr_reason *reason)
{
    int fd = hr_root_open_cgroup2(root);

    if (fd != -ENOENT)
        return fd;
    return hr_reason_set(reason, fd,
                         "no cgroup2 hierarchy is mounted: mount one, such as by "
                         "mount -t cgroup2 none /sys/fs/cgroup");
}

static int check_mount(const struct hr_root *root, struct hr_reason *reason)
{
    int fd = hr_wss_open_mount(root, reason);

    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

/* --- Checking ------------------------------------------------------------- */

bool hr_wss_measures(enum hr_wss_method method, enum hr_wss_scope scope)
{
    return methods[method]->scopes[scope];
}

static int probe_method(const struct hr_root *root, const struct hr_wss_options *options,
                        enum hr_wss_method method, struct hr_reason *reason)
{
    const enum hr_wss_scope scope = options->target.scope;

    hr_reason_clear(reason);
    if (!hr_wss_measures(method, scope))
        return hr_reason_set(reason, -EOPNOTSUPP, "this method can't measure %s: choose another",
                             scope_names[scope]);
    int status =
        scope == HR_WSS_CGROUP && options->target.group == NULL ? check_mount(root, reason) : 0;
    if (status == 0)
        status = methods[method]->probe(root, scope, options->aging, reason);
    return status < 0 ? hr_wss_fill_in_reason(reason, status) : 0;
}

int hr_wss_probe(const struct hr_root *root, enum hr_wss_method method, enum hr_wss_scope scope,
                 struct hr_reason *reason)
{
    const struct hr_wss_options options = {.target = {.scope = scope}};

    return probe_method(root, &options, method, reason);
}

size_t hr_wss_max_windows_of(const struct hr_wss_ops *ops, bool aging)
{
    return aging ? ops->max_windows : ops->max_windows_passive;
}

static int check_windows(const struct hr_wss_ops *ops, const struct hr_wss_options *options,
                         struct hr_reason *reason)
{
    size_t max = hr_wss_max_windows_of(ops, options->aging);

    if (max == 0 || options->window_count <= max)
        return 0;
    return hr_reason_set(
        reason, -E2BIG, "the %s method can read at most %zu window%s per measurement: use fewer%s",
        method_names[ops->method], max, max == 1 ? "" : "s",
        options->target.scope != HR_WSS_SYSTEM ? ", or choose the referenced or idle method" : "");
}

/* The user's own processes need no privilege, so a lack of permission shows only when a measurement
 * begins. */
int hr_wss_check_method(const struct hr_root *root, const struct hr_wss_options *options,
                        enum hr_wss_method method, struct hr_reason *reason)
{
    int status = probe_method(root, options, method, reason);

    if ((status == -EACCES || status == -EPERM) && methods[method]->needs_no_rights)
        status = 0;
    return status < 0 ? status : check_windows(methods[method], options, reason);
}

static int check_longest_window(const struct hr_root *root, const struct hr_wss_options *options,
                                enum hr_wss_method method, struct hr_reason *reason)
{
    if (options->longest_window_ns == 0 || methods[method]->check_window == NULL)
        return 0;
    return methods[method]->check_window(root, options->longest_window_ns, reason);
}

/* There is room for three reasons, each truncated if necessary. */
static void append_reason(struct hr_reason *all, const char *name, const char *text)
{
    size_t length = strlen(all->text);

    snprintf(all->text + length, sizeof(all->text) - length, "%s%s: %.140s", length > 0 ? "; " : "",
             name, text);
}

int hr_wss_choose_method(const struct hr_root *root, const struct hr_wss_options *options,
                         unsigned excluded, enum hr_wss_method *method, struct hr_reason *reason)
{
    struct hr_reason all = {0}, one;
    int status = -ENOENT;

    for (size_t i = 0; i < preference_counts[options->target.scope]; i++) {
        const struct preference *next = &preferences[options->target.scope][i];
        if ((next->aging != EITHER && options->aging != (next->aging == IF_AGING)) ||
            (excluded & 1u << next->method) != 0)
            continue;
        status = hr_wss_check_method(root, options, next->method, &one);
        if (status == 0)
            status = check_longest_window(root, options, next->method, &one);
        if (status == 0) {
            *method = next->method;
            all.error = 0;
            break;
        }
        if (all.error == 0)
            all.error = status;
        append_reason(&all, method_names[next->method], one.text);
        status = all.error;
    }
    if (reason != NULL)
        *reason = all;
    return status;
}
