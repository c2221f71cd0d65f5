/* SPDX-License-Identifier: MIT */
#include "common/open_alarms.h"

#include <errno.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/state_wanted.h"
#include "common/state_writer.h"
#include "headroom/cgroup.h"
#include "utils/common/common.h"

#define LAST_LINE "end\n"

/* Longer texts aren't read, so they aren't written either: some 50,000 alarms. */
#define TEXT_MAX (16 * 1024 * 1024)

/* What a line has but for the path, and the last line. */
#define LINE_MAX_WITHOUT_PATH 512

struct open_alarms {
    const struct open_alarms_format *format;
    const char *path;
    char boot_id[HR_BOOT_ID_LENGTH + 1];
    bool has_rebooted; /* since the file was written that was read */
    struct dispatcher *dispatcher;
    struct open_alarm_list unclaimed, ending;
    uint64_t record; /* the number of the last text that was committed */

    FILE *stream; /* of the text that is being made; NULL: memory is short */
    char *made;
    size_t made_length;
    size_t left_out; /* alarms, as it would be too long */
    struct complaint too_long;

    struct state_writer *writer;
    struct complaint failure; /* the writer's */
};

/* --- Parsing -------------------------------------------------------------- */

static void free_alarm(struct open_alarm *alarm)
{
    free(alarm->path);
    free(alarm);
}

void open_alarms_free_list(struct open_alarm_list *list)
{
    struct open_alarm *alarm;

    while ((alarm = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, alarm, entry);
        free_alarm(alarm);
    }
}

#define BEGINS "begins"
#define OPEN   "open"

static bool parse_sent(const char *word, enum alarm_sent *sent)
{
    *sent = strcmp(word, OPEN) == 0 ? ALARM_SENT : ALARM_INHERITED;
    return *sent == ALARM_SENT || strcmp(word, BEGINS) == 0;
}

/* @return the first fields, terminated in place, with the tabs between them; NULL: there are fewer,
 * or none behind them. */
static char *take_key(char **line, size_t fields)
{
    char *key = *line, *end = strchr(key, '\t');

    for (size_t i = 1; i < fields && end != NULL; i++)
        end = strchr(end + 1, '\t');
    if (end == NULL)
        return NULL;
    *end = '\0';
    *line = end + 1;
    return key;
}

static bool parse_names(const struct open_alarms_format *format, struct open_alarm *alarm,
                        const char *key, const char *instance)
{
    if (strlen(key) >= sizeof(alarm->key) || instance[0] == '\0' ||
        strlen(instance) >= sizeof(alarm->instance))
        return false;
    sstrncpy(alarm->key, key, sizeof(alarm->key));
    sstrncpy(alarm->instance, instance, sizeof(alarm->instance));
    return format->is_key(key);
}

/* "memory-stall\tmemory\tsome\topen\tsystem.slice_a.service\tsystem.slice/a.service": the key, of
 * as many fields as the format has, what was sent, instance and path; of the system without a path.
 */
static int parse_fields(const struct open_alarms_format *format, char *line,
                        struct open_alarm *alarm)
{
    const char *key = take_key(&line, format->key_fields);
    const char *sent = strsep(&line, "\t"), *instance = strsep(&line, "\t");

    if (key == NULL || instance == NULL || !parse_sent(sent, &alarm->sent) ||
        !parse_names(format, alarm, key, instance))
        return -EBADMSG;
    if (line != NULL && (alarm->path = strdup(line)) == NULL)
        return -ENOMEM;
    return 0;
}

static int parse_alarm(const struct open_alarms_format *format, char *line,
                       struct open_alarm_list *list)
{
    struct open_alarm *alarm = calloc(1, sizeof(*alarm));

    if (alarm == NULL)
        return -ENOMEM;
    int status = parse_fields(format, line, alarm);
    if (status < 0)
        free_alarm(alarm);
    else
        TAILQ_INSERT_TAIL(list, alarm, entry);
    return status;
}

/* @return the next line, terminated in place; NULL: there is none. */
static char *take_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');

    if (end == NULL)
        return NULL;
    *end = '\0';
    *rest = end + 1;
    return line;
}

/* After the first line. @param text  terminated; changed. */
static int parse_lines(const struct open_alarms_format *format, char *text,
                       struct open_alarms_text *parsed)
{
    char *line = take_line(&text);
    int status = 0;

    if (line == NULL || strncmp(line, "boot ", 5) != 0 || !hr_boot_id_is_valid(line + 5))
        return -EBADMSG;
    memcpy(parsed->boot_id, line + 5, sizeof(parsed->boot_id));
    while (status == 0 && (line = take_line(&text)) != NULL) {
        if (strcmp(line, "end") == 0)
            return text[0] == '\0' ? 0 : -EBADMSG;
        status = parse_alarm(format, line, &parsed->list);
    }
    return status < 0 ? status : -EBADMSG;
}

/*
 *     headroom's open pressure alarms 1
 *     boot 6c1a0f6e-5a5c-4a53-b1a5-9f0d3c6c2d11
 *     memory-stall	memory	some	open	system.slice_a.service	system.slice/a.service
 *     end
 *
 * "open": the beginning was dispatched; "begins": it may have been. Fields are separated by tabs.
 * The path is the last one, as it may have tabs itself; the kernel allows all but newlines in it.
 */
int open_alarms_parse(const struct open_alarms_format *format, const char *text, size_t length,
                      struct open_alarms_text *parsed)
{
    const size_t first = strlen(format->first_line);

    TAILQ_INIT(&parsed->list);
    if (length < first || memcmp(text, format->first_line, first) != 0 ||
        memchr(text, '\0', length) != NULL)
        return -EBADMSG;
    char *copy = strndup(text + first, length - first);
    if (copy == NULL)
        return -ENOMEM;
    int status = parse_lines(format, copy, parsed);
    free(copy);
    if (status < 0)
        open_alarms_free_list(&parsed->list);
    return status;
}

/* --- Reading -------------------------------------------------------------- */

static int read_file(const struct open_alarms_format *format, const char *path,
                     struct open_alarms_text *parsed,
                     int (*read)(const char *, char *, size_t, size_t *))
{
    size_t length;
    char *text = malloc(TEXT_MAX);

    int status = text == NULL ? -ENOMEM : read(path, text, TEXT_MAX, &length);
    if (status == 0)
        status = open_alarms_parse(format, text, length, parsed);
    free(text);
    return status;
}

/* A run that was killed may have left a newer text that is whole. It replaces the file now, as the
 * next text takes its place. */
static int read_newest(const struct open_alarms_format *format, const char *path,
                       struct open_alarms_text *parsed)
{
    if (read_file(format, path, parsed, hr_state_file_read_prepared) < 0)
        return read_file(format, path, parsed, hr_state_file_read);
    hr_state_file_commit(path);
    return 0;
}

static void log_unusable(const struct open_alarms *alarms, int status)
{
    const char *cause = status == -EPERM
                            ? "it may have been written by another user, or isn't a file"
                        : status == -EBADMSG ? "it isn't what this plugin writes"
                                             : STRERROR(-status);

    WARNING("%s: the open alarms of collectd's previous run are lost, as %s can't be used: %s. "
            "Close alarms that are still open at the receivers by hand.",
            alarms->format->plugin, alarms->path, cause);
}

static void load(struct open_alarms *alarms)
{
    struct open_alarms_text parsed = {.boot_id = ""};

    bool is_known = hr_boot_id_read(alarms->boot_id) == 0;
    if (!is_known)
        memset(alarms->boot_id, '0', HR_BOOT_ID_LENGTH);
    TAILQ_INIT(&parsed.list);
    int status = read_newest(alarms->format, alarms->path, &parsed);
    if (status < 0) {
        if (status != -ENOENT)
            log_unusable(alarms, status);
        return;
    }
    TAILQ_CONCAT(&alarms->unclaimed, &parsed.list, entry);
    alarms->has_rebooted = is_known && strcmp(parsed.boot_id, alarms->boot_id) != 0;
}

/* --- The alarms ----------------------------------------------------------- */

/* By what receivers know of it: a group that was made again meanwhile is the same to them. */
static bool is_of(const struct open_alarm *alarm, const struct open_alarm_subject *subject)
{
    return strcmp(alarm->key, subject->key) == 0 &&
           (alarm->path == NULL) == (subject->path == NULL) &&
           strcmp(alarm->instance, subject->instance) == 0;
}

bool open_alarms_claim(struct open_alarms *alarms, const struct open_alarm_subject *subject,
                       enum alarm_sent *sent)
{
    struct open_alarm *alarm;

    TAILQ_FOREACH(alarm, &alarms->unclaimed, entry)
    {
        if (!is_of(alarm, subject))
            continue;
        *sent = alarm->sent;
        TAILQ_REMOVE(&alarms->unclaimed, alarm, entry);
        free_alarm(alarm);
        return true;
    }
    return false;
}

struct open_alarm *open_alarms_unclaimed(struct open_alarms *alarms)
{
    return TAILQ_FIRST(&alarms->unclaimed);
}

bool open_alarms_has_rebooted(const struct open_alarms *alarms)
{
    return alarms->has_rebooted;
}

const char *open_alarms_explain(const struct open_alarms *alarms, const struct open_alarm *alarm,
                                const struct hr_root *root, const char *unconfigured,
                                const char *unselected)
{
    const int status = alarm->path != NULL ? hr_cgroup_find(root, alarm->path) : 0;

    if (status == -ENOENT)
        return alarms->has_rebooted ? "its cgroup is gone since the machine was rebooted"
                                    : "its cgroup is gone since collectd was restarted";
    if (unconfigured != NULL)
        return unconfigured;
    return status == 0 ? unselected : "its cgroup is gone, or no longer selected";
}

void open_alarms_add_ending(struct open_alarms *alarms, uint64_t id,
                            const struct open_alarm_subject *subject, enum alarm_sent sent)
{
    struct open_alarm *alarm = calloc(1, sizeof(*alarm));

    if (alarm == NULL)
        return; /* then a crash before the end is dispatched loses it */
    sstrncpy(alarm->key, subject->key, sizeof(alarm->key));
    sstrncpy(alarm->instance, subject->instance, sizeof(alarm->instance));
    if (subject->path != NULL && (alarm->path = strdup(subject->path)) == NULL) {
        free_alarm(alarm);
        return;
    }
    alarm->sent = sent;
    alarm->id = id;
    TAILQ_INSERT_TAIL(&alarms->ending, alarm, entry);
}

void open_alarms_set_ending(struct open_alarms *alarms, struct open_alarm *alarm, uint64_t id)
{
    TAILQ_REMOVE(&alarms->unclaimed, alarm, entry);
    alarm->id = id;
    TAILQ_INSERT_TAIL(&alarms->ending, alarm, entry);
}

enum alarm_sent open_alarms_take_ending(struct open_alarms *alarms, uint64_t id)
{
    struct open_alarm *alarm;
    enum alarm_sent sent = ALARM_SENT;

    TAILQ_FOREACH(alarm, &alarms->ending, entry)
    if (alarm->id == id)
        break;
    if (alarm != NULL) {
        sent = alarm->sent;
        TAILQ_REMOVE(&alarms->ending, alarm, entry);
        free_alarm(alarm);
    }
    return sent;
}

enum alarm_sent alarm_sent_now(enum alarm_sent was, uint64_t id,
                               const struct dispatcher_waiting *waiting)
{
    if (was == ALARM_SENT || was == ALARM_INHERITED)
        return was;
    if (waiting->current == id)
        return ALARM_UNSURE;
    return dispatcher_waiting_has_beginning(waiting, id) ? was : ALARM_SENT;
}

size_t open_alarms_update_ending(struct open_alarms *alarms,
                                 const struct dispatcher_waiting *waiting, bool is_last,
                                 bool *has_changed)
{
    struct open_alarm *alarm = TAILQ_FIRST(&alarms->ending);
    size_t left = 0;

    while (alarm != NULL) {
        struct open_alarm *next = TAILQ_NEXT(alarm, entry);
        enum alarm_sent sent = alarm_sent_now(alarm->sent, alarm->id, waiting);
        bool is_kept =
            (waiting->current == alarm->id || dispatcher_waiting_has_end(waiting, alarm->id)) &&
            !(is_last && sent == ALARM_UNSENT);
        *has_changed = *has_changed || !is_kept || sent != alarm->sent;
        alarm->sent = sent;
        left += is_kept;
        if (!is_kept) {
            TAILQ_REMOVE(&alarms->ending, alarm, entry);
            free_alarm(alarm);
        }
        alarm = next;
    }
    return left;
}

/* --- The file's text ------------------------------------------------------ */

void open_alarms_begin(struct open_alarms *alarms)
{
    alarms->left_out = 0;
    alarms->stream = open_memstream(&alarms->made, &alarms->made_length);
    if (alarms->stream != NULL)
        fprintf(alarms->stream, "%sboot %s\n", alarms->format->first_line, alarms->boot_id);
}

void open_alarms_add(struct open_alarms *alarms, const struct open_alarm_subject *subject,
                     enum alarm_sent sent)
{
    const size_t path_length = subject->path != NULL ? strlen(subject->path) : 0;

    if (alarms->stream == NULL)
        return;
    if ((size_t)ftello(alarms->stream) + path_length + LINE_MAX_WITHOUT_PATH >= TEXT_MAX) {
        alarms->left_out++;
        return;
    }
    fprintf(alarms->stream, "%s\t%s\t%s", subject->key, sent == ALARM_SENT ? OPEN : BEGINS,
            subject->instance);
    if (subject->path != NULL)
        fprintf(alarms->stream, "\t%s", subject->path);
    fputc('\n', alarms->stream);
}

static void add_list(struct open_alarms *alarms, const struct open_alarm_list *list)
{
    const struct open_alarm *alarm;

    TAILQ_FOREACH(alarm, list, entry)
    {
        const struct open_alarm_subject subject = {alarm->key, alarm->instance, alarm->path};
        open_alarms_add(alarms, &subject, alarm->sent);
    }
}

static void log_left_out(struct open_alarms *alarms)
{
    if (alarms->left_out == 0)
        complaint_resolve(&alarms->too_long, "%s: all open alarms can be saved again.",
                          alarms->format->plugin);
    else
        complaint_log(&alarms->too_long, LOG_WARNING, 1,
                      "%s: %zu of the open alarms aren't saved, as %s would be larger than %d MiB: "
                      "a restart of collectd leaves them open at the receivers.",
                      alarms->format->plugin, alarms->left_out, alarms->path,
                      TEXT_MAX / (1024 * 1024));
}

static bool finish_text(struct open_alarms *alarms)
{
    if (alarms->stream == NULL)
        return false;
    add_list(alarms, &alarms->unclaimed);
    add_list(alarms, &alarms->ending);
    fputs(LAST_LINE, alarms->stream);
    log_left_out(alarms);
    bool is_complete = !ferror(alarms->stream);
    return fclose(alarms->stream) == 0 && is_complete;
}

void open_alarms_commit(struct open_alarms *alarms)
{
    char *made = NULL;

    if (finish_text(alarms))
        made = alarms->made;
    else if (alarms->stream != NULL)
        free(alarms->made);
    alarms->stream = NULL;
    if (made == NULL) {
        ERROR("%s: out of memory.", alarms->format->plugin);
        return;
    }
    const struct state_text text = {made, alarms->made_length, ++alarms->record};
    state_writer_put(alarms->writer, &text);
}

uint64_t open_alarms_next_record(const struct open_alarms *alarms)
{
    return alarms->record + 1;
}

/* --- Writing -------------------------------------------------------------- */

static void log_written(struct open_alarms *alarms, int status)
{
    if (status == 0)
        complaint_resolve(&alarms->failure, "%s: the open alarms are being saved again.",
                          alarms->format->plugin);
    else
        complaint_log(&alarms->failure, LOG_WARNING, status,
                      "%s: the open alarms can't be saved to %s, so a restart of collectd leaves "
                      "them open at the receivers: %s (option StateFile).",
                      alarms->format->plugin, alarms->path, STRERROR(-status));
}

/* What is prepared is there after a crash of collectd: alarms needn't wait for the disk. */
static void write_text(void *context, const struct state_text *text)
{
    struct open_alarms *alarms = context;

    if (!state_is_wanted(alarms->path)) {
        dispatcher_set_saved(alarms->dispatcher, text->number);
        return;
    }
    int status = hr_state_file_prepare(alarms->path, text->bytes, text->length);
    dispatcher_set_saved(alarms->dispatcher, text->number); /* or it can't be */
    log_written(alarms, status == 0 ? hr_state_file_commit(alarms->path) : status);
}

/* --- Opening and closing -------------------------------------------------- */

int open_alarms_open(const struct open_alarms_format *format, const char *path,
                     struct dispatcher *dispatcher, struct open_alarms **alarms)
{
    struct open_alarms *opened = calloc(1, sizeof(*opened));
    char name[16]; /* the kernel's limit */

    if (opened == NULL)
        return -ENOMEM;
    opened->format = format;
    opened->path = path;
    opened->dispatcher = dispatcher;
    TAILQ_INIT(&opened->unclaimed);
    TAILQ_INIT(&opened->ending);
    snprintf(name, sizeof(name), "%s alarms", format->plugin);
    int status = state_writer_open(name, write_text, opened, &opened->writer);
    if (status < 0) {
        open_alarms_close(opened);
        return status;
    }
    load(opened);
    *alarms = opened;
    return 0;
}

void open_alarms_close(struct open_alarms *alarms)
{
    if (alarms == NULL)
        return;
    state_writer_close(alarms->writer);
    open_alarms_free_list(&alarms->unclaimed);
    open_alarms_free_list(&alarms->ending);
    free(alarms);
}
