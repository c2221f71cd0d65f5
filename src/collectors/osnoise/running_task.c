/* SPDX-License-Identifier: MIT */
#include "osnoise/running_task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "process/task_list.h"

/* The numbers of fields in proc(5); the name is the second. */
enum {
    FIELD_STATE = 3,
    FIELD_THREADS = 20,
    FIELD_CPU = 39,
    FIELD_RT_PRIORITY = 40,
    FIELD_POLICY = 41
};

#define POLICY_DEADLINE   6
#define DEADLINE_PRIORITY 100 /* above all of SCHED_FIFO and SCHED_RR */

/* --- /proc/PID/stat ------------------------------------------------------- */

/* Moves to a field behind the name, which is in parentheses and may have some of its own. */
static bool find_field(const char *text, size_t length, int field, struct hr_text *found)
{
    const char *end = memrchr(text, ')', length);

    if (end == NULL)
        return false;
    *found = (struct hr_text){end + 1, length - (size_t)(end + 1 - text)};
    for (int at = FIELD_STATE; hr_text_skip(found, " "); at++) {
        if (at == field)
            return true;
        while (found->length > 0 && *found->start != ' ') {
            found->start++;
            found->length--;
        }
    }
    return false;
}

static bool take_field(const char *text, size_t length, int field, uint64_t *value)
{
    struct hr_text rest;

    return find_field(text, length, field, &rest) && hr_text_u64(&rest, value);
}

static bool copy_name(const char *text, size_t length, char *name, size_t size)
{
    const char *start = memchr(text, '(', length), *end = memrchr(text, ')', length);

    if (start == NULL || end == NULL || end < start)
        return false;
    size_t kept = (size_t)(end - start) - 1;
    if (kept > size - 1)
        kept = size - 1;
    memcpy(name, start + 1, kept);
    name[kept] = '\0';
    return true;
}

int hr_osnoise_running_task_parse(const char *text, size_t length, unsigned *cpu,
                                  struct hr_osnoise_running_task *task)
{
    struct hr_text state;
    uint64_t on, priority, policy;

    if (!find_field(text, length, FIELD_STATE, &state) || state.length == 0)
        return -EBADMSG;
    if (*state.start != 'R')
        return 0;
    if (!take_field(text, length, FIELD_CPU, &on) || on >= HR_CPU_MAX ||
        !take_field(text, length, FIELD_RT_PRIORITY, &priority) ||
        !take_field(text, length, FIELD_POLICY, &policy) ||
        !copy_name(text, length, task->name, sizeof(task->name)))
        return -EBADMSG;
    *cpu = (unsigned)on;
    task->priority = policy == POLICY_DEADLINE ? DEADLINE_PRIORITY : (unsigned)priority;
    return 1;
}

static int read_stat(const struct hr_root *root, const char *path, char *text, size_t size,
                     size_t *length)
{
    return hr_text_read_and_close(hr_root_openat(root, path, O_RDONLY), text, size, length);
}

static int read_thread(const struct hr_root *root, pid_t process, pid_t id, unsigned *cpu,
                       struct hr_osnoise_running_task *task)
{
    char path[64], text[2048];
    size_t length;

    snprintf(path, sizeof(path), "proc/%d/task/%d/stat", (int)process, (int)id);
    int status = read_stat(root, path, text, sizeof(text), &length);
    if (status == 0)
        status = hr_osnoise_running_task_parse(text, length, cpu, task);
    if (status == 1) {
        task->process = process;
        task->id = id;
    }
    return status;
}

bool hr_osnoise_running_task_stays(const struct hr_root *root, unsigned cpu,
                                   struct hr_osnoise_running_task *task)
{
    struct hr_osnoise_running_task now;
    unsigned on;

    if (task->id == 0 || read_thread(root, task->process, task->id, &on, &now) != 1 || on != cpu)
        return false;
    *task = now;
    return true;
}

/* --- All tasks ------------------------------------------------------------ */

static void add_thread(const struct hr_root *root, pid_t process, pid_t id,
                       const struct hr_cpu_set *cpus, struct hr_osnoise_running_task *tasks)
{
    struct hr_osnoise_running_task task;
    unsigned cpu;

    if (read_thread(root, process, id, &cpu, &task) != 1 || !hr_cpu_set_has(cpus, cpu))
        return;
    if (tasks[cpu].id == 0 || tasks[cpu].priority < task.priority)
        tasks[cpu] = task;
}

/* A process of one thread needs no list of these. */
static bool has_threads(const struct hr_root *root, pid_t process)
{
    char path[32], text[2048];
    uint64_t threads;
    size_t length;

    snprintf(path, sizeof(path), "proc/%d/stat", (int)process);
    return read_stat(root, path, text, sizeof(text), &length) == 0 &&
           take_field(text, length, FIELD_THREADS, &threads) && threads > 1;
}

static void add_process(const struct hr_root *root, pid_t process, const struct hr_cpu_set *cpus,
                        struct hr_osnoise_running_task *tasks)
{
    struct hr_task_list threads = {0};

    if (!has_threads(root, process)) {
        add_thread(root, process, process, cpus, tasks);
        return;
    }
    if (hr_task_list_read_threads(root, process, &threads) == 0)
        for (size_t i = 0; i < threads.count; i++)
            add_thread(root, process, threads.ids[i], cpus, tasks);
    hr_task_list_free(&threads);
}

int hr_osnoise_running_task_find(const struct hr_root *root, const struct hr_cpu_set *cpus,
                                 struct hr_osnoise_running_task *tasks)
{
    struct hr_task_list processes = {0};

    for (unsigned cpu = hr_cpu_set_next(cpus, 0); cpu < HR_CPU_MAX;
         cpu = hr_cpu_set_next(cpus, cpu + 1))
        tasks[cpu] = (struct hr_osnoise_running_task){0};
    int status = hr_task_list_read_system(root, &processes);
    for (size_t i = 0; status == 0 && i < processes.count; i++)
        add_process(root, processes.ids[i], cpus, tasks);
    hr_task_list_free(&processes);
    return status;
}

/* --- Idle time ------------------------------------------------------------ */

/* "cpu3 user nice system idle iowait irq softirq …", in ticks. */
static int parse_cpu_line(struct hr_text line, uint64_t tick_ns, uint64_t *idle_ns, size_t cpu_end)
{
    uint64_t cpu, fields[5];

    if (!hr_text_u64(&line, &cpu))
        return -EBADMSG;
    for (size_t i = 0; i < 5; i++)
        if (!hr_text_skip(&line, " ") || !hr_text_u64(&line, &fields[i]))
            return -EBADMSG;
    if (cpu < cpu_end)
        idle_ns[cpu] = (fields[3] + fields[4]) * tick_ns;
    return 0;
}

static int parse_idle(struct hr_text text, uint64_t *idle_ns, size_t cpu_end)
{
    const uint64_t tick_ns = HR_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
    int status = 0;

    if (!hr_text_skip(&text, "cpu ") || !hr_text_skip_line(&text))
        return -EBADMSG;
    while (status == 0 && hr_text_skip(&text, "cpu")) {
        status = parse_cpu_line(text, tick_ns, idle_ns, cpu_end);
        if (status == 0 && !hr_text_skip_line(&text))
            status = -EBADMSG;
    }
    return status;
}

int hr_osnoise_read_idle(const struct hr_root *root, struct hr_file_text *text, uint64_t *idle_ns,
                         size_t cpu_end)
{
    int status = hr_file_text_read(root, "proc/stat", text);

    return status < 0 ? status
                      : parse_idle((struct hr_text){text->start, text->length}, idle_ns, cpu_end);
}
