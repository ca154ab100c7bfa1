/* SPDX-License-Identifier: MIT */
/* magnet show --follow */
#ifndef MAGNET_CLI_SHOW_FOLLOW_H
#define MAGNET_CLI_SHOW_FOLLOW_H

#include "filter/filter.h"
#include "render/show.h"
#include "render/show_facts.h"

/* Output: facts, if `facts.fact` is not NULL, else events. */
struct show_follow {
	struct show events;
	struct show_facts facts;
	struct filter *filter; /* NULL: all */
};

/*
 * Prints a recording that still runs until it ends or a signal comes; of the filter and the core
 * this takes care. Returns the exit status.
 */
int show_follow(struct show_follow *s, const char *dir);

#endif
