/* SPDX-License-Identifier: MIT */
#include "support/fake_types.h"

#include <math.h>
#include <search.h>
#include <stdarg.h>

#include "support/fake_collectd.h"
#include "utils/common/common.h"

static void *types; /* a tsearch(3) tree */

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "fake_collectd: types.db: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

static void *checked(void *memory)
{
    if (memory == NULL)
        fail("out of memory");
    return memory;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* "U" is unlimited. */
static double parse_limit(const char *text)
{
    return text[0] == 'U' ? NAN : strtod(text, NULL);
}

/* "value:GAUGE:0:100.1" */
static data_source_t parse_source(const char *text)
{
    static const char *const names[] = {
        [DS_TYPE_COUNTER] = "COUNTER",
        [DS_TYPE_GAUGE] = "GAUGE",
        [DS_TYPE_DERIVE] = "DERIVE",
        [DS_TYPE_ABSOLUTE] = "ABSOLUTE",
    };
    char type[16], min[32], max[32];
    data_source_t source = {.type = -1};

    if (sscanf(text, " %127[^: ]:%15[^:]:%31[^:]:%31s", source.name, type, min, max) != 4)
        fail("not a data source: %s", text);
    for (int i = 0; i < (int)STATIC_ARRAY_SIZE(names); i++)
        if (strcmp(type, names[i]) == 0)
            source.type = i;
    source.min = parse_limit(min);
    source.max = parse_limit(max);
    return source;
}

/* "percent  value:GAUGE:0:100.1", with more sources after commas */
static void parse_type(char *line)
{
    char *rest, *name = strtok_r(line, " \t\n", &rest);

    if (name == NULL || name[0] == '#')
        return;
    struct fake_type *type = checked(calloc(1, sizeof(*type)));
    snprintf(type->name, sizeof(type->name), "%s", name);
    for (char *source; (source = strtok_r(NULL, ",\n", &rest)) != NULL;) {
        if (type->count == FAKE_MAX_SOURCES)
            fail("%s has too many data sources", name);
        type->sources[type->count++] = parse_source(source);
    }
    struct fake_type **entry = checked(tsearch(type, &types, compare_names));
    if (*entry != type)
        free(type);
}

void fake_types_read(void)
{
    const char *path = getenv("TYPESDB") != NULL ? getenv("TYPESDB") : FAKE_TYPESDB;
    FILE *file = fopen(path, "r");
    char line[4096];

    if (file == NULL)
        fail("can't read %s: %m", path);
    while (fgets(line, sizeof(line), file) != NULL)
        parse_type(line);
    fclose(file);
}

const struct fake_type *fake_types_find(const char *name)
{
    struct fake_type **found = tfind(name, &types, compare_names);

    return found != NULL ? *found : NULL;
}

void fake_types_free(void)
{
    tdestroy(types, free);
    types = NULL;
}
