/* SPDX-License-Identifier: MIT */
/*
 * blame/object.c - the object that the build has made of blame.bpf.c.
 */
#include "blame/object.h"

/* libbpf reads it as an ELF file, in place. */
__attribute__((aligned(8))) const unsigned char hr_blame_object[] = {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#include "blame/object_big.h"
#else
#include "blame/object_little.h"
#endif
};

const size_t hr_blame_object_size = sizeof(hr_blame_object);
