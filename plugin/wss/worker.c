/* SPDX-License-Identifier: MIT */
#include "wss/worker.h"

#include <errno.h>

#include "common/log.h"
#include "common/thread.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "wss/job.h"

#define PLUGIN "wss"

/* The name of a cgroup, and its job while it has processes. */
struct group {
    const char *instance;
    struct wss_job *job;
};

struct wss_worker {
    struct wss_worker_options options;
    struct thread thread;

    /* The thread's own. */
    struct wss_job_context context;
    struct wss_schedule schedule;
    struct wss_job **jobs; /* of the blocks */
    size_t job_count;
    size_t job_total;          /* of all jobs created so far */
    struct hr_cgroup_set *set; /* NULL without a Cgroup option */
    uint64_t next_cgroups_ns;  /* when it is read next */
};

/* --- Jobs ----------------------------------------------------------------- */

/* Spreads the beginnings of jobs evenly over an interval, however many there will be: each a golden
 * section of it after the one before. */
static uint64_t choose_first_ns(struct wss_worker *worker)
{
    const uint32_t part = (uint32_t)worker->job_total++ * 2654435769u;

    return hr_clock_ns() +
           (uint64_t)((double)worker->context.interval_ns * ((double)part / 4294967296.0));
}

static struct wss_job *create_job(struct wss_worker *worker, struct wss_target *target,
                                  const struct hr_cgroup *cgroup, const char *instance)
{
    uint64_t first_ns = choose_first_ns(worker);
    struct wss_job *job = wss_job_new(&worker->context, target, cgroup, instance, first_ns);

    if (job == NULL || wss_schedule_put(&worker->schedule, &job->due, first_ns) == 0)
        return job;
    ERROR(PLUGIN ": %s is left out: out of memory.", job->overlap_entry.label);
    wss_job_free(job);
    return NULL;
}

static void free_job(struct wss_worker *worker, struct wss_job *job)
{
    if (job != NULL)
        wss_schedule_remove(&worker->schedule, &job->due);
    wss_job_free(job);
}

/* --- Cgroups -------------------------------------------------------------- */

static void create_group(struct wss_worker *worker, struct hr_cgroup *cgroup)
{
    const char *instance = selection_name(worker->options.selection, cgroup);
    struct group *group = instance != NULL ? calloc(1, sizeof(*group)) : NULL;

    if (group == NULL) {
        selection_unname(worker->options.selection, instance);
        return; /* out of memory, which was logged */
    }
    group->instance = instance;
    cgroup->data = group;
}

static void handle_cgroup_event(struct hr_cgroup *cgroup, enum hr_cgroup_event event, void *context)
{
    struct wss_worker *worker = context;
    struct group *group = cgroup->data;

    if (group == NULL && event != HR_CGROUP_ADDED)
        return;
    switch (event) {
    case HR_CGROUP_ADDED:
        create_group(worker, cgroup);
        break;
    case HR_CGROUP_POPULATED:
        group->job = create_job(worker, &worker->options.targets->patterns[cgroup->pattern], cgroup,
                                group->instance);
        break;
    case HR_CGROUP_EMPTIED:
        free_job(worker, group->job);
        group->job = NULL;
        break;
    case HR_CGROUP_REMOVED:
        selection_unname(worker->options.selection, group->instance);
        free(group);
        break;
    }
}

static void read_cgroups(struct wss_worker *worker, uint64_t now_ns)
{
    selection_read(worker->options.selection, worker->set);
    wss_problems_log(&worker->context.problems);
    worker->next_cgroups_ns = now_ns + worker->context.interval_ns;
}

/* --- The thread ----------------------------------------------------------- */

static void end_window(struct wss_due *due)
{
    wss_job_end_window((struct wss_job *)due);
}

/* Runs the one thing that is due first, if any is. @return when the next is due. */
static uint64_t run_next_due(struct wss_worker *worker)
{
    uint64_t now_ns = hr_clock_ns();
    struct wss_due *due = wss_schedule_first(&worker->schedule);

    if (worker->set != NULL && worker->next_cgroups_ns <= now_ns) {
        read_cgroups(worker, now_ns);
        return now_ns;
    }
    if (due != NULL && due->at_ns <= now_ns) {
        wss_schedule_each_due(&worker->schedule, now_ns, end_window);
        wss_schedule_put(&worker->schedule, due, wss_job_run((struct wss_job *)due));
        return now_ns;
    }
    uint64_t next_ns = due != NULL ? due->at_ns : UINT64_MAX;
    return worker->set != NULL && worker->next_cgroups_ns < next_ns ? worker->next_cgroups_ns
                                                                    : next_ns;
}

static void *worker_main(void *context)
{
    struct wss_worker *worker = context;

    while (thread_wait_until(&worker->thread, run_next_due(worker), -1))
        ;
    return NULL;
}

/* --- Beginning and end ---------------------------------------------------- */

/* The selection distinguishes names by their owners, so these must not be truncated. */
static const char *reserve_instance(const struct wss_worker *worker, const char *label)
{
    char *owner;

    if (asprintf(&owner, "<Process \"%s\">", label) < 0)
        return NULL;
    const char *instance = selection_reserve(worker->options.selection, owner, label);
    free(owner);
    return instance;
}

static int create_block_jobs(struct wss_worker *worker)
{
    struct wss_targets *targets = worker->options.targets;

    worker->jobs = calloc(targets->block_count + 1, sizeof(*worker->jobs));
    if (worker->jobs == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < targets->block_count; i++) {
        struct wss_target *target = &targets->blocks[i];
        const char *instance = target->scope == HR_WSS_SYSTEM
                                   ? target->label
                                   : reserve_instance(worker, target->label);
        struct wss_job *job = instance != NULL ? create_job(worker, target, NULL, instance) : NULL;
        if (job == NULL)
            return -ENOMEM;
        worker->jobs[worker->job_count++] = job;
    }
    return 0;
}

static void free_block_jobs(struct wss_worker *worker)
{
    for (size_t i = 0; i < worker->job_count; i++) {
        struct wss_job *job = worker->jobs[i];
        if (job->target->scope != HR_WSS_SYSTEM)
            selection_unname(worker->options.selection, job->instance);
        free_job(worker, job);
    }
    free(worker->jobs);
}

static int start_worker(struct wss_worker *worker)
{
    const struct wss_worker_options *options = &worker->options;

    int status = thread_open(&worker->thread);
    if (status == 0)
        status = create_block_jobs(worker);
    if (status == 0)
        status = selection_open(options->selection, options->root, handle_cgroup_event, worker,
                                &worker->set);
    if (status == 0)
        status = thread_start(&worker->thread, worker_main, worker, "wss");
    return status;
}

int wss_worker_start(const struct wss_worker_options *options, struct wss_worker **worker)
{
    struct wss_worker *started = calloc(1, sizeof(*started));

    if (started == NULL)
        return -ENOMEM;
    started->options = *options;
    thread_init(&started->thread);
    started->context = (struct wss_job_context){
        .root = options->root,
        .max_scan_ns = options->max_scan_ns,
        .max_rss_bytes = options->max_rss_bytes,
        .interval_ns = options->interval_ns,
        .values = options->values,
        .shared = hr_wss_shared_new(), /* without it, each job reads for itself */
    };
    wss_overlap_guard_init(&started->context.overlap_guard, options->root,
                           options->targets->block_count > 1 || options->targets->pattern_count > 0,
                           options->targets->pattern_count > 0);
    int status = start_worker(started);
    if (status < 0)
        wss_worker_stop(started);
    else
        *worker = started;
    return status;
}

void wss_worker_stop(struct wss_worker *worker)
{
    if (worker == NULL)
        return;
    if (!thread_stop_within(&worker->thread, 1)) {
        worker->context.is_interrupted = true;
        hr_wss_interrupt(worker->options.root);
        thread_stop(&worker->thread);
    }
    hr_cgroup_set_close(worker->set);
    free_block_jobs(worker);
    wss_schedule_free(&worker->schedule);
    hr_wss_shared_free(worker->context.shared);
    free(worker);
}
