/* SPDX-License-Identifier: MIT */
#include "probe/run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/group.h"
#include "common/output.h"
#include "common/usage.h"
#include "common/waiting.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "headroom/reclaim.h"
#include "headroom/root.h"
#include "headroom/utf8.h"
#include "probe/course.h"
#include "probe/output.h"

/* As much as is taken in some milliseconds, after which a signal is looked for. */
#define BYTES_AT_ONCE ((uint64_t)4 << 20)

struct run {
    const struct probe_request *request;
    struct hr_root *root;
    struct group_patterns patterns;
    struct hr_cgroup_set *set;
    const struct hr_cgroup *group;
    struct hr_reclaim *reclaim;
    struct probe_course course;
    uint64_t begun_ns, end_ns;
};

__attribute__((format(printf, 2, 3))) static int fail(const struct run *run, const char *format,
                                                      ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    hr_utf8_make_safe(text);
    fprintf(stderr, "%s: %s\n", run->request->title, text);
    return COMMAND_FAILED;
}

/* --- The group ------------------------------------------------------------------ */

static int fail_to_find(const struct run *run)
{
    char others[256];

    group_describe_others(run->root, run->request->group, others, sizeof(others));
    return fail(run, "there is no cgroup '%s'%s", run->request->group, others);
}

/* Memory is taken of what was named only, not of what that may be short for: where the group that
 * is meant is gone, that would be another one. */
static int find_patterns(struct run *run)
{
    const char *wanted = run->request->group, *missing = wanted;

    int status =
        group_find_patterns(run->root, NULL, &wanted, 1, GROUP_WHOLE, &run->patterns, &missing);
    if (status == -ENODEV)
        return fail_to_find(run);
    if (status == -ENOENT)
        return fail(run, "no cgroup2 hierarchy is mounted: mount one, such as by mount -t cgroup2 "
                         "none /sys/fs/cgroup");
    return status == 0 ? COMMAND_DONE : fail(run, "cgroups can't be listed: %s", strerror(-status));
}

/* One with processes, and no other. */
static int find_group(struct run *run)
{
    const struct hr_cgroup_options options = {.patterns = (const char *const *)run->patterns.list,
                                              .pattern_count = run->patterns.count};
    int status = hr_cgroup_set_open(run->root, &options, &run->set);

    if (status == 0)
        status = hr_cgroup_set_read(run->set);
    if (status != 0)
        return fail(run, "cgroups can't be listed: %s", strerror(-status));
    const size_t count = hr_cgroup_set_counts(run->set).populated;
    if (count == 0)
        return fail(run, "no process is in the cgroup '%s'", run->request->group);
    if (count > 1)
        return fail(run, "'%s' stands for %zu cgroups, and one can be probed: give its whole path",
                    run->request->group, count);
    run->group = hr_cgroup_set_next(run->set, NULL);
    return COMMAND_DONE;
}

static int open_all(struct run *run)
{
    struct hr_reason reason;
    int status = hr_root_open(run->request->root, &run->root);

    if (status != 0)
        return fail(run, "can't use %s as root directory: %s", run->request->root,
                    strerror(-status));
    status = find_patterns(run);
    if (status == COMMAND_DONE)
        status = find_group(run);
    if (status != COMMAND_DONE)
        return status;
    if (hr_reclaim_open(run->root, run->group, &run->reclaim, &reason) != 0)
        return fail(run, "%s: %s", run->group->path, reason.text);
    return COMMAND_DONE;
}

static void close_all(struct run *run)
{
    hr_reclaim_close(run->reclaim);
    hr_cgroup_set_close(run->set);
    group_patterns_free(&run->patterns);
    hr_root_close(run->root);
}

/* --- Asking --------------------------------------------------------------------- */

static bool is_agreed(void)
{
    char answer[16];

    fputs("Go on? [y/N] ", stderr);
    return fgets(answer, sizeof(answer), stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
}

/* @return COMMAND_DONE: go on; COMMAND_FAILED after a message. */
static int ask(const struct run *run)
{
    probe_output_intent(stderr, run->group->path, &run->course,
                        (double)run->request->longest_ns / HR_NS_PER_S);
    if (run->request->yes || is_agreed())
        return COMMAND_DONE;
    return fail(run, "nothing was taken");
}

/* --- Taking --------------------------------------------------------------------- */

static bool read_state(struct run *run, struct hr_reclaim_state *state)
{
    struct hr_reason reason;

    if (hr_reclaim_read(run->reclaim, state, &reason) == 0)
        return true;
    run->course.end = PROBE_FAILED;
    fail(run, "%s: %s", run->group->path, reason.text);
    return false;
}

static void note_state(struct run *run)
{
    struct hr_reclaim_state state;

    if (read_state(run, &state))
        probe_course_note(&run->course, &state);
}

/* While it waits for the next step. */
static bool goes_on(void *context)
{
    struct run *run = context;

    note_state(run);
    return run->course.end == PROBE_GOES_ON;
}

static void wait_until(struct run *run, uint64_t until_ns)
{
    const struct waiting wait = {.from_ns = hr_clock_ns(),
                                 .until_ns = until_ns,
                                 .what = "waiting, ",
                                 .should_continue = goes_on,
                                 .context = run};
    int status = waiting_wait(&wait);

    if (status != 0 && status != -ESRCH)
        run->course.end = PROBE_INTERRUPTED;
}

/* Within a step, which of a large group lasts longer than the time between two. Nothing is noted,
 * as what was taken is counted from the reading before the step. */
static void look_within_step(struct run *run)
{
    struct hr_reclaim_state state;

    if (!read_state(run, &state))
        return;
    if (probe_is_stalled(&state, &run->course.stalled))
        run->course.end = PROBE_STALLED;
    else if (hr_clock_ns() >= run->end_ns)
        run->course.end = PROBE_TIME_IS_UP;
}

/* Takes as much in pieces, so that a signal ends it at once, tasks that wait within a second. */
static void take_bytes(struct run *run, uint64_t bytes)
{
    struct hr_reason reason;
    uint64_t look_ns = hr_clock_ns() + HR_NS_PER_S;

    for (uint64_t left = bytes; left > 0 && run->course.end == PROBE_GOES_ON;) {
        const uint64_t piece = left < BYTES_AT_ONCE ? left : BYTES_AT_ONCE;
        const struct waiting look = {.from_ns = hr_clock_ns(), .until_ns = 0, .what = ""};
        int status = hr_reclaim_take(run->reclaim, piece, &reason);
        left -= piece;
        if (status == -EAGAIN)
            run->course.end = PROBE_EXHAUSTED;
        else if (status == -EINTR || (status == 0 && waiting_wait(&look) != 0))
            run->course.end = PROBE_INTERRUPTED;
        else if (status < 0) {
            run->course.end = PROBE_FAILED;
            fail(run, "%s: %s", run->group->path, reason.text);
        } else if (hr_clock_ns() >= look_ns) {
            look_within_step(run);
            look_ns = hr_clock_ns() + HR_NS_PER_S;
        }
    }
}

static void take_step(struct run *run)
{
    struct probe_course *course = &run->course;
    struct hr_reclaim_state state;

    take_bytes(run, probe_step_bytes(&course->now));
    const enum probe_end end = course->end;
    if (end == PROBE_FAILED || !read_state(run, &state))
        return;
    probe_course_add_step(course, &state);
    /* Tasks that wait are why the kernel found no more, too. */
    if (end != PROBE_GOES_ON && !(end == PROBE_EXHAUSTED && course->end == PROBE_STALLED))
        course->end = end;
}

static void take_all(struct run *run)
{
    const uint64_t end_ns = run->end_ns;

    while (run->course.end == PROBE_GOES_ON) {
        take_step(run);
        const uint64_t next_ns = hr_clock_ns() + PROBE_STEP_S * HR_NS_PER_S;
        if (run->course.end == PROBE_GOES_ON)
            wait_until(run, next_ns < end_ns ? next_ns : end_ns);
        if (run->course.end == PROBE_GOES_ON)
            note_state(run);
        if (run->course.end == PROBE_GOES_ON && hr_clock_ns() >= end_ns)
            run->course.end = PROBE_TIME_IS_UP;
    }
    run->course.time_ns = hr_clock_ns() - run->begun_ns;
}

/* --- The run -------------------------------------------------------------------- */

/* Whether it may begin at all. */
static int check_begin(struct run *run)
{
    struct hr_reclaim_state state;

    if (!read_state(run, &state))
        return COMMAND_FAILED;
    probe_course_begin(&run->course, &state);
    if (run->course.end != PROBE_STALLED)
        return COMMAND_DONE;
    return fail(run,
                "%s: its tasks wait for %s %.2f %% of the time already (limit %.1f %%): nothing "
                "was taken",
                run->group->path, run->course.stalled == HR_PSI_IO ? "I/O" : "memory",
                state.stalled_pct[run->course.stalled], PROBE_STALLED_PCT);
}

static int report(const struct run *run)
{
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

    if (run->request->json)
        probe_output_json(stdout, run->group->path, &run->course, page_bytes);
    else
        probe_output_result(stdout, run->group->path, &run->course, page_bytes);
    int status = output_finish(run->request->title, output_flush(stdout));
    return run->course.end == PROBE_FAILED ? COMMAND_FAILED : status;
}

static int probe(struct run *run)
{
    int status = check_begin(run);

    if (status == COMMAND_DONE && run->course.end == PROBE_GOES_ON) {
        status = ask(run);
        /* What it waits for may have changed until the answer. */
        if (status == COMMAND_DONE && !run->request->yes)
            status = check_begin(run);
    }
    if (status != COMMAND_DONE)
        return status;
    waiting_hold_signals();
    run->begun_ns = hr_clock_ns();
    run->end_ns = run->begun_ns + run->request->longest_ns;
    take_all(run);
    return report(run);
}

int probe_run(const struct probe_request *request)
{
    struct run run = {.request = request};
    int status = open_all(&run);

    if (status == COMMAND_DONE)
        status = probe(&run);
    close_all(&run);
    const int number = waiting_signal();
    if (number != 0 && number != SIGINT)
        waiting_end_by_signal(number);
    return status;
}
