/* SPDX-License-Identifier: MIT */
#include "rings.h"

#include "clock.h"

char *dir;
struct hooks hooks;
struct ctf_writer *writer;
struct drain *drain;
uint64_t misses;
bool traced = true;
static uint64_t now; /* time of the last event; later ones count up from it */

void hooks_new_misses(struct hooks *h, hook_miss_fn tell, void *arg)
{
	(void)h;
	if (misses) {
		tell(arg, "tcp_send", misses, MG_LOST_SKIPPED);
		tell(arg, "dev_recv", 1, MG_LOST_SKIPPED);
	}
	misses = 0;
}

bool hooks_feed(const struct hooks *h, const char *event)
{
	(void)h;
	return strcmp(event, "dev_recv") == 0 && traced;
}

int rings_setup(void **unused)
{
	(void)unused;
	memset(&hooks, 0, sizeof(hooks));
	hooks.cpus = CPUS;
	hooks.ring_slots = SLOTS;
	hooks.near_slots = NEAR;
	hooks.ring_stride =
		(sizeof(struct mg_ring) + (NEAR + SLOTS) * sizeof(struct mg_slot) + 63) & ~63ull;
	hooks.ring_memory = aligned_alloc(64, CPUS * hooks.ring_stride);
	if (!hooks.ring_memory)
		return -1;
	memset(hooks.ring_memory, 0, CPUS * hooks.ring_stride);
	dir = trace_dir_make();
	misses = 0;
	now = mg_monotonic_ns();
	return ctf_open(&writer, dir, CTF_KERNEL, CPUS);
}

int rings_teardown(void **unused)
{
	(void)unused;
	free(hooks.ring_memory);
	trace_dir_remove(dir);
	return 0;
}

void begin(void)
{
	assert_int_equal(drain_new(&drain, &hooks, writer), 0);
}

/* Ends the recording and reads the stream of a CPU, or the tracer's own. */
void finish(struct trace_file *t, const char *stream)
{
	drain_free(drain);
	assert_int_equal(ctf_close(writer), 0);
	trace_read(t, dir, stream);
}

/* Takes a slot, as take() does; returns NULL and counts a loss if the ring is full. */
struct mg_slot *take(int cpu, uint64_t *word)
{
	struct mg_ring *r = hooks_ring(&hooks, cpu);
	struct mg_slot *s;
	bool near;

	if (r->head - r->tail > SLOTS - 1) {
		r->lost++;
		return NULL;
	}
	near = r->head - r->tail < NEAR;
	s = near ? &r->slot[r->head % NEAR] : &r->slot[NEAR + r->head % SLOTS];
	s->ts = now += 10;
	s->tid = s->pid = 5;
	*word = (uint32_t)r->lost | ((r->head / (near ? NEAR : SLOTS) + 1) & 0xffff) << 32 |
		(uint64_t)MG_EVENT_tcp_ready << 48;
	r->head++;
	return s;
}

void publish(struct mg_slot *s, uint64_t word)
{
	memcpy(s, &word, sizeof(word));
}

void produce_as(int cpu, uint32_t pid, uint16_t event)
{
	uint64_t word;
	struct mg_slot *s = take(cpu, &word);

	assert_non_null(s);
	s->tid = s->pid = pid;
	memset(s->payload, 0, sizeof(s->payload));
	publish(s, (word & UINT64_C(0xffffffffffff)) | (uint64_t)event << 48);
}

/* Writes an event with its number; returns false if there was no room. */
bool produce(int cpu, uint64_t number)
{
	struct mg_tcp_ready e = {.sock = number};
	struct mg_slot *s;
	uint64_t word;

	s = take(cpu, &word);
	if (!s)
		return false;
	memcpy(s->payload, &e, MG_PAYLOAD_SIZE(TCP_READY));
	publish(s, word);
	return true;
}

bool produce_later(int cpu, uint64_t number, uint64_t at)
{
	now = at;
	return produce(cpu, number);
}

void produce_many(int cpu, uint64_t from, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		produce(cpu, from + i);
}

void assert_number(const struct trace_event *e, uint64_t number)
{
	uint64_t sock;

	assert_int_equal(e->id, MG_EVENT_tcp_ready);
	memcpy(&sock, e->payload, sizeof(sock));
	assert_int_equal(sock, number);
}

struct mg_lost lost_event(const struct trace_event *e)
{
	struct mg_lost l;

	assert_int_equal(e->id, MG_EVENT_lost);
	memcpy(&l, e->payload, MG_PAYLOAD_SIZE(LOST));
	return l;
}
