/* SPDX-License-Identifier: MIT */
#include "collectors/blame/blame_live.h"

#include <check.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A task that has run for so long is in its group, and spins. */
#define SPINNING_MS 20

void live_open(struct live *live, const struct hr_blame_options *options, struct groups *groups)
{
    struct hr_reason reason = {0};

    *live = (struct live){.groups = groups};
    int status = hr_blame_open(options, &live->blame, &reason);
    if (status == 0)
        status = hr_blame_attach(live->blame, &reason);
    ck_assert_msg(status == 0, "%s", reason.text);
}

void live_close(struct live *live)
{
    hr_blame_close(live->blame);
    hr_blame_matrix_free(&live->before);
    hr_blame_matrix_free(&live->after);
    hr_blame_matrix_free(&live->delta);
}

static struct live_sums read_sums(pid_t pid)
{
    char path[64];
    unsigned long long ran_ns, waited_ns;

    snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%llu %llu", &ran_ns, &waited_ns), 2);
    fclose(file);
    return (struct live_sums){(double)ran_ns / 1e6, (double)waited_ns / 1e6};
}

/* What it waited for before it spins was in another group, on another CPU. */
void live_add(struct live *live, const char *group, pid_t pid)
{
    ck_assert_uint_lt(live->task_count, LIVE_TASKS);
    while (read_sums(pid).ran_ms < SPINNING_MS)
        usleep(1000);
    live->tasks[live->task_count++] = (struct live_task){.group = group, .pid = pid};
}

uint64_t live_id(const struct live *live, const char *group)
{
    struct stat status;

    ck_assert_int_eq(fstatat(groups_dirfd(live->groups), group, &status, 0), 0);
    return status.st_ino;
}

void live_watch(struct live *live, ...)
{
    uint64_t ids[LIVE_TASKS];
    size_t count = 0;
    va_list names;

    va_start(names, live);
    for (const char *name; (name = va_arg(names, const char *)) != NULL;)
        ids[count++] = live_id(live, name);
    va_end(names);
    ck_assert_int_eq(hr_blame_watch(live->blame, ids, count), 0);
}

/* --- Measuring ------------------------------------------------------------ */

void live_read(struct live *live, int which)
{
    struct hr_blame_matrix *matrix = which == 0 ? &live->before : &live->after;

    live->other_before[which] = live->other_sum != NULL ? live->other_sum(live) : 0;
    for (size_t i = 0; i < live->task_count; i++)
        live->tasks[i].before[which] = read_sums(live->tasks[i].pid);
    ck_assert_int_eq(hr_blame_read(live->blame, matrix), 0);
    live->other_after[which] = live->other_sum != NULL ? live->other_sum(live) : 0;
    for (size_t i = 0; i < live->task_count; i++)
        live->tasks[i].after[which] = read_sums(live->tasks[i].pid);
}

/* Waits that began before attaching are unknown: they end first. */
void live_measure(struct live *live, unsigned ms)
{
    usleep(300 * 1000);
    live_read(live, 0);
    usleep(ms * 1000);
    live_read(live, 1);
    ck_assert_int_eq(hr_blame_delta(&live->before, &live->after, &live->delta), 0);
    ck_assert_uint_eq(live->delta.lost_ns, 0);
}

/* --- What the kernel says ------------------------------------------------- */

static bool is_of(const struct live_task *task, const char *group)
{
    return strcmp(task->group, group) == 0;
}

struct live_bounds live_waited(const struct live *live, const char *group)
{
    struct live_bounds bounds = {0};

    for (size_t i = 0; i < live->task_count; i++) {
        const struct live_task *task = &live->tasks[i];
        if (!is_of(task, group))
            continue;
        bounds.least_ms += task->before[1].waited_ms - task->after[0].waited_ms;
        bounds.most_ms += task->after[1].waited_ms - task->before[0].waited_ms;
    }
    return bounds;
}

struct live_bounds live_ran(const struct live *live, const char *group)
{
    struct live_bounds bounds = {0};

    for (size_t i = 0; i < live->task_count; i++) {
        const struct live_task *task = &live->tasks[i];
        if (!is_of(task, group))
            continue;
        bounds.least_ms += task->before[1].ran_ms - task->after[0].ran_ms;
        bounds.most_ms += task->after[1].ran_ms - task->before[0].ran_ms;
    }
    return bounds;
}

struct live_bounds live_other(const struct live *live)
{
    return (struct live_bounds){live->other_before[1] - live->other_after[0],
                                live->other_after[1] - live->other_before[0]};
}

/* --- What was measured ---------------------------------------------------- */

double live_cell(const struct live *live, const char *waiter, enum hr_blame_taker taker,
                 const char *group)
{
    const uint64_t id = live_id(live, waiter), by = group != NULL ? live_id(live, group) : 0;
    double ms = 0;

    for (size_t i = 0; i < live->delta.count; i++) {
        const struct hr_blame_cell *cell = &live->delta.cells[i];
        if (cell->waiter == id && cell->taker == taker && cell->group == by)
            ms += (double)cell->wait_ns / 1e6;
    }
    return ms;
}

double live_total(const struct live *live, const char *waiter)
{
    const uint64_t id = live_id(live, waiter);
    double ms = 0;

    for (size_t i = 0; i < live->delta.count; i++)
        if (live->delta.cells[i].waiter == id)
            ms += (double)live->delta.cells[i].wait_ns / 1e6;
    return ms;
}

void live_expect(const char *what, double ms, struct live_bounds bounds, double pct, double edge_ms)
{
    printf("# %s: %.1f ms, the kernel's: %.1f to %.1f\n", what, ms, bounds.least_ms,
           bounds.most_ms);
    ck_assert_msg(ms >= bounds.least_ms * (1 - pct / 100) - edge_ms &&
                      ms <= bounds.most_ms * (1 + pct / 100) + edge_ms,
                  "%s: %.1f ms is not within %.1f to %.1f ms, give or take %.1f %%", what, ms,
                  bounds.least_ms, bounds.most_ms, pct);
}
