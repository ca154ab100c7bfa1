/* SPDX-License-Identifier: MIT */
/* Prints what the stack made of a flow's traffic: sizes and spacings at each layer, modulation. */
#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "event_table.h"
#include "reported/getters.h"
#include "text.h"
#include "wrap.h"

static void layer_titles(struct table *t, const char *first)
{
	table_row(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s", first, LABEL(layer, n), LABEL(layer, mean_size),
		LABEL(layer, cov_size), LABEL(layer, mean_spacing_ns), LABEL(layer, p50_spacing_ns),
		LABEL(layer, cov_spacing));
}

static void layer_row(
	const struct report *r, struct table *t, const char *label, const struct unit_stats *u)
{
	struct layer_figures of = {.r = r, .u = u};
	char cov_gap[32] = "";

	if (!u->n)
		return;
	if (u->gaps.n)
		snprintf(cov_gap, sizeof(cov_gap), "%.2f", get_layer_cov_spacing(&of).number);
	table_row(t, "  %s\t%s\t%s\t%.2f\t%s\t%s\t%s", label,
		text_value(get_layer_n(&of), IN_PACKETS),
		text_value(get_layer_mean_size(&of), IN_BYTES), get_layer_cov_size(&of).number,
		text_value(get_layer_mean_spacing_ns(&of), IN_NS),
		text_value(get_layer_p50_spacing_ns(&of), IN_NS), cov_gap);
}

/*
 * Adds a row with the frames that the packets stand for: a super-segment is no packet of its own
 * size.
 */
static void frames_row(struct table *t, const struct unit_stats *u, const char *what)
{
	uint64_t frames = u->frames - u->again_frames; /* frames of the packets counted */

	if (frames > u->n)
		table_row(t, "    as %s\t%s\t%s", what, text_count(frames),
			text_bytes((double)u->bytes / (double)frames));
	if (u->again_n)
		table_row(t, "    repeated\t%s", text_count(u->again_n));
}

/* Where one end's packets or calls are missing, numbers at both do not compare. */
static bool is_seen_in_part(const struct fact_flow *f)
{
	return flow_coverage(f) < 0.90;
}

/* Returns why it is not known how much the stack moved the bytes; NULL if it is. */
static const char *no_modulation(
	const struct report *r, const struct fact_flow *f, const struct modulation *m)
{
	if (f->ulp)
		return text_ulp(f);
	if (!core_has_observed(r->core, MG_EVENT_sys_enter))
		return "system calls were not recorded (--layers)";
	if (is_seen_in_part(f))
		return "too few bytes were seen at every layer";
	if (!m->known)
		return f->flow.rx && !f->peer.sock ? "the sender is not in this trace"
						   : "no byte was seen at both layers";
	return NULL;
}

static void modulation(const struct report *r, const struct fact_flow *f, FILE *to)
{
	struct modulation m = flow_modulation(r, f);
	double goodput = flow_goodput(r, f).ratio;
	const char *why = no_modulation(r, f, &m);

	if (why) {
		fprintf(to, "  modulation M n/a: %s\n", why);
		return;
	}
	fprintf(to, "  %s %s %s: mean shift J = %s", f->flow.rx ? "peer's call" : "call",
		text_arrow(), f->flow.rx ? "call" : "device", text_ns(m.j_ns));
	if (isnan(m.m))
		fprintf(to, ", modulation M n/a (one call has no gap)\n");
	else
		fprintf(to, ", gap between sends tau = %s, modulation M = J/tau = %.2f\n",
			text_ns(m.tau_ns), m.m);
	fprintf(to, "    S = %.2f %s per %s; sender blocked %s of the time", m.s,
		f->flow.rx ? "calls" : "packets", f->flow.rx ? "peer's call" : "call",
		text_percent(m.blocked_share));
	if (!isnan(m.w1_spacing_ns))
		fprintf(to, "; spacings differ by W1 = %s", text_ns(m.w1_spacing_ns));
	if (!isnan(goodput))
		fprintf(to, ";\n    goodput %.2f %% of the bytes on the wire", 100 * goodput);
	fprintf(to, "\n");
}

/* ---- the same in one line ---- */

/* From here on the stack's part in the timing is worth a word, and is most of it. */
#define M_SMALL 0.1
#define M_LARGE 0.5
/* From here on the sender's own timing is shaped by the stack, too. */
#define BLOCKED 0.05

/* Prints "45 packets a call", or "3.2 calls a packet" if the protocol joins what calls write. */
static void per_call(double packets, double calls, bool joins, FILE *to)
{
	bool several = packets >= calls;
	double ratio = several ? packets / calls : calls / packets;

	if (!several && !joins)
		return; /* some were dropped before they were counted */
	if (ratio < 1.05)
		fprintf(to, ", 1 packet a call");
	else
		fprintf(to, ratio < 10 ? ", %.1f %s" : ", %.0f %s", ratio,
			several ? "packets a call" : "calls a packet");
}

/* Returns the packets at the device that calls wrote, or could read. */
static uint64_t read_by_calls(const struct fact_flow *f, const struct unit_stats *device)
{
	bool are_gone = f->flow.rx && f->kind != MG_KIND_tcp; /* TCP has them sent again */

	return device->n - (are_gone && f->dropped < device->n ? f->dropped : 0);
}

/* Returns why there are no sizes at the call, or at the device. */
static const char *no_sizes(
	const struct report *r, const struct fact_flow *f, const struct unit_stats *call)
{
	if (f->ulp)
		return text_ulp(f);
	if (!call->n)
		return core_has_observed(r->core, MG_EVENT_sys_enter)
			       ? "no call moved a byte"
			       : "system calls were not recorded";
	return core_has_observed(r->core, f->flow.rx ? MG_EVENT_dev_recv : MG_EVENT_dev_xmit)
		       ? "no packet was seen at the device"
		       : "the device was not recorded";
}

/* Prints sizes and spacings where the program's bytes come from and where they go. */
static void sizes(const struct report *r, const struct fact_flow *f, FILE *to)
{
	const struct unit_stats *units = measures(f)->units;
	const struct unit_stats *call = &units[f->flow.rx ? (int)RX_CALL : (int)TX_CALL];
	const struct unit_stats *device = &units[f->flow.rx ? (int)RX_DEV : (int)TX_XMIT];
	const struct unit_stats *from = f->flow.rx ? device : call,
				*at = f->flow.rx ? call : device;
	uint64_t frames = device->frames - device->again_frames;

	if (!call->n && device->n) {
		fprintf(to, "packets of %s at the device", text_bytes(unit_mean_size(device)));
		if (frames > device->n)
			fprintf(to, " (frames of %s)",
				text_bytes((double)device->bytes / (double)frames));
		if (device->gaps.n)
			fprintf(to, ", one every %s", text_ns(report_ns(r, unit_mean_gap(device))));
		return;
	}
	if (!from->n || !at->n) {
		fprintf(to, "sizes n/a: %s", no_sizes(r, f, call));
		return;
	}
	fprintf(to, "sizes %s %s %s", text_bytes(unit_mean_size(from)), text_arrow(),
		text_bytes(unit_mean_size(at)));
	if (frames > device->n)
		fprintf(to, " (frames of %s)", text_bytes((double)device->bytes / (double)frames));
	if (is_seen_in_part(f))
		return;
	if (from->gaps.n && at->gaps.n)
		fprintf(to, ", spacing %s %s %s", text_ns(report_ns(r, unit_mean_gap(from))),
			text_arrow(), text_ns(report_ns(r, unit_mean_gap(at))));
	per_call((double)read_by_calls(f, device), (double)call->n,
		f->kind == MG_KIND_tcp || f->flow.rx, to);
}

static bool kind_is_unix(uint8_t kind)
{
	return kind == MG_KIND_unix_stream || kind == MG_KIND_unix_seqpacket ||
	       kind == MG_KIND_unix_dgram;
}

/* Prints what the program's calls moved: no layer below the socket divides it. */
static void unix_sizes(const struct report *r, const struct fact_flow *f, FILE *to)
{
	const struct unit_stats *call =
		&measures(f)->units[f->flow.rx ? (int)RX_CALL : (int)TX_CALL];

	fprintf(to, "calls of %s", text_bytes(unit_mean_size(call)));
	if (call->gaps.n)
		fprintf(to, ", one every %s", text_ns(report_ns(r, unit_mean_gap(call))));
	fprintf(to, "; modulation M n/a: UNIX sockets pass no device\n");
}

static void traffic_line(
	const struct report *r, const struct fact_flow *f, const char *whose, FILE *to)
{
	const char *calls = f->flow.rx ? "the peer's sends" : "sends";
	/* received bytes have also waited for the program */
	const char *who = f->flow.rx ? "the stack and the reader" : "the stack";
	struct modulation m = flow_modulation(r, f);
	const char *why = no_modulation(r, f, &m);

	fprintf(to, "  traffic%s: ", whose);
	if (kind_is_unix(f->kind)) {
		unix_sizes(r, f, to);
		return;
	}
	sizes(r, f, to);
	if (!why && isnan(m.m))
		why = "one call has no gap to another";
	if (why) {
		fprintf(to, "; modulation M n/a: %s\n", why);
		return;
	}
	fprintf(to, "; modulation M = %.2f: ", m.m);
	if (m.m < M_SMALL)
		fprintf(to, "%s kept the timing of %s", who, calls);
	else if (m.m < M_LARGE)
		fprintf(to, "%s moved the average byte by %s of the gap between %s", who,
			text_percent(m.m), calls);
	else
		fprintf(to,
			"%s set the timing: the average byte moved by %.*f times the gap between "
			"%s",
			who, m.m < 10 ? 1 : 0, m.m, calls);
	if (m.blocked_share > BLOCKED)
		fprintf(to,
			"; the sender was blocked %s of the time, so the gaps are partly the "
			"stack's, too",
			text_percent(m.blocked_share));
	fprintf(to, "\n");
}

void text_traffic_line(
	const struct report *r, const struct fact_flow *f, const char *whose, FILE *to)
{
	char *text;
	size_t size;
	FILE *line = f->bytes || f->dropped ? mg_text_open(&text, &size) : NULL;

	if (!line)
		return;
	traffic_line(r, f, whose, line);
	if (mg_text_close(line, &text))
		text_wrap(text, to);
	free(text);
}

/* ---- the tables ---- */

void text_traffic(const struct report *r, const struct fact_flow *f, FILE *to, bool colour)
{
	struct fact_flow peer;
	struct table t;
	char title[60];

	table_begin(&t, "lrrrrrr");
	table_drops(&t, "635");
	snprintf(title, sizeof(title), "Traffic by layer, flow %s", flow_id(f->flow));
	layer_titles(&t, title);
	if (f->flow.rx) {
		if (flow_peer(r, f, &peer))
			layer_row(r, &t, "peer's call", &measures(&peer)->units[TX_CALL]);
		layer_row(r, &t, "device", &measures(f)->units[RX_DEV]);
		frames_row(&t, &measures(f)->units[RX_DEV], "frames");
		layer_row(r, &t, "TCP", &measures(f)->units[RX_TCP]);
		layer_row(r, &t, "call", &measures(f)->units[RX_CALL]);
	} else {
		layer_row(r, &t, "call", &measures(f)->units[TX_CALL]);
		layer_row(r, &t, "TCP to IP", &measures(f)->units[TX_IP_OUT]);
		frames_row(&t, &measures(f)->units[TX_IP_OUT], "segments");
		layer_row(r, &t, "device", &measures(f)->units[TX_XMIT]);
		frames_row(&t, &measures(f)->units[TX_XMIT], "frames");
	}
	fprintf(to, "\n");
	table_print(&t, to, 0, colour);
	modulation(r, f, to);
}

void text_datagram_layers(const struct report *r, const struct fact_flow *f, FILE *to)
{
	static const int tx[] = {TX_CALL, TX_COPY, TX_IP_OUT, TX_XMIT};
	static const int rx[] = {RX_DEV, RX_IP, RX_COPY, RX_CALL};
	static const char *const tx_labels[] = {"call", "socket", "IP", "device"};
	static const char *const rx_labels[] = {"device", "IP", "socket", "call"};
	struct table t;

	table_begin(&t, "lrrrrrr");
	table_drops(&t, "635");
	layer_titles(&t, "  layer");
	for (int i = 0; i < 4; i++) {
		const struct unit_stats *u = &measures(f)->units[f->flow.rx ? rx[i] : tx[i]];

		layer_row(r, &t, f->flow.rx ? rx_labels[i] : tx_labels[i], u);
		/* calls and messages are the program's own units */
		if (f->flow.rx ? rx[i] == RX_DEV : tx[i] == TX_XMIT)
			frames_row(&t, u, "frames");
		else if (f->flow.rx ? rx[i] == RX_IP : tx[i] == TX_IP_OUT)
			frames_row(&t, u, "datagrams");
	}
	table_print(&t, to, 0, false);
	if (f->calls)
		modulation(r, f, to);
}
