/* SPDX-License-Identifier: MIT */
#include "cgroup/glob.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pattern is compiled to two POSIX extended regular expressions: one that matches the same paths,
 * with each wildcard in a group of its own, and one that matches the directories above. */
struct hr_glob {
    char *prefix; /* up to the first wildcard: what most paths differ in, which is quick to see */
    size_t prefix_length;
    regex_t whole;
    regex_t above;
    size_t wildcard_count;
    size_t *group; /* of each wildcard in `whole` */
};

/* Translation of one pattern. */
struct translation {
    FILE *out;
    size_t groups;    /* opened so far */
    size_t wildcards; /* found so far */
    size_t *group;    /* of each wildcard; one entry per byte of the pattern; NULL: not wanted */
    const char *reason;
};

static void open_wildcard(struct translation *translation)
{
    fputc('(', translation->out);
    translation->groups++;
    if (translation->group != NULL)
        translation->group[translation->wildcards] = translation->groups;
    translation->wildcards++;
}

static void put_wildcard(struct translation *translation, const char *expression)
{
    open_wildcard(translation);
    fprintf(translation->out, "%s)", expression);
}

static void put_literal(struct translation *translation, char c)
{
    if (strchr("\\^.[]$()|*+?{}", c) != NULL)
        fputc('\\', translation->out);
    fputc(c, translation->out);
}

/* @return the length of the set that begins with the "[" at text, or 0 if it isn't closed. */
static size_t get_set_length(const char *text, size_t length)
{
    size_t i = 1;

    if (i < length && (text[i] == '!' || text[i] == '^'))
        i++;
    if (i < length && text[i] == ']')
        i++;
    for (; i < length; i++) {
        if (text[i] == ']')
            return i + 1;
        if (text[i] == '[' && i + 1 < length && text[i + 1] == ':') {
            const char *end = memmem(text + i + 2, length - i - 2, ":]", 2);
            if (end == NULL)
                return 0;
            i = (size_t)(end + 1 - text);
        }
    }
    return 0;
}

/* @return the set's length in the pattern, or 0 if it isn't closed. */
static size_t put_set(struct translation *translation, const char *text, size_t length)
{
    size_t end = get_set_length(text, length);

    if (end == 0) {
        translation->reason = "a \"[\" is not closed";
        return 0;
    }
    open_wildcard(translation);
    if (text[1] != '!' && text[1] != '^') {
        fprintf(translation->out, "%.*s)", (int)end, text);
        return end;
    }
    /* No wildcard but "**" matches a slash, so the slash joins the negated set: at its end, or at
     * its start where the last member is a "-", which must stay last. */
    const char *members = text + 2;
    int length_of_members = (int)end - 3;
    bool dash_last = length_of_members > 1 && members[length_of_members - 1] == '-';
    if (!dash_last)
        fprintf(translation->out, "[^%.*s/])", length_of_members, members);
    else if (members[0] != ']' && members[0] != '-')
        fprintf(translation->out, "[^/%.*s])", length_of_members, members);
    else
        fprintf(translation->out, "[^%.*s/-])", length_of_members - 1, members);
    return end;
}

/* Translates one path component. */
static int put_component(struct translation *translation, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t taken = 1;
        if (text[i] == '*') {
            bool spanning = i + 1 < length && text[i + 1] == '*';
            put_wildcard(translation, spanning ? ".*" : "[^/]*");
            taken = spanning ? 2 : 1;
        } else if (text[i] == '?') {
            put_wildcard(translation, "[^/]");
        } else if (text[i] == '[') {
            taken = put_set(translation, text + i, length - i);
        } else {
            put_literal(translation, text[i]);
        }
        if (taken == 0)
            return -EINVAL;
        i += taken;
    }
    return 0;
}

static bool is_spanning(const char *text, size_t length)
{
    return memmem(text, length, "**", 2) != NULL;
}

static bool text_equals(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* Writes the expression for the whole pattern. The slash after a "**" between slashes becomes part
 * of its optional group, so that "a/<**>/b" matches "a/b". */
static int put_whole(struct translation *translation, const char *pattern, size_t length)
{
    const char *end = pattern + length;

    fputc('^', translation->out);
    for (const char *component = pattern; component < end;) {
        const char *slash = memchr(component, '/', (size_t)(end - component));
        size_t size = (size_t)((slash ? slash : end) - component);
        int status = 0;

        if (text_equals(component, size, "**") && slash != NULL) {
            fputc('(', translation->out);
            translation->groups++;
            put_wildcard(translation, ".*");
            fputs("/)?", translation->out);
        } else if (text_equals(component, size, "**")) {
            put_wildcard(translation, ".+");
        } else {
            status = put_component(translation, component, size);
            if (slash != NULL)
                fputc('/', translation->out);
        }
        if (status < 0)
            return status;
        component += size + 1;
    }
    fputc('$', translation->out);
    return 0;
}

/* Writes the expression for the directories above: "a/b/c" gives a(/b)?, "a/<**>/c" a(/.*)?. */
static int put_above(struct translation *translation, const char *pattern, size_t length)
{
    const char *end = pattern + length;
    size_t open_count = 0;

    fputc('^', translation->out);
    for (const char *component = pattern; component < end;) {
        const char *slash = memchr(component, '/', (size_t)(end - component));
        size_t size = (size_t)((slash ? slash : end) - component);
        bool spanning = is_spanning(component, size);

        if (!spanning && slash == NULL)
            break;
        fputs(component == pattern ? "(" : "(/", translation->out);
        open_count++;
        if (spanning) {
            fputs(".*", translation->out);
            break;
        }
        int status = put_component(translation, component, size);
        if (status < 0)
            return status;
        component += size + 1;
    }
    while (open_count-- > 0)
        fputs(")?", translation->out);
    fputc('$', translation->out);
    return 0;
}

/* Translates a pattern by `put`, and compiles the result. */
static int compile_regex(regex_t *regex, struct translation *translation, const char *pattern,
                         size_t length,
                         int (*put)(struct translation *translation, const char *, size_t))
{
    char *expression = NULL;
    size_t size;

    translation->out = open_memstream(&expression, &size);
    if (translation->out == NULL)
        return -ENOMEM;
    int status = put(translation, pattern, length);
    if (fclose(translation->out) != 0 && status == 0)
        status = -ENOMEM;
    if (status == 0) {
        int error = regcomp(regex, expression, REG_EXTENDED);
        if (error != 0) {
            status = error == REG_ESPACE ? -ENOMEM : -EINVAL;
            translation->reason = "a \"[…]\" set is invalid";
        }
    }
    free(expression);
    return status;
}

/* @return what is wrong with the pattern's components; NULL: nothing. */
static const char *find_fault(const char *pattern, size_t length)
{
    const char *end = pattern + length;

    if (length == 0)
        return "it is empty";
    for (const char *component = pattern; component <= end;) {
        const char *slash = memchr(component, '/', (size_t)(end - component));
        size_t size = (size_t)((slash ? slash : end) - component);
        if (size == 0)
            return "it has an empty component (\"//\")";
        if (text_equals(component, size, ".") || text_equals(component, size, ".."))
            return "it has a component \".\" or \"..\"";
        component += size + 1;
    }
    return NULL;
}

static int compile_both(struct hr_glob *glob, const char *pattern, size_t length,
                        const char **reason)
{
    struct translation whole = {.group = glob->group};
    int status = compile_regex(&glob->whole, &whole, pattern, length, put_whole);
    *reason = whole.reason;
    if (status < 0)
        return status;
    glob->wildcard_count = whole.wildcards;

    struct translation above = {0};
    status = compile_regex(&glob->above, &above, pattern, length, put_above);
    if (status < 0) {
        regfree(&glob->whole);
        *reason = above.reason;
    }
    return status;
}

int hr_glob_compile(const char *pattern, struct hr_glob **glob, const char **reason)
{
    pattern += *pattern == '/';
    size_t length = strlen(pattern);
    length -= length > 0 && pattern[length - 1] == '/';

    *reason = find_fault(pattern, length);
    if (*reason != NULL)
        return -EINVAL;

    struct hr_glob *compiled = calloc(1, sizeof(*compiled));
    if (compiled == NULL)
        return -ENOMEM;
    compiled->group = calloc(length, sizeof(*compiled->group));
    compiled->prefix_length = strcspn(pattern, "*?[");
    if (compiled->prefix_length > length)
        compiled->prefix_length = length;
    compiled->prefix = strndup(pattern, compiled->prefix_length);
    int status = compiled->group != NULL && compiled->prefix != NULL
                     ? compile_both(compiled, pattern, length, reason)
                     : -ENOMEM;
    if (status < 0) {
        free(compiled->prefix);
        free(compiled->group);
        free(compiled);
        return status;
    }
    *glob = compiled;
    return 0;
}

void hr_glob_free(struct hr_glob *glob)
{
    if (glob == NULL)
        return;
    regfree(&glob->whole);
    regfree(&glob->above);
    free(glob->prefix);
    free(glob->group);
    free(glob);
}

size_t hr_glob_wildcards(const struct hr_glob *glob)
{
    return glob->wildcard_count;
}

bool hr_glob_match(const struct hr_glob *glob, const char *path)
{
    return strncmp(path, glob->prefix, glob->prefix_length) == 0 &&
           regexec(&glob->whole, path, 0, NULL, 0) == 0;
}

bool hr_glob_match_below(const struct hr_glob *glob, const char *path)
{
    return regexec(&glob->above, path, 0, NULL, 0) == 0;
}

bool hr_glob_capture(const struct hr_glob *glob, const char *path, size_t number, const char **text,
                     size_t *length)
{
    if (number < 1 || number > glob->wildcard_count)
        return false;

    size_t group = glob->group[number - 1];
    regmatch_t *matches = calloc(group + 1, sizeof(*matches));
    if (matches == NULL)
        return false;
    bool matched = regexec(&glob->whole, path, group + 1, matches, 0) == 0;
    if (matched) {
        /* A wildcard that matched no component at all has no offsets. */
        regoff_t start = matches[group].rm_so < 0 ? 0 : matches[group].rm_so;
        regoff_t end = matches[group].rm_so < 0 ? 0 : matches[group].rm_eo;
        *text = path + start;
        *length = (size_t)(end - start);
    }
    free(matches);
    return matched;
}

int hr_globs_compile(const char *const *patterns, size_t count, struct hr_globs *globs)
{
    struct hr_globs compiled = {.list = calloc(count + 1, sizeof(*compiled.list))};
    const char *reason;
    int status = compiled.list != NULL ? 0 : -ENOMEM;

    for (; status == 0 && compiled.count < count; compiled.count += status == 0)
        status = hr_glob_compile(patterns[compiled.count], &compiled.list[compiled.count], &reason);
    if (status < 0)
        hr_globs_free(&compiled);
    else
        *globs = compiled;
    return status;
}

void hr_globs_free(struct hr_globs *globs)
{
    for (size_t i = 0; i < globs->count; i++)
        hr_glob_free(globs->list[i]);
    free(globs->list);
    *globs = (struct hr_globs){0};
}

size_t hr_globs_find(const struct hr_globs *globs, const char *path)
{
    size_t i = 0;

    while (i < globs->count && !hr_glob_match(globs->list[i], path))
        i++;
    return i;
}

bool hr_globs_match_below(const struct hr_globs *globs, const char *path)
{
    for (size_t i = 0; i < globs->count; i++)
        if (hr_glob_match_below(globs->list[i], path))
            return true;
    return false;
}
