/* SPDX-License-Identifier: MIT */
/*
 * doctor/names.c - blocks that have the name of an earlier one, as those of a file that was copied:
 * the plugin refuses the second, and collectd doesn't start.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "doctor/checks.h"
#include "headroom/instance.h"

static bool is_same_but_case(const char *name, const char *other)
{
    return strcasecmp(name, other) == 0;
}

static bool is_same_instance(const char *name, const char *other)
{
    char instance[HR_INSTANCE_SIZE], others[HR_INSTANCE_SIZE];

    hr_instance_make(name, name, false, instance);
    hr_instance_make(other, other, false, others);
    return strcmp(instance, others) == 0;
}

/* Of which blocks there is one of each name; <System> has none, so there is one. */
static const struct kind {
    const char *plugin, *key;
    bool (*is_same)(const char *name, const char *other);
} kinds[] = {
    {"psi", "Trigger", is_same_but_case},
    {"wss", "Process", is_same_instance},
    {"wss", "System", is_same_but_case},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

/* A place among the blocks of a plugin. All zeros is before the first. */
struct place {
    const struct config_item *plugin;
    size_t next_plugin, next;
};

/* @return the next block of a kind; NULL: there are no more. */
static const struct config_item *next_of_kind(const struct usage *usage, const struct kind *kind,
                                              struct place *place)
{
    for (;;) {
        while (place->plugin != NULL && place->next < place->plugin->child_count) {
            const struct config_item *item = &place->plugin->children[place->next++];
            if (config_is(item, kind->key))
                return item;
        }
        place->plugin = doctor_next_block(usage, kind->plugin, &place->next_plugin);
        place->next = 0;
        if (place->plugin == NULL)
            return NULL;
    }
}

static const struct config_item *find_earlier(const struct usage *usage, const struct kind *kind,
                                              const struct config_item *block)
{
    const struct config_item *earlier;
    struct place place = {0};

    while ((earlier = next_of_kind(usage, kind, &place)) != block)
        if (kind->is_same(config_text(earlier), config_text(block)))
            return earlier;
    return NULL;
}

static void add_second(const struct config_item *block, const struct config_item *earlier,
                       struct findings *findings)
{
    char feature[80], cause[256];

    snprintf(feature, sizeof(feature), "<%s \"%.60s\">", block->key, config_text(block));
    if (block->value_count == 0)
        snprintf(feature, sizeof(feature), "<%s>", block->key);
    snprintf(cause, sizeof(cause), "is in line %u of %.80s and in line %u of %.80s", earlier->line,
             earlier->path, block->line, block->path);
    findings_add(findings, FINDING_WRONG, feature, cause,
                 "remove one, or its file if that is a copy, or give it another name: collectd "
                 "doesn't start with this");
}

static void check_kind(const struct usage *usage, const struct kind *kind,
                       struct findings *findings)
{
    const struct config_item *block, *earlier;
    struct place place = {0};

    while ((block = next_of_kind(usage, kind, &place)) != NULL) {
        earlier = find_earlier(usage, kind, block);
        if (earlier != NULL)
            add_second(block, earlier, findings);
    }
}

void doctor_check_names(const struct usage *usage, const char *plugin, struct findings *findings)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(kinds[i].plugin, plugin) == 0)
            check_kind(usage, &kinds[i], findings);
}
