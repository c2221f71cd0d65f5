/* SPDX-License-Identifier: MIT */
#include "collectors/perf_event/event_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noreturn)) static void fail(const char *what)
{
    fprintf(stderr, "event_source: %s: %s\n", what, strerror(errno));
    abort();
}

static void add_link(const struct tree *tree, const char *pmu)
{
    char path[1024], target[768];

    snprintf(path, sizeof(path), "%s/" EVENT_SOURCE "/%s", tree_path(tree), pmu);
    snprintf(target, sizeof(target), "../../../devices/%s", pmu);
    if (symlink(target, path) < 0 && errno != EEXIST)
        fail(path);
}

/* "cpu/format/event:config:0-7" */
static void add_line(struct tree *tree, char *line, enum event_source_shape shape)
{
    char path[1024], *colon = strchr(line, ':'), *slash = strchr(line, '/');

    line[strcspn(line, "\n")] = '\0';
    if (colon == NULL || slash == NULL || slash > colon)
        fail(line);
    *colon = '\0';
    snprintf(path, sizeof(path), "%s/%s",
             shape == EVENT_SOURCE_LINKS ? "sys/devices" : EVENT_SOURCE, line);
    /* the kernel ends each file with a newline, except those of "events" on some machines */
    tree_write(tree, path, "%s\n", colon + 1);
    *slash = '\0';
    if (shape == EVENT_SOURCE_LINKS)
        add_link(tree, line);
}

void event_source_add(struct tree *tree, const char *machine, enum event_source_shape shape)
{
    const char *source = getenv("srcdir");
    char path[1024], line[512];

    tree_add_directory(tree, EVENT_SOURCE);
    snprintf(path, sizeof(path), "%s/tests/fixtures/event_source/%s", source ? source : ".",
             machine);
    FILE *stream = fopen(path, "r");
    if (stream == NULL)
        fail(path);
    while (fgets(line, sizeof(line), stream) != NULL)
        add_line(tree, line, shape);
    fclose(stream);
}
