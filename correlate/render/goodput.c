/* SPDX-License-Identifier: MIT */
/* Goodput: the data delivered to the program per second, and per byte on the wire. */
#include <math.h>

#include "report.h"

/* Finds the flow at the other end; returns false if there is none, or either end has several. */
static bool only_peer(const struct report *r, const struct fact_flow *f, struct fact_flow *peer)
{
	return flow_peer(r, f, peer) && peer->peer.sock == f->flow.sock &&
	       peer->peer.rx == f->flow.rx;
}

/*
 * Returns how many of the sender's bytes the receiving program has read: a recording may begin
 * between them, and the network may have duplicated datagrams.
 */
static uint64_t read_by(const struct fact_flow *rx, const struct fact_flow *tx)
{
	bool same = tx->kind == MG_KIND_tcp && !tx->relative && !rx->relative;
	uint64_t left = flow_bytes(tx) - tx->dropped_bytes, read = flow_bytes(rx);

	if (same)
		return rx->end > tx->offset ? rx->end - tx->offset : 0;
	return read < left ? read : left;
}

/*
 * Returns the bytes of a sender that the other end has read, if known, else those acknowledged;
 * `peer` is NULL if there is not one other end.
 */
static uint64_t delivered(const struct fact_flow *tx, const struct fact_flow *peer)
{
	uint64_t upto = tx->acknowledged < tx->end ? tx->acknowledged : tx->end, bytes, read;

	if (tx->kind != MG_KIND_tcp)
		return read_by(peer, tx);
	bytes = upto > tx->offset ? upto - tx->offset : 0;
	read = peer ? read_by(peer, tx) : 0;
	return read > bytes && read <= flow_bytes(tx) ? read : bytes;
}

/*
 * Returns the share of the sent bytes whose frames were seen; which frames carried the others is
 * unknown.
 */
static double seen(const struct fact_flow *tx)
{
	double of = (double)(flow_bytes(tx) - tx->never_sent),
	       bytes = (double)measures(tx)->units[TX_XMIT].bytes;

	/* a datagram without a frame was dropped, or its event is lost */
	return bytes < of && (tx->kind == MG_KIND_tcp || mg_events_any(tx->missing_events))
		       ? bytes / of
		       : 1;
}

struct goodput flow_goodput(const struct report *r, const struct fact_flow *f)
{
	struct fact_flow other, *peer = only_peer(r, f, &other) ? &other : NULL;
	const struct fact_flow *tx = f->flow.rx ? peer : f;
	struct goodput g = {NAN, NAN, NAN, NAN, NULL};
	double life_ns = report_ns(r, (double)(f->last_moved - f->first_moved));
	uint64_t wire = tx ? measures(tx)->units[TX_XMIT].wire_bytes : 0;

	if (!tx)
		g.refused = "the sender is not in this recording, or there are several";
	else if (tx->kind != MG_KIND_tcp && !peer)
		g.refused = "datagrams are not acknowledged, and no single receiver is in this "
			    "recording";
	if (g.refused)
		return g;
	if (!f->flow.rx)
		g.delivered_bytes = (double)delivered(f, peer);
	else
		g.delivered_bytes =
			(double)(f->kind == MG_KIND_tcp ? flow_bytes(f) : read_by(f, tx));
	if (life_ns > 0)
		g.bit_s = g.delivered_bytes * 8e9 / life_ns;
	if (!wire)
		g.refused = "its frames were not recorded";
	else if ((double)measures(tx)->units[TX_XMIT].bytes <
		 0.9 * (double)(flow_bytes(tx) - tx->never_sent))
		g.refused = "less than 90 % of its bytes were seen at the device";
	if (g.refused)
		return g;
	g.wire_bytes = (double)wire;
	g.ratio = (double)(f->flow.rx ? read_by(f, tx) : delivered(f, peer)) * seen(tx) /
		  g.wire_bytes;
	return g;
}
