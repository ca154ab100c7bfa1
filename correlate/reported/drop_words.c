/* SPDX-License-Identifier: MIT */
#include "reported/drop_words.h"

#include <stddef.h>
#include <string.h>

/* Frequent reasons, by the kernel's names, in words. */
static const struct {
	const char *reason, *words;
} reasons[] = {
	{"CPU_BACKLOG", "the CPU's backlog was full"},
	{"FULL_RING", "the device's ring was full"},
	{"IP_CSUM", "wrong checksum"},
	{"IP_INNOROUTES", "no route"},
	{"IP_OUTNOROUTES", "no route"},
	{"IP_RPFILTER", "reverse-path filter"},
	{"NEIGH_FAILED", "no answer to ARP or NDP"},
	{"NEIGH_QUEUEFULL", "too many waited for ARP or NDP"},
	{"NETFILTER_DROP", "by a rule"},
	{"PKT_TOO_BIG", "larger than the MTU"},
	{"PROTO_MEM", "no memory for the protocol"},
	{"QDISC_OVERLIMIT", "the queue was full"},
	{"SOCKET_FILTER", "by a socket filter"},
	{"SOCKET_RCVBUFF", "the receive buffer was full"},
	{"TC_EGRESS", "by a tc filter"},
	{"TC_INGRESS", "by a tc filter"},
	{"TCP_CSUM", "wrong checksum"},
	{"TCP_LISTEN_OVERFLOW", "the listen queue was full"},
	{"TCP_OVERWINDOW", "beyond the receive window"},
	{"TCP_ZEROWINDOW", "the receive window was closed"},
	{"UDP_CSUM", "wrong checksum"},
	{"XDP", "by an XDP program"},
};

const char *drop_words(const char *reason)
{
	for (size_t i = 0; reason && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(reasons[i].reason, reason) == 0)
			return reasons[i].words;
	return "";
}
