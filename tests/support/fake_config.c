/* SPDX-License-Identifier: MIT */
#include "support/fake_config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORD "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

/* The rest of the text, and its line. */
struct input {
    const char *text;
    int line;
};

__attribute__((noreturn)) static void fail(const struct input *input, const char *expected)
{
    fprintf(stderr, "fake_config: line %d: expected %s before: %.40s\n", input->line, expected,
            input->text);
    abort();
}

static void *checked(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "fake_config: out of memory\n");
        abort();
    }
    return memory;
}

/* Spaces, continued lines and a comment; not the end of the line. */
static void skip_space(struct input *input)
{
    for (;;) {
        input->text += strspn(input->text, " \t");
        if (strncmp(input->text, "\\\n", 2) != 0)
            break;
        input->text += 2;
        input->line++;
    }
    if (*input->text == '#')
        input->text += strcspn(input->text, "\n");
}

static void skip_empty_lines(struct input *input)
{
    skip_space(input);
    while (*input->text == '\n') {
        input->text++;
        input->line++;
        skip_space(input);
    }
}

static void expect_end_of_line(struct input *input)
{
    skip_space(input);
    if (*input->text != '\n' && *input->text != '\0')
        fail(input, "the end of the line");
}

static char *parse_word(struct input *input)
{
    size_t length = strspn(input->text, WORD);

    if (length == 0)
        fail(input, "a word");
    char *word = checked(strndup(input->text, length));
    input->text += length;
    return word;
}

/* --- Values --------------------------------------------------------------- */

static char *parse_quoted(struct input *input)
{
    char *text = checked(strdup(input->text)), *end = text;

    for (input->text++; *input->text != '"'; input->text++) {
        if (*input->text == '\\')
            input->text++;
        if (*input->text == '\0')
            fail(input, "a closing quote");
        input->line += *input->text == '\n';
        *end++ = *input->text;
    }
    *end = '\0';
    input->text++;
    return text;
}

#define DIGITS "0123456789"

/* How much of a text is a number: hexadecimal, or decimal with a sign, a point with digits after
 * it, and after these only an exponent, which must have a sign of its own. */
static size_t number_length(const char *text)
{
    size_t sign = *text == '+' || *text == '-';
    size_t digits = strspn(text + sign, DIGITS);
    const char *point = text + sign + digits;

    if (strncasecmp(text, "0x", 2) == 0 && isxdigit((unsigned char)text[2]))
        return 2 + strspn(text + 2, DIGITS "abcdefABCDEF");
    size_t decimals = *point == '.' ? strspn(point + 1, DIGITS) : 0;
    if (decimals == 0)
        return digits > 0 ? sign + digits : 0;
    const char *end = point + 1 + decimals;
    size_t exponent = (*end == 'e' || *end == 'E') && (end[1] == '+' || end[1] == '-')
                          ? strspn(end + 2, DIGITS)
                          : 0;
    return (size_t)(end - text) + (exponent > 0 ? 2 + exponent : 0);
}

/* Not if the word is longer than the number, such as "1e12". */
static bool parse_number(struct input *input, double *number)
{
    size_t length = number_length(input->text);
    char digits[64];

    if (length == 0 || strspn(input->text, WORD) > length || length >= sizeof(digits))
        return false;
    memcpy(digits, input->text, length);
    digits[length] = '\0';
    *number = strtod(digits, NULL);
    input->text += length;
    return true;
}

static bool is_one_of(const char *word, const char *const words[])
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static oconfig_value_t parse_value(struct input *input)
{
    static const char *const yes[] = {"true", "yes", "on", NULL};
    static const char *const no[] = {"false", "no", "off", NULL};
    oconfig_value_t value = {.type = OCONFIG_TYPE_STRING};

    if (*input->text == '"') {
        value.value.string = parse_quoted(input);
    } else if (parse_number(input, &value.value.number)) {
        value.type = OCONFIG_TYPE_NUMBER;
    } else {
        char *word = parse_word(input);
        bool is_true = is_one_of(word, yes);
        if (is_true || is_one_of(word, no)) {
            free(word);
            value.type = OCONFIG_TYPE_BOOLEAN;
            value.value.boolean = is_true;
        } else {
            value.value.string = word;
        }
    }
    return value;
}

static void parse_values(struct input *input, oconfig_item_t *item)
{
    for (skip_space(input); strchr(">\n", *input->text) == NULL; skip_space(input)) {
        size_t count = (size_t)item->values_num + 1;
        item->values = checked(reallocarray(item->values, count, sizeof(*item->values)));
        item->values[item->values_num++] = parse_value(input);
    }
}

/* --- Items ---------------------------------------------------------------- */

static void parse_children(struct input *input, oconfig_item_t *parent);

static void parse_end_of_block(struct input *input, const char *key)
{
    if (strncmp(input->text, "</", 2) != 0)
        fail(input, "the end of a block");
    input->text += 2;
    char *word = parse_word(input);
    if (strcmp(word, key) != 0 || *input->text != '>')
        fail(input, key);
    free(word);
    input->text++;
}

static void parse_item(struct input *input, oconfig_item_t *item)
{
    bool is_block = *input->text == '<';

    input->text += is_block;
    item->key = parse_word(input);
    parse_values(input, item);
    if (is_block) {
        if (*input->text++ != '>')
            fail(input, ">");
        expect_end_of_line(input);
        parse_children(input, item);
        parse_end_of_block(input, item->key);
    }
    expect_end_of_line(input);
}

static void parse_children(struct input *input, oconfig_item_t *parent)
{
    skip_empty_lines(input);
    while (*input->text != '\0' && strncmp(input->text, "</", 2) != 0) {
        size_t count = (size_t)parent->children_num + 1;
        parent->children =
            checked(reallocarray(parent->children, count, sizeof(*parent->children)));
        oconfig_item_t *item = &parent->children[parent->children_num++];
        *item = (oconfig_item_t){0};
        parse_item(input, item);
        skip_empty_lines(input);
    }
}

/* Only when all is read, as arrays move while they grow. */
static void link_parents(oconfig_item_t *item)
{
    for (int i = 0; i < item->children_num; i++) {
        item->children[i].parent = item;
        link_parents(&item->children[i]);
    }
}

oconfig_item_t *fake_config_parse(const char *text)
{
    struct input input = {text, 1};
    oconfig_item_t *top = checked(calloc(1, sizeof(*top)));

    parse_children(&input, top);
    if (*input.text != '\0')
        fail(&input, "an option or block");
    link_parents(top);
    return top;
}

static void free_content(oconfig_item_t *item)
{
    for (int i = 0; i < item->values_num; i++)
        if (item->values[i].type == OCONFIG_TYPE_STRING)
            free(item->values[i].value.string);
    for (int i = 0; i < item->children_num; i++)
        free_content(&item->children[i]);
    free(item->values);
    free(item->children);
    free(item->key);
}

void fake_config_free(oconfig_item_t *item)
{
    free_content(item);
    free(item);
}

/* --- What collectd exports of its parser ------------------------------------ */

oconfig_item_t *oconfig_parse_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (file == NULL)
        return NULL;
    ssize_t length = getdelim(&text, &size, '\0', file);
    fclose(file);
    oconfig_item_t *item = fake_config_parse(length > 0 ? text : "");
    free(text);
    return item;
}

void oconfig_free(oconfig_item_t *item)
{
    fake_config_free(item);
}
