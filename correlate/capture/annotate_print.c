/* SPDX-License-Identifier: MIT */
#include "capture/annotate_print.h"

#include <inttypes.h>
#include <math.h>

/* Returns the mean of the bounds when the capture's clock showed `ns`; `half` gets their distance.
 */
static bool relation_at(const struct annotate *a, uint64_t ns, uint64_t *ahead, double *half)
{
	uint64_t x = capture_clock_time(&a->clock, ns, half);

	*ahead = ns - x;
	return !isnan(*half);
}

void annotate_relation(const struct annotate *a, struct annotate_relation *to)
{
	uint64_t middle = a->clock.first_ns + (a->clock.last_ns - a->clock.first_ns) / 2, ahead;
	double half[3];

	*to = (struct annotate_relation){.sent = a->clock.hosts.to_b.n,
		.received = a->clock.hosts.to_a.n,
		.windows = a->clock.hosts.windows,
		.rate_ppm = NAN,
		.rate_error_ppm = NAN,
		.is_wall = a->t->wall_clock_ns != 0};
	if (!relation_at(a, a->clock.first_ns, &ahead, &half[0]) ||
		!relation_at(a, a->clock.last_ns, &ahead, &half[1]) ||
		!relation_at(a, middle, &ahead, &half[2]))
		return;
	to->known = true;
	to->ahead_ns = (double)(int64_t)(ahead - a->t->wall_clock_ns);
	to->half_ns = fmax(fmax(half[0], half[1]), half[2]);
	to->rate_ppm = hosts_skew(&a->clock.hosts, middle - ahead) * 1e6;
	to->rate_error_ppm = hosts_skew_error(&a->clock.hosts, middle - ahead) * 1e6;
}

void annotate_clock_text(const struct annotate *a, FILE *to)
{
	struct annotate_relation r;

	annotate_relation(a, &r);
	if (!r.known) {
		fprintf(to,
			"clocks: not related: that takes four packets each way that both have just "
			"once (there are %zu sent and %zu received)\n",
			r.sent, r.received);
		return;
	}
	fprintf(to,
		"clocks: the capture's is %.0f ns %s %s, within %.0f ns, and runs %.3f ppm %s, "
		"within "
		"%.3f ppm (by %zu packets sent and %zu received)\n",
		fabs(r.ahead_ns), r.ahead_ns < 0 ? "behind" : "ahead of",
		r.is_wall ? "the recording's" : "CLOCK_MONOTONIC", r.half_ns, fabs(r.rate_ppm),
		r.rate_ppm < 0 ? "slower" : "faster", r.rate_error_ppm, r.sent, r.received);
	if (r.windows > 1)
		fprintf(to,
			"clocks: one of them was set, or changed its rate: %zu intervals are "
			"related "
			"each for itself\n",
			r.windows);
}

static void print_problem(FILE *to, uint64_t count, const char *text)
{
	if (count)
		fprintf(to, "not found: %" PRIu64 " packets: %s\n", count, text);
}

void annotate_text(const struct annotate *a, FILE *to)
{
	fprintf(to, "packets: %" PRIu64 " in the capture, %" PRIu64 " of them in the recording\n",
		a->packets, a->matched);
#define PRINT(ID, json, text) print_problem(to, a->frame_problem[FRAME_##ID], text);
	MG_FRAME_PROBLEMS(PRINT)
#undef PRINT
#define PRINT(ID, json, text) print_problem(to, a->match_problem[MATCH_##ID], text);
	MG_MATCH_PROBLEMS(PRINT)
#undef PRINT
	if (a->no_room)
		fprintf(to,
			"without comment: %" PRIu64 " packets: they are in simple packet blocks, "
			"which take none\n",
			a->no_room);
	annotate_clock_text(a, to);
}

static json_t *number(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *clock_json(const struct annotate *a)
{
	struct annotate_relation r;

	annotate_relation(a, &r);
	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I, s:I, s:I}", "ahead_ns",
		number(r.known ? r.ahead_ns : NAN), "error_ns", number(r.known ? r.half_ns : NAN),
		"rate_ppm", number(r.rate_ppm), "rate_error_ppm", number(r.rate_error_ppm),
		"of_wall_clock", r.is_wall, "sent", (json_int_t)r.sent, "received",
		(json_int_t)r.received, "intervals", (json_int_t)r.windows);
}

json_t *annotate_json(const struct annotate *a)
{
	json_t *missing = json_object();

#define ADD(ID, json, text)           \
	if (MATCH_##ID != MATCH_NONE) \
		json_object_set_new(  \
			missing, json, json_integer((json_int_t)a->match_problem[MATCH_##ID]));
	MG_MATCH_PROBLEMS(ADD)
#undef ADD
#define ADD(ID, json, text)           \
	if (FRAME_##ID != FRAME_NONE) \
		json_object_set_new(  \
			missing, json, json_integer((json_int_t)a->frame_problem[FRAME_##ID]));
	MG_FRAME_PROBLEMS(ADD)
#undef ADD
	return json_pack("{s:I, s:I, s:I, s:o, s:o}", "packets", (json_int_t)a->packets, "matched",
		(json_int_t)a->matched, "without_comment", (json_int_t)a->no_room, "not_found",
		missing, "clock", clock_json(a));
}
