/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fdkind.h"

#include <errno.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "guard.h"
#include "kernel_call.h"
#include "raw.h"
#include "self.h"

uint8_t mg_fd_table[FD_TABLE] __attribute__((aligned(8)));
bool mg_fd_ask_no_more;

typedef uint64_t many __attribute__((may_alias));
_Static_assert(MG_KIND_unknown == 0, "eight of them are 0 too");

static int kind_of(int domain, int type, int protocol)
{
	switch (domain) {
	case AF_INET:
	case AF_INET6:
		if (type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP))
			return MG_KIND_tcp;
		if (type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP))
			return MG_KIND_udp;
		return type == SOCK_RAW ? MG_KIND_raw : MG_KIND_socket;
	case AF_UNIX:
		return type == SOCK_STREAM      ? MG_KIND_unix_stream
		       : type == SOCK_SEQPACKET ? MG_KIND_unix_seqpacket
						: MG_KIND_unix_dgram; /* includes SOCK_RAW */
	case AF_VSOCK:
		return MG_KIND_vsock;
	case AF_NETLINK:
		return MG_KIND_netlink;
	default:
		return MG_KIND_socket;
	}
}

#define TYPE_MASK 0xf /* mask that removes SOCK_NONBLOCK and SOCK_CLOEXEC */

int socket_kind(int domain, int type, int protocol, const void *caller)
{
	if (guard_is_lttng(caller))
		return MG_KIND_other;
	return kind_of(domain, type & TYPE_MASK, protocol);
}

/* Stores the kind of `fd`, unless another thread has stored one since it was looked up. */
static void learn(int fd, int kind)
{
	uint8_t unknown = MG_KIND_unknown;

	if ((unsigned int)fd < FD_TABLE && !mg_in_vfork())
		__atomic_compare_exchange_n(&mg_fd_table[fd], &unknown, (uint8_t)kind, 0,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int mg_fd_classify(int fd)
{
	int kind = MG_KIND_other;
	struct stat st; /* the kernel's layout */

	if (mg_fd_ask_no_more)
		return MG_KIND_other;
	if (mg_kernel_call(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) != 0)
		return MG_KIND_other; /* no such descriptor: nothing to remember */
	if (S_ISSOCK(st.st_mode) && !guard_has(fd)) {
		int domain = mg_socket_option(fd, SO_DOMAIN);
		int type = mg_socket_option(fd, SO_TYPE);
		int protocol = mg_socket_option(fd, SO_PROTOCOL);

		/* another thread closed it meanwhile: its number may soon be anything */
		if (domain == -EBADF || domain == -ENOTSOCK)
			return MG_KIND_other;
		kind = kind_of(domain, type, protocol);
	}
	learn(fd, kind);
	return kind;
}

int fd_ending(int fd)
{
	int kind = fd_peek(fd);

	if (!mg_in_vfork())
		fd_set_kind(fd, MG_KIND_unknown);
	return kind;
}

void fd_ending_range(unsigned int first, unsigned int last)
{
	if (first >= FD_TABLE || mg_in_vfork())
		return;
	if (last >= FD_TABLE)
		last = FD_TABLE - 1;
	for (; first <= last && first % 8; first++)
		__atomic_store_n(&mg_fd_table[first], MG_KIND_unknown, __ATOMIC_RELAXED);
	for (; first + 7 <= last; first += 8) /* eight descriptors per store */
		__atomic_store_n((many *)(mg_fd_table + first), MG_KIND_unknown, __ATOMIC_RELAXED);
	for (; first <= last; first++)
		__atomic_store_n(&mg_fd_table[first], MG_KIND_unknown, __ATOMIC_RELAXED);
}

void fd_received(struct msghdr *msg, const void *caller)
{
	if (!msg->msg_controllen)
		return;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (guard_is_lttng(caller))
				fd = guard_adopt(fd);
			else
				fd_set_kind(fd, MG_KIND_unknown);
			memcpy(CMSG_DATA(c) + i * sizeof(fd), &fd, sizeof(fd));
		}
	}
}

void fd_set_pair(const int fds[2], int kind)
{
	fd_set_kind(fds[0], kind);
	fd_set_kind(fds[1], kind);
}

void fd_replaced(int from, int to)
{
	if (from != to && !mg_in_vfork())
		fd_set_kind(to, MG_KIND_unknown);
}

void fd_copied(int from, int to)
{
	if (to < 0)
		return;
	guard_forget(to);
	fd_set_kind(to, fd_peek(from));
}
