/* SPDX-License-Identifier: MIT */
/*
 * Metadata as magnet wrote it once, kept so that the streams kept with it stay readable whatever
 * fields the event table gets.
 */
#ifndef MAGNET_TESTS_FUZZ_OWN_METADATA_H
#define MAGNET_TESTS_FUZZ_OWN_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

const uint8_t *own_metadata(bool app, size_t *size);

#endif
