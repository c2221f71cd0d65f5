/* SPDX-License-Identifier: MIT */
/*
 * fuzz/fuzz.h - what a fuzzer of a parser defines. Built with --enable-fuzzing it is driven by
 * libFuzzer; otherwise replay.c hands it every file of its corpus, in `make check`.
 */
#ifndef HEADROOM_TESTS_FUZZ_H
#define HEADROOM_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** The corpus' directory in tests/fuzz/corpus. */
extern const char fuzz_corpus[];

/** libFuzzer's entry: parses one input and aborts where a promise of the parser is broken. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Aborts, which libFuzzer and replay.c report, unless a condition holds. */
static inline void require(bool condition)
{
    if (!condition)
        abort();
}

#endif
