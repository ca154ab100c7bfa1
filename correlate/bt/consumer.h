/* SPDX-License-Identifier: MIT */
/* Feeds a core from a babeltrace2 message iterator, for magnet itself and for its components. */
#ifndef MAGNET_CORRELATE_BT_CONSUMER_H
#define MAGNET_CORRELATE_BT_CONSUMER_H

#include <babeltrace2/babeltrace.h>

#include "core/contract.h"
#include "decode.h"
#include "lttng.h"
#include "progress.h"

struct consumer {
	struct core *core;
	bool at_once; /* events are used when the source pauses, not only when the clock is known */
	struct decoder *decoder;
	struct lttng *lttng;
	int error;                       /* negative errno of the core */
	const struct progress *progress; /* NULL: no progress is reported */
	uint64_t messages;
	char refused[1024]; /* why a trace of magnet's cannot be read; "" all can */
};

int consumer_init(struct consumer *c, struct core *core);
void consumer_end(struct consumer *c);
/* Reads the next messages from the iterator. Returns its status. */
bt_message_iterator_next_status consumer_take(struct consumer *c, bt_message_iterator *from);
/*
 * Finishes the core, whether or not the iterator has ended in order. Returns 0 or a negative errno.
 */
int consumer_finish(struct consumer *c);

#endif
