/* SPDX-License-Identifier: MIT */
/*
 * Metadata written by an earlier magnet, kept so that the streams stored with it stay readable when
 * the event table changes.
 */
#ifndef MAGNET_TESTS_FUZZ_OWN_METADATA_H
#define MAGNET_TESTS_FUZZ_OWN_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

const uint8_t *own_metadata(bool app, size_t *size);

#endif
