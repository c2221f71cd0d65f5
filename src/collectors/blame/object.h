/* SPDX-License-Identifier: MIT */
/*
 * blame/object.h - the compiled BPF programs, an ELF file in the byte order of this machine.
 */
#ifndef HEADROOM_COLLECTORS_BLAME_OBJECT_H
#define HEADROOM_COLLECTORS_BLAME_OBJECT_H

#include <stddef.h>

extern const unsigned char hr_blame_object[];
extern const size_t hr_blame_object_size;

#endif
