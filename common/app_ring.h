/* SPDX-License-Identifier: MIT */
/*
 * The rings between recorded programs and `magnet record`: each program has a pool of them, memory
 * that it shares with the collector alone, with a ring a thread. No program waits for another, or
 * loses by another's death; what a program writes over its pool, or does to it, harms its own calls
 * only. A pool is a sealed memfd: nobody can make it smaller, which would kill whoever reads or
 * writes there. Children by fork() have their parent's pool; exec begins with another.
 *
 * Some pools are always ready, at descriptors of the collector that programs of its user open by
 * /proc, and take by setting `taken`. A program that cannot, since it runs as another user or sees
 * other processes, connects to a socket, and is sent one.
 *
 * A program makes no system call for it once it has mapped the pool: a thread takes a ring that the
 * collector has made ready, and locks the ring's robust mutex, which the kernel releases when the
 * thread ends or execs, however that comes about. A record is taken by moving `head` and published
 * by storing its first word last; the word holds the lap, which tells the collector that the record
 * is complete, and how many calls were lost before it for want of room. Nothing is ever
 * overwritten. The collector trusts nothing it reads.
 *
 * The first ring is everybody's: threads for which none is ready yet, since many began at once, log
 * there until one is. Its positions are taken by a locked instruction.
 */
#ifndef MAGNET_COMMON_APP_RING_H
#define MAGNET_COMMON_APP_RING_H

#include <pthread.h>
#include <stdint.h>

#include "events.h"

/*
 * MAGNET_RINGS, which tells programs under `magnet record` where pools are:
 * ID:PID:FIRST:FILTERS:START:PATH. ID is the number of the recording, 16 hexadecimal digits; the
 * ready pools are MG_POOLS_READY descriptors of process PID from FIRST on; PATH is the socket;
 * FILTERS is how many filters of system calls the collector itself is under; START is when it was
 * started (process_start.h), as later another process may have its number.
 */
#define MG_POOL_ENV     "MAGNET_RINGS"
#define MG_POOL_MAGIC   0x6d61676eu
#define MG_POOL_VERSION 6
#define MG_POOL_RINGS   4096 /* threads of a program at once, at most */
#define MG_POOLS_READY  8
#define MG_COMMON_RING  0
#define MG_POOL_LEAST   (1u << 20) /* bytes of a pool; more than its head takes */

enum mg_ring_state {
	MG_RING_EMPTY, /* no memory yet */
	MG_RING_READY, /* for the next thread */
	MG_RING_OWNED
};

/*
 * A flag of thread and process numbers: they are a child's, in a PID namespace that the pool's
 * first process or a child of it has made or entered.
 */
#define MG_NESTED (1u << 31)

#define MG_RECORD_PAYLOAD 56
#define MG_WANTED_MARK    127

struct mg_app_record {
	uint32_t lost; /* low 32 bits of the ring's lost count when the record was taken */
	uint16_t lap;  /* position / records + 1 */
	/* MG_APP_BASE + MG_FN_*, or MG_EVENT_mark; 0: left undone by a handler that never came back
	 */
	uint8_t id;
	uint8_t kind; /* MG_KIND_* */
	uint8_t payload[MG_RECORD_PAYLOAD];
};

/* The payload of MG_EVENT_mark is struct mg_mark; in both the second word is the record's time. */
/*
 * A call as in the payload, without what the heads of ring and record have. In the common ring
 * `tid` is the caller's thread, and `logged` its process. `flags` is the option of a call that has
 * one, and `asked` its value, or of a wait its descriptors: the collector writes each where it
 * belongs.
 */
struct mg_ring_call {
	uint64_t enter, exit, asked;
	int64_t ret;
	int32_t fd, error;
	uint32_t flags, logged;
	uint32_t tid, bytes;
};

/* The producer and the collector each write a cache line of their own. */
struct mg_app_ring {
	uint32_t tid, pid; /* numbers that the program sees */
	union {
		pthread_mutex_t alive; /* 40 bytes on x86-64, 48 on arm64 */
		uint8_t room[56];
	};
	uint64_t head; /* next position to be taken */
	uint64_t lost; /* calls that found the ring full */
	/* calls of programs that have no address space for a ring; in the common ring only */
	uint64_t no_room;
	uint64_t untimed; /* calls without a time, since the program has forbidden the counter; in
			     the common ring only */
	/* programs executed where libmagnet.so or its rings are not; in the common ring only */
	uint64_t unreached;
	uint64_t pad2[3];
	uint64_t tail; /* next position to be read */
	uint64_t pad3[7];
};

/* A pool: this head, `rings` heads of rings, and from `records_at` the rings' records. */
struct mg_pool {
	uint32_t magic, version;
	uint32_t rings;
	uint32_t record_shift; /* log2 of the records a ring */
	uint64_t rings_at, records_at;
	uint64_t id;    /* number of the recording */
	uint32_t used;  /* rings below this number have been ready once */
	uint32_t ready; /* rings that are ready now, about */
	uint32_t taken; /* 0: no program has taken it; else its process, by its number outside */
	uint32_t inner; /* number of the process in its own namespace; 0: not yet known */
	int32_t wanted[128]; /* for each MG_FN_*, last for marks: nonzero while recorded */
	uint32_t state[];    /* for each ring: enum mg_ring_state */
};

#endif
