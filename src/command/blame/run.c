/* SPDX-License-Identifier: MIT */
#include "blame/run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "blame/report.h"
#include "blame/watched.h"
#include "common/group.h"
#include "common/live_text.h"
#include "common/output.h"
#include "common/usage.h"
#include "common/waiting.h"
#include "headroom/clock.h"
#include "headroom/pid_namespace.h"
#include "headroom/root.h"

/* Groups that are new are found so often. */
#define UPDATE_NS HR_NS_PER_S

/* Most waits that begin before the measurement, and would count with all of their time, end in
 * this. */
#define SETTLING_NS (HR_NS_PER_S / 4)

/* Of lines that don't go to a terminal. */
#define FILE_WIDTH 200

struct run {
    const struct blame_request *request;
    struct hr_root *root;
    struct hr_blame *blame;
    struct group_patterns patterns;
    struct watched watched;
    struct hr_blame_matrix before, after, delta;
    enum label_charset charset;
    struct live_text *screen; /* of its own; NULL: it has none */
    bool has_excess;          /* which was reported */
    bool has_shown;           /* an interval, on the screen */
};

/* Each step returns COMMAND_DONE, COMMAND_FAILED after a message, or STOP: the run ends. */
enum { STOP = -1 };

static void close_screen(struct run *run)
{
    live_text_close(run->screen);
    run->screen = NULL;
}

__attribute__((format(printf, 2, 3))) static int fail(struct run *run, const char *format, ...)
{
    va_list arguments;

    close_screen(run);
    va_start(arguments, format);
    fprintf(stderr, "%s: ", run->request->title);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    putc('\n', stderr);
    return COMMAND_FAILED;
}

/* --- Beginning ------------------------------------------------------------ */

static int fail_to_list(struct run *run, int error)
{
    if (error == -ENOENT)
        return fail(run,
                    "neither cgroup2 nor version 1's controller cpu is mounted: mount -t cgroup2 "
                    "none /sys/fs/cgroup");
    return fail(run, "cannot list the cgroups: %s", strerror(-error));
}

static int open_blame(struct run *run)
{
    /* Who suffers most may wait longer than is measured. */
    const struct hr_blame_options options = {
        .controller = run->watched.controller, .by_task = run->request->by_task, .lasting = true};
    struct hr_reason reason = {0};
    int status = hr_blame_open(&options, &run->blame, &reason);

    return status == 0 ? COMMAND_DONE : fail(run, "%s", reason.text);
}

static int attach(struct run *run)
{
    struct hr_reason reason = {0};
    int status = hr_blame_attach(run->blame, &reason);

    return status == 0 ? COMMAND_DONE : fail(run, "%s", reason.text);
}

static void report_excess(struct run *run)
{
    const size_t excess = watched_excess(&run->watched);

    if (excess == 0 || run->has_excess || run->screen != NULL)
        return;
    run->has_excess = true;
    fprintf(stderr,
            "%s: there are too many groups with processes, so %zu of them count for the groups "
            "above them: name those that matter\n",
            run->request->title, excess);
}

/* What is shown is too little then, where a task waits for longer than is measured. */
static void report_namespace(const struct run *run)
{
    if (!hr_has_pids_of_kernel())
        fprintf(stderr,
                "%s: this runs in a PID namespace of its own, so waits of tasks outside it are "
                "counted only when they end: run it in the host's (--pid=host)\n",
                run->request->title);
}

static int update_groups(struct run *run)
{
    int status = watched_update(&run->watched, run->blame);

    if (status != 0)
        return fail_to_list(run, status);
    report_excess(run);
    return COMMAND_DONE;
}

static int open_groups(struct run *run, const char **missing)
{
    const struct blame_request *request = run->request;
    const char *controller = "cpu";
    int status = group_find_hierarchy(run->root, &controller, request->groups, request->group_count,
                                      &run->patterns, missing);

    if (status == 0)
        status = watched_open(&run->watched, run->root, controller, &run->patterns,
                              request->interval_ns);
    return status;
}

static int find_groups(struct run *run)
{
    char text[512];
    const char *missing = NULL;
    int status = open_groups(run, &missing);

    if (status == -ENODEV) {
        group_describe_others(run->root, missing, text, sizeof(text));
        return fail(run, "'%s' matches no cgroup%s", missing, text);
    }
    if (status == -ENOTUNIQ) {
        group_describe_several(missing, &run->patterns, text, sizeof(text));
        return fail(run, "%s", text);
    }
    return status == 0 ? COMMAND_DONE : fail_to_list(run, status);
}

/* This runs where tasks wait for CPUs. Without priority, loading its programs (some tens of
 * milliseconds of CPU time) and reading what they measured would take seconds. In between it
 * sleeps. Without the privilege it is only slower. */
static void raise_own_priority(void)
{
    setpriority(PRIO_PROCESS, 0, -20);
}

static int begin_run(struct run *run)
{
    int status = hr_root_open("/", &run->root);

    if (status != 0)
        return fail(run, "cannot use / as root directory: %s", strerror(-status));
    status = find_groups(run);
    if (status == COMMAND_DONE)
        status = open_blame(run);
    if (status == COMMAND_DONE)
        status = update_groups(run);
    if (status == COMMAND_DONE && run->patterns.count > 0 && !watched_has_groups(&run->watched))
        return fail(run, "no process is in these groups");
    if (status == COMMAND_DONE)
        report_namespace(run);
    /* Last, so that groups are known as takers from the first switch on. */
    return status == COMMAND_DONE ? attach(run) : status;
}

/* --- An interval ---------------------------------------------------------- */

static int read_matrix(struct run *run, struct hr_blame_matrix *matrix)
{
    int status = hr_blame_read(run->blame, matrix);

    return status == 0 ? COMMAND_DONE
                       : fail(run, "cannot read the measurement: %s", strerror(-status));
}

static bool handle_keys(void *context)
{
    const struct run *run = context;
    enum live_text_request request;
    int letter;

    while ((request = live_text_handle_keys(run->screen, &letter)) == LIVE_TEXT_LETTER)
        ;
    return request != LIVE_TEXT_QUIT;
}

static int wait_until(struct run *run, uint64_t until_ns)
{
    struct waiting wait = {.from_ns = hr_clock_ns(), .until_ns = until_ns, .what = ""};
    if (run->screen != NULL) {
        wait.input = live_text_input(run->screen);
        wait.on_input = handle_keys;
        wait.context = run;
    }
    int status = waiting_wait(&wait);

    if (status == -EINTR || status == -EPIPE || status == -ECANCELED)
        return STOP;
    return status == 0 ? COMMAND_DONE : fail(run, "%s", strerror(-status));
}

static int wait_interval(struct run *run)
{
    const uint64_t end_ns = hr_clock_ns() + run->request->interval_ns;
    int status = COMMAND_DONE;

    for (uint64_t now_ns; status == COMMAND_DONE && (now_ns = hr_clock_ns()) < end_ns;) {
        status = wait_until(run, now_ns + UPDATE_NS < end_ns ? now_ns + UPDATE_NS : end_ns);
        if (status == COMMAND_DONE)
            status = update_groups(run);
    }
    return status;
}

static int print_report(struct run *run, FILE *file)
{
    const struct blame_report report = {
        .matrix = &run->delta,
        .watched = &run->watched,
        .blame = run->blame,
        .by_task = run->request->by_task,
        .all = run->request->all,
        .interrupts_known = hr_blame_knows_interrupts(run->blame),
        .limit_exact = hr_blame_knows_limit(run->blame),
        .charset = run->charset,
        .width = output_width(FILE_WIDTH),
    };

    return run->request->json ? blame_json_print(file, &report) : blame_table_print(file, &report);
}

static int show_on_screen(struct run *run)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    if (file == NULL)
        return -ENOMEM;
    int status = print_report(run, file);
    if (fclose(file) != 0)
        status = -ENOMEM;
    if (status == 0)
        status = live_text_show(run->screen, text, "q ends, the cursor keys scroll");
    run->has_shown = true;
    free(text);
    return status;
}

static int show_report(struct run *run)
{
    int status = run->screen != NULL ? show_on_screen(run) : print_report(run, stdout);

    if (status == 0)
        status = output_flush(stdout);
    /* A reader that closes the pipe has read enough. */
    if (status == -EPIPE)
        return STOP;
    return status == 0 ? COMMAND_DONE : fail(run, "cannot write: %s", strerror(-status));
}

static int measure_interval(struct run *run)
{
    struct hr_blame_matrix before = run->after;
    int waited = wait_interval(run);

    /* Of an interval that has just begun there is hardly anything. */
    if (waited == COMMAND_FAILED || (waited == STOP && run->has_shown))
        return waited;
    run->after = run->before;
    run->before = before;
    int status = read_matrix(run, &run->after);
    if (status == COMMAND_DONE && hr_blame_delta(&run->before, &run->after, &run->delta) != 0)
        status = fail(run, "%s", strerror(ENOMEM));
    /* What was measured until Ctrl-C is shown, too, but where it was shown before. */
    if (status == COMMAND_DONE && !(waited == STOP && run->request->live))
        status = show_report(run);
    return status != COMMAND_DONE ? status : waited;
}

/* --- The run -------------------------------------------------------------- */

/* The first reading also counts waits that last, so that what is before it is known; but not those
 * of tasks in other PID namespaces: then most of these have ended after a while. */
static int await_settled(struct run *run)
{
    return hr_has_pids_of_kernel() ? COMMAND_DONE : wait_until(run, hr_clock_ns() + SETTLING_NS);
}

static int measure_until_end(struct run *run)
{
    int status = await_settled(run);

    if (status == COMMAND_DONE)
        status = read_matrix(run, &run->after);
    if (status != COMMAND_DONE)
        return status;
    if (run->request->live && !run->request->json)
        live_text_open(run->charset, &run->screen); /* else each is printed below the last one */
    do
        status = measure_interval(run);
    while (status == COMMAND_DONE && run->request->live);
    if (run->screen == NULL)
        return status;
    /* The last one stays on the terminal. */
    close_screen(run);
    return status == COMMAND_FAILED ? status : show_report(run);
}

static void end_run(struct run *run)
{
    hr_blame_close(run->blame);
    watched_close(&run->watched);
    group_patterns_free(&run->patterns);
    hr_root_close(run->root);
    hr_blame_matrix_free(&run->before);
    hr_blame_matrix_free(&run->after);
    hr_blame_matrix_free(&run->delta);
}

int blame_run(const struct blame_request *request)
{
    struct run run = {
        .request = request,
        .charset = label_charset(),
    };

    waiting_hold_signals();
    raise_own_priority();
    int status = begin_run(&run);
    if (status == COMMAND_DONE)
        status = measure_until_end(&run);
    end_run(&run);
    int number = waiting_signal();
    if (number != 0 && number != SIGINT)
        waiting_end_by_signal(number);
    return status == STOP ? COMMAND_DONE : status;
}
