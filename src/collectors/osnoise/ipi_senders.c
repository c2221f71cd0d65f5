/* SPDX-License-Identifier: MIT */
#include "osnoise/ipi_senders.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "headroom/pid_namespace.h"
#include "headroom/root.h"
#include "osnoise/instance_file.h"

#define ASKED "events/csd/csd_queue_cpu/trigger"
#define BEGUN "events/csd/csd_function_entry/trigger"
#define EVENT "events/" HR_OSNOISE_IPI_SYSTEM "/" HR_OSNOISE_IPI_EVENT "/enable"

/* --- Recording ------------------------------------------------------------ */

static int append(const struct hr_tracefs *tracefs, const char *instance, const char *file,
                  const char *trigger, const char *filter)
{
    char path[HR_OSNOISE_PATH], text[1024];

    hr_osnoise_instance_file(path, instance, file);
    snprintf(text, sizeof(text), "%s%s%s", trigger, filter[0] != '\0' ? " if " : "", filter);
    return hr_tracefs_append(tracefs, path, text);
}

/* It may be there already, for another run. */
static void define_event(const struct hr_tracefs *tracefs)
{
    hr_tracefs_append(tracefs, "synthetic_events",
                      HR_OSNOISE_IPI_EVENT " unsigned long function; unsigned long csd; "
                                           "unsigned long last; s32 pid; u8 flags; u32 cpu");
}

void hr_osnoise_ipi_senders_record(const struct hr_tracefs *tracefs, const char *instance,
                                   const char *asked, const char *begun)
{
    char path[HR_OSNOISE_PATH];

    hr_osnoise_instance_file(path, instance, ASKED);
    if (!hr_tracefs_exists(tracefs, path))
        return;
    define_event(tracefs);
    int status = append(tracefs, instance, ASKED,
                        "hist:keys=cpu:from_csd=csd,from_pid=common_pid,from_flags=common_flags,"
                        "from_cpu=common_cpu",
                        asked);
    if (status == 0)
        status = append(tracefs, instance, BEGUN,
                        "hist:keys=common_cpu:last=$from_csd,pid=$from_pid,flags=$from_flags,"
                        "cpu=$from_cpu:onmatch(csd.csd_queue_cpu).trace(" HR_OSNOISE_IPI_EVENT
                        ",func,csd,$last,$pid,$flags,$cpu)",
                        begun);
    if (status == 0)
        status = hr_osnoise_instance_write(tracefs, instance, EVENT, "1");
    if (status < 0)
        hr_osnoise_ipi_senders_remove(tracefs, instance);
}

static void clear(const struct hr_tracefs *tracefs, const char *instance, const char *file)
{
    char path[HR_OSNOISE_PATH];

    hr_osnoise_instance_file(path, instance, file);
    hr_tracefs_clear(tracefs, path);
}

/* That which reads the variables of the other first. */
void hr_osnoise_ipi_senders_remove(const struct hr_tracefs *tracefs, const char *instance)
{
    char path[HR_OSNOISE_PATH];

    hr_osnoise_instance_file(path, instance, ASKED);
    if (!hr_tracefs_exists(tracefs, path))
        return;
    hr_osnoise_instance_write(tracefs, instance, EVENT, "0");
    clear(tracefs, instance, BEGUN);
    clear(tracefs, instance, ASKED);
    hr_tracefs_append(tracefs, "synthetic_events", "!" HR_OSNOISE_IPI_EVENT);
}

/* --- Printing ------------------------------------------------------------- */

/* "perf\n" */
static bool read_name(const struct hr_root *root, int pid, char *name, size_t size)
{
    char path[32];
    size_t length;

    snprintf(path, sizeof(path), "proc/%d/comm", pid);
    if (hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), name, size, &length) < 0 ||
        length == 0)
        return false;
    name[length - 1] = '\0';
    return true;
}

/* In another PID namespace a PID is that of another task. */
static void print_task(const struct hr_root *root, const struct hr_osnoise_ipi_sender *sender,
                       char text[HR_OSNOISE_SENDER])
{
    char name[32];

    if (sender->in_interrupt)
        snprintf(text, HR_OSNOISE_SENDER, "an interrupt");
    else if (sender->pid == 0)
        snprintf(text, HR_OSNOISE_SENDER, "the idle task");
    else if (!hr_has_pids_of_kernel())
        snprintf(text, HR_OSNOISE_SENDER, "a task");
    else if (read_name(root, sender->pid, name, sizeof(name)))
        snprintf(text, HR_OSNOISE_SENDER, "%s[%d]", name, sender->pid);
    else
        snprintf(text, HR_OSNOISE_SENDER, "task %d", sender->pid);
}

void hr_osnoise_ipi_sender_print(const struct hr_root *root,
                                 const struct hr_osnoise_ipi_sender *sender,
                                 char text[HR_OSNOISE_SENDER])
{
    print_task(root, sender, text);
    const size_t length = strlen(text);
    snprintf(text + length, HR_OSNOISE_SENDER - length, " on CPU %u", sender->cpu);
}
