/* SPDX-License-Identifier: MIT */
/*
 * base/bpf_constants.h - the constants of BPF programs, before they are loaded.
 */
#ifndef HEADROOM_COLLECTORS_BASE_BPF_CONSTANTS_H
#define HEADROOM_COLLECTORS_BASE_BPF_CONSTANTS_H

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

/** Sets the only constant of an object. @return 0; -EINVAL: it has none of this size; or another
 * negative errno. */
static inline int hr_bpf_set_constant(struct bpf_object *object, const void *value, size_t size)
{
    struct bpf_map *map;
    size_t expected;

    bpf_object__for_each_map(map, object)
    {
        if (strstr(bpf_map__name(map), ".rodata") == NULL)
            continue;
        bpf_map__initial_value(map, &expected);
        return size == expected ? bpf_map__set_initial_value(map, value, size) : -EINVAL;
    }
    return -EINVAL;
}

#endif
