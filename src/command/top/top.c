/* SPDX-License-Identifier: MIT */
#include "top/top.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/client.h"
#include "common/output.h"
#include "common/usage.h"
#include "common/waiting.h"
#include "configured/backlog.h"
#include "configured/selected.h"
#include "configured/unread.h"
#include "configured/used_features.h"
#include "headroom/clock.h"
#include "headroom/root.h"
#include "top/alerts.h"
#include "top/columns.h"
#include "top/configuration.h"
#include "top/memory.h"
#include "top/missing.h"
#include "top/options.h"
#include "top/others.h"
#include "top/print.h"
#include "top/screen.h"
#include "top/table.h"
#include "top/takers.h"

enum {
    ANSWER_TIMEOUT_S = 5, /* seconds until a message says that collectd does not answer */
    EMPTY_READS_MAX = 3   /* reads without a key from a readable terminal: it is gone */
};

/* One run. */
struct top {
    const char *title; /* begins each message */
    struct top_options options;
    struct client *client; /* NULL: not connected */
    bool was_away;         /* collectd, since the configuration was read */
    struct screen *screen; /* NULL: lines or JSON */
    struct table table;
    struct known_series known;     /* all zeros: not asked for, with the alerts */
    struct hr_root *root;          /* NULL: cgroups can't be read */
    struct memory_reader *memory;  /* NULL: the same */
    double newest;                 /* of the values that collectd has; NaN: it has none */
    char problem[1024];            /* why the table can't be shown; "" if it can */
    int problem_error;             /* of the same; 0 for none */
    struct unread_silence silence; /* why collectd can't be asked, as it was explained last */
    enum backlog_state absence;    /* why there are no values, if that is it */
    char late[1024];               /* that collectd is behind; "" if it isn't */
    struct expected_groups expected;
    size_t missing;           /* groups that have no row, as is said; 0: none, or not known */
    char incomplete[256];     /* that they are missing; "" if none is */
    struct alerts *alerts;    /* NULL: not asked for */
    char alerts_problem[512]; /* why the log file can't be read; "" if it can */
    struct configuration *configuration; /* NULL: the configuration isn't known */
    char lack[900]; /* of groups, and what helps; "" if none is missing, or late */
    int empty_reads;
    bool help;             /* shown instead of the table */
    sigset_t waiting_mask; /* signals are handled only in ppoll() */
};

static volatile sig_atomic_t ending_signal;

static void on_signal(int number)
{
    ending_signal = number;
}

static double seconds_now(void)
{
    return (double)hr_clock_ns() / HR_NS_PER_S;
}

/* --- Showing -------------------------------------------------------------- */

static void describe_alerts_problem(int error, const char *file, char *text, size_t size)
{
    if (error == 0)
        text[0] = '\0';
    else if (error == -ENOENT)
        snprintf(text, size, "%s does not exist: is it the File of collectd's logfile plugin?",
                 file);
    else if (error == -EINVAL)
        snprintf(text, size, "cannot read %s: it is not a regular file", file);
    else
        snprintf(text, size, "cannot read %s: %s", file, strerror(-error));
}

/* Reads what was logged since the last time; NULL without --alerts. Reports a problem once. */
static const struct alert_list *read_alerts(struct top *top)
{
    if (top->alerts == NULL)
        return NULL;
    char text[sizeof(top->alerts_problem)];
    const char *file = top->options.alerts;
    describe_alerts_problem(alerts_read(top->alerts, &top->known, top->memory), file, text,
                            sizeof(text));
    if (top->screen == NULL && strcmp(text, top->alerts_problem) != 0) {
        if (text[0] != '\0')
            fprintf(stderr, "%s: no alerts: %s\n", top->title, text);
        else
            fprintf(stderr, "%s: reading alerts from %s\n", top->title, file);
    }
    memcpy(top->alerts_problem, text, sizeof(text));
    alerts_mark(top->alerts, &top->table);
    return alerts_found(top->alerts);
}

static void draw_screen(struct top *top)
{
    char late[sizeof(top->incomplete) + sizeof(top->late) + 2];

    snprintf(late, sizeof(late), "%s%s%s", top->incomplete,
             top->incomplete[0] != '\0' && top->late[0] != '\0' ? ". " : "", top->late);
    const struct screen_view view = {
        .alerts = read_alerts(top),
        .alerts_file = top->options.alerts,
        .alerts_problem = top->alerts_problem,
        .table = &top->table,
        .problem = top->problem,
        .late = late,
        .missing = top->missing,
        .lack = top->lack,
        .socket = top->options.socket,
        .sort = &top->options.sort,
        .help = top->help,
    };
    screen_draw(top->screen, &view);
}

/* A reader sees a table, and programs what collectd has. */
static bool has_reader(const struct top *top)
{
    return top->screen != NULL ||
           (top->options.once && !top->options.json && isatty(STDOUT_FILENO));
}

/* Returns 0, or the negative errno of writing. */
static int show_table(struct top *top)
{
    if (top->screen != NULL) {
        draw_screen(top);
        return 0;
    }
    const struct alert_list *alerts = read_alerts(top);
    if (top->options.json)
        return print_json(stdout, &top->table, alerts);
    return has_reader(top) ? print_readable(stdout, &top->table, alerts, output_width(80))
                           : print_lines(stdout, &top->table, alerts);
}

/* The plugins that the columns come from, each once: "psi", "psi or wss". */
static void list_plugins(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < column_count && used < size; i++) {
        size_t seen = 0;
        while (strcmp(columns[seen].plugin, columns[i].plugin) != 0)
            seen++;
        if (seen == i && columns[i].plugin[0] != '\0')
            used += (size_t)snprintf(text + used, size - used, "%sLoadPlugin %s",
                                     used > 0 ? "' or `" : "", columns[i].plugin);
    }
}

/* Those that columns show; osnoise has none. */
static bool loads_plugins(const struct usage *usage)
{
    return usage != NULL &&
           (usage->psi.loaded || usage->perf.loaded || usage->wss.loaded || usage->headroom.loaded);
}

/* What is seen here needn't be looked for elsewhere. */
static struct backlog_seen look_at_backlog(const struct top *top)
{
    struct backlog_seen seen = backlog_look(top->options.socket, top->newest);
    bool present[COLUMN_MAX];

    table_present(&top->table, present);
    seen.takers = present[column_find("cpus_used")] ? "the column cpus" : "headroom blame";
    return seen;
}

static enum backlog_state describe_absence(const struct top *top, char *text, size_t size)
{
    const struct usage *usage = configuration_usage(top->configuration);
    const struct backlog_seen seen = look_at_backlog(top);
    struct hr_reason reason;
    char plugins[256];

    const enum backlog_state state =
        loads_plugins(usage) ? backlog_explain_absence(usage, &seen, "headroom's plugins", &reason)
                             : backlog_find(usage, &seen, &reason);
    list_plugins(plugins, sizeof(plugins));
    if (state != BACKLOG_NONE)
        snprintf(text, size, "%s", reason.text);
    else
        snprintf(text, size,
                 "collectd has no values of headroom's plugins yet: is `%s' in its "
                 "collectd.conf? The first values take an interval or two",
                 plugins);
    return state;
}

/* Reports a problem once, however its times change; on the screen it remains visible. One line says
 * when it is over, so that it takes the place of that collectd is behind. */
static void report_problem(struct top *top, int error)
{
    enum backlog_state absence = BACKLOG_NONE;
    if (error == -ENODATA)
        absence = describe_absence(top, top->problem, sizeof(top->problem));
    else
        snprintf(
            top->problem, sizeof(top->problem), "%s",
            unread_explain_again(&top->silence, error, top->options.socket, top->options.config));
    /* What is behind may have values now and then. */
    const bool was_behind = absence == BACKLOG_BEHIND && top->late[0] != '\0';
    const bool is_new = !was_behind && (error != top->problem_error || absence != top->absence);
    top->problem_error = error;
    top->absence = absence;
    if (absence == BACKLOG_BEHIND)
        snprintf(top->late, sizeof(top->late), "%s", top->problem);
    else
        top->late[0] = '\0';
    if (top->screen != NULL)
        draw_screen(top);
    else if (is_new)
        fprintf(stderr, "%s: %s\n", top->title, top->problem);
}

static void report_recovery(struct top *top)
{
    if (top->problem[0] != '\0' && top->absence != BACKLOG_BEHIND && top->screen == NULL)
        fprintf(stderr, "%s: collectd answers\n", top->title);
    top->problem[0] = '\0';
    top->problem_error = 0;
    top->absence = BACKLOG_NONE;
}

/* Once, and its end; values are shown, but they are old. */
static void report_backlog(struct top *top)
{
    const struct backlog_seen seen = look_at_backlog(top);
    const bool was_behind = top->late[0] != '\0';
    struct hr_reason reason;

    const bool is_behind =
        backlog_find(configuration_usage(top->configuration), &seen, &reason) == BACKLOG_BEHIND;
    snprintf(top->late, sizeof(top->late), "%s", reason.text);
    if (is_behind && top->configuration == NULL)
        snprintf(top->late + strlen(top->late), sizeof(top->late) - strlen(top->late),
                 "; groups may be missing, as it forgets values that are late");
    if (is_behind != was_behind && top->screen == NULL)
        fprintf(stderr, "%s: %s\n", top->title,
                is_behind ? top->late : "collectd is no longer behind");
}

static void count_missing(struct top *top)
{
    const struct usage *usage = configuration_usage(top->configuration);
    const struct backlog_seen seen = look_at_backlog(top);
    const size_t shown = table_count_groups(&top->table);

    top->missing = 0;
    top->incomplete[0] = '\0';
    if (usage == NULL || !backlog_can_compare(usage, &seen))
        return;
    const size_t missing = expected_groups_missing(
        &top->expected, configuration_root(top->configuration), usage, &top->table);
    describe_missing_groups(shown, missing, top->late[0] != '\0', top->incomplete,
                            sizeof(top->incomplete));
    if (top->incomplete[0] != '\0')
        top->missing = missing;
}

/* Once, and its end. */
static void report_missing(struct top *top)
{
    const bool was_missing = top->missing > 0;

    count_missing(top);
    const bool is_missing = top->missing > 0;
    if (is_missing != was_missing && top->screen == NULL)
        fprintf(stderr, "%s: %s\n", top->title,
                is_missing ? top->incomplete : "the groups that were missing are shown again");
}

/* Why groups may have no values, though patterns match them. */
static const char *describe_restriction(const struct usage *usage)
{
    if (usage == NULL)
        return "";
    if (usage->psi.groups.min_age_s > 0 || usage->perf.groups.min_age_s > 0 ||
        usage->wss.groups.min_age_s > 0 || usage->headroom.groups.min_age_s > 0)
        return ", or ones younger than MinAge";
    return usage->psi.top_groups > 0 ? ", or ones that don't wait (TopGroups)" : "";
}

/* Which patterns match none, if any: else what they match is empty. */
static void describe_no_groups(struct top *top)
{
    const char *unmatched =
        top->configuration != NULL ? configuration_describe_unmatched(top->configuration) : "";
    const char *restriction = describe_restriction(configuration_usage(top->configuration));
    char there[200] = "";

    if (unmatched[0] != '\0' && restriction[0] == '\0') {
        snprintf(top->lack, sizeof(top->lack), "collectd has no values of cgroups: %s", unmatched);
        return;
    }
    if (top->memory != NULL)
        memory_describe_groups(top->memory, &top->table, there, sizeof(there));
    snprintf(
        top->lack, sizeof(top->lack),
        "collectd has no values of cgroups%s%s%s: the patterns match none, or only empty ones%s; "
        "see headroom doctor --cgroups",
        there[0] != '\0' ? " (" : "", there, there[0] != '\0' ? ")" : "", restriction);
}

static void report_lack_of_groups(struct top *top)
{
    char before[sizeof(top->lack)];

    memcpy(before, top->lack, sizeof(before));
    top->lack[0] = '\0';
    if (top->late[0] != '\0' || top->missing > 0)
        return;
    if (table_lacks_groups(&top->table))
        describe_no_groups(top);
    else if (top->configuration != NULL)
        snprintf(top->lack, sizeof(top->lack), "%s",
                 configuration_describe_unmatched(top->configuration));
    if (top->lack[0] != '\0' && strcmp(top->lack, before) != 0 && top->screen == NULL &&
        !top->options.json)
        fprintf(stderr, "%s: %s\n", top->title, top->lack);
}

/* --- Waiting -------------------------------------------------------------- */

/* Any letter leaves the help. Returns whether the screen changes. */
static bool handle_event(struct top *top, enum screen_event event, int letter)
{
    if (event != SCREEN_LETTER)
        return true;
    if (top->help || letter == '?')
        top->help = !top->help;
    else if (sort_key_find(NULL, letter, &top->options.sort) != 0)
        return false;
    return true;
}

/* Handles the keys that were pressed. Returns 0, or -ECANCELED to end. */
static int handle_keys(struct top *top, bool readable)
{
    int letter;
    enum screen_event event = screen_read(top->screen, &letter);
    top->empty_reads = event == SCREEN_IDLE && readable ? top->empty_reads + 1 : 0;
    if (top->empty_reads >= EMPTY_READS_MAX)
        return -ECANCELED;
    bool changed = false;
    for (; event != SCREEN_IDLE; event = screen_read(top->screen, &letter)) {
        if (event == SCREEN_QUIT)
            return -ECANCELED;
        changed |= handle_event(top, event, letter);
    }
    if (changed) {
        table_sort(&top->table, &top->options.sort);
        draw_screen(top);
    }
    return 0;
}

/* Calls ppoll() until a moment. Signals are handled only here. */
static int poll_until(struct top *top, struct pollfd *files, nfds_t count, double until)
{
    struct timespec time = {0};
    double left = until - seconds_now();
    if (left > 0 && isfinite(left)) {
        time.tv_sec = (time_t)left;
        time.tv_nsec = (long)((left - floor(left)) * 1e9);
    }
    return ppoll(files, count, isfinite(until) ? &time : NULL, &top->waiting_mask);
}

/*
 * Waits for events on `fd` (-1: none) until a moment (INFINITY: without end), and handles keys
 * meanwhile. Returns 0 on events, -ETIMEDOUT, or -ECANCELED to end the run: on a signal, a key, or
 * if the reader of our output is gone.
 */
static int wait_for_events(struct top *top, int fd, short events, double until)
{
    for (;;) {
        struct pollfd files[] = {
            {.fd = fd, .events = events},
            {.fd = top->screen ? screen_input(top->screen) : -1, .events = POLLIN},
            {.fd = top->screen ? -1 : STDOUT_FILENO},
        };
        int ready = poll_until(top, files, 3, until);
        int error = ready < 0 ? errno : 0;
        if (ending_signal != 0)
            return -ECANCELED;
        if (error != 0 && error != EINTR)
            return -error;
        /* Also after a signal: it may be SIGWINCH. */
        if (top->screen != NULL && ready != 0) {
            int status = handle_keys(top, ready > 0 && files[1].revents != 0);
            if (status != 0)
                return status;
        }
        if (ready > 0 && (files[2].revents & (POLLERR | POLLHUP)) != 0)
            return -ECANCELED;
        if (ready > 0 && files[0].revents != 0)
            return 0;
        if (ready == 0)
            return -ETIMEDOUT;
    }
}

/* For struct client: waits for collectd, and reports it if that takes long. */
static int wait_for_collectd(void *context, int fd, short events)
{
    struct top *top = context;
    int status = wait_for_events(top, fd, events, seconds_now() + ANSWER_TIMEOUT_S);
    if (status != -ETIMEDOUT || top->options.once)
        return status;
    report_problem(top, -ETIMEDOUT);
    /* Reconnecting would only fill the queue of a collectd that is stopped. */
    return wait_for_events(top, fd, events, INFINITY);
}

/* --- The loop ------------------------------------------------------------- */

/* Before its second interval collectd has series of counters without a rate. Memory isn't
 * collectd's. */
static bool has_values(const struct table *table)
{
    bool present[COLUMN_MAX], any = false;
    table_present(table, present);
    for (size_t i = 0; i < column_count; i++)
        any |= present[i] && columns[i].plugin[0] != '\0';
    return any;
}

/* A collectd that was away has been started since, maybe with another configuration. */
static int connect_to_collectd(struct top *top)
{
    int status = client_open(top->options.socket, wait_for_collectd, top, &top->client);

    if (status == 0 && top->was_away) {
        configuration_update(top->configuration);
        top->was_away = false;
    }
    return status;
}

/* Fetches a new table; the old one stays when that fails. Which series there are isn't known then,
 * nor while none has a value: collectd may have been restarted. */
static int fetch_table(struct top *top)
{
    struct known_series known = {0};
    struct table fetched;
    int status = 0;
    known_series_free(&top->known);
    if (top->client == NULL)
        status = connect_to_collectd(top);
    const struct usage *usage = configuration_usage(top->configuration);
    known.lacks_groups = usage != NULL && usage->psi.top_groups > 0;
    if (status == 0)
        status = table_fetch(top->client, top->alerts != NULL ? &known : NULL, &fetched);
    if (status != 0) {
        client_close(top->client);
        top->client = NULL;
        top->was_away = true;
        return status;
    }
    top->newest = client_newest(top->client);
    table_free(&top->table);
    top->table = fetched;
    if (has_values(&top->table))
        top->known = known;
    else
        known_series_free(&known);
    if (top->memory != NULL)
        memory_fill(top->memory, &top->table);
    status = table_shorten_names(&top->table, top->memory);
    if (status != 0)
        return status;
    table_mark_takers(&top->table);
    status = has_reader(top) ? table_add_others(&top->table, top->memory) : 0;
    if (status != 0)
        return status;
    table_sort(&top->table, &top->options.sort);
    return has_values(&top->table) ? 0 : -ENODATA;
}

/* Returns 0, a problem with collectd that was reported, or -ECANCELED to end. Sets *write_error. */
static int refresh_once(struct top *top, int *write_error)
{
    int status = fetch_table(top);
    if (status == -ECANCELED)
        return status;
    if (status != 0) {
        report_problem(top, status);
        return status;
    }
    report_recovery(top);
    report_backlog(top);
    report_missing(top);
    report_lack_of_groups(top);
    *write_error = show_table(top);
    return *write_error == 0 ? 0 : -ECANCELED;
}

/* A slow fetch is followed by a pause as long, so that collectd isn't kept busy. */
static double next_start(const struct top *top, double start)
{
    double end = seconds_now(), pause = end - start;
    double longest =
        top->options.interval > ANSWER_TIMEOUT_S ? top->options.interval : ANSWER_TIMEOUT_S;
    double regular = start + top->options.interval;
    double rested = end + (pause < longest ? pause : longest);
    return regular > rested ? regular : rested;
}

static int refresh_until_end(struct top *top)
{
    int status, write_error = 0;
    do {
        double start = seconds_now();
        status = refresh_once(top, &write_error);
        if (top->options.once && status != -ECANCELED)
            return status == 0 ? COMMAND_DONE : COMMAND_FAILED;
        if (status != -ECANCELED)
            status = wait_for_events(top, -1, 0, next_start(top, start));
    } while (status == -ETIMEDOUT);

    return output_finish(top->title, write_error);
}

/*
 * With a terminal to restore, signals are blocked except in ppoll(), so that none is lost between a
 * test of ending_signal and the wait; SIGWINCH too, whose handler is that of ncurses. Without a
 * terminal they end the process themselves, also while a write blocks.
 */
static void handle_signals(struct top *top)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const size_t count = top->screen != NULL ? sizeof(numbers) / sizeof(numbers[0]) : 0;
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: it ends the wait */
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGWINCH);
    for (size_t i = 0; i < count; i++) {
        struct sigaction before;
        /* nohup(1) has SIGHUP ignored: leave that. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue;
        sigaction(numbers[i], &action, NULL);
        sigaddset(&blocked, numbers[i]);
    }
    signal(SIGPIPE, SIG_IGN); /* the write reports a closed pipe */
    sigprocmask(SIG_BLOCK, &blocked, &top->waiting_mask);
    sigset_t ours = blocked;
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&ours, number) == 1)
            sigdelset(&top->waiting_mask, number);
    }
}

/* What isn't there is absent in the table. */
static void open_memory(struct top *top)
{
    char host[256] = "";
    if (gethostname(host, sizeof(host) - 1) == 0 && hr_root_open("/", &top->root) == 0)
        memory_open(top->root, host, cgroups_runtimes(configuration_usage(top->configuration)),
                    &top->memory);
}

/* collectd's own configuration is that of its own socket, and may be readable by root only. */
static int open_configuration(struct top *top)
{
    const char *config = top->options.config;
    struct config_fault fault;

    if (config == NULL && strcmp(top->options.socket, CLIENT_DEFAULT_SOCKET) != 0)
        return COMMAND_DONE;
    int status = configuration_open(config, &fault, &top->configuration);
    if (status == 0 || config == NULL)
        return COMMAND_DONE;
    usage_report_fault(top->title, &fault, status);
    return COMMAND_MISUSED;
}

/* A reader has them without asking, if the log can be read. Programs have what they ask for. */
static int open_alerts(struct top *top)
{
    struct top_options *options = &top->options;
    const char *log =
        options->json || !isatty(STDOUT_FILENO) ? NULL : configuration_log_file(top->configuration);

    if (options->alerts == NULL && log != NULL && access(log, R_OK) == 0)
        options->alerts = log;
    return options->alerts != NULL ? alerts_open(options->alerts, &top->alerts) : 0;
}

static void open_screen(struct top *top)
{
    if (top->options.once || top->options.json)
        return;
    if (screen_open(&top->screen) == -EOPNOTSUPP)
        fprintf(stderr, "%s: this terminal (TERM=%s) can't show a live table: printing lines\n",
                top->title, getenv("TERM") ? getenv("TERM") : "");
    if (top->screen == NULL)
        return;
    /* Shown until the first answer. */
    snprintf(top->problem, sizeof(top->problem), "asking collectd on %s", top->options.socket);
    draw_screen(top);
}

/* --- The subcommand ------------------------------------------------------- */

int top_main(int argc, char **argv)
{
    struct top top = {
        .title = argv[0],
    };
    setlocale(LC_ALL, "");
    /* A decimal comma would break JSON, plain lines, and parsing collectd's numbers. */
    setlocale(LC_NUMERIC, "C");
    int status = top_options_parse(argc, argv, &top.options);
    if (status == -1) {
        top_options_print_help();
        return output_finish(top.title, output_flush(stdout));
    }
    if (status == COMMAND_DONE)
        status = open_configuration(&top);
    if (status != COMMAND_DONE)
        return status;

    status = open_alerts(&top);
    if (status != 0) {
        fprintf(stderr, "%s: %s\n", top.title, strerror(-status));
        return COMMAND_FAILED;
    }
    open_memory(&top);
    open_screen(&top);
    handle_signals(&top);
    status = refresh_until_end(&top);
    screen_close(top.screen);
    alerts_close(top.alerts);
    client_close(top.client);
    table_free(&top.table);
    known_series_free(&top.known);
    expected_groups_free(&top.expected);
    memory_close(top.memory);
    configuration_close(top.configuration);
    hr_root_close(top.root);
    if (ending_signal == SIGTERM || ending_signal == SIGHUP)
        waiting_end_by_signal(ending_signal); /* now that the terminal is restored */
    return status;
}
