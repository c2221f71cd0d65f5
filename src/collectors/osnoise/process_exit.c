/* SPDX-License-Identifier: MIT */
#include "osnoise/process_exit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/pid_namespace.h"
#include "osnoise/instance_file.h"

#define EXIT_EVENT "sched/sched_process_exit"

/* Whether it sleeps when no instance with the tracer records: since Linux 6.5, as is recognized by
 * osnoise/per_cpu (with CONFIG_TIMERLAT_TRACER). */
static bool workload_sleeps(const struct hr_tracefs *tracefs)
{
    return hr_tracefs_exists(tracefs, "osnoise/per_cpu");
}

bool hr_osnoise_exit_can_stop(const struct hr_tracefs *tracefs)
{
    return workload_sleeps(tracefs) && hr_tracefs_exists(tracefs, "events/" EXIT_EVENT "/trigger");
}

bool hr_osnoise_exit_will_stop(const struct hr_tracefs *tracefs, const char *instance)
{
    static const char command[] = "traceoff";
    char path[HR_OSNOISE_PATH], text[1024];

    hr_osnoise_instance_file(path, instance, "events/" EXIT_EVENT "/trigger");
    return workload_sleeps(tracefs) &&
           hr_tracefs_read(tracefs, path, text, sizeof(text), NULL) == 0 &&
           strncmp(text, command, sizeof(command) - 1) == 0;
}

/* Has this thread write a line into the buffer, and reads the PID that the kernel records with it:
 * "4711 1 81234567890 # ffffffff81234567 headroom", below lines that begin with '#'. */
static int read_recorded_pid(const struct hr_tracefs *tracefs, const char *instance, uint64_t *pid)
{
    char path[HR_OSNOISE_PATH], text[4096];
    struct hr_text rest = {text, 0};

    int status = hr_osnoise_instance_write(tracefs, instance, "trace_marker", "headroom");
    hr_osnoise_instance_file(path, instance, "trace");
    if (status == 0)
        status = hr_tracefs_read(tracefs, path, text, sizeof(text), &rest.length);
    if (status < 0)
        return status;
    while (hr_text_skip(&rest, "#"))
        if (!hr_text_skip_line(&rest))
            return -EBADMSG;
    return hr_text_u64(&rest, pid) && hr_text_skip(&rest, " ") ? 0 : -EBADMSG;
}

/* A new instance has the options of the top-level one, which another program may have set. */
uint64_t hr_osnoise_exit_find_pid(const struct hr_tracefs *tracefs, const char *instance)
{
    static const char *const options[] = {"markers", "context-info", "nobin", "nohex", "raw"};
    uint64_t pid = 0;
    int status = 0;

    if (hr_has_pids_of_kernel())
        return (uint64_t)getpid();
    if (!hr_osnoise_exit_can_stop(tracefs))
        return 0;
    for (size_t i = 0; status == 0 && i < sizeof(options) / sizeof(options[0]); i++)
        status = hr_osnoise_instance_write(tracefs, instance, "trace_options", options[i]);
    if (status == 0)
        status = read_recorded_pid(tracefs, instance, &pid);
    hr_osnoise_instance_write(tracefs, instance, "trace_options", "noraw");
    return status == 0 ? pid : 0;
}

void hr_osnoise_exit_stop(const struct hr_tracefs *tracefs, const char *instance, uint64_t pid)
{
    char path[HR_OSNOISE_PATH], text[64];

    if (pid == 0)
        return;
    hr_osnoise_instance_file(path, instance, "events/" EXIT_EVENT "/trigger");
    snprintf(text, sizeof(text), "traceoff if pid == %" PRIu64, pid);
    hr_tracefs_append(tracefs, path, text);
}
