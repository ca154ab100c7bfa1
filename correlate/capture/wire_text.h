/* SPDX-License-Identifier: MIT */
/* The layer "wire" as text. */
#ifndef MAGNET_CORRELATE_CAPTURE_WIRE_TEXT_H
#define MAGNET_CORRELATE_CAPTURE_WIRE_TEXT_H

#include <stdio.h>

#include "capture/wire.h"

void wire_text(const struct wire *w, FILE *to, bool colour);

#endif
