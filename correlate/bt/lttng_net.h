/* SPDX-License-Identifier: MIT */
/* LTTng's packet events: the connection of each packet, and its bytes. */
#ifndef MAGNET_CORRELATE_BT_LTTNG_NET_H
#define MAGNET_CORRELATE_BT_LTTNG_NET_H

#include <babeltrace2/babeltrace.h>

#include "lttng_socks.h"

struct lttng_net {
	struct lttng_socks socks;
};

/*
 * The functions below complete an event; they return false if it is not to be given to the core, or
 * not yet.
 */
/*
 * net_dev_queue and the receiving events; without headers, in old versions, only the device is
 * known
 */
bool net_packet(struct lttng_net *n, const bt_field *payload, struct mg_event *e, bool in);
/* net_dev_xmit */
bool net_sent(struct lttng_net *n, const bt_field *payload, struct mg_event *e);
/* inet_sock_local_out and _in */
bool net_segment(struct lttng_net *n, const bt_field *payload, struct mg_event *e, bool in);
int net_finish(struct lttng_net *n);

#endif
