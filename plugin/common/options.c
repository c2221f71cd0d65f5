/* SPDX-License-Identifier: MIT */
#include "common/options.h"

#include <errno.h>
#include <limits.h>

#include "common/log.h"
#include "configfile.h"
#include "headroom/option.h"
#include "headroom/option_value.h"
#include "utils/common/common.h"

/* The values as they are written in the file, as far as they fit. */
static void print_values(const oconfig_item_t *item, char *buffer, size_t size)
{
    size_t used = 0;

    buffer[0] = '\0';
    for (int i = 0; i < item->values_num && used < size; i++) {
        const oconfig_value_t *value = &item->values[i];
        const char *space = i > 0 ? " " : "";
        if (value->type == OCONFIG_TYPE_STRING)
            used += snprintf(buffer + used, size - used, "%s\"%s\"", space, value->value.string);
        else if (value->type == OCONFIG_TYPE_NUMBER)
            used += snprintf(buffer + used, size - used, "%s%.15g", space, value->value.number);
        else
            used += snprintf(buffer + used, size - used, "%s%s", space,
                             value->value.boolean ? "true" : "false");
    }
}

int option_refuse(const char *block, const oconfig_item_t *item, const char *accepted)
{
    char values[256];

    print_values(item, values, sizeof(values));
    if (item->values_num == 0)
        ERROR("%s: option %s has no value; it takes %s.", block, item->key, accepted);
    else
        ERROR("%s: option %s doesn't accept %s; it takes %s.", block, item->key, values, accepted);
    return -1;
}

/* Which block a title is of. */
struct place {
    char plugin[32], key[32];
};

static struct place find_place(const char *block)
{
    struct place place = {.key = "Plugin"};

    sscanf(block, "%31[^:]: <%31[^ >]", place.plugin, place.key);
    return place;
}

void option_warn_unknown(const char *block, const oconfig_item_t *item)
{
    const struct place place = find_place(block);
    char meant[HR_OPTION_SUGGESTION_SIZE];

    hr_option_suggest(place.plugin, place.key, item->key, meant);
    if (meant[0] != '\0')
        WARNING("%s: option %s is not known and has no effect: %s may be meant.", block, item->key,
                meant);
    else
        WARNING("%s: option %s is not known and has no effect.", block, item->key);
}

/* --- Values --------------------------------------------------------------- */

static struct hr_option_value convert_value(const oconfig_value_t *value)
{
    switch (value->type) {
    case OCONFIG_TYPE_STRING:
        return (struct hr_option_value){HR_OPTION_TEXT, .text = value->value.string};
    case OCONFIG_TYPE_NUMBER:
        return (struct hr_option_value){HR_OPTION_NUMBER, .number = value->value.number};
    default:
        return (struct hr_option_value){.type = HR_OPTION_BOOLEAN};
    }
}

/* @param chosen  is set of the values' indexes among the words of the option; NULL. */
static int check_values(const char *block, const oconfig_item_t *item, bool *chosen)
{
    const struct place place = find_place(block);
    const size_t count = (size_t)item->values_num;
    struct hr_option_value *values = calloc(count + 1, sizeof(*values));
    const struct hr_option option = {place.plugin, place.key, item->key, values, count};
    char accepted[HR_OPTION_ACCEPTED_SIZE];

    if (values == NULL) {
        ERROR("%s: out of memory.", block);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = convert_value(&item->values[i]);
    const bool is_accepted = hr_option_accepts(&option, accepted);
    for (size_t i = 0; is_accepted && chosen != NULL && i < count; i++)
        chosen[hr_option_find_word(&option, i)] = true;
    free(values);
    return is_accepted ? 0 : option_refuse(block, item, accepted);
}

int option_check(const char *block, const oconfig_item_t *item)
{
    return check_values(block, item, NULL);
}

int option_boolean(const char *block, const oconfig_item_t *item, bool *value)
{
    if (option_check(block, item) < 0)
        return -1;
    *value = item->values[0].value.boolean;
    return 0;
}

int option_number(const char *block, const oconfig_item_t *item, double *value)
{
    if (option_check(block, item) < 0)
        return -1;
    *value = item->values[0].value.number;
    return 0;
}

int option_count(const char *block, const oconfig_item_t *item, size_t *value)
{
    if (option_check(block, item) < 0)
        return -1;
    *value = (size_t)item->values[0].value.number;
    return 0;
}

int option_seconds(const char *block, const oconfig_item_t *item, uint64_t *us)
{
    if (option_check(block, item) < 0)
        return -1;
    *us = (uint64_t)(item->values[0].value.number * 1e6 + 0.5);
    return 0;
}

int option_bytes(const char *block, const oconfig_item_t *item, uint64_t *bytes)
{
    const oconfig_value_t *value = item->values;

    if (option_check(block, item) < 0)
        return -1;
    if (value->type == OCONFIG_TYPE_STRING)
        hr_option_parse_bytes(value->value.string, bytes);
    else
        *bytes = (uint64_t)value->value.number;
    return 0;
}

int option_text(const char *block, const oconfig_item_t *item, const char **value)
{
    if (option_check(block, item) < 0)
        return -1;
    *value = item->values[0].value.string;
    return 0;
}

int option_word(const char *block, const oconfig_item_t *item, int *value)
{
    bool chosen[HR_OPTION_WORDS_MAX] = {false};

    if (check_values(block, item, chosen) < 0)
        return -1;
    for (int i = 0; i < HR_OPTION_WORDS_MAX; i++)
        if (chosen[i])
            *value = i;
    return 0;
}

int option_severity(const char *block, const oconfig_item_t *item, int *severity)
{
    static const int severities[] = {NOTIF_WARNING, NOTIF_FAILURE};
    int word;

    if (option_word(block, item, &word) < 0)
        return -1;
    *severity = severities[word];
    return 0;
}

int option_words(const char *block, const oconfig_item_t *item, bool *chosen)
{
    return check_values(block, item, chosen);
}

int option_cpus(const char *block, const oconfig_item_t *item, struct hr_cpu_choice *choice)
{
    struct hr_cpu_choice one;

    if (option_check(block, item) < 0)
        return -1;
    *choice = (struct hr_cpu_choice){0};
    for (int i = 0; i < item->values_num; i++) {
        one = (struct hr_cpu_choice){0};
        if (item->values[i].type == OCONFIG_TYPE_STRING)
            hr_cpu_choice_parse(item->values[i].value.string, &one);
        else
            hr_cpu_set_add(&one.list, (unsigned)item->values[i].value.number);
        hr_cpu_choice_add(choice, &one);
    }
    return 0;
}

static int replace_path(const char *block, const char *text, char **path)
{
    char *copy = strdup(text);

    if (copy == NULL) {
        ERROR("%s: out of memory.", block);
        return -1;
    }
    free(*path);
    *path = copy;
    return 0;
}

int option_state_file(const char *block, const oconfig_item_t *item, char **path)
{
    const char *text;

    if (option_text(block, item, &text) < 0)
        return -1;
    return replace_path(block, text, path);
}

/* collectd has made BaseDir the working directory by then. */
char *option_state_path(const char *configured, const char *file)
{
    const char *base = global_option_get("BaseDir");
    char here[PATH_MAX], *path;

    if (configured != NULL)
        return strdup(configured);
    if (base == NULL || base[0] != '/')
        base = getcwd(here, sizeof(here));
    if (base == NULL || asprintf(&path, "%s/%s", base, file) < 0)
        return NULL;
    return path;
}

/* Absolute, as collectd changes its working directory to BaseDir later. */
int option_root(const char *block, const oconfig_item_t *item, char **path)
{
    const char *text;

    if (option_text(block, item, &text) < 0)
        return -1;
    return replace_path(block, text, path);
}
