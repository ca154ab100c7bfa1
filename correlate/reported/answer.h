/* SPDX-License-Identifier: MIT */
/* Figures of where the time of exchanges went: of typical and of slow ones, by cause. */
#ifndef MAGNET_CORRELATE_REPORTED_ANSWER_H
#define MAGNET_CORRELATE_REPORTED_ANSWER_H

#include "render/report.h"

/* The median, the slow ones, the slowest. */
#define ANSWER_COLUMNS 3

/* Exchanges that took about as long. */
struct answer_column_figures {
	const struct report *r;
	const struct exchange_group *g; /* NULL for one exchange alone */
	uint8_t role;                   /* of the program whose exchanges they are */
	uint8_t kind;                   /* of the socket */
	uint16_t port;                  /* the server's; 0: not known */
	char title[20];
	double from, to; /* quantiles */
	struct cause_sums sum;
	/* the server, where it is on another host, and that host's report; else NULL */
	const struct exchange_group *server;
	const struct report *server_report;
};

struct cause_figures {
	const struct answer_column_figures *column;
	enum cause cause;
	enum cause_end end;
};

/*
 * Makes `to`, which is filled in but for the exchanges themselves, the next column of these bins;
 * false if there is none. `at` is 0 at first.
 */
bool next_answer_column(
	const struct cause_bins *bins, uintptr_t *at, struct answer_column_figures *to);
/* Returns the one exchange as a column. */
struct answer_column_figures answer_of_slow(const struct report *r, const struct slow_exchange *s);
/* Returns "server" or "client". */
const char *answer_end(const struct answer_column_figures *c, enum cause_end end);
/*
 * Returns whether the exchanges are a client's, and a server at their port is in the recording: as
 * a rule the one that was asked.
 */
bool answer_has_server(const struct answer_column_figures *c);
/* Returns whether a cause is at neither end. */
bool cause_is_between(enum cause cause);
/* A server's program did this most of the time that a cause took; and what to do about it. */
#define REMEDY_MAX 480
struct answer_doing {
	const struct program_row *row; /* NULL: that is not known */
	double share;                  /* of that time; 0: that is not known */
	char words[128], remedy[REMEDY_MAX];
};
void answer_doing(const struct cause_figures *c, struct answer_doing *to);
/* Says what to do about a cause that held bytes for so long, or requests; nothing if it is not
 * known.
 */
void remedy_of_cause(
	const struct report *r, enum cause cause, double mean_ns, char remedy[REMEDY_MAX]);
void answer_remedy(const struct cause_figures *c, char remedy[REMEDY_MAX]);
/* Returns the part of the column's time that is due to the cause. */
double cause_share(const struct cause_figures *c);

#endif
