/* SPDX-License-Identifier: MIT */
/* The page of magnet top with one connection. */
#ifndef MAGNET_CLI_TOP_ONE_H
#define MAGNET_CLI_TOP_ONE_H

#include "top_screen.h"

/* Draws the connection that the scope watches. */
void top_draw_one(const struct top_screen *s, const struct top *t, int line);

#endif
