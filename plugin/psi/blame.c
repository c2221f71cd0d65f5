/* SPDX-License-Identifier: MIT */
#include "psi/blame.h"

#include <inttypes.h>
#include <pthread.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/thread.h"
#include "headroom/array.h"
#include "headroom/clock.h"
#include "headroom/pid_namespace.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

/* As many groups are distinguished: each takes kernel memory. */
#define GROUPS_MAX 10000

/* What is measured for alerts is short, so few pairs of groups are in it. */
#define ALERT_CELLS_PER_GROUP 16
#define ALERT_CELLS_LEAST     4096

/* If more are measured at once, all groups are: watching others at each beginning takes time. */
#define MEASUREMENTS_MOST 8

/* Alerts at the same time share what was read so long ago. */
#define SHARED_NS (10 * HR_NS_PER_MS)

struct psi_blame {
    struct psi_blame_options options;
    size_t max_groups, max_cells;
    struct thread loading;
    _Atomic bool is_ready;
    pthread_mutex_t lock; /* of all that follows, once it is ready */
    struct hr_blame *programs;
    uint64_t top;   /* the id of the root cgroup */
    bool of_system; /* whether that is watched, too */
    struct psi_watched watched;
    _Atomic size_t changes;     /* of the set, by which it is up to date */
    _Atomic bool is_up_to_date; /* the programs watch these groups */
    uint64_t *ids;              /* room for what the programs are to watch */
    size_t id_capacity;
    struct psi_measurement *measurements; /* under way, or beginning */
    size_t users;                         /* so many are under way */
    bool measures_all;                    /* as the programs watch the groups */
    bool is_attached;
    struct hr_blame_matrix latest;                /* that alerts share */
    struct hr_blame_matrix before, now, interval; /* of psi_blame_sample() */
    struct complaint attaching, watching, reading;
    struct tally excess, lost;
};

struct psi_measurement {
    struct psi_measurement *next;
    char *path; /* of the group; NULL: all of them */
    struct hr_blame_matrix before;
};

/* --- Loading -------------------------------------------------------------- */

/* Of a wait that is longer than an alert measures there is nothing then. */
static void log_namespace(const struct psi_blame *blame)
{
    if (!hr_has_pids_of_kernel())
        plugin_log(blame->options.is_given ? LOG_WARNING : LOG_INFO,
                   PLUGIN ": who took the CPU from tasks outside of collectd's PID namespace is "
                          "known only once their waits end: run the container with the host's, by "
                          "--pid=host or hostPID: true.");
}

static void *load_programs_main(void *context)
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
    if (status != 0) {
        psi_blame_log_unavailable(&blame->options, reason.text);
        return NULL;
    }
    log_namespace(blame);
    blame->is_ready = true;
    return NULL;
}

static void choose_sizes(struct psi_blame *blame, size_t max_groups)
{
    /* One more for the root cgroup. */
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
        status = thread_start(&blame->loading, load_programs_main, blame, "psi blame");
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
    if (hr_blame_find_top(root, NULL, &blame->top) == 0 && start_loading(blame) == 0)
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

bool psi_blame_has_series(const struct psi_blame *blame)
{
    return psi_blame_is_ready(blame) && blame->options.mode == PSI_BLAME_ALWAYS;
}

/* --- Groups --------------------------------------------------------------- */

static void log_excess(struct psi_blame *blame)
{
    if (tally_should_log(&blame->excess, blame->watched.excess))
        WARNING(PLUGIN ": %zu cgroups are beyond the %d that can be distinguished as takers of the "
                       "CPU, so what they take counts as \"other tasks\": select fewer.",
                blame->watched.excess, GROUPS_MAX);
}

void psi_blame_update_groups(struct psi_blame *blame, struct hr_cgroup_set *set, size_t changes)
{
    if (!psi_blame_is_ready(blame) || blame->changes == changes)
        return;
    pthread_mutex_lock(&blame->lock);
    if (blame->users == 0 && blame->options.mode != PSI_BLAME_ALWAYS)
        psi_watched_forget_gone(&blame->watched);
    /* If memory is short it is tried again. */
    if (psi_watched_update(&blame->watched, set, blame->max_groups - 1) == 0)
        blame->changes = changes;
    blame->is_up_to_date = false;
    log_excess(blame);
    pthread_mutex_unlock(&blame->lock);
}

static void log_watching(struct psi_blame *blame, int status)
{
    struct hr_reason reason;

    if (status == 0) {
        complaint_resolve(&blame->watching, PLUGIN ": cgroups are distinguished as takers again.");
        return;
    }
    hr_blame_explain(status, &reason);
    complaint_log(&blame->watching, LOG_WARNING, status,
                  PLUGIN ": who took the CPU isn't known, as cgroups can't be distinguished: %s.",
                  reason.text);
}

static void log_reading(struct psi_blame *blame, int status)
{
    struct hr_reason reason;

    if (status == 0) {
        complaint_resolve(&blame->reading, PLUGIN ": who took the CPU can be read again.");
        return;
    }
    hr_blame_explain(status, &reason);
    complaint_log(&blame->reading, LOG_WARNING, status, PLUGIN ": can't read who took the CPU: %s.",
                  reason.text);
}

static bool is_wanted(const struct psi_blame *blame, const struct psi_watched_group *group)
{
    if (blame->measures_all)
        return true;
    for (const struct psi_measurement *of = blame->measurements; of != NULL; of = of->next)
        if (psi_watched_is_below(&blame->watched, group->id, of->path))
            return true;
    return false;
}

/* @param measured  how many of the ids are measured: they come first. */
static void add_id(struct psi_blame *blame, uint64_t id, bool wanted, size_t *count,
                   size_t *measured)
{
    blame->ids[(*count)++] = wanted ? blame->ids[*measured] : id;
    if (wanted)
        blame->ids[(*measured)++] = id;
}

static void choose_measured(struct psi_blame *blame)
{
    blame->measures_all =
        blame->options.mode == PSI_BLAME_ALWAYS || blame->users >= MEASUREMENTS_MOST;
    for (const struct psi_measurement *of = blame->measurements; of != NULL; of = of->next)
        blame->measures_all |= of->path == NULL;
}

/* What a CPU may spend on splitting waits is for those that are measured. */
static int watch_listed(struct psi_blame *blame)
{
    size_t count = 0, measured = 0;

    if (HR_ARRAY_RESERVE(blame->ids, blame->id_capacity, blame->watched.count + 1) != 0)
        return -ENOMEM;
    choose_measured(blame);
    /* It costs more where each task is of a watched group. */
    if (blame->of_system)
        add_id(blame, blame->top, blame->measures_all, &count, &measured);
    for (size_t i = 0; i < blame->watched.count; i++) {
        const struct psi_watched_group *group = &blame->watched.groups[i];
        if (!group->is_gone)
            add_id(blame, group->id, is_wanted(blame, group), &count, &measured);
    }
    return hr_blame_watch_first(blame->programs, blame->ids, count, measured);
}

/* Has the programs watch the groups that there are. */
static int watch_groups(struct psi_blame *blame)
{
    if (blame->is_up_to_date)
        return 0;
    int status = watch_listed(blame);
    blame->is_up_to_date = status == 0;
    blame->latest.time_ns = 0; /* without waits of groups that weren't measured */
    log_watching(blame, status);
    return status;
}

/* Before any group is known there is nothing to distinguish. */
void psi_blame_watch_new(struct psi_blame *blame)
{
    if (!psi_blame_has_series(blame) || blame->is_up_to_date || blame->changes == 0)
        return;
    pthread_mutex_lock(&blame->lock);
    watch_groups(blame);
    pthread_mutex_unlock(&blame->lock);
}

/* --- Attaching ------------------------------------------------------------ */

static int attach_programs(struct psi_blame *blame)
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
static void drop_cells(struct psi_blame *blame)
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
        drop_cells(blame);
    }
    pthread_mutex_unlock(&blame->lock);
}

/* --- Measuring ------------------------------------------------------------ */

/* Without any group all takers of the system would be other tasks. */
static int copy_path(const struct psi_blame *blame, uint64_t id, char **path)
{
    const struct psi_watched_group *group = id != 0 ? psi_watched_find(&blame->watched, id) : NULL;

    if (id == 0)
        return blame->watched.count > 0 ? 0 : -ENODEV;
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

/* What is gone is removed unless a measurement has begun that must see it; with "always" the
 * samples must have seen it, too. */
static int read_matrix(struct psi_blame *blame, bool is_sample, struct hr_blame_matrix *matrix)
{
    const bool removes =
        blame->users == 0 && is_sample == (blame->options.mode == PSI_BLAME_ALWAYS);
    int status =
        removes ? hr_blame_read(blame->programs, matrix) : hr_blame_peek(blame->programs, matrix);

    log_reading(blame, status);
    return status;
}

static int read_latest(struct psi_blame *blame)
{
    int status = read_matrix(blame, false, &blame->latest);

    if (status != 0)
        blame->latest.time_ns = 0; /* not to be shared */
    return status;
}

static void log_lost(struct psi_blame *blame, const struct hr_blame_matrix *interval)
{
    const uint64_t ms = (interval->lost_ns + interval->unsplit_ns) / HR_NS_PER_MS;

    if (tally_should_log(&blame->lost, ms))
        WARNING(PLUGIN ": for %" PRIu64 " ms of waiting it isn't known who took the CPU, as the "
                       "kernel's table of pairs of cgroups was full: select fewer cgroups.",
                ms);
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
    waits->unsplit_ns = latest->unsplit_ns;
    for (size_t i = 0; i < latest->count; i++)
        if (is_measured(blame, measurement, &latest->cells[i]))
            waits->cells[waits->count++] = latest->cells[i];
    return 0;
}

static void add_measurement(struct psi_blame *blame, struct psi_measurement *measurement)
{
    if (blame->options.mode != PSI_BLAME_ALWAYS && (blame->users == 0 || !blame->measures_all))
        blame->is_up_to_date = false;
    measurement->next = blame->measurements;
    blame->measurements = measurement;
}

static void remove_measurement(struct psi_blame *blame, const struct psi_measurement *measurement)
{
    struct psi_measurement **at = &blame->measurements;

    while (*at != measurement)
        at = &(*at)->next;
    *at = measurement->next;
}

static void free_measurement(struct psi_measurement *measurement)
{
    hr_blame_matrix_free(&measurement->before);
    free(measurement->path);
    free(measurement);
}

static int begin_measurement(struct psi_blame *blame, uint64_t id,
                             struct psi_measurement *measurement)
{
    int status = copy_path(blame, id, &measurement->path);

    if (status != 0)
        return status;
    add_measurement(blame, measurement);
    status = watch_groups(blame);
    if (status == 0)
        status = attach_programs(blame);
    if (status == 0)
        status = read_waits(blame, measurement, &measurement->before);
    if (status == 0)
        blame->users++;
    else
        remove_measurement(blame, measurement);
    return status;
}

struct psi_measurement *psi_blame_begin(struct psi_blame *blame, uint64_t id)
{
    struct psi_measurement *measurement = calloc(1, sizeof(*measurement));

    if (measurement == NULL)
        return NULL;
    pthread_mutex_lock(&blame->lock);
    int status = begin_measurement(blame, id, measurement);
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
        hr_blame_delta(&measurement->before, &after, &interval) == 0) {
        psi_takers_sum(&interval, &blame->watched, &of, takers);
        log_lost(blame, &interval);
    }
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
    remove_measurement(blame, measurement);
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
        status = read_matrix(blame, true, &blame->now);
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
    if (!psi_blame_has_series(blame))
        return;
    pthread_mutex_lock(&blame->lock);
    if (read_interval(blame) == 0) {
        sampled(&blame->interval, &blame->watched, context);
        log_lost(blame, &blame->interval);
    }
    if (blame->users == 0)
        psi_watched_forget_gone(&blame->watched);
    pthread_mutex_unlock(&blame->lock);
}
