/* SPDX-License-Identifier: MIT */
/*
 * base/bpf_types.h - the types that libbpf's headers need, and the numbers of maps, for BPF
 * programs: so that any build machine will do, whatever headers of the kernel it has.
 *
 * Source: include/uapi/linux/bpf.h.
 */
#ifndef HEADROOM_COLLECTORS_BASE_BPF_TYPES_H
#define HEADROOM_COLLECTORS_BASE_BPF_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef _Bool bool;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u16 __sum16;

enum {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
    BPF_MAP_TYPE_PERCPU_ARRAY = 6,
    BPF_MAP_TYPE_LRU_HASH = 9
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };

#endif
