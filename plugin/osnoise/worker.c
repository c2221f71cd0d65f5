/* SPDX-License-Identifier: MIT */
#include "osnoise/worker.h"

#include <errno.h>

#include "common/thread.h"
#include "headroom/clock.h"
#include "headroom/osnoise_pause.h"
#include "osnoise/problems.h"
#include "utils/common/common.h"

struct osnoise_worker {
    struct osnoise_worker_options options;
    struct thread thread;

    /* The thread's own. */
    struct hr_osnoise *osnoise;
    struct osnoise_alert *alert; /* NULL: there are no alarms */
    struct osnoise_problems problems;
    bool pauses;             /* a run was ended, or not begun, for a pause */
    uint64_t begun_ns;       /* when the last run began */
    uint64_t early_delay_ns; /* the delay after the last run that ended early; 0: none did */
};

/* --- The thread ----------------------------------------------------------- */

/* @param reading  NULL: nothing is measured. */
static void update_alert(struct osnoise_worker *worker, const struct hr_osnoise_reading *reading)
{
    if (worker->alert != NULL)
        osnoise_alert_update(worker->alert, reading);
}

static void distribute_reading(struct osnoise_worker *worker,
                               const struct hr_osnoise_reading *reading)
{
    osnoise_values_add(worker->options.values, reading);
    osnoise_problems_log_reading(&worker->problems, reading);
    update_alert(worker, reading);
}

/* Periods begin with the run, and in each the kernel looks for noise at its beginning: the first
 * reading is in the middle of the rest of a period, as it would be noise itself. That doesn't last,
 * as each of the kernel's periods is slightly longer than set, and doesn't hold if the interval of
 * readings isn't a multiple of the period. */
static uint64_t first_read_ns(const struct osnoise_worker *worker)
{
    const struct hr_osnoise_options *run = worker->options.osnoise;
    const uint64_t read_ns = worker->options.read_ns, runtime_ns = 1000 * run->runtime_us;
    uint64_t span_ns = 1000 * run->period_us;

    if (span_ns == 0 || span_ns > read_ns)
        span_ns = read_ns;
    return worker->begun_ns + (span_ns + (runtime_ns < span_ns ? runtime_ns : span_ns)) / 2;
}

/* The time of the next reading: at a fixed rate, without the missed ones. A reading out of turn
 * changes nothing. */
static uint64_t next_read_ns(const struct osnoise_worker *worker, uint64_t due_ns)
{
    const uint64_t now_ns = hr_clock_ns(), read_ns = worker->options.read_ns;

    return now_ns < due_ns ? due_ns : due_ns + ((now_ns - due_ns) / read_ns + 1) * read_ns;
}

static bool is_paused(const struct osnoise_worker *worker)
{
    return hr_osnoise_pause_left_ns(worker->options.root) > 0;
}

/* Others are to have the tracer. What can't be restored now is at the next beginning. */
static void end_for_pause(struct osnoise_worker *worker, struct hr_reason *reason)
{
    struct hr_reason left = {0};

    worker->pauses = true;
    left.error = hr_osnoise_end(worker->osnoise, &left);
    if (left.error < 0)
        osnoise_problems_log_unrestored(&worker->problems, &left);
    *reason = (struct hr_reason){.error = -EAGAIN};
    snprintf(reason->text, sizeof(reason->text), "%s",
             "headroom osnoise --pause leaves the tracer to others, until --pause 0 or its time is "
             "over");
}

/* Reads until the run ends by itself, or for a pause, or the thread is to end. @return false for
 * the last. */
static bool read_until_end(struct osnoise_worker *worker, struct hr_reason *reason)
{
    uint64_t due_ns = first_read_ns(worker);
    while (thread_wait_until(&worker->thread, due_ns, -1)) {
        struct hr_osnoise_reading reading = {0};
        reason->error = hr_osnoise_read(worker->osnoise, &reading, reason);
        if (reading.cpu_count > 0) /* also what ended it */
            distribute_reading(worker, &reading);
        if (reason->error == 0 && is_paused(worker))
            end_for_pause(worker, reason);
        if (reason->error < 0)
            return true;
        due_ns = next_read_ns(worker, due_ns);
    }
    return false;
}

/* The delay after a run that ended by itself. The end of the run that it was attached to isn't
 * early; otherwise the delay doubles, to leave the tracer to the other program. */
static uint64_t retry_delay_ns(struct osnoise_worker *worker, int error)
{
    const uint64_t retry_ns = worker->options.retry_ns, most_ns = worker->options.max_retry_ns;
    const uint64_t lasted_ns = hr_clock_ns() - worker->begun_ns;

    if (error == -EAGAIN)
        return retry_ns;
    if (worker->early_delay_ns == 0 || lasted_ns >= most_ns)
        worker->early_delay_ns = retry_ns;
    else
        worker->early_delay_ns =
            2 * worker->early_delay_ns < most_ns ? 2 * worker->early_delay_ns : most_ns;
    return worker->early_delay_ns;
}

/* Begins a run and reads it until its end, or fails to begin one. @return when to retry; 0: the
 * thread is to end. */
static uint64_t run_once(struct osnoise_worker *worker)
{
    struct hr_reason reason = {0};
    uint64_t delay_ns = worker->options.retry_ns;

    worker->pauses = false;
    if (is_paused(worker))
        end_for_pause(worker, &reason); /* what couldn't be restored before, too */
    else
        reason.error = hr_osnoise_begin(worker->osnoise, &reason);
    if (reason.error == 0) {
        worker->begun_ns = hr_clock_ns();
        osnoise_problems_log_running(&worker->problems);
        if (!read_until_end(worker, &reason))
            return 0;
        delay_ns = retry_delay_ns(worker, reason.error);
    }
    if (worker->pauses) /* the pause may end before its time */
        delay_ns = worker->options.read_ns;
    osnoise_problems_log_stopped(&worker->problems, &reason, delay_ns);
    update_alert(worker, NULL);
    return hr_clock_ns() + delay_ns;
}

static void *worker_main(void *context)
{
    struct osnoise_worker *worker = context;
    struct hr_reason reason = {0};
    uint64_t next_ns;

    do
        next_ns = run_once(worker);
    while (next_ns != 0 && thread_wait_until(&worker->thread, next_ns, -1));

    reason.error = hr_osnoise_end(worker->osnoise, &reason);
    if (reason.error < 0)
        osnoise_problems_log_unrestored(&worker->problems, &reason);
    return NULL;
}

/* --- Beginning and end ---------------------------------------------------- */

static int open_alert(struct osnoise_worker *worker)
{
    const struct osnoise_alert_options options = {
        .rule = worker->options.rule,
        .osnoise = worker->options.osnoise,
        .claim_ns = worker->options.claim_ns,
    };

    return osnoise_alert_open(&options, &worker->alert);
}

static int start_worker(struct osnoise_worker *worker, struct hr_reason *reason)
{
    const struct osnoise_worker_options *options = &worker->options;

    int status = thread_open(&worker->thread);
    if (status == 0)
        status = hr_osnoise_open(options->root, options->osnoise, &worker->osnoise, reason);
    if (status == 0)
        status = open_alert(worker);
    if (status == 0) {
        osnoise_problems_init(&worker->problems, options->osnoise);
        status = thread_start(&worker->thread, worker_main, worker, "osnoise");
    }
    return status;
}

int osnoise_worker_start(const struct osnoise_worker_options *options,
                         struct osnoise_worker **worker, struct hr_reason *reason)
{
    struct osnoise_worker *started = calloc(1, sizeof(*started));

    *reason = (struct hr_reason){0};
    if (started == NULL)
        return -ENOMEM;
    started->options = *options;
    thread_init(&started->thread);
    int status = start_worker(started, reason);
    if (status < 0)
        osnoise_worker_stop(started);
    else
        *worker = started;
    return status;
}

void osnoise_worker_stop(struct osnoise_worker *worker)
{
    if (worker == NULL)
        return;
    thread_stop(&worker->thread);
    hr_osnoise_close(worker->osnoise);
    osnoise_alert_close(worker->alert);
    free(worker);
}
