/* SPDX-License-Identifier: MIT */
/*
 * doctor/configuration.c - what of the configuration can't be read, as collectd doesn't start with
 * it, values that options don't accept, and options that aren't known, which have no effect or keep
 * it from starting, or that a block lacks; and samples that it doesn't include.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "configured/unread.h"
#include "doctor/checks.h"
#include "headroom/cgroup.h"
#include "headroom/option.h"
#include "headroom/option_value.h"

/* "A, B or C" */
static void list_directories(const struct usage *usage, char *text, size_t size)
{
    const char *directory;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; (directory = usage_include_directory(usage, i)) != NULL && used < size;
         i++) {
        const bool is_last = usage_include_directory(usage, i + 1) == NULL;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0    ? ""
                                 : is_last ? " or "
                                           : ", ",
                                 directory);
    }
}

static void add_missing(const struct usage *usage, const struct config_fault *fault,
                        const char *feature, struct findings *findings)
{
    char directories[192], cause[256];

    list_directories(usage, directories, sizeof(directories));
    if (fault->path[0] == '/')
        snprintf(cause, sizeof(cause), "there is no %.200s", fault->path);
    else
        snprintf(cause, sizeof(cause), "it isn't in %s", directories);
    findings_add(findings, FINDING_WRONG, feature, cause,
                 "copy it there, or correct the path: collectd doesn't start without it");
}

/* Who isn't root may not be who collectd starts as. */
static void add_unreadable(const struct config_fault *fault, const char *feature,
                           struct findings *findings)
{
    const bool is_denied = fault->status == -EACCES || fault->status == -EPERM;
    char cause[256];

    snprintf(cause, sizeof(cause), "can't read %.160s (%s)", fault->path,
             fault->status == -ELOOP ? "files include one another" : strerror(-fault->status));
    findings_add(findings, is_denied ? FINDING_UNTRIED : FINDING_WRONG, feature, cause,
                 is_denied ? "run headroom doctor as the user that collectd is started by"
                           : "correct it: collectd doesn't start with it");
}

static void add_fault(const struct usage *usage, const struct config_fault *fault,
                      struct findings *findings)
{
    const char *name = strrchr(fault->path, '/');
    char feature[80], cause[256];

    snprintf(feature, sizeof(feature), "configuration file %.60s",
             name != NULL ? name + 1 : fault->path);
    if (fault->line > 0) {
        snprintf(cause, sizeof(cause), "line %u of %.200s isn't understood", fault->line,
                 fault->path);
        findings_add(findings, FINDING_WRONG, feature, cause,
                     "correct it: collectd doesn't start with it");
    } else if (fault->status == -ENOENT) {
        add_missing(usage, fault, feature, findings);
    } else {
        add_unreadable(fault, feature, findings);
    }
}

/* --- Options -------------------------------------------------------------- */

/* Of collectd's own, which don't let it start with an option that they don't know. */
static const char *const strict[] = {"threshold", "csv", "logfile", "syslog", "unixsock"};

#define STRICT_COUNT (sizeof(strict) / sizeof(strict[0]))

struct check_context {
    const char *plugin;
    bool is_strict;
    struct findings *findings;
};

static void add_unknown(const struct check_context *context, const char *key,
                        const struct config_item *item)
{
    char feature[80], cause[256], remedy[192], meant[HR_OPTION_SUGGESTION_SIZE];

    hr_option_suggest(context->plugin, key, item->key, meant);
    snprintf(feature, sizeof(feature), "option \"%.60s\"", item->key);
    snprintf(cause, sizeof(cause), "it isn't known%s%s, in line %u of %.180s",
             context->is_strict ? " to " : ", and has no effect",
             context->is_strict ? context->plugin : "", item->line, item->path);
    snprintf(remedy, sizeof(remedy), "correct or remove it%s%s%s%s", meant[0] != '\0' ? "; " : "",
             meant, meant[0] != '\0' ? " may be meant" : "",
             context->is_strict ? ": collectd doesn't start with it" : "");
    findings_add(context->findings, FINDING_WRONG, feature, cause, remedy);
}

/* The values as they are written, as far as they fit. */
static void print_values(const struct config_item *item, char *buffer, size_t size)
{
    size_t used = 0;

    buffer[0] = '\0';
    for (size_t i = 0; i < item->value_count && used < size; i++) {
        const char *quote = (item->quoted >> i & 1) != 0 ? "\"" : "";
        used += (size_t)snprintf(buffer + used, size - used, "%s%s%s%s", i > 0 ? " " : "", quote,
                                 item->values[i], quote);
    }
}

static void add_refused(const struct check_context *context, const struct config_item *item,
                        const char *accepted)
{
    char given[64], feature[80], cause[256], remedy[256];

    print_values(item, given, sizeof(given));
    snprintf(feature, sizeof(feature), "option \"%.60s\"", item->key);
    snprintf(cause, sizeof(cause), "it %s%s, in line %u of %.150s",
             given[0] != '\0' ? "doesn't accept " : "has no value", given, item->line, item->path);
    snprintf(remedy, sizeof(remedy), "it takes %.200s: collectd doesn't start with this", accepted);
    findings_add(context->findings, FINDING_WRONG, feature, cause, remedy);
}

/* By what the plugin itself goes by when it starts. @return whether it accepts them. */
static bool check_values(const struct check_context *context, const char *key,
                         const struct config_item *item)
{
    struct hr_option_value *values = calloc(item->value_count + 1, sizeof(*values));
    const struct hr_option option = {context->plugin, key, item->key, values, item->value_count};
    char accepted[HR_OPTION_ACCEPTED_SIZE];

    for (size_t i = 0; values != NULL && i < item->value_count; i++)
        values[i] = config_value(item, i);
    const bool is_accepted = values == NULL || hr_option_accepts(&option, accepted);
    if (!is_accepted)
        add_refused(context, item, accepted);
    free(values);
    return is_accepted;
}

static bool check_patterns(const struct check_context *context, const struct config_item *item)
{
    const char *reason;
    char accepted[256];

    if (!config_is(item, "Cgroup") && !config_is(item, "ExcludeCgroup"))
        return true;
    for (size_t i = 0; i < item->value_count; i++)
        if (hr_cgroup_pattern_check(item->values[i], NULL, &reason) == -EINVAL) {
            snprintf(accepted, sizeof(accepted), HR_CGROUP_PATTERNS, item->values[i], reason);
            add_refused(context, item, accepted);
            return false;
        }
    if (item->child_count == 0 || item->value_count == 1)
        return true;
    add_refused(context, item, "one pattern, as it is a block");
    return false;
}

static bool check_template(const struct check_context *context, const struct config_item *block,
                           const struct config_item *item)
{
    char accepted[256];
    size_t wildcards;

    if (!config_is(block, "Cgroup") || !config_is(item, "Instance") ||
        hr_cgroup_pattern_check(config_text(block), &wildcards, NULL) != 0 ||
        hr_cgroup_template_check(config_text(item), wildcards))
        return true;
    snprintf(accepted, sizeof(accepted), HR_CGROUP_TEMPLATE, wildcards);
    add_refused(context, item, accepted);
    return false;
}

/* Without them the plugin refuses the block. @return whether it has them. */
static bool check_required(const struct check_context *context, const struct config_item *block)
{
    const char *option, *name = config_text(block);
    char feature[80], cause[256];
    bool has_all = true;

    for (size_t i = 0; (option = hr_option_required(context->plugin, block->key, i)) != NULL; i++) {
        if (config_find(block, option) != NULL)
            continue;
        has_all = false;
        snprintf(feature, sizeof(feature), "option \"%s\"", option);
        snprintf(cause, sizeof(cause), "it is missing in <%s%s%.64s%s>, in line %u of %.150s",
                 block->key, name[0] != '\0' ? " \"" : "", name, name[0] != '\0' ? "\"" : "",
                 block->line, block->path);
        findings_add(context->findings, FINDING_WRONG, feature, cause,
                     "add it: collectd doesn't start without it");
    }
    return has_all;
}

/* An Include has the options of what it includes. @return whether the plugin accepts it, as far as
 * its options show each by itself. */
static bool check_block(const struct check_context *context, const char *key,
                        const struct config_item *block)
{
    bool is_accepted = check_required(context, block);

    for (size_t i = 0; i < block->child_count; i++) {
        const struct config_item *item = &block->children[i];
        if (!hr_option_is_known(context->plugin, key, item->key)) {
            add_unknown(context, key, item);
            continue;
        }
        is_accepted &= check_values(context, key, item) && check_patterns(context, item) &&
                       check_template(context, block, item);
        is_accepted &= check_block(
            context, config_is(item, "Plugin") ? HR_OPTION_PLUGIN_WITHIN : item->key, item);
    }
    return is_accepted;
}

static bool check_blocks(const struct usage *usage, const struct check_context *context)
{
    const struct config_item *block;
    bool is_accepted = true;
    size_t next = 0;

    while ((block = doctor_next_block(usage, context->plugin, &next)) != NULL)
        is_accepted &= check_block(context, block->key, block);
    return is_accepted;
}

static void check_unread(const struct usage *usage, struct findings *findings)
{
    struct unread unread;
    char feature[80], cause[512], remedy[256];

    unread_find(usage, &unread);
    if (unread.count == 0)
        return;
    snprintf(feature, sizeof(feature), "%.70s", unread.directory);
    snprintf(cause, sizeof(cause), "%.160s doesn't read %s", usage->found, unread.names);
    unread_print_remedy(&unread, remedy, sizeof(remedy));
    findings_add(findings, FINDING_WRONG, feature, cause, remedy);
}

void doctor_check_configuration(const struct usage *usage, const char *plugin,
                                struct findings *findings)
{
    for (size_t i = 0; i < usage->faults.count; i++) {
        const struct config_fault *fault = &usage->faults.list[i];
        if (plugin == NULL ? fault->plugin == NULL
                           : fault->plugin != NULL && strcmp(fault->plugin, plugin) == 0)
            add_fault(usage, fault, findings);
    }
    if (plugin != NULL)
        doctor_check_names(usage, plugin, findings);
    if (plugin != NULL && check_blocks(usage, &(struct check_context){plugin, false, findings}))
        doctor_check_combinations(usage, plugin, findings);
    for (size_t i = 0; i < STRICT_COUNT && plugin == NULL; i++)
        if (usage_loads_plugin(usage, strict[i]))
            check_blocks(usage, &(struct check_context){strict[i], true, findings});
    if (plugin == NULL) {
        doctor_check_plugins(usage, findings);
        check_unread(usage, findings);
    }
}
