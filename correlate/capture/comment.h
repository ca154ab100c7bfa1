/* SPDX-License-Identifier: MIT */
/* The comments of packets in captures: whose bytes they are, and which calls moved them. */
#ifndef MAGNET_CORRELATE_CAPTURE_COMMENT_H
#define MAGNET_CORRELATE_CAPTURE_COMMENT_H

#include "capture/traffic.h"

/* Bytes of a flow in a packet that passed at a time of the recording. */
struct comment_bytes {
	uint64_t sock;
	bool rx;
	uint64_t offset; /* FACT_NONE: not known */
	uint32_t len;
	uint64_t time_ns; /* 0: not known */
};

#define COMMENT_MOST 768
/* Writes the comment. */
void comment_write(char out[COMMENT_MOST], const struct traffic *t, const struct comment_bytes *b);

#endif
