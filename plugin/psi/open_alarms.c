/* SPDX-License-Identifier: MIT */
#include "psi/open_alarms.h"

#include <errno.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/state_writer.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

#define FIRST_LINE "headroom's open pressure alarms 1\n"
#define LAST_LINE  "end\n"

/* Longer texts aren't read, so they aren't written either: some 50,000 alarms. */
#define TEXT_MAX (16 * 1024 * 1024)

/* What a line has but for the path, and the last line. */
#define LINE_MAX_WITHOUT_PATH 512

struct psi_open_alarms {
    const char *path;
    char boot_id[HR_BOOT_ID_LENGTH + 1];
    bool has_rebooted; /* since the file was written that was read */
    struct dispatcher *dispatcher;
    struct psi_open_alarm_list unclaimed, ending;
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

static void free_alarm(struct psi_open_alarm *alarm)
{
    free(alarm->path);
    free(alarm);
}

void psi_open_alarms_free_list(struct psi_open_alarm_list *list)
{
    struct psi_open_alarm *alarm;

    while ((alarm = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, alarm, entry);
        free_alarm(alarm);
    }
}

static bool parse_resource(const char *word, enum hr_psi_resource *resource)
{
    for (int i = 0; i < HR_PSI_RESOURCE_COUNT; i++)
        if (strcmp(word, hr_psi_resource_name(i)) == 0) {
            *resource = i;
            return true;
        }
    return false;
}

static bool parse_level(const char *word, enum hr_psi_level *level)
{
    for (int i = 0; i < HR_PSI_LEVEL_COUNT; i++)
        if (strcmp(word, hr_psi_level_name(i)) == 0) {
            *level = i;
            return true;
        }
    return false;
}

#define BEGINS "begins"
#define OPEN   "open"

static bool parse_sent(const char *word, enum psi_sent *sent)
{
    *sent = strcmp(word, OPEN) == 0 ? PSI_SENT : PSI_INHERITED;
    return *sent == PSI_SENT || strcmp(word, BEGINS) == 0;
}

/* The names are part of series: psi_rule_read() has limited them. */
static bool parse_names(struct psi_open_alarm *alarm, const char *rule, const char *instance)
{
    size_t length = strlen(rule);

    if (length == 0 || length >= sizeof(alarm->rule.name) || instance[0] == '\0' ||
        strlen(instance) >= sizeof(alarm->instance))
        return false;
    sstrncpy(alarm->rule.name, rule, sizeof(alarm->rule.name));
    snprintf(alarm->rule.type_instance, sizeof(alarm->rule.type_instance), "trigger_%s", rule);
    sstrncpy(alarm->instance, instance, sizeof(alarm->instance));
    return true;
}

/* "memory-stall\tmemory\tsome\topen\tsystem.slice_a.service\tsystem.slice/a.service": trigger,
 * resource, level, what was sent, instance and path; of the system without a path. */
static int parse_alarm(char *line, struct psi_open_alarm_list *list)
{
    enum { RULE, RESOURCE, LEVEL, SENT, INSTANCE, FIELDS };
    char *fields[FIELDS];
    struct psi_open_alarm *alarm = calloc(1, sizeof(*alarm));

    if (alarm == NULL)
        return -ENOMEM;
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = strsep(&line, "\t");
        if (line == NULL && i + 1 < FIELDS) {
            free_alarm(alarm);
            return -EBADMSG;
        }
    }
    if (!parse_names(alarm, fields[RULE], fields[INSTANCE]) ||
        !parse_resource(fields[RESOURCE], &alarm->rule.trigger.resource) ||
        !parse_level(fields[LEVEL], &alarm->rule.trigger.level) ||
        !parse_sent(fields[SENT], &alarm->sent)) {
        free_alarm(alarm);
        return -EBADMSG;
    }
    if (line != NULL && (alarm->path = strdup(line)) == NULL) {
        free_alarm(alarm);
        return -ENOMEM;
    }
    TAILQ_INSERT_TAIL(list, alarm, entry);
    return 0;
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
static int parse_lines(char *text, struct psi_open_alarms_text *parsed)
{
    char *line = take_line(&text);
    int status = 0;

    if (line == NULL || strncmp(line, "boot ", 5) != 0 || !hr_boot_id_is_valid(line + 5))
        return -EBADMSG;
    memcpy(parsed->boot_id, line + 5, sizeof(parsed->boot_id));
    while (status == 0 && (line = take_line(&text)) != NULL) {
        if (strcmp(line, "end") == 0)
            return text[0] == '\0' ? 0 : -EBADMSG;
        status = parse_alarm(line, &parsed->list);
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
int psi_open_alarms_parse(const char *text, size_t length, struct psi_open_alarms_text *parsed)
{
    const size_t first = strlen(FIRST_LINE);

    TAILQ_INIT(&parsed->list);
    if (length < first || memcmp(text, FIRST_LINE, first) != 0 ||
        memchr(text, '\0', length) != NULL)
        return -EBADMSG;
    char *copy = strndup(text + first, length - first);
    if (copy == NULL)
        return -ENOMEM;
    int status = parse_lines(copy, parsed);
    free(copy);
    if (status < 0)
        psi_open_alarms_free_list(&parsed->list);
    return status;
}

/* --- Reading -------------------------------------------------------------- */

static int read_file(const char *path, struct psi_open_alarms_text *parsed,
                     int (*read)(const char *, char *, size_t, size_t *))
{
    size_t length;
    char *text = malloc(TEXT_MAX);

    int status = text == NULL ? -ENOMEM : read(path, text, TEXT_MAX, &length);
    if (status == 0)
        status = psi_open_alarms_parse(text, length, parsed);
    free(text);
    return status;
}

/* A run that was killed may have left a newer text that is whole. It replaces the file now, as the
 * next text takes its place. */
static int read_newest(const char *path, struct psi_open_alarms_text *parsed)
{
    if (read_file(path, parsed, hr_state_file_read_prepared) < 0)
        return read_file(path, parsed, hr_state_file_read);
    hr_state_file_commit(path);
    return 0;
}

static void log_unusable(const char *path, int status)
{
    const char *cause = status == -EPERM
                            ? "it may have been written by another user, or isn't a file"
                        : status == -EBADMSG ? "it isn't what this plugin writes"
                                             : STRERROR(-status);

    WARNING(PLUGIN
            ": the open alarms of collectd's previous run are lost, as %s can't be used: %s. "
            "Close alarms that are still open at the receivers by hand.",
            path, cause);
}

static void load(struct psi_open_alarms *alarms)
{
    struct psi_open_alarms_text parsed = {.boot_id = ""};

    bool is_known = hr_boot_id_read(alarms->boot_id) == 0;
    if (!is_known)
        memset(alarms->boot_id, '0', HR_BOOT_ID_LENGTH);
    TAILQ_INIT(&parsed.list);
    int status = read_newest(alarms->path, &parsed);
    if (status < 0) {
        if (status != -ENOENT)
            log_unusable(alarms->path, status);
        return;
    }
    TAILQ_CONCAT(&alarms->unclaimed, &parsed.list, entry);
    alarms->has_rebooted = is_known && strcmp(parsed.boot_id, alarms->boot_id) != 0;
}

/* --- The alarms ----------------------------------------------------------- */

bool psi_open_alarm_is_by(const struct psi_open_alarm *alarm, const struct psi_rule *rule)
{
    const struct hr_psi_trigger_options *was = &alarm->rule.trigger, *is = &rule->trigger;

    return strcmp(alarm->rule.name, rule->name) == 0 && was->resource == is->resource &&
           was->level == is->level && (alarm->path == NULL) == rule->of_system;
}

/* By what receivers know of it: a group that was made again meanwhile is the same to them. */
static bool is_of(const struct psi_open_alarm *alarm, const struct psi_subject *subject)
{
    return psi_open_alarm_is_by(alarm, subject->rule) &&
           strcmp(alarm->instance, subject->instance) == 0;
}

bool psi_open_alarms_claim(struct psi_open_alarms *alarms, const struct psi_subject *subject,
                           enum psi_sent *sent)
{
    struct psi_open_alarm *alarm;

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

struct psi_open_alarm *psi_open_alarms_unclaimed(struct psi_open_alarms *alarms)
{
    return TAILQ_FIRST(&alarms->unclaimed);
}

bool psi_open_alarms_has_rebooted(const struct psi_open_alarms *alarms)
{
    return alarms->has_rebooted;
}

void psi_open_alarms_add_ending(struct psi_open_alarms *alarms, uint64_t id,
                                const struct psi_subject *subject, enum psi_sent sent)
{
    struct psi_open_alarm *alarm = calloc(1, sizeof(*alarm));

    if (alarm == NULL)
        return; /* then a crash before the end is dispatched loses it */
    alarm->rule = *subject->rule;
    sstrncpy(alarm->instance, subject->instance, sizeof(alarm->instance));
    if (subject->path != NULL && (alarm->path = strdup(subject->path)) == NULL) {
        free_alarm(alarm);
        return;
    }
    alarm->sent = sent;
    alarm->id = id;
    TAILQ_INSERT_TAIL(&alarms->ending, alarm, entry);
}

void psi_open_alarms_set_ending(struct psi_open_alarms *alarms, struct psi_open_alarm *alarm,
                                uint64_t id)
{
    TAILQ_REMOVE(&alarms->unclaimed, alarm, entry);
    alarm->id = id;
    TAILQ_INSERT_TAIL(&alarms->ending, alarm, entry);
}

enum psi_sent psi_open_alarms_take_ending(struct psi_open_alarms *alarms, uint64_t id)
{
    struct psi_open_alarm *alarm;
    enum psi_sent sent = PSI_SENT;

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

enum psi_sent psi_sent_now(enum psi_sent was, uint64_t id, const struct dispatcher_waiting *waiting)
{
    if (was == PSI_SENT || was == PSI_INHERITED)
        return was;
    if (waiting->current == id)
        return PSI_UNSURE;
    return dispatcher_waiting_has_beginning(waiting, id) ? was : PSI_SENT;
}

size_t psi_open_alarms_update_ending(struct psi_open_alarms *alarms,
                                     const struct dispatcher_waiting *waiting, bool is_last,
                                     bool *has_changed)
{
    struct psi_open_alarm *alarm = TAILQ_FIRST(&alarms->ending);
    size_t left = 0;

    while (alarm != NULL) {
        struct psi_open_alarm *next = TAILQ_NEXT(alarm, entry);
        enum psi_sent sent = psi_sent_now(alarm->sent, alarm->id, waiting);
        bool is_kept =
            (waiting->current == alarm->id || dispatcher_waiting_has_end(waiting, alarm->id)) &&
            !(is_last && sent == PSI_UNSENT);
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

void psi_open_alarms_begin(struct psi_open_alarms *alarms)
{
    alarms->left_out = 0;
    alarms->stream = open_memstream(&alarms->made, &alarms->made_length);
    if (alarms->stream != NULL)
        fprintf(alarms->stream, FIRST_LINE "boot %s\n", alarms->boot_id);
}

void psi_open_alarms_add(struct psi_open_alarms *alarms, const struct psi_subject *subject,
                         enum psi_sent sent)
{
    const struct psi_rule *rule = subject->rule;
    const size_t path_length = subject->path != NULL ? strlen(subject->path) : 0;

    if (alarms->stream == NULL)
        return;
    if ((size_t)ftello(alarms->stream) + path_length + LINE_MAX_WITHOUT_PATH >= TEXT_MAX) {
        alarms->left_out++;
        return;
    }
    fprintf(alarms->stream, "%s\t%s\t%s\t%s\t%s", rule->name,
            hr_psi_resource_name(rule->trigger.resource), hr_psi_level_name(rule->trigger.level),
            sent == PSI_SENT ? OPEN : BEGINS, subject->instance);
    if (subject->path != NULL)
        fprintf(alarms->stream, "\t%s", subject->path);
    fputc('\n', alarms->stream);
}

static void add_list(struct psi_open_alarms *alarms, const struct psi_open_alarm_list *list)
{
    const struct psi_open_alarm *alarm;

    TAILQ_FOREACH(alarm, list, entry)
    {
        const struct psi_subject subject = {&alarm->rule, alarm->instance, alarm->path};
        psi_open_alarms_add(alarms, &subject, alarm->sent);
    }
}

static void log_left_out(struct psi_open_alarms *alarms)
{
    if (alarms->left_out == 0)
        complaint_resolve(&alarms->too_long, PLUGIN ": all open alarms can be saved again.");
    else
        complaint_log(&alarms->too_long, LOG_WARNING, 1,
                      PLUGIN ": %zu of the open alarms aren't saved, as %s would be larger than "
                             "%d MiB: a restart of collectd leaves them open at the receivers.",
                      alarms->left_out, alarms->path, TEXT_MAX / (1024 * 1024));
}

static bool finish_text(struct psi_open_alarms *alarms)
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

void psi_open_alarms_commit(struct psi_open_alarms *alarms)
{
    char *made = NULL;

    if (finish_text(alarms))
        made = alarms->made;
    else if (alarms->stream != NULL)
        free(alarms->made);
    alarms->stream = NULL;
    if (made == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return;
    }
    const struct state_text text = {made, alarms->made_length, ++alarms->record};
    state_writer_put(alarms->writer, &text);
}

uint64_t psi_open_alarms_next_record(const struct psi_open_alarms *alarms)
{
    return alarms->record + 1;
}

/* --- Writing -------------------------------------------------------------- */

static void log_written(struct psi_open_alarms *alarms, int status)
{
    if (status == 0)
        complaint_resolve(&alarms->failure, PLUGIN ": the open alarms are being saved again.");
    else
        complaint_log(&alarms->failure, LOG_WARNING, status,
                      PLUGIN ": the open alarms can't be saved to %s, so a restart of collectd "
                             "leaves them open at the receivers: %s (option StateFile).",
                      alarms->path, STRERROR(-status));
}

/* What is prepared is there after a crash of collectd: alarms needn't wait for the disk. */
static void write_text(void *context, const struct state_text *text)
{
    struct psi_open_alarms *alarms = context;
    int status = hr_state_file_prepare(alarms->path, text->bytes, text->length);

    dispatcher_set_saved(alarms->dispatcher, text->number); /* or it can't be */
    log_written(alarms, status == 0 ? hr_state_file_commit(alarms->path) : status);
}

/* --- Opening and closing -------------------------------------------------- */

int psi_open_alarms_open(const char *path, struct dispatcher *dispatcher,
                         struct psi_open_alarms **alarms)
{
    struct psi_open_alarms *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->path = path;
    opened->dispatcher = dispatcher;
    TAILQ_INIT(&opened->unclaimed);
    TAILQ_INIT(&opened->ending);
    int status = state_writer_open("psi state", write_text, opened, &opened->writer);
    if (status < 0) {
        psi_open_alarms_close(opened);
        return status;
    }
    load(opened);
    *alarms = opened;
    return 0;
}

void psi_open_alarms_close(struct psi_open_alarms *alarms)
{
    if (alarms == NULL)
        return;
    state_writer_close(alarms->writer);
    psi_open_alarms_free_list(&alarms->unclaimed);
    psi_open_alarms_free_list(&alarms->ending);
    free(alarms);
}
