/* SPDX-License-Identifier: MIT */
#include "headroom/instance.h"

#include <stdio.h>
#include <string.h>

#include "headroom/hash.h"
#include "headroom/utf8.h"

/* A shortened instance keeps at least so much of the head, however long the last component is. */
#define MIN_HEAD 16

static bool is_inside_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static void escape_name(char *text)
{
    hr_utf8_replace_unsafe(text, '_');
    while ((text = strchr(text, '/')) != NULL)
        *text = '_';
}

void hr_instance_make(const char *text, const char *path, bool distinct,
                      char instance[HR_INSTANCE_SIZE])
{
    hr_instance_make_part(text, path, distinct, HR_INSTANCE_SIZE - 1, instance);
}

void hr_instance_make_part(const char *text, const char *path, bool distinct, size_t most,
                           char instance[HR_INSTANCE_SIZE])
{
    const size_t length = strlen(text);
    char mark[10];

    snprintf(mark, sizeof(mark), "~%08x", hr_hash(path));
    if (length <= most && !distinct) {
        snprintf(instance, HR_INSTANCE_SIZE, "%s", text);
    } else if (length + strlen(mark) <= most) {
        snprintf(instance, HR_INSTANCE_SIZE, "%s%s", text, mark);
    } else {
        const size_t room = most - strlen(mark);
        const char *tail = strrchr(text, '/') != NULL ? strrchr(text, '/') : text;
        if (strlen(tail) > room - MIN_HEAD)
            tail = text + length - (room - MIN_HEAD);
        while (is_inside_character(*tail))
            tail++;
        size_t head = room - strlen(tail);
        while (head > 0 && is_inside_character(text[head]))
            head--;
        snprintf(instance, HR_INSTANCE_SIZE, "%.*s%s%s", (int)head, text, mark, tail);
    }
    escape_name(instance);
}
