/* SPDX-License-Identifier: MIT */
/*
 * Finds captured packets among the recorded ones: by addresses, ports and protocol, and then TCP's
 * by their sequence numbers, which need not have the same bounds, others by IP's identification,
 * length and time.
 */
#ifndef MAGNET_CORRELATE_CAPTURE_MATCH_H
#define MAGNET_CORRELATE_CAPTURE_MATCH_H

#include "capture/traffic.h"

struct match_entry {
	uint64_t sock;
	uint32_t number; /* by which it is found: sequence or acknowledgement number, or IP's */
	uint32_t at;     /* in the traffic */
	uint8_t place;
	bool has_payload;
};

struct matcher {
	const struct traffic *t;
	struct match_entry *entry; /* in order of all members */
	size_t entries;
	uint32_t longest, most_parts; /* of any packet: TCP payload, and datagrams it stands for */
	struct match_ends *ends;      /* sockets by protocol, both addresses and ports */
	struct match_ends *by_port;   /* those that lack some of that, by protocol and own port */
};

/* The recorded packet that a captured one is. */
struct matched {
	const struct traffic_packet *packet; /* NULL: none */
	size_t at;                           /* in the traffic */
	bool is_only;                        /* no other one could be it */
};

/* X(ID, json, text): why a packet was not found */
#define MG_MATCH_PROBLEMS(X)                                                                   \
	X(NONE, "", "")                                                                        \
	X(NO_SOCKET, "no_socket", "no socket of the recording has their addresses and ports")  \
	X(NO_PACKET, "no_packet",                                                              \
		"their socket is in the recording, but no such packet of it: it opened a "     \
		"connection at its server, passed before the recording or after it, was lost " \
		"on its way, or its event is missing")                                         \
	X(SEVERAL, "several", "several recorded packets could be it, and the time does not tell")
#define MG_MATCH_PROBLEM(ID, json, text) MATCH_##ID,
enum match_problem { MG_MATCH_PROBLEMS(MG_MATCH_PROBLEM) MATCH_PROBLEMS };
#undef MG_MATCH_PROBLEM

void matcher_init(struct matcher *m, const struct traffic *t);
void matcher_free(struct matcher *m);

/*
 * Finds a captured packet among those that were sent and were recorded at one place, and among
 * those that were received at another. `time_ns` is when it was captured, in the recording's time;
 * 0: not known. Returns why there is neither.
 */
struct match_places {
	enum traffic_place sent, received;
};
enum match_problem match_frame(const struct matcher *m, const struct frame *f,
	struct match_places at, uint64_t time_ns, struct matched *sent, struct matched *received);

#endif
