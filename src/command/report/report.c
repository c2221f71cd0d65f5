/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/client.h"
#include "common/output.h"
#include "common/usage.h"
#include "report/rooms.h"

#define ANSWER_TIMEOUT_MS 5000

struct options {
    const char *socket;
    enum room_value sort;
    bool json;
};

static const struct {
    const char *name;
    enum room_value value;
} sort_keys[] = {
    {"room", ROOM_LEAST}, {"trouble", ROOM_TROUBLE}, {"memory", ROOM_MEMORY},
    {"cpu", ROOM_CPU},    {"io", ROOM_IO},
};

/* --- Options ------------------------------------------------------------------------ */

static void print_help(void)
{
    puts("Usage: headroom report [OPTION]... [GROUP]...\n\n"
         "Shows how much room each group has left, the tightest first, by the values that a\n"
         "running collectd has from the headroom plugin.\n\n"
         "  GROUP               only these groups, by name or path, with the wildcards * and ?\n"
         "  --socket FILE       collectd's socket, the unixsock plugin's SocketFile\n"
         "                      (default: " CLIENT_DEFAULT_SOCKET ")\n"
         "  --sort KEY          what to sort by: room, trouble, memory, cpu, io\n"
         "                      (default: room)\n"
         "  --json              print a line of JSON\n"
         "  --help              show this help\n\n"
         "room        what is left, in percent of what the group could have while the others\n"
         "            take what they take now: 100% of it is free where it uses next to\n"
         "            nothing, however little it could have; by: the resource that limits\n"
         "            it; more: how much more of it the group could take\n"
         "trouble in  until no memory is left at the present trend; now: it is in trouble\n"
         "waits for   the greatest parts of its stalls, in percent of the time; idle:\n"
         "            share of the machine's CPUs that is idle meanwhile\n"
         "A value collectd doesn't have is shown as -.");
}

static int parse_sort(const char *title, const char *name, struct options *options)
{
    for (size_t i = 0; i < sizeof(sort_keys) / sizeof(sort_keys[0]); i++)
        if (strcmp(name, sort_keys[i].name) == 0) {
            options->sort = sort_keys[i].value;
            return COMMAND_DONE;
        }
    return command_misused(title, "--sort takes one of room, trouble, memory, cpu, io, not '%s'",
                           name);
}

/* Returns COMMAND_DONE, COMMAND_MISUSED, or -1 for --help. */
static int parse_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"socket", required_argument, NULL, 's'},
        {"sort", required_argument, NULL, 'k'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int option, status = COMMAND_DONE;

    while (status == COMMAND_DONE && (option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (option == 's') {
            options->socket = optarg;
            status = client_check_path(argv[0], optarg);
        } else if (option == 'k') {
            status = parse_sort(argv[0], optarg, options);
        } else if (option == 'j') {
            options->json = true;
        } else if (option == 'h') {
            return -1;
        } else {
            return COMMAND_MISUSED; /* getopt_long() has named the option */
        }
    }
    return status;
}

/* --- The report ----------------------------------------------------------------------- */

static int wait_for_collectd(void *context, int fd, short events)
{
    struct pollfd polled = {.fd = fd, .events = events};
    int ready;

    (void)context;
    do
        ready = poll(&polled, 1, ANSWER_TIMEOUT_MS);
    while (ready < 0 && errno == EINTR);
    if (ready < 0)
        return -errno;
    return ready == 0 ? -ETIMEDOUT : 0;
}

static int fetch(const char *socket, struct rooms *rooms)
{
    struct client *client;

    int status = client_open(socket, wait_for_collectd, NULL, &client);
    if (status != 0)
        return status;
    status = rooms_fetch(client, rooms);
    client_close(client);
    if (status == 0 && rooms->count == 0)
        return -ENODATA;
    return status;
}

static int fail(const char *title, int error, const char *socket)
{
    char text[512];

    if (error == -ENODATA)
        snprintf(text, sizeof(text),
                 "collectd has no values of the headroom plugin yet: is `LoadPlugin headroom' in "
                 "its collectd.conf? The first values take an interval or two");
    else
        client_explain(error, socket, text, sizeof(text));
    fprintf(stderr, "%s: %s\n", title, text);
    return COMMAND_FAILED;
}

int report_main(int argc, char **argv)
{
    struct options options = {.socket = CLIENT_DEFAULT_SOCKET, .sort = ROOM_LEAST};
    struct rooms rooms = {.rows = NULL};

    setlocale(LC_ALL, "");
    /* A decimal comma would break JSON, and parsing collectd's numbers. */
    setlocale(LC_NUMERIC, "C");
    int status = parse_options(argc, argv, &options);
    if (status == -1) {
        print_help();
        return output_finish(argv[0], output_flush(stdout));
    }
    if (status != COMMAND_DONE)
        return status;
    signal(SIGPIPE, SIG_IGN); /* collectd may close the connection */
    status = fetch(options.socket, &rooms);
    if (status != 0)
        return fail(argv[0], status, options.socket);
    const char *missing = rooms_keep(&rooms, argv + optind, (size_t)(argc - optind));
    if (missing != NULL) {
        char there[512];
        rooms_describe(&rooms, there, sizeof(there));
        fprintf(stderr, "%s: '%s' matches no group whose room collectd has (there are: %s)\n",
                argv[0], missing, there);
        rooms_free(&rooms);
        return COMMAND_FAILED;
    }
    rooms_sort(&rooms, options.sort);
    status = options.json ? rooms_print_json(stdout, &rooms)
                          : rooms_print_table(stdout, &rooms, output_width(INT_MAX));
    rooms_free(&rooms);
    return output_finish(argv[0], status);
}
