/* SPDX-License-Identifier: MIT */
/*
 * perf/bpf_object.c - the object that the build has made of count.bpf.c.
 */
#include "perf/bpf_object.h"

/* libbpf reads it as an ELF file, in place. */
__attribute__((aligned(8))) const unsigned char hr_perf_bpf_object[] = {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#include "perf/bpf_object_big.h"
#else
#include "perf/bpf_object_little.h"
#endif
};

const size_t hr_perf_bpf_object_size = sizeof(hr_perf_bpf_object);
