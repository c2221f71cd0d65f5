/* SPDX-License-Identifier: MIT */
/*
 * perf/count_object.h - the compiled BPF programs, an ELF file in the byte order of this machine.
 */
#ifndef HEADROOM_COLLECTORS_PERF_COUNT_OBJECT_H
#define HEADROOM_COLLECTORS_PERF_COUNT_OBJECT_H

#include <stddef.h>

extern const unsigned char hr_perf_count_object[];
extern const size_t hr_perf_count_object_size;

#endif
