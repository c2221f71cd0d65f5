/* SPDX-License-Identifier: MIT */
/*
 * doctor/handlers.c - what programs need that collectd's exec plugin runs for notifications, such
 * as headroom-mail and headroom-alert. They lack it silently: only syslog has what they say.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/checks.h"

/* Where the programs look, beside PATH, for what they run. */
#define SYSTEM_DIRECTORIES "/usr/sbin:/usr/lib"

/* What one that runs for notifications, or may do so, is called. */
#define PROGRAMS "programs for notifications"

/* A program that collectd runs. */
struct handler {
    const char *name;
    const char *what;  /* it is for */
    const char *needs; /* the program that it runs; NULL: not known */
    const char *remedy;
    const char *directory; /* of its record, by default; NULL: it has none */
};

static const struct handler handlers[] = {
    {"headroom-mail", "mails", "sendmail",
     "install a program that provides sendmail: postfix, exim4, dma, msmtp-mta, nullmailer",
     "/var/lib/headroom/mail"},
    {"headroom-alert", "alerts", "curl", "install curl", "/var/lib/headroom/alert"},
    {NULL, "notifications", NULL, NULL, NULL}, /* any other */
};

/* One NotificationExec: USER[:GROUP], PROGRAM, ARGUMENT... */
struct check_context {
    const struct handler *handler;
    const struct config_item *option;
    struct findings *findings;
    char feature[80]; /* such as "mails by headroom-mail" */
    char user[64];
};

static void add(const struct check_context *context, enum finding_state state, const char *cause,
                const char *remedy)
{
    findings_add(context->findings, state, context->feature, cause, remedy);
}

/* @param name  that NotificationExec has; what is wrong with it comes before. */
static void add_wrong(const struct check_context *context, const char *what, const char *name,
                      const char *remedy)
{
    char cause[256];

    snprintf(cause, sizeof(cause), "%s %.80s, in line %u of %.120s", what, name,
             context->option->line, context->option->path);
    add(context, FINDING_WRONG, cause, remedy);
}

/* Whether a program is in one of the directories, separated by colons. */
static bool is_in(const char *directories, const char *name)
{
    char path[4096];

    while (directories != NULL && *directories != '\0') {
        const size_t length = strcspn(directories, ":");
        const int size = snprintf(path, sizeof(path), "%.*s/%s", (int)length, directories, name);
        if (size < (int)sizeof(path) && access(path, X_OK) == 0)
            return true;
        directories += length + (directories[length] == ':');
    }
    return false;
}

static bool is_found(const char *program)
{
    return strchr(program, '/') != NULL ? access(program, X_OK) == 0
                                        : is_in(getenv("PATH"), program);
}

/* The argument of an option that both programs have, joined to it or not. */
static const char *find_directory(const struct check_context *context)
{
    const struct config_item *option = context->option;

    for (size_t i = 2; i < option->value_count; i++) {
        if (strncmp(option->values[i], "-s", 2) != 0)
            continue;
        if (option->values[i][2] != '\0')
            return option->values[i] + 2;
        if (i + 1 < option->value_count)
            return option->values[i + 1];
    }
    return context->handler->directory;
}

/* The directory must be the user's own; others could hide alarms in theirs. */
static bool has_directory(const struct check_context *context, const struct passwd *user)
{
    const char *directory = find_directory(context);
    struct stat status;
    char cause[256], remedy[256];

    if (context->handler->directory == NULL)
        return true;
    const bool is_there = lstat(directory, &status) == 0;
    if (is_there ? S_ISDIR(status.st_mode) && status.st_uid == user->pw_uid
                 : errno == EACCES) /* closed to us; it may be fine */
        return true;
    snprintf(cause, sizeof(cause), "%s isn't a directory owned by %s", directory, context->user);
    snprintf(remedy, sizeof(remedy),
             "make it: mkdir -p /var/lib/headroom && install -d -m 700 -o %s %s", context->user,
             directory);
    add(context, FINDING_LACKS, cause, remedy);
    return false;
}

/* collectd runs no program as root. */
static bool has_user(const struct check_context *context, const struct passwd *user)
{
    if (user != NULL && user->pw_uid != 0)
        return true;
    add_wrong(context, user != NULL ? "collectd runs no program as" : "there is no user",
              context->user, "name an unprivileged user in NotificationExec, such as nobody");
    return false;
}

static bool has_programs(const struct check_context *context)
{
    const struct handler *handler = context->handler;
    const char *program = context->option->values[1];
    char cause[256];

    if (!is_found(program)) {
        add_wrong(context, "there is no program", program,
                  "correct NotificationExec, or install it with the plugins");
        return false;
    }
    if (handler->needs == NULL || is_found(handler->needs) ||
        is_in(SYSTEM_DIRECTORIES, handler->needs))
        return true;
    snprintf(cause, sizeof(cause), "there is no %s, so nothing is sent", handler->needs);
    add(context, FINDING_LACKS, cause, handler->remedy);
    return false;
}

/* Where the limit is low, what the plugins keep open leaves collectd an eighth of it, of which each
 * program that runs takes some. That the plugins have too few was found before. */
static bool has_descriptors(const struct check_context *context)
{
    const struct findings *findings = context->findings;
    size_t i = 0;

    if (sysconf(_SC_OPEN_MAX) >= 2 * FD_SETSIZE)
        return true;
    while (i < findings->count &&
           (!findings->items[i].used || strstr(findings->items[i].remedy, "LimitNOFILE=") == NULL))
        i++;
    if (i == findings->count)
        return true;
    add(context, FINDING_LACKS,
        "there are too few file descriptors, so collectd may fail to run it, and alerts get lost",
        "raise LimitNOFILE= of collectd's service (ulimit -n)");
    return false;
}

static bool loads_ours(const struct usage *usage)
{
    return usage->psi.loaded || usage->perf.loaded || usage->wss.loaded || usage->osnoise.loaded ||
           usage->headroom.loaded;
}

/* There the plugins know which alarms of thresholds there were; otherwise threshold notifies of
 * each series whenever collectd starts. collectd makes one that is missing. */
static bool has_alarms_kept(const struct check_context *context, const struct usage *usage)
{
    const char *directory = usage_base_dir(usage);
    char cause[256];

    if (!usage->threshold || !loads_ours(usage) || access(directory, W_OK) == 0 || errno == ENOENT)
        return true;
    snprintf(
        cause, sizeof(cause),
        "the plugins can't write to %.120s, so that it is run for each series with a threshold "
        "whenever collectd starts",
        directory);
    add(context, FINDING_LACKS, cause, "let collectd's user write to that directory (BaseDir)");
    return false;
}

static void check_handler(struct check_context *context, const struct usage *usage)
{
    const char *user_name = context->option->values[0], *program = context->option->values[1];
    const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;

    for (context->handler = handlers; context->handler->name != NULL; context->handler++)
        if (strcmp(context->handler->name, name) == 0)
            break;
    snprintf(context->feature, sizeof(context->feature), "%s by %s", context->handler->what, name);
    snprintf(context->user, sizeof(context->user), "%.*s", (int)strcspn(user_name, ":"), user_name);
    const struct passwd *user = getpwnam(context->user);
    if (has_user(context, user) && has_programs(context) && has_directory(context, user) &&
        has_descriptors(context) && has_alarms_kept(context, usage))
        findings_add(context->findings, FINDING_WORKS, context->feature, NULL, NULL);
}

void doctor_check_handlers(const struct usage *usage, bool is_named, struct findings *findings)
{
    const struct usage_items *options = &usage->handlers;

    if (options->count > 0 && !usage->exec) {
        findings_add(findings, FINDING_WRONG, PROGRAMS,
                     "the configuration doesn't load the exec plugin, so collectd runs none",
                     "add LoadPlugin exec before its block");
        return;
    }
    if (options->count == 0 && is_named)
        findings_add(findings, FINDING_WRONG, PROGRAMS,
                     "the configuration has no NotificationExec, so collectd runs none",
                     "copy the snippet mail.conf or alertmanager.conf, and adapt it");
    for (size_t i = 0; i < options->count; i++) {
        struct check_context context = {.option = options->list[i], .findings = findings};
        if (context.option->value_count >= 2)
            check_handler(&context, usage);
    }
}
