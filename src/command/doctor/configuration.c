/* SPDX-License-Identifier: MIT */
/*
 * doctor/configuration.c - what of the configuration can't be read, as collectd doesn't start with
 * it, and options that aren't known, which have no effect.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "doctor/checks.h"
#include "headroom/option.h"

/* "A, B or C" */
static void list_folders(const struct usage *usage, char *text, size_t size)
{
    const char *folder;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; (folder = usage_include_folder(usage, i)) != NULL && used < size; i++) {
        const bool is_last = usage_include_folder(usage, i + 1) == NULL;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0    ? ""
                                 : is_last ? " or "
                                           : ", ",
                                 folder);
    }
}

static void add_missing(const struct usage *usage, const struct config_fault *fault,
                        const char *facility, struct findings *findings)
{
    char folders[192], cause[256];

    list_folders(usage, folders, sizeof(folders));
    if (fault->path[0] == '/')
        snprintf(cause, sizeof(cause), "there is no %.200s", fault->path);
    else
        snprintf(cause, sizeof(cause), "it isn't in %s", folders);
    findings_add(findings, FINDING_LACKS, facility, cause,
                 "copy it there, or correct the path: collectd doesn't start without it");
}

/* Who isn't root may not be who collectd starts as. */
static void add_unreadable(const struct config_fault *fault, const char *facility,
                           struct findings *findings)
{
    const bool is_denied = fault->status == -EACCES || fault->status == -EPERM;
    char cause[256];

    snprintf(cause, sizeof(cause), "can't read %.160s (%s)", fault->path,
             fault->status == -ELOOP ? "files include one another" : strerror(-fault->status));
    findings_add(findings, is_denied ? FINDING_UNTRIED : FINDING_LACKS, facility, cause,
                 is_denied ? "run headroom doctor as the user that collectd is started by"
                           : "correct it: collectd doesn't start with it");
}

static void add_fault(const struct usage *usage, const struct config_fault *fault,
                      struct findings *findings)
{
    const char *name = strrchr(fault->path, '/');
    char facility[80], cause[256];

    snprintf(facility, sizeof(facility), "configuration file %.60s",
             name != NULL ? name + 1 : fault->path);
    if (fault->line > 0) {
        snprintf(cause, sizeof(cause), "line %u of %.200s isn't understood", fault->line,
                 fault->path);
        findings_add(findings, FINDING_LACKS, facility, cause,
                     "correct it: collectd doesn't start with it");
    } else if (fault->status == -ENOENT) {
        add_missing(usage, fault, facility, findings);
    } else {
        add_unreadable(fault, facility, findings);
    }
}

/* --- Options -------------------------------------------------------------- */

static void add_unknown(const char *plugin, const char *block, const struct config_item *item,
                        struct findings *findings)
{
    char facility[80], cause[256], remedy[128], meant[HR_OPTION_SUGGESTION_SIZE];

    hr_option_suggest(plugin, block, item->key, meant);
    snprintf(facility, sizeof(facility), "option \"%.60s\"", item->key);
    snprintf(cause, sizeof(cause), "it isn't known, and has no effect, in line %u of %.180s",
             item->line, item->path);
    snprintf(remedy, sizeof(remedy), "correct or remove it%s%s%s", meant[0] != '\0' ? "; " : "",
             meant, meant[0] != '\0' ? " may be meant" : "");
    findings_add(findings, FINDING_LACKS, facility, cause, remedy);
}

/* An Include has the options of what it includes. */
static void check_block(const char *plugin, const struct config_item *block,
                        struct findings *findings)
{
    for (size_t i = 0; i < block->child_count; i++) {
        const struct config_item *item = &block->children[i];
        if (!hr_option_is_known(plugin, block->key, item->key))
            add_unknown(plugin, block->key, item, findings);
        else
            check_block(plugin, item, findings);
    }
}

static void check_blocks(const struct usage *usage, const char *plugin, struct findings *findings)
{
    for (size_t i = 0; i < usage->config.child_count; i++) {
        const struct config_item *item = &usage->config.children[i];
        if (config_is(item, "Plugin") && strcasecmp(config_text(item), plugin) == 0)
            check_block(plugin, item, findings);
    }
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
        check_blocks(usage, plugin, findings);
}
