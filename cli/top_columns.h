/* SPDX-License-Identifier: MIT */
/* The columns of magnet top: header, text of a cell, order. */
#ifndef MAGNET_CLI_TOP_COLUMNS_H
#define MAGNET_CLI_TOP_COLUMNS_H

#include "option_table.h"
#include "top_rows.h"

#define TOP_CELL 64

/* X(name, header, keep, doc): `keep` is greater the later a narrow terminal leaves it out. */
#define TOP_COLUMNS(X)                                                                          \
	X(program, "PROGRAM[PID]", 3, "program that used the connection last, and its process") \
	X(remote, "PEER", 11, "the peer's address and port")                                    \
	X(sent, "SENT/s", 10, "bytes that the program wrote, a second")                         \
	X(received, "RECV/s", 9, "bytes that the program read, a second")                       \
	X(waits, "BYTES WAIT IN", 8,                                                            \
		"stage in which bytes spent most of their time, and its share of that time")    \
	X(p50, "P50", 6, "median of the time from a request to its reply, of 20 and more")      \
	X(high, "P99", 7,                                                                       \
		"99th percentile of that time; of fewer than 1,000 exchanges the largest that " \
		"has "                                                                          \
		"ten beyond it, of fewer than 20 the longest")                                  \
	X(ack, "TO ACK", 5,                                                                     \
		"median of the time from a send to its acknowledgement, of 20 and more; shown " \
		"where it is recorded (--layers timestamps)")                                   \
	X(retransmits, "RETR", 5, "segments that TCP sent again in the window")                 \
	X(modulation, "M", 4, "modulation of the sent bytes by the stack")                      \
	X(rtt, "RTT", 2, "smoothed round-trip time, as last recorded")                          \
	X(local, "LOCAL", 1, "own address and port")                                            \
	X(protocol, "PROTO", 0, "protocol")

#define TOP_COLUMN_ID(name, header, keep, doc) TOP_##name,
enum top_column { TOP_COLUMNS(TOP_COLUMN_ID) TOP_COLUMNS_N };
#undef TOP_COLUMN_ID

struct top_column_desc {
	const char *name, *header, *doc;
	int keep;
	bool is_text; /* left-aligned, and sorted by the alphabet */
	void (*text)(const struct top_row *r, char out[TOP_CELL]);
	double (*number)(const struct top_row *r); /* NULL for texts */
};
extern const struct top_column_desc top_columns[TOP_COLUMNS_N];
/* An option that names a column. */
extern const struct option_type top_type_column;

/* Compares two rows by a column: the greater number first, texts by the alphabet. */
int top_compare(enum top_column by, const struct top_row *a, const struct top_row *b);

#endif
