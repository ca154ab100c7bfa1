/* SPDX-License-Identifier: MIT */
/* Native XDP programs: what they drop never becomes a packet of the kernel's, and no hook sees it.
 */
#define _GNU_SOURCE
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "doctor.h"

#define ANSWER_BYTES 65536 /* more than the kernel puts into one message */
#define PATIENCE_S   2

/* Names of devices, with commas between them. */
struct names {
	char text[512];
	size_t length;
};

static const struct rtattr *find_attribute(
	const struct rtattr *first, size_t size, unsigned short type)
{
	for (const struct rtattr *a = first; RTA_OK(a, size); a = RTA_NEXT(a, size))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

/* Returns whether a program runs in the device's driver, or in its hardware. */
static bool has_native(const struct rtattr *xdp)
{
	const struct rtattr *a =
		xdp ? find_attribute(RTA_DATA(xdp), RTA_PAYLOAD(xdp), IFLA_XDP_ATTACHED) : NULL;
	unsigned char how = a ? *(unsigned char *)RTA_DATA(a) : XDP_ATTACHED_NONE;

	return how != XDP_ATTACHED_NONE && how != XDP_ATTACHED_SKB;
}

static void add_name(struct names *all, const char *name)
{
	size_t room = sizeof(all->text) - all->length;
	int n = snprintf(all->text + all->length, room, "%s%s", all->length ? ", " : "", name);

	if (n > 0 && (size_t)n < room)
		all->length += (size_t)n;
	else
		all->text[all->length] = 0;
}

static void look_at_link(const struct nlmsghdr *m, struct names *all)
{
	const struct ifinfomsg *link = NLMSG_DATA(m);
	const struct rtattr *name, *first = IFLA_RTA(link);
	size_t size = IFLA_PAYLOAD(m);

	name = find_attribute(first, size, IFLA_IFNAME);
	if (name && has_native(find_attribute(first, size, IFLA_XDP)))
		add_name(all, RTA_DATA(name));
}

/* Returns false where the kernel does not answer. */
static bool read_links(int s, struct names *all)
{
	static char answer[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));

	for (;;) {
		ssize_t n = recv(s, answer, sizeof(answer), 0);
		const struct nlmsghdr *m = (const void *)answer;

		if (n <= 0)
			return false;
		for (size_t left = (size_t)n; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
			if (m->nlmsg_type == NLMSG_DONE)
				return true;
			if (m->nlmsg_type == NLMSG_ERROR)
				return false;
			if (m->nlmsg_type == RTM_NEWLINK)
				look_at_link(m, all);
		}
	}
}

static bool find_native(struct names *all)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
	} ask = {
		.head = {.nlmsg_len = sizeof(ask),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	};
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	bool ok;

	if (s < 0)
		return false;
	ok = setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
	     send(s, &ask, sizeof(ask), 0) == (ssize_t)sizeof(ask) && read_links(s, all);
	close(s);
	return ok;
}

json_t *doctor_native_xdp(void)
{
	struct names all = {.length = 0};
	bool known = find_native(&all);
	char why[sizeof(all.text) + 256];

	snprintf(why, sizeof(why),
		"they never become packets of the kernel's (drops by an XDP program of a veth and "
		"by a generic one are recorded); devices of this network namespace that have one "
		"now: %s",
		!known       ? "not known"
		: all.length ? all.text
			     : "none");
	return json_pack("{s:s, s:s}", "what",
		"frames that a driver's own (native) XDP program drops", "why", why);
}
