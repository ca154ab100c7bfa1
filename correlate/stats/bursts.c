/* SPDX-License-Identifier: MIT */
/* Bursts: runs of packets with short spacings. */
#include "stats.h"

/*
 * Drops a burst with a gap inside or right beside it, as its size is not known. A spacing knows
 * whether it touches a gap, and so do the bursts on both sides of it.
 */
size_t stat_bursts(const struct stat_unit *u, size_t n, struct stat_gaps gaps, double gap_ns,
	struct stat_burst *out, size_t *dropped)
{
	struct stat_burst now = {0};
	size_t kept = 0, at = 0, begin = 0;
	bool whole = true;

	*dropped = 0;
	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == n, touched = false;

		now.units++;
		now.bytes += u[i].bytes;
		now.duration_ns = u[i].t_ns - u[begin].t_ns;
		if (!last) {
			while (at < gaps.n && gaps.v[at].to_ns < u[i].t_ns)
				at++;
			touched = at < gaps.n && gaps.v[at].from_ns <= u[i + 1].t_ns;
			whole &= !touched;
			if (u[i + 1].t_ns - u[i].t_ns <= gap_ns)
				continue;
		}
		if (whole)
			out[kept++] = now;
		else
			++*dropped;
		now = (struct stat_burst){0};
		begin = i + 1;
		whole = !touched;
	}
	return kept;
}
