/* SPDX-License-Identifier: MIT */
#include "common/config.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "headroom/array.h"

#define DEPTH_MAX 8

/* Blocks are less deep in any configuration; what is deeper would take our stack. */
#define BLOCKS_MAX 32

/* --- Items ---------------------------------------------------------------- */

void config_free(struct config_item *item)
{
    for (size_t i = 0; i < item->value_count; i++)
        free(item->values[i]);
    for (size_t i = 0; i < item->child_count; i++)
        config_free(&item->children[i]);
    free(item->values);
    free(item->children);
    free(item->key);
    free(item->path);
    *item = (struct config_item){0};
}

/* The child goes over to the parent, or is freed. */
static int add_child(struct config_item *parent, struct config_item *child)
{
    if (HR_ARRAY_RESERVE(parent->children, parent->child_capacity, parent->child_count + 1) < 0) {
        config_free(child);
        return -ENOMEM;
    }
    parent->children[parent->child_count++] = *child;
    *child = (struct config_item){0};
    return 0;
}

bool config_is(const struct config_item *item, const char *key)
{
    return strcasecmp(item->key, key) == 0;
}

const char *config_text(const struct config_item *item)
{
    return item->value_count > 0 ? item->values[0] : "";
}

const struct config_item *config_find(const struct config_item *item, const char *key)
{
    for (size_t i = item->child_count; i > 0; i--)
        if (config_is(&item->children[i - 1], key))
            return &item->children[i - 1];
    return NULL;
}

const struct config_item *config_find_of_plugin(const struct config_item *config,
                                                const char *plugin, const char *key)
{
    const struct config_item *found = NULL;

    for (size_t i = 0; i < config->child_count; i++) {
        const struct config_item *block = &config->children[i];
        const struct config_item *item =
            config_is(block, "Plugin") && strcasecmp(config_text(block), plugin) == 0
                ? config_find(block, key)
                : NULL;
        found = item != NULL ? item : found;
    }
    return found;
}

bool config_boolean(const struct config_item *item, bool otherwise)
{
    const char *text = item != NULL ? config_text(item) : "";

    if (text[0] == '\0')
        return otherwise;
    return strcasecmp(text, "true") == 0 || strcasecmp(text, "yes") == 0 ||
           strcasecmp(text, "on") == 0;
}

double config_number(const struct config_item *item, double otherwise)
{
    const char *text = item != NULL ? config_text(item) : "";
    char *end;
    double number = strtod(text, &end);

    return end > text && *end == '\0' ? number : otherwise;
}

static bool text_matches(const char *text, const char *expression)
{
    regex_t compiled;

    if (regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    const bool is_match = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return is_match;
}

/* By the expressions of collectd's src/liboconfig/scanner.l, which passes over a point at the end.
 */
struct hr_option_value config_value(const struct config_item *item, size_t index)
{
    const char *text = item->values[index];

    if (index >= CONFIG_QUOTED_MAX || (item->quoted >> index & 1) != 0)
        return (struct hr_option_value){HR_OPTION_TEXT, .text = text};
    if (text_matches(text, "^(true|yes|on|false|no|off)$"))
        return (struct hr_option_value){.type = HR_OPTION_BOOLEAN};
    if (text_matches(text,
                     "^(0[xX][0-9a-fA-F]+|[+-]?([0-9]+\\.?|[0-9]*\\.[0-9]+([eE][+-][0-9]+)?))$"))
        return (struct hr_option_value){HR_OPTION_NUMBER, .number = strtod(text, NULL)};
    return (struct hr_option_value){HR_OPTION_TEXT, .text = text};
}

/* --- Parsing -------------------------------------------------------------- */

/* The rest of a text, and its line. */
struct input {
    const char *text;
    unsigned line;
};

/* Blanks, continued lines and a comment; not the end of the line. */
static void skip_blanks(struct input *input)
{
    for (;;) {
        size_t ended = strncmp(input->text, "\\\r\n", 3) == 0 ? 3
                       : strncmp(input->text, "\\\n", 2) == 0 ? 2
                                                              : 0;
        input->text += ended;
        input->line += ended > 0;
        if (ended == 0 && strchr(" \t\r", *input->text) != NULL && *input->text != '\0')
            input->text++;
        else if (ended == 0)
            break;
    }
    if (*input->text == '#')
        input->text += strcspn(input->text, "\n");
}

static void skip_empty_lines(struct input *input)
{
    for (skip_blanks(input); *input->text == '\n'; skip_blanks(input)) {
        input->text++;
        input->line++;
    }
}

/* A text in quotes, in which a backslash stands for what follows it; it goes on over lines. */
static int parse_quoted(struct input *input, char **value)
{
    char *text = malloc(strlen(input->text) + 1), *end = text;

    if (text == NULL)
        return -ENOMEM;
    for (input->text++; *input->text != '"'; input->text++) {
        if (*input->text == '\\')
            input->text++;
        if (*input->text == '\0') {
            free(text);
            return -EBADMSG;
        }
        input->line += *input->text == '\n';
        *end++ = *input->text;
    }
    *end = '\0';
    input->text++;
    *value = text;
    return 0;
}

static int parse_word(struct input *input, char **word)
{
    size_t length = strcspn(input->text, " \t\r\n<>\"#\\");

    if (length == 0)
        return -EBADMSG;
    *word = strndup(input->text, length);
    input->text += length;
    return *word != NULL ? 0 : -ENOMEM;
}

/* Up to the end of the line, or the ">" of a block. */
static int parse_values(struct input *input, struct config_item *item)
{
    for (skip_blanks(input); *input->text != '\0' && strchr(">\n", *input->text) == NULL;
         skip_blanks(input)) {
        char *value = NULL;
        const bool is_quoted = *input->text == '"';
        int status = *input->text == '"' ? parse_quoted(input, &value) : parse_word(input, &value);
        if (status == 0)
            status = HR_ARRAY_RESERVE(item->values, item->value_capacity, item->value_count + 1);
        if (status < 0) {
            free(value);
            return status;
        }
        if (is_quoted && item->value_count < CONFIG_QUOTED_MAX)
            item->quoted |= UINT64_C(1) << item->value_count;
        item->values[item->value_count++] = value;
    }
    return 0;
}

static int parse_items(struct input *input, struct config_item *parent, unsigned depth);

/* "</KEY>" */
static int parse_end_of_block(struct input *input, const char *key)
{
    size_t length = strlen(key);

    if (strncmp(input->text, "</", 2) != 0 || strncasecmp(input->text + 2, key, length) != 0)
        return -EBADMSG;
    input->text += 2 + length;
    skip_blanks(input);
    if (*input->text != '>')
        return -EBADMSG;
    input->text++;
    return 0;
}

/* What follows the first line of a block, from its ">" on. */
static int parse_block(struct input *input, struct config_item *item, unsigned depth)
{
    if (*input->text != '>' || depth == BLOCKS_MAX)
        return -EBADMSG;
    input->text++;
    int status = parse_items(input, item, depth + 1);
    return status < 0 ? status : parse_end_of_block(input, item->key);
}

static int parse_item(struct input *input, struct config_item *item, unsigned depth)
{
    bool is_block = *input->text == '<';

    input->text += is_block;
    item->line = input->line;
    int status = parse_word(input, &item->key);
    if (status == 0)
        status = parse_values(input, item);
    if (status == 0 && is_block)
        status = parse_block(input, item, depth);
    skip_blanks(input);
    if (status == 0 && *input->text != '\n' && *input->text != '\0')
        status = -EBADMSG;
    return status;
}

/* Up to the end of the block that they are in, or of the text. */
static int parse_items(struct input *input, struct config_item *parent, unsigned depth)
{
    int status = 0;

    for (skip_empty_lines(input);
         status == 0 && *input->text != '\0' && strncmp(input->text, "</", 2) != 0;) {
        struct config_item item = {0};
        status = parse_item(input, &item, depth);
        if (status == 0) {
            status = add_child(parent, &item);
            skip_empty_lines(input);
        }
        config_free(&item);
    }
    return status;
}

int config_parse(const char *text, struct config_item *top, unsigned *line)
{
    struct input input = {text, 1};

    int status = parse_items(&input, top, 0);
    if (status == 0 && *input.text != '\0')
        status = -EBADMSG;
    *line = input.line;
    return status;
}

/* --- Files ---------------------------------------------------------------- */

/* What is being read. */
struct reading {
    struct config_item *top;
    struct config_faults *faults;
    const char *filter; /* of names of files; NULL: all */
    unsigned depth;
};

int config_add_fault(struct config_faults *faults, const char *path, unsigned line, int status)
{
    if (status == -ENOMEM ||
        HR_ARRAY_RESERVE(faults->list, faults->capacity, faults->count + 1) < 0)
        return -ENOMEM;
    struct config_fault *fault = &faults->list[faults->count++];
    *fault = (struct config_fault){.line = line, .status = status};
    snprintf(fault->path, sizeof(fault->path), "%s", path);
    return status;
}

static int add_fault(const struct reading *reading, const char *path, unsigned line, int status)
{
    return config_add_fault(reading->faults, path, line, status);
}

/* Of what is included, what ends the reading of all: files that include one another multiply. */
static int status_if_fatal(int status)
{
    return status == -ENOMEM || status == -ELOOP ? status : 0;
}

static int read_text(const char *path, char **text)
{
    FILE *file = fopen(path, "re");
    size_t size = 0;

    if (file == NULL)
        return -errno;
    ssize_t length = getdelim(text, &size, '\0', file);
    int status = ferror(file) ? -errno : 0;
    fclose(file);
    if (status == 0 && length < 0) {
        free(*text);
        *text = strdup("");
    }
    return status < 0 ? status : *text != NULL ? 0 : -ENOMEM;
}

static int read_included(const struct reading *reading, const struct config_item *item);

/* Items go over to the top; those that are included come in their place. */
static int take_items(const struct reading *reading, struct config_item *file)
{
    for (size_t i = 0; i < file->child_count; i++) {
        int status = config_is(&file->children[i], "Include")
                         ? read_included(reading, &file->children[i])
                         : add_child(reading->top, &file->children[i]);
        if (status < 0)
            return status;
    }
    return 0;
}

static int set_path(struct config_item *parent, const char *path)
{
    int status = 0;

    for (size_t i = 0; i < parent->child_count && status == 0; i++) {
        struct config_item *item = &parent->children[i];
        item->path = strdup(path);
        status = item->path != NULL ? set_path(item, path) : -ENOMEM;
    }
    return status;
}

static int read_file(const struct reading *reading, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct config_item file = {0};
    char *text = NULL;
    unsigned line = 0;

    if (reading->filter != NULL &&
        fnmatch(reading->filter, slash != NULL ? slash + 1 : path, 0) != 0)
        return 0;
    int status = read_text(path, &text);
    if (status == 0)
        status = config_parse(text, &file, &line);
    free(text);
    int taken = set_path(&file, path);
    if (taken == 0)
        taken = take_items(reading, &file);
    config_free(&file);
    if (taken < 0 || status == 0)
        return taken;
    return add_fault(reading, path, line, status);
}

static int read_path(const struct reading *reading, const char *path);

static int is_not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_directory(const struct reading *reading, const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_not_hidden, compare_names), status = 0;
    char *below;

    if (count < 0)
        return add_fault(reading, path, 0, -errno);
    for (int i = 0; i < count; i++) {
        if (status == 0 && asprintf(&below, "%s/%s", path, entries[i]->d_name) >= 0) {
            status = status_if_fatal(read_path(reading, below));
            free(below);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* A path that is there is a file or a directory; collectd passes over any that isn't. */
static int read_path(const struct reading *reading, const char *path)
{
    struct stat status;

    if (stat(path, &status) < 0)
        return reading->depth > 0 ? 0 : add_fault(reading, path, 0, -errno);
    return S_ISDIR(status.st_mode) ? read_directory(reading, path) : read_file(reading, path);
}

static int read_included(const struct reading *reading, const struct config_item *item)
{
    const struct config_item *filter = config_find(item, "Filter");
    struct reading below = *reading;
    glob_t found;
    int status = 0;

    below.filter = filter != NULL ? config_text(filter) : NULL;
    if (++below.depth > DEPTH_MAX)
        return add_fault(reading, config_text(item), 0, -ELOOP);
    if (glob(config_text(item), 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc && status == 0; i++)
        status = status_if_fatal(read_path(&below, found.gl_pathv[i]));
    globfree(&found);
    return status;
}

int config_read(const char *path, struct config_item *top, struct config_faults *faults)
{
    const struct reading reading = {.top = top, .faults = faults};

    return read_path(&reading, path);
}
