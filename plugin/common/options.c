/* SPDX-License-Identifier: MIT */
#include "common/options.h"

#include <errno.h>
#include <limits.h>

#include "common/log.h"
#include "configfile.h"
#include "headroom/option.h"
#include "headroom/root.h"
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

void option_warn_unknown(const char *block, const oconfig_item_t *item)
{
    char plugin[32], key[32] = "Plugin", meant[HR_OPTION_SUGGESTION_SIZE];

    sscanf(block, "%31[^:]: <%31[^ >]", plugin, key);
    hr_option_suggest(plugin, key, item->key, meant);
    if (meant[0] != '\0')
        WARNING("%s: option %s is not known and has no effect: %s may be meant.", block, item->key,
                meant);
    else
        WARNING("%s: option %s is not known and has no effect.", block, item->key);
}

int option_boolean(const char *block, const oconfig_item_t *item, bool *value)
{
    if (item->values_num != 1 || item->values[0].type != OCONFIG_TYPE_BOOLEAN)
        return option_refuse(block, item, "true or false, without quotes");
    *value = item->values[0].value.boolean;
    return 0;
}

int option_count(const char *block, const oconfig_item_t *item, size_t min, size_t max,
                 size_t *value)
{
    char accepted[96];
    double number = item->values_num == 1 && item->values[0].type == OCONFIG_TYPE_NUMBER
                        ? item->values[0].value.number
                        : -1;

    /* Compared as numbers before the conversion, which is undefined out of range. */
    if (!(number >= (double)min && number <= (double)max) || number != (double)(size_t)number) {
        snprintf(accepted, sizeof(accepted), "a whole number from %zu to %zu", min, max);
        return option_refuse(block, item, accepted);
    }
    *value = (size_t)number;
    return 0;
}

int option_seconds(const char *block, const oconfig_item_t *item, uint64_t min_us, uint64_t max_us,
                   uint64_t *us)
{
    char accepted[96];
    double number = item->values_num == 1 && item->values[0].type == OCONFIG_TYPE_NUMBER
                        ? item->values[0].value.number * 1e6
                        : -1;

    /* Half a microsecond is what a decimal fraction may lack in binary. */
    if (!(number >= (double)min_us - 0.5 && number <= (double)max_us + 0.5)) {
        snprintf(accepted, sizeof(accepted), "a number of seconds from %s%.9g to %.9g",
                 min_us == 1 ? "0.00000" : "", min_us == 1 ? 1 : (double)min_us / 1e6,
                 (double)max_us / 1e6);
        return option_refuse(block, item, accepted);
    }
    *us = (uint64_t)(number + 0.5);
    return 0;
}

/* @return whether it is digits, with or without a unit. */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    /* not strchr(), which finds the terminating NUL, too: a blank is one with that bit set */
    const char *unit = memchr(units, *end & ~0x20, sizeof(units) - 1);
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if (errno != 0 || (*end != '\0' && (unit == NULL || end[1] != '\0')) ||
        number > UINT64_MAX >> shift)
        return false;
    *bytes = number << shift;
    return true;
}

int option_bytes(const char *block, const oconfig_item_t *item, uint64_t *bytes)
{
    const oconfig_value_t *value = item->values;

    if (item->values_num == 1 && value->type == OCONFIG_TYPE_STRING &&
        parse_bytes(value->value.string, bytes))
        return 0;
    double number =
        item->values_num == 1 && value->type == OCONFIG_TYPE_NUMBER ? value->value.number : -1;
    /* Up to 2^53 a double can hold each number of bytes. */
    if (!(number >= 0 && number <= (double)(UINT64_C(1) << 53)) ||
        number != (double)(uint64_t)number)
        return option_refuse(block, item,
                             "a whole number of bytes, or with K, M, G or T, as \"64G\"");
    *bytes = (uint64_t)number;
    return 0;
}

int option_text(const char *block, const oconfig_item_t *item, const char **value)
{
    if (item->values_num != 1 || item->values[0].type != OCONFIG_TYPE_STRING ||
        item->values[0].value.string[0] == '\0')
        return option_refuse(block, item, "one text in quotes, not empty");
    *value = item->values[0].value.string;
    return 0;
}

const struct option_word option_severities[] = {
    {"WARNING", NOTIF_WARNING}, {"FAILURE", NOTIF_FAILURE}, {0}};

/* "\"some\" or \"full\"" */
static void list_words(const struct option_word *words, char *buffer, size_t size)
{
    size_t used = 0;

    buffer[0] = '\0';
    for (const struct option_word *word = words; word->text != NULL && used < size; word++) {
        const char *between = word == words ? "" : word[1].text != NULL ? ", " : " or ";
        used += snprintf(buffer + used, size - used, "%s\"%s\"", between, word->text);
    }
}

int option_word(const char *block, const oconfig_item_t *item, const struct option_word *words,
                int *value)
{
    char accepted[96];

    if (item->values_num == 1 && item->values[0].type == OCONFIG_TYPE_STRING)
        for (const struct option_word *word = words; word->text != NULL; word++)
            if (strcasecmp(item->values[0].value.string, word->text) == 0) {
                *value = word->value;
                return 0;
            }
    list_words(words, accepted, sizeof(accepted));
    return option_refuse(block, item, accepted);
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
    if (text[0] != '/' || text[strlen(text) - 1] == '/')
        return option_refuse(block, item, "the absolute path of a file");
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

int option_texts(const char *block, const oconfig_item_t *item, const char *accepted)
{
    if (item->values_num == 0)
        return option_refuse(block, item, accepted);
    for (int i = 0; i < item->values_num; i++)
        if (item->values[i].type != OCONFIG_TYPE_STRING)
            return option_refuse(block, item, accepted);
    return 0;
}

/* Absolute, as collectd changes its working directory to BaseDir later. */
int option_root(const char *block, const oconfig_item_t *item, char **path)
{
    const char *text;
    struct hr_root *opened;
    char accepted[160];

    if (option_text(block, item, &text) < 0)
        return -1;
    int status = text[0] == '/' ? hr_root_open(text, &opened) : -EINVAL;
    if (status == -ENOSYS)
        return option_refuse(block, item, "\"/\" only, as this kernel is older than Linux 5.6");
    if (status < 0) {
        snprintf(accepted, sizeof(accepted),
                 "the absolute path of a directory where the host's / is mounted (%s)",
                 STRERROR(-status));
        return option_refuse(block, item, accepted);
    }
    hr_root_close(opened);
    return replace_path(block, text, path);
}
