/* SPDX-License-Identifier: MIT */
#include "psi/blame.h"

#include <inttypes.h>
#include <pthread.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/thread.h"
#include "headroom/array.h"
#include "headroom/clock.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

/* As many groups are distinguished: each takes kernel memory. */
#define GROUPS_MAX 10000

/* What is measured for alerts is short, so few pairs of groups are in it. */
#define ALERT_CELLS_PER_GROUP 16
#define ALERT_CELLS_LEAST     4096

/* Alerts at the same time share what was read so long ago. */
#define SHARED_NS (10 * HR_NS_PER_MS)

struct psi_blame {
    struct psi_blame_options options;
    size_t max_groups, max_cells;
    struct thread loading;
    _Atomic bool is_ready;
    pthread_mutex_t lock; /* of all that follows, once it is ready */
    struct hr_blame *programs;
    uint64_t top;   /* the id of the group at the top */
    bool of_system; /* whether that is watched, too */
    struct psi_watched watched;
    size_t changes;     /* of the set, by which it is up to date */
    bool is_up_to_date; /* the programs watch these groups */
    uint64_t *ids;      /* room for what the programs are to watch */
    size_t id_capacity;
    size_t users; /* measurements under way */
    bool is_attached;
    struct hr_blame_matrix latest;                /* that alerts share */
    struct hr_blame_matrix before, now, interval; /* of psi_blame_sample() */
    struct complaint attaching;
    struct tally excess, lost;
};

struct psi_measurement {
    char *path; /* of the group; NULL: all of them */
    struct hr_blame_matrix before;
};

/* --- Loading -------------------------------------------------------------- */

static void *load(void *context)
{
    struct psi_blame *blame = context;
    const struct hr_blame_options options = {
        .max_groups = blame->max_groups, .max_cells = blame->max_cells, .lasting = true};
    struct hr_reason reason = {0};
    int status = hr_blame_open(&options, &blame->programs, &reason);

    if (status == 0 && blame->options.mode == PSI_BLAME_ALWAYS) {
        status = hr_blame_attach(blame->programs, &reason);
        blame->is_attached = status == 0;
        if (status != 0) {
            hr_blame_close(blame->programs);
            blame->programs = NULL;
        }
    }
    if (status == 0)
        blame->is_ready = true;
    else
        psi_blame_log_unavailable(&blame->options, reason.text);
    return NULL;
}

static void choose_sizes(struct psi_blame *blame, size_t max_groups)
{
    /* One more for the group at the top. */
    blame->max_groups = (max_groups < GROUPS_MAX ? max_groups : GROUPS_MAX) + 1;
    if (blame->options.mode == PSI_BLAME_ALWAYS)
        return; /* as hr_blame_open() chooses */
    blame->max_cells = ALERT_CELLS_PER_GROUP * blame->max_groups;
    if (blame->max_cells < ALERT_CELLS_LEAST)
        blame->max_cells = ALERT_CELLS_LEAST;
}

/* Loading takes some tens of milliseconds of CPU time: too long for collectd's start, and for an
 * alarm that begins where the CPUs are busy. */
static int start_loading(struct psi_blame *blame)
{
    int status = thread_open(&blame->loading);

    if (status == 0)
        status = thread_start(&blame->loading, load, blame, "psi blame");
    if (status != 0)
        psi_blame_log_unavailable(&blame->options, STRERROR(-status));
    return status;
}

struct psi_blame *psi_blame_open(const struct hr_root *root,
                                 const struct psi_blame_options *options, size_t max_groups,
                                 bool of_system)
{
    struct psi_blame *blame = calloc(1, sizeof(*blame));

    if (blame == NULL)
        return NULL;
    blame->options = *options;
    blame->of_system = of_system;
    choose_sizes(blame, max_groups);
    thread_init(&blame->loading);
    pthread_mutex_init(&blame->lock, NULL);
    /* Without a mount there are no groups, which is logged elsewhere. */
    if (hr_blame_find_top(root, &blame->top) == 0 && start_loading(blame) == 0)
        return blame;
    psi_blame_close(blame);
    return NULL;
}

void psi_blame_close(struct psi_blame *blame)
{
    if (blame == NULL)
        return;
    thread_stop(&blame->loading);
    hr_blame_close(blame->programs);
    hr_blame_matrix_free(&blame->latest);
    hr_blame_matrix_free(&blame->before);
    hr_blame_matrix_free(&blame->now);
    hr_blame_matrix_free(&blame->interval);
    psi_watched_free(&blame->watched);
    free(blame->ids);
    pthread_mutex_destroy(&blame->lock);
    free(blame);
}

bool psi_blame_is_ready(const struct psi_blame *blame)
{
    return blame != NULL && blame->is_ready;
}

/* --- Groups --------------------------------------------------------------- */

static void log_excess(struct psi_blame *blame)
{
    if (tally_should_log(&blame->excess, blame->watched.excess))
        WARNING(PLUGIN ": %zu cgroups are beyond the %d that can be distinguished as takers of the "
                       "CPU, so they are \"other tasks\" there: select fewer.",
                blame->watched.excess, GROUPS_MAX);
}

void psi_blame_update_groups(struct psi_blame *blame, struct hr_cgroup_set *set, size_t changes)
{
    if (!psi_blame_is_ready(blame))
        return;
    pthread_mutex_lock(&blame->lock);
    if (blame->changes != changes) {
        if (blame->users == 0 && blame->options.mode != PSI_BLAME_ALWAYS)
            psi_watched_forget_gone(&blame->watched);
        /* If memory is short it is tried again. */
        if (psi_watched_update(&blame->watched, set, blame->max_groups - 1) == 0)
            blame->changes = changes;
        blame->is_up_to_date = false;
        log_excess(blame);
    }
    pthread_mutex_unlock(&blame->lock);
}

/* Has the programs watch the groups that there are. */
static int watch_groups(struct psi_blame *blame)
{
    size_t count = 0;

    if (blame->is_up_to_date)
        return 0;
    if (HR_ARRAY_RESERVE(blame->ids, blame->id_capacity, blame->watched.count + 1) != 0)
        return -ENOMEM;
    /* It costs more where each task is of a watched group. */
    if (blame->of_system)
        blame->ids[count++] = blame->top;
    for (size_t i = 0; i < blame->watched.count; i++)
        if (!blame->watched.groups[i].is_gone)
            blame->ids[count++] = blame->watched.groups[i].id;
    int status = hr_blame_watch(blame->programs, blame->ids, count);
    blame->is_up_to_date = status == 0;
    return status;
}

/* --- Attaching ------------------------------------------------------------ */

static int attach(struct psi_blame *blame)
{
    struct hr_reason reason = {0};

    if (blame->is_attached)
        return 0;
    int status = hr_blame_attach(blame->programs, &reason);
    blame->is_attached = status == 0;
    blame->latest.time_ns = 0;
    if (status != 0)
        complaint_log(&blame->attaching, LOG_WARNING, status,
                      PLUGIN ": alerts can't name who takes the CPU: %s.", reason.text);
    else
        complaint_resolve(&blame->attaching, PLUGIN ": alerts can name who takes the CPU again.");
    return status;
}

/* Cells of groups that have waited once would be kept for ever. */
static void make_room(struct psi_blame *blame)
{
    if (blame->latest.count < blame->max_cells / 2)
        return;
    hr_blame_watch(blame->programs, NULL, 0);
    for (int i = 0; i < 2; i++)
        hr_blame_read(blame->programs, &blame->latest);
    blame->is_up_to_date = false;
}

void psi_blame_detach_unused(struct psi_blame *blame)
{
    if (!psi_blame_is_ready(blame) || blame->options.mode == PSI_BLAME_ALWAYS)
        return;
    pthread_mutex_lock(&blame->lock);
    if (blame->is_attached && blame->users == 0) {
        hr_blame_detach(blame->programs);
        blame->is_attached = false;
        make_room(blame);
    }
    pthread_mutex_unlock(&blame->lock);
}

/* --- Measuring ------------------------------------------------------------ */

static int copy_path(const struct psi_blame *blame, uint64_t id, char **path)
{
    const struct psi_watched_group *group = id != 0 ? psi_watched_find(&blame->watched, id) : NULL;

    if (id == 0)
        return 0;
    if (group == NULL)
        return -ENODEV;
    *path = strdup(group->path);
    return *path != NULL ? 0 : -ENOMEM;
}

static bool is_measured(const struct psi_blame *blame, const struct psi_measurement *measurement,
                        const struct hr_blame_cell *cell)
{
    return measurement->path == NULL ||
           psi_watched_is_below(&blame->watched, cell->waiter, measurement->path);
}

/* With "always" it is the samples that remove what is gone: they must have seen it. */
static int read_latest(struct psi_blame *blame)
{
    struct hr_blame_matrix *latest = &blame->latest;
    int status = blame->options.mode == PSI_BLAME_ALWAYS ? hr_blame_peek(blame->programs, latest)
                                                         : hr_blame_read(blame->programs, latest);

    if (status != 0)
        latest->time_ns = 0; /* not to be shared */
    return status;
}

/* The waits of those that are measured, now. */
static int read_waits(struct psi_blame *blame, const struct psi_measurement *measurement,
                      struct hr_blame_matrix *waits)
{
    struct hr_blame_matrix *latest = &blame->latest;

    if (latest->time_ns == 0 || hr_clock_ns() > latest->time_ns + SHARED_NS) {
        int status = read_latest(blame);
        if (status != 0)
            return status;
    }
    if (HR_ARRAY_RESERVE(waits->cells, waits->capacity, latest->count) != 0)
        return -ENOMEM;
    waits->time_ns = latest->time_ns;
    waits->lost_ns = latest->lost_ns;
    for (size_t i = 0; i < latest->count; i++)
        if (is_measured(blame, measurement, &latest->cells[i]))
            waits->cells[waits->count++] = latest->cells[i];
    return 0;
}

static void free_measurement(struct psi_measurement *measurement)
{
    hr_blame_matrix_free(&measurement->before);
    free(measurement->path);
    free(measurement);
}

struct psi_measurement *psi_blame_begin(struct psi_blame *blame, uint64_t id)
{
    struct psi_measurement *measurement = calloc(1, sizeof(*measurement));

    if (measurement == NULL)
        return NULL;
    pthread_mutex_lock(&blame->lock);
    int status = copy_path(blame, id, &measurement->path);
    if (status == 0)
        status = watch_groups(blame);
    if (status == 0)
        status = attach(blame);
    if (status == 0)
        status = read_waits(blame, measurement, &measurement->before);
    blame->users += status == 0;
    pthread_mutex_unlock(&blame->lock);
    if (status == 0)
        return measurement;
    free_measurement(measurement);
    return NULL;
}

static void sum_takers(struct psi_blame *blame, const struct psi_measurement *measurement,
                       struct psi_takers *takers)
{
    const struct psi_takers_of of = {.path = measurement->path, .top = blame->top};
    struct hr_blame_matrix after = {0}, interval = {0};

    if (read_waits(blame, measurement, &after) == 0 &&
        hr_blame_delta(&measurement->before, &after, &interval) == 0)
        psi_takers_sum(&interval, &blame->watched, &of, takers);
    hr_blame_matrix_free(&after);
    hr_blame_matrix_free(&interval);
}

void psi_blame_end(struct psi_blame *blame, struct psi_measurement *measurement,
                   struct psi_takers *takers)
{
    if (measurement == NULL)
        return;
    pthread_mutex_lock(&blame->lock);
    if (takers != NULL) {
        takers->count = 0;
        sum_takers(blame, measurement, takers);
    }
    blame->users--;
    pthread_mutex_unlock(&blame->lock);
    free_measurement(measurement);
}

/* --- Series --------------------------------------------------------------- */

static int read_interval(struct psi_blame *blame)
{
    const struct hr_blame_matrix before = blame->before;
    int status = watch_groups(blame);

    if (status == 0)
        status = hr_blame_read(blame->programs, &blame->now);
    /* What was before the first reading isn't measured. */
    if (status == 0)
        status = hr_blame_delta(before.time_ns > 0 ? &before : &blame->now, &blame->now,
                                &blame->interval);
    if (status != 0)
        return status;
    blame->before = blame->now;
    blame->now = before;
    return 0;
}

void psi_blame_sample(struct psi_blame *blame,
                      void (*sampled)(const struct hr_blame_matrix *interval,
                                      const struct psi_watched *watched, void *context),
                      void *context)
{
    if (!psi_blame_is_ready(blame) || blame->options.mode != PSI_BLAME_ALWAYS)
        return;
    pthread_mutex_lock(&blame->lock);
    if (read_interval(blame) == 0) {
        sampled(&blame->interval, &blame->watched, context);
        if (tally_should_log(&blame->lost, blame->interval.lost_ns / HR_NS_PER_MS))
            WARNING(PLUGIN ": waits of %" PRIu64 " ms aren't in the series of who took the CPU, as "
                           "too many groups took it from each other: select fewer.",
                    blame->interval.lost_ns / HR_NS_PER_MS);
    }
    if (blame->users == 0)
        psi_watched_forget_gone(&blame->watched);
    pthread_mutex_unlock(&blame->lock);
}
