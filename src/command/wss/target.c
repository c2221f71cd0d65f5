/* SPDX-License-Identifier: MIT */
#include "wss/target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/group.h"
#include "common/label.h"
#include "common/usage.h"
#include "headroom/cgroup.h"
#include "headroom/root.h"

/* @return 0; -ENOTUNIQ: the name is short for several. */
static int find_cgroup(const struct hr_root *root, struct hr_wss_target *target,
                       struct group_patterns *found)
{
    if (target->scope != HR_WSS_CGROUP || target->cgroup[0] == '\0' ||
        hr_cgroup_find(root, target->cgroup) == 0)
        return 0;
    int status = group_find_named(root, target->cgroup, found);
    if (found->count > 1)
        return -ENOTUNIQ;
    if (status == 0 && found->count == 1)
        target->cgroup = found->list[0];
    return 0;
}

int wss_target_open(const char *title, const char *path, struct hr_wss_target *target,
                    struct hr_root **root, struct group_patterns *found)
{
    char names[512];
    int status = hr_root_open(path, root);

    if (status != 0) {
        fprintf(stderr, "%s: can't use %s as root directory: %s\n", title, path, strerror(-status));
        return COMMAND_FAILED;
    }
    if (find_cgroup(*root, target, found) == 0)
        return COMMAND_DONE;
    group_describe_several(target->cgroup, found, names, sizeof(names));
    fprintf(stderr, "%s: %s\n", title, names);
    return COMMAND_FAILED;
}

void wss_target_find(const struct hr_root *root, const struct hr_wss_target *target,
                     struct hr_process_list *processes)
{
    if (target->scope == HR_WSS_PROCESSES)
        hr_process_list_find(root, &target->processes, processes);
}

/* Names can contain any bytes. */
static const char *make_safe(const char *text, char label[256])
{
    label_fit(text, INT_MAX, LABEL_UTF8, label, 256);
    return label;
}

static void name_processes(const struct hr_process_choice *choice,
                           const struct hr_process_list *processes, char name[WSS_TARGET_NAME_SIZE])
{
    char label[256];
    if (processes->count == 1)
        snprintf(name, WSS_TARGET_NAME_SIZE, "PID %d (%s)", (int)processes->items[0].pid,
                 make_safe(processes->items[0].name, label));
    else if (processes->count > 1)
        snprintf(name, WSS_TARGET_NAME_SIZE, "%zu processes named %s", processes->count,
                 make_safe(choice->text, label));
    else if (choice->by == HR_PROCESS_BY_PID)
        snprintf(name, WSS_TARGET_NAME_SIZE, "PID %d", (int)choice->pid);
    else if (choice->by == HR_PROCESS_BY_FILE)
        snprintf(name, WSS_TARGET_NAME_SIZE, "the process of %s", make_safe(choice->text, label));
    else
        snprintf(name, WSS_TARGET_NAME_SIZE, "processes named %s", make_safe(choice->text, label));
}

void wss_target_name(const struct hr_wss_target *target, const struct hr_process_list *processes,
                     char name[WSS_TARGET_NAME_SIZE])
{
    char label[256];
    switch (target->scope) {
    case HR_WSS_PROCESSES:
        name_processes(&target->processes, processes, name);
        break;
    case HR_WSS_CGROUP:
        snprintf(name, WSS_TARGET_NAME_SIZE, "the cgroup %s",
                 target->cgroup[0] != '\0' ? make_safe(target->cgroup, label) : "/");
        break;
    case HR_WSS_SYSTEM:
    case HR_WSS_SCOPE_COUNT:
        snprintf(name, WSS_TARGET_NAME_SIZE, "the whole system");
        break;
    }
}

static bool has_ended(const struct hr_process *process)
{
    struct hr_process now;
    int status = hr_process_open(process->root, process->pid, &now);
    if (status == 0)
        return now.started_ticks != process->started_ticks;
    return status == -ESRCH || status == -ECHILD;
}

bool wss_target_lives(const struct hr_process_list *processes)
{
    for (size_t i = 0; i < processes->count; i++)
        if (!has_ended(&processes->items[i]))
            return true;
    return processes->count == 0;
}
