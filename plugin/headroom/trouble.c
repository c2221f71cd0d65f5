/* SPDX-License-Identifier: MIT */
#include "headroom/trouble.h"

#include <errno.h>

#include "common/log.h"
#include "utils/common/common.h"

#define PLUGIN "headroom"

/* Only not yet known, or over. */
static bool is_fine(int status)
{
    return status == 0 || status == -ENODEV || status == -ECANCELED || status == -EAGAIN;
}

void trouble_log_system(struct trouble *trouble, const struct hr_room_reading *reading)
{
    const int pressure = reading->psi.status[HR_PSI_CPU], memory = reading->memory.status;
    struct hr_reason reason;

    if (is_fine(pressure)) {
        complaint_resolve(&trouble->system_pressure,
                          PLUGIN ": pressure of the system is being read again.");
    } else {
        hr_psi_explain(pressure, HR_PSI_CPU, true, &reason);
        complaint_log(&trouble->system_pressure, LOG_WARNING, pressure,
                      PLUGIN ": the room by CPU time isn't known, as pressure of the system can't "
                             "be read: %s.",
                      reason.text);
    }
    if (memory == 0)
        complaint_resolve(&trouble->system_memory, PLUGIN ": /proc/meminfo is being read again.");
    else
        complaint_log(&trouble->system_memory, LOG_WARNING, memory,
                      PLUGIN ": the room by memory isn't known, as /proc/meminfo can't be read: "
                             "%s.",
                      STRERROR(-memory));
}

static void add(struct trouble_of_groups *groups, const char *path, int status)
{
    if (is_fine(status))
        return;
    if (groups->count++ > 0)
        return;
    sstrncpy(groups->example, path, sizeof(groups->example));
    groups->status = status;
}

void trouble_add(struct trouble *trouble, const char *path, const struct hr_room_reading *reading)
{
    /* What the machine lacks was logged of the system. */
    if (trouble->system_pressure.cause != reading->psi.status[HR_PSI_CPU])
        add(&trouble->pressure, path, reading->psi.status[HR_PSI_CPU]);
    if (trouble->system_memory.cause != reading->memory.status &&
        reading->memory_limits_status == 0)
        add(&trouble->memory, path, reading->memory.status);
    if (reading->io.room.status == -ENODATA)
        add(&trouble->io, path, -ENODATA);
    add(&trouble->cpu_limits, path, reading->cpu_limits_status);
    add(&trouble->memory_limits, path, reading->memory_limits_status);
    add(&trouble->io_limits, path, reading->io_limits_status);
    if (reading->cpu_limits_status == 0 && reading->memory_limits_status == 0 &&
        reading->io_limits_status == 0 && reading->memory.status != reading->limits_status)
        add(&trouble->old_limits, path, reading->limits_status);
}

static const char *print_groups(const struct trouble_of_groups *groups, char *buffer, size_t size)
{
    if (groups->count == 1)
        snprintf(buffer, size, "cgroup %s", groups->example);
    else
        snprintf(buffer, size, "%zu cgroups (such as %s)", groups->count, groups->example);
    return buffer;
}

static const char *print_cause(int status, char *buffer, size_t size)
{
    if (status == -E2BIG)
        snprintf(buffer, size, "there are more than %d", HR_ROOM_LIMITS);
    else if (status == -EOVERFLOW)
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

static void log_pressure(const struct trouble_of_groups *groups)
{
    char place[384];
    struct hr_reason reason;

    hr_psi_explain(groups->status, HR_PSI_CPU, false, &reason);
    WARNING(PLUGIN ": the room by CPU time of %s isn't known, as pressure can't be read: %s.",
            print_groups(groups, place, sizeof(place)), reason.text);
}

static void log_memory(const struct trouble_of_groups *groups)
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

static void log_io(const struct trouble_of_groups *groups)
{
    char place[384];

    NOTICE(PLUGIN ": the room by I/O of %s isn't known, as the io controller isn't enabled there, "
                  "though a group above has a limit: set IOAccounting=yes in systemd, or write +io "
                  "to cgroup.subtree_control above.",
           print_groups(groups, place, sizeof(place)));
}

static void log_limits(struct trouble_of_groups *groups, const char *resource)
{
    char place[384], cause[256];

    if (tally_should_log(&groups->logged, groups->count))
        WARNING(PLUGIN ": the room by %s of %s isn't known, as not all limits, its own and those "
                       "of the groups above, can be read: %s.",
                resource, print_groups(groups, place, sizeof(place)),
                print_cause(groups->status, cause, sizeof(cause)));
    groups->count = 0;
}

static void log_old_limits(struct trouble_of_groups *groups)
{
    char place[384], cause[256];

    if (tally_should_log(&groups->logged, groups->count))
        WARNING(PLUGIN ": limits of %s can't be read again, so that the last known ones are used, "
                       "for ten minutes at most: %s.",
                print_groups(groups, place, sizeof(place)),
                print_cause(groups->status, cause, sizeof(cause)));
    groups->count = 0;
}

void trouble_log_groups(struct trouble *trouble)
{
    if (tally_should_log(&trouble->pressure.logged, trouble->pressure.count))
        log_pressure(&trouble->pressure);
    if (tally_should_log(&trouble->memory.logged, trouble->memory.count))
        log_memory(&trouble->memory);
    if (tally_should_log(&trouble->io.logged, trouble->io.count))
        log_io(&trouble->io);
    trouble->pressure.count = trouble->memory.count = trouble->io.count = 0;
    log_limits(&trouble->cpu_limits, "CPU time");
    log_limits(&trouble->memory_limits, "memory");
    log_limits(&trouble->io_limits, "I/O");
    log_old_limits(&trouble->old_limits);
}
