/* SPDX-License-Identifier: MIT */
#include "osnoise/kept_traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/state_wanted.h"
#include "common/thread.h"
#include "headroom/state_file.h"
#include "utils/common/common.h"

#define PLUGIN "osnoise"

/* Beside the tracer's settings, whose file has the configured name. */
#define SUFFIX ".traces"

/* "20261128T231950.123Z-cpu3.txt": by name they are in the order of their times. */
#define PATTERN "%*8[0-9]T%*6[0-9].%*3[0-9]Z-cpu%*5[0-9].txt%n"

/* How many may wait for the disk. */
#define QUEUE 32

struct text {
    char *path;
    char *bytes;
    size_t length;
};

struct kept_traces {
    char *folder;
    size_t most;
    char path[PATH_MAX]; /* of the last one */
    size_t put_count;    /* of the reading */
    struct thread thread;
    pthread_mutex_t lock; /* of what follows */
    struct text queue[QUEUE];
    size_t count;

    struct complaint failure; /* the thread's */
};

static void free_text(struct text *text)
{
    free(text->path);
    free(text->bytes);
}

/* --- The files ------------------------------------------------------------ */

static bool is_own_folder(const char *path)
{
    struct stat stat;

    return lstat(path, &stat) == 0 && S_ISDIR(stat.st_mode) && stat.st_uid == geteuid() &&
           (stat.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* @return 0; -EEXIST: it is something else, or others may write there; or another negative errno.
 */
static int make_folder(const char *path)
{
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return -errno;
    return is_own_folder(path) ? 0 : -EEXIST;
}

/* Or one that was being written when collectd was killed. Others' files stay. */
static int is_trace(const struct dirent *entry)
{
    int length = 0;

    sscanf(entry->d_name, PATTERN, &length);
    const char *rest = &entry->d_name[length];
    return length > 0 && (rest[0] == '\0' || strcmp(rest, ".new") == 0);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Removes the oldest, until there are so many. */
static int remove_oldest(const char *folder, size_t most)
{
    struct dirent **entries;
    char path[PATH_MAX];
    int status = 0;

    const int count = scandir(folder, &entries, is_trace, compare_names);
    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if ((size_t)(count - i) > most && unlink(path) < 0 && errno != ENOENT)
            status = -errno;
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int write_file(const struct kept_traces *traces, const struct text *text)
{
    if (!state_is_wanted(traces->folder))
        return 0;
    int status = make_folder(traces->folder);

    if (status == 0)
        status = remove_oldest(traces->folder, traces->most - 1);
    if (status == 0)
        status = hr_state_file_write_unsynced(text->path, text->bytes, text->length);
    return status;
}

static void log_outcome(struct kept_traces *traces, int status)
{
    if (status == 0)
        complaint_resolve(&traces->failure, PLUGIN ": the traces of noises are being kept again.");
    else if (status == -EEXIST)
        complaint_log(&traces->failure, LOG_WARNING, status,
                      PLUGIN ": the traces of noises can't be kept in %s: it isn't a folder of "
                             "collectd's user alone; remove it, or set KeepTraces 0.",
                      traces->folder);
    else
        complaint_log(&traces->failure, LOG_WARNING, status,
                      PLUGIN ": the traces of noises can't be kept in %s: %s; have collectd's user "
                             "write there, or set KeepTraces 0.",
                      traces->folder, STRERROR(-status));
}

/* --- The thread ----------------------------------------------------------- */

static bool take_text(struct kept_traces *traces, struct text *text)
{
    pthread_mutex_lock(&traces->lock);
    const bool has_any = traces->count > 0;
    if (has_any) {
        *text = traces->queue[0];
        traces->count--;
        memmove(&traces->queue[0], &traces->queue[1], traces->count * sizeof(traces->queue[0]));
    }
    pthread_mutex_unlock(&traces->lock);
    return has_any;
}

static void write_waiting(struct kept_traces *traces)
{
    struct text text;

    while (take_text(traces, &text)) {
        log_outcome(traces, write_file(traces, &text));
        free_text(&text);
    }
}

static void *writer_main(void *context)
{
    struct kept_traces *traces = context;

    while (thread_wait_until(&traces->thread, UINT64_MAX, -1))
        write_waiting(traces);
    return NULL;
}

/* @return whether it had room. */
static bool add_text(struct kept_traces *traces, const struct text *text)
{
    pthread_mutex_lock(&traces->lock);
    const bool has_room = traces->count < QUEUE;
    if (has_room)
        traces->queue[traces->count++] = *text;
    pthread_mutex_unlock(&traces->lock);
    thread_wake(&traces->thread);
    return has_room;
}

/* --- A trace -------------------------------------------------------------- */

static void print_path(struct kept_traces *traces, unsigned cpu)
{
    struct timespec now;
    struct tm utc;
    char time[32];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(time, sizeof(time), "%Y%m%dT%H%M%S", &utc);
    snprintf(traces->path, sizeof(traces->path), "%s/%s.%03ldZ-cpu%u.txt", traces->folder, time,
             now.tv_nsec / 1000000, cpu);
}

/* @return whether there is one. Otherwise, or without memory, nothing is to be freed. */
static bool print_text(const struct hr_osnoise_reading *reading, unsigned cpu, const char *title,
                       struct text *text)
{
    FILE *stream = open_memstream(&text->bytes, &text->length);

    if (stream == NULL)
        return false;
    fprintf(stream, "# %s\n#\n", title);
    const bool is_there = hr_osnoise_trace_print(reading, cpu, stream);
    const bool is_whole = fflush(stream) == 0 && !ferror(stream);
    fclose(stream);
    if (is_there && is_whole)
        return true;
    free(text->bytes);
    return false;
}

void kept_traces_begin_reading(struct kept_traces *traces)
{
    if (traces != NULL)
        traces->put_count = 0;
}

const char *kept_traces_put(struct kept_traces *traces, const struct hr_osnoise_reading *reading,
                            unsigned cpu, const char *title)
{
    struct text text = {.path = NULL};

    if (traces == NULL || traces->put_count >= (traces->most + 1) / 2 ||
        !print_text(reading, cpu, title, &text))
        return NULL;
    print_path(traces, cpu);
    text.path = strdup(traces->path);
    if (text.path != NULL && add_text(traces, &text)) {
        traces->put_count++;
        return traces->path;
    }
    free_text(&text);
    return NULL;
}

/* --- Opening and closing -------------------------------------------------- */

static int open_traces(struct kept_traces *traces, const char *state_path)
{
    if (asprintf(&traces->folder, "%s" SUFFIX, state_path) < 0) {
        traces->folder = NULL;
        return -ENOMEM;
    }
    int status = thread_open(&traces->thread);
    return status == 0 ? thread_start(&traces->thread, writer_main, traces, PLUGIN " traces")
                       : status;
}

int kept_traces_open(const char *state_path, size_t most, struct kept_traces **traces)
{
    struct kept_traces *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->most = most;
    pthread_mutex_init(&opened->lock, NULL);
    thread_init(&opened->thread);
    int status = open_traces(opened, state_path);
    if (status < 0)
        kept_traces_close(opened);
    else
        *traces = opened;
    return status;
}

void kept_traces_close(struct kept_traces *traces)
{
    if (traces == NULL)
        return;
    thread_stop(&traces->thread);
    write_waiting(traces);
    pthread_mutex_destroy(&traces->lock);
    free(traces->folder);
    free(traces);
}
