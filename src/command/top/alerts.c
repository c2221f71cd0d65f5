/* SPDX-License-Identifier: MIT */
#include "top/alerts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/identifier.h"
#include "common/short_name.h"
#include "headroom/array.h"
#include "top/alarms.h"
#include "top/alert_order.h"
#include "top/alert_text.h"
#include "top/memory.h"

enum {
    /* Of a file that exists at the start, and of what was appended since the last reading. collectd
     * logs an OKAY of each series when it starts. */
    BACKLOG_BYTES = 1024 * 1024,
    LINE_BYTES = 2048 /* a notification has at most 1,060 */
};

/* --- A line --------------------------------------------------------------- */

static const char *const words[] = {
    [ALERT_FAILURE] = "FAILURE",
    [ALERT_WARNING] = "WARNING",
    [ALERT_OKAY] = "OKAY",
};

enum { WORD_COUNT = sizeof(words) / sizeof(words[0]) };

enum field { HOST, PLUGIN, INSTANCE, TYPE, TYPE_INSTANCE, MESSAGE, FIELD_COUNT };

/* The text before each field, in the order of the line. */
static const char *const field_prefixes[FIELD_COUNT] = {
    [HOST] = ", host = ",
    [PLUGIN] = ", plugin = ",
    [INSTANCE] = ", plugin_instance = ",
    [TYPE] = ", type = ",
    [TYPE_INSTANCE] = ", type_instance = ",
    [MESSAGE] = ", message = ",
};

static void advance_piece(struct piece *rest, size_t length)
{
    rest->start += length;
    rest->length -= length;
}

static bool skip_text(struct piece *rest, const char *text)
{
    size_t length = strlen(text);
    if (rest->length < length || memcmp(rest->start, text, length) != 0)
        return false;
    advance_piece(rest, length);
    return true;
}

/* Parses "[TIME] ". Returns the time; an empty piece where there is none. */
static struct piece parse_time(struct piece *rest)
{
    static const char shape[] = "[dddd-dd-dd dd:dd:dd] ";
    const size_t length = sizeof(shape) - 1;
    if (rest->length < length)
        return (struct piece){0};
    for (size_t i = 0; i < length; i++) {
        char found = rest->start[i];
        if (shape[i] == 'd' ? !isdigit((unsigned char)found) : found != shape[i])
            return (struct piece){0};
    }
    struct piece time = {rest->start + 1, length - strlen("[] ")};
    advance_piece(rest, length);
    return time;
}

static bool parse_severity(struct piece *rest, enum alert_severity *severity)
{
    for (int i = 0; i < WORD_COUNT; i++) {
        if (skip_text(rest, words[i])) {
            *severity = (enum alert_severity)i;
            return true;
        }
    }
    return false;
}

/* A field ends where a later one begins. The message is the last, with any text. */
static void parse_fields(struct piece *rest, struct piece fields[FIELD_COUNT])
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (!skip_text(rest, field_prefixes[i]))
            continue;
        fields[i] = *rest;
        for (int later = i + 1; later < FIELD_COUNT; later++) {
            const char *end = memmem(fields[i].start, fields[i].length, field_prefixes[later],
                                     strlen(field_prefixes[later]));
            if (end != NULL)
                fields[i].length = (size_t)(end - fields[i].start);
        }
        advance_piece(rest, fields[i].length);
    }
}

static void copy_piece(const struct piece *piece, char *text, size_t size)
{
    size_t length = piece->length < size ? piece->length : size - 1;
    if (length > 0)
        memcpy(text, piece->start, length);
    text[length] = '\0';
}

/* Of collectd's; only there if the logfile plugin's LogLevel is "info" or "debug". */
static bool is_start(const char *line, size_t length)
{
    struct piece rest = {line, length};

    parse_time(&rest);
    skip_text(&rest, "[info] ");
    return piece_is(&rest, "Initialization complete, entering read-loop.");
}

int alert_parse(const char *line, size_t length, struct alert *alert)
{
    struct piece rest = {line, length}, fields[FIELD_COUNT] = {0};
    struct piece time = parse_time(&rest);
    enum alert_severity severity;
    skip_text(&rest, "[info] ");
    if (!skip_text(&rest, "Notification: severity = ") || !parse_severity(&rest, &severity))
        return -EBADMSG;
    parse_fields(&rest, fields);
    if (rest.length > 0 || memchr(line, '\0', length) != NULL)
        return -EBADMSG;
    if (fields[PLUGIN].length == 0 || !plugin_is_ours(&fields[PLUGIN]))
        return -ENOENT;
    alert->severity = severity;
    copy_piece(&time, alert->time, sizeof(alert->time));
    copy_piece(&fields[HOST], alert->host, sizeof(alert->host));
    copy_piece(&fields[PLUGIN], alert->plugin, sizeof(alert->plugin));
    copy_piece(&fields[INSTANCE], alert->instance, sizeof(alert->instance));
    copy_piece(&fields[TYPE], alert->type, sizeof(alert->type));
    copy_piece(&fields[TYPE_INSTANCE], alert->type_instance, sizeof(alert->type_instance));
    copy_piece(&fields[MESSAGE], alert->message, sizeof(alert->message));
    alert->place[0] = alert->path[0] = '\0';
    alert->lasts = alert->is_over = alert->is_replaced = false;
    alert->lacks_values = alert->is_unwatched = alert->is_old = alert->takes = alert->is_wider =
        false;
    alert->group = GROUP_UNKNOWN;
    return 0;
}

bool alert_lasts(const struct alert *alert)
{
    return alert->lasts && !alert->is_unwatched;
}

/* Whether an earlier one that lasts is of the same wait. */
static bool is_counted(const struct alert_list *list, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (alert_is_first(&list->entries[i]) &&
            alarms_share_wait(&list->entries[i], &list->entries[at]))
            return true;
    return false;
}

size_t alerts_count_lasting(const struct alert_list *list)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += alert_is_first(&list->entries[i]) && !is_counted(list, i);
    return count;
}

const char *alert_word(enum alert_severity severity)
{
    return words[severity];
}

const char *alert_clock(const struct alert *alert)
{
    return alert->time[0] != '\0' ? alert->time + strlen("2026-11-21 ") : "-";
}

/* --- The file ------------------------------------------------------------- */

struct alerts {
    char *path;
    int fd; /* -1: it didn't exist yet */
    off_t offset;
    bool started;          /* it was read, or found not to exist */
    char line[LINE_BYTES]; /* a line without its end so far */
    size_t used;
    bool skipping; /* up to the line feed: the line began before `offset`, or is too long */
    struct alert_list found;
    size_t capacity;
    struct alarms alarms;
};

int alerts_open(const char *path, struct alerts **result)
{
    struct alerts *alerts = calloc(1, sizeof(*alerts));
    char *copied = strdup(path);
    if (alerts == NULL || copied == NULL) {
        free(alerts);
        free(copied);
        return -ENOMEM;
    }
    alerts->path = copied;
    alerts->fd = -1;
    *result = alerts;
    return 0;
}

void alerts_close(struct alerts *alerts)
{
    if (alerts == NULL)
        return;
    if (alerts->fd >= 0)
        close(alerts->fd);
    alarms_free(&alerts->alarms);
    free(alerts->found.entries);
    free(alerts->path);
    free(alerts);
}

const struct alert_list *alerts_found(const struct alerts *alerts)
{
    return &alerts->found;
}

/* Drops the oldest of those that don't last, while there are more than ALERTS_SHOWN. One that isn't
 * watched may begin again, as collectd has no values yet when it starts. */
static void keep_last(struct alerts *alerts)
{
    struct alert_list *list = &alerts->found;
    if (list->count == 0)
        return;
    const size_t first_fresh = list->count - list->fresh;
    size_t surplus = list->count > ALERTS_SHOWN ? list->count - ALERTS_SHOWN : 0, kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct alert *alert = &list->entries[i];
        alert->is_old =
            alert->is_old || (alert->lasts && alarm_is_old(alert, &list->entries[list->count - 1]));
        alert->lasts = alert->lasts && !alert->is_old;
        if (surplus > 0 && !alert_lasts(alert)) {
            if (alert->lasts)
                alarms_forget(&alerts->alarms, alert);
            surplus--;
            list->fresh -= i >= first_fresh;
        } else if (kept++ < i) {
            list->entries[kept - 1] = *alert;
        }
    }
    list->count = kept < ALERTS_LASTING ? kept : ALERTS_LASTING;
    memmove(list->entries, list->entries + kept - list->count,
            list->count * sizeof(*list->entries));
    if (list->fresh > list->count)
        list->fresh = list->count;
}

/* Those that a later one ends, or says more of, as it is worse. */
static void end_earlier(struct alerts *alerts, const struct alert *later)
{
    for (size_t i = 0; i < alerts->found.count; i++) {
        struct alert *alert = &alerts->found.entries[i];
        if ((!alert->lasts && !alert->is_replaced) ||
            !alarms_is_ended_by(&alerts->alarms, alert, later))
            continue;
        alert->lasts = false;
        alert->is_over = later->severity == ALERT_OKAY;
        alert->is_replaced = !alert->is_over;
    }
}

static int append_alert(struct alerts *alerts, const struct alert *alert)
{
    struct alert_list *list = &alerts->found;
    if (HR_ARRAY_RESERVE(list->entries, alerts->capacity, list->count + 1) != 0)
        return -ENOMEM;
    end_earlier(alerts, alert);
    list->entries[list->count] = *alert;
    list->entries[list->count++].lasts = alarm_has_end(alert);
    list->fresh++;
    return 0;
}

static void append_to_line(struct alerts *alerts, const char *bytes, size_t length)
{
    if (length > sizeof(alerts->line) - alerts->used)
        alerts->skipping = true;
    if (alerts->skipping)
        return;
    memcpy(alerts->line + alerts->used, bytes, length);
    alerts->used += length;
}

/* Drops the alert of an alarm, as a later one says more. */
static void drop_alert(void *context, const struct alarm *alarm)
{
    struct alert_list *list = context;
    size_t at = list->count;

    while (at > 0 && !alarm_is_begun_by(alarm, &list->entries[at - 1]))
        at--;
    if (at == 0)
        return; /* it is too old to be shown */
    if (at > list->count - list->fresh)
        list->fresh--;
    memmove(list->entries + at - 1, list->entries + at,
            (list->count - at) * sizeof(*list->entries));
    list->count--;
}

/* Appends an alert, unless it has nothing new to say. */
static int take_alert(struct alerts *alerts, const struct alert *alert)
{
    int status = alarms_take(&alerts->alarms, alert, drop_alert, &alerts->found);

    return status > 0 ? append_alert(alerts, alert) : status;
}

static int parse_line(struct alerts *alerts)
{
    struct alert alert;
    bool found = !alerts->skipping && alert_parse(alerts->line, alerts->used, &alert) == 0;

    if (!alerts->skipping && is_start(alerts->line, alerts->used))
        alarms_restart(&alerts->alarms);
    alerts->used = 0;
    alerts->skipping = false;
    return found ? take_alert(alerts, &alert) : 0;
}

static int parse_bytes(struct alerts *alerts, const char *bytes, size_t length)
{
    while (length > 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t part = end != NULL ? (size_t)(end - bytes) : length;
        append_to_line(alerts, bytes, part);
        if (end == NULL)
            return 0;
        int status = parse_line(alerts);
        if (status != 0)
            return status;
        bytes += part + 1;
        length -= part + 1;
    }
    return 0;
}

/* Continues at another place: the line that was begun is dropped. */
static void restart_at(struct alerts *alerts, off_t offset)
{
    alerts->offset = offset;
    alerts->used = 0;
    alerts->skipping = false;
}

/* Skips what exceeds the limit, and the rest of that line. */
static void skip_backlog(struct alerts *alerts, off_t size)
{
    if (size - alerts->offset <= BACKLOG_BYTES)
        return;
    /* One byte earlier: if that is a line feed, the first line is complete. */
    restart_at(alerts, size - BACKLOG_BYTES - 1);
    alerts->skipping = true;
}

/* Reads what was appended to the open file. */
static int read_added(struct alerts *alerts)
{
    struct stat info;
    char bytes[16 * 1024];
    if (fstat(alerts->fd, &info) != 0)
        return -errno;
    if (info.st_size < alerts->offset)
        restart_at(alerts, 0);
    skip_backlog(alerts, info.st_size);
    alerts->started = true;
    /* Only to the size it had: it may grow as fast as we read. */
    while (alerts->offset < info.st_size) {
        off_t left = info.st_size - alerts->offset;
        size_t wanted = left < (off_t)sizeof(bytes) ? (size_t)left : sizeof(bytes);
        ssize_t length = pread(alerts->fd, bytes, wanted, alerts->offset);
        if (length <= 0)
            return length < 0 ? -errno : 0;
        alerts->offset += length;
        int status = parse_bytes(alerts, bytes, (size_t)length);
        if (status != 0)
            return status;
    }
    return 0;
}

/* Opens the file that is at the path now. */
static int open_file(const char *path, int *result)
{
    struct stat info;
    /* Without O_NONBLOCK a pipe without a writer would block. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int status = fstat(fd, &info) != 0   ? -errno
                 : S_ISREG(info.st_mode) ? 0
                 : S_ISDIR(info.st_mode) ? -EISDIR
                                         : -EINVAL;
    if (status != 0) {
        close(fd);
        return status;
    }
    *result = fd;
    return 0;
}

/* Inode numbers suffice: that of an open file isn't reused. */
static bool same_file(int a, int b)
{
    struct stat first, second;
    return a >= 0 && b >= 0 && fstat(a, &first) == 0 && fstat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* Reads the rest of the open file, then the file that replaced it. */
static int read_all(struct alerts *alerts)
{
    int fd = -1;
    int opened = open_file(alerts->path, &fd);
    int status = alerts->fd >= 0 ? read_added(alerts) : 0;
    if (opened != 0)
        return opened;
    if (same_file(fd, alerts->fd)) {
        close(fd);
        return status;
    }
    if (alerts->fd >= 0)
        close(alerts->fd);
    alerts->fd = fd;
    restart_at(alerts, 0);
    return read_added(alerts);
}

/* The first reading goes by one list of series. Later ones go by two, as one may be from before the
 * alert, or from the middle of the first interval after collectd's start. */
static void find_unwatched(struct alerts *alerts, bool first)
{
    struct alert_list *list = &alerts->found;

    for (size_t i = 0; i < list->count; i++) {
        struct alert *alert = &list->entries[i];
        const bool lacked = first || alert->lacks_values;
        alert->lacks_values = alert->lasts && alarms_lack_values(&alerts->alarms, alert);
        alert->is_unwatched = lacked && alert->lacks_values;
    }
}

/* By then the group may be gone, as with an alert of a log that is read for the first time. */
static void find_place(struct alert *alert, const struct memory_reader *memory)
{
    const char *path = memory_find_path(memory, alert->host, alert->instance);

    if (path == NULL)
        return;
    short_name(alert->instance, path, alert->place);
    /* A part of it would be another group's. */
    if (strlen(path) < sizeof(alert->path))
        strcpy(alert->path, path);
}

/* As an earlier one has it, when the group was there. */
static void take_place(const struct alert_list *list, struct alert *alert)
{
    for (const struct alert *earlier = alert; earlier-- > list->entries;)
        if (earlier->place[0] != '\0' && strcmp(earlier->instance, alert->instance) == 0 &&
            strcmp(earlier->host, alert->host) == 0) {
            strcpy(alert->place, earlier->place);
            strcpy(alert->path, earlier->path);
            return;
        }
}

static void find_places(struct alert_list *list, const struct memory_reader *memory)
{
    for (size_t i = 0; i < list->count && memory != NULL; i++) {
        struct alert *alert = &list->entries[i];
        if (alert->place[0] == '\0')
            find_place(alert, memory);
        if (alert->place[0] == '\0')
            take_place(list, alert);
        if (alert_lacks_group(alert) && alert->group == GROUP_UNKNOWN)
            alert->group = memory_find_state(memory, alert->host, alert->instance, alert->path);
    }
}

void alerts_mark(struct alerts *alerts, const struct table *table)
{
    alert_order_mark(&alerts->found, table);
}

int alerts_read(struct alerts *alerts, const struct known_series *known,
                const struct memory_reader *memory)
{
    bool first = !alerts->started;
    alerts->found.fresh = 0;
    keep_last(alerts);
    alerts->alarms.known = known;
    int status = read_all(alerts);
    find_unwatched(alerts, first);
    find_places(&alerts->found, memory);
    if (first) {
        keep_last(alerts);
        if (alerts->found.fresh > ALERTS_SHOWN)
            alerts->found.fresh = ALERTS_SHOWN;
    }
    /* All of a file that is created from now on is new. */
    if (status == -ENOENT)
        alerts->started = true;
    return status;
}
