/* SPDX-License-Identifier: MIT */
#include "wss/run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/chart.h"
#include "common/group.h"
#include "common/output.h"
#include "common/usage.h"
#include "common/waiting.h"
#include "headroom/array.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "wss/gnuplot.h"
#include "wss/marks.h"
#include "wss/target.h"
#include "wss/warnings.h"

#define MIB 1048576.0

/* Touching a page that is in the TLB sets no bit; in shorter windows many pages stay there. */
#define SHORT_NS 10000000

/* Texts are broken to fit this. */
#define FOLD_WIDTH 80

struct run {
    const struct wss_request *request;
    struct wss_plan plan;
    struct wss_output output;
    struct hr_root *root;
    struct hr_wss *wss;
    struct hr_reason passed_over; /* with "auto": each method that was, and why */
    struct hr_wss_target measured;
    struct group_patterns cgroups;    /* where it was found by its name in series */
    struct hr_process_list processes; /* of the current measurement; for messages */
    char target[WSS_TARGET_NAME_SIZE];
    struct wss_picture *picture;
    struct point *points; /* only for a chart */
    size_t point_count, point_capacity;
    struct hr_wss_sample last; /* of the last point */
    size_t readings, lines;
    uint64_t first_ns, begun_ns; /* when the first measurement, and this one, began */
    struct wss_warnings warnings;
};

__attribute__((format(printf, 2, 3))) static void print_error(const struct run *run,
                                                              const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", run->request->title);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    putc('\n', stderr);
}

static const char *method_name(const struct run *run)
{
    return hr_wss_method_name(hr_wss_method(run->wss));
}

static bool is_referenced(const struct run *run)
{
    return hr_wss_method(run->wss) == HR_WSS_REFERENCED;
}

/* --- Messages ------------------------------------------------------------- */

static void report_problem(const struct run *run, const struct hr_reason *reason)
{
    const struct hr_wss_target *target = &run->measured;
    char others[256] = "";

    if (target->scope == HR_WSS_CGROUP && reason->error == -ENODEV)
        group_describe_others(run->root, target->cgroup, others, sizeof(others));
    print_error(run, "%s: %s%s", run->target, reason->text, others);
}

/* With "auto" also why it is no method that would disturb less. */
static void print_headline(const struct run *run)
{
    static const char not_by[] = "Not by ";
    const struct wss_plan *plan = &run->plan;
    double window = (double)plan->window_ns / HR_NS_PER_S,
           pause = (double)plan->pause_ns / HR_NS_PER_S;
    if (run->request->format != WSS_COLUMNS)
        return;
    switch (plan->mode) {
    case WSS_SNAPSHOT:
        printf(plan->looks_back ? "What %s touched in the last %.9g s" : "Watching %s for %.9g s",
               run->target, window);
        break;
    case WSS_SNAPSHOTS:
        printf("Watching %s for %.9g s at a time, %.9g s between", run->target, window, pause);
        break;
    case WSS_CUMULATIVE:
        printf("Watching what %s touches grow, a line every %.9g s", run->target, window);
        break;
    case WSS_PROFILE:
        printf("Watching what %s touches grow, a profile of %u windows from %.9g s", run->target,
               plan->steps, window);
        break;
    }
    printf(", %s method...\n", method_name(run));
    if (run->passed_over.text[0] == '\0')
        return;
    fputs(not_by, stdout);
    output_fold(stdout, run->passed_over.text, strlen(not_by), FOLD_WIDTH);
}

static void warn_of_short_windows(const struct run *run)
{
    if (is_referenced(run) && run->plan.window_ns < SHORT_NS)
        print_error(run, "windows below 10 ms read low: touching a page that a CPU has in its TLB "
                         "leaves no trace");
}

/* Of a cgroup, idle knows each page of it. */
static bool counts_shared_once(const struct run *run)
{
    return hr_wss_method(run->wss) == HR_WSS_IDLE && run->measured.scope == HR_WSS_CGROUP;
}

static int append_point(struct run *run, const struct hr_wss_sample *sample)
{
    if (!run->request->plot)
        return 0;
    if (HR_ARRAY_RESERVE(run->points, run->point_capacity, run->point_count + 1) != 0)
        return -ENOMEM;
    run->last = *sample;
    run->points[run->point_count++] = (struct point){(double)sample->window_ns / HR_NS_PER_S,
                                                     (double)sample->referenced_bytes / MIB};
    return 0;
}

/* --- Measuring ------------------------------------------------------------ */

/* Each step returns COMMAND_DONE, COMMAND_FAILED after a message, or STOP to end the run. */
enum { STOP = -1 };

static int check_write(const struct run *run, int status)
{
    /* Whoever closes the pipe has read enough. */
    return status == -EPIPE ? STOP : output_finish(run->request->title, status);
}

/* It turned out that it can't measure this target. */
static void pass_over(struct run *run, enum hr_wss_method method, const struct hr_reason *reason)
{
    const size_t length = strlen(run->passed_over.text);

    snprintf(run->passed_over.text + length, sizeof(run->passed_over.text) - length, "%s%s: %s",
             length > 0 ? "; " : "", hr_wss_method_name(method), reason->text);
}

static int begin_measurement(struct run *run)
{
    struct hr_reason reason;
    const struct hr_wss_target *target = &run->measured;
    wss_target_find(run->root, target, &run->processes);
    wss_target_name(target, &run->processes, run->target);
    const enum hr_wss_method chosen = hr_wss_method(run->wss);
    if (hr_wss_begin(run->wss, wss_plan_longest_ns(&run->plan), &reason) != 0) {
        report_problem(run, &reason);
        return COMMAND_FAILED;
    }
    if (hr_wss_method(run->wss) != chosen)
        pass_over(run, chosen, &reason);
    run->begun_ns = hr_clock_ns();
    run->warnings.ended = 0;
    if (run->first_ns != 0)
        return COMMAND_DONE;
    run->first_ns = run->begun_ns;
    warn_of_short_windows(run);
    print_headline(run);
    return check_write(run, wss_output_heading(&run->output));
}

static int print_reading(struct run *run, uint64_t asked_ns, const struct hr_wss_sample *sample)
{
    struct wss_reading reading = {
        .method = hr_wss_method(run->wss), .asked_ns = asked_ns, .sample = *sample};
    clock_gettime(CLOCK_REALTIME, &reading.time);
    int status = check_write(run, wss_output_reading(&run->output, &reading));
    run->lines++;
    wss_warnings_print(&run->warnings, sample, counts_shared_once(run));
    if (status == COMMAND_DONE && append_point(run, sample) != 0) {
        print_error(run, "%s", strerror(ENOMEM));
        return COMMAND_FAILED;
    }
    return status;
}

static int report_ended(const struct run *run)
{
    print_error(run, "%s ha%s ended", run->target, run->processes.count > 1 ? "ve" : "s");
    return COMMAND_FAILED;
}

static int read_window(struct run *run, uint64_t window_ns)
{
    struct hr_reason reason;
    struct hr_wss_sample sample;
    int status = hr_wss_read(run->wss, window_ns, &sample, &reason);
    run->readings++;
    if (status == 0)
        return print_reading(run, window_ns, &sample);
    if (status == -ESRCH)
        return report_ended(run);
    report_problem(run, &reason);
    /* Another window may have data. */
    return status == -ENODATA ? COMMAND_DONE : COMMAND_FAILED;
}

/* Reads once more on a signal. A failure isn't reported, as the user has ended the run. */
static void read_on_signal(struct run *run)
{
    struct hr_wss_sample sample;
    uint64_t window_ns = hr_clock_ns() - run->begun_ns;
    if (!run->plan.looks_back && hr_wss_read(run->wss, window_ns, &sample, NULL) == 0)
        print_reading(run, window_ns, &sample);
}

static bool target_lives(void *context)
{
    const struct run *run = context;
    return wss_target_lives(&run->processes);
}

static int check_wait(const struct run *run, int status)
{
    if (status == 0)
        return COMMAND_DONE;
    if (status == -EINTR || status == -EPIPE)
        return STOP;
    if (status == -ESRCH)
        return report_ended(run);
    print_error(run, "%s", strerror(-status));
    return COMMAND_FAILED;
}

static int wait_for_window(struct run *run, const struct wss_turn *turn)
{
    const struct waiting wait = {
        .from_ns = run->begun_ns,
        .until_ns = run->begun_ns + turn->wait_ns,
        .what = "",
        .should_continue = target_lives,
        .context = run,
    };
    int status = waiting_wait(&wait);
    if (status == -EINTR)
        read_on_signal(run);
    return check_wait(run, status);
}

static int pause_until(const struct run *run, uint64_t until_ns)
{
    const struct waiting wait = {.from_ns = hr_clock_ns(), .until_ns = until_ns, .what = "pause, "};
    return check_wait(run, waiting_wait(&wait));
}

static int measure_windows(struct run *run)
{
    struct wss_turn turn;
    for (;;) {
        uint64_t elapsed_ns = run->readings > 0 ? hr_clock_ns() - run->first_ns : 0;
        if (!wss_plan_next(&run->plan, run->readings, elapsed_ns, &turn))
            return run->lines > 0 ? COMMAND_DONE : COMMAND_FAILED;
        int status = COMMAND_DONE;
        if (turn.begins && run->readings > 0)
            status = pause_until(run, run->first_ns + turn.begin_ns);
        if (turn.begins && status == COMMAND_DONE)
            status = begin_measurement(run);
        if (status == COMMAND_DONE)
            status = wait_for_window(run, &turn);
        if (status == COMMAND_DONE)
            status = read_window(run, turn.window_ns);
        if (status != COMMAND_DONE)
            return status;
    }
}

/* --- The chart ------------------------------------------------------------ */

static int open_picture(struct run *run)
{
    const char *path = run->request->picture;
    int status = path != NULL ? wss_picture_open(path, &run->picture) : 0;
    if (status == 0)
        return COMMAND_DONE;
    if (status == -ENOPKG)
        print_error(run, "gnuplot is not installed: install it (on Debian and Ubuntu the package "
                         "gnuplot-nox), or let --plot draw in the terminal");
    else if (status == -EPROTO)
        print_error(run, "gnuplot can't draw %s: does it lack that format?", path);
    else if (status == -EINVAL)
        print_error(run, "cannot draw to %s: it is not a regular file", path);
    else
        print_error(run, "cannot write %s: %s", path, strerror(-status));
    return COMMAND_FAILED;
}

static int draw_chart(struct run *run)
{
    char title[sizeof(run->target) + 160];
    struct wss_marks marks;
    if (run->point_count == 0)
        return COMMAND_DONE;
    wss_marks_find(run->root, &run->measured, &run->last, run->points, run->point_count, &marks);
    snprintf(title, sizeof(title), "%s, %s method%s", run->target, method_name(run), marks.beyond);
    const struct chart chart = {
        .points = run->points,
        .count = run->point_count,
        .title = title,
        .x_name = "Est (s)",
        .y_name = "Ref (MiB)",
        .linear = run->request->linear,
        .marks = marks.list,
        .mark_count = marks.count,
    };
    if (run->picture == NULL) {
        struct canvas canvas;
        canvas_of(stdout, &canvas);
        return check_write(run, chart_draw(stdout, &canvas, &chart));
    }
    int status = wss_picture_draw(run->picture, &chart);
    if (status == 0)
        return COMMAND_DONE;
    print_error(run, "cannot draw %s: %s", run->request->picture,
                status == -EPROTO ? "gnuplot failed" : strerror(-status));
    return COMMAND_FAILED;
}

/* --- The run -------------------------------------------------------------- */

static int open_all(struct run *run)
{
    const struct wss_request *request = run->request;
    int status = open_picture(run);
    if (status != COMMAND_DONE)
        return status;
    run->measured = request->target;
    status =
        wss_target_open(request->title, request->root, &run->measured, &run->root, &run->cgroups);
    if (status != COMMAND_DONE)
        return status;
    size_t readings = wss_plan_readings(&request->plan);
    const struct hr_wss_options options = {
        .target = run->measured,
        .method = request->method,
        .window_count = readings > 0 ? readings : SIZE_MAX,
        .longest_window_ns = wss_plan_longest_ns(&request->plan),
        .aging = request->aging,
    };
    status = hr_wss_open(run->root, &options, &run->wss, &run->passed_over);
    if (status != 0) {
        print_error(run, "%s", run->passed_over.text);
        return status == -E2BIG || status == -EINVAL ? COMMAND_MISUSED : COMMAND_FAILED;
    }
    run->plan.looks_back = hr_wss_looks_back(run->wss);
    return COMMAND_DONE;
}

static void close_all(struct run *run)
{
    hr_wss_close(run->wss);
    hr_process_list_free(&run->processes);
    group_patterns_free(&run->cgroups);
    hr_root_close(run->root);
    wss_picture_close(run->picture);
    free(run->points);
}

/* Ctrl-C is the usual end of a run without end. */
static bool is_usual_end(const struct wss_plan *plan, int number)
{
    return number == SIGINT && (plan->mode == WSS_CUMULATIVE || plan->mode == WSS_SNAPSHOTS);
}

int wss_run(const struct wss_request *request)
{
    struct run run = {
        .request = request,
        .warnings = {.title = request->title},
        .plan = request->plan,
        .output = {.file = stdout, .format = request->format, .timestamps = request->timestamps},
    };
    waiting_hold_signals();
    int status = open_all(&run);
    if (status == COMMAND_DONE) {
        status = measure_windows(&run);
        int drawn = draw_chart(&run);
        if (status == COMMAND_DONE || status == STOP)
            status = drawn;
    }
    close_all(&run);
    int number = waiting_signal();
    if (number != 0 && !is_usual_end(&request->plan, number))
        waiting_end_by_signal(number);
    return status == STOP ? COMMAND_DONE : status;
}
