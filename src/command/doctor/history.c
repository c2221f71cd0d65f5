/* SPDX-License-Identifier: MIT */
/*
 * doctor/history.c - whether the forecasts of the headroom plugin go on after a restart of
 * collectd: it must be able to write their history, and to trust what it finds there.
 */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "doctor/checks.h"
#include "headroom/state_file.h"

static const char feature[] = "history of forecasts over a restart";

/* It is saved every ten minutes. */
#define OLD_S (20 * 60)

static void add(struct findings *findings, enum finding_state state, const char *path,
                const char *what, const char *remedy)
{
    char cause[256];

    snprintf(cause, sizeof(cause), "%.160s %s", path, what);
    findings_add(findings, state, feature, cause, remedy);
}

/* @return 0, or the negative errno of writing to it. collectd makes its BaseDir itself. */
static int try_folder(const char *folder, bool is_base_dir)
{
    const int error = access(folder, W_OK | X_OK) == 0 ? 0 : errno;

    return error == ENOENT && is_base_dir ? 0 : -error;
}

static void add_folder(struct findings *findings, const char *folder, int status)
{
    if (status == -ENOENT)
        add(findings, FINDING_LACKS, folder, "isn't there",
            "make it, or give StateFile a path elsewhere");
    else if (status == -EROFS)
        add(findings, FINDING_LACKS, folder, "can't be written to, as it is read-only",
            "let collectd's service write to it (ReadWritePaths=), or give StateFile a path "
            "elsewhere");
    else if (status == -EACCES)
        add(findings, FINDING_LACKS, folder, "can't be written to by this user",
            "run this as collectd's user, or let that user write to it");
    else
        add(findings, FINDING_LACKS, folder, strerror(-status), "give StateFile a path elsewhere");
}

/* One that isn't written any more, though it could be; collectd needn't be running. */
static void add_age(struct findings *findings, const char *path)
{
    struct stat file;
    char what[80];

    if (stat(path, &file) < 0)
        return; /* it has just been removed */
    const long long age_s = (long long)time(NULL) - file.st_mtime;
    if (age_s < OLD_S) {
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
        return;
    }
    snprintf(what, sizeof(what), "(%lld KB) was saved %lld min ago, not every ten",
             (long long)file.st_size / 1000, age_s / 60);
    add(findings, FINDING_NOTE, path, what,
        "see whether collectd runs, or has just been started, and its log");
}

static void check_file(struct findings *findings, const char *path)
{
    size_t length;
    char *bytes = NULL;
    const int status = hr_state_file_read_all(path, &bytes, &length);

    free(bytes);
    if (status == 0)
        add_age(findings, path);
    else if (status == -ENOENT)
        findings_add(findings, FINDING_WORKS, feature, NULL, NULL);
    else if (status == -EPERM)
        add(findings, FINDING_NOTE, path,
            "is another user's, may be written by others, or isn't a regular file",
            "run this as collectd's user; if it says the same, remove the file");
    else
        add(findings, FINDING_LACKS, path, strerror(-status), "run this as collectd's user");
}

void doctor_check_history(const struct usage *usage, struct findings *findings)
{
    char *path = usage_history_path(usage), *copy = path != NULL ? strdup(path) : NULL;

    if (copy != NULL) {
        const char *folder = dirname(copy);
        const int status = try_folder(folder, usage->headroom.state_file == NULL);
        if (status < 0)
            add_folder(findings, folder, status);
        else
            check_file(findings, path);
    }
    free(copy);
    free(path);
}
