/* SPDX-License-Identifier: MIT */
#include "probe/probe.h"

#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/numbers.h"
#include "common/output.h"
#include "common/usage.h"
#include "headroom/cgroup.h"
#include "headroom/clock.h"
#include "probe/run.h"

#define SECONDS_DEFAULT 600
#define SECONDS_MAX     1000000

static void print_help(void)
{
    fputs("Usage: headroom probe [OPTION]... GROUP\n"
          "\n"
          "Finds how much memory a cgroup can do without, by having the kernel take it,\n"
          "1 % of what it can take every 6 s, until tasks of the group wait for memory or\n"
          "I/O.\n"
          "\n"
          "GROUP is a cgroup's path below the mount, or its name in series.\n"
          "\n"
          "  --yes              don't ask\n"
          "  --seconds SECONDS  end after that time at the latest (default: 600)\n"
          "  --json             a line of JSON in the end\n"
          "  --root PATH        the directory where the host's / is mounted (default: /)\n"
          "  --help             show this help\n"
          "\n"
          "It says what it will do, and asks. It sets no limit. What is taken is read\n"
          "again when it is needed, from files or swap space, so that the group may wait\n"
          "for it; the probe ends at the first sign of that, and at Ctrl-C at once. See\n"
          "headroom(1).\n",
          stdout);
}

enum { YES = 256, SECONDS, JSON, ROOT };

static const struct option known[] = {
    {"yes", no_argument, NULL, YES},   {"seconds", required_argument, NULL, SECONDS},
    {"json", no_argument, NULL, JSON}, {"root", required_argument, NULL, ROOT},
    {"help", no_argument, NULL, 'h'},  {0},
};

static int parse_seconds(const char *title, const char *text, struct probe_request *request)
{
    double seconds;

    if (number_parse_decimal(text, 1, SECONDS_MAX, &seconds) != 0)
        return command_misused(title, "--seconds takes seconds from 1 to %d, not '%s'", SECONDS_MAX,
                               text);
    request->longest_ns = (uint64_t)(seconds * HR_NS_PER_S + 0.5);
    return COMMAND_DONE;
}

/* Slashes at the beginning are ignored, and at the end, where shells complete one. */
static int parse_group(const char *title, char *path, struct probe_request *request)
{
    const char *why;

    path += strspn(path, "/");
    for (size_t length = strlen(path); length > 0 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    if (path[0] == '\0')
        return command_misused(title, "one cgroup is probed, not the whole machine");
    if (hr_cgroup_pattern_check(path, NULL, &why) != 0)
        return command_misused(title, "'%s' isn't the path of a cgroup: %s", path, why);
    request->group = path;
    return COMMAND_DONE;
}

/* @return COMMAND_DONE or COMMAND_MISUSED. */
static int parse_option(const char *title, int option, struct probe_request *request)
{
    switch (option) {
    case YES:
        request->yes = true;
        return COMMAND_DONE;
    case SECONDS:
        return parse_seconds(title, optarg, request);
    case JSON:
        request->json = true;
        return COMMAND_DONE;
    case ROOT:
        request->root = optarg;
        return COMMAND_DONE;
    default: /* getopt_long() has named the option */
        return COMMAND_MISUSED;
    }
}

static int parse_arguments(int argc, char **argv, struct probe_request *request)
{
    const char *title = argv[0];

    if (optind == argc)
        return command_misused(title, "no cgroup: one is needed, such as "
                                      "system.slice/cron.service");
    if (optind + 1 < argc)
        return command_misused(title, "unexpected argument '%s': one cgroup is probed at a time",
                               argv[optind + 1]);
    int status = parse_group(title, argv[optind], request);
    if (status == COMMAND_DONE && !request->yes && !isatty(STDIN_FILENO))
        return command_misused(title, "without a terminal it can't ask: --yes is needed");
    return status;
}

/* @return COMMAND_DONE, COMMAND_MISUSED, or -1 for --help. */
static int parse_options(int argc, char **argv, struct probe_request *request)
{
    int option, status = COMMAND_DONE;

    while (status == COMMAND_DONE && (option = getopt_long(argc, argv, "h", known, NULL)) != -1)
        status = option == 'h' ? -1 : parse_option(argv[0], option, request);
    return status == COMMAND_DONE ? parse_arguments(argc, argv, request) : status;
}

int probe_main(int argc, char **argv)
{
    struct probe_request request = {
        .title = argv[0], .root = "/", .longest_ns = SECONDS_DEFAULT * HR_NS_PER_S};

    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* numbers have a decimal point everywhere */
    int status = parse_options(argc, argv, &request);
    if (status != -1)
        return status == COMMAND_DONE ? probe_run(&request) : status;
    print_help();
    return output_finish(argv[0], output_flush(stdout));
}
