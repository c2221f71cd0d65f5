/* SPDX-License-Identifier: MIT */
#include "wss/targets.h"

#include <errno.h>

#include "common/log.h"
#include "common/options.h"
#include "headroom/instance.h"

#define PLUGIN "wss"

#define SYSTEM_LABEL "system"

/* --- Options of all targets ----------------------------------------------- */

static int read_method(const char *block, const oconfig_item_t *item, struct wss_target *target)
{
    static const enum hr_wss_method methods[] = {HR_WSS_AUTO, HR_WSS_REFERENCED, HR_WSS_IDLE,
                                                 HR_WSS_LRU_GEN, HR_WSS_DAMON};
    int word;

    if (option_word(block, item, &word) < 0)
        return -1;
    target->method = methods[word];
    return 0;
}

static int read_windows(const char *block, const oconfig_item_t *item, struct wss_target *target)
{
    if (option_check(block, item) < 0)
        return -1;
    for (int i = 0; i < item->values_num; i++)
        target->windows_ms[i] = (uint64_t)(item->values[i].value.number * 1000 + 0.5);
    target->window_count = (size_t)item->values_num;
    if (target->windows_ms[0] < 10)
        WARNING("%s: option Window: a window below 10 ms reads low, as CPUs set no referenced "
                "bit for a page that is in their TLBs.",
                block);
    return 0;
}

/* @return 0; 1: it is none of these; -1. */
static int read_common(const char *block, const oconfig_item_t *item, struct wss_target *target)
{
    if (strcasecmp(item->key, "Method") == 0)
        return read_method(block, item, target);
    if (strcasecmp(item->key, "Window") == 0)
        return read_windows(block, item, target);
    if (strcasecmp(item->key, "Aging") == 0)
        return option_boolean(block, item, &target->aging);
    return 1;
}

/* --- Processes ------------------------------------------------------------ */

static int set_choice(struct wss_target *target, enum hr_process_by by, const char *text, pid_t pid)
{
    char *copy = text != NULL ? strdup(text) : NULL;

    if (text != NULL && copy == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return -1;
    }
    free((char *)target->processes.text);
    target->processes = (struct hr_process_choice){.by = by, .pid = pid, .text = copy};
    return 0;
}

/* @return 0; 1: it is none of these; -1. */
static int read_choice(const char *block, const oconfig_item_t *item, struct wss_target *target)
{
    const char *text;
    size_t pid;

    if (strcasecmp(item->key, "Name") == 0)
        return option_text(block, item, &text) < 0
                   ? -1
                   : set_choice(target, HR_PROCESS_BY_NAME, text, 0);
    if (strcasecmp(item->key, "PidFile") == 0)
        return option_text(block, item, &text) < 0
                   ? -1
                   : set_choice(target, HR_PROCESS_BY_FILE, text, 0);
    if (strcasecmp(item->key, "Pid") == 0)
        return option_count(block, item, &pid) < 0
                   ? -1
                   : set_choice(target, HR_PROCESS_BY_PID, NULL, (pid_t)pid);
    return 1;
}

static int read_process_options(const char *block, const oconfig_item_t *item,
                                struct wss_target *target)
{
    bool chosen = false;

    for (int i = 0; i < item->children_num; i++) {
        const oconfig_item_t *child = &item->children[i];
        int status = read_choice(block, child, target);
        if (status == 0 && chosen) {
            ERROR("%s: options Name, PidFile and Pid exclude each other.", block);
            return -1;
        }
        chosen = chosen || status == 0;
        if (status > 0)
            status = read_common(block, child, target);
        if (status < 0)
            return -1;
        if (status > 0)
            option_warn_unknown(block, child);
    }
    /* Without any, the label is the name. */
    return chosen ? 0 : set_choice(target, HR_PROCESS_BY_NAME, target->label, 0);
}

/* --- Lists ---------------------------------------------------------------- */

static void free_target(struct wss_target *target)
{
    free(target->label);
    free((char *)target->processes.text);
}

/* Makes room for an entry, all zeros but for the scope. @return NULL, logged, if memory is short.
 */
static struct wss_target *append_target(struct wss_target **list, size_t *count,
                                        enum hr_wss_scope scope)
{
    struct wss_target *grown = reallocarray(*list, *count + 1, sizeof(**list));

    if (grown == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return NULL;
    }
    *list = grown;
    grown[*count] = (struct wss_target){.scope = scope, .method = HR_WSS_AUTO};
    return &grown[(*count)++];
}

static int set_label(struct wss_target *target, const char *label)
{
    target->label = strdup(label);
    if (target->label != NULL)
        return 0;
    ERROR(PLUGIN ": out of memory.");
    return -1;
}

/* Labels that yield the same plugin instance count as the same. */
static bool is_taken(const struct wss_targets *targets, const char *label)
{
    char instance[DATA_MAX_NAME_LEN], other[DATA_MAX_NAME_LEN];

    hr_instance_make(label, label, false, instance);
    if (strcmp(instance, SYSTEM_LABEL) == 0)
        return true;
    for (size_t i = 0; i < targets->block_count; i++) {
        hr_instance_make(targets->blocks[i].label, targets->blocks[i].label, false, other);
        if (strcmp(instance, other) == 0)
            return true;
    }
    return false;
}

static int read_process(struct wss_targets *targets, const oconfig_item_t *item)
{
    char block[256];
    const char *label;

    if (option_text(PLUGIN, item, &label) < 0)
        return -1;
    if (is_taken(targets, label))
        return option_refuse(PLUGIN, item,
                             "a name that no other <Process> has, in any file, and not "
                             "\"system\"");
    struct wss_target *target =
        append_target(&targets->blocks, &targets->block_count, HR_WSS_PROCESSES);
    if (target == NULL || set_label(target, label) < 0)
        return -1;
    snprintf(block, sizeof(block), PLUGIN ": <Process \"%s\">", label);
    return read_process_options(block, item, target);
}

static int read_system(struct wss_targets *targets, const oconfig_item_t *item)
{
    static const char block[] = PLUGIN ": <System>";

    if (option_check(PLUGIN, item) < 0)
        return -1;
    for (size_t i = 0; i < targets->block_count; i++)
        if (targets->blocks[i].scope == HR_WSS_SYSTEM) {
            ERROR(PLUGIN ": there is more than one block <System>.");
            return -1;
        }
    struct wss_target *target =
        append_target(&targets->blocks, &targets->block_count, HR_WSS_SYSTEM);
    if (target == NULL || set_label(target, SYSTEM_LABEL) < 0)
        return -1;
    for (int i = 0; i < item->children_num; i++) {
        int status = read_common(block, &item->children[i], target);
        if (status < 0)
            return -1;
        if (status > 0)
            option_warn_unknown(block, &item->children[i]);
    }
    return 0;
}

int wss_targets_option(struct wss_targets *targets, const oconfig_item_t *item)
{
    if (strcasecmp(item->key, "Process") == 0)
        return read_process(targets, item);
    if (strcasecmp(item->key, "System") == 0)
        return read_system(targets, item);
    return 1;
}

/* --- Patterns ------------------------------------------------------------- */

static struct wss_target *find_pattern(struct wss_targets *targets, size_t pattern)
{
    while (targets->pattern_count <= pattern)
        if (append_target(&targets->patterns, &targets->pattern_count, HR_WSS_CGROUP) == NULL)
            return NULL;
    return &targets->patterns[pattern];
}

int wss_targets_pattern_option(const char *block, size_t pattern, const oconfig_item_t *item,
                               void *context)
{
    struct wss_target *target = find_pattern(context, pattern);

    return target != NULL ? read_common(block, item, target) : -1;
}

int wss_targets_add_pattern(struct wss_targets *targets, size_t pattern, const char *label)
{
    struct wss_target *target = find_pattern(targets, pattern);

    if (target == NULL)
        return -1;
    return target->label == NULL ? set_label(target, label) : 0;
}

/* --- Windows -------------------------------------------------------------- */

static int check_windows(const struct wss_target *target, const struct hr_root *root)
{
    const struct hr_wss_options options = {
        .target = {.scope = target->scope, .processes = target->processes, .cgroup = ""},
        .method = target->method,
        .window_count = target->window_count,
        .aging = target->aging,
    };
    struct hr_reason reason;
    struct hr_wss *wss;

    /* What "auto" chooses, and whether a method is available, shows only at the start: here only
     * what is impossible everywhere keeps collectd from starting. */
    if (target->window_count < 2 || target->method == HR_WSS_AUTO)
        return 0;
    int status = hr_wss_open(root, &options, &wss, &reason);
    if (status == 0)
        hr_wss_close(wss);
    if (status != -E2BIG)
        return 0;
    ERROR(PLUGIN ": %s can't be measured: %s.", target->label, reason.text);
    return -1;
}

int wss_targets_check_windows(const struct wss_targets *targets, const struct hr_root *root)
{
    for (size_t i = 0; i < targets->block_count; i++)
        if (check_windows(&targets->blocks[i], root) < 0)
            return -1;
    for (size_t i = 0; i < targets->pattern_count; i++)
        if (check_windows(&targets->patterns[i], root) < 0)
            return -1;
    return 0;
}

/* --- All ------------------------------------------------------------------ */

bool wss_target_disturbs(const struct wss_target *target, enum hr_wss_method method)
{
    if (method == HR_WSS_LRU_GEN)
        return target->aging;
    /* "auto" may choose lru_gen without aging, which only reads. */
    return method != HR_WSS_AUTO || target->scope != HR_WSS_SYSTEM || target->aging;
}

void wss_targets_free(struct wss_targets *targets)
{
    for (size_t i = 0; i < targets->block_count; i++)
        free_target(&targets->blocks[i]);
    for (size_t i = 0; i < targets->pattern_count; i++)
        free_target(&targets->patterns[i]);
    free(targets->blocks);
    free(targets->patterns);
    *targets = (struct wss_targets){0};
}
