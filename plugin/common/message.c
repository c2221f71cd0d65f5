/* SPDX-License-Identifier: MIT */
#include "common/message.h"

#include <limits.h>
#include <stdarg.h>

#include "headroom/instance.h"
#include "headroom/utf8.h"
#include "utils/common/common.h"

struct message message_begin(notification_t *notice, int severity,
                             const struct message_series *series)
{
    *notice = (notification_t){.severity = severity, .time = cdtime()};
    sstrncpy(notice->host, series->host != NULL ? series->host : hostname_g, sizeof(notice->host));
    sstrncpy(notice->plugin, series->plugin, sizeof(notice->plugin));
    sstrncpy(notice->plugin_instance, series->instance, sizeof(notice->plugin_instance));
    sstrncpy(notice->type, series->type, sizeof(notice->type));
    sstrncpy(notice->type_instance, series->type_instance, sizeof(notice->type_instance));
    return (struct message){notice->message, 0, sizeof(notice->message)};
}

bool message_append(struct message *message, const char *format, ...)
{
    const size_t room = message->room - message->used;
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(message->text + message->used, room, format, arguments);
    va_end(arguments);
    bool fits = length >= 0 && (size_t)length < room;
    if (!fits)
        message->text[message->used] = '\0';
    hr_utf8_make_safe(message->text + message->used);
    message->used += strlen(message->text + message->used);
    return fits;
}

void message_add_text(notification_t *notice, const char *name, const char *value)
{
    char text[PATH_MAX];

    snprintf(text, sizeof(text), "%s", value);
    hr_utf8_make_safe(text);
    plugin_notification_meta_add_string(notice, name, text);
}

/* Longer paths are replaced by the instance, which is shortened. */
#define PATH_MAX_SHOWN 127

static bool is_made_of(const char *instance, const char *path, bool distinct)
{
    const size_t length = strlen(instance);
    char made[HR_INSTANCE_SIZE];

    hr_instance_make(path, path, distinct, made);
    return strncmp(made, instance, length) == 0 && (made[length] == '\0' || made[length] == '_');
}

bool message_is_path(const char *instance, const char *path)
{
    return is_made_of(instance, path, false) || is_made_of(instance, path, true);
}

const char *message_name_group(const char *instance, const char *path)
{
    return strlen(path) <= PATH_MAX_SHOWN && message_is_path(instance, path) ? path : instance;
}
