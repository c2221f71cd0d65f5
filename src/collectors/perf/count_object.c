/* SPDX-License-Identifier: MIT */
/*
 * perf/count_object.c - the object that the build has made of count.bpf.c.
 */
#include "perf/count_object.h"

/* libbpf reads it as an ELF file, in place. */
__attribute__((aligned(8))) const unsigned char hr_perf_count_object[] = {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#include "perf/count_object_big.h"
#else
#include "perf/count_object_little.h"
#endif
};

const size_t hr_perf_count_object_size = sizeof(hr_perf_count_object);
