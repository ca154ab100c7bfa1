/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pool.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "app_ring.h"
#include "calls.h"
#include "filters.h"
#include "kernel_call.h"
#include "process_start.h"

/* timeout for an answer at the door, so that a program never waits for ever */
#define PATIENCE_S 2

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/*
 * Parses a number and the colon after it. Returns the position behind the colon; NULL on a syntax
 * error.
 */
static const char *number(const char *at, int base, uint64_t *value)
{
	const char *begin = at;

	for (*value = 0; at && digit(*at) < base && at - begin < 16; at++)
		*value = *value * (unsigned int)base + (unsigned int)digit(*at);
	return at && at != begin && *at == ':' ? at + 1 : NULL;
}

bool pool_offer_read(struct pool_offer *o, const char *rings)
{
	uint64_t pid = 0, first = 0, filters = 0, start = 0;
	const char *at = number(rings, 16, &o->id);

	at = number(at, 10, &pid);
	at = number(at, 10, &first);
	at = number(at, 10, &filters);
	at = number(at, 10, &start);
	if (!at || strlen(at) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return false;
	o->pid = (uint32_t)pid;
	o->first = (uint32_t)first;
	o->filters = (uint32_t)filters;
	o->start = start;
	o->door = at;
	o->given = false;
	o->outer = 0;
	o->tried = first ? 0 : MG_POOLS_READY;
	o->process = (uint32_t)mg_kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return true;
}

/* overflow id that the kernel shows for a user outside the process's user namespace */
#define UNMAPPED 65534

static bool in_namespace_of_users(void)
{
	static const char all[] = "         0          0 4294967295\n";
	char text[sizeof(all)] = "";
	long fd = mg_kernel_call(
		SYS_openat, AT_FDCWD, (long)"/proc/self/uid_map", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long len = fd < 0 ? -1 : mg_kernel_call(SYS_read, fd, (long)text, sizeof(text), 0, 0, 0);

	if (fd >= 0)
		mg_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return len >= 0 && (len != sizeof(all) - 1 || memcmp(text, all, sizeof(all) - 1) != 0);
}

/*
 * Returns whether pools from `user` may be used. Whoever provides a pool can write into the
 * program's memory, and the offer may outlive its recording: only root and the program's own user
 * are trusted.
 */
static bool is_trusted(uint32_t user)
{
	return user == 0 || user == getauxval(AT_EUID) ||
	       (user == UNMAPPED && in_namespace_of_users());
}

static char *write_number(char *to, uint32_t n)
{
	char digits[10];
	int count = 0;

	do
		digits[count++] = (char)('0' + n % 10);
	while (n /= 10);
	while (count)
		*to++ = digits[--count];
	return to;
}

/*
 * In another PID namespace, or when the collector has ended, the process with its id may be any,
 * and one of another user may hold a pool that root's collector once gave it.
 */
bool pool_offer_holds(const struct pool_offer *o)
{
	char path[48];

	if (o->given)
		return true;
	stpcpy(write_number(stpcpy(path, "/proc/"), o->pid), "/stat");
	return o->start && mg_process_start(path) == o->start;
}

/*
 * Opens the collector's descriptor number `which` through /proc, if it is an unlinked file of a
 * trusted user. Returns -1 on failure.
 */
static int open_ready(const struct pool_offer *o, unsigned int which)
{
	char path[48], *at = stpcpy(path, "/proc/");
	struct stat st; /* the kernel's layout */

	at = stpcpy(write_number(at, o->pid), "/fd/");
	*write_number(at, o->first + which) = 0;
	if (mg_kernel_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0) != 0 ||
		!S_ISREG(st.st_mode) || st.st_nlink || !is_trusted(st.st_uid))
		return -1;
	return (int)mg_kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0);
}

/*
 * Returns this process's id as /proc shows it, which differs where the process is in a PID
 * namespace of its own; `inner` if /proc cannot be read.
 */
static uint32_t outer_process(uint32_t inner)
{
	char text[16];
	uint64_t outer;
	long len = mg_kernel_call(
		SYS_readlinkat, AT_FDCWD, (long)"/proc/self", (long)text, sizeof(text) - 1, 0, 0);

	if (len <= 0)
		return inner;
	text[len] = ':';
	return len < (long)sizeof(text) && number(text, 10, &outer) ? (uint32_t)outer : inner;
}

/* Returns the descriptor that was received, negative if none was. */
static int receive(int connection)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room)};
	struct cmsghdr *c;
	int fd;

	if (mg_kernel_call(SYS_recvmsg, connection, (long)&m, MSG_CMSG_CLOEXEC, 0, 0,
		    MG_NOT_THE_PROGRAMS) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		c->cmsg_len != CMSG_LEN(sizeof(fd)))
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/*
 * Returns whether the file cannot be shortened: truncating it would kill the program as it writes.
 */
static bool is_sealed(int fd)
{
	long seals = mg_kernel_call(SYS_fcntl, fd, F_GET_SEALS, 0, 0, 0, 0);

	return seals >= 0 && seals & F_SEAL_SHRINK;
}

/*
 * Asks the collector for a pool over its socket. Returns a descriptor or -1. Makes no attempt where
 * the program runs under more seccomp filters than `magnet record` did: a filter might kill the
 * program for a call that only magnet makes.
 */
static int ask_at_door(const struct pool_offer *o)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = PATIENCE_S};
	struct ucred peer = {.uid = UNMAPPED};
	socklen_t len = sizeof(peer);
	int filters = o->door[0] ? mg_filters() : -1, fd = -1;
	long connection;

	if (filters < 0 || (uint32_t)filters > o->filters)
		return -1;
	memcpy(a.sun_path, o->door, strlen(o->door));
	connection = mg_kernel_call(
		SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0, 0, MG_NOT_THE_PROGRAMS);
	if (connection < 0)
		return -1;
	for (int which = 0; which < 2; which++)
		mg_kernel_call(SYS_setsockopt, connection, SOL_SOCKET,
			which ? SO_RCVTIMEO : SO_SNDTIMEO, (long)&patience, sizeof(patience),
			MG_NOT_THE_PROGRAMS);
	if (mg_kernel_call(
		    SYS_connect, connection, (long)&a, sizeof(a), 0, 0, MG_NOT_THE_PROGRAMS) == 0 &&
		mg_kernel_call(SYS_getsockopt, connection, SOL_SOCKET, SO_PEERCRED, (long)&peer,
			(long)&len, MG_NOT_THE_PROGRAMS) == 0 &&
		is_trusted(peer.uid))
		fd = receive((int)connection);
	if (fd >= 0 && !is_sealed(fd)) {
		mg_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
		fd = -1;
	}
	mg_kernel_call(SYS_close, connection, 0, 0, 0, 0, MG_NOT_THE_PROGRAMS);
	return fd;
}

int pool_offer_next(struct pool_offer *o)
{
	while (o->tried < MG_POOLS_READY) {
		/* processes that start at the same time begin with different pools */
		int fd = open_ready(o, (o->process + o->tried++) % MG_POOLS_READY);

		if (fd >= 0 && !o->outer)
			o->outer = outer_process(o->process);
		if (fd >= 0)
			return fd;
	}
	if (o->given)
		return -1;
	o->given = true;
	return ask_at_door(o);
}

bool pool_can_be_reached(const char *rings)
{
	char path[48];
	struct pool_offer o;
	struct stat st; /* the kernel's layout */

	if (!pool_offer_read(&o, rings))
		return true;
	*write_number(stpcpy(write_number(stpcpy(path, "/proc/"), o.pid), "/fd/"), o.first) = 0;
	return (o.first && mg_kernel_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0,
				   0) == 0) ||
	       (o.door[0] && mg_kernel_call(SYS_newfstatat, AT_FDCWD, (long)o.door, (long)&st, 0, 0,
				     0) == 0);
}
