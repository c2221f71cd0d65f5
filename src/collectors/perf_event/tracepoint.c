/* SPDX-License-Identifier: MIT */
#include "perf_event/tracepoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/descriptor.h"

/* Enough for two names and the characters between them. */
#define PATH_BYTES 1024

/* --- The directory ----------------------------------------------------------- */

int hr_perf_tracepoint_open(const struct hr_root *root, struct hr_perf_event_error *error)
{
    static const char *const places[] = {"sys/kernel/tracing", "sys/kernel/debug/tracing"};
    int status = -ENOENT;
    const char *place = places[0];

    /* Without a mount, the mount points exist, but are empty. */
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char path[64];
        snprintf(path, sizeof(path), "%s/events", places[i]);
        int fd = hr_root_openat(root, path, O_RDONLY | O_DIRECTORY);
        if (fd >= 0)
            return fd;
        if (status == -ENOENT && fd != -ENOENT && fd != -ENOTDIR) {
            status = fd;
            place = places[i];
        }
    }
    if (status == -ENOENT)
        return hr_perf_set_error(error, -ENODEV,
                                 "no tracefs is mounted; mount -t tracefs tracefs "
                                 "/sys/kernel/tracing");
    if (status == -EACCES || status == -EPERM)
        return hr_perf_set_error(error, -EACCES,
                                 "no permission to read /%s, which needs CAP_DAC_READ_SEARCH, "
                                 "root, or membership in its group",
                                 place);
    return hr_perf_set_error(error, status, "/%s can't be read", place);
}

static void print_subsystem(char path[PATH_BYTES], struct hr_text subsystem)
{
    snprintf(path, PATH_BYTES, "%.*s", (int)subsystem.length, subsystem.start);
}

static DIR *open_directory(int parent, const char *path)
{
    int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return hr_descriptor_opendir(fd < 0 ? -errno : fd);
}

static bool is_directory(int parent, const char *path)
{
    DIR *directory = open_directory(parent, path);

    if (directory != NULL)
        closedir(directory);
    return directory != NULL;
}

bool hr_perf_tracepoint_has_subsystem(int events, struct hr_text subsystem)
{
    char path[PATH_BYTES];

    if (!hr_perf_is_name(subsystem))
        return false;
    print_subsystem(path, subsystem);
    return is_directory(events, path);
}

/* --- A tracepoint ------------------------------------------------------------ */

/*
 * The config for perf_event_open(2):
 *
 *     372
 */
int hr_perf_tracepoint_id_parse(const char *text, size_t length, uint64_t *id)
{
    return hr_text_number_parse(text, length, UINT64_MAX, id);
}

static int read_id(int events, struct hr_text subsystem, struct hr_text name, uint64_t *id)
{
    char path[PATH_BYTES], text[32];
    size_t length;

    snprintf(path, sizeof(path), "%.*s/%.*s/id", (int)subsystem.length, subsystem.start,
             (int)name.length, name.start);
    int fd = openat(events, path, O_RDONLY | O_CLOEXEC);
    int status = hr_text_read_and_close(fd < 0 ? -errno : fd, text, sizeof(text), &length);
    if (status == -ENOTDIR)
        return -ENOENT;
    return status < 0 ? status : hr_perf_tracepoint_id_parse(text, length, id);
}

static bool has_tracepoint_directory(int events, struct hr_text subsystem, struct hr_text name)
{
    char path[PATH_BYTES];

    if (!hr_perf_is_name(subsystem) || !hr_perf_is_name(name))
        return false;
    snprintf(path, sizeof(path), "%.*s/%.*s", (int)subsystem.length, subsystem.start,
             (int)name.length, name.start);
    return is_directory(events, path);
}

/* Finds out why there is no id. */
static int report_absence(int events, struct hr_text subsystem, struct hr_text name,
                          struct hr_perf_event_error *error)
{
    if (!hr_perf_tracepoint_has_subsystem(events, subsystem))
        return hr_perf_set_error(error, -ENOENT, "there is no subsystem \"%.*s\" with tracepoints",
                                 HR_PERF_EXCERPT(subsystem));
    if (!has_tracepoint_directory(events, subsystem, name))
        return hr_perf_set_error(error, -ENOENT,
                                 "the subsystem \"%.*s\" has no tracepoint \"%.*s\"",
                                 HR_PERF_EXCERPT(subsystem), HR_PERF_EXCERPT(name));
    return hr_perf_set_error(error, -ENOENT,
                             "the tracepoint \"%.*s\" can be traced, but not counted",
                             HR_PERF_EXCERPT(name));
}

int hr_perf_tracepoint_find(int events, struct hr_text subsystem, struct hr_text name, uint64_t *id,
                            struct hr_perf_event_error *error)
{
    bool are_names = hr_perf_is_name(subsystem) && hr_perf_is_name(name);
    int status = are_names ? read_id(events, subsystem, name, id) : -ENOENT;

    if (status == 0)
        return 0;
    if (status == -ENOENT)
        return report_absence(events, subsystem, name, error);
    if (status == -EBADMSG)
        return hr_perf_set_error(error, status, "the tracepoint's file \"id\" isn't understood");
    if (status == -EACCES || status == -EPERM)
        return hr_perf_set_error(error, -EACCES,
                                 "no permission to read the tracepoint's file \"id\", which needs "
                                 "CAP_DAC_READ_SEARCH, root, or membership in tracefs' group");
    return hr_perf_set_error(error, status, "the tracepoint's file \"id\" can't be read");
}

/* --- Suggestions ------------------------------------------------------------- */

/* @param by_whole  compare "subsystem:name" rather than the name. */
static void suggest_in_subsystem(int events, const char *subsystem, bool by_whole,
                                 struct hr_perf_suggestions *suggestions)
{
    DIR *directory = open_directory(events, subsystem);
    const struct dirent *entry;

    if (directory == NULL)
        return;
    while ((entry = readdir(directory)) != NULL) {
        char path[PATH_BYTES], whole[PATH_BYTES];
        snprintf(path, sizeof(path), "%s/%s/id", subsystem, entry->d_name);
        snprintf(whole, sizeof(whole), "%s:%s", subsystem, entry->d_name);
        if (*entry->d_name != '.' && faccessat(events, path, F_OK, AT_EACCESS) == 0)
            hr_perf_suggestions_add(suggestions, hr_text_of(by_whole ? whole : entry->d_name), "%s",
                                    whole);
    }
    closedir(directory);
}

/* Opens the directory once more, to be read from its beginning. */
static DIR *reopen_directory(int events)
{
    return open_directory(events, ".");
}

static void suggest_in_similar_subsystems(int events, struct hr_text subsystem,
                                          struct hr_perf_suggestions *suggestions)
{
    DIR *directory = reopen_directory(events);
    const struct dirent *entry;

    if (directory == NULL)
        return;
    while ((entry = readdir(directory)) != NULL)
        if (*entry->d_name != '.' &&
            hr_perf_distance(subsystem, hr_text_of(entry->d_name)) <= 1 + subsystem.length / 4)
            suggest_in_subsystem(events, entry->d_name, true, suggestions);
    closedir(directory);
}

void hr_perf_tracepoint_suggest(int events, struct hr_text subsystem, struct hr_text name,
                                struct hr_perf_suggestions *suggestions)
{
    char path[PATH_BYTES];

    if (!hr_perf_is_name(subsystem))
        return;
    if (hr_perf_tracepoint_has_subsystem(events, subsystem)) {
        hr_perf_suggestions_set_wanted(suggestions, name);
        print_subsystem(path, subsystem);
        suggest_in_subsystem(events, path, false, suggestions);
    } else {
        /* the name follows its subsystem in the same text */
        size_t whole = (size_t)(name.start - subsystem.start) + name.length;
        hr_perf_suggestions_set_wanted(suggestions, (struct hr_text){subsystem.start, whole});
        suggest_in_similar_subsystems(events, subsystem, suggestions);
    }
}

void hr_perf_tracepoint_suggest_in_full(int events, struct hr_text name,
                                        struct hr_perf_suggestions *suggestions)
{
    DIR *directory = hr_perf_is_name(name) ? reopen_directory(events) : NULL;
    const struct dirent *entry;

    if (directory == NULL)
        return;
    hr_perf_suggestions_set_wanted(suggestions, name);
    while ((entry = readdir(directory)) != NULL) {
        char path[PATH_BYTES];
        snprintf(path, sizeof(path), "%s/%.*s/id", entry->d_name, (int)name.length, name.start);
        if (*entry->d_name != '.' && faccessat(events, path, F_OK, AT_EACCESS) == 0)
            hr_perf_suggestions_add(suggestions, name, "%s:%.*s", entry->d_name, (int)name.length,
                                    name.start);
    }
    closedir(directory);
}
