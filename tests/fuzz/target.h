/* SPDX-License-Identifier: MIT */
/* The fuzzed function, one per program, which is called with arbitrary bytes. */
#ifndef MAGNET_TESTS_FUZZ_TARGET_H
#define MAGNET_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* provided by libFuzzer only */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

#endif
