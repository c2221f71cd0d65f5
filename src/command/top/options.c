/* SPDX-License-Identifier: MIT */
#include "top/options.h"

#include <getopt.h>
#include <stdio.h>

#include "common/client.h"
#include "common/numbers.h"
#include "common/usage.h"

static const double interval_min = 0.1, interval_max = 3600;

static void print_sort_keys(FILE *out)
{
    struct sort_key keys[SORT_KEY_MAX];
    size_t count = sort_keys(keys);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "", keys[i].name);
}

static void print_column(const struct column *column)
{
    printf("  %-18s %-18s ", column->key, column->unit);
    if (column->plugin[0] == '\0')
        printf("the cgroups of this machine\n");
    else
        printf("%s-GROUP/%s%s%s\n", column->plugin, column->type,
               column->type_instance[0] ? "-" : "", column->type_instance);
}

void top_options_print_help(void)
{
    printf("Usage: headroom top [OPTION]...\n"
           "\n"
           "Shows the values that a running collectd has from headroom's plugins: in a live\n"
           "table with a row for each group, or in plain lines where standard output is not\n"
           "a terminal.\n"
           "\n"
           "  --socket FILE       collectd's socket, the unixsock plugin's SocketFile\n"
           "                      (default: " CLIENT_DEFAULT_SOCKET ")\n"
           "  --sort KEY          what to sort by, one of\n    ");
    print_sort_keys(stdout);
    printf("\n"
           "                      (default: pressure: by \"full\", then by \"some\")\n"
           "  --interval SECONDS  between refreshes, %g to %g (default: 1)\n"
           "  --alerts FILE       also show the latest notifications of headroom's plugins;\n"
           "                      FILE is the log that collectd's logfile plugin writes\n"
           "                      (default: collectd's own, on a terminal)\n"
           "  --config FILE       collectd's configuration, for the log, and for patterns\n"
           "                      that match no cgroup (default: collectd's own, with the\n"
           "                      default socket)\n"
           "  --once              print the table once and exit\n"
           "  --json              print a line of JSON for each refresh\n"
           "  --help              show this help\n"
           "\n"
           "Columns, by their names in JSON and plain lines:\n",
           interval_min, interval_max);
    for (size_t i = 0; i < column_count; i++)
        print_column(&columns[i]);
    printf("\nThe group \"" SYSTEM_GROUP "\" is the whole machine");
    for (size_t i = 0; i < column_count; i++) {
        if (columns[i].not_of_system)
            printf("; it has no %s", columns[i].key);
    }
    printf(".\nA value collectd doesn't have is shown as -.\n");
}

static int parse_socket(const char *title, const char *path, struct top_options *options)
{
    options->socket = path;
    return client_check_path(title, path);
}

static int parse_sort(const char *title, const char *name, struct top_options *options)
{
    if (sort_key_find(name, 0, &options->sort) == 0)
        return COMMAND_DONE;
    fprintf(stderr, "%s: --sort takes one of ", title);
    print_sort_keys(stderr);
    fprintf(stderr, ", not '%s'\n", name);
    return COMMAND_MISUSED;
}

static int parse_interval(const char *title, const char *text, struct top_options *options)
{
    if (number_parse_decimal(text, interval_min, interval_max, &options->interval) == 0)
        return COMMAND_DONE;
    return command_misused(title, "--interval takes seconds from %g to %g, such as 0.5, not '%s'",
                           interval_min, interval_max, text);
}

static int parse_alerts(const char *title, const char *path, struct top_options *options)
{
    if (path[0] == '\0')
        return command_misused(title, "--alerts takes the path of a log file, not '%s'", path);
    options->alerts = path;
    return COMMAND_DONE;
}

int top_options_parse(int argc, char **argv, struct top_options *options)
{
    static const struct option known[] = {
        {"socket", required_argument, NULL, 's'},
        {"sort", required_argument, NULL, 'k'},
        {"interval", required_argument, NULL, 'i'},
        {"alerts", required_argument, NULL, 'a'},
        {"config", required_argument, NULL, 'c'},
        {"once", no_argument, NULL, 'o'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int option, status = COMMAND_DONE;

    *options = (struct top_options){.socket = CLIENT_DEFAULT_SOCKET, .interval = 1};
    sort_key_find("pressure", 0, &options->sort);
    while (status == COMMAND_DONE && (option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (option == 's')
            status = parse_socket(argv[0], optarg, options);
        else if (option == 'k')
            status = parse_sort(argv[0], optarg, options);
        else if (option == 'i')
            status = parse_interval(argv[0], optarg, options);
        else if (option == 'a')
            status = parse_alerts(argv[0], optarg, options);
        else if (option == 'c')
            options->config = optarg;
        else if (option == 'o')
            options->once = true;
        else if (option == 'j')
            options->json = true;
        else if (option == 'h')
            status = -1;
        else /* getopt_long() has named the option */
            return COMMAND_MISUSED;
    }
    if (status == COMMAND_DONE && optind < argc)
        status = command_misused(argv[0], "unexpected argument '%s'", argv[optind]);
    return status;
}
