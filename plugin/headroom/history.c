/* SPDX-License-Identifier: MIT */
#include "headroom/history.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/options.h"
#include "headroom/clock.h"
#include "headroom/room_history.h"
#include "headroom/state_file.h"
#include "utils/common/common.h"

#define PLUGIN     "headroom"
#define STATE_FILE "headroom-history.state"

/* After a crash so much is missing at most. */
#define SAVE_NS (600 * HR_NS_PER_S)

struct history {
    char *path;
    struct hr_room_machine *machine;
    uint64_t point_ns;
    uint64_t due_ns;
    struct complaint failure;
};

/* --- Restoring -------------------------------------------------------------- */

static void log_restored(uint64_t age_ns, size_t count)
{
    const unsigned long long age_s = age_ns / HR_NS_PER_S;

    if (age_s < 120)
        INFO(PLUGIN ": the history of %zu forecasts was read; its latest values are %llu s old.",
             count, age_s);
    else
        INFO(PLUGIN ": the history of %zu forecasts was read; its latest values are %llu min old.",
             count, age_s / 60);
}

/* @return what is in the file, to be freed; NULL: see status. */
static char *read_file(const char *path, size_t *length, int *status)
{
    struct stat stat_of;

    *status = lstat(path, &stat_of) < 0 ? -errno : 0;
    if (*status < 0)
        return NULL;
    const size_t size = (size_t)stat_of.st_size + 1;
    char *bytes = malloc(size);
    *status = bytes == NULL ? -ENOMEM : hr_state_file_read(path, bytes, size, length);
    if (*status == 0)
        return bytes;
    free(bytes);
    return NULL;
}

static void log_unusable(const char *path, int status)
{
    const char *cause = status == -EPERM
                            ? "it may have been written by another user, or isn't a file"
                        : status == -EBADMSG ? "it is damaged"
                                             : STRERROR(-status);

    WARNING(PLUGIN ": forecasts start without a history, as %s can't be used: %s.", path, cause);
}

static void restore(const struct history *history)
{
    uint64_t age_ns;
    size_t length, count;
    int status;
    char *bytes = read_file(history->path, &length, &status);

    if (status == -ENOENT)
        return;
    if (status == 0)
        status = hr_room_history_restore(history->machine, bytes, length, history->point_ns,
                                         &age_ns, &count);
    free(bytes);
    if (status == 0)
        log_restored(age_ns, count);
    else if (status == -ESTALE)
        INFO(PLUGIN
             ": forecasts start without a history: what was saved is of another boot, another "
             "Interval, or another version.");
    else
        log_unusable(history->path, status);
}

struct history *history_open(const char *path, struct hr_room_machine *machine, uint64_t point_ns)
{
    struct history *history = calloc(1, sizeof(*history));

    if (history != NULL)
        history->path = option_state_path(path, STATE_FILE);
    if (history == NULL || history->path == NULL) {
        WARNING(PLUGIN ": after a restart forecasts will start without a history: out of memory.");
        free(history);
        return NULL;
    }
    history->machine = machine;
    history->point_ns = point_ns;
    history->due_ns = hr_clock_ns() + SAVE_NS;
    restore(history);
    return history;
}

/* --- Saving ------------------------------------------------------------------- */

/* Within another boot it is of no use, so it needn't be on the disk. */
static int save(const struct history *history, const char **remedy)
{
    char *bytes;
    size_t length;

    *remedy = "";
    int status = hr_room_history_save(history->machine, history->point_ns, &bytes, &length);
    if (status < 0)
        return status;
    *remedy = " (option StateFile)";
    status = hr_state_file_write_unsynced(history->path, bytes, length);
    free(bytes);
    return status;
}

static void save_and_log(struct history *history)
{
    const char *remedy;
    int status = save(history, &remedy);

    if (status == 0)
        complaint_resolve(&history->failure,
                          PLUGIN ": the history of forecasts is being saved again.");
    else if (status != -ENODATA)
        complaint_log(&history->failure, LOG_WARNING, status,
                      PLUGIN
                      ": the history of forecasts can't be saved to %s, so they start without "
                      "a history after a restart: %s%s.",
                      history->path, STRERROR(-status), remedy);
}

void history_save_due(struct history *history)
{
    const uint64_t now_ns = hr_clock_ns();

    if (now_ns < history->due_ns)
        return;
    history->due_ns = now_ns + SAVE_NS;
    save_and_log(history);
}

void history_close(struct history *history)
{
    if (history == NULL)
        return;
    save_and_log(history);
    free(history->path);
    free(history);
}
