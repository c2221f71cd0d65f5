/* SPDX-License-Identifier: MIT */
/*
 * doctor/configuration.c - what of the configuration can't be read. collectd doesn't start with it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "doctor/checks.h"

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

void doctor_check_configuration(const struct usage *usage, const char *plugin,
                                struct findings *findings)
{
    for (size_t i = 0; i < usage->faults.count; i++) {
        const struct config_fault *fault = &usage->faults.list[i];
        if (plugin == NULL ? fault->plugin == NULL
                           : fault->plugin != NULL && strcmp(fault->plugin, plugin) == 0)
            add_fault(usage, fault, findings);
    }
}
