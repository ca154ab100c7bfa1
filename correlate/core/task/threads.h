/* SPDX-License-Identifier: MIT */
/*
 * Threads, their calls, and the state of each thread at every instant. All times are cycles of the
 * counter.
 */
#ifndef MAGNET_CORRELATE_THREADS_H
#define MAGNET_CORRELATE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "facts/stages.h"
#include "flow.h"
#include "hash.h"

/* Bytes that a call moved: TX [off, off+len) copied at t, 0 = lost; RX likewise. */
struct piece {
	struct flow *flow;
	uint64_t off, len, t;
	uint64_t waking,
		switch_in;       /* RX: when bytes of this socket last woke the reader, 0 = never */
	struct parcel *parcel;   /* not TCP's: the message as it was sent */
	struct arrival *arrival; /* or as it was received */
};

/* Settings that hold back a call's data: those of the socket, and the call's own flags. */
enum { NAGLE_OFF = 1, NAGLE_CORK = 2, NAGLE_MORE = 4, NAGLE_KNOWN = 8 };
/* flags of calls whose data stay in the queue or are not part of the stream */
#define MOVES_NOTHING (0x2 | 0x2000) /* MSG_PEEK, MSG_ERRQUEUE */

struct kernel_call {
	uint64_t enter, exit; /* cycles */
	uint64_t cookie;
	int64_t ret;
	uint16_t call;
	uint8_t kind;
	uint32_t flags, option, enter_seq, exit_seq;
	uint64_t asked;
	uint32_t events; /* events recorded in the thread's own context while it ran */
	uint64_t state[STATES];
	struct piece *piece;
	uint32_t pieces, pieces_cap;
	uint16_t mss;  /* TX: MSS at its begin, 0 not recorded */
	uint8_t nagle; /* TX: NAGLE_* */
	uint32_t left; /* TX: bytes not copied at the last tcp_send */
	/* sum of sendmmsg's and recvmmsg's messages, UINT32_MAX if not known */
	uint32_t messages_bytes;
	uint32_t blocked_times;
	uint32_t left_times; /* times off the CPU, for whatever reason */
	/* events recorded by the thread that ended its waits, before the wakeup */
	uint32_t waker_events;
	uint64_t locked_out; /* cycles blocked uninterruptibly: waiting for the socket's lock */
	int16_t cpu;         /* CPU at its begin */
	bool incomplete;     /* an event of what its thread did meanwhile is missing */
	bool copied;         /* a tcp_send opened a piece */
	bool moved; /* not TCP's: messages had events of their own; the next one comes now */
	struct {
		uint64_t since;  /* its start, 0 = the call's begin */
		uint32_t piece;  /* its first piece */
		uint32_t buffer; /* buffer it was copied from, 0 = not seen */
	} message;               /* the present one of them */
};

#define USER_MARKS 64
struct user_mark {
	uint64_t t;
	uint8_t state; /* STATE_ENTRY means running */
};

/*
 * Ended application calls of a thread, an inner one before its outer one: the calls of a signal
 * handler lie within the call that the signal interrupted. At most this many are kept.
 */
#define INNER_CALLS 16
struct inner_call {
	uint64_t enter, leave;
};

/* Bytes of one direction of a connection. */
struct span {
	uint64_t sock; /* its cookie, 0: none */
	bool rx;
	uint64_t off, len;
};

/* A point that the program marked, with the bytes its thread sent next and received last. */
struct mark {
	char name[25];
	uint64_t id;
	int64_t value;
	uint32_t tid, pid;
	uint64_t t; /* cycles */
	struct span sent, received;
	uint32_t next; /* index + 1 of the thread's previous mark that waits for the same call */
};
#define MARKS_MAX 100000

/* Name of a program, stored once however many processes run it. */
struct program {
	char comm[16];
	UT_hash_handle hh;
};

/* Calls of a process since it began or last executed a program. */
struct process {
	uint32_t pid;
	const struct program *program; /* NULL: not known */
	enum { NAMED_BY_THREAD, NAMED_BY_LEADER, NAMED_BY_EXEC } named;
	bool has_ended;       /* another process may have its id */
	bool has_threads;     /* a thread points to it: set by forget.c */
	uint64_t ended_ns;    /* end, while application events may still come; 0 = none may */
	uint64_t app;         /* calls that libmagnet.so logged */
	uint64_t kernel_only; /* system calls without such an event */
	/* those of them that move bytes, and not from or to the kernel itself */
	uint64_t moved;
	uint64_t io_uring; /* calls of io_uring_enter(), whose submitted work is not observed */
	struct descriptor *descriptors; /* a few, by number; NULL: none yet */
	UT_hash_handle hh;
};

/* Programs of which libmagnet.so saw nothing, or not their io_uring work; by name. */
struct unseen {
	char comm[16];
	uint32_t processes;
	uint64_t calls, io_uring;
	UT_hash_handle hh;
};

/* The wakeup of a thread that left the CPU. */
struct thread_wake {
	bool valid;           /* made runnable since it left the CPU, */
	uint64_t early;       /* or just before: since it got it */
	uint64_t at, ran;     /* last wakeup, and when it got the CPU after it */
	uint64_t sock;        /* socket whose bytes woke it, 0 = another cause */
	uint32_t early_waker; /* thread that woke it early */
	uint32_t waker;       /* thread that woke it itself, 0 = not known */
	uint64_t queued_at;   /* on a run queue after that, 0 = not recorded */
};

/* A thread's present or last time off the CPU. */
struct thread_away {
	bool now;
	bool held;             /* involuntarily: preempted or stopped */
	bool uninterruptible;  /* no signal ends its block: it waits for a lock, or for memory */
	enum call_state state; /* why it is off the CPU */
	uint64_t since;
	uint64_t held_until; /* end of the last long such time, between system calls */
	int16_t cpu;         /* CPU it left or got last */
	/* how it had entered the kernel, MG_ENTRY_*, and by which system call */
	uint8_t entry;
	bool stopped, io;
	uint8_t throttled; /* for the CPU quota of its cgroup, as in the event */
	int32_t nr;
	uint64_t arg;
};

/* A wait that has ended. */
struct past_wait {
	uint64_t begin, woken, end; /* as in the fact; 0 = not known */
	uint64_t before;            /* number of the thread's wait before it, 0 = none */
	struct thread *thread;
	struct thread *waker; /* NULL: an interrupt, or a thread that is not traced */
	const char *call;     /* NULL: not known */
	uint64_t descriptor;
	uint8_t addr[16]; /* the peer that it waited for */
	uint16_t port;
	uint8_t why, blocked_in, io; /* as in the fact */
	bool has_peer, by_socket;    /* a socket's bytes ended it */
};

/* The latest waits of all threads (past.h). */
struct past {
	struct past_wait *wait; /* a ring */
	uint64_t next;          /* number of the next one, less 1 */
	uint32_t room;          /* a power of two */
	uint64_t forgotten;     /* end of the last one that was forgotten, 0 = none was */
	uint64_t walks;         /* number of the latest walk along them */
};

/* A thread's waits, and what the latest walk along them found. */
struct thread_past {
	uint64_t last;         /* number of its last wait, 0 = none */
	uint64_t wrote;        /* when its last call to write as a server returned, 0 = not yet */
	uint64_t born;         /* when it was made, until it runs; 0 = before */
	struct thread *parent; /* by this one */
	uint64_t walk;         /* number of the walk that set the following */
	uint64_t since;        /* it was concerned from then on, 0 = not */
	uint64_t at;           /* number of the wait at which the walk is */
};

struct thread {
	uint32_t marks_waiting;  /* index + 1 of the last mark that waits for a sending call */
	struct span received;    /* bytes of the last receiving call */
	struct process *process; /* process of `pid` at the last look-up */
	uint32_t tid, pid;
	uint32_t number; /* threads met before it */
	char comm[16];
	bool traced; /* its own events are recorded, not only that another thread took its CPU */
	bool in_irq, in_softirq;
	uint8_t softirq;     /* the number of that */
	uint64_t segment_of; /* socket of which its call processes what came meanwhile */
	struct thread_wake wake;
	struct thread_away away;
	struct thread_past past;
	enum call_state fn;    /* innermost layer */
	bool at_lock;          /* that is lock or release, whatever is entered meanwhile, */
	enum call_state outer; /* and then this again */
	uint64_t since;        /* start of the present state */
	int16_t cpu;           /* CPU of its last event, -1 = not known */
	bool in_call;
	struct kernel_call now;
	struct {
		struct kernel_call *call;
		uint32_t n, cap;
	} done; /* system calls that no application event has claimed yet */
	/* the thread has ended; application events may still come */
	bool has_ended;
	bool is_forgotten_next;     /* it was over when forget.c looked last */
	struct kernel_call claimed; /* the last call that was claimed */
	struct {
		struct user_mark marks[USER_MARKS];
		uint32_t n;
		bool in_order; /* marks are in order of time */
	} user;                /* state changes outside system calls */
	struct {
		struct inner_call call[INNER_CALLS];
		uint32_t n;
	} inner;
	struct {
		uint64_t from, to;
	} missed; /* last interval of unobserved activity */
	UT_hash_handle hh;
};

#endif
