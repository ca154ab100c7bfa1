/* SPDX-License-Identifier: MIT */
/*
 * Cost of the drain per event: the kernel tracer's own drain and CTF writer, on a ring in plain
 * memory that a stand-in for the BPF programs fills, against a plain copy of the same slots.
 *
 *   drain_cost DIR REPETITIONS
 *
 * For each repetition and way a line: NAME CYCLES-AN-EVENT BYTES-AN-EVENT. Ways take turns. "other"
 * in a name: the ring was filled on another CPU, as it is when a busy program is traced; "same": by
 * the thread that drains, so that it lies in its cache. "nowrite": without the system call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "cycles.h"
#include "hooks/hooks.h"
#include "rings/drain.h"

#define SLOTS  262144u /* the default ring: 16 MiB */
#define SHIFT  18
#define BATCH  10000 /* events per pass: 500,000 a second, emptied every 20 ms */
#define PASSES 8
#define BUFFER (256 * 1024)

/* The events of one round trip, about as often as each occurs. */
static const uint16_t mix[] = {MG_EVENT_sys_enter, MG_EVENT_tcp_send, MG_EVENT_ip_out,
	MG_EVENT_ip_post, MG_EVENT_dev_queue, MG_EVENT_dev_xmit, MG_EVENT_softirq_entry,
	MG_EVENT_dev_recv, MG_EVENT_ip_in, MG_EVENT_tcp_recv, MG_EVENT_tcp_ready,
	MG_EVENT_sched_waking, MG_EVENT_softirq_exit, MG_EVENT_dev_done, MG_EVENT_sys_exit,
	MG_EVENT_sys_enter, MG_EVENT_sched_switch, MG_EVENT_sock_copy, MG_EVENT_sys_exit};
#define MIX (sizeof(mix) / sizeof(mix[0]))

static struct hooks hooks;
static struct mg_ring *ring;
static uint64_t clock_ns; /* time of the last event; never goes back */

/* no BPF program runs here, so none misses an event */
void hooks_new_misses(struct hooks *h, hook_miss_fn tell, void *arg)
{
	(void)h;
	(void)tell;
	(void)arg;
}

bool hooks_feed(const struct hooks *h, const char *event)
{
	(void)h;
	(void)event;
	return true;
}

/* Replacements for pwrite(), which the linker installs under each of its names. */
static bool writing = true;
#define WRAP(name)                                                                         \
	ssize_t real_##name(int, const void *, size_t, off_t) __asm__("__real_" #name);    \
	ssize_t wrapped_##name(int, const void *, size_t, off_t) __asm__("__wrap_" #name); \
	ssize_t wrapped_##name(int fd, const void *buf, size_t len, off_t at)              \
	{                                                                                  \
		return writing ? real_##name(fd, buf, len, at) : (ssize_t)len;             \
	}
WRAP(pwrite)
WRAP(pwrite64)

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* ---- the producer does what take() and publish() of ring.bpf.h do ---- */

static void fill(int events)
{
	for (int i = 0; i < events; i++) {
		uint64_t head = ring->head;
		struct mg_slot *s = &ring->slot[head & (SLOTS - 1)];
		uint64_t lap = (head >> SHIFT) + 1;

		s->ts = clock_ns += 2000;
		s->tid = s->pid = 4711;
		memset(s->payload, (int)head, sizeof(s->payload));
		__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
		__atomic_store_n((uint64_t *)s,
			(lap & 0xffff) << 32 | (uint64_t)mix[head % MIX] << 48, __ATOMIC_RELEASE);
	}
}

static int wanted, filled; /* filled by the thread on the other CPU */

static void *producer(void *cpu)
{
	int n;

	pin((int)(intptr_t)cpu);
	while ((n = __atomic_load_n(&wanted, __ATOMIC_ACQUIRE)) >= 0) {
		if (n == 0) {
			sched_yield();
			continue;
		}
		fill(n);
		__atomic_store_n(&wanted, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&filled, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void fill_elsewhere(int events)
{
	__atomic_store_n(&filled, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&wanted, events, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&filled, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* ---- the two ways to empty a ring ---- */

static char path[4096];

static void remove_trace(const char *dir)
{
	static const char *const names[] = {"cpu0", "tracer", "metadata"};

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
}

struct plain {
	int fd;
	char *buffer;
	size_t used;
	off_t size;
};

static int plain_flush(struct plain *p)
{
	if (pwrite(p->fd, p->buffer, p->used, p->size) != (ssize_t)p->used)
		return -errno;
	p->size += (off_t)p->used;
	p->used = 0;
	return 0;
}

/* Copies every slot, 64 bytes each, without looking at it. */
static int plain_pass(struct plain *p)
{
	uint64_t tail = ring->tail, head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);

	for (; tail != head; tail++) {
		if (p->used == BUFFER && plain_flush(p))
			return -errno;
		memcpy(p->buffer + p->used, &ring->slot[tail & (SLOTS - 1)],
			sizeof(struct mg_slot));
		p->used += sizeof(struct mg_slot);
	}
	__atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
	return plain_flush(p);
}

struct way {
	const char *name;
	bool drain, elsewhere, write;
};
static const struct way ways[] = {
	{"drain-other", true, true, true},
	{"drain-same", true, false, true},
	{"plain-other", false, true, true},
	{"plain-same", false, false, true},
	{"drain-other-nowrite", true, true, false},
	{"plain-other-nowrite", false, true, false},
	{"drain-same-nowrite", true, false, false},
	{"plain-same-nowrite", false, false, false},
};

static void die(const char *what, int err)
{
	fprintf(stderr, "drain_cost: %s: %s\n", what, strerror(-err));
	exit(1);
}

/* Times the passes after a first one, which opens files and touches memory and does not count. */
static uint64_t timed_passes(
	const struct way *w, struct drain *d, struct ctf_writer *ctf, struct plain *p)
{
	uint64_t sum = 0;

	for (int pass = 0; pass <= PASSES; pass++) {
		uint64_t start;
		int err;

		if (w->elsewhere)
			fill_elsewhere(BATCH);
		else
			fill(BATCH);
		start = mg_cycles();
		if (w->drain) {
			err = drain_pass(d);
			err = err < 0 ? err : ctf_flush(ctf);
		} else {
			err = plain_pass(p);
		}
		if (pass > 0)
			sum += mg_cycles() - start;
		if (err < 0)
			die("drain", err);
	}
	return sum;
}

static void run(const struct way *w, const char *dir)
{
	struct plain p = {.fd = -1};
	struct ctf_writer *ctf = NULL;
	struct drain *d = NULL;
	uint64_t cycles, bytes;
	int err = 0;

	clock_ns = mg_monotonic_ns();
	writing = w->write;
	if (w->drain) {
		err = ctf_open(&ctf, dir, CTF_KERNEL, hooks.cpus);
		err = err ? err : drain_new(&d, &hooks, ctf);
	} else {
		snprintf(path, sizeof(path), "%s/cpu0", dir);
		p.fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		p.buffer = malloc(BUFFER);
		if (p.fd < 0 || !p.buffer)
			err = -errno;
	}
	if (err)
		die(dir, err);
	cycles = timed_passes(w, d, ctf, &p);
	bytes = w->drain ? ctf_bytes(ctf) : (uint64_t)p.size;
	printf("%s %.2f %.1f\n", w->name, (double)cycles / (PASSES * BATCH),
		(double)bytes / ((PASSES + 1) * BATCH));
	if (w->drain) {
		if (drain_lost(d) != 0)
			die("events lost in the benchmark's own ring", -EIO);
		drain_free(d);
		ctf_close(ctf);
	} else {
		close(p.fd);
		free(p.buffer);
	}
	remove_trace(dir);
}

static int make_ring(void)
{
	hooks.cpus = 1;
	hooks.ring_slots = hooks.near_slots = SLOTS; /* the distance makes no difference here */
	hooks.ring_stride = sizeof(struct mg_ring) + SLOTS * sizeof(struct mg_slot);
	hooks.ring_memory = aligned_alloc(4096, (hooks.ring_stride + 4095) / 4096 * 4096);
	if (!hooks.ring_memory)
		return -1;
	memset(hooks.ring_memory, 0, hooks.ring_stride);
	ring = hooks_ring(&hooks, 0);
	return 0;
}

int main(int argc, char **argv)
{
	int repetitions = argc == 3 ? atoi(argv[2]) : 0;
	bool two_cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	pthread_t thread;

	if (repetitions <= 0) {
		fprintf(stderr, "usage: drain_cost DIR REPETITIONS\n");
		return 2;
	}
	if (make_ring())
		return 1;
	pin(0);
	if (pthread_create(&thread, NULL, producer, (void *)(intptr_t)(two_cpus ? 1 : 0)) != 0)
		return 1;
	for (int r = 0; r < repetitions; r++)
		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			run(&ways[(i + (size_t)r) % (sizeof(ways) / sizeof(ways[0]))], argv[1]);
	__atomic_store_n(&wanted, -1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	free(hooks.ring_memory);
	return 0;
}
