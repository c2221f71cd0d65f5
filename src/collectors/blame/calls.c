/* SPDX-License-Identifier: MIT */
#include "blame/calls.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bpf_constants.h"
#include "blame/object.h"

#define PROGRAM_MAX 5
#define BATCH_MAX   4096 /* entries copied in one call */

struct object {
    struct bpf_object *bpf;
    int map_fds[BLAME_MAP_COUNT];
    size_t sizes[BLAME_MAP_COUNT], key_sizes[BLAME_MAP_COUNT], value_sizes[BLAME_MAP_COUNT];
    struct bpf_link *links[PROGRAM_MAX];
    size_t link_count;
    const struct bpf_link *lasting; /* that of the program for waits that last; NULL: none */
};

static const char *const map_names[BLAME_MAP_COUNT] = {
    [BLAME_MAP_CONTROL] = "control", [BLAME_MAP_STATUS] = "status", [BLAME_MAP_WATCHED] = "watched",
    [BLAME_MAP_CELLS] = "cells",     [BLAME_MAP_NAMES] = "names",
};

/* --- Loading -------------------------------------------------------------- */

static int set_map_sizes(struct bpf_object *bpf, const struct blame_sizes *sizes)
{
    struct bpf_map *rings = bpf_object__find_map_by_name(bpf, "rings");
    int cpus = libbpf_num_possible_cpus();
    int status = cpus < 0 ? cpus : bpf_map__set_max_entries(rings, (__u32)cpus);

    for (int i = 0; status == 0 && i < BLAME_MAP_COUNT; i++)
        status = bpf_map__set_max_entries(bpf_object__find_map_by_name(bpf, map_names[i]),
                                          (__u32)sizes->entries[i]);
    return status;
}

static struct bpf_program *find_lasting(struct bpf_object *bpf)
{
    return bpf_object__find_program_by_name(bpf, "on_reading");
}

/* libbpf would look through all of the kernel's types for the constant of that name. */
static bool has_loop(void)
{
    return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_loop, NULL) > 0;
}

static int open_and_load(struct object *object, const struct blame_settings *settings,
                         const struct blame_sizes *sizes)
{
    struct blame_settings constants = *settings;
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "headroom_blame");

    object->bpf = bpf_object__open_mem(hr_blame_object, hr_blame_object_size, &options);
    if (object->bpf == NULL)
        return -errno;
    int status = set_map_sizes(object->bpf, sizes);
    if (status == 0 && !settings->lasting)
        status = bpf_program__set_autoload(find_lasting(object->bpf), false);
    constants.has_loop = has_loop();
    if (status == 0)
        status = hr_bpf_set_constant(object->bpf, &constants, sizeof(constants));
    if (status == 0)
        status = bpf_object__load(object->bpf);
    for (int i = 0; status == 0 && i < BLAME_MAP_COUNT; i++) {
        const struct bpf_map *map = bpf_object__find_map_by_name(object->bpf, map_names[i]);
        object->map_fds[i] = bpf_map__fd(map);
        object->sizes[i] = sizes->entries[i];
        object->key_sizes[i] = bpf_map__key_size(map);
        object->value_sizes[i] = bpf_map__value_size(map);
    }
    return status;
}

static void libbpf_detach(void *object)
{
    struct object *own = object;

    own->lasting = NULL;
    while (own->link_count > 0)
        bpf_link__destroy(own->links[--own->link_count]);
}

static void libbpf_unload(void *object)
{
    struct object *own = object;

    libbpf_detach(own);
    bpf_object__close(own->bpf);
    free(own);
}

/* libbpf prints on standard error unless it is stopped. */
static int libbpf_load(const struct blame_settings *settings, const struct blame_sizes *sizes,
                       void **object)
{
    struct object *own = calloc(1, sizeof(*own));

    if (own == NULL)
        return -ENOMEM;
    libbpf_print_fn_t print = libbpf_set_print(NULL);
    int status = open_and_load(own, settings, sizes);
    libbpf_set_print(print);
    if (status != 0)
        libbpf_unload(own);
    else
        *object = own;
    return status;
}

static int libbpf_attach(void *object)
{
    struct object *own = object;
    struct bpf_program *program;

    bpf_object__for_each_program(program, own->bpf)
    {
        if (!bpf_program__autoload(program))
            continue;
        struct bpf_link *link = own->link_count < PROGRAM_MAX ? bpf_program__attach(program) : NULL;
        if (link == NULL) {
            int status = -errno;
            libbpf_detach(own);
            return status;
        }
        own->links[own->link_count++] = link;
        if (program == find_lasting(own->bpf))
            own->lasting = link;
    }
    return 0;
}

/* The program runs while it is read. */
static int libbpf_count_lasting(void *object)
{
    const struct object *own = object;
    char unused[64];
    ssize_t length;

    if (own->lasting == NULL)
        return 0;
    int fd = bpf_iter_create(bpf_link__fd(own->lasting));
    if (fd < 0)
        return -errno;
    do
        length = read(fd, unused, sizeof(unused));
    while (length > 0 || (length < 0 && (errno == EAGAIN || errno == EINTR)));
    int status = length < 0 ? -errno : 0;
    close(fd);
    return status;
}

/* --- Maps ----------------------------------------------------------------- */

static int libbpf_lookup(void *object, enum blame_map map, const void *key, void *value)
{
    const struct object *own = object;

    return bpf_map_lookup_elem(own->map_fds[map], key, value) < 0 ? -errno : 0;
}

static int libbpf_update(void *object, enum blame_map map, const void *key, const void *value)
{
    const struct object *own = object;

    return bpf_map_update_elem(own->map_fds[map], key, value, BPF_ANY) < 0 ? -errno : 0;
}

static int libbpf_remove(void *object, enum blame_map map, const void *key)
{
    const struct object *own = object;

    return bpf_map_delete_elem(own->map_fds[map], key) < 0 ? -errno : 0;
}

/* Key by key, before 5.6. */
static int copy_singly(const struct object *own, enum blame_map map, char *keys, char *values,
                       size_t *count)
{
    const size_t key_size = own->key_sizes[map], value_size = own->value_sizes[map];
    const char *before = NULL;

    for (*count = 0; *count < own->sizes[map];) {
        char *key = keys + *count * key_size;
        if (bpf_map_get_next_key(own->map_fds[map], before, key) < 0)
            return errno == ENOENT ? 0 : -errno;
        /* One that was removed meanwhile has no successor: the next would be the first again. */
        if (bpf_map_lookup_elem(own->map_fds[map], key, values + *count * value_size) < 0)
            return errno == ENOENT ? 0 : -errno;
        before = key;
        ++*count;
    }
    return 0;
}

static int libbpf_copy(void *object, enum blame_map map, void *keys, void *values, size_t *count)
{
    const struct object *own = object;
    const size_t key_size = own->key_sizes[map], value_size = own->value_sizes[map];
    __u32 at = 0, *from = NULL;

    for (*count = 0; *count < own->sizes[map]; from = &at) {
        size_t left = own->sizes[map] - *count;
        __u32 some = left < BATCH_MAX ? (__u32)left : BATCH_MAX;
        int status =
            bpf_map_lookup_batch(own->map_fds[map], from, &at, (char *)keys + *count * key_size,
                                 (char *)values + *count * value_size, &some, NULL);
        if (status < 0 && errno != ENOENT)
            return from == NULL ? copy_singly(own, map, keys, values, count) : -errno;
        *count += some;
        if (status < 0)
            return 0;
    }
    return 0;
}

const struct hr_blame_calls hr_blame_kernel_calls = {
    .load = libbpf_load,
    .unload = libbpf_unload,
    .attach = libbpf_attach,
    .detach = libbpf_detach,
    .lookup = libbpf_lookup,
    .update = libbpf_update,
    .remove = libbpf_remove,
    .count_lasting = libbpf_count_lasting,
    .copy = libbpf_copy,
};
