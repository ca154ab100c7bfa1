/* SPDX-License-Identifier: MIT */
/* Names of flows and the addresses at their ends. */
#include <arpa/inet.h>
#include <string.h>

#include "event_table.h"
#include "report.h"
#include "table.h"

void flow_name(char out[32], uint64_t sock, bool rx)
{
	bool inode = sock >> 62 & 1, lttng = sock >> 61 == 1;

	snprintf(out, 32, "%s%llu/%s",
		inode   ? "ino:"
		: lttng ? "lttng:"
			: "",
		(unsigned long long)(inode   ? sock & ~(1ull << 62)
				     : lttng ? sock & ~(1ull << 61)
					     : sock),
		rx ? "rx" : "tx");
}

const char *flow_id(const struct flow *f)
{
	static char text[4][32];
	static int next;
	char *out = text[next++ % 4];

	flow_name(out, f->sock->cookie, f->rx);
	return out;
}

const char *flow_proto(const struct flow *f)
{
	return mg_kind_name(f->sock->kind);
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

static void end_text(char out[64], const struct mg_sock *s, const uint8_t addr[16], uint16_t port)
{
	if (s->has_addr)
		address_text(out, addr, port);
	else
		snprintf(out, 64, "%s",
			addr == s->laddr && s->name[0] ? text_plain(s->name, 16) : "?");
}

/* Returns the far ends of an unconnected socket's datagrams; NULL if they are not known. */
static const struct far_end *far_of(const struct flow *f)
{
	const struct mg_sock *s = f->sock;

	return s->far && !s->rport && s->far[f->rx].known ? &s->far[f->rx] : NULL;
}

bool flow_has_several_ends(const struct flow *f)
{
	const struct far_end *far = far_of(f);

	return far && far->several;
}

void flow_ends(const struct flow *f, char local[64], char remote[64])
{
	end_text(local, f->sock, f->sock->laddr, f->sock->lport);
	if (far_of(f))
		address_text(remote, far_of(f)->addr, far_of(f)->port);
	else
		end_text(remote, f->sock, f->sock->raddr, f->sock->rport);
}

const struct flow *flow_peer(const struct flow *f)
{
	const struct mg_sock *peer = f->sock->peer;

	if (f->paired.partner)
		return f->paired.several ? NULL : f->paired.partner;
	return peer ? (f->rx ? &peer->tx : &peer->rx) : NULL;
}

/*
 * For an unconnected socket writes its only peer's address, if that is in the recording; UNIX
 * sockets have none.
 */
void flow_far_end(const struct flow *f, char out[64])
{
	const struct flow *peer = flow_peer(f);
	char local[64];

	flow_ends(f, local, out);
	if (f->sock->kind == MG_KIND_tcp || f->sock->rport)
		return;
	if (far_of(f)) {
		if (flow_has_several_ends(f))
			snprintf(out, 64, "%s", "several");
		return;
	}
	if (peer && peer->sock->has_addr)
		flow_ends(peer, out, local);
	else if (peer)
		snprintf(out, 64, "%s", flow_id(peer));
	else if (f->sock->has_addr)
		snprintf(out, 64, "%s", "several");
}
