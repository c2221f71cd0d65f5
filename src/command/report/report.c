/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/client.h"
#include "common/group.h"
#include "common/output.h"
#include "common/samples.h"
#include "common/usage.h"
#include "configured/backlog.h"
#include "configured/unread.h"
#include "configured/used_features.h"
#include "headroom/descriptor.h"
#include "headroom/quantity.h"
#include "headroom/root.h"
#include "report/briefs.h"
#include "report/group.h"
#include "report/places.h"
#include "report/profile.h"
#include "report/rooms.h"

struct options {
    const char *socket, *config, *root;
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
         "Shows how much room each group has left, the tightest first, by the values that\n"
         "a running collectd has from the headroom plugin.\n"
         "\n"
         "  GROUP               only these groups, by name or path, with the wildcards *\n"
         "                      and ?, or as mails and headroom top have it in short; of\n"
         "                      one group everything: what binds, who waits, the trend\n"
         "  --socket FILE       collectd's socket, the unixsock plugin's SocketFile\n"
         "                      (default: " CLIENT_DEFAULT_SOCKET ")\n"
         "  --sort KEY          what to sort by: room, trouble, memory, cpu, io\n"
         "                      (default: room)\n"
         "  --config FILE       collectd's configuration, by which groups are found here\n"
         "                      (default: collectd's own, /etc/collectd/collectd.conf)\n"
         "  --root PATH         where the host's / is mounted (default: the plugins'\n"
         "                      option Root, or /)\n"
         "  --json              print a line of JSON\n"
         "  --help              show this help\n"
         "\n"
         "room        what is left, in percent of what the group could have while the\n"
         "            others take what they take now: 100% of it is free where it uses\n"
         "            next to nothing, however little it could have; by: the resource\n"
         "            that limits it; more: how much more of it the group could take\n"
         "trouble in  until no memory is left at the present trend; now: it is in trouble\n"
         "binds       what limits that, and whose limit it is; taking: who takes it; in\n"
         "            wide terminals\n"
         "waits for   the greatest parts of its stalls, in percent of the time; idle:\n"
         "            share of the machine's CPUs that is idle meanwhile\n"
         "A value collectd doesn't have is shown as -; the room of a group that waits for\n"
         "a CPU while it isn't known how much more it could have, as ?.");
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
        {"config", required_argument, NULL, 'c'},
        {"root", required_argument, NULL, 'r'},
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
        } else if (option == 'c') {
            options->config = optarg;
        } else if (option == 'r') {
            options->root = optarg;
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

/* This machine, by the plugins' configuration. */
struct here {
    struct usage usage;
    struct hr_root *root;
};

/* What collectd has, and what of it is wanted. */
struct found {
    struct rooms rooms;
    struct places places;
    struct group_patterns meant;
    int chosen;          /* what rooms_choose() returned */
    const char *missing; /* and had */
    size_t row;          /* that of the only group; the number of rows: there is none */
    struct group about;  /* of which one group is meant, then begun */
    double newest;       /* of the values that collectd has; NaN: it has none */
};

static int fetch_rooms(struct client *client, const struct options *options,
                       const struct here *here, struct found *found)
{
    struct rooms *rooms = &found->rooms;
    int status = rooms_fetch(client, rooms);

    if (status != 0)
        return status;
    status = places_find(here->root, &here->usage, rooms, &found->places);
    /* Names that are too long, for people. */
    return status == 0 && !options->json ? places_shorten_names(&found->places, rooms) : status;
}

static int fetch(const struct options *options, const struct here *here, char *const *wanted,
                 size_t count, struct found *found)
{
    struct client *client;

    int status = client_open(options->socket, client_wait_briefly, NULL, &client);
    if (status != 0)
        return status;
    status = fetch_rooms(client, options, here, found);
    found->newest = client_newest(client);
    if (status == 0) {
        found->chosen = rooms_choose(&found->rooms, wanted, count, &found->meant, &found->missing);
        found->row =
            found->chosen == 0 ? rooms_find_only(&found->rooms, &found->meant) : found->rooms.count;
        if (found->row < found->rooms.count)
            status = group_fetch(client, &found->rooms, found->row, &found->about);
        else if (found->chosen == 0)
            status = briefs_fetch(client, &found->rooms, &found->meant);
    }
    client_close(client);
    if (status == 0 && rooms_are_empty(&found->rooms))
        return -ENODATA;
    return status;
}

/* That of the collectd that was asked: its own configuration is that of its own socket. */
static const struct usage *usage_of_collectd(const struct options *options, const struct here *here)
{
    const bool is_its =
        options->config != NULL || strcmp(options->socket, CLIENT_DEFAULT_SOCKET) == 0;

    return is_its && here->usage.path != NULL ? &here->usage : NULL;
}

/* Or has series of it, but none of them a value. */
static void describe_absence(const struct options *options, const struct here *here,
                             const struct found *found, char *text, size_t size)
{
    const struct usage *usage = usage_of_collectd(options, here);
    const struct backlog_seen seen = backlog_look(options->socket, found->newest);
    struct hr_reason reason;

    const enum backlog_state state =
        usage != NULL && usage->headroom.loaded
            ? backlog_explain_absence(usage, &seen, "the headroom plugin", &reason)
            : backlog_find(usage, &seen, &reason);
    if (state != BACKLOG_NONE)
        snprintf(text, size, "%s", reason.text);
    else if (found->rooms.count > 0)
        snprintf(text, size,
                 "collectd has no values of the headroom plugin yet: the first ones take an "
                 "interval or two; if they don't come, see collectd's log");
    else
        snprintf(text, size,
                 "collectd has no values of the headroom plugin yet: is `LoadPlugin headroom' in "
                 "its collectd.conf, as in " SAMPLES "/headroom.conf? The first values take an "
                 "interval or two");
}

static int report_failure(const char *title, int error, const struct options *options,
                          const struct here *here, const struct found *found)
{
    char text[1024];

    if (error == -ENODATA)
        describe_absence(options, here, found, text, sizeof(text));
    else
        unread_explain_silence(error, options->socket, options->config, text, sizeof(text));
    fprintf(stderr, "%s: %s\n", title, text);
    return COMMAND_FAILED;
}

/* What is printed is then old. */
static void report_backlog(const char *title, const struct options *options,
                           const struct here *here, double newest_s)
{
    const struct backlog_seen seen = backlog_look(options->socket, newest_s);
    struct hr_reason reason;

    if (backlog_find(usage_of_collectd(options, here), &seen, &reason) == BACKLOG_BEHIND)
        fprintf(stderr, "%s: %s\n", title, reason.text);
}

static bool has_row_without_room(const struct rooms *rooms)
{
    for (size_t i = 0; i < rooms->count; i++)
        if (isnan(rooms->rows[i].values[ROOM_LEAST]))
            return true;
    return false;
}

/* The smallest room isn't known before that by CPU time is. */
static void report_start(const char *title, const struct options *options, const struct here *here,
                         const struct found *found)
{
    const struct usage *usage = usage_of_collectd(options, here);
    const struct backlog_seen seen = backlog_look(options->socket, found->newest);
    struct hr_reason reason;

    if (usage != NULL && usage->headroom.loaded && has_row_without_room(&found->rooms) &&
        backlog_explain_absence(usage, &seen, "rooms", &reason) == BACKLOG_STARTED)
        fprintf(stderr,
                "%s: collectd was started %s ago: rooms by CPU time take 20 s, or two intervals, "
                "and the smallest are known with them\n",
                title, hr_quantity_seconds(fmax(seen.now_s - seen.started_s, 0)).text);
}

/* What is younger than MinAge is missing for that. */
static void describe_missing(const struct usage *usage, const struct found *found, char *text,
                             size_t size)
{
    const double min_age_s = usage != NULL ? usage->headroom.groups.min_age_s : 0;
    char names[512], young[80] = "";

    rooms_describe(&found->rooms, names, sizeof(names));
    if (min_age_s > 0)
        snprintf(young, sizeof(young), "; it has none of one younger than %.9g s, MinAge",
                 min_age_s);
    snprintf(text, size, "matches no group whose room collectd has (there are: %s%s)", names,
             young);
}

/* Its values are late, or the first ones aren't there yet. */
static void describe_late(const struct options *options, const struct usage *usage,
                          const struct found *found, const char *name, char *text, size_t size)
{
    const struct backlog_seen seen = backlog_look(options->socket, found->newest);
    struct hr_reason reason;

    switch (backlog_explain_absence(usage, &seen, name, &reason)) {
    case BACKLOG_BEHIND: /* how far, and what helps, was said before */
        snprintf(text, size,
                 "collectd has no values of %s for now, though the cgroup is there, as "
                 "collectd is behind",
                 name);
        break;
    case BACKLOG_NONE:
    case BACKLOG_OUTDATED:
    case BACKLOG_STARTED:
        snprintf(text, size, "%s", reason.text);
        break;
    case BACKLOG_UNEXPLAINED:
        snprintf(text, size,
                 "collectd has no values of %s yet, though the cgroup is there: the first take an "
                 "interval or two after %s; if they don't come, see collectd's log",
                 name,
                 usage->headroom.groups.min_age_s > 0 ? "MinAge, from when it was made"
                                                      : "it was made");
        break;
    }
}

/* Of a cgroup that is there, why no values of it come. */
static void describe_ignored(bool populated, const struct found *found, char *text, size_t size)
{
    char names[512];

    rooms_describe(&found->rooms, names, sizeof(names));
    snprintf(text, size, "%s, so that collectd has no room of it (it has that of: %s)",
             populated ? "is there, but no Cgroup line of the headroom plugin selects it"
                       : "is there, but no process is in it",
             names);
}

static void describe_unknown(const struct options *options, const struct here *here,
                             const struct found *found, char *text, size_t size)
{
    const struct usage *usage = usage_of_collectd(options, here);
    const bool is_used = usage != NULL && usage->headroom.loaded;
    char name[HR_INSTANCE_SIZE], missing[700];
    bool populated;

    if (is_used &&
        places_find_absent(here->root, usage, &found->places, found->missing, name) == 0) {
        describe_late(options, usage, found, name, text, size);
        return;
    }
    if (is_used && group_is_populated(here->root, found->missing, &populated) == 0)
        describe_ignored(populated, found, missing, sizeof(missing));
    else
        describe_missing(usage, found, missing, sizeof(missing));
    snprintf(text, size, "'%s' %s", found->missing, missing);
}

static int fail_by_choice(const char *title, const struct options *options, const struct here *here,
                          const struct found *found)
{
    char text[1000];

    if (found->chosen == -ENOTUNIQ) {
        group_describe_several(found->missing, &found->meant, text, sizeof(text));
        fprintf(stderr, "%s: %s\n", title, text);
    } else if (found->chosen == -ENODEV) {
        describe_unknown(options, here, found, text, sizeof(text));
        fprintf(stderr, "%s: %s\n", title, text);
    } else {
        fprintf(stderr, "%s: %s\n", title, strerror(-found->chosen));
    }
    return COMMAND_FAILED;
}

/* --- This machine ------------------------------------------------------------------------- */

/* collectd's own configuration may be readable by root only; what was named must be there. */
static int read_usage(const char *title, const char *path, struct usage *usage)
{
    struct config_fault fault;

    int status = usage_read(path, usage, &fault);
    if (status == 0 || path == NULL || usage->config.child_count > 0)
        return COMMAND_DONE;
    usage_report_fault(title, &fault, status);
    return COMMAND_MISUSED;
}

static int open_here(const char *title, const struct options *options, struct here *here)
{
    int status = read_usage(title, options->config, &here->usage);

    if (status != COMMAND_DONE)
        return status;
    const char *path = options->root != NULL      ? options->root
                       : here->usage.root != NULL ? here->usage.root
                                                  : "/";
    int failure = hr_root_open(path, &here->root);
    if (failure == 0) {
        hr_descriptor_raise_limit(0); /* as the plugin does */
        return COMMAND_DONE;
    }
    fprintf(stderr, "%s: can't use %s as root directory: %s\n", title, path, strerror(-failure));
    return COMMAND_MISUSED;
}

static void close_here(struct here *here)
{
    hr_root_close(here->root);
    usage_free(&here->usage);
}

/* --- All ------------------------------------------------------------------------------------ */

/* Not by whoever reads rows; and of another collectd's socket, which may be there for this call
 * only, the hint would be wrong. */
static bool may_ask_more(const struct options *options)
{
    return isatty(STDOUT_FILENO) && strcmp(options->socket, CLIENT_DEFAULT_SOCKET) == 0;
}

static int print_rooms(const char *title, const struct options *options, const struct rooms *rooms,
                       const struct group *about)
{
    const int width = output_width(INT_MAX);

    if (options->json)
        return output_finish(title, rooms_print_json(stdout, rooms, about));
    int status = rooms_print_table(stdout, rooms, width);
    if (status == 0 && about != NULL)
        status = group_print(stdout, &rooms->rows[0], about, width);
    else if (status == 0 && may_ask_more(options))
        puts("\nheadroom report GROUP: everything about one of them");
    return output_finish(title, status != 0 ? status : output_flush(stdout));
}

/* Of groups that have a profile whether it shows their need; of the only group everything. */
static int read_groups(const char *title, const struct here *here, struct found *found)
{
    struct rooms *rooms = &found->rooms;
    int failure = profiles_check(here->root, &here->usage, &found->places, &found->meant, rooms);

    if (failure == 0 && found->row < rooms->count)
        failure =
            group_read(here->root, &here->usage, rooms, &found->places, found->row, &found->about);
    else if (failure == 0)
        failure = briefs_read(here->root, &here->usage, &found->places, rooms);
    if (failure == 0)
        return COMMAND_DONE;
    fprintf(stderr, "%s: can't read the group: %s\n", title, strerror(-failure));
    return COMMAND_FAILED;
}

static int show_rooms(const char *title, const struct options *options, const struct here *here,
                      struct found *found)
{
    struct rooms *rooms = &found->rooms;
    const bool is_one = found->row < rooms->count;

    report_backlog(title, options, here, found->newest);
    if (found->chosen != 0)
        return fail_by_choice(title, options, here, found);
    const int status = read_groups(title, here, found);
    if (status != COMMAND_DONE)
        return status;
    rooms_keep(rooms, &found->meant);
    rooms_sort(rooms, options->sort);
    report_start(title, options, here, found);
    return print_rooms(title, options, rooms, is_one ? &found->about : NULL);
}

static int report_rooms(const char *title, const struct options *options, char *const *wanted,
                        size_t count)
{
    struct here here = {.root = NULL};
    struct found found = {.rooms = {.rows = NULL}};

    int status = open_here(title, options, &here);
    if (status == COMMAND_DONE) {
        const int failure = fetch(options, &here, wanted, count, &found);
        status = failure != 0 ? report_failure(title, failure, options, &here, &found)
                              : show_rooms(title, options, &here, &found);
    }
    group_free(&found.about);
    group_patterns_free(&found.meant);
    places_free(&found.places);
    rooms_free(&found.rooms);
    close_here(&here);
    return status;
}

int report_main(int argc, char **argv)
{
    struct options options = {.socket = CLIENT_DEFAULT_SOCKET, .sort = ROOM_LEAST};

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
    return report_rooms(argv[0], &options, argv + optind, (size_t)(argc - optind));
}
