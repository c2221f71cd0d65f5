/* SPDX-License-Identifier: MIT */
#include "psi/open_alarms.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>

#include "common/complaint.h"
#include "common/log.h"
#include "common/thread.h"
#include "utils/common/common.h"

#define PLUGIN "psi"

#define FIRST_LINE "headroom's open pressure alarms 1\n"
#define LAST_LINE  "end\n"

/* Some 50,000 alarms. */
#define TEXT_MAX (16 * 1024 * 1024)

struct psi_open_alarms {
    const char *path;
    char boot_id[HR_BOOT_ID_LENGTH + 1];
    struct psi_open_alarm_list unclaimed, ending;

    FILE *stream; /* of the text that is being made; NULL: memory is short */
    char *made;
    size_t made_length;

    struct thread writer; /* is woken when there is a text to write */
    pthread_mutex_t lock; /* of what follows */
    char *text;           /* NULL: it was written */
    size_t length;
    struct complaint failure;
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

static bool parse_inode(const char *word, uint64_t *inode)
{
    char *end;

    errno = 0;
    *inode = strtoull(word, &end, 10);
    return errno == 0 && word[0] >= '0' && word[0] <= '9' && *end == '\0';
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

/* "memory-stall\tmemory\tsome\t4711\tsystem.slice_a.service\tsystem.slice/a.service": trigger,
 * resource, level, inode, instance and path; of the system without a path. */
static int parse_alarm(char *line, struct psi_open_alarm_list *list)
{
    enum { RULE, RESOURCE, LEVEL, INODE, INSTANCE, FIELDS };
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
        !parse_inode(fields[INODE], &alarm->inode)) {
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
 *     memory-stall	memory	some	4711	system.slice_a.service	system.slice/a.service
 *     end
 *
 * Fields are separated by tabs. The path is the last one, as it may have tabs itself; the kernel
 * allows all but newlines in it.
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

static int read_file(const char *path, struct psi_open_alarms_text *parsed)
{
    size_t length;
    char *text = malloc(TEXT_MAX);

    int status = text == NULL ? -ENOMEM : hr_state_file_read(path, text, TEXT_MAX, &length);
    if (status == 0)
        status = psi_open_alarms_parse(text, length, parsed);
    free(text);
    return status;
}

static void log_unusable(const char *path, int status)
{
    const char *cause = status == -EPERM
                            ? "it may have been written by another user, or isn't a file"
                        : status == -EBADMSG ? "it isn't what this plugin writes"
                                             : STRERROR(-status);

    WARNING(PLUGIN ": the open alarms of the run before are lost, as %s can't be used: %s. Alarms "
                   "that it left open at the receivers must be closed there.",
            path, cause);
}

static void load(struct psi_open_alarms *alarms)
{
    struct psi_open_alarms_text parsed = {.boot_id = ""};

    if (hr_boot_id_read(alarms->boot_id) < 0)
        memset(alarms->boot_id, '0', HR_BOOT_ID_LENGTH);
    TAILQ_INIT(&parsed.list);
    int status = read_file(alarms->path, &parsed);
    if (status < 0) {
        if (status != -ENOENT)
            log_unusable(alarms->path, status);
        return;
    }
    TAILQ_CONCAT(&alarms->unclaimed, &parsed.list, entry);
}

/* --- The alarms ----------------------------------------------------------- */

/* By what receivers know of it: a group that was made again meanwhile is the same to them. */
static bool is_of(const struct psi_open_alarm *alarm, const struct psi_subject *subject)
{
    const struct hr_psi_trigger_options *was = &alarm->rule.trigger;
    const struct hr_psi_trigger_options *is = &subject->rule->trigger;

    return strcmp(alarm->rule.name, subject->rule->name) == 0 && was->resource == is->resource &&
           was->level == is->level && strcmp(alarm->instance, subject->instance) == 0;
}

bool psi_open_alarms_claim(struct psi_open_alarms *alarms, const struct psi_subject *subject)
{
    struct psi_open_alarm *alarm;

    TAILQ_FOREACH(alarm, &alarms->unclaimed, entry)
    {
        if (!is_of(alarm, subject))
            continue;
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

void psi_open_alarms_add_ending(struct psi_open_alarms *alarms, uint64_t id,
                                const struct psi_subject *subject, uint64_t inode)
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
    alarm->inode = inode;
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

size_t psi_open_alarms_remove_ended(struct psi_open_alarms *alarms,
                                    bool (*has_end)(void *context, uint64_t id), void *context)
{
    struct psi_open_alarm *alarm = TAILQ_FIRST(&alarms->ending);
    size_t left = 0;

    while (alarm != NULL) {
        struct psi_open_alarm *next = TAILQ_NEXT(alarm, entry);
        if (has_end(context, alarm->id)) {
            left++;
        } else {
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
    alarms->stream = open_memstream(&alarms->made, &alarms->made_length);
    if (alarms->stream != NULL)
        fprintf(alarms->stream, FIRST_LINE "boot %s\n", alarms->boot_id);
}

void psi_open_alarms_add(struct psi_open_alarms *alarms, const struct psi_subject *subject,
                         uint64_t inode)
{
    const struct psi_rule *rule = subject->rule;

    if (alarms->stream == NULL)
        return;
    fprintf(alarms->stream, "%s\t%s\t%s\t%" PRIu64 "\t%s", rule->name,
            hr_psi_resource_name(rule->trigger.resource), hr_psi_level_name(rule->trigger.level),
            inode, subject->instance);
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
        psi_open_alarms_add(alarms, &subject, alarm->inode);
    }
}

static bool finish_text(struct psi_open_alarms *alarms)
{
    if (alarms->stream == NULL)
        return false;
    add_list(alarms, &alarms->unclaimed);
    add_list(alarms, &alarms->ending);
    fputs(LAST_LINE, alarms->stream);
    bool is_complete = !ferror(alarms->stream);
    return fclose(alarms->stream) == 0 && is_complete;
}

void psi_open_alarms_commit(struct psi_open_alarms *alarms)
{
    char *made = NULL, *superseded;

    if (finish_text(alarms))
        made = alarms->made;
    else if (alarms->stream != NULL)
        free(alarms->made);
    alarms->stream = NULL;
    if (made == NULL) {
        ERROR(PLUGIN ": out of memory.");
        return;
    }
    pthread_mutex_lock(&alarms->lock);
    superseded = alarms->text;
    alarms->text = made;
    alarms->length = alarms->made_length;
    pthread_mutex_unlock(&alarms->lock);
    free(superseded);
    thread_wake(&alarms->writer);
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

/* The writer's, or, when it has ended, the last one's. */
static void write_text(struct psi_open_alarms *alarms)
{
    pthread_mutex_lock(&alarms->lock);
    char *text = alarms->text;
    size_t length = alarms->length;
    alarms->text = NULL;
    pthread_mutex_unlock(&alarms->lock);
    if (text == NULL)
        return;
    log_written(alarms, hr_state_file_write(alarms->path, text, length));
    free(text);
}

static void *writer_main(void *context)
{
    struct psi_open_alarms *alarms = context;

    while (thread_wait_until(&alarms->writer, UINT64_MAX, -1))
        write_text(alarms);
    return NULL;
}

/* --- Opening and closing -------------------------------------------------- */

static int start_writer(struct psi_open_alarms *alarms)
{
    int status = thread_open(&alarms->writer);

    if (status < 0)
        return status;
    return thread_start(&alarms->writer, writer_main, alarms, "psi state");
}

int psi_open_alarms_open(const char *path, struct psi_open_alarms **alarms)
{
    struct psi_open_alarms *opened = calloc(1, sizeof(*opened));

    if (opened == NULL)
        return -ENOMEM;
    opened->path = path;
    TAILQ_INIT(&opened->unclaimed);
    TAILQ_INIT(&opened->ending);
    pthread_mutex_init(&opened->lock, NULL);
    thread_init(&opened->writer);
    int status = start_writer(opened);
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
    thread_stop(&alarms->writer);
    write_text(alarms);
    psi_open_alarms_free_list(&alarms->unclaimed);
    psi_open_alarms_free_list(&alarms->ending);
    pthread_mutex_destroy(&alarms->lock);
    free(alarms);
}
