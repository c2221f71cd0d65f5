/* SPDX-License-Identifier: MIT */
#include "wss/wss.h"

#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "common/numbers.h"
#include "common/output.h"
#include "common/usage.h"
#include "headroom/clock.h"
#include "wss/compare.h"
#include "wss/gnuplot.h"
#include "wss/restore.h"
#include "wss/run.h"

enum { STEPS_MAX = 60 };

/* Options as parsed, before their combination is checked. */
struct options {
    struct wss_request request;
    const char *target; /* the option that named it; NULL: none */
    bool cumulative, snapshots, profile, total, compare;
    bool chose_method;
    bool restore, measures; /* the latter: another option than those that go with it was given */
};

static void print_help(void)
{
    fputs("Usage: headroom wss [OPTION]... PID [SECONDS]\n"
          "       headroom wss [OPTION]... TARGET [SECONDS]\n"
          "       headroom wss --restore [--root PATH]\n"
          "\n"
          "Measures the working set: how much memory is touched within SECONDS, 1 by\n"
          "default.\n"
          "\n"
          "What is measured, TARGET, if not the process PID:\n"
          "  --name NAME             all processes of that name\n"
          "  --pid-file FILE         the process whose number is in FILE\n"
          "  --cgroup PATH           a cgroup with all below it: its path below the mount,\n"
          "                          its name in series, or what is short for that in\n"
          "                          mails and headroom top\n"
          "  --system                the whole machine\n"
          "\n"
          "When:\n"
          "  -C, --cumulative        begin once, and print a line every SECONDS of what\n"
          "                          was touched since then, until Ctrl-C\n"
          "  -P, --profile STEPS     begin once, and print what was touched within\n"
          "                          SECONDS, twice that, four times that, ...: STEPS lines\n"
          "  -s, --snapshots PAUSE   measure again and again, PAUSE seconds between, or 0\n"
          "  -d, --duration TOTAL    end -C or -s after TOTAL seconds\n"
          "\n"
          "How:\n"
          "  --method METHOD         referenced, idle, lru_gen, damon, or auto (default),\n"
          "                          the least disturbing that can answer\n"
          "  --compare               once by each method in turn, with what that takes and\n"
          "                          disturbs\n"
          "  --aging                 lru_gen: have the kernel begin new generations for\n"
          "                          each window\n"
          "  --root PATH             where the host's / is mounted (default: /)\n"
          "  --restore               only switch DAMON off if a killed run has left it on\n"
          "\n"
          "Output:\n"
          "  -t, --timestamps        a column with the time of each reading\n"
          "  --json                  a line of JSON for each reading\n"
          "  --csv                   comma separated values, with a heading\n"
          "  --plot                  after -C or -P, draw the lines as a chart in the\n"
          "                          terminal\n"
          "  --plot=FILE             draw it to FILE, by gnuplot; .svg or .png\n"
          "  --linear                with a linear axis of time, not a logarithmic one\n"
          "  --help                  show this help\n"
          "\n"
          "Columns:\n"
          "  Est(s)   the time in which it was touched: from the middle of clearing what\n"
          "           the kernel knew to the middle of reading what it knows\n"
          "  RSS(MiB) resident memory\n"
          "  PSS(MiB) the same, with memory that several processes share counted by parts\n"
          "  Ref(MiB) touched within that time: the working set\n"
          "What isn't known is shown as -.\n"
          "\n"
          "Walking the page tables of a large process delays it, and the referenced method\n"
          "makes the kernel forget which pages were in use, so that it may reclaim the\n"
          "wrong ones. See headroom(1).\n",
          stdout);
}

/* --- Values --------------------------------------------------------------- */

static int parse_seconds(const char *title, const char *name, const char *text, double least,
                         uint64_t *ns)
{
    double seconds;
    if (number_parse_decimal(text, least, WSS_SECONDS_MAX, &seconds) == 0) {
        *ns = (uint64_t)(seconds * HR_NS_PER_S + 0.5);
        return COMMAND_DONE;
    }
    return command_misused(title, "%s takes seconds from %g to %d, such as 0.1, not '%s'", name,
                           least, WSS_SECONDS_MAX, text);
}

static int parse_steps(const char *title, const char *text, struct options *options)
{
    int steps;
    if (number_parse_whole(text, 1, STEPS_MAX, &steps) != 0)
        return command_misused(title, "-P takes a number of steps from 1 to %d, not '%s'",
                               STEPS_MAX, text);
    options->profile = true;
    options->request.plan.steps = (unsigned)steps;
    return COMMAND_DONE;
}

static int parse_method(const char *title, const char *name, struct options *options)
{
    options->chose_method = true;
    if (hr_wss_method_parse(name, &options->request.method) == 0)
        return COMMAND_DONE;
    fprintf(stderr, "%s: --method takes one of ", title);
    for (int i = 0; i <= HR_WSS_AUTO; i++)
        fprintf(stderr, "%s%s", i > 0 ? ", " : "", hr_wss_method_name(i));
    fprintf(stderr, ", not '%s'\n", name);
    return COMMAND_MISUSED;
}

static int parse_picture(const char *title, const char *path, struct options *options)
{
    options->request.plot = true;
    options->request.picture = path;
    if (path == NULL || wss_picture_is_known(path))
        return COMMAND_DONE;
    return command_misused(title, "--plot draws files that end in .svg or .png, not '%s'", path);
}

/* --- The target ----------------------------------------------------------- */

static int set_target(const char *title, const char *option, struct options *options)
{
    if (options->target != NULL)
        return command_misused(title, "%s and %s exclude each other", options->target, option);
    options->target = option;
    return COMMAND_DONE;
}

static int set_processes(const char *title, const char *option, enum hr_process_by by,
                         struct options *options)
{
    if (optarg[0] == '\0')
        return command_misused(title, "%s takes a %s, not ''", option,
                               by == HR_PROCESS_BY_NAME ? "name" : "path");
    options->request.target.scope = HR_WSS_PROCESSES;
    options->request.target.processes = (struct hr_process_choice){.by = by, .text = optarg};
    return set_target(title, option, options);
}

static int set_cgroup(const char *title, char *path, struct options *options)
{
    /* Ignore slashes at the beginning, and at the end, where shells complete one. */
    path += strspn(path, "/");
    for (size_t length = strlen(path); length > 0 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    options->request.target.scope = HR_WSS_CGROUP;
    options->request.target.cgroup = path;
    return set_target(title, "--cgroup", options);
}

static int set_system(const char *title, struct options *options)
{
    options->request.target.scope = HR_WSS_SYSTEM;
    return set_target(title, "--system", options);
}

static int parse_pid(const char *title, const char *text, struct options *options)
{
    int pid;
    if (number_parse_whole(text, 1, INT_MAX, &pid) != 0)
        return command_misused(
            title, "a PID is a number, not '%s'; --name measures processes by name", text);
    options->target = "PID";
    options->request.target.scope = HR_WSS_PROCESSES;
    options->request.target.processes =
        (struct hr_process_choice){.by = HR_PROCESS_BY_PID, .pid = pid};
    return COMMAND_DONE;
}

/* --- Combinations --------------------------------------------------------- */

static int check_plan(const char *title, struct options *options)
{
    struct wss_plan *plan = &options->request.plan;
    if (options->cumulative + options->profile + options->snapshots > 1)
        return command_misused(title, "-C, -P and -s exclude each other");
    if (options->total && !options->cumulative && !options->snapshots)
        return command_misused(title, "-d requires -C or -s");
    if (options->total && plan->total_ns < plan->window_ns)
        return command_misused(title, "-d takes no less than the %.9g seconds of a window",
                               (double)plan->window_ns / HR_NS_PER_S);
    /* Doubled step by step, as a shift could overflow. */
    double last = (double)plan->window_ns / HR_NS_PER_S;
    for (unsigned i = 1; options->profile && i < plan->steps; i++)
        last *= 2;
    if (last > WSS_SECONDS_MAX)
        return command_misused(title,
                               "the last of %u steps would take %.3g seconds; the maximum is %d",
                               plan->steps, last, WSS_SECONDS_MAX);
    plan->mode = options->cumulative  ? WSS_CUMULATIVE
                 : options->profile   ? WSS_PROFILE
                 : options->snapshots ? WSS_SNAPSHOTS
                                      : WSS_SNAPSHOT;
    return COMMAND_DONE;
}

static int check_method(const char *title, const struct wss_request *request)
{
    if (request->aging && request->method != HR_WSS_LRU_GEN && request->method != HR_WSS_AUTO)
        return command_misused(title, "--aging requires --method lru_gen");
    return COMMAND_DONE;
}

/* It is one window of each method. */
static int check_comparison(const char *title, const struct options *options)
{
    if (!options->compare)
        return COMMAND_DONE;
    if (options->chose_method)
        return command_misused(title, "--compare takes each method: --method excludes it");
    if (options->request.plan.mode != WSS_SNAPSHOT || options->request.timestamps)
        return command_misused(title, "--compare excludes -C, -P, -s and -t");
    return COMMAND_DONE;
}

static int check_output(const char *title, const struct wss_request *request)
{
    if (request->timestamps && request->format != WSS_COLUMNS)
        return command_misused(title, "-t is for columns: --json and --csv always have the time");
    if (request->linear && !request->plot)
        return command_misused(title, "--linear requires --plot");
    if (!request->plot)
        return COMMAND_DONE;
    if (request->plan.mode != WSS_CUMULATIVE && request->plan.mode != WSS_PROFILE)
        return command_misused(title, "--plot requires -C or -P");
    if (request->picture == NULL && request->format != WSS_COLUMNS)
        return command_misused(title, "with --json or --csv the chart needs a file: --plot=FILE");
    return COMMAND_DONE;
}

/* Parses PID, unless an option names the target, and SECONDS. */
static int parse_arguments(int argc, char **argv, struct options *options)
{
    const char *title = argv[0];
    int status = COMMAND_DONE, next = optind;
    if (options->target == NULL && next == argc)
        return command_misused(title, "no target: a PID, --name, --pid-file, --cgroup or "
                                      "--system is needed");
    if (options->target == NULL)
        status = parse_pid(title, argv[next++], options);
    if (status == COMMAND_DONE && next < argc)
        status = parse_seconds(title, "the window", argv[next++], 0.0001,
                               &options->request.plan.window_ns);
    if (status == COMMAND_DONE && next < argc)
        status = command_misused(title, "unexpected argument '%s'%s", argv[next],
                                 options->request.plot ? " (is it --plot=FILE?)" : "");
    return status;
}

/* --- Options -------------------------------------------------------------- */

enum {
    NAME = 256,
    PID_FILE,
    CGROUP,
    SYSTEM,
    METHOD,
    AGING,
    ROOT,
    JSON,
    CSV,
    PLOT,
    LINEAR,
    RESTORE,
    COMPARE
};

static const struct option known[] = {
    {"cumulative", no_argument, NULL, 'C'},
    {"profile", required_argument, NULL, 'P'},
    {"snapshots", required_argument, NULL, 's'},
    {"duration", required_argument, NULL, 'd'},
    {"timestamps", no_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {"name", required_argument, NULL, NAME},
    {"pid-file", required_argument, NULL, PID_FILE},
    {"cgroup", required_argument, NULL, CGROUP},
    {"system", no_argument, NULL, SYSTEM},
    {"method", required_argument, NULL, METHOD},
    {"aging", no_argument, NULL, AGING},
    {"root", required_argument, NULL, ROOT},
    {"restore", no_argument, NULL, RESTORE},
    {"compare", no_argument, NULL, COMPARE},
    {"json", no_argument, NULL, JSON},
    {"csv", no_argument, NULL, CSV},
    {"plot", optional_argument, NULL, PLOT},
    {"linear", no_argument, NULL, LINEAR},
    {0},
};

/* Returns COMMAND_DONE or COMMAND_MISUSED. */
static int parse_option(const char *title, int option, struct options *options)
{
    struct wss_request *request = &options->request;
    options->measures = options->measures || (option != ROOT && option != RESTORE);
    switch (option) {
    case 'C':
        options->cumulative = true;
        return COMMAND_DONE;
    case 'P':
        return parse_steps(title, optarg, options);
    case 's':
        options->snapshots = true;
        return parse_seconds(title, "-s", optarg, 0, &request->plan.pause_ns);
    case 'd':
        options->total = true;
        return parse_seconds(title, "-d", optarg, 0.0001, &request->plan.total_ns);
    case NAME:
        return set_processes(title, "--name", HR_PROCESS_BY_NAME, options);
    case PID_FILE:
        return set_processes(title, "--pid-file", HR_PROCESS_BY_FILE, options);
    case CGROUP:
        return set_cgroup(title, optarg, options);
    case SYSTEM:
        return set_system(title, options);
    case METHOD:
        return parse_method(title, optarg, options);
    case PLOT:
        return parse_picture(title, optarg, options);
    case RESTORE:
        options->restore = true;
        return COMMAND_DONE;
    case COMPARE:
        options->compare = true;
        return COMMAND_DONE;
    case ROOT:
        request->root = optarg;
        return COMMAND_DONE;
    case 't':
        request->timestamps = true;
        return COMMAND_DONE;
    case AGING:
        request->aging = true;
        return COMMAND_DONE;
    case JSON:
        request->format = WSS_JSON;
        return COMMAND_DONE;
    case CSV:
        request->format = WSS_CSV;
        return COMMAND_DONE;
    case LINEAR:
        request->linear = true;
        return COMMAND_DONE;
    default: /* getopt_long() has named the option */
        return COMMAND_MISUSED;
    }
}

/* Returns COMMAND_DONE, COMMAND_MISUSED, or -1 for --help. */
static int parse_options(int argc, char **argv, struct options *options)
{
    int option, status = COMMAND_DONE;
    while (status == COMMAND_DONE &&
           (option = getopt_long(argc, argv, "CP:s:d:th", known, NULL)) != -1)
        status = option == 'h' ? -1 : parse_option(argv[0], option, options);
    if (status == COMMAND_DONE && options->restore)
        return options->measures || optind < argc
                   ? command_misused(argv[0],
                                     "--restore measures nothing: only --root goes with it")
                   : COMMAND_DONE;
    if (status == COMMAND_DONE)
        status = parse_arguments(argc, argv, options);
    if (status == COMMAND_DONE)
        status = check_plan(argv[0], options);
    if (status == COMMAND_DONE)
        status = check_method(argv[0], &options->request);
    if (status == COMMAND_DONE)
        status = check_comparison(argv[0], options);
    if (status == COMMAND_DONE)
        status = check_output(argv[0], &options->request);
    return status;
}

int wss_main(int argc, char **argv)
{
    struct options options = {.request = {.title = argv[0],
                                          .root = "/",
                                          .method = HR_WSS_AUTO,
                                          .plan = {.window_ns = HR_NS_PER_S}}};
    setlocale(LC_ALL, "");
    /* Numbers have a decimal point everywhere. */
    setlocale(LC_NUMERIC, "C");
    int status = parse_options(argc, argv, &options);
    if (status == COMMAND_DONE && options.restore)
        return wss_restore(argv[0], options.request.root);
    if (status == COMMAND_DONE)
        return options.compare ? wss_compare(&options.request) : wss_run(&options.request);
    if (status != -1)
        return status;
    print_help();
    return output_finish(argv[0], output_flush(stdout));
}
