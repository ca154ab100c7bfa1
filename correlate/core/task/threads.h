/* SPDX-License-Identifier: MIT */
/* Threads, their calls, and what each does at every instant. All times are cycles of the counter.
 */
#ifndef MAGNET_CORRELATE_THREADS_H
#define MAGNET_CORRELATE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "facts/stages.h"
#include "sums/dist.h"
#include "flow.h"
#include "hash.h"

/* Bytes a call moved: TX [off, off+len) copied at t, 0 = lost; RX likewise. */
struct piece {
	struct flow *flow;
	uint64_t off, len, t;
	uint64_t waking,
		switch_in;       /* RX: when bytes of this socket last woke the reader, 0 = never */
	struct parcel *parcel;   /* not TCP's: what the bytes were sent as, */
	struct arrival *arrival; /* or came as */
};

/* What a call that sends has set: as the kernel has it, and with the call's own flags. */
enum { NAGLE_OFF = 1, NAGLE_CORK = 2, NAGLE_MORE = 4, NAGLE_TOLD = 8 };
/* of calls' flags: what is looked at stays where it is, or is none of the stream */
#define MOVES_NOTHING (0x2 | 0x2000) /* MSG_PEEK, MSG_ERRQUEUE */

struct kernel_call {
	uint64_t enter, exit; /* cycles */
	uint64_t cookie;
	int64_t ret;
	uint16_t call;
	uint8_t kind;
	uint32_t flags, enter_seq, exit_seq;
	uint64_t asked;
	uint32_t events; /* recorded in the thread's own context while it ran */
	uint64_t state[STATES];
	struct piece *piece;
	uint32_t pieces, pieces_cap;
	uint16_t mss;            /* TX: as it began, 0 not told */
	uint8_t nagle;           /* TX: NAGLE_* */
	uint32_t left;           /* TX: bytes not copied at the last tcp_send */
	uint32_t messages_bytes; /* of sendmmsg and recvmmsg, UINT32_MAX if not known */
	uint32_t blocked_times;
	uint32_t left_times;   /* off the CPU, for whatever reason */
	uint32_t waker_events; /* recorded by who ended its waits, before he did */
	uint64_t locked_out;   /* cycles blocked that no signal could end: for the socket's lock */
	int16_t cpu;           /* where it began */
	bool incomplete;       /* of what its thread did meanwhile an event is missing */
	bool copied;           /* a tcp_send opened a piece */
	bool moved; /* not TCP's: messages told of themselves; now is the next one's turn, */
	uint64_t message_since;  /* from this time on, 0 = since the call began, */
	uint32_t message_piece;  /* with this piece, */
	uint32_t message_buffer; /* copied from this buffer, 0 = not seen */
};

#define USER_MARKS 64
struct user_mark {
	uint64_t t;
	uint8_t state; /* STATE_ENTRY means running */
};

/*
 * Application calls of a thread that have ended, the outer one's inner ones before it: what a
 * signal's handler calls lies within the call the signal came in. Not more than these are kept.
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

/* A point the program marked, and the bytes its thread sent next and had received last. */
struct mark {
	char name[25];
	uint64_t id;
	int64_t value;
	uint32_t tid, pid;
	uint64_t t; /* cycles */
	struct span sent, received;
	uint32_t next; /* the thread's one before, that waits for the same call; its index + 1 */
};
#define MARKS_MAX 100000

/* The name of a program, kept once however many processes run it. */
struct program {
	char comm[16];
	UT_hash_handle hh;
};

/* What a process called, since it began or last executed a program. */
struct process {
	uint32_t pid;
	const struct program *program; /* NULL: not known */
	enum { NAMED_BY_THREAD, NAMED_BY_LEADER, NAMED_BY_EXEC } named;
	bool has_ended;       /* another may have its id */
	uint64_t ended_ns;    /* since then, and application events may still come; 0 = none do */
	uint64_t app;         /* calls libmagnet.so logged */
	uint64_t kernel_only; /* system calls without such an event, */
	uint64_t moved;       /* of these, that move bytes, and not from or to the kernel itself */
	uint64_t io_uring;    /* io_uring_enter(): what it submits is seen by nobody */
	struct descriptor *descriptors; /* a few, by number; NULL: none yet */
	UT_hash_handle hh;
};

/* Programs of which libmagnet.so saw nothing, or not what they did by io_uring; by name. */
struct unseen {
	char comm[16];
	uint32_t processes;
	uint64_t calls, io_uring;
	UT_hash_handle hh;
};

struct thread {
	uint32_t marks_waiting;  /* the last mark that waits for a call that sends; its index + 1 */
	struct span received;    /* by the last call that received */
	struct process *process; /* of `pid` as it was last asked for */
	uint32_t tid, pid;
	char comm[16];
	bool traced; /* its own events are recorded, not only that another took its CPU */
	bool off_cpu, in_irq, in_softirq;
	uint8_t softirq;           /* the number of that */
	uint64_t segment_of;       /* socket of which its call processes what came meanwhile */
	bool woken;                /* made runnable since it left the CPU, */
	uint64_t woken_early;      /* or just before: since it got it */
	bool no_signal_ends;       /* its block: it waits for a lock, or for memory */
	bool queued;               /* and on a run queue, where that is recorded */
	enum call_state fn, off;   /* innermost layer; why it is off the CPU */
	bool at_lock;              /* that is lock or release, whatever is entered meanwhile, */
	enum call_state outer;     /* and then this again */
	uint64_t since;            /* start of the present state */
	uint64_t waking, woken_in; /* last waking, and when it got the CPU after it */
	uint64_t waking_sock;      /* whose bytes woke it, 0 = something else did */
	bool held;                 /* off the CPU against its will: preempted or stopped */
	uint64_t left_cpu;
	uint64_t held_until; /* the last time that was for long, between system calls */
	int16_t last_cpu;    /* it left or got */
	int16_t cpu;         /* where its last event was recorded, -1 = not known */
	bool in_call;
	struct kernel_call now;
	struct kernel_call *ended; /* system calls no application event has claimed yet */
	uint32_t ended_n, ended_cap;
	bool has_ended;                     /* the thread; application events may still come */
	struct kernel_call told;            /* the last one that was claimed */
	struct user_mark marks[USER_MARKS]; /* state changes outside system calls */
	uint32_t mark_n;
	bool marks_in_order; /* of time */
	struct inner_call inner[INNER_CALLS];
	uint32_t inner_n;
	uint64_t missed_from, missed_to; /* when it last did what was not seen */
	UT_hash_handle hh;
};

struct call_key {
	uint16_t id; /* MG_FN_*, or 0x100 | MG_SYS_* for calls without an application event */
	uint8_t kind, pad;
};
#define CALL_KERNEL_ONLY 0x100

struct call_stats {
	struct call_key key;
	uint64_t n, failed, bytes, joined;
	uint64_t missing; /* not joined, and their system call may have been lost */
	/* not joined: before the kernel's first event, and since the one of this number */
	uint64_t before, alone, alone_at;
	/* of the joined, or of those that are kernel-only: nothing of what they did is missing. The
	 * figures below are of these alone, and of such only where the scheduler is recorded */
	uint64_t complete;
	uint64_t blocked_n;
	struct dist total; /* cycles, of all */
	/* on the CPU, less probes and readings; of calls that did not block, and that did */
	struct dist overhead, overhead_blocked;
	double uncertainty, uncertainty_blocked; /* 2u of one call's overhead, cycles: means */
	unsigned __int128 state[STATES];         /* cycles */
	unsigned __int128 locked_out;            /* of blocked: cycles, for the socket's lock */
	unsigned __int128 probe_cycles;          /* what the kernel's events cost, taken off */
	unsigned __int128 reading_cycles;        /* and the two readings of the counter */
	uint64_t waker_events; /* recorded by wakers: blocked may be longer for their cost */
	UT_hash_handle hh;
};

#endif
