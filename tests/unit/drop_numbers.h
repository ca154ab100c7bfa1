/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_TESTS_DROP_NUMBERS_H
#define MAGNET_TESTS_DROP_NUMBERS_H

#include <stdbool.h>

/* Whether the names of drops are known; true when a drain is made. */
extern bool drop_names_are_known;

#endif
