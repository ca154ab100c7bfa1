/* SPDX-License-Identifier: MIT */
/*
 * The ring between BPF and the drain: one a CPU, in one memory-mapped array map.
 *
 * A producer takes a slot by compare-and-swap on `head` after reading the clock, so that within a
 * CPU slots are in time order even when programs interrupt each other; it publishes the slot by
 * storing `word` last. `word` holds the lap the slot belongs to, which tells the reader that it is
 * complete without anybody having to clear it, and how many events were lost on this CPU before
 * it, which puts each loss at its place. Nothing is ever overwritten: a full ring counts in `lost`.
 *
 * A ring is large, and going round in it would cost a cache miss an event. So its first slots are a
 * ring of their own, which is used while few positions wait to be read; the others when more do.
 * The reader looks at the near place first, and after it has read a far one, marks both as empty:
 * what is left there can never be taken for a later lap.
 */
#ifndef MAGNET_COMMON_RING_H
#define MAGNET_COMMON_RING_H

#include <linux/types.h>

#define MG_SLOT_PAYLOAD 40

/*
 * A slot of the ring. From `id` to the end of the payload it has the layout of an event in the CTF
 * stream.
 */
struct mg_slot {
	__u32 lost; /* low 32 bits of the ring's lost count when the slot was taken */
	__u16 lap;  /* position / slots + 1; of the near slots where it is one of them */
	__u16 id;   /* MG_EVENT_*; 0 = empty */
	__u64 ts;   /* CLOCK_MONOTONIC, ns */
	__u32 tid;
	__u32 pid;
	__u8 payload[MG_SLOT_PAYLOAD];
};
#define MG_SLOT_ON_DISK 18 /* bytes from id up to the payload: id, ts, tid, pid */
#define MG_SLOT_SKIP    6  /* bytes before id */

/*
 * Sizes, in 64-bit words, of what programs keep in the ring: it is found with the ring, without
 * another map.
 */
#define MG_RING_JOURNEYS 32
#define MG_RING_HANDED   16

struct mg_ring {
	__u64 head; /* next position to be taken, by producers */
	__u64 lost; /* events that found the ring full */
	/*
	 * The traced thread that the CPU runs, its process's id << 32 | its own; 0: another thread,
	 * or not known (bpf/caller.bpf.h). It holds while `epoch` is `epoch_now`, which the loader
	 * changes with what decides which threads are watched; 0: nobody keeps `runs`.
	 */
	__u64 runs;
	__u64 task; /* the address of its struct task_struct */
	__u32 epoch, epoch_now;
	__u32 context; /* bpf/context.bpf.h */
	__u32 pad0[5];
	__u64 tail; /* next position to be read, by the drain; on a line of its own */
	__u64 pad1[7];
	__u64 journeys[MG_RING_JOURNEYS]; /* of packets on the CPU, bpf/journey.bpf.h */
	__u64 handed[MG_RING_HANDED];     /* to a driver, bpf/device.bpf.h */
	struct mg_slot slot[]; /* slots: the near ones, then, if there are more, all of the ring */
};

#define MG_NEAR_SLOTS 8192 /* near slots, which stay in a CPU's cache: half a megabyte */

/* Returns the number of slots in memory for a ring of so many events. */
static inline __u64 mg_slots_in_memory(__u64 ring_slots)
{
	return ring_slots <= MG_NEAR_SLOTS ? ring_slots : ring_slots + MG_NEAR_SLOTS;
}

/* An announcement for the map beside the rings. */
struct mg_identity {
	__u16 id; /* MG_EVENT_* */
	__u16 pad0;
	__u32 tid, pid;
	__u32 pad1;
	__u8 payload[MG_SLOT_PAYLOAD];
};

/*
 * Announcements of up to MG_ASKED sockets at once: the kernel lets a program take no more
 * arguments.
 */
#define MG_ASKED 12
#define MG_TOLD  (3 * MG_ASKED)
struct mg_told {
	__u32 count;
	__u32 pad0;
	struct mg_identity one[MG_TOLD];
};

/* Sockets other than TCP's that are followed at once: then the least recently used is evicted. */
#define MG_OTHERS 65536

/*
 * A CPU takes up to 128 places at once from a table that evicts, and keeps those that it does not
 * use: so many sockets fit in at least before one is evicted.
 */
static inline __u32 mg_others_first(int cpus)
{
	__u32 kept = 128 * (__u32)(cpus - 1);

	return kept < MG_OTHERS ? MG_OTHERS - kept : 0;
}

/*
 * A socket other than TCP's that was met. A slot is another's to take once its socket is closed.
 */
struct mg_met {
	__u64 address;   /* of the struct sock */
	__u32 ino;       /* 0: nobody's */
	__u32 elsewhere; /* of the sockets whose first slot this is some may be in another one */
};

/* Slots for them, in so many values of a map, and how many of the slots a socket may be in. */
#define MG_MET_SLOTS   1024 /* in one value; a power of two, as the next */
#define MG_MET_VALUES  128
#define MG_MET_CHOICES 8

#define MG_NR_MAX 512 /* system call numbers that can be followed */

/* Used in place of an MG_SYS_*: the number of a call on sockets in 32-bit programs. */
#define MG_CALL_32BIT 255

/* Counters of what is known to be not recorded. */
enum mg_not_seen {
	MG_NOT_SEEN_CONNECTIONS, /* sockets without room: their packets are missing */
	MG_NOT_SEEN_32BIT,       /* calls of 32-bit programs */
	MG_NOT_SEEN_LISTENERS,   /* ports listened on: the connections accepted there are missing */
	MG_NOT_SEEN_THREADS,     /* tasks without memory for a mark: all is missing */
	MG_NOT_SEEN_END
};

/* The index of a second count for each of these: how often something already counted was missed
 * again. */
#define MG_NOT_SEEN_AGAIN(what) (MG_NOT_SEEN_END + (what))
#define MG_NOT_SEEN_COUNTS      (2 * MG_NOT_SEEN_END)

/* Slots that remember which sockets and threads were counted: a power of two. */
#define MG_COUNTED 262144

/* A system call that is followed: MG_DIR_*, and the arguments that are its length and flags. */
struct mg_call_shape {
	__u8 direction, length, flags, pad;
};
#define MG_NO_ARGUMENT 1  /* such a call has no length, or no flags; others are arguments 2 to 4 */
#define MG_SHAPES      32 /* a power of two above the last MG_SYS_* */

/* Places for the numbers of followed TCP sockets, and of refused ones: a power of two. */
#define MG_NUMBERS 16384

/* Existing processes that --pid follows, children among them. */
#define MG_FOLLOWED_MAX 16384

/* Settings of the BPF programs, fixed when they are loaded. */
struct mg_bpf_config {
	__u64 seed;       /* keys the hash of address tuples */
	__u32 ring_mask;  /* slots a ring, minus 1 */
	__u32 ring_shift; /* log2 of the slots a ring */
	__u32 near_mask;  /* near slots, minus 1 */
	__u32 near_shift;
	__u32 jiffy;        /* microseconds of a timer tick, times 1024 */
	__u32 ring_room;    /* slots that may be taken by what happens often: a few are kept for the
			       rest */
	__u32 others_first; /* mg_others_first() */
	__u32 pad0;
	__u64 stack_ns; /* a block from this time on has its stacks recorded; 0: no stacks at all */
	__u8 all;       /* every task and socket is traced */
	__u8 anonymize; /* leave out addresses and ports */
	__u8 pad1[6];
	struct mg_call_shape shape[MG_SHAPES]; /* indexed by MG_SYS_* */
	/* MG_SYS_* of a system call number, 0 = not followed; or MG_CALL_32BIT */
	__u8 call_of_nr[MG_NR_MAX];
};

/*
 * A stack as BPF takes it, each distinct one once. The frames are return addresses, the innermost
 * first, but for the first frame, which is where the thread was.
 */
#define MG_STACK_FRAMES 127 /* the kernel takes no more (kernel.perf_event_max_stack) */
#define MG_STACKS_MAX   32768
struct mg_stack {
	__u64 id; /* a hash of what follows but for `at`; never 0 */
	__u64 at; /* CLOCK_MONOTONIC, ns */
	__u32 pid, uid;
	__u16 count;
	__u8 user; /* 1: addresses of this process, 0: of the kernel */
	__u8 pad[5];
	__u64 frame[MG_STACK_FRAMES];
};

/* The kernel's words for where and why it dropped a packet; each ends with a 0. */
struct mg_drop_words {
	char reason[64]; /* SKB_DROP_REASON_*, a number that has no name, or nothing */
	char place[64];  /* the function, and [its module]; an address that is in none */
};

/* Why stacks could not be taken: counters of the BPF programs. */
enum mg_stack_missing {
	MG_STACK_UNREADABLE, /* the kernel could not read a frame */
	MG_STACK_NO_ROOM,    /* more distinct ones than are kept, or than the tracer could read */
	MG_STACK_MISSING_END
};

/*
 * Settings that can change while programs run. The filters choose sockets and packets; they are
 * applied when a socket is first met, not at each event.
 */
#define MG_FILTER_PORTS    8
#define MG_FILTER_PREFIXES 4
#define MG_FILTER_NETNS    4
enum {
	MG_FILTERS_PROTOCOL = 1,
	MG_FILTERS_NETNS = 2,
	MG_FILTERS_PORT = 4,
	MG_FILTERS_ADDRESS = 8,
	MG_FILTERS_SAMPLE = 16
};
struct mg_prefix { /* network order, IPv4 as ::ffff:a.b.c.d */
	__u32 addr[4], mask[4];
};
struct mg_bpf_settings {
	__u32 sample;                 /* N of --sample: 1 in N connections is recorded */
	__u32 protocols;              /* bits 1 << MG_KIND_* */
	__u32 netns[MG_FILTER_NETNS]; /* inode numbers; the last is repeated */
	struct mg_prefix prefix[MG_FILTER_PREFIXES]; /* local or remote; the last is repeated */
	__u16 ports[MG_FILTER_PORTS];                /* local or remote; the last is repeated */
	char interface[16];                          /* "" = all */
	__u8 active;                                 /* filters that are set: MG_FILTERS_* */
	__u8 level;  /* protocol state to record: 0 none, 1 light, 2 full */
	__u8 cgroup; /* tasks of the cgroup in the map `cgroups` are traced */
	__u8 round;  /* changes with the filters: what was remembered before is not believed */
	__u8 served; /* the scheduler is recorded of threads that have used a followed socket */
	__u8 pad[3];
};

/* Threads whose calls are kept in a table by their number; those in excess have task storage. */
#define MG_CALLERS      16384 /* a power of two */
#define MG_CALLER_BYTES 128

/* The programs' .bss (bpf/caller.bpf.h). */
struct mg_places {
	__u64 caller[MG_CALLERS][MG_CALLER_BYTES / 8]; /* each begins with the thread's numbers */
	__u64 number[2 * MG_NUMBERS];                  /* of followed sockets, of refused ones */
};

/*
 * A task is marked as traced by zeroes, more than its storage has. Where this byte is not zero, the
 * system call it names is recorded by each copy of a program, to measure what each costs.
 */
#define MG_TASK_MARK  128
#define MG_TASK_AGAIN 19

/*
 * Sent at once, through a ring buffer of its own: a network namespace whose IP layer has no hooks
 * yet.
 */
struct mg_new_netns {
	__u32 inum; /* inode number of the network namespace */
	__u32 pid;  /* a process in it */
};

#endif
