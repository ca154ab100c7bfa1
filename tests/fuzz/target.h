/* SPDX-License-Identifier: MIT */
/* What is fuzzed: one of these functions a program, called with any bytes at all. */
#ifndef MAGNET_TESTS_FUZZ_TARGET_H
#define MAGNET_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* libFuzzer's own; not there without it */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

#endif
