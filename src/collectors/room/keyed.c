/* SPDX-License-Identifier: MIT */
#include "room/keyed.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

#define KEYS_MAX 8

/* The keys that are looked for, with the lengths of their names. */
struct wanted {
    struct hr_keyed *keys;
    size_t count, lengths[KEYS_MAX];
};

static struct wanted wanted_of(struct hr_keyed *keys, size_t count)
{
    struct wanted wanted = {.keys = keys, .count = count};

    for (size_t i = 0; i < count; i++)
        wanted.lengths[i] = strlen(keys[i].name);
    return wanted;
}

/* Removes the next line from the front. */
static bool take_line(struct hr_text *text, struct hr_text *line)
{
    const char *end = memchr(text->start, '\n', text->length);

    if (end == NULL)
        return false;
    line->start = text->start;
    line->length = (size_t)(end - text->start);
    text->start = end + 1;
    text->length -= line->length + 1;
    return true;
}

/* Removes the name and a character after it, by the place of which most lines are decided. */
static struct hr_keyed *take_key(struct hr_text *text, char after, const struct wanted *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const size_t length = wanted->lengths[i];
        if (text->length > length && text->start[length] == after &&
            memcmp(text->start, wanted->keys[i].name, length) == 0) {
            text->start += length + 1;
            text->length -= length + 1;
            return &wanted->keys[i];
        }
    }
    return NULL;
}

static bool set_key(struct hr_keyed *key, uint64_t value)
{
    if (key->found)
        return false;
    key->found = true;
    key->value = value;
    return true;
}

int hr_keyed_parse_flat(const char *start, size_t length, struct hr_keyed *keys, size_t count)
{
    struct hr_text text = {start, length}, line;
    struct hr_keyed parsed[KEYS_MAX];
    size_t left = count;
    uint64_t value;

    memcpy(parsed, keys, count * sizeof(*keys));
    const struct wanted wanted = wanted_of(parsed, count);
    while (left > 0 && text.length > 0) {
        if (!take_line(&text, &line))
            return -EBADMSG;
        struct hr_keyed *key = take_key(&line, ' ', &wanted);
        if (key == NULL)
            continue;
        if (!hr_text_u64(&line, &value) || line.length > 0 || !set_key(key, value))
            return -EBADMSG;
        left--;
    }
    memcpy(keys, parsed, count * sizeof(*keys));
    return 0;
}

int hr_keyed_sum(const struct hr_keyed *keys, size_t count, uint64_t *sum)
{
    uint64_t total = 0;
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        if (keys[i].found && __builtin_add_overflow(total, keys[i].value, &total))
            return -EBADMSG;
        found |= keys[i].found;
    }
    if (!found)
        return -ENODATA;
    *sum = total;
    return 0;
}

static bool take_device(struct hr_text *line, uint32_t *major, uint32_t *minor)
{
    uint64_t numbers[2];

    if (!hr_text_u64(line, &numbers[0]) || !hr_text_skip(line, ":") ||
        !hr_text_u64(line, &numbers[1]) || numbers[0] > UINT32_MAX || numbers[1] > UINT32_MAX)
        return false;
    *major = (uint32_t)numbers[0];
    *minor = (uint32_t)numbers[1];
    return line->length == 0 || *line->start == ' ';
}

static void skip_word(struct hr_text *line)
{
    while (line->length > 0 && *line->start != ' ') {
        line->start++;
        line->length--;
    }
}

/* Parses "NAME=VALUE"; the line then goes on with a blank or ends. */
static bool take_field(struct hr_text *line, const struct wanted *wanted)
{
    uint64_t value = UINT64_MAX;
    struct hr_keyed *key = take_key(line, '=', wanted);

    if (key == NULL) {
        skip_word(line);
        return true;
    }
    if (!hr_text_skip(line, "max") && !hr_text_u64(line, &value))
        return false;
    return set_key(key, value) && (line->length == 0 || *line->start == ' ');
}

int hr_keyed_next_line(struct hr_text *text, uint32_t *major, uint32_t *minor, struct hr_text *line)
{
    do {
        if (text->length == 0)
            return -ENODATA;
        if (!take_line(text, line))
            return -EBADMSG;
    } while (!take_device(line, major, minor));
    return 0;
}

int hr_keyed_next_device(struct hr_text *text, uint32_t *major, uint32_t *minor,
                         struct hr_keyed *keys, size_t count)
{
    struct hr_text line;

    int status = hr_keyed_next_line(text, major, minor, &line);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct hr_keyed){.name = keys[i].name};
    const struct wanted wanted = wanted_of(keys, count);
    while (line.length > 0)
        if (!hr_text_skip(&line, " ") && !take_field(&line, &wanted))
            return -EBADMSG;
    return 0;
}
