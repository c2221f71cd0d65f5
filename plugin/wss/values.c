/* SPDX-License-Identifier: MIT */
#include "wss/values.h"

#include <sys/queue.h>

#include "common/submit.h"

#define PLUGIN "wss"

/* The most results that wait for a read callback that isn't called: 10 MB. */
#define MAX_WAITING 32768

struct entry {
    STAILQ_ENTRY(entry) link;
    struct wss_result result;
};

STAILQ_HEAD(entries, entry);

struct wss_values {
    pthread_mutex_t lock;
    struct entries waiting;
    struct entries spare; /* so that nothing is allocated in the long run */
    size_t waiting_count;
};

struct wss_values *wss_values_new(void)
{
    struct wss_values *values = calloc(1, sizeof(*values));

    if (values == NULL)
        return NULL;
    pthread_mutex_init(&values->lock, NULL);
    STAILQ_INIT(&values->waiting);
    STAILQ_INIT(&values->spare);
    return values;
}

static void free_entries(struct entries *entries)
{
    for (struct entry *entry; (entry = STAILQ_FIRST(entries)) != NULL;) {
        STAILQ_REMOVE_HEAD(entries, link);
        free(entry);
    }
}

void wss_values_free(struct wss_values *values)
{
    if (values == NULL)
        return;
    free_entries(&values->waiting);
    free_entries(&values->spare);
    pthread_mutex_destroy(&values->lock);
    free(values);
}

/* @return an entry that isn't in use; NULL if memory is short. */
static struct entry *take_entry(struct wss_values *values)
{
    struct entries *from = &values->spare;

    if (values->waiting_count == MAX_WAITING) {
        from = &values->waiting;
        values->waiting_count--;
    }
    struct entry *entry = STAILQ_FIRST(from);
    if (entry == NULL)
        return malloc(sizeof(*entry));
    STAILQ_REMOVE_HEAD(from, link);
    return entry;
}

void wss_values_add(struct wss_values *values, const struct wss_result *result)
{
    pthread_mutex_lock(&values->lock);
    struct entry *entry = take_entry(values);
    if (entry != NULL) {
        entry->result = *result;
        STAILQ_INSERT_TAIL(&values->waiting, entry, link);
        values->waiting_count++;
    }
    pthread_mutex_unlock(&values->lock);
}

/* --- Publishing ----------------------------------------------------------- */

/* "referenced-60s", "referenced-500ms": no ".", which Graphite would take for a level. */
static void print_window(const char *name, uint64_t window_ms, char *buffer, size_t size)
{
    bool whole = window_ms % 1000 == 0;

    snprintf(buffer, size, "%s-%" PRIu64 "%s", name, whole ? window_ms / 1000 : window_ms,
             whole ? "s" : "ms");
}

static void submit_window(const struct submission *submission, const struct wss_result *result)
{
    char name[DATA_MAX_NAME_LEN];

    print_window("referenced", result->window_ms, name, sizeof(name));
    submit_gauge(submission, "memory", name, (double)result->sample.referenced_bytes);
    print_window("window", result->window_ms, name, sizeof(name));
    submit_gauge(submission, "duration", name, (double)result->sample.window_ns / 1e9);
}

static void submit_last(const struct submission *submission, const struct wss_result *result)
{
    const struct hr_wss_sample *sample = &result->sample;

    submit_gauge(submission, "memory", "referenced", (double)sample->referenced_bytes);
    if (sample->has_rss)
        submit_gauge(submission, "memory", "rss", (double)sample->rss_bytes);
    if (sample->has_pss)
        submit_gauge(submission, "memory", "pss", (double)sample->pss_bytes);
    if (result->of_processes)
        submit_gauge(submission, "count", "processes", (double)sample->process_count);
    submit_gauge(submission, "duration", "window", (double)sample->window_ns / 1e9);
    submit_gauge(submission, "duration", "scan", (double)result->scan_ns / 1e9);
}

static void submit_result(const struct wss_result *result)
{
    const struct submission submission = {
        .plugin = PLUGIN,
        .instance = result->instance,
        .time = result->time,
        .interval = result->interval,
    };

    if (result->window_ms != 0)
        submit_window(&submission, result);
    if (result->is_last)
        submit_last(&submission, result);
}

void wss_values_publish(struct wss_values *values)
{
    struct entries taken = STAILQ_HEAD_INITIALIZER(taken);
    const struct entry *entry;

    pthread_mutex_lock(&values->lock);
    STAILQ_CONCAT(&taken, &values->waiting);
    values->waiting_count = 0;
    pthread_mutex_unlock(&values->lock);

    STAILQ_FOREACH(entry, &taken, link)
    submit_result(&entry->result);

    pthread_mutex_lock(&values->lock);
    STAILQ_CONCAT(&values->spare, &taken);
    pthread_mutex_unlock(&values->lock);
}
