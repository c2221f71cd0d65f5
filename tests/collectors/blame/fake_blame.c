/* SPDX-License-Identifier: MIT */
#include "collectors/blame/fake_blame.h"

#include <errno.h>
#include <string.h>

struct fake_blame fake_blame;

void fake_blame_new(void)
{
    fake_blame = (struct fake_blame){
        .maps = {
            [BLAME_MAP_CONTROL] = {.key_size = 4, .value_size = sizeof(struct blame_control)},
            [BLAME_MAP_STATUS] = {.key_size = 4, .value_size = sizeof(struct blame_status)},
            [BLAME_MAP_WATCHED] = {.key_size = 8, .value_size = 4},
            [BLAME_MAP_CELLS] = {.key_size = sizeof(struct blame_key), .value_size = 8},
            [BLAME_MAP_NAMES] = {.key_size = 4, .value_size = sizeof(struct blame_name)},
        }};
}

static int find(const struct fake_map *map, const void *key)
{
    for (size_t i = 0; i < map->count; i++)
        if (memcmp(map->keys[i], key, map->key_size) == 0)
            return (int)i;
    return -ENOENT;
}

static int fake_load(const struct blame_settings *settings, const struct blame_sizes *sizes,
                     void **object)
{
    if (fake_blame.load_error != 0)
        return fake_blame.load_error;
    fake_blame.settings = *settings;
    for (int i = 0; i < BLAME_MAP_COUNT; i++)
        fake_blame.maps[i].most =
            sizes->entries[i] < FAKE_ENTRIES ? sizes->entries[i] : FAKE_ENTRIES;
    /* Arrays have all their entries. */
    fake_blame.maps[BLAME_MAP_CONTROL].count = 1;
    fake_blame.maps[BLAME_MAP_STATUS].count = 1;
    fake_blame.loaded++;
    *object = &fake_blame;
    return 0;
}

static void fake_unload(void *object)
{
    struct fake_blame *fake = object;

    fake->loaded--;
}

static int fake_attach(void *object)
{
    struct fake_blame *fake = object;

    fake->attached += fake->attach_error == 0;
    return fake->attach_error;
}

static void fake_detach(void *object)
{
    struct fake_blame *fake = object;

    fake->detached++;
}

static int fake_lookup(void *object, enum blame_map map, const void *key, void *value)
{
    const struct fake_map *own = &((struct fake_blame *)object)->maps[map];
    int at = find(own, key);

    if (at < 0)
        return at;
    memcpy(value, own->values[at], own->value_size);
    return 0;
}

static int fake_update(void *object, enum blame_map map, const void *key, const void *value)
{
    struct fake_map *own = &((struct fake_blame *)object)->maps[map];
    int at = find(own, key);

    if (at < 0 && own->count == own->most)
        return -E2BIG;
    if (at < 0)
        at = (int)own->count++;
    memcpy(own->keys[at], key, own->key_size);
    memcpy(own->values[at], value, own->value_size);
    return 0;
}

static int fake_remove(void *object, enum blame_map map, const void *key)
{
    struct fake_map *own = &((struct fake_blame *)object)->maps[map];
    int at = find(own, key);

    if (at < 0)
        return at;
    own->count--;
    memmove(own->keys[at], own->keys[own->count], sizeof(own->keys[0]));
    memmove(own->values[at], own->values[own->count], sizeof(own->values[0]));
    return 0;
}

static int fake_count_lasting(void *object)
{
    struct fake_blame *fake = object;
    struct blame_status status;
    const uint32_t zero = 0;

    fake->lasting_counted++;
    fake_lookup(fake, BLAME_MAP_STATUS, &zero, &status);
    status.unsplit_ns += fake->lasting_unsplit_ns;
    return fake_update(fake, BLAME_MAP_STATUS, &zero, &status);
}

static int fake_copy(void *object, enum blame_map map, void *keys, void *values, size_t *count)
{
    const struct fake_blame *fake = object;
    const struct fake_map *own = &fake->maps[map];

    if (fake->copy_error != 0)
        return fake->copy_error;
    for (size_t i = 0; i < own->count; i++) {
        memcpy((char *)keys + i * own->key_size, own->keys[i], own->key_size);
        memcpy((char *)values + i * own->value_size, own->values[i], own->value_size);
    }
    *count = own->count;
    return 0;
}

const struct hr_blame_calls fake_blame_calls = {
    .load = fake_load,
    .unload = fake_unload,
    .attach = fake_attach,
    .detach = fake_detach,
    .lookup = fake_lookup,
    .update = fake_update,
    .remove = fake_remove,
    .count_lasting = fake_count_lasting,
    .copy = fake_copy,
};

static uint32_t find_watched(uint64_t id)
{
    uint32_t number = 0;

    fake_lookup(&fake_blame, BLAME_MAP_WATCHED, &id, &number);
    return number;
}

uint32_t fake_blame_number(uint64_t id)
{
    return find_watched(id) & ~BLAME_MEASURED;
}

bool fake_blame_is_measured(uint64_t id)
{
    return (find_watched(id) & BLAME_MEASURED) != 0;
}

void fake_blame_set(uint32_t waiter, uint32_t taker, uint64_t ns)
{
    const struct blame_key key = {.waiter = waiter, .taker = taker};

    fake_update(&fake_blame, BLAME_MAP_CELLS, &key, &ns);
}

void fake_blame_add(uint32_t waiter, uint32_t taker, uint64_t ns)
{
    const struct blame_key key = {.waiter = waiter, .taker = taker};
    uint64_t sum = 0;

    fake_lookup(&fake_blame, BLAME_MAP_CELLS, &key, &sum);
    fake_blame_set(waiter, taker, sum + ns);
}
