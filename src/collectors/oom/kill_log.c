/* SPDX-License-Identifier: MIT */
#include "oom/kill_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headroom/cgroup.h"

#define KIB 1024

static const char context_start[] = "oom-kill:constraint=";
static const char old_context_start[] = "Task in ";
static const char all_start[] = "Tasks in ";
static const char all_end[] = " are going to be killed due to memory.oom.group set";

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static const char *find_last(const char *text, const char *word)
{
    const char *found = NULL;

    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        found = at;
    return found;
}

/* --- Groups --------------------------------------------------------------------- */

/* The slash at the front is left out. */
static bool copy_path(char path[PATH_MAX], const char *start, size_t length)
{
    if (length == 0 || *start != '/' || length > PATH_MAX)
        return false;
    memcpy(path, start + 1, length - 1);
    path[length - 1] = '\0';
    return true;
}

/* "/a,task_memcg=/a/b": the victim's group is the other or below it, so that a comma in a
 * name isn't taken for the one between them. */
static bool take_two_paths(const char *start, const char *end, const char *between,
                           struct hr_oom_kill *kill)
{
    for (const char *at = strstr(start, between); at != NULL && at < end;
         at = strstr(at + 1, between)) {
        const char *second = at + strlen(between);
        if (second <= end && copy_path(kill->limit_path, start, (size_t)(at - start)) &&
            copy_path(kill->path, second, (size_t)(end - second)) &&
            hr_cgroup_is_within(kill->path, kill->limit_path))
            return true;
    }
    kill->path[0] = kill->limit_path[0] = '\0';
    return false;
}

/* "CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,oom_memcg=/a,task_memcg=/a/b", or
 * ",global_oom,task_memcg=/a/b". */
static bool take_groups(const char *context, const char *end, struct hr_oom_kill *kill)
{
    static const char allowed[] = ",mems_allowed=", global[] = "global_oom,task_memcg=",
                      group[] = "oom_memcg=";
    const char *at = strstr(context, allowed);

    if (at == NULL)
        return false;
    at += strlen(allowed);
    at += strspn(at, "0123456789-,");
    if (at > end)
        return false;
    if (begins_with(at, group)) {
        kill->limit = HR_OOM_OF_GROUP;
        return take_two_paths(at + strlen(group), end, ",task_memcg=", kill);
    }
    if (!begins_with(at, global) || at + strlen(global) > end)
        return false;
    kill->limit = begins_with(context + strlen(context_start), "CONSTRAINT_NONE")
                      ? HR_OOM_OF_MACHINE
                      : HR_OOM_OF_NODES;
    return copy_path(kill->path, at + strlen(global), (size_t)(end - at) - strlen(global));
}

/* "Task in /a/b killed as a result of limit of /a" */
static bool take_old_groups(const char *context, struct hr_oom_kill *kill)
{
    static const char between[] = " killed as a result of limit of ";
    const char *start = context + strlen(old_context_start);

    for (const char *at = strstr(start, between); at != NULL; at = strstr(at + 1, between)) {
        const char *limit = at + strlen(between);
        if (copy_path(kill->path, start, (size_t)(at - start)) &&
            copy_path(kill->limit_path, limit, strlen(limit)) &&
            hr_cgroup_is_within(kill->path, kill->limit_path)) {
            kill->limit = HR_OOM_OF_GROUP;
            return true;
        }
    }
    kill->path[0] = kill->limit_path[0] = '\0';
    return false;
}

/* Whether the message before is of this victim. The older one doesn't name it, but isn't limited in
 * its rate. */
static bool take_context(const struct hr_kill_log *log, struct hr_oom_kill *kill)
{
    const enum hr_oom_limit limit = kill->limit;
    char victim[128];

    if (begins_with(log->context, old_context_start))
        return take_old_groups(log->context, kill);
    snprintf(victim, sizeof(victim), ",task=%s,pid=%d,uid=", kill->name, kill->pid);
    const char *end = find_last(log->context, victim);
    if (end != NULL && take_groups(log->context, end, kill))
        return true;
    kill->limit = limit;
    return false;
}

/* --- The victim --------------------------------------------------------------------- */

static bool take_name(const char *start, const char *end, char *name, size_t size)
{
    const char *close = end;

    while (close > start && *close != ')')
        close--;
    if (close == start || (size_t)(close - start) >= size)
        return false;
    memcpy(name, start, (size_t)(close - start));
    name[close - start] = '\0';
    return true;
}

/* "anon-rss:1024kB, file-rss:8kB, shmem-rss:0kB" */
static uint64_t sum_resident(const char *text)
{
    static const char *const names[] = {"anon-rss:", "file-rss:", "shmem-rss:"};
    uint64_t sum = 0;
    bool is_known = false;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *found = strstr(text, names[i]);
        char *end;
        if (found == NULL)
            continue;
        found += strlen(names[i]);
        const uint64_t kib = strtoull(found, &end, 10);
        if (*found < '0' || *found > '9' || !begins_with(end, "kB") || kib > UINT64_MAX / KIB / 4)
            return UINT64_MAX;
        is_known = true;
        sum += kib * KIB;
    }
    return is_known ? sum : UINT64_MAX;
}

/* "Memory cgroup out of memory: Killed process 423 (mysqld) total-vm:9kB, anon-rss:…"; "Out of
 * memory: " and "Out of memory (oom_kill_allocating_task): " for the machine's; nothing in front by
 * old kernels. */
static bool take_victim(const struct hr_kill_log *log, const char *message,
                        struct hr_oom_kill *kill)
{
    static const char killed[] = "Killed process ";
    const char *at = strstr(message, killed), *sizes = find_last(message, "total-vm:");
    const bool is_of_group = begins_with(message, "Memory cgroup out of memory");
    char *end;

    if (at == NULL || sizes == NULL || sizes < at ||
        !(at == message || is_of_group || begins_with(message, "Out of memory")))
        return false;
    const long pid = strtol(at + strlen(killed), &end, 10);
    if (pid <= 0 || pid > INT_MAX || !begins_with(end, " ("))
        return false;
    *kill = (struct hr_oom_kill){
        .pid = (int)pid,
        .resident_bytes = sum_resident(sizes),
        .limit =
            is_of_group || (at == message && log->is_of_group) ? HR_OOM_OF_SOME : HR_OOM_OF_MACHINE,
        .limit_bytes = UINT64_MAX,
    };
    return take_name(end + 2, sizes, kill->name, sizeof(kill->name));
}

/* --- All tasks of a group ----------------------------------------------------------- */

/* It comes after the first victim, whose limit is that of all. */
static void take_all(struct hr_kill_log *log, const char *message)
{
    const char *start = message + strlen(all_start), *end = find_last(message, all_end);

    log->all_of[0] = '\0';
    log->all_first_pid = log->last.pid;
    memcpy(log->all_first_name, log->last.name, sizeof(log->all_first_name));
    if (end == NULL || !copy_path(log->all_of, start, (size_t)(end - start)))
        return;
    log->is_all_limit_known = log->last.limit == HR_OOM_OF_GROUP;
    memcpy(log->all_limit, log->last.limit_path, sizeof(log->all_limit));
    log->all_limit_bytes = log->last.limit_bytes;
}

void hr_kill_log_fill_limit(const struct hr_kill_log *log, struct hr_oom_kill *kill)
{
    if (kill->limit != HR_OOM_OF_SOME || log->all_of[0] == '\0' || !log->is_all_limit_known ||
        !hr_cgroup_is_within(kill->path, log->all_of))
        return;
    kill->limit = HR_OOM_OF_GROUP;
    memcpy(kill->limit_path, log->all_limit, sizeof(kill->limit_path));
    kill->limit_bytes = log->all_limit_bytes;
}

/* --- Messages ----------------------------------------------------------------------- */

bool hr_kill_log_is_near(const char *message)
{
    return strstr(message, "invoked oom-killer:") != NULL || begins_with(message, context_start) ||
           begins_with(message, old_context_start) || begins_with(message, all_start) ||
           begins_with(message, "memory: usage ");
}

/* "memory: usage 102400kB, limit 102400kB, failcnt 5" */
static void take_limit(struct hr_kill_log *log, const char *message)
{
    static const char limit[] = ", limit ";
    const char *at = strstr(message, limit);
    char *end;

    log->limit_kib = at != NULL ? strtoull(at + strlen(limit), &end, 10) : 0;
    if (log->limit_kib > UINT64_MAX / KIB / 2 || at == NULL || !begins_with(end, "kB"))
        log->limit_kib = 0;
}

static void keep_context(struct hr_kill_log *log, const char *message)
{
    if (strlen(message) < sizeof(log->context))
        snprintf(log->context, sizeof(log->context), "%s", message);
    else
        log->context[0] = '\0';
}

static void forget(struct hr_kill_log *log)
{
    log->context[0] = '\0';
    log->limit_kib = 0;
    log->is_of_group = false;
}

/* Later another process may have that number, and no message but that of its end. */
static void begin_another(struct hr_kill_log *log)
{
    forget(log);
    log->all_first_pid = 0;
}

static void take_rest(struct hr_kill_log *log, const char *message)
{
    if (strstr(message, "invoked oom-killer:") != NULL)
        begin_another(log);
    else if (begins_with(message, context_start) || begins_with(message, old_context_start))
        keep_context(log, message);
    else if (begins_with(message, all_start))
        take_all(log, message);
    else if (begins_with(message, "memory: usage "))
        take_limit(log, message);
    else if (begins_with(message, "Memory cgroup out of memory: Kill process "))
        log->is_of_group = true;
}

bool hr_kill_log_add(struct hr_kill_log *log, const char *message, struct hr_kill_logged *logged)
{
    struct hr_oom_kill *kill = &logged->kill;

    if (!take_victim(log, message, kill)) {
        take_rest(log, message);
        return false;
    }
    logged->has_path = kill->is_exact = take_context(log, kill);
    if (logged->has_path && kill->limit == HR_OOM_OF_GROUP && log->limit_kib > 0)
        kill->limit_bytes = log->limit_kib * KIB;
    forget(log);
    logged->is_again =
        kill->pid == log->all_first_pid && strcmp(kill->name, log->all_first_name) == 0;
    log->last = *kill;
    return true;
}
