/* SPDX-License-Identifier: MIT */
/* A filter as its options are written. */
#ifndef MAGNET_CORRELATE_FILTER_TEXT_H
#define MAGNET_CORRELATE_FILTER_TEXT_H

#include <stddef.h>

#include "filter/filter.h"

#define FILTER_TEXT 1000 /* bytes that are enough for most */
/* Writes it, "" if nothing is chosen; what does not fit is cut. */
void filter_text(const struct filter *f, char *out, size_t size);

#endif
