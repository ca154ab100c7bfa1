/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "fuzz.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

#define PAGE 4096ul
#define MUST(what)                     \
	do {                           \
		if (!(what)) {         \
			perror(#what); \
			exit(1);       \
		}                      \
	} while (0)

/* Regions; each ends where unmapped memory begins. */
#define DATA        ((char *)0x10000000)
#define DATA_SIZE   (64 * PAGE)
#define STRUCTS     ((char *)0x11000000)
#define ADDRESSES   ((char *)0x12000000)
#define READ_ONLY   ((char *)0x13000000)
#define NOT_THERE   ((char *)0x14000000)
#define STRUCT_ROOM (64 * PAGE) /* for the largest vector */
#define TCP_MOST    60000       /* bytes per set, so that sends never wait for room */

int fds[FDS];
uint32_t seed;
static char *free_struct;
/* set once the end is used: overlapping buffers would let the kernel overwrite another argument */
static bool end_taken;
static bool small; /* limits the size to what a TCP connection takes at once */

uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(seed >> 8) * below >> 24);
}

static void region(char *at, size_t size, int prot, int fill)
{
	MUST(mmap(at, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		     0) == at);
	if (!size)
		return;
	MUST(mprotect(at, size, PROT_READ | PROT_WRITE) == 0);
	memset(at, fill, size);
	MUST(mprotect(at, size, prot) == 0);
}

void memory_make(void)
{
	region(DATA, DATA_SIZE, PROT_READ | PROT_WRITE, 0xa5);
	region(STRUCTS, STRUCT_ROOM, PROT_READ | PROT_WRITE, 0);
	region(ADDRESSES, PAGE, PROT_READ | PROT_WRITE, 0xa5);
	region(READ_ONLY, PAGE, PROT_READ, 0xa5);
	region(NOT_THERE, 0, PROT_NONE, 0);
}

void memory_clear(void)
{
	memset(STRUCTS, 0, 4 * PAGE);
	memset(STRUCTS + STRUCT_ROOM - PAGE, 0, PAGE);
	free_struct = STRUCTS;
	end_taken = false;
}

uint32_t memory_sum(void)
{
	uint32_t sum = 2166136261u;

	for (char *p = STRUCTS; p < STRUCTS + PAGE; p++)
		sum = (sum ^ (uint8_t)*p) * 16777619u;
	return sum;
}

/* ---- descriptors ---- */

static void connect_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int one = 1, room = 200000;

	fds[LISTENER] = socket(AF_INET, SOCK_STREAM, 0);
	MUST(setsockopt(fds[LISTENER], SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) == 0);
	MUST(bind(fds[LISTENER], (void *)&a, len) == 0 && listen(fds[LISTENER], 1) == 0);
	MUST(getsockname(fds[LISTENER], (void *)&a, &len) == 0);
	fds[TCP_A] = socket(AF_INET, SOCK_STREAM, 0);
	MUST(setsockopt(fds[TCP_A], SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) == 0);
	MUST(connect(fds[TCP_A], (void *)&a, len) == 0);
	fds[TCP_B] = accept(fds[LISTENER], NULL, NULL);
	for (int i = TCP_A; i <= TCP_B; i++)
		MUST(setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0);
}

void set_open(void)
{
	int p[2];

	connect_tcp();
	fds[UDP] = socket(AF_INET, SOCK_DGRAM, 0);
	fds[NETLINK] = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, fds + STREAM_A) == 0);
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds + DGRAM_A) == 0);
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds + SEQ_A) == 0);
	MUST(pipe(p) == 0);
	fds[PIPE_IN] = p[0];
	fds[PIPE_OUT] = p[1];
	fds[MEMFD] = memfd_create("fuzz", 0);
	fds[EPOLL] = epoll_create1(0);
	fds[EVENT] = eventfd(0, 0);
	fds[NULLDEV] = open("/dev/null", O_RDWR);
	for (int i = 0; i < FDS; i++)
		MUST(fds[i] >= 0 && fds[i] < SPARE_FD &&
			fcntl(fds[i], F_SETFL, O_RDWR | O_NONBLOCK) == 0);
	/* the descriptor table keeps this size from now on, which select() depends on */
	MUST(dup2(fds[NULLDEV], HIGH_FD) == HIGH_FD);
}

void set_close(void)
{
	close_range(3, SPARE_FD, 0);
}

static struct tcp_info info(int fd)
{
	struct tcp_info i = {0};
	socklen_t len = sizeof(i);

	MUST(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &i, &len) == 0);
	return i;
}

/* Returns the bytes sent, each counted once: what TCP sends again depends on time. */
static uint64_t sent_once(const struct tcp_info *i)
{
	return i->tcpi_bytes_sent - i->tcpi_bytes_retrans;
}

void set_settle(void)
{
	for (int i = 0; i < 1000; i++) {
		struct tcp_info a = info(fds[TCP_A]), b = info(fds[TCP_B]);

		if (sent_once(&a) == b.tcpi_bytes_received && !a.tcpi_notsent_bytes &&
			sent_once(&b) == a.tcpi_bytes_received && !b.tcpi_notsent_bytes)
			return;
		usleep(1000);
	}
}

int any_fd(void)
{
	static const int wrong[] = {-1, INT_MIN, INT_MAX, 70000, SPARE_FD + 1, HIGH_FD};
	uint32_t i = any(FDS + 3);

	small = false;
	if (i >= FDS)
		return PICK(wrong);
	if (i <= TCP_B) {
		struct tcp_info now = info(fds[i]);

		small = true;
		if (sent_once(&now) > TCP_MOST)
			return fds[STREAM_A];
	}
	return fds[i];
}

/* ---- memory ---- */

static void *bad_pointer(void)
{
	static void *const list[] = {NULL, (void *)8, NOT_THERE, NOT_THERE + 100,
		(void *)0x8000000000000000ul, (void *)0xffff888000000000ul, (void *)-1ul,
		(void *)-100ul};

	return PICK(list);
}

void *any_pointer(void)
{
	switch (any(6)) {
	case 0:
		return bad_pointer();
	case 1:
		return READ_ONLY + any(PAGE);
	case 2: /* a vector that ends early */
		return DATA + DATA_SIZE - 1 - any(20);
	default:
		return DATA + any(2 * PAGE);
	}
}

size_t any_length(void)
{
	static const size_t some[] = {0, 1, 3, 4, 8, 16, 100, 1000};
	static const size_t more[] = {4096, 5000, 65536, 1 << 20, INT_MAX, INT_MAX + 1ul, UINT_MAX,
		SSIZE_MAX, SSIZE_MAX + 1ul, SIZE_MAX, -5ul};

	return small || any(2) ? PICK(some) : PICK(more);
}

int any_flags(void)
{
	int flags = 0;

	if (any(3) == 0)
		return 0;
	if (any(8) == 0)
		flags = (int)(seed ^ seed << 16);
	for (uint32_t n = any(3); n > 0; n--)
		flags |= 1 << any(32);
	flags &= ~(MSG_MORE | MSG_FASTOPEN); /* flags with which bytes go out later */
	return flags | MSG_DONTWAIT;
}

bool is_there(const void *p, size_t size)
{
	const char *at = p;

	return at >= STRUCTS && at < STRUCTS + STRUCT_ROOM &&
	       size <= (size_t)(STRUCTS + STRUCT_ROOM - at);
}

void *any_structure(size_t size)
{
	char *p = free_struct;

	switch (any(12)) {
	case 0:
		return bad_pointer();
	case 1: /* its end is unmapped, or mapped just so far */
		if (end_taken)
			return bad_pointer();
		end_taken = true;
		return STRUCTS + STRUCT_ROOM - (size < PAGE ? size : PAGE) + any(2) * 8;
	default:
		free_struct += (size + 15) & ~15ul;
		MUST(free_struct < STRUCTS + STRUCT_ROOM - PAGE);
		return p;
	}
}

void *any_value(void)
{
	return any(3) ? (void *)(ADDRESSES + any(PAGE)) : bad_pointer();
}

/* Returns an address that reaches no other process: of invalid length, or an abstract name. */
const void *any_address(socklen_t *len)
{
	static const socklen_t lengths[] = {
		0, 1, 2, 3, 8, 15, 20, 110, 111, 128, 129, INT_MAX, UINT_MAX};
	struct sockaddr_un *un = (void *)ADDRESSES;

	*len = PICK(lengths);
	memset(ADDRESSES, 0xa5, PAGE);
	switch (any(5)) {
	case 0:
		return bad_pointer();
	case 1:
		return ADDRESSES + PAGE - 4;
	case 2:
		return READ_ONLY;
	case 3:
		un->sun_family = AF_UNIX;
		un->sun_path[0] = 0;
		return un;
	default:
		un->sun_family = AF_INET;
		if (*len > 15)
			*len = 15;
		return un;
	}
}

socklen_t *any_socklen(void)
{
	socklen_t *len = any_structure(sizeof(*len));

	if (is_there(len, sizeof(*len)))
		*len = (socklen_t)any_length();
	return len;
}

static const int counts[] = {0, 1, 2, 3, 8, 1023, 1024, 1025, -1, INT_MIN, INT_MAX};

struct iovec *any_vector(int *count)
{
	struct iovec *v;
	int n = *count = any(3) ? (int)any(4) : PICK(counts);

	n = n < 0 ? 1 : n > 1024 ? 1024 : n;
	if (small && n > 8)
		*count = n = -1, n = 1;
	v = any_structure((size_t)n * sizeof(*v));
	for (int i = 0; i < n && is_there(v + i, sizeof(*v)); i++)
		v[i] = (struct iovec){
			any(8) ? DATA + any(PAGE) : any_pointer(), n > 8 ? any(8) : any_length()};
	return v;
}

/* Adds control messages, some of which pass descriptors. */
static void any_control(struct msghdr *m)
{
	static const size_t lengths[] = {1, 15, 16, 17, 20, 24, 64, 65536, SIZE_MAX};
	/* kept apart from the message header, which the kernel may overwrite */
	struct cmsghdr *c = any(6) ? (void *)(DATA + 3 * PAGE) : any_pointer();
	int pass[2] = {fds[MEMFD], fds[any(FDS)]};

	m->msg_control = c;
	m->msg_controllen = any(2) ? 24 : PICK(lengths);
	if ((char *)c != DATA + 3 * PAGE)
		return;
	c->cmsg_len = any(4) ? CMSG_LEN(sizeof(pass)) : PICK(lengths);
	c->cmsg_level = any(8) ? SOL_SOCKET : (int)any(300);
	c->cmsg_type = any(8) ? SCM_RIGHTS : (int)any(8);
	memcpy(CMSG_DATA(c), pass, sizeof(pass));
}

static void fill_message(struct msghdr *m)
{
	socklen_t len;
	int count;

	memset(m, 0, sizeof(*m));
	m->msg_iov = any_vector(&count);
	m->msg_iovlen = (size_t)count;
	if (any(4) == 0) {
		m->msg_name = (void *)any_address(&len);
		m->msg_namelen = len;
	}
	if (any(3) == 0)
		any_control(m);
	m->msg_flags = any_flags();
}

struct msghdr *any_message(void)
{
	struct msghdr *m = any_structure(sizeof(*m));

	if (is_there(m, sizeof(*m)))
		fill_message(m);
	return m;
}

struct mmsghdr *any_messages(unsigned int *count)
{
	static const unsigned int many[] = {0, 5, 1024, 1025, UINT_MAX, INT_MAX};
	unsigned int n = 1 + any(4);
	struct mmsghdr *m;

	*count = small || any(2) ? n : PICK(many);
	if (any(2) && !end_taken) { /* messages after the first are in unmapped memory */
		end_taken = true;
		m = (void *)(STRUCTS + STRUCT_ROOM - n * sizeof(*m));
		if (!small)
			*count = n + any(2000);
	} else {
		m = any_structure(n * sizeof(*m));
	}
	for (unsigned int i = 0; i < n && is_there(m + i, sizeof(*m)); i++)
		fill_message(&m[i].msg_hdr);
	return m;
}
