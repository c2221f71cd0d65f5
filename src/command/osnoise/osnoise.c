/* SPDX-License-Identifier: MIT */
#include "osnoise/osnoise.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "common/numbers.h"
#include "common/osnoise_state.h"
#include "common/usage.h"
#include "headroom/clock.h"
#include "headroom/option_value.h"
#include "osnoise/pause.h"
#include "osnoise/restore.h"
#include "osnoise/run.h"

/* The maximum of any option: over 30 years. The collector checks each option's own range. */
#define SECONDS_MAX 1000000000

enum { SOURCES_MOST = 1000 };

/* The options as given, before they are checked. */
struct options {
    struct osnoise_request request;
    const char *workload; /* an option of the workload; NULL: none */
    const char *noise;    /* an option of how noise is measured; NULL: none */
    const char *measures; /* an option of measuring; NULL: none */
    bool restore;
    bool pauses;
    uint64_t pause_s;
};

static void print_help(void)
{
    fputs("Usage: headroom osnoise --cpus LIST [OPTION]...\n"
          "       headroom osnoise --mode sources|attach [OPTION]...\n"
          "       headroom osnoise --restore [--state FILE]\n"
          "       headroom osnoise --pause TIME\n"
          "\n"
          "Measures operating system noise: the time that interrupts, softirqs, other\n"
          "threads and the hardware take from what runs on a CPU. Until Ctrl-C or, on a\n"
          "terminal, q; or for --seconds.\n"
          "\n"
          "What is measured:\n"
          "  --cpus LIST            these CPUs, such as 2-3,8; or one of these words, for\n"
          "                         CPUs that the kernel was booted to leave alone:\n"
          "                           isolated: by isolcpus= or nohz_full=\n"
          "                           !isolated: all others\n"
          "                           nohz_full: by nohz_full= alone\n"
          "  --mode MODE            osnoise (default): a thread of the kernel runs on each\n"
          "                           CPU and looks for gaps; it takes --runtime of each\n"
          "                           --period\n"
          "                         hwnoise: the same with interrupts off: what the\n"
          "                           hardware takes\n"
          "                         sources: no thread; how long each source had the CPU\n"
          "                         attach: read what another program measures\n"
          "                         timerlat: how late timers are, and threads that they\n"
          "                           wake\n"
          "  --period SECONDS       default 1; timerlat: 0.001\n"
          "  --runtime SECONDS      how much of each period is measured (default: 0.01)\n"
          "  --threshold SECONDS    gaps of at least this are noise (default: 0.000001)\n"
          "  --max-duty PERCENT     refuse to take more of a CPU than this (default: 10)\n"
          "  --priority RANK        of that thread: idle (default; timerlat: f:95), or as\n"
          "                         rtla's -P has it: o:NICE, r:PRIORITY, f:PRIORITY\n"
          "  --buffer-size SIZE     the kernel's buffer for each CPU, such as 512K, where\n"
          "                         records are lost (default: by the other options)\n"
          "  --seconds N            end after that time\n"
          "\n"
          "Output:\n"
          "  --sources N            the N largest sources of noise on each CPU\n"
          "                         (default: 5; 0: none)\n"
          "  --max-single SECONDS   report each single noise above this, and what it was\n"
          "                         made of; no less than --threshold. If there was one,\n"
          "                         the exit status is 4\n"
          "  --max-latency SECONDS  timerlat: if one was above this, the exit status is 4\n"
          "  --histogram            how many single noises, or latencies, were how long\n"
          "  --json                 one object at the end\n"
          "\n"
          "The kernel's settings:\n"
          "  --state FILE           where to keep the kernel's settings that a run\n"
          "                         restores (default: " OSNOISE_STATE_PATH ";\n"
          "                         attach: " OSNOISE_ATTACH_STATE_PATH ")\n"
          "  --restore              only restore what a killed run has changed\n"
          "\n"
          "The plugin of collectd:\n"
          "  --pause TIME           have it leave the tracer to others, such as timerlat,\n"
          "                         for 90, 90s, 10m or 1h, at most a day; 0 ends that\n"
          "  --help                 show this help\n"
          "\n"
          "Columns, per CPU and since the beginning; what isn't known is shown as -:\n"
          "  PERIODS          how many were measured\n"
          "  RUNTIME, NOISE   the time measured, and how much of it was noise, us\n"
          "  AVAILABLE        the rest, % of RUNTIME\n"
          "  SINGLE, PERIOD   the longest single noise, and the most in one period, us\n"
          "  HW               noises without any interference that the kernel knows of\n"
          "  NMI ... THREAD   how many of these interfered\n"
          "  LOST             records that were lost, and with them their noise\n"
          "\n"
          "With --mode timerlat instead, for the interrupt of the timer and for the\n"
          "thread, us: the last latency, the shortest, the average and the longest.\n"
          "\n"
          "It is most useful on CPUs that are isolated or idle. See headroom(1).\n",
          stdout);
}

/* --- Values --------------------------------------------------------------- */

static int parse_seconds(const char *title, const char *option, double unit, uint64_t *value)
{
    double seconds;
    if (number_parse_decimal(optarg, 0, SECONDS_MAX, &seconds) != 0)
        return command_misused(title, "%s takes seconds, such as 0.1, not '%s'", option, optarg);
    *value = (uint64_t)(seconds * unit + 0.5);
    /* 0 means something else, or nothing. */
    if (*value == 0)
        return command_misused(title, "%s takes no less than %.*f seconds, not '%s'", option,
                               unit > HR_US_PER_S ? 9 : 6, 1 / unit, optarg);
    return COMMAND_DONE;
}

static int parse_mode(const char *title, struct options *options)
{
    if (hr_osnoise_mode_parse(optarg, &options->request.options.mode) == 0)
        return COMMAND_DONE;
    fprintf(stderr, "%s: --mode takes one of ", title);
    for (int i = 0; i < HR_OSNOISE_MODE_COUNT; i++)
        fprintf(stderr, "%s%s", i > 0 ? ", " : "", hr_osnoise_mode_name(i));
    fprintf(stderr, ", not '%s'\n", optarg);
    return COMMAND_MISUSED;
}

static int parse_period(const char *title, struct options *options)
{
    struct hr_osnoise_options *osnoise = &options->request.options;
    int status = parse_seconds(title, "--period", HR_US_PER_S, &osnoise->period_us);
    osnoise->timerlat.period_us = osnoise->period_us;
    return status;
}

static int parse_cpus(const char *title, struct options *options)
{
    int status = hr_cpu_choice_parse(optarg, &options->request.options.cpus);
    if (status == -ERANGE)
        return command_misused(title, "--cpus takes numbers below %d, not '%s'", HR_CPU_MAX,
                               optarg);
    if (status != 0)
        return command_misused(title,
                               "--cpus takes a list such as 2-3,8, or isolated, !isolated or "
                               "nohz_full, not '%s'",
                               optarg);
    options->request.cpus = optarg;
    return COMMAND_DONE;
}

static int parse_duty(const char *title, struct options *options)
{
    double *duty = &options->request.options.max_duty_pct;
    if (number_parse_decimal(optarg, 0, 100, duty) == 0 && *duty > 0)
        return COMMAND_DONE;
    return command_misused(title, "--max-duty takes a percentage above 0, up to 100, not '%s'",
                           optarg);
}

/* Of the workload, whatever the mode turns out to be. */
static int parse_priority(const char *title, struct options *options)
{
    struct hr_osnoise_options *osnoise = &options->request.options;
    if (hr_priority_parse(optarg, &osnoise->priority) == 0) {
        osnoise->timerlat.priority = osnoise->priority;
        return COMMAND_DONE;
    }
    return command_misused(title,
                           "--priority takes idle, o:NICE (-20 to 19), r:PRIORITY or f:PRIORITY (1 "
                           "to 99), not '%s'",
                           optarg);
}

static int parse_buffer_size(const char *title, struct options *options)
{
    uint64_t *bytes = &options->request.options.buffer_bytes;
    if (hr_option_parse_bytes(optarg, bytes) && *bytes >= HR_OSNOISE_LEAST_BUFFER &&
        *bytes <= HR_OSNOISE_MOST_BUFFER)
        return COMMAND_DONE;
    return command_misused(title, "--buffer-size takes bytes, from 16K to 16M, not '%s'", optarg);
}

static int parse_sources(const char *title, struct options *options)
{
    int sources;
    if (number_parse_whole(optarg, 0, SOURCES_MOST, &sources) != 0)
        return command_misused(title, "--sources takes a number from 0 to %d, not '%s'",
                               SOURCES_MOST, optarg);
    options->request.sources = (size_t)sources;
    return COMMAND_DONE;
}

static int parse_state_path(const char *title, struct options *options)
{
    if (optarg[0] != '/')
        return command_misused(title, "--state takes an absolute path, not '%s'", optarg);
    options->request.options.state_path = optarg;
    return COMMAND_DONE;
}

static int parse_pause(const char *title, struct options *options)
{
    options->pauses = true;
    if (osnoise_pause_parse(optarg, &options->pause_s) == 0)
        return COMMAND_DONE;
    return command_misused(
        title, "--pause takes a time up to a day, such as 90s, 10m or 1h, not '%s'", optarg);
}

static void choose_state_path(struct hr_osnoise_options *options)
{
    if (options->state_path == NULL)
        options->state_path =
            options->mode == HR_OSNOISE_ATTACH ? OSNOISE_ATTACH_STATE_PATH : OSNOISE_STATE_PATH;
}

/* --- What goes together --------------------------------------------------- */

static int check_cpus(const char *title, const struct osnoise_request *request)
{
    if (!hr_osnoise_has_workload(request->options.mode) || request->cpus != NULL)
        return COMMAND_DONE;
    return command_misused(title,
                           "--mode %s needs --cpus, such as --cpus 2-3: its thread takes time from "
                           "the CPUs it runs on, so you choose which",
                           hr_osnoise_mode_name(request->options.mode));
}

static int check_workload(const char *title, const struct options *options)
{
    enum hr_osnoise_mode mode = options->request.options.mode;
    if (options->workload == NULL || (mode != HR_OSNOISE_SOURCES && mode != HR_OSNOISE_ATTACH))
        return COMMAND_DONE;
    return command_misused(title, "%s is about the thread that measures, and --mode %s starts none",
                           options->workload, hr_osnoise_mode_name(mode));
}

/* What is about noise alone, or about latencies alone. */
static int check_subject(const char *title, const struct options *options)
{
    const bool is_timerlat = options->request.options.mode == HR_OSNOISE_TIMERLAT;
    if (is_timerlat && options->noise != NULL)
        return command_misused(title, "%s is about noise, and --mode timerlat measures latencies",
                               options->noise);
    if (!is_timerlat && options->request.max_latency_ns > 0)
        return command_misused(title, "--max-latency needs --mode timerlat: for noise use "
                                      "--max-single");
    return COMMAND_DONE;
}

static int check_sources(const char *title, const struct osnoise_request *request)
{
    if (request->options.mode != HR_OSNOISE_SOURCES || request->sources > 0)
        return COMMAND_DONE;
    return command_misused(title, "--sources 0 leaves --mode sources nothing to report");
}

static int check_buffer_size(const char *title, const struct hr_osnoise_options *options)
{
    if (options->mode != HR_OSNOISE_SOURCES || options->buffer_bytes == 0)
        return COMMAND_DONE;
    return command_misused(title, "--buffer-size is about records, and --mode sources has none");
}

static int check_pause(const char *title, const struct options *options)
{
    if (options->measures == NULL && !options->restore &&
        options->request.options.state_path == NULL)
        return COMMAND_DONE;
    return command_misused(title, "--pause measures nothing: --%s doesn't go with it",
                           options->measures != NULL ? options->measures
                           : options->restore        ? "restore"
                                                     : "state");
}

/* The collector checks the rest. */
static int check_options(const char *title, const struct options *options)
{
    struct hr_reason reason = {0};
    int status = check_cpus(title, &options->request);
    if (status == COMMAND_DONE)
        status = check_workload(title, options);
    if (status == COMMAND_DONE)
        status = check_subject(title, options);
    if (status == COMMAND_DONE)
        status = check_sources(title, &options->request);
    if (status == COMMAND_DONE)
        status = check_buffer_size(title, &options->request.options);
    if (status == COMMAND_DONE && hr_osnoise_check(&options->request.options, &reason) != 0)
        status = command_misused(title, "%s", reason.text);
    return status;
}

/* --- Options -------------------------------------------------------------- */

enum {
    CPUS = 256,
    MODE,
    PERIOD,
    RUNTIME,
    THRESHOLD,
    MAX_DUTY,
    PRIORITY,
    BUFFER_SIZE,
    SECONDS,
    SOURCES,
    MAX_SINGLE,
    MAX_LATENCY,
    HISTOGRAM,
    JSON,
    STATE,
    RESTORE,
    PAUSE
};

static const struct option known_options[] = {
    {"cpus", required_argument, NULL, CPUS},
    {"mode", required_argument, NULL, MODE},
    {"period", required_argument, NULL, PERIOD},
    {"runtime", required_argument, NULL, RUNTIME},
    {"threshold", required_argument, NULL, THRESHOLD},
    {"max-duty", required_argument, NULL, MAX_DUTY},
    {"priority", required_argument, NULL, PRIORITY},
    {"buffer-size", required_argument, NULL, BUFFER_SIZE},
    {"seconds", required_argument, NULL, SECONDS},
    {"sources", required_argument, NULL, SOURCES},
    {"max-single", required_argument, NULL, MAX_SINGLE},
    {"max-latency", required_argument, NULL, MAX_LATENCY},
    {"histogram", no_argument, NULL, HISTOGRAM},
    {"json", no_argument, NULL, JSON},
    {"state", required_argument, NULL, STATE},
    {"restore", no_argument, NULL, RESTORE},
    {"pause", required_argument, NULL, PAUSE},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* The options of the workload alone. */
static int parse_workload_option(const char *title, int option, struct options *options)
{
    struct hr_osnoise_options *osnoise = &options->request.options;
    switch (option) {
    case PERIOD:
        options->workload = "--period";
        return parse_period(title, options);
    case RUNTIME:
        options->workload = options->noise = "--runtime";
        return parse_seconds(title, "--runtime", HR_US_PER_S, &osnoise->runtime_us);
    case THRESHOLD:
        options->workload = options->noise = "--threshold";
        return parse_seconds(title, "--threshold", HR_US_PER_S, &osnoise->threshold_us);
    case MAX_DUTY:
        options->workload = options->noise = "--max-duty";
        return parse_duty(title, options);
    case PRIORITY:
        options->workload = "--priority";
        return parse_priority(title, options);
    default: /* getopt_long() has reported the option */
        return COMMAND_MISUSED;
    }
}

/* @return COMMAND_DONE or COMMAND_MISUSED. */
static int parse_option(const char *title, int option, struct options *options)
{
    struct osnoise_request *request = &options->request;
    switch (option) {
    case CPUS:
        return parse_cpus(title, options);
    case MODE:
        return parse_mode(title, options);
    case BUFFER_SIZE:
        return parse_buffer_size(title, options);
    case SECONDS:
        return parse_seconds(title, "--seconds", HR_NS_PER_S, &request->total_ns);
    case SOURCES:
        options->noise = "--sources";
        return parse_sources(title, options);
    case MAX_SINGLE:
        options->noise = "--max-single";
        return parse_seconds(title, "--max-single", HR_NS_PER_S, &request->options.max_single_ns);
    case MAX_LATENCY:
        return parse_seconds(title, "--max-latency", HR_NS_PER_S, &request->max_latency_ns);
    case HISTOGRAM:
        request->options.histogram = true;
        return COMMAND_DONE;
    case JSON:
        request->json = true;
        return COMMAND_DONE;
    case STATE:
        return parse_state_path(title, options);
    case RESTORE:
        options->restore = true;
        return COMMAND_DONE;
    case PAUSE:
        return parse_pause(title, options);
    default:
        return parse_workload_option(title, option, options);
    }
}

static const char *option_name(int option)
{
    for (size_t i = 0; known_options[i].name != NULL; i++)
        if (known_options[i].val == option)
            return known_options[i].name;
    return NULL;
}

/* @return COMMAND_DONE, COMMAND_MISUSED, or -1: help was requested. */
static int parse_options(int argc, char **argv, struct options *options)
{
    int option, status = COMMAND_DONE;
    while (status == COMMAND_DONE &&
           (option = getopt_long(argc, argv, "h", known_options, NULL)) != -1) {
        if (option == 'h')
            return -1;
        if (option != STATE && option != RESTORE && option != PAUSE)
            options->measures = option_name(option);
        status = parse_option(argv[0], option, options);
    }
    if (status != COMMAND_DONE)
        return status;
    if (optind < argc)
        return command_misused(argv[0], "unexpected argument '%s'", argv[optind]);
    if (options->restore && options->measures != NULL)
        return command_misused(argv[0], "--restore measures nothing: --%s doesn't go with it",
                               options->measures);
    if (options->pauses)
        return check_pause(argv[0], options);
    if (options->request.options.mode == HR_OSNOISE_TIMERLAT)
        options->request.sources = 0;
    options->request.options.by_source = options->request.sources > 0;
    if (options->restore)
        return COMMAND_DONE;
    choose_state_path(&options->request.options);
    return check_options(argv[0], options);
}

int osnoise_main(int argc, char **argv)
{
    struct options options = {
        .request = {.title = argv[0], .sources = 5, .options = hr_osnoise_defaults}};
    options.request.options.causes = true;
    setlocale(LC_ALL, "");
    /* Numbers have a decimal point in every locale. */
    setlocale(LC_NUMERIC, "C");
    int status = parse_options(argc, argv, &options);
    if (status != -1 && status != COMMAND_DONE)
        return status;
    if (status == COMMAND_DONE && options.pauses)
        return osnoise_pause(argv[0], options.pause_s);
    if (status == COMMAND_DONE && options.restore)
        return osnoise_restore(argv[0], options.request.options.state_path);
    if (status == COMMAND_DONE)
        return osnoise_run(&options.request);
    print_help();
    if (fflush(stdout) == 0)
        return COMMAND_DONE;
    fprintf(stderr, "%s: cannot write: %s\n", argv[0], strerror(errno));
    return COMMAND_FAILED;
}
