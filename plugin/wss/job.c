/* SPDX-License-Identifier: MIT */
#include "wss/job.h"

#include <errno.h>
#include <inttypes.h>

#include "common/log.h"
#include "headroom/capability.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/utf8.h"
#include "utils/common/common.h"

#define PLUGIN "wss"

/* How often what isn't ready yet is tried. */
#define POLL_NS (20 * HR_NS_PER_MS)

/* How often an unavailable method is tried again. */
#define METHOD_RETRY_NS (300 * HR_NS_PER_S)

struct wss_job *wss_job_new(struct wss_job_context *context, struct wss_target *target,
                            const struct hr_cgroup *cgroup, const char *instance, uint64_t first_ns)
{
    struct wss_job *job = calloc(1, sizeof(*job));
    const char *path = cgroup != NULL ? cgroup->path : NULL;
    const char *label = path != NULL ? path : target->label;

    if (job == NULL) {
        ERROR(PLUGIN ": %s is left out: out of memory.", label);
        return NULL;
    }
    job->context = context;
    job->target = target;
    job->cgroup = cgroup;
    job->instance = instance;
    job->overlap_entry.target = target;
    job->overlap_entry.method = target->method;
    job->overlap_entry.label = label;
    job->overlap_entry.path = path;
    job->overlap_entry.cgroup = cgroup;
    job->cycle_ns = context->interval_ns;
    job->scheduled_ns = first_ns;
    return job;
}

static struct wss_problems *problems_of(const struct wss_job *job)
{
    return job->overlap_entry.path != NULL ? &job->context->problems : NULL;
}

void wss_job_free(struct wss_job *job)
{
    if (job == NULL)
        return;
    if (job->overlap_entry.path != NULL)
        wss_problems_clear(problems_of(job), &job->status, job->overlap_entry.label);
    wss_overlap_entry_free(&job->context->overlap_guard, &job->overlap_entry);
    hr_wss_close(job->wss);
    free(job);
}

/* --- Windows -------------------------------------------------------------- */

static size_t count_windows(const struct wss_job *job)
{
    return job->target->window_count > 0 ? job->target->window_count : 1;
}

static uint64_t window_ns(const struct wss_job *job, size_t index)
{
    return job->target->window_count > 0 ? job->target->windows_ms[index] * HR_NS_PER_MS
                                         : job->context->interval_ns;
}

static uint64_t longest_window_ns(const struct wss_job *job)
{
    return window_ns(job, count_windows(job) - 1);
}

/* @return the shortest multiple of the interval that holds the longest window. */
static uint64_t choose_cycle(const struct wss_job *job)
{
    const uint64_t interval_ns = job->context->interval_ns;

    if (hr_wss_looks_back(job->wss))
        return interval_ns;
    return (longest_window_ns(job) + interval_ns - 1) / interval_ns * interval_ns;
}

static uint64_t backed_off_cycle_ns(const struct wss_job *job)
{
    return wss_backoff_cycle_ns(&job->backoff, job->cycle_ns);
}

static void end_measuring(struct wss_job *job)
{
    job->is_measuring = false;
    if (job->wss != NULL)
        hr_wss_end(job->wss);
}

/* --- Slots ---------------------------------------------------------------- */

static bool is_by(const struct wss_job *job, enum hr_process_by by)
{
    return job->target->scope == HR_WSS_PROCESSES && job->target->processes.by == by;
}

/* Those that share what is read are due together: of the names of processes, at whole intervals; of
 * what the kernel prints of its generations, at whole seconds. */
static uint64_t slot_ns(const struct wss_job *job)
{
    const uint64_t interval_ns = job->context->interval_ns;

    if (is_by(job, HR_PROCESS_BY_NAME))
        return interval_ns;
    if (job->wss == NULL || !hr_wss_ends_windows(job->wss))
        return 1;
    return interval_ns < HR_NS_PER_S ? interval_ns : HR_NS_PER_S;
}

/* @return when the cycle begins: in its slot, so that its windows end in one, too. */
static uint64_t begin_ns(const struct wss_job *job)
{
    const uint64_t slot = slot_ns(job);

    return (job->scheduled_ns + slot - 1) / slot * slot;
}

/* --- Problems ------------------------------------------------------------- */

/* @return when to retry. */
static uint64_t handle_failure(struct wss_job *job, enum wss_finding finding,
                               const struct hr_reason *reason)
{
    uint64_t retry_ns = job->context->interval_ns;

    end_measuring(job);
    if (finding == WSS_NO_METHOD)
        retry_ns = METHOD_RETRY_NS;
    if (finding == WSS_LIMITED) {
        wss_backoff_extend(&job->backoff, job->cycle_ns);
        retry_ns = backed_off_cycle_ns(job);
    }
    if (!job->context->is_interrupted)
        wss_problems_report(problems_of(job), &job->status, job->overlap_entry.label, finding,
                            reason, retry_ns);
    const uint64_t now_ns = hr_clock_ns();
    const uint64_t next_ns = begin_ns(job) + retry_ns;
    /* In the next interval, not an interval from now on, or its slot would be the one after. */
    const bool is_next =
        retry_ns == job->context->interval_ns && now_ns < next_ns && next_ns - now_ns <= retry_ns;
    job->scheduled_ns = is_next ? next_ns : now_ns + retry_ns;
    return job->scheduled_ns;
}

/* --- The method ----------------------------------------------------------- */

/* Logs, once per target or pattern and method, which one "auto" chose, and why not the one before
 * any more, if there was one. */
static void log_chosen_method(struct wss_job *job)
{
    const unsigned bit = 1u << job->method;
    const bool is_pattern = job->overlap_entry.path != NULL;
    struct wss_target *target = job->target;

    if (target->method != HR_WSS_AUTO || (target->logged_methods & bit) != 0)
        return;
    target->logged_methods |= bit;
    if (job->replaced.error == 0)
        INFO(PLUGIN ": %s%s %s measured with the %s method.",
             is_pattern ? "cgroups selected by " : "", target->label, is_pattern ? "are" : "is",
             hr_wss_method_name(job->method));
    else
        INFO(PLUGIN ": %s%s is measured with the %s method now, as with the %s method %s.",
             is_pattern ? "a cgroup selected by " : "", target->label,
             hr_wss_method_name(job->method), hr_wss_method_name(job->method_before),
             job->replaced.text);
    job->replaced.error = 0;
}

/* To be called when a method was chosen. */
static void take_method(struct wss_job *job)
{
    job->method = hr_wss_method(job->wss);
    job->cycle_ns = choose_cycle(job);
}

/* Whether "auto" has replaced the method. */
static bool is_replaced(const struct wss_job *job)
{
    return hr_wss_method(job->wss) != job->method;
}

/* It is logged when a measurement has begun with the other method: it may not be able to. */
static void take_other_method(struct wss_job *job, const struct hr_reason *why)
{
    job->method_before = job->method;
    job->replaced = *why;
    take_method(job);
}

/* @return 0; -EEXIST, with a reason: the target overlaps with another one. */
static int decide_overlap(struct wss_job *job, struct hr_reason *reason)
{
    struct wss_overlap_guard *guard = &job->context->overlap_guard;
    const struct wss_overlap_entry *other;

    if (job->overlap_entry.method != hr_wss_method(job->wss)) {
        job->overlap_entry.method = hr_wss_method(job->wss);
        job->overlap_entry.checked = 0;
    }
    other = wss_overlap_enter(guard, &job->overlap_entry);
    return other != NULL ? wss_overlap_explain(guard, &job->overlap_entry, other, reason) : 0;
}

static int check_processes(const struct hr_process_list *processes, void *context,
                           struct hr_reason *reason)
{
    struct wss_job *job = context;

    wss_overlap_set_processes(&job->context->overlap_guard, &job->overlap_entry, processes);
    return decide_overlap(job, reason);
}

static int open_method(struct wss_job *job, struct hr_reason *reason)
{
    const struct hr_wss_options options = {
        .target = {.scope = job->target->scope,
                   .processes = job->target->processes,
                   .cgroup = job->overlap_entry.path,
                   .group = job->cgroup},
        .method = job->target->method,
        .window_count = count_windows(job),
        .longest_window_ns = longest_window_ns(job),
        .aging = job->target->aging,
        .max_scan_ns = job->context->max_scan_ns,
        .max_rss_bytes = job->context->max_rss_bytes,
        .check_processes = check_processes,
        .context = job,
        .shared = job->context->shared,
    };

    int status = hr_wss_open(job->context->root, &options, &job->wss, reason);
    if (status < 0)
        return status;
    take_method(job);
    log_chosen_method(job);
    return 0;
}

/* --- Measuring ------------------------------------------------------------ */

/* @return when the next reading is due. A window that would end after the cycle, or its slot, as
 * marking takes time, ends with it, unless that cuts off more than a tenth: else each cycle would
 * begin later. */
static uint64_t next_reading_ns(const struct wss_job *job)
{
    const uint64_t span_ns = window_ns(job, job->next_window);
    const uint64_t end_ns = hr_wss_begun_ns(job->wss) + span_ns;
    const uint64_t wanted_ns =
        begin_ns(job) + (hr_wss_ends_windows(job->wss) ? span_ns : job->cycle_ns);

    if (hr_wss_looks_back(job->wss))
        return hr_wss_begun_ns(job->wss);
    return end_ns > wanted_ns && end_ns - wanted_ns <= span_ns / 10 ? wanted_ns : end_ns;
}

static uint64_t begin_measurement(struct wss_job *job)
{
    struct hr_reason reason = {0};

    if (job->wss == NULL && open_method(job, &reason) < 0)
        return handle_failure(job, WSS_NO_METHOD, &reason);
    uint64_t from_ns = hr_clock_ns();
    if (from_ns > begin_ns(job) + job->cycle_ns)
        job->scheduled_ns = from_ns;
    if (begin_ns(job) > from_ns)
        return begin_ns(job);
    if (job->target->scope != HR_WSS_PROCESSES && decide_overlap(job, &reason) < 0)
        return handle_failure(job, WSS_OVERLAPS, &reason);
    int status = hr_wss_begin(job->wss, longest_window_ns(job), &reason);
    if (is_replaced(job))
        take_other_method(job, status == 0 ? &reason : &(struct hr_reason){0});
    if (status < 0)
        return handle_failure(job, wss_problems_classify(status, is_by(job, HR_PROCESS_BY_FILE)),
                              &reason);
    log_chosen_method(job);
    job->is_measuring = true;
    job->next_window = 0;
    job->scan_ns = 0;
    job->is_known = false;
    return next_reading_ns(job);
}

static void add_result(struct wss_job *job, const struct hr_wss_sample *sample, bool is_last)
{
    uint64_t every_ns = backed_off_cycle_ns(job);
    struct wss_result *result = &job->latest;

    *result = (struct wss_result){
        .time = cdtime(),
        .interval = every_ns > job->context->interval_ns ? NS_TO_CDTIME_T(every_ns) : 0,
        .window_ms = count_windows(job) > 1 ? job->target->windows_ms[job->next_window] : 0,
        .is_last = is_last,
        .of_processes = job->target->scope == HR_WSS_PROCESSES,
        .scan_ns = job->scan_ns,
        .sample = *sample,
    };
    sstrncpy(result->instance, job->instance, sizeof(result->instance));
    job->is_known = true;
    wss_values_add(job->context->values, result);
}

/* The longest window is unknown: the series without a window in their names have the one before. */
static void add_latest_result(struct wss_job *job)
{
    job->latest.window_ms = 0;
    job->latest.is_last = true;
    wss_values_add(job->context->values, &job->latest);
}

/* It is the machine's, so once for all targets; and only once, as DAMON comes and goes with each
 * window of a target of our own that is measured by it. */
static void report_damon(struct wss_job *job, const struct hr_wss_sample *sample)
{
    if (hr_wss_method(job->wss) == HR_WSS_REFERENCED && sample->damon_path != NULL)
        complaint_log(&job->context->beside_damon, LOG_WARNING, 1,
                      PLUGIN ": DAMON is at work (%s), and so the referenced method counts huge "
                             "pages and other large folios as a whole where one page of them was "
                             "touched: its values may be too high. Switch DAMON off, or choose "
                             "another method.",
                      sample->damon_path);
}

/* What has to be changed is the same for all targets. */
static void report_lock(struct wss_job *job, const struct hr_wss_lock *lock)
{
    const uint64_t held_ms = hr_wss_lock_waited(lock) ? lock->held_ns / HR_NS_PER_MS : 0;
    char name[2 * HR_PROCESS_NAME_SIZE];

    if (!tally_should_log(&job->context->locks, held_ms))
        return;
    sstrncpy(name, lock->name, sizeof(name));
    hr_utf8_make_safe(name);
    WARNING(PLUGIN ": the memory map of %s[%d] was locked for up to %" PRIu64 " ms, in which the "
                   "referenced method ran for %" PRIu64 " ms: the rest of the time it got no CPU, "
                   "and the process may have waited for that if it needed a new page. Give "
                   "collectd more CPU time (CPUQuota=, CPUWeight=, Nice=), or choose another "
                   "method.",
            name, (int)lock->pid, held_ms, lock->cpu_ns / HR_NS_PER_MS);
}

/* Logs the end of an earlier problem, unless the target still backs off because of it. */
static void report_success(struct wss_job *job, const struct hr_wss_sample *sample)
{
    struct hr_reason reason = {.error = -EACCES};
    char remedy[HR_REMEDY_SIZE];

    if (sample->left_count > 0) {
        snprintf(reason.text, sizeof(reason.text),
                 "no permission to access the memory of %zu of its processes: %s",
                 sample->left_count,
                 hr_capability_remedy(HR_CAP_SYS_PTRACE | HR_CAP_DAC_OVERRIDE, remedy));
        wss_problems_report(problems_of(job), &job->status, job->overlap_entry.label, WSS_PARTLY,
                            &reason, 0);
    } else if (wss_backoff_is_over(&job->backoff)) {
        wss_problems_clear(problems_of(job), &job->status, job->overlap_entry.label);
    }
}

/* @return when the next cycle begins. */
static uint64_t finish_cycle(struct wss_job *job)
{
    uint64_t now_ns = hr_clock_ns();

    end_measuring(job);
    wss_backoff_relax(&job->backoff);
    report_success(job, &job->latest.sample);
    job->scheduled_ns += backed_off_cycle_ns(job);
    if (begin_ns(job) + slot_ns(job) <= now_ns)
        job->scheduled_ns = now_ns;
    return job->scheduled_ns;
}

/* With the method that "auto" took for one that couldn't finish its reading. */
static uint64_t begin_again(struct wss_job *job, const struct hr_reason *replaced)
{
    end_measuring(job);
    take_other_method(job, replaced);
    return hr_clock_ns();
}

/* A window that the kernel has no record of is skipped, unless there is no other. */
static uint64_t read_next_window(struct wss_job *job)
{
    struct hr_reason reason = {0};
    struct hr_wss_sample sample;
    const bool is_last = job->next_window + 1 == count_windows(job);

    int status = hr_wss_try_read(job->wss, window_ns(job, job->next_window), &sample, &reason);
    if (status == -EAGAIN)
        return hr_clock_ns() + POLL_NS;
    if (is_replaced(job))
        return begin_again(job, &reason);
    if (status < 0 && (status != -ENODATA || (is_last && !job->is_known)))
        return handle_failure(job, wss_problems_classify(status, false), &reason);
    if (status == 0) {
        job->scan_ns += sample.scan_ns;
        report_damon(job, &sample);
        report_lock(job, &sample.worst_lock);
        add_result(job, &sample, is_last);
    } else if (is_last) {
        add_latest_result(job);
    }
    job->next_window++;
    return is_last ? finish_cycle(job) : next_reading_ns(job);
}

void wss_job_end_window(struct wss_job *job)
{
    if (job->is_measuring)
        hr_wss_end_window(job->wss);
}

uint64_t wss_job_run(struct wss_job *job)
{
    return job->is_measuring ? read_next_window(job) : begin_measurement(job);
}
