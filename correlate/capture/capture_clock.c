/* SPDX-License-Identifier: MIT */
#include "capture/capture_clock.h"

#include <math.h>
#include <netinet/in.h>
#include <string.h>

#define WALL_CLOCK_NEAR 3600000000000ull /* a capture's clock is that near if it is one */

void capture_clock_init(struct capture_clock *c, const struct traffic *t, double resolution_ns)
{
	memset(c, 0, sizeof(*c));
	c->t = t;
	c->covered = mg_calloc(t->packets + 1, sizeof(*c->covered));
	hosts_init(&c->hosts, resolution_ns / 2 + t->time_error_ns);
}

void capture_clock_free(struct capture_clock *c)
{
	hosts_free(&c->hosts);
	free(c->covered);
	c->covered = NULL;
}

/* Returns whether the bytes of a received packet were captured for the first time. */
static bool is_first(struct capture_clock *c, const struct matched *m, const struct frame *f)
{
	uint32_t from = m->packet->proto == IPPROTO_TCP ? f->seq - m->packet->seq
							: (uint16_t)(f->ip_id - m->packet->ip_id);
	uint32_t to = from + (m->packet->proto == IPPROTO_TCP ? f->len : 1);

	if (!c->covered || c->covered[m->at] > from + 1 || (c->covered[m->at] && !f->len))
		return false;
	c->covered[m->at] = to + 1;
	return true;
}

void capture_clock_add(struct capture_clock *c, const struct matcher *m, const struct captured *p,
	const struct frame *f)
{
	static const struct match_places at = {PLACE_QUEUE, PLACE_IP};
	uint64_t middle = p->ns + (uint64_t)(p->resolution_ns / 2);
	struct matched sent, received;

	if (!p->has_time || match_frame(m, f, at, 0, &sent, &received) == MATCH_NO_SOCKET)
		return;
	if (!sent.is_only && !received.is_only)
		return;
	if (!c->has_guess) {
		c->has_guess = true;
		c->guess_ns = middle - (sent.is_only ? sent.packet : received.packet)->time_ns;
	}
	if (!c->first_ns || p->ns < c->first_ns)
		c->first_ns = p->ns;
	if (p->ns > c->last_ns)
		c->last_ns = p->ns;
	/* less what is known roughly, since a double has not the digits for years in ns */
	if (sent.is_only)
		hosts_add(&c->hosts, true, sent.packet->time_ns, middle - c->guess_ns);
	if (received.is_only && is_first(c, &received, f))
		hosts_add(&c->hosts, false, received.packet->time_ns, middle - c->guess_ns);
}

void capture_clock_solve(struct capture_clock *c)
{
	hosts_solve(&c->hosts);
}

/* Returns a time by a wall clock, if the capture's times are near the recording's by it; else 0. */
static uint64_t wall_clock_time(const struct capture_clock *c, uint64_t ns)
{
	const struct traffic_packet *p = c->t->packet;
	uint64_t x = ns - c->t->wall_clock_ns;
	size_t n = c->t->packets;

	return c->t->wall_clock_ns && n && x + WALL_CLOCK_NEAR > p[0].time_ns &&
			       x < p[n - 1].time_ns + WALL_CLOCK_NEAR
		       ? x
		       : 0;
}

uint64_t capture_clock_time(const struct capture_clock *c, uint64_t ns, double *half_ns)
{
	uint64_t y = ns - c->guess_ns, x = y;
	struct host_bounds b;

	*half_ns = NAN;
	if (!c->has_guess)
		return wall_clock_time(c, ns);
	/* the bounds are by the time that is looked for */
	for (int i = 0; i < 3 && hosts_at(&c->hosts, x, &b); i++) {
		x = y - (uint64_t)(int64_t)llround((b.low + b.high) / 2);
		*half_ns = (b.high - b.low) / 2;
	}
	return x;
}
