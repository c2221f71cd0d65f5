/* SPDX-License-Identifier: MIT */
#include "headroom/history.h"

#include <errno.h>
#include <stdlib.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/options.h"
#include "common/state_wanted.h"
#include "common/state_writer.h"
#include "headroom/clock.h"
#include "headroom/room_history.h"
#include "headroom/state_file.h"
#include "utils/common/common.h"

#define PLUGIN "headroom"

/* After a crash so much is missing at most. */
#define SAVE_NS (600 * HR_NS_PER_S)

struct history {
    char *path;
    struct hr_room_machine *machine;
    uint64_t point_ns;
    uint64_t due_ns;
    struct complaint unmade; /* there is nothing to write */
    struct state_writer *writer;
    struct complaint failure; /* the writer's */
};

/* --- Restoring -------------------------------------------------------------- */

static void log_restored(uint64_t age_ns, size_t count)
{
    const unsigned long long age_s = age_ns / HR_NS_PER_S;
    const bool in_seconds = age_s < 120;

    INFO(PLUGIN ": the history of %zu forecast%s was read; its latest values are %llu %s old.",
         count, count == 1 ? "" : "s", in_seconds ? age_s : age_s / 60, in_seconds ? "s" : "min");
}

static void log_unusable(const char *path, int status)
{
    const char *cause = status == -EPERM
                            ? "it may have been written by another user, or isn't a file"
                        : status == -EBADMSG ? "it is damaged"
                                             : STRERROR(-status);

    WARNING(PLUGIN ": forecasts start without a history, as %s can't be used: %s.", path, cause);
}

static void restore_history(const struct history *history)
{
    uint64_t age_ns;
    size_t length, count;
    char *bytes = NULL;
    int status = hr_state_file_read_all(history->path, &bytes, &length);

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

/* --- Saving ------------------------------------------------------------------- */

/* Within another boot it is of no use, so it needn't be on the disk. */
static void write_bytes(void *context, const struct state_text *text)
{
    struct history *history = context;

    if (!state_is_wanted(history->path))
        return;
    int status = hr_state_file_write_unsynced(history->path, text->bytes, text->length);
    if (status == 0)
        complaint_resolve(&history->failure,
                          PLUGIN ": the history of forecasts is being saved again.");
    else
        complaint_log(&history->failure, LOG_WARNING, status,
                      PLUGIN
                      ": the history of forecasts can't be saved to %s, so they start without "
                      "a history after a restart: %s (option StateFile).",
                      history->path, STRERROR(-status));
}

static void save_history(struct history *history)
{
    struct state_text text = {.bytes = NULL};
    int status =
        hr_room_history_save(history->machine, history->point_ns, &text.bytes, &text.length);

    if (status == -ENODATA)
        return;
    if (status < 0) {
        complaint_log(&history->unmade, LOG_WARNING, status,
                      PLUGIN ": the history of forecasts can't be saved, so they start without a "
                             "history after a restart: %s.",
                      STRERROR(-status));
        return;
    }
    history->unmade = (struct complaint){0};
    state_writer_put(history->writer, &text);
}

void history_save_due(struct history *history)
{
    const uint64_t now_ns = hr_clock_ns();

    if (now_ns < history->due_ns)
        return;
    history->due_ns = now_ns + SAVE_NS;
    save_history(history);
}

void history_close(struct history *history)
{
    if (history == NULL)
        return;
    save_history(history);
    state_writer_close(history->writer);
    free(history->path);
    free(history);
}

/* --- Opening ------------------------------------------------------------------ */

static int open_writer(struct history *history, const char *path)
{
    history->path = option_state_path(path, HR_ROOM_HISTORY_FILE);
    if (history->path == NULL)
        return -ENOMEM;
    return state_writer_open("headroom state", write_bytes, history, &history->writer);
}

struct history *history_open(const char *path, struct hr_room_machine *machine, uint64_t point_ns)
{
    struct history *history = calloc(1, sizeof(*history));
    int status = history != NULL ? open_writer(history, path) : -ENOMEM;

    if (status < 0) {
        WARNING(PLUGIN ": after a restart forecasts will start without a history: %s.",
                STRERROR(-status));
        if (history != NULL)
            free(history->path);
        free(history);
        return NULL;
    }
    history->machine = machine;
    history->point_ns = point_ns;
    history->due_ns = hr_clock_ns() + SAVE_NS;
    restore_history(history);
    return history;
}
