/* SPDX-License-Identifier: MIT */
/*
 * support/fake_notification.c - the part of the stand-in daemon that records notifications.
 */
#include "support/fake_collectd.h"

#include "utils/common/common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static notification_t *
    *notifications; /* pointers, so that an entry stays valid while others are added */
static size_t notification_count;
static void (*notification_hook)(const notification_t *, void *);
static void *hook_context;
static plugin_notification_cb own_callback; /* the plugin's; NULL: none */
static user_data_t own_data;

static void *checked(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "fake_collectd: out of memory\n");
        abort();
    }
    return memory;
}

/* Appends an entry with a copy of the value; text, unless it is NULL, becomes its string. */
static int add_meta(notification_meta_t **list, const char *name, const char *text,
                    notification_meta_t value)
{
    if (strlen(name) >= sizeof(value.name)) {
        fprintf(stderr, "fake_collectd: metadata %s has too long a name\n", name);
        abort();
    }
    notification_meta_t *entry = checked(malloc(sizeof(*entry)));
    *entry = value;
    snprintf(entry->name, sizeof(entry->name), "%s", name);
    if (text != NULL)
        entry->nm_value.nm_string = checked(strdup(text));
    while (*list != NULL)
        list = &(*list)->next;
    *list = entry;
    return 0;
}

int plugin_notification_meta_add_string(notification_t *notification, const char *name,
                                        const char *value)
{
    return add_meta(&notification->meta, name, value,
                    (notification_meta_t){.type = NM_TYPE_STRING});
}

int plugin_notification_meta_add_signed_int(notification_t *notification, const char *name,
                                            int64_t value)
{
    return add_meta(
        &notification->meta, name, NULL,
        (notification_meta_t){.type = NM_TYPE_SIGNED_INT, .nm_value.nm_signed_int = value});
}

int plugin_notification_meta_add_unsigned_int(notification_t *notification, const char *name,
                                              uint64_t value)
{
    return add_meta(
        &notification->meta, name, NULL,
        (notification_meta_t){.type = NM_TYPE_UNSIGNED_INT, .nm_value.nm_unsigned_int = value});
}

int plugin_notification_meta_add_double(notification_t *notification, const char *name,
                                        double value)
{
    return add_meta(&notification->meta, name, NULL,
                    (notification_meta_t){.type = NM_TYPE_DOUBLE, .nm_value.nm_double = value});
}

int plugin_notification_meta_add_boolean(notification_t *notification, const char *name, bool value)
{
    return add_meta(&notification->meta, name, NULL,
                    (notification_meta_t){.type = NM_TYPE_BOOLEAN, .nm_value.nm_boolean = value});
}

int plugin_notification_meta_free(notification_meta_t *list)
{
    while (list != NULL) {
        notification_meta_t *next = list->next;
        if (list->type == NM_TYPE_STRING)
            free((char *)list->nm_value.nm_string);
        free(list);
        list = next;
    }
    return 0;
}

void fake_on_notification(void (*hook)(const notification_t *notification, void *context),
                          void *context)
{
    pthread_mutex_lock(&lock);
    notification_hook = hook;
    hook_context = context;
    pthread_mutex_unlock(&lock);
}

static void call_hook(const notification_t *notification)
{
    pthread_mutex_lock(&lock);
    void (*hook)(const notification_t *, void *) = notification_hook;
    void *context = hook_context;
    pthread_mutex_unlock(&lock);
    if (hook != NULL)
        hook(notification, context);
}

int plugin_register_notification(__attribute__((unused)) const char *name,
                                 plugin_notification_cb callback, const user_data_t *data)
{
    own_callback = callback;
    own_data = *data;
    return 0;
}

int plugin_dispatch_notification(const notification_t *notification)
{
    call_hook(notification);
    if (own_callback != NULL)
        own_callback(notification, &own_data);
    notification_t *copy = checked(malloc(sizeof(*copy)));

    *copy = *notification;
    copy->meta = NULL;
    for (const notification_meta_t *entry = notification->meta; entry != NULL;
         entry = entry->next) {
        notification_meta_t value = *entry;
        value.next = NULL;
        add_meta(&copy->meta, entry->name,
                 entry->type == NM_TYPE_STRING ? entry->nm_value.nm_string : NULL, value);
    }
    pthread_mutex_lock(&lock);
    notifications =
        checked(reallocarray(notifications, notification_count + 1, sizeof(*notifications)));
    notifications[notification_count++] = copy;
    pthread_mutex_unlock(&lock);
    return 0;
}

size_t fake_notifications(void)
{
    pthread_mutex_lock(&lock);
    size_t count = notification_count;
    pthread_mutex_unlock(&lock);
    return count;
}

const notification_t *fake_notification(size_t index)
{
    pthread_mutex_lock(&lock);
    const notification_t *found = index < notification_count ? notifications[index] : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

void fake_forget_notification_callback(void)
{
    own_callback = NULL;
}

void fake_forget_notifications(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < notification_count; i++) {
        plugin_notification_meta_free(notifications[i]->meta);
        free(notifications[i]);
    }
    free(notifications);
    notifications = NULL;
    notification_count = 0;
    pthread_mutex_unlock(&lock);
}
