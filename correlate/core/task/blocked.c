/* SPDX-License-Identifier: MIT */
#include "task/blocked.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "names.h"

#define TASK_HALTED 0xc /* __TASK_STOPPED | __TASK_TRACED */
#define X32_BIT     0x40000000u
#define CALLS_MAX   2048 /* no table has so many; the number of names kept is bounded */
#define NO_CALL     (-1)

/* One system call that some thread blocked in; the fact keeps a pointer to the name. */
struct call_names {
	uint64_t key;
	bool has_descriptor, waits; /* its first argument is one; it waits for several */
	char name[32];
	UT_hash_handle hh;
};

void blocked_note(struct thread *t, const struct mg_sched_switch *p)
{
	t->away.entry = p->entry;
	t->away.stopped = p->prev_state & TASK_HALTED;
	t->away.io = p->io;
	t->away.throttled = p->throttled;
	t->away.nr = p->nr;
	t->away.arg = p->arg;
}

static uint32_t table_of(uint8_t entry)
{
	switch (entry) {
	case MG_ENTRY_X86_64:
		return SCMP_ARCH_X86_64;
	case MG_ENTRY_I386:
		return SCMP_ARCH_X86;
	case MG_ENTRY_X32:
		return SCMP_ARCH_X32;
	case MG_ENTRY_AARCH64:
		return SCMP_ARCH_AARCH64;
	case MG_ENTRY_ARM:
		return SCMP_ARCH_ARM;
	default:
		return 0;
	}
}

/* clang-format off */
/* Calls that wait for several descriptors. */
static const char *const waiting[] = {"epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll",
	"ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64"};
/* Calls, among those that may block, whose first argument is a descriptor. */
static const char *const on_descriptor[] = {"read", "write", "readv", "writev", "pread64", "pwrite64",
	"preadv", "pwritev", "preadv2", "pwritev2", "recvfrom", "recvmsg", "recvmmsg", "recv", "sendto",
	"sendmsg", "sendmmsg", "send", "sendfile", "sendfile64", "splice", "tee", "vmsplice", "connect",
	"accept", "accept4", "shutdown", "close", "fsync", "fdatasync", "sync_file_range", "syncfs",
	"fallocate", "ftruncate", "ftruncate64", "flock", "fcntl", "fcntl64", "ioctl", "fstat",
	"getdents64", "copy_file_range", "epoll_wait", "epoll_pwait", "epoll_pwait2", "epoll_ctl",
	"io_uring_enter", "mq_timedsend", "mq_timedreceive"};
/* clang-format on */

static bool is_among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}
#define IS_AMONG(name, list) is_among(name, list, sizeof(list) / sizeof((list)[0]))

/* Returns the call's entry in the table of names; NULL if memory is short. */
static const struct call_names *call_named(struct core *c, uint8_t entry, int32_t nr)
{
	struct call_names *n = NULL;
	uint64_t key;
	char *name;

	if (((uint32_t)nr & ~X32_BIT) >= CALLS_MAX)
		nr = NO_CALL;
	key = (uint64_t)entry << 32 | (uint32_t)nr;
	HASH_FIND(hh, c->tasks.call_names, &key, sizeof(key), n);
	if (n)
		return n;
	n = mg_calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->key = key;
	name = nr == NO_CALL ? NULL : seccomp_syscall_resolve_num_arch(table_of(entry), nr);
	if (name)
		snprintf(n->name, sizeof(n->name), "%s", name);
	else if (nr == NO_CALL)
		snprintf(n->name, sizeof(n->name), "system call");
	else /* newer than the table */
		snprintf(n->name, sizeof(n->name), "system call %d", nr);
	free(name);
	n->waits = IS_AMONG(n->name, waiting);
	n->has_descriptor = IS_AMONG(n->name, on_descriptor);
	HASH_ADD(hh, c->tasks.call_names, key, sizeof(n->key), n);
	return hash_kept(n);
}

const char *core_call_name(struct core *c, uint8_t entry, int32_t nr)
{
	const struct call_names *n = table_of(entry) ? call_named(c, entry, nr) : NULL;

	return n ? n->name : NULL;
}

void blocked_free(struct core *c)
{
	struct call_names *n, *next;

	HASH_ITER (hh, c->tasks.call_names, n, next) {
		HASH_DEL(c->tasks.call_names, n);
		free(n);
	}
}

static struct fact_address peer_of(const struct mg_sock *s)
{
	const struct far_end *far = s->far && !s->rport ? &s->far[1] : NULL;

	if (far && far->known && !far->several)
		return (struct fact_address){far->addr, far->port};
	if (s->has_addr && s->rport)
		return (struct fact_address){s->raddr, s->rport};
	return (struct fact_address){NULL, 0};
}

static struct mg_sock *sock_of(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = recent_sock(&c->recent, cookie);

	if (!s)
		HASH_FIND(hh, c->sockets.socks, &cookie, sizeof(cookie), s);
	return s;
}

bool blocked_for_client(struct core *c, const struct fact_wait *f)
{
	const struct mg_sock *s =
		f->socket == FACT_NONE && f->woken_by != FACT_NONE ? sock_of(c, f->woken_by) : NULL;

	return s && (sock_side(s) == SIDE_SERVER || s->met.accepted);
}

/* Names the socket of a call, and its peer. */
static void tell_socket(
	struct core *c, const struct thread *t, const struct call_names *n, struct fact_wait *f)
{
	struct mg_sock *s = NULL;
	uint64_t peers = 0;

	if (t->in_call && t->now.cookie)
		f->socket = peers = t->now.cookie;
	else if (n->waits && f->woken_by != FACT_NONE)
		peers = f->woken_by;
	if (peers) /* a socket that is waited for is open */
		s = sock_of(c, peers);
	if (s)
		f->remote = peer_of(s);
}

void blocked_tell(struct core *c, const struct thread *t, struct fact_wait *f)
{
	const struct call_names *n;

	if (t->away.entry == MG_ENTRY_UNKNOWN)
		return;
	f->io = t->away.io;
	if (t->away.stopped) {
		f->blocked_in = BLOCKED_STOPPED;
		return;
	}
	if (t->away.entry == MG_ENTRY_EXCEPTION || t->away.entry == MG_ENTRY_KERNEL) {
		f->blocked_in =
			t->away.entry == MG_ENTRY_KERNEL ? BLOCKED_IN_KERNEL : BLOCKED_IN_FAULT;
		return;
	}
	if (!table_of(t->away.entry))
		return;
	f->blocked_in = BLOCKED_IN_CALL;
	n = call_named(c, t->away.entry, t->away.nr);
	if (!n)
		return;
	f->call = n->name;
	if (n->has_descriptor)
		f->descriptor = (uint32_t)t->away.arg;
	tell_socket(c, t, n, f);
}
