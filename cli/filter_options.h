/* SPDX-License-Identifier: MIT */
/* Options that choose a part of a recording, for magnet report and magnet show. */
#ifndef MAGNET_CLI_FILTER_OPTIONS_H
#define MAGNET_CLI_FILTER_OPTIONS_H

#include "filter/filter.h"
#include "option_table.h"

extern const struct option_type option_type_filter_processes, option_type_filter_threads,
	option_type_filter_ports, option_type_filter_peers, option_type_filter_protocols,
	option_type_filter_directions, option_type_filter_events, option_type_filter_layers,
	option_type_filter_time;

#define FILTER_TIME_MAX 1000000000000000ull /* ns */
#define FILTER_TIME(values, option, member, at_least, doc)                                  \
	{                                                                                   \
		"--" option, "T", doc, &option_type_filter_time, at_least, FILTER_TIME_MAX, \
			offsetof(values, member), OPTION_ONLY_COMMAND, 0, 0                 \
	}

/* Rows of the table of a command whose struct of values has a struct filter `filter`. */
#define FILTER_ROWS(values)                                                                       \
	OPTION_ROW(values, "process", 0, "PID", option_type_filter_processes, filter.process,     \
		"keep only these processes, by number or program, and the connections "           \
		"that they used"),                                                                \
		OPTION_ROW(values, "thread", 0, "TID", option_type_filter_threads, filter.thread, \
			"keep only these threads, and what they used"),                           \
		OPTION_ROW(values, "port", 0, "N", option_type_filter_ports, filter.port,         \
			"keep only connections with this port at either end"),                    \
		OPTION_ROW(values, "peer", 0, "ADDRESS", option_type_filter_peers, filter.peer,   \
			"keep only connections with this peer; a prefix, 10.0.0.0/8, or "         \
			"10.0.0.7:80 will do, too"),                                              \
		OPTION_ROW(values, "protocol", 0, "NAME", option_type_filter_protocols,           \
			filter.kinds,                                                             \
			"keep only this protocol: tcp, udp, unix, raw, icmp, "                    \
			"netlink or vsock"),                                                      \
		OPTION_ROW(values, "direction", 0, "NAME", option_type_filter_directions,         \
			filter.directions,                                                        \
			"keep only this direction of connections: sent or received"),             \
		FILTER_TIME(values, "from", filter.from_ns, 0,                                    \
			"begin at this time after the first event, such as 10s, 0.5 or "          \
			"250ms"),                                                                 \
		FILTER_TIME(values, "to", filter.to_ns, 1,                                        \
			"end before this time after the first event")

/* Those that choose rows, not figures: all events are needed for figures. */
#define FILTER_EVENT_ROWS(values)                                                                \
	OPTION_ROW(values, "event", 0, "NAME", option_type_filter_events, filter.event,          \
		"print only these events, such as tcp_retransmit,drop"),                         \
		OPTION_ROW(values, "layer", 0, "NAME", option_type_filter_layers, filter.layers, \
			"print only events of these layers, such as tcp,ip")

/* Returns whether the window of time is one, after a message if not. */
bool filter_is_valid(const struct filter *f);

#endif
