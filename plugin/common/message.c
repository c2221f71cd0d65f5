/* SPDX-License-Identifier: MIT */
#include "common/message.h"

#include <stdarg.h>

struct message message_of(notification_t *notice)
{
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
    if (fits)
        message->used += (size_t)length;
    message->text[message->used] = '\0';
    return fits;
}
