/* SPDX-License-Identifier: MIT */
#include "doctor/doctor.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/output.h"
#include "common/usage.h"
#include "doctor/checks.h"
#include "headroom/descriptor.h"

/* Longer lines are hard to read. */
#define WIDTH_MAX 100

struct plugin {
    const char *name;
    void (*check)(const struct hr_root *root, struct findings *findings);
};

static const struct plugin plugins[] = {
    {"psi", doctor_check_psi},
    {"cgroup_perf", doctor_check_cgroup_perf},
    {"wss", doctor_check_wss},
    {"osnoise", doctor_check_osnoise},
};

#define PLUGIN_COUNT (sizeof(plugins) / sizeof(plugins[0]))

struct options {
    const char *root;
    bool json;
    bool wanted[PLUGIN_COUNT];
};

static void print_help(void)
{
    fputs(
        "Usage: headroom doctor [OPTION]... [PLUGIN]...\n\n"
        "Tries what each plugin needs of this machine, and reports what works, and for what\n"
        "doesn't, the cause and the remedy. Nothing is changed. Run it as the user that collectd\n"
        "runs as.\n\n"
        "Plugins (default: all):",
        stdout);
    for (size_t i = 0; i < PLUGIN_COUNT; i++)
        printf(" %s", plugins[i].name);
    fputs(
        "\n\nOptions:\n"
        "  --root PATH  where the host's / is mounted, as the plugins' option Root; default /\n"
        "  --json       print JSON\n"
        "  --help       show this\n\n"
        "The exit status is 0 if nothing is lacking, 1 if something is, 2 for an invalid command\n"
        "line.\n",
        stdout);
}

/* --- Options -------------------------------------------------------------- */

static int select_plugin(const char *title, const char *name, struct options *options)
{
    for (size_t i = 0; i < PLUGIN_COUNT; i++) {
        if (strcmp(plugins[i].name, name) == 0) {
            options->wanted[i] = true;
            return COMMAND_DONE;
        }
    }
    fprintf(stderr, "%s: unknown plugin '%s'; the plugins are", title, name);
    for (size_t i = 0; i < PLUGIN_COUNT; i++)
        fprintf(stderr, "%s %s", i > 0 ? "," : "", plugins[i].name);
    putc('\n', stderr);
    return COMMAND_MISUSED;
}

/* Without names: all. */
static int select_plugins(const char *title, char **names, struct options *options)
{
    for (size_t i = 0; *names == NULL && i < PLUGIN_COUNT; i++)
        options->wanted[i] = true;
    for (; *names != NULL; names++)
        if (select_plugin(title, *names, options) != COMMAND_DONE)
            return COMMAND_MISUSED;
    return COMMAND_DONE;
}

/* Returns COMMAND_DONE, COMMAND_MISUSED, or -1 for --help. */
static int parse_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"root", required_argument, NULL, 'r'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (option == 'h')
            return -1;
        if (option == 'j')
            options->json = true;
        else if (option == 'r')
            options->root = optarg;
        else /* getopt_long() has named the option */
            return COMMAND_MISUSED;
    }
    return select_plugins(argv[0], argv + optind, options);
}

/* --- Output --------------------------------------------------------------- */

static struct findings_style find_style(void)
{
    struct findings_style style = {.width = 0};
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    struct winsize size = {0};

    if (!isatty(STDOUT_FILENO))
        return style;
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    style.width = size.ws_col > 0 && size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
    style.brief = true;
    style.colours = (no_color == NULL || no_color[0] == '\0') && terminal != NULL &&
                    strcmp(terminal, "dumb") != 0;
    return style;
}

static void print_summary(const struct findings *findings)
{
    const struct findings_counts counts = findings_count(findings);

    printf("\n%zu of %zu facilities work", counts.of[FINDING_WORKS], findings->count);
    if (counts.of[FINDING_LACKS] > 0)
        printf(", %zu lack something", counts.of[FINDING_LACKS]);
    if (counts.of[FINDING_UNTRIED] > 0)
        printf(", %zu can't be tried", counts.of[FINDING_UNTRIED]);
    printf(" (as user %u).\n", (unsigned)geteuid());
}

/* @return a negative errno of writing. */
static int print_all(const struct findings *findings, bool json)
{
    const struct findings_style style = find_style();

    if (json)
        return findings_print_json(stdout, findings);
    int status = findings_print(stdout, findings, &style);
    if (status < 0)
        return status;
    print_summary(findings);
    return output_flush(stdout);
}

static int check_plugins(const char *title, const struct options *options)
{
    struct findings findings = {.count = 0};
    struct hr_root *root;

    int status = hr_root_open(options->root, &root);
    if (status < 0) {
        fprintf(stderr, "%s: can't use %s as root directory: %s\n", title, options->root,
                strerror(-status));
        return COMMAND_MISUSED;
    }
    hr_descriptor_raise_limit(0); /* as each plugin does */
    for (size_t i = 0; i < PLUGIN_COUNT; i++) {
        if (!options->wanted[i])
            continue;
        findings.plugin = plugins[i].name;
        plugins[i].check(root, &findings);
    }
    hr_root_close(root);
    if (output_finish(title, print_all(&findings, options->json)) != COMMAND_DONE)
        return COMMAND_FAILED;
    return findings_count(&findings).of[FINDING_LACKS] > 0 ? COMMAND_FAILED : COMMAND_DONE;
}

int doctor_main(int argc, char **argv)
{
    struct options options = {.root = "/"};
    int status = parse_options(argc, argv, &options);

    if (status == COMMAND_DONE)
        return check_plugins(argv[0], &options);
    if (status != -1)
        return status;
    print_help();
    return output_finish(argv[0], output_flush(stdout));
}
