/* SPDX-License-Identifier: MIT */
#include "doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/output.h"
#include "common/usage.h"
#include "configured/unread.h"
#include "doctor/cgroups.h"
#include "doctor/checks.h"
#include "doctor/costs.h"
#include "doctor/isolation.h"
#include "headroom/descriptor.h"

/* Of lines; longer ones are hard to read. */
#define WIDTH     80
#define WIDTH_MAX 100

struct plugin {
    const char *name;
    void (*check)(const struct hr_root *root, const struct usage *usage, struct findings *findings);
};

static const struct plugin plugins[] = {
    {"psi", doctor_check_psi},           {"cgroup_perf", doctor_check_cgroup_perf},
    {"wss", doctor_check_wss},           {"osnoise", doctor_check_osnoise},
    {"headroom", doctor_check_headroom},
};

#define PLUGIN_COUNT (sizeof(plugins) / sizeof(plugins[0]))
_Static_assert(PLUGIN_COUNT == COSTS_PLUGINS, "in one order");
_Static_assert(PLUGIN_COUNT == CGROUPS_PLUGIN_COUNT, "all select cgroups, or none");

bool doctor_is_plugin(const char *name)
{
    size_t i = 0;

    while (i < PLUGIN_COUNT && strcasecmp(plugins[i].name, name) != 0)
        i++;
    return i < PLUGIN_COUNT;
}

struct options {
    const char *root, *config; /* NULL: as configured; collectd's own */
    const char *cpus;          /* to be left alone; NULL: the plugins are examined */
    struct hr_cpu_choice cpu_choice;
    bool is_unread; /* collectd's own can't be */
    bool json, all, cgroups;
    bool named; /* plugins are */
    bool wanted[PLUGIN_COUNT], wants_exec;
};

/* collectd's own, which runs programs for notifications. */
#define EXEC "exec"

static void print_help(void)
{
    fputs("Usage: headroom doctor [OPTION]... [PLUGIN]...\n"
          "       headroom doctor --cpus LIST [--all] [--root PATH] [--json]\n\n"
          "Tries what collectd's configuration uses of this machine, and reports what\n"
          "it costs, and what works, and for what doesn't, the cause and the remedy; the\n"
          "verdict is last. Without a configuration that loads headroom's plugins, all\n"
          "their features are tried. Nothing is changed. Run it as the user that collectd\n"
          "runs as.\n\n"
          "Plugins (default: all; exec is collectd's, which runs programs for alerts):\n ",
          stdout);
    for (size_t i = 0; i < PLUGIN_COUNT; i++)
        printf(" %s", plugins[i].name);
    fputs(" " EXEC "\n\nOptions:\n"
          "  --config FILE  the configuration; default collectd's own, such as\n"
          "                 /etc/collectd/collectd.conf\n"
          "  --all          list also what isn't used, and on a terminal what works, as\n"
          "                 with plugins that are named\n"
          "  --cgroups      list the cgroups that are selected, with their names in series;\n"
          "                 those that aren't; and patterns that match nothing\n"
          "  --cpus LIST    instead of plugins, examine these CPUs, which are to be left\n"
          "                 alone: isolated, !isolated, nohz_full, or a list such as\n"
          "                 2-3,8: what disturbs them, and the commands that move it\n"
          "                 elsewhere\n"
          "  --root PATH    where the host's / is mounted; default the plugins' option\n"
          "                 Root, or /\n"
          "  --json         print JSON\n"
          "  --help         show this\n"
          "\n"
          "The exit status is 0 if everything that is used and can be tried works, 1 if\n"
          "something doesn't, 2 for an invalid command line, or if nothing of the\n"
          "configuration can be read, and 3 if the configuration has a mistake.\n",
          stdout);
}

/* --- Options -------------------------------------------------------------- */

static int select_plugin(const char *title, const char *name, struct options *options)
{
    if (strcmp(name, EXEC) == 0) {
        options->wants_exec = true;
        return COMMAND_DONE;
    }
    for (size_t i = 0; i < PLUGIN_COUNT; i++) {
        if (strcmp(plugins[i].name, name) == 0) {
            options->wanted[i] = true;
            return COMMAND_DONE;
        }
    }
    fprintf(stderr, "%s: unknown plugin '%s'; the plugins are ", title, name);
    for (size_t i = 0; i < PLUGIN_COUNT; i++)
        fprintf(stderr, "%s, ", plugins[i].name);
    fputs("and collectd's " EXEC "\n", stderr);
    return COMMAND_MISUSED;
}

/* Without names: all. */
static int select_plugins(const char *title, char **names, struct options *options)
{
    options->named = *names != NULL;
    options->wants_exec = !options->named;
    for (size_t i = 0; *names == NULL && i < PLUGIN_COUNT; i++)
        options->wanted[i] = true;
    for (; *names != NULL; names++)
        if (select_plugin(title, *names, options) != COMMAND_DONE)
            return COMMAND_MISUSED;
    return COMMAND_DONE;
}

/* @param plugin  the first one named; NULL: none. */
static int parse_cpus(const char *title, const char *plugin, struct options *options)
{
    if (options->cgroups || options->config != NULL || plugin != NULL)
        return command_misused(title,
                               "--cpus examines CPUs, not plugins: it goes with --all, --root "
                               "and --json only");
    int status = hr_cpu_choice_parse(options->cpus, &options->cpu_choice);
    if (status == -ERANGE)
        return command_misused(title, "--cpus takes numbers below %d, not '%s'", HR_CPU_MAX,
                               options->cpus);
    if (status < 0)
        return command_misused(title,
                               "--cpus takes a list such as 2-3,8, or isolated, !isolated or "
                               "nohz_full, not '%s'",
                               options->cpus);
    return COMMAND_DONE;
}

/* Returns COMMAND_DONE, COMMAND_MISUSED, or -1 for --help. */
static int parse_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"config", required_argument, NULL, 'c'}, {"all", no_argument, NULL, 'a'},
        {"cgroups", no_argument, NULL, 'g'},      {"cpus", required_argument, NULL, 'p'},
        {"root", required_argument, NULL, 'r'},   {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},         {0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        if (option == 'h')
            return -1;
        if (option == 'j')
            options->json = true;
        else if (option == 'a')
            options->all = true;
        else if (option == 'g')
            options->cgroups = true;
        else if (option == 'c')
            options->config = optarg;
        else if (option == 'p')
            options->cpus = optarg;
        else if (option == 'r')
            options->root = optarg;
        else /* getopt_long() has named the option */
            return COMMAND_MISUSED;
    }
    if (options->json && options->cgroups) {
        fprintf(stderr, "%s: --cgroups has no JSON\n", argv[0]);
        return COMMAND_MISUSED;
    }
    if (options->cpus != NULL)
        return parse_cpus(argv[0], argv[optind], options);
    return select_plugins(argv[0], argv + optind, options);
}

/* --- Output --------------------------------------------------------------- */

/* Of plugins that are named, and with --all, the table lists what works. */
static struct findings_style find_style(const struct options *options)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    const int width = output_width(WIDTH);

    return (struct findings_style){
        .width = width < WIDTH_MAX ? (size_t)width : WIDTH_MAX,
        .colours = (no_color == NULL || no_color[0] == '\0') && terminal != NULL &&
                   strcmp(terminal, "dumb") != 0,
        .works = options->all || options->named,
        .unused = options->all,
    };
}

/* Who has no name has a number: "nobody", "user 1234". */
static void name_user(char *text, size_t size)
{
    const struct passwd *user = getpwuid(geteuid());

    if (user != NULL)
        snprintf(text, size, "%s", user->pw_name);
    else
        snprintf(text, size, "user %u", (unsigned)geteuid());
}

/* The verdict, in the last lines, where it is seen without scrolling. */
static void print_summary(const struct findings *findings, const struct usage *usage,
                          const struct findings_style *style)
{
    const struct findings_counts counts = findings_count(findings, NULL);
    const size_t *of = counts.of;
    const size_t tried =
        of[FINDING_WORKS] + of[FINDING_LACKS] + of[FINDING_UNTRIED] + of[FINDING_NOTE];
    char lacking[40] = "", untried[40] = "", noted[40] = "", user[48], text[224];

    if (of[FINDING_LACKS] > 0)
        snprintf(lacking, sizeof(lacking), ", %zu lack something", of[FINDING_LACKS]);
    if (of[FINDING_UNTRIED] > 0)
        snprintf(untried, sizeof(untried), ", %zu can't be tried", of[FINDING_UNTRIED]);
    if (of[FINDING_NOTE] > 0)
        snprintf(noted, sizeof(noted), ", %zu %s done without", of[FINDING_NOTE],
                 of[FINDING_NOTE] == 1 ? "is" : "are");
    name_user(user, sizeof(user));
    if (counts.unused > 0 && !style->unused)
        printf("%zu aren't used: --all lists them.\n", counts.unused);
    snprintf(text, sizeof(text), "%zu of %zu features %swork%s%s%s (as %s).", of[FINDING_WORKS],
             tried, usage->path != NULL ? "that are used " : "", lacking, untried, noted, user);
    if (tried > 0)
        output_fold(stdout, text, 0, style->width);
    if (of[FINDING_WRONG] > 0)
        printf("The configuration has %zu mistake%s.\n", of[FINDING_WRONG],
               of[FINDING_WRONG] == 1 ? "" : "s");
}

/* First of all, as what is below is then of a configuration that nobody meant. */
static void print_unread(const struct usage *usage, size_t width)
{
    struct unread unread;
    char text[PATH_MAX + 1024], remedy[256];

    unread_find(usage, &unread);
    if (unread.count == 0)
        return;
    unread_print_remedy(&unread, remedy, sizeof(remedy));
    snprintf(text, sizeof(text), "%s doesn't read %s in %s: %s.", usage->found, unread.names,
             unread.directory, remedy);
    output_fold(stdout, text, 0, width);
    putchar('\n');
}

/* That nothing is configured is said to programs, too, as all features count as used then. */
static void print_source(const struct options *options, const struct usage *usage, bool is_terminal,
                         size_t width)
{
    char text[512];

    print_unread(usage, width);
    if (usage->path != NULL) {
        if (is_terminal)
            printf("What %s uses:\n\n", usage->path);
        return;
    }
    if (options->is_unread)
        snprintf(text, sizeof(text), "The configuration can't be read, so everything is tried.");
    else if (usage->found == NULL)
        snprintf(text, sizeof(text),
                 "Nothing is configured: there is no configuration of collectd where it usually "
                 "is, such as /etc/collectd/collectd.conf, so everything is tried.");
    else
        snprintf(text, sizeof(text),
                 "Nothing is configured: %s loads none of headroom's plugins, so everything is "
                 "tried.",
                 options->config != NULL ? options->config : "collectd's configuration");
    output_fold(stdout, text, 0, width);
    putchar('\n');
}

static bool has_irq_pressure(const struct hr_root *root)
{
    int fd = hr_root_openat(root, "proc/pressure/irq", O_RDONLY);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Leaves those of the plugins that are wanted. @return whether there are any */
static bool select_costs(const struct options *options, struct costs costs[COSTS_PLUGINS])
{
    bool any = false;

    for (size_t i = 0; i < COSTS_PLUGINS; i++) {
        if (!options->wanted[i])
            costs[i].plugin = NULL;
        any |= costs[i].plugin != NULL;
    }
    return any;
}

static void print_costs(const struct options *options, const struct hr_root *root,
                        const struct usage *usage, size_t width)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct cgroups_of_plugin of[CGROUPS_PLUGIN_COUNT];
    struct costs costs[COSTS_PLUGINS];
    struct costs_of_target *targets;
    struct doctor_events events;

    if (usage->path == NULL)
        return;
    cgroups_find_selections(usage, of);
    const size_t target_count = doctor_wss_targets(root, &of[2], &usage->wss, &targets);
    doctor_find_events(root, &usage->perf, &events);
    costs_calculate(usage,
                    &(struct costs_of_machine){
                        .cpus = cpus > 0 ? (size_t)cpus : 1,
                        .has_irq_pressure = has_irq_pressure(root),
                        .psi_groups = cgroups_count(root, &of[0]),
                        .perf_groups = cgroups_count(root, &of[1]),
                        .perf_cpus = events.cpu_count,
                        .perf_clocks = events.clock_count,
                        .headroom_groups = cgroups_count(root, &of[4]),
                        .perf_events = events.texts,
                        .perf_choice = &events.choice,
                        .perf_obstacle = &events.obstacle,
                        .perf_bpf_bytes = events.bpf_bytes,
                        .perf_exception_files = events.exception_files,
                        .wss_targets = targets,
                        .wss_target_count = target_count,
                    },
                    costs);
    free(targets);
    free(events.texts.list);
    if (!select_costs(options, costs))
        return;
    costs_print(stdout, root, usage, costs, width);
    putchar('\n');
}

/* @return a negative errno of writing. */
static int print_all(const struct findings *findings, const struct options *options,
                     const struct hr_root *root, const struct usage *usage)
{
    const bool is_terminal = isatty(STDOUT_FILENO);
    const struct findings_style style = find_style(options);

    if (options->json)
        return findings_print_json(stdout, findings);
    print_source(options, usage, is_terminal, style.width);
    print_costs(options, root, usage, style.width);
    int status = is_terminal ? findings_print_table(stdout, findings, &style)
                             : findings_print_lines(stdout, findings, options->all);
    if (status < 0)
        return status;
    print_summary(findings, usage, &style);
    return output_flush(stdout);
}

/* --- Checks --------------------------------------------------------------- */

static bool is_loaded(const struct usage *usage, size_t plugin)
{
    const bool loaded[PLUGIN_COUNT] = {usage->psi.loaded, usage->perf.loaded, usage->wss.loaded,
                                       usage->osnoise.loaded, usage->headroom.loaded};

    return loaded[plugin];
}

/* A plugin that is named is tried as a whole if the configuration doesn't load it. */
static enum findings_judgement judge(const struct options *options, const struct usage *usage,
                                     size_t plugin)
{
    if (usage->path != NULL && is_loaded(usage, plugin))
        return FINDINGS_AS_CONFIGURED;
    return usage->path == NULL || options->named ? FINDINGS_ALL : FINDINGS_NONE;
}

static void check_plugins(const struct options *options, const struct hr_root *root,
                          const struct usage *usage, struct findings *findings)
{
    struct cgroups_of_plugin of[CGROUPS_PLUGIN_COUNT];

    cgroups_find_selections(usage, of);
    hr_descriptor_raise_limit(0); /* as each plugin does */
    findings_begin(findings, "collectd", FINDINGS_ALL);
    doctor_check_configuration(usage, NULL, findings);
    if (usage->path != NULL)
        doctor_check_receivers(usage, findings);
    /* Another root directory may be that of a host whose name isn't ours. */
    if (usage->path != NULL && options->root == NULL) {
        doctor_check_host_name(usage, findings);
        doctor_check_writers(usage, findings);
    }
    for (size_t i = 0; i < PLUGIN_COUNT; i++) {
        if (!options->wanted[i])
            continue;
        findings_begin(findings, plugins[i].name, judge(options, usage, i));
        plugins[i].check(root, usage, findings);
        findings_use(findings, true);
        doctor_check_configuration(usage, plugins[i].name, findings);
        if (findings->judgement == FINDINGS_AS_CONFIGURED && of[i].selection != NULL)
            cgroups_check(root, &of[i], findings);
    }
    findings_begin(findings, EXEC, FINDINGS_ALL);
    if (options->wants_exec)
        doctor_check_handlers(usage, options->named, findings);
}

static int print_cgroups(const char *title, const struct options *options,
                         const struct hr_root *root, const struct usage *usage)
{
    struct cgroups_of_plugin of[CGROUPS_PLUGIN_COUNT], selecting[PLUGIN_COUNT];
    size_t count = 0;

    for (size_t i = 0; i < usage->faults.count; i++)
        usage_report_fault(title, &usage->faults.list[i], usage->faults.list[i].status);
    cgroups_find_selections(usage, of);
    for (size_t i = 0; i < PLUGIN_COUNT; i++)
        if (options->wanted[i] && of[i].selection != NULL && of[i].selection->patterns.count > 0)
            selecting[count++] = of[i];
    return cgroups_print(stdout, root, selecting, count);
}

/* What the configuration has wrong is the operator's to correct, and comes before what the machine
 * lacks. */
static int find_status(const struct findings *findings)
{
    const struct findings_counts counts = findings_count(findings, NULL);

    if (counts.of[FINDING_WRONG] > 0)
        return COMMAND_MISCONFIGURED;
    return counts.of[FINDING_LACKS] > 0 ? COMMAND_FAILED : COMMAND_DONE;
}

static int report(const char *title, const struct options *options, const struct hr_root *root,
                  const struct usage *usage)
{
    struct findings findings = {.tries_unused = options->all};

    if (options->cgroups)
        return output_finish(title, print_cgroups(title, options, root, usage));
    check_plugins(options, root, usage, &findings);
    if (output_finish(title, print_all(&findings, options, root, usage)) != COMMAND_DONE)
        return COMMAND_FAILED;
    return find_status(&findings);
}

static int report_in_root(const char *title, const struct options *options,
                          const struct usage *usage)
{
    const char *path = options->root != NULL ? options->root
                       : usage->root != NULL ? usage->root
                                             : "/";
    struct hr_root *root;

    int status = hr_root_open(path, &root);
    /* That of the configuration is among the findings. */
    if (status < 0 && options->root == NULL)
        status = hr_root_open("/", &root);
    if (status < 0) {
        fprintf(stderr, "%s: can't use %s as root directory: %s\n", title, path, strerror(-status));
        return COMMAND_MISUSED;
    }
    status = report(title, options, root, usage);
    hr_root_close(root);
    return status;
}

/* --- CPUs ------------------------------------------------------------------ */

static int print_cpus(const struct findings *findings, const struct options *options)
{
    const struct findings_style style = find_style(options);
    char summary[128], user[48], text[224];

    if (options->json)
        return findings_print_json(stdout, findings);
    int status = isatty(STDOUT_FILENO) ? findings_print_table(stdout, findings, &style)
                                       : findings_print_lines(stdout, findings, options->all);
    if (status < 0)
        return status;
    isolation_summarize(findings, summary, sizeof(summary));
    name_user(user, sizeof(user));
    snprintf(text, sizeof(text), "%s (as %s).", summary, user);
    output_fold(stdout, text, 0, style.width);
    return output_flush(stdout);
}

static int examine_cpus(const char *title, const struct options *options,
                        const struct hr_root *root)
{
    struct findings findings = {.plugin = NULL};
    struct hr_reason reason;

    findings_begin(&findings, "cpus", FINDINGS_ALL);
    if (isolation_check(root, &options->cpu_choice, &findings, &reason) < 0) {
        fprintf(stderr, "%s: %s\n", title, reason.text);
        return COMMAND_FAILED;
    }
    if (output_finish(title, print_cpus(&findings, options)) != COMMAND_DONE)
        return COMMAND_FAILED;
    return find_status(&findings);
}

/* No configuration matters. */
static int examine_cpus_in_root(const char *title, const struct options *options)
{
    const char *path = options->root != NULL ? options->root : "/";
    struct hr_root *root;

    int status = hr_root_open(path, &root);
    if (status < 0) {
        fprintf(stderr, "%s: can't use %s as root directory: %s\n", title, path, strerror(-status));
        return COMMAND_MISUSED;
    }
    status = examine_cpus(title, options, root);
    hr_root_close(root);
    return status;
}

/* --- All ------------------------------------------------------------------- */

/* What of it can be read is judged. collectd's own may be readable by root only, and then says
 * nothing of what is used. */
static int read_usage(const char *title, struct options *options, struct usage *usage)
{
    struct config_fault fault;
    int status = usage_read(options->config, usage, &fault);

    if (status == 0 || usage->config.child_count > 0)
        return COMMAND_DONE;
    usage_report_fault(title, &fault, status);
    options->is_unread = true;
    return options->config == NULL ? COMMAND_DONE : COMMAND_MISUSED;
}

int doctor_main(int argc, char **argv)
{
    struct options options = {.root = NULL};
    int status = parse_options(argc, argv, &options);
    struct usage usage;

    if (status == -1) {
        print_help();
        return output_finish(argv[0], output_flush(stdout));
    }
    if (status != COMMAND_DONE)
        return status;
    if (options.cpus != NULL)
        return examine_cpus_in_root(argv[0], &options);
    status = read_usage(argv[0], &options, &usage);
    if (status == COMMAND_DONE)
        status = report_in_root(argv[0], &options, &usage);
    usage_free(&usage);
    return status;
}
