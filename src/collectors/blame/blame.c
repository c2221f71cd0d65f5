/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/reason.h"
#include "blame/calls.h"
#include "blame/groups.h"
#include "blame/matrix.h"
#include "headroom/blame.h"
#include "headroom/clock.h"
#include "headroom/root.h"

_Static_assert(HR_BLAME_SLICES == BLAME_SLICES, "the header documents another ring");

#define DEFAULT_GROUPS  1000
#define CELLS_PER_GROUP 64
#define LEAST_CELLS     4096
#define NAMES           16384

struct hr_blame {
    const struct hr_blame_calls *calls;
    void *object;
    bool by_task, lasting, attached;
    size_t max_groups, max_cells;
    struct blame_control control;
    struct blame_status status; /* as it was read last */
    struct blame_groups groups;
    struct blame_key *keys; /* the cells as they are copied */
    __u64 *values;
    struct hr_blame_matrix last; /* as it was read, where the map is nearly full; else empty */
};

static const uint32_t zero;

/* --- Opening -------------------------------------------------------------- */

static int explain(int status, struct hr_reason *reason)
{
    switch (status) {
    case -EPERM:
        return hr_reason_set(reason, status,
                             "no permission to load BPF programs: run it as root, or with CAP_BPF "
                             "and CAP_PERFMON");
    case -ENOENT:
    case -ESRCH:
        return hr_reason_set(reason, -ENOENT,
                             "the kernel describes no types for BPF: it needs "
                             "CONFIG_DEBUG_INFO_BTF=y (/sys/kernel/btf/vmlinux)");
    case -ENOMEM:
        return hr_reason_set(reason, status, "out of memory");
    case -EOPNOTSUPP:
    case -EINVAL:
    case -ENOSYS:
        return hr_reason_set(
            reason, -EOPNOTSUPP,
            "the kernel can't run these BPF programs: it needs Linux 5.13 or later "
            "with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT, CONFIG_DEBUG_INFO_BTF and "
            "CONFIG_FAIR_GROUP_SCHED");
    case -EMFILE:
        return hr_reason_set(reason, status,
                             "file descriptors ran out: raise LimitNOFILE= of the service "
                             "(ulimit -n)");
    default:
        return hr_reason_set(reason, status,
                             "the kernel refuses the BPF programs (%s): report it, with the "
                             "kernel's version",
                             strerror(-status));
    }
}

static bool is_known_controller(const char *controller)
{
    return controller == NULL || strcmp(controller, "cpu") == 0;
}

static void choose_sizes(struct hr_blame *blame, const struct hr_blame_options *options)
{
    blame->max_groups = options->max_groups > 0 ? options->max_groups : DEFAULT_GROUPS;
    blame->max_cells =
        options->max_cells > 0 ? options->max_cells : CELLS_PER_GROUP * blame->max_groups;
    if (options->max_cells == 0 && blame->max_cells < LEAST_CELLS)
        blame->max_cells = LEAST_CELLS;
}

static int load(struct hr_blame *blame, const struct hr_blame_options *options,
                struct hr_reason *reason)
{
    const struct blame_settings settings = {
        .of_cpu_controller = options->controller != NULL,
        .by_task = options->by_task,
        .lasting = options->lasting,
    };
    const struct blame_sizes sizes = {{
        [BLAME_MAP_CONTROL] = 1,
        [BLAME_MAP_STATUS] = 1,
        [BLAME_MAP_WATCHED] = blame->max_groups,
        [BLAME_MAP_CELLS] = blame->max_cells,
        [BLAME_MAP_NAMES] = options->by_task ? NAMES : 1,
    }};

    blame->keys = calloc(blame->max_cells, sizeof(*blame->keys));
    blame->values = calloc(blame->max_cells, sizeof(*blame->values));
    int status = blame->keys != NULL && blame->values != NULL ? 0 : -ENOMEM;
    if (status == 0)
        status = blame->calls->load(&settings, &sizes, &blame->object);
    return status == 0 ? 0 : explain(status, reason);
}

int hr_blame_open(const struct hr_blame_options *options, struct hr_blame **blame,
                  struct hr_reason *reason)
{
    if (!is_known_controller(options->controller))
        return hr_reason_set(reason, -EINVAL, "no such controller: use cpu, or none for cgroup2");
    struct hr_blame *opened = calloc(1, sizeof(*opened));
    if (opened == NULL)
        return explain(-ENOMEM, reason);
    opened->calls = options->calls != NULL ? options->calls : &hr_blame_kernel_calls;
    opened->by_task = options->by_task;
    opened->lasting = options->lasting;
    opened->groups.next_number = BLAME_FIRST_GROUP;
    choose_sizes(opened, options);
    int status = load(opened, options, reason);
    if (status == 0)
        *blame = opened;
    else
        hr_blame_close(opened);
    return status;
}

void hr_blame_close(struct hr_blame *blame)
{
    if (blame == NULL)
        return;
    if (blame->object != NULL)
        blame->calls->unload(blame->object);
    blame_groups_free(&blame->groups);
    free(blame->keys);
    free(blame->values);
    hr_blame_matrix_free(&blame->last);
    free(blame);
}

/* --- Attaching ------------------------------------------------------------ */

static int write_control(struct hr_blame *blame)
{
    return blame->calls->update(blame->object, BLAME_MAP_CONTROL, &zero, &blame->control);
}

int hr_blame_attach(struct hr_blame *blame, struct hr_reason *reason)
{
    if (blame->attached)
        return 0;
    blame->control.epoch++;
    int status = write_control(blame);
    if (status == 0)
        status = blame->calls->attach(blame->object);
    blame->attached = status == 0;
    return status == 0 ? 0 : explain(status, reason);
}

void hr_blame_detach(struct hr_blame *blame)
{
    if (blame->attached)
        blame->calls->detach(blame->object);
    blame->attached = false;
}

/* --- The root cgroup ------------------------------------------------------ */

/* @param magic  of the hierarchy's file system: a controller of cgroup2 has no hierarchy of its
 *               own. */
static int read_id(int fd, long magic, uint64_t *id)
{
    struct statfs mounted;
    struct stat status;

    if (fstatfs(fd, &mounted) != 0 || fstat(fd, &status) != 0)
        return -errno;
    if (mounted.f_type != magic)
        return -ENOENT;
    *id = status.st_ino;
    return 0;
}

int hr_blame_find_top(const struct hr_root *root, const char *controller, uint64_t *id)
{
    int fd = hr_root_open_cgroup(root, controller, NULL);

    if (fd < 0)
        return fd;
    int status = read_id(fd, controller != NULL ? CGROUP_SUPER_MAGIC : CGROUP2_SUPER_MAGIC, id);
    close(fd);
    return status;
}

/* --- Watching ------------------------------------------------------------- */

/* The cell of all that a group waits has its place before cells of pairs can have it. Without one,
 * as the map is full, its waits may be lost until others make room. */
static void make_total(struct hr_blame *blame, const struct blame_group *group)
{
    const struct blame_key key = {.waiter = group->number, .taker = BLAME_TOTAL};
    uint64_t ns = 0;

    if (blame->by_task || !(group->wanted & BLAME_MEASURED))
        return;
    if (blame->calls->lookup(blame->object, BLAME_MAP_CELLS, &key, &ns) == -ENOENT)
        blame->calls->update(blame->object, BLAME_MAP_CELLS, &key, &ns);
}

static int watch_group(struct hr_blame *blame, struct blame_group *group)
{
    make_total(blame, group);
    int status = blame->calls->update(blame->object, BLAME_MAP_WATCHED, &group->id, &group->wanted);

    if (status == 0)
        group->watched = group->wanted;
    return status;
}

static int unwatch_group(struct hr_blame *blame, struct blame_group *group)
{
    int status = blame->calls->remove(blame->object, BLAME_MAP_WATCHED, &group->id);

    group->watched = 0;
    return status == -ENOENT ? 0 : status;
}

/* First what goes, as the map may be full. */
static int apply_wanted(struct hr_blame *blame)
{
    struct blame_group *groups = blame->groups.items;
    int status = 0;

    for (size_t i = 0; status == 0 && i < blame->groups.count; i++)
        if (groups[i].watched != 0 && groups[i].wanted == 0)
            status = unwatch_group(blame, &groups[i]);
    for (size_t i = 0; status == 0 && i < blame->groups.count; i++)
        if (groups[i].wanted != 0 && groups[i].wanted != groups[i].watched)
            status = watch_group(blame, &groups[i]);
    return status;
}

int hr_blame_watch_first(struct hr_blame *blame, const uint64_t *ids, size_t count, size_t measured)
{
    int status = count <= blame->max_groups ? 0 : -E2BIG;

    if (status != 0)
        return status;
    status = blame_groups_sort_ids(&blame->groups);
    if (status != 0)
        return status;
    for (size_t i = 0; i < blame->groups.count; i++)
        blame->groups.items[i].wanted = 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        struct blame_group *group = blame_groups_find_id(&blame->groups, ids[i]);
        if (group == NULL)
            status = blame_groups_add(&blame->groups, ids[i], &group);
        if (status == 0)
            group->wanted = group->number | (i < measured ? BLAME_MEASURED : 0);
    }
    if (status == 0)
        status = apply_wanted(blame);
    /* Cgroups that were seen are assigned to groups again, also after an error. */
    blame->control.generation++;
    int written = write_control(blame);
    return status != 0 ? status : written;
}

int hr_blame_watch(struct hr_blame *blame, const uint64_t *ids, size_t count)
{
    return hr_blame_watch_first(blame, ids, count, count);
}

/* --- Reading -------------------------------------------------------------- */

/* A taker's number in public terms; false: a group that isn't known any more. */
static bool translate_taker(struct hr_blame *blame, const struct blame_key *key,
                            struct hr_blame_cell *cell, struct blame_group **group)
{
    static const enum hr_blame_taker takers[BLAME_FIRST_GROUP] = {
        [BLAME_TOTAL] = HR_BLAME_UNKNOWN,       [BLAME_OTHER] = HR_BLAME_OTHER,
        [BLAME_KWORKER] = HR_BLAME_KWORKER,     [BLAME_KSOFTIRQD] = HR_BLAME_KSOFTIRQD,
        [BLAME_MIGRATION] = HR_BLAME_MIGRATION, [BLAME_RCU] = HR_BLAME_RCU,
        [BLAME_RECLAIM] = HR_BLAME_RECLAIM,     [BLAME_IRQ_THREAD] = HR_BLAME_IRQ_THREAD,
        [BLAME_KERNEL] = HR_BLAME_KERNEL,       [BLAME_INTERRUPTS] = HR_BLAME_INTERRUPTS,
        [BLAME_STEAL] = HR_BLAME_STEAL,         [BLAME_LIMIT] = HR_BLAME_LIMIT,
        [BLAME_IDLE] = HR_BLAME_IDLE,
    };

    *group = NULL;
    if (key->taker < BLAME_FIRST_GROUP) {
        cell->taker = takers[key->taker];
        return true;
    }
    if (key->taker == key->waiter) {
        cell->taker = HR_BLAME_ITSELF;
        return true;
    }
    *group = blame_groups_find_number(&blame->groups, key->taker);
    cell->taker = HR_BLAME_GROUP;
    cell->group = *group != NULL ? (*group)->id : 0;
    return *group != NULL;
}

/* Pairs that took the CPU from each other once would fill the map, as would tasks that have ended.
 * Those that haven't changed since the last reading make room then; if they are made again, they
 * begin at 0. */
static bool is_unchanged(const struct hr_blame *blame, const struct hr_blame_cell *cell)
{
    const struct hr_blame_cell *last = hr_blame_matrix_find(&blame->last, cell);

    return last != NULL && last->wait_ns == cell->wait_ns;
}

/* Keeps what was read for that, if the map is nearly full. */
static int keep_last(struct hr_blame *blame, const struct hr_blame_matrix *matrix, size_t in_map)
{
    if (in_map >= blame->max_cells - blame->max_cells / 4)
        return hr_blame_matrix_copy(&blame->last, matrix);
    blame->last.count = 0;
    return 0;
}

static bool is_made_total(const struct hr_blame *blame, const struct blame_group *waiter,
                          const struct blame_key *key)
{
    return key->taker == BLAME_TOTAL && !blame->by_task && (waiter->watched & BLAME_MEASURED);
}

/* @param makes_room  whether cells that are not needed any more are removed. */
static int add_cell(struct hr_blame *blame, const struct blame_key *key, uint64_t wait_ns,
                    bool makes_room, struct hr_blame_matrix *matrix)
{
    struct blame_group *waiter = blame_groups_find_number(&blame->groups, key->waiter), *taker;
    struct hr_blame_cell cell = {
        .waiter_tid = key->waiter_tid, .taker_tid = key->taker_tid, .wait_ns = wait_ns};

    if (waiter == NULL || !translate_taker(blame, key, &cell, &taker))
        return 0;
    cell.waiter = waiter->id;
    const bool is_made = is_made_total(blame, waiter, key);
    if (wait_ns == 0) {
        /* Of a group that isn't measured any more. A pair's may be charged just now. */
        if (makes_room && !is_made && !blame->by_task && key->taker == BLAME_TOTAL)
            blame->calls->remove(blame->object, BLAME_MAP_CELLS, key);
        return 0;
    }
    if (!makes_room)
        return hr_blame_matrix_add(matrix, &cell);
    if (!is_made && is_unchanged(blame, &cell)) {
        blame->calls->remove(blame->object, BLAME_MAP_CELLS, key);
        return 0;
    }
    waiter->wait_ns += wait_ns;
    if (taker != NULL)
        taker->wait_ns += wait_ns;
    return hr_blame_matrix_add(matrix, &cell);
}

static bool is_done(const struct blame_group *group)
{
    return group->watched == 0 && group->wait_ns == group->last_wait_ns;
}

static bool has_done_group(const struct hr_blame *blame, const struct blame_key *key)
{
    const struct blame_group *waiter = blame_groups_find_number(&blame->groups, key->waiter);
    const struct blame_group *taker = blame_groups_find_number(&blame->groups, key->taker);

    return (waiter != NULL && is_done(waiter)) || (taker != NULL && is_done(taker));
}

/* Makes room for others. The slices of CPUs may still have their numbers: their cells would be made
 * again, and are then ignored. */
static void remove_done_groups(struct hr_blame *blame, size_t cell_count)
{
    bool any = false;

    for (size_t i = 0; i < blame->groups.count; i++)
        any |= is_done(&blame->groups.items[i]);
    if (!any)
        return;
    for (size_t i = 0; i < cell_count; i++)
        if (has_done_group(blame, &blame->keys[i]))
            blame->calls->remove(blame->object, BLAME_MAP_CELLS, &blame->keys[i]);
    blame_groups_remove(&blame->groups, is_done);
}

/* Copies the cells to keys and values, and what had no room in them at the same time. */
static int copy_cells(struct hr_blame *blame, size_t *count)
{
    int status = 0;

    if (blame->lasting && blame->attached)
        status = blame->calls->count_lasting(blame->object);
    if (status == 0)
        status = blame->calls->lookup(blame->object, BLAME_MAP_STATUS, &zero, &blame->status);
    if (status == 0)
        status =
            blame->calls->copy(blame->object, BLAME_MAP_CELLS, blame->keys, blame->values, count);
    return status;
}

static int read_matrix(struct hr_blame *blame, bool makes_room, struct hr_blame_matrix *matrix,
                       size_t *count)
{
    hr_blame_matrix_clear(matrix);
    matrix->time_ns = hr_clock_ns();
    int status = copy_cells(blame, count);
    for (size_t i = 0; status == 0 && i < *count; i++)
        status = add_cell(blame, &blame->keys[i], blame->values[i], makes_room, matrix);
    if (status != 0)
        return status;
    matrix->lost_ns = blame->status.lost_ns;
    matrix->unsplit_ns = blame->status.unsplit_ns;
    hr_blame_matrix_sort(matrix);
    return 0;
}

int hr_blame_read(struct hr_blame *blame, struct hr_blame_matrix *matrix)
{
    size_t count = 0;

    for (size_t i = 0; i < blame->groups.count; i++) {
        blame->groups.items[i].last_wait_ns = blame->groups.items[i].wait_ns;
        blame->groups.items[i].wait_ns = 0;
    }
    int status = read_matrix(blame, true, matrix, &count);
    if (status != 0)
        return status;
    remove_done_groups(blame, count);
    keep_last(blame, matrix, count); /* without memory they make room later */
    return 0;
}

int hr_blame_peek(struct hr_blame *blame, struct hr_blame_matrix *matrix)
{
    size_t count = 0;

    return read_matrix(blame, false, matrix, &count);
}

void hr_blame_explain(int status, struct hr_reason *reason)
{
    if (status == -EPERM || status == -EACCES)
        hr_reason_set(reason, status,
                      "no permission to use the maps of BPF programs: it takes CAP_BPF and "
                      "CAP_PERFMON all the time");
    else if (status == -ENOMEM || status == -EMFILE)
        explain(status, reason);
    else
        hr_reason_set(reason, status,
                      "the kernel refuses the maps of the BPF programs (%s): report it, with the "
                      "kernel's version",
                      strerror(-status));
}

bool hr_blame_knows_interrupts(const struct hr_blame *blame)
{
    return blame->status.knows_interrupts != 0;
}

bool hr_blame_knows_limit(const struct hr_blame *blame)
{
    return blame->status.knows_limit != 0;
}

int hr_blame_task_name(const struct hr_blame *blame, uint32_t tid, char *name, size_t size)
{
    struct blame_name found;
    int status = blame->by_task ? blame->calls->lookup(blame->object, BLAME_MAP_NAMES, &tid, &found)
                                : -ENOENT;

    if (status != 0)
        return status;
    size_t length = strnlen(found.text, sizeof(found.text));
    length = length < size ? length : size - 1;
    memcpy(name, found.text, length);
    name[length] = '\0';
    return 0;
}
