/* SPDX-License-Identifier: MIT */
/*
 * The clocks of two hosts, A and B, related by the packets that passed between them (method,
 * "Clock", "Hosts"): nothing arrives before it was sent. All times are nanoseconds of the host's
 * own clock.
 */
#ifndef MAGNET_CORRELATE_HOSTS_H
#define MAGNET_CORRELATE_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packet that passed: at A at `x` by A's clock, at B at `y` by B's. */
struct host_passing {
	uint64_t x, y;
};

struct host_passings {
	struct host_passing *v;
	size_t n, cap;
};

enum hosts_state {
	HOSTS_RELATED,   /* passings in both directions: bounds on B's clock */
	HOSTS_SKEW_ONLY, /* passings in one direction: the rate is known, the offset is not */
	HOSTS_UNRELATED, /* too few passings, or they contradict each other in any window */
};

/*
 * Between x = from and to B's clock shows alpha * x + beta, for any (alpha, beta) of a convex set:
 * those that contradict no passing.
 */
#define HOSTS_VERTICES 64
struct hosts_window {
	enum hosts_state state;
	uint64_t from, to; /* A's clock */
	uint64_t x0, y0;   /* origin of the vertices */
	struct {
		double skew, offset; /* B shows y0 + (x - x0) * (1 + skew) + offset */
	} vertex[HOSTS_VERTICES];
	int vertices;
	double skew; /* HOSTS_SKEW_ONLY */
};

struct hosts {
	struct host_passings to_b, to_a;
	double slack;                /* ns: sum of the errors of both clocks' readings */
	struct hosts_window *window; /* in order of time, after hosts_solve() */
	size_t windows, windows_cap;
};

void hosts_init(struct hosts *h, double slack_ns);
/* return 0 or -ENOMEM */
int hosts_add(struct hosts *h, bool to_b, uint64_t x, uint64_t y);
int hosts_solve(struct hosts *h);
void hosts_free(struct hosts *h);

/*
 * Bounds of B's clock when A's shows x: between low and high. hosts_at() returns false where they
 * are not known.
 */
struct host_bounds {
	double low, high; /* minus x, as the times themselves have more digits than a double */
};
bool hosts_at(const struct hosts *h, uint64_t x, struct host_bounds *out);
/* Returns how much faster B's clock runs at that time, 1 = twice as fast; NAN if not known. */
double hosts_skew(const struct hosts *h, uint64_t x);
/* Returns the bound of its error; NAN if there is none. */
double hosts_skew_error(const struct hosts *h, uint64_t x);
/*
 * Computes the time from x by A's clock to y by B's, or from y to x, ns; `half_width` gets its
 * error.
 */
bool hosts_interval(
	const struct hosts *h, bool to_b, uint64_t x, uint64_t y, double *ns, double *half_width);

#endif
