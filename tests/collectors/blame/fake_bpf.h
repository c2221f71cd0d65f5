/* SPDX-License-Identifier: MIT */
/*
 * collectors/blame/fake_bpf.h - stand-ins for the kernel's types, helpers and maps, so that what
 * the BPF programs compute is tested as any other function. To be included before their headers;
 * who includes it defines the functions that it declares, once the maps are there.
 */
#ifndef HEADROOM_TESTS_COLLECTORS_BLAME_FAKE_BPF_H
#define HEADROOM_TESTS_COLLECTORS_BLAME_FAKE_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Instead of the kernel's types, and of libbpf's headers. */
#define HEADROOM_COLLECTORS_BLAME_KERNEL_H
#define __BPF_HELPERS__
#define __BPF_CORE_READ_H__
#define __BPF_TRACING_H__

struct task_struct {
    int pid;
    char comm[16];
};

#define SEC(name)
#define __noinline __attribute__((noinline))
#undef __always_inline
#define __always_inline          inline __attribute__((always_inline))
#define __uint(name, value)      int(*name)[value]
#define __type(name, value_type) value_type *name
/* What isn't static is so for the kernel's sake. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/** Whether the kernel has bpf_loop(). */
static bool fake_has_loop;
#define has_bpf_loop() fake_has_loop

/** An entry of a map, found by its address. */
static void *bpf_map_lookup_elem(void *map, const void *key);
static long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags);

static inline long bpf_loop(__u32 count, long (*each)(__u32, void *), void *context, __u64 flags)
{
    __u32 step = 0;

    (void)flags;
    while (step < count && each(step, context) == 0)
        step++;
    return step;
}

static inline long bpf_probe_read_kernel(void *to, __u32 size, const void *from)
{
    memcpy(to, from, size);
    return 0;
}

#endif
