/* SPDX-License-Identifier: MIT */
#include "trace_file.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

struct head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t begin, end, content_bits, packet_bits, seq, discarded;
	int32_t cpu;
} __attribute__((packed));

static void path_of(char out[256], const char *dir, const char *stream)
{
	snprintf(out, 256, "%s/%s", dir, stream);
}

bool trace_exists(const char *dir, const char *stream)
{
	char path[256];

	path_of(path, dir, stream);
	return access(path, F_OK) == 0;
}

static uint8_t *contents(const char *dir, const char *stream, size_t *size)
{
	char path[256];
	struct stat st;
	uint8_t *p;
	FILE *f;

	path_of(path, dir, stream);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("%s is not there", path);
	assert_int_equal(fstat(fileno(f), &st), 0);
	p = malloc((size_t)st.st_size + 1);
	assert_non_null(p);
	*size = fread(p, 1, (size_t)st.st_size, f);
	assert_int_equal(*size, st.st_size);
	fclose(f);
	return p;
}

/* Reads one event at `p`, with `left` bytes in the packet; returns its length. */
static size_t read_event(struct trace_event *e, const uint8_t *p, size_t left)
{
	const struct mg_event_desc *d;

	assert_true(left >= 18);
	memset(e, 0, sizeof(*e));
	memcpy(&e->id, p, 2);
	memcpy(&e->ts, p + 2, 8);
	memcpy(&e->tid, p + 10, 4);
	memcpy(&e->pid, p + 14, 4);
	d = mg_event_by_id(e->id);
	if (!d)
		fail_msg("there is no event %u", e->id);
	assert_true(left >= 18u + d->size);
	assert_true(d->size <= sizeof(e->payload));
	memcpy(e->payload, p + 18, d->size);
	return 18u + d->size;
}

static void read_events(struct trace_file *t, const uint8_t *p, size_t size)
{
	const struct trace_packet *k = &t->packet[t->packets];
	uint64_t last = k->begin;

	while (size) {
		struct trace_event *e;
		size_t used;

		if ((t->events & (t->events - 1)) == 0) /* doubles at powers of two */
			t->event = realloc(t->event, (2 * t->events + 1) * sizeof(*t->event));
		assert_non_null(t->event);
		e = &t->event[t->events++];
		used = read_event(e, p, size);
		e->packet = t->packets;
		assert_true(e->ts >= last && e->ts <= k->end);
		last = e->ts;
		p += used;
		size -= used;
	}
}

/* Reads a packet at `p`; returns its length. */
static size_t read_packet(struct trace_file *t, const uint8_t *p, size_t left)
{
	struct trace_packet *k;
	struct head h;

	assert_true(left >= sizeof(h));
	memcpy(&h, p, sizeof(h));
	assert_int_equal(h.magic, 0xC1FC1FC1u);
	assert_int_equal(h.stream_id, 0);
	assert_true(h.content_bits <= h.packet_bits);
	assert_int_equal(h.content_bits % 8 + h.packet_bits % 8, 0);
	assert_true(h.content_bits / 8 >= sizeof(h) && h.packet_bits / 8 <= left);
	assert_true(h.begin <= h.end);
	t->packet = realloc(t->packet, (t->packets + 1) * sizeof(*t->packet));
	assert_non_null(t->packet);
	k = &t->packet[t->packets];
	*k = (struct trace_packet){.begin = h.begin,
		.end = h.end,
		.seq = h.seq,
		.discarded = h.discarded,
		.size = h.packet_bits / 8,
		.cpu = h.cpu};
	memcpy(k->uuid, h.uuid, 16);
	if (t->packets) {
		assert_true(k->begin >= k[-1].end);
		assert_memory_equal(k->uuid, k[-1].uuid, 16);
	}
	assert_int_equal(k->seq, t->packets);
	read_events(t, p + sizeof(h), (size_t)h.content_bits / 8 - sizeof(h));
	t->packets++;
	return (size_t)k->size;
}

void trace_read(struct trace_file *t, const char *dir, const char *stream)
{
	uint8_t *all, *p;
	size_t left;

	memset(t, 0, sizeof(*t));
	all = p = contents(dir, stream, &t->bytes);
	left = t->bytes;
	while (left) {
		size_t used = read_packet(t, p, left);

		p += used;
		left -= used;
	}
	free(all);
}

void trace_free(struct trace_file *t)
{
	free(t->event);
	free(t->packet);
	memset(t, 0, sizeof(*t));
}

char *trace_dir_make(void)
{
	char *dir = strdup("/tmp/magnet-unit-XXXXXX");

	assert_non_null(dir);
	assert_non_null(mkdtemp(dir));
	return dir;
}

void trace_dir_remove(char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[600];

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.' || strlen(e->d_name) > 2)
			unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
	free(dir);
}
