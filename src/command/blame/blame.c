/* SPDX-License-Identifier: MIT */
#include "blame/blame.h"

#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "blame/run.h"
#include "common/numbers.h"
#include "common/output.h"
#include "common/usage.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"

#define SECONDS_LEAST 0.1
#define SECONDS_MOST  86400

static void print_help(void)
{
    fputs("Usage: headroom blame [OPTION]... [GROUP]...\n"
          "\n"
          "Measures who took the CPU from whom: how long the tasks of each cgroup waited\n"
          "for a CPU, and what that CPU did meanwhile.\n"
          "\n"
          "GROUP is the path of a cgroup below its mount, with wildcards as in the\n"
          "plugins' option Cgroup: 'system.slice/*.service'; or its name in series:\n"
          "system.slice_cron.service; or what is short for that in mails and headroom top.\n"
          "Only the waits of these groups are measured. Without GROUP: those of every\n"
          "group with processes; tasks in no group count as /. Where cgroup2 has no such\n"
          "group, it is looked up in version 1's cpu hierarchy.\n"
          "\n"
          "  --seconds N    duration of a measurement (default: 5; with --live 2)\n"
          "  --live         again and again, until Ctrl-C or q\n"
          "  --by task      which task waited for which, the worst first\n"
          "  --all          all rows, not only the 20 groups, or 30 pairs, that waited most\n"
          "  --json         one object on a line for each measurement\n"
          "  --help         show this help\n"
          "\n"
          "Rows wait, columns take, in milliseconds, the worst first. Besides groups,\n"
          "takers are:\n"
          "  itself         other tasks of the same group\n"
          "  other          tasks of groups that aren't distinguished\n"
          "  kworker ...    kernel threads, by name\n"
          "  interrupts     where the kernel accounts for them\n"
          "  steal          the hypervisor\n"
          "  limit          the group's cpu.max, or that of one above it\n"
          "  idle           nothing: it takes time to wake up an idle CPU\n"
          "  unattributed   not known\n"
          "\n"
          "Needs root, or CAP_BPF and CAP_PERFMON. See headroom(1).\n",
          stdout);
}

enum { SECONDS = 256, LIVE, BY, ALL, JSON };

static const struct option known_options[] = {
    {"seconds", required_argument, NULL, SECONDS},
    {"live", no_argument, NULL, LIVE},
    {"by", required_argument, NULL, BY},
    {"all", no_argument, NULL, ALL},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static int parse_seconds(struct blame_request *request)
{
    double seconds;

    if (number_parse_decimal(optarg, SECONDS_LEAST, SECONDS_MOST, &seconds) != 0)
        return command_misused(request->title, "--seconds takes a number from %g to %d, not '%s'",
                               SECONDS_LEAST, SECONDS_MOST, optarg);
    request->interval_ns = (uint64_t)(seconds * HR_NS_PER_S);
    return COMMAND_DONE;
}

static int parse_option(int option, struct blame_request *request)
{
    switch (option) {
    case SECONDS:
        return parse_seconds(request);
    case LIVE:
        request->live = true;
        return COMMAND_DONE;
    case BY:
        if (strcmp(optarg, "task") != 0)
            return command_misused(request->title, "--by takes task, not '%s'", optarg);
        request->by_task = true;
        return COMMAND_DONE;
    case ALL:
        request->all = true;
        return COMMAND_DONE;
    case JSON:
        request->json = true;
        return COMMAND_DONE;
    default: /* getopt_long() has reported it */
        return COMMAND_MISUSED;
    }
}

static int check_groups(const struct blame_request *request)
{
    for (size_t i = 0; i < request->group_count; i++) {
        const char *reason;
        if (hr_cgroup_pattern_check(request->groups[i], NULL, &reason) != 0)
            return command_misused(request->title, "'%s' is no path of a cgroup: %s",
                                   request->groups[i], reason);
    }
    return COMMAND_DONE;
}

/* A leading slash, as in /proc/PID/cgroup. */
static void skip_slashes(char **groups)
{
    for (; *groups != NULL; groups++)
        *groups += strspn(*groups, "/");
}

/* @return COMMAND_DONE, COMMAND_MISUSED, or -1: help was requested. */
static int parse_options(int argc, char **argv, struct blame_request *request)
{
    int option, status = COMMAND_DONE;

    while (status == COMMAND_DONE &&
           (option = getopt_long(argc, argv, "h", known_options, NULL)) != -1) {
        if (option == 'h')
            return -1;
        status = parse_option(option, request);
    }
    if (status != COMMAND_DONE)
        return status;
    skip_slashes(argv + optind);
    request->groups = (const char *const *)argv + optind;
    request->group_count = (size_t)(argc - optind);
    if (request->interval_ns == 0)
        request->interval_ns = (request->live ? 2 : 5) * HR_NS_PER_S;
    return check_groups(request);
}

int blame_main(int argc, char **argv)
{
    struct blame_request request = {.title = argv[0]};

    setlocale(LC_ALL, "");
    /* Numbers have a decimal point in every locale. */
    setlocale(LC_NUMERIC, "C");
    int status = parse_options(argc, argv, &request);
    if (status == COMMAND_DONE)
        return blame_run(&request);
    if (status != -1)
        return status;
    print_help();
    return output_finish(argv[0], output_flush(stdout));
}
