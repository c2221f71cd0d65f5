/* SPDX-License-Identifier: MIT */
/*
 * perf/bpf_object.h - the compiled BPF programs, an ELF file in the byte order of this machine.
 */
#ifndef HEADROOM_COLLECTORS_PERF_BPF_OBJECT_H
#define HEADROOM_COLLECTORS_PERF_BPF_OBJECT_H

#include <stddef.h>

extern const unsigned char hr_perf_bpf_object[];
extern const size_t hr_perf_bpf_object_size;

#endif
