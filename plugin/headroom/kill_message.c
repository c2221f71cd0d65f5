/* SPDX-License-Identifier: MIT */
#include "headroom/kill_message.h"

#include "common/message.h"
#include "headroom/instance.h"
#include "headroom/quantity.h"
#include "headroom/room.h"
#include "headroom/utf8.h"
#include "utils/common/common.h"

#define PLUGIN "headroom"

/* Longer paths are shortened as instances are. */
#define PATH_MAX_SHOWN 100

static struct message init_notification(notification_t *notice, const struct hr_oom_kill *kill,
                                        const char *instance)
{
    char made[HR_INSTANCE_SIZE];

    if (instance == NULL && kill->path[0] != '\0') {
        hr_instance_make(kill->path, kill->path, false, made);
        instance = made;
    }
    const struct message message =
        message_begin(notice, NOTIF_FAILURE,
                      &(struct message_series){
                          .plugin = PLUGIN,
                          .instance = instance != NULL ? instance : "system",
                          .type = "total_operations",
                          .type_instance = "oom_kill",
                      });
    message_add_text(notice, "Resource", "memory");
    return message;
}

static void shorten(const char *path, char shown[HR_INSTANCE_SIZE])
{
    if (strlen(path) > PATH_MAX_SHOWN)
        hr_instance_make_part(path, path, false, PATH_MAX_SHOWN, shown);
    else
        sstrncpy(shown, path, HR_INSTANCE_SIZE);
}

static void append_place(struct message *message, notification_t *notice,
                         const struct hr_oom_kill *kill)
{
    char shown[HR_INSTANCE_SIZE];

    shorten(kill->path, shown);
    message_append(message, "OOM kill ");
    if (kill->path[0] != '\0') {
        message_append(message, "%s %s", kill->is_exact ? "in" : "below", shown);
        message_add_text(notice, kill->is_exact ? "Cgroup" : "CgroupAbove", kill->path);
    } else {
        message_append(message, kill->is_exact ? "in the root cgroup" : "in an unknown cgroup");
    }
}

/* "mysqld[423], 1.9 GiB" */
static void append_victim(struct message *message, notification_t *notice,
                          const struct hr_oom_kill *kill)
{
    if (kill->name[0] == '\0') {
        message_append(message, ": a process whose name isn't known");
        return;
    }
    message_append(message, ": %s[%d]", kill->name, kill->pid);
    message_add_text(notice, "Victim", kill->name);
    plugin_notification_meta_add_signed_int(notice, "Pid", kill->pid);
    if (kill->resident_bytes == UINT64_MAX)
        return;
    message_append(message, ", %s", hr_quantity_bytes((double)kill->resident_bytes).text);
    plugin_notification_meta_add_double(notice, "Resident", (double)kill->resident_bytes);
}

/* "by shop.slice's memory.max of 2 GiB" */
static void print_group_limit(const struct hr_oom_kill *kill, int version, char *cause, size_t size)
{
    char shown[HR_INSTANCE_SIZE];
    const bool is_own = kill->is_exact && strcmp(kill->path, kill->limit_path) == 0;
    const bool is_known = kill->limit_bytes != UINT64_MAX;

    shorten(kill->limit_path, shown);
    snprintf(cause, size, "by %s%s %s%s%s", is_own ? "its own" : shown, is_own ? "" : "'s",
             hr_room_bound_name(HR_ROOM_MEMORY_MAX, version), is_known ? " of " : "",
             is_known ? hr_quantity_bytes((double)kill->limit_bytes).text : "");
}

static void print_cause(const struct hr_oom_kill *kill, int version, char *cause, size_t size)
{
    const char *text = "";

    switch (kill->limit) {
    case HR_OOM_OF_GROUP:
        print_group_limit(kill, version, cause, size);
        return;
    case HR_OOM_OF_SOME:
        text = "by a limit of its cgroup or of one above";
        break;
    case HR_OOM_OF_MACHINE:
        text = "as the machine ran out of memory";
        break;
    case HR_OOM_OF_NODES:
        text = "as the NUMA nodes that it may use ran out of memory";
        break;
    case HR_OOM_UNKNOWN:
        text = "by a limit that isn't known";
        break;
    }
    sstrncpy(cause, text, size);
}

void kill_message_init(notification_t *notice, const struct hr_oom_kill *kill, const char *instance,
                       int version)
{
    struct message message = init_notification(notice, kill, instance);
    char cause[256];

    append_place(&message, notice, kill);
    append_victim(&message, notice, kill);
    print_cause(kill, version, cause, sizeof(cause));
    message_append(&message, ", %s", cause);
    message_add_text(notice, "Cause", cause);
    if (kill->limit != HR_OOM_OF_GROUP)
        return;
    message_add_text(notice, "LimitCgroup", kill->limit_path);
    if (kill->limit_bytes != UINT64_MAX)
        plugin_notification_meta_add_double(notice, "Limit", (double)kill->limit_bytes);
}
