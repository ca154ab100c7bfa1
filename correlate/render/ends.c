/* SPDX-License-Identifier: MIT */
/* Names of flows and the addresses at their ends. */
#include <arpa/inet.h>
#include <string.h>

#include "event_table.h"
#include "report.h"
#include "table.h"

/* Written by hand, as rows of facts and events have it by the million. */
void flow_name(char out[32], uint64_t sock, bool rx)
{
	bool inode = sock >> 62 & 1, lttng = sock >> 61 == 1;
	const char *kind = inode ? "ino:" : lttng ? "lttng:" : "";
	char digits[20 + 1];
	size_t at = sizeof(digits), n = strlen(kind);
	uint64_t before = 0; /* earlier connections */

	if (inode || lttng) {
		sock &= ~(inode ? 1ull << 62 : 1ull << 61);
	} else if (sock >= FLOW_CONNECTION && sock < FLOW_CONNECTIONS_END) {
		before = sock / FLOW_CONNECTION;
		sock %= FLOW_CONNECTION;
	}
	if (before) {
		for (before++; before; before /= 10)
			digits[--at] = (char)('0' + before % 10);
		digits[--at] = '.';
	}
	do {
		digits[--at] = (char)('0' + sock % 10);
		sock /= 10;
	} while (sock);
	memcpy(out, kind, n);
	memcpy(out + n, digits + at, sizeof(digits) - at);
	n += sizeof(digits) - at;
	memcpy(out + n, rx ? "/rx" : "/tx", 4);
}

const char *flow_id(struct fact_flow_id id)
{
	static char text[4][32];
	static int next;
	char *out = text[next++ % 4];

	flow_name(out, id.sock, id.rx);
	return out;
}

const char *flow_proto(const struct fact_flow *f)
{
	return mg_kind_name(f->kind);
}

void address_text(char out[64], const uint8_t addr[16], uint16_t port)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char text[INET6_ADDRSTRLEN];

	if (memcmp(addr, mapped, sizeof(mapped)) == 0) {
		inet_ntop(AF_INET, addr + 12, text, sizeof(text));
		snprintf(out, 64, "%s:%u", text, port);
	} else {
		inet_ntop(AF_INET6, addr, text, sizeof(text));
		snprintf(out, 64, "[%s]:%u", text, port);
	}
}

static void end_text(char out[64], const struct fact_address *at, const char *otherwise)
{
	if (at->addr)
		address_text(out, at->addr, at->port);
	else
		snprintf(out, 64, "%s", otherwise);
}

bool flow_has_several_ends(const struct fact_flow *f)
{
	return flow_has_far_ends(f) && f->several_remotes;
}

void flow_ends(const struct fact_flow *f, char local[64], char remote[64])
{
	end_text(local, &f->local, f->device ? text_plain(f->device, 16) : "?");
	end_text(remote, flow_has_far_ends(f) ? &f->first_remote : &f->remote, "?");
}

bool flow_peer(const struct report *r, const struct fact_flow *f, struct fact_flow *peer)
{
	if (!f->peer.sock || !core_flow(r->core, f->peer.sock, f->peer.rx, peer))
		return false;
	figures_in_window(r->core, peer);
	return true;
}

/*
 * For an unconnected socket writes its only peer's address, if that is in the recording; UNIX
 * sockets have none.
 */
void flow_far_end(const struct report *r, const struct fact_flow *f, char out[64])
{
	struct fact_flow peer;
	char local[64];

	flow_ends(f, local, out);
	if (f->kind == MG_KIND_tcp || flow_remote_port(f))
		return;
	if (flow_has_far_ends(f)) {
		if (flow_has_several_ends(f))
			snprintf(out, 64, "%s", "several");
	} else if (!flow_peer(r, f, &peer)) {
		if (f->local.addr)
			snprintf(out, 64, "%s", "several");
	} else if (peer.local.addr) {
		flow_ends(&peer, out, local);
	} else {
		snprintf(out, 64, "%s", flow_id(peer.flow));
	}
}
