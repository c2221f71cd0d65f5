/* SPDX-License-Identifier: MIT */
#include "headroom/problems.h"

#include <errno.h>

#include "common/log.h"
#include "utils/common/common.h"

#define PLUGIN "headroom"

/* Only not yet known, or over. */
static bool is_fine(int status)
{
    return status == 0 || status == -ENODEV || status == -ECANCELED || status == -EAGAIN;
}

void problems_log_system(struct problems *problems, const struct hr_room_reading *reading)
{
    const int pressure = reading->psi.status[HR_PSI_CPU], memory = reading->memory.status;
    struct hr_reason reason;

    if (is_fine(pressure)) {
        complaint_resolve(&problems->system_pressure,
                          PLUGIN ": pressure of the system is being read again.");
    } else {
        hr_psi_explain(pressure, HR_PSI_CPU, true, &reason);
        complaint_log(&problems->system_pressure, LOG_WARNING, pressure,
                      PLUGIN ": the room by CPU time isn't known, as pressure of the system can't "
                             "be read: %s.",
                      reason.text);
    }
    if (memory == 0)
        complaint_resolve(&problems->system_memory, PLUGIN ": /proc/meminfo is being read again.");
    else
        complaint_log(&problems->system_memory, LOG_WARNING, memory,
                      PLUGIN ": the room by memory isn't known, as /proc/meminfo can't be read: "
                             "%s.",
                      STRERROR(-memory));
}

static void count_problem(struct problem_of_groups *groups, const char *path, int status)
{
    if (is_fine(status))
        return;
    if (groups->count++ > 0)
        return;
    sstrncpy(groups->example, path, sizeof(groups->example));
    groups->status = status;
}

void problems_add(struct problems *problems, const char *path,
                  const struct hr_room_reading *reading)
{
    /* What the machine lacks was logged of the system. */
    if (problems->system_pressure.cause != reading->psi.status[HR_PSI_CPU])
        count_problem(&problems->pressure, path, reading->psi.status[HR_PSI_CPU]);
    if (problems->system_memory.cause != reading->memory.status &&
        reading->memory_limits_status == 0)
        count_problem(&problems->memory, path, reading->memory.status);
    if (reading->io.room.status == -ENODATA)
        count_problem(&problems->io, path, -ENODATA);
    count_problem(&problems->cpu_limits, path, reading->cpu_limits_status);
    count_problem(&problems->memory_limits, path, reading->memory_limits_status);
    count_problem(&problems->io_limits, path, reading->io_limits_status);
    if (reading->cpu_limits_status == 0 && reading->memory_limits_status == 0 &&
        reading->io_limits_status == 0 && reading->memory.status != reading->limits_status)
        count_problem(&problems->old_limits, path, reading->limits_status);
}

static const char *print_groups(const struct problem_of_groups *groups, char *buffer, size_t size)
{
    if (groups->count == 1)
        snprintf(buffer, size, "cgroup %s", groups->example);
    else
        snprintf(buffer, size, "%zu cgroups (such as %s)", groups->count, groups->example);
    return buffer;
}

static const char *print_cause(int status, char *buffer, size_t size)
{
    if (status == -EOVERFLOW)
        snprintf(buffer, size, "io.max has more than %d devices", HR_STALL_DEVICES);
    else if (status == -ENXIO)
        snprintf(buffer, size,
                 "its cpuset has no CPU (cpuset.cpus.effective is empty): give it one that is "
                 "online, or remove the group");
    else
        snprintf(buffer, size, "%s%s", STRERROR(-status),
                 status == -EMFILE ? ": raise LimitNOFILE= of collectd's service (ulimit -n)" : "");
    return buffer;
}

static void log_pressure(const struct problem_of_groups *groups)
{
    char place[384];
    struct hr_reason reason;

    hr_psi_explain(groups->status, HR_PSI_CPU, false, &reason);
    WARNING(PLUGIN ": the room by CPU time of %s isn't known, as pressure can't be read: %s.",
            print_groups(groups, place, sizeof(place)), reason.text);
}

static void log_memory(const struct problem_of_groups *groups)
{
    char place[384];
    struct hr_reason reason;

    print_groups(groups, place, sizeof(place));
    hr_room_explain_memory(groups->status, &reason);
    if (groups->status == -ENOENT || groups->status == -EXDEV)
        NOTICE(PLUGIN ": the room by memory of %s isn't known, as %s.", place, reason.text);
    else
        WARNING(PLUGIN ": the room by memory of %s isn't known: %s.", place, reason.text);
}

static void log_io(const struct problem_of_groups *groups)
{
    struct hr_reason reason;
    char place[384];

    hr_room_explain_io(-ENODATA, &reason);
    NOTICE(PLUGIN ": the room by I/O of %s isn't known, as %s.",
           print_groups(groups, place, sizeof(place)), reason.text);
}

static void log_limits(struct problem_of_groups *groups, const char *resource)
{
    char place[384], cause[256];

    if (!tally_should_log(&groups->logged, groups->count))
        return;
    print_groups(groups, place, sizeof(place));
    if (groups->status == -E2BIG)
        WARNING(PLUGIN ": the room by %s of %s isn't known, as more than %d groups, it and those "
                       "above, have a limit: remove those that never bind.",
                resource, place, HR_ROOM_LIMITS);
    else
        WARNING(PLUGIN ": the room by %s of %s isn't known, as not all limits, its own and those "
                       "of the groups above, can be read: %s.",
                resource, place, print_cause(groups->status, cause, sizeof(cause)));
}

static void log_old_limits(struct problem_of_groups *groups)
{
    char place[384], cause[256];

    if (tally_should_log(&groups->logged, groups->count))
        WARNING(PLUGIN ": limits of %s can't be read again, so that the last known ones are used, "
                       "for ten minutes at most: %s.",
                print_groups(groups, place, sizeof(place)),
                print_cause(groups->status, cause, sizeof(cause)));
    groups->count = 0;
}

void problems_log_groups(struct problems *problems)
{
    if (tally_should_log(&problems->pressure.logged, problems->pressure.count))
        log_pressure(&problems->pressure);
    if (tally_should_log(&problems->memory.logged, problems->memory.count))
        log_memory(&problems->memory);
    if (tally_should_log(&problems->io.logged, problems->io.count))
        log_io(&problems->io);
    problems->pressure.count = problems->memory.count = problems->io.count = 0;
    log_limits(&problems->cpu_limits, "CPU time");
    log_limits(&problems->memory_limits, "memory");
    log_limits(&problems->io_limits, "I/O");
    problems->cpu_limits.count = problems->memory_limits.count = problems->io_limits.count = 0;
    log_old_limits(&problems->old_limits);
}
