/* SPDX-License-Identifier: MIT */
/* Goodput: the data delivered to the program per second, and per byte on the wire. */
#include <math.h>

#include "report.h"

/* Returns the flow at the other end; NULL if either end has several. */
static const struct flow *only_peer(const struct flow *f)
{
	const struct flow *peer = flow_peer(f);

	return peer && flow_peer(peer) == f ? peer : NULL;
}

/*
 * Returns how many of the sender's bytes the receiving program has read: a recording may begin
 * between them, and the network may have duplicated datagrams.
 */
static uint64_t read_by(const struct flow *rx, const struct flow *tx)
{
	bool same = tx->sock->kind == MG_KIND_tcp && !tx->anchor.relative && !rx->anchor.relative;
	uint64_t left = flow_bytes(tx) - tx->drops.bytes, read = flow_bytes(rx);

	if (same)
		return rx->total > tx->start ? rx->total - tx->start : 0;
	return read < left ? read : left;
}

/* Returns the bytes of a sender that the other end has read, if known, else those acknowledged. */
static uint64_t delivered(const struct flow *tx)
{
	const struct flow *peer = only_peer(tx);
	uint64_t upto = tx->ack.to < tx->total ? tx->ack.to : tx->total, bytes, read;

	if (tx->sock->kind != MG_KIND_tcp)
		return read_by(peer, tx);
	bytes = upto > tx->start ? upto - tx->start : 0;
	read = peer ? read_by(peer, tx) : 0;
	return read > bytes && read <= flow_bytes(tx) ? read : bytes;
}

/*
 * Returns the share of the sent bytes whose frames were seen; which frames carried the others is
 * unknown.
 */
static double seen(const struct flow *tx)
{
	double of = (double)(flow_bytes(tx) - tx->never_sent.bytes),
	       bytes = (double)measures(tx)->units[TX_XMIT].bytes;

	/* a datagram without a frame was dropped, or its event is lost */
	return bytes < of && (tx->sock->kind == MG_KIND_tcp || mg_events_any(tx->missing.events))
		       ? bytes / of
		       : 1;
}

struct goodput flow_goodput(const struct report *r, const struct flow *f)
{
	const struct flow *tx = f->rx ? only_peer(f) : f;
	struct goodput g = {NAN, NAN, NAN, NAN, NULL};
	double life_ns = report_ns(r, (double)(f->active.last - f->active.first));
	uint64_t wire = tx ? measures(tx)->units[TX_XMIT].wire_bytes : 0;

	if (!tx)
		g.refused = "the sender is not in this recording, or there are several";
	else if (tx->sock->kind != MG_KIND_tcp && !only_peer(tx))
		g.refused = "datagrams are not acknowledged, and no single receiver is in this "
			    "recording";
	if (g.refused)
		return g;
	if (!f->rx)
		g.delivered_bytes = (double)delivered(f);
	else
		g.delivered_bytes =
			(double)(f->sock->kind == MG_KIND_tcp ? flow_bytes(f) : read_by(f, tx));
	if (life_ns > 0)
		g.bit_s = g.delivered_bytes * 8e9 / life_ns;
	if (!wire)
		g.refused = "its frames were not recorded";
	else if ((double)measures(tx)->units[TX_XMIT].bytes <
		 0.9 * (double)(flow_bytes(tx) - tx->never_sent.bytes))
		g.refused = "less than 90 % of its bytes were seen at the device";
	if (g.refused)
		return g;
	g.wire_bytes = (double)wire;
	g.ratio = (double)(f->rx ? read_by(f, tx) : delivered(f)) * seen(tx) / g.wire_bytes;
	return g;
}
