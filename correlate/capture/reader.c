/* SPDX-License-Identifier: MIT */
#include "capture/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "plain_file.h"

#define PCAP_US       0xa1b2c3d4u
#define PCAP_NS       0xa1b23c4du
#define PCAP_HEADER   24
#define RECORD_HEADER 16
#define SECONDS_MOST  8000000000ull /* in ns they fit into 63 bits */

static uint16_t number16(const struct capture_reader *r, size_t at)
{
	uint16_t v;

	memcpy(&v, r->block + at, sizeof(v));
	return r->swapped ? __builtin_bswap16(v) : v;
}

static uint32_t number32(const struct capture_reader *r, size_t at)
{
	uint32_t v;

	memcpy(&v, r->block + at, sizeof(v));
	return r->swapped ? __builtin_bswap32(v) : v;
}

static uint64_t number64(const struct capture_reader *r, size_t at)
{
	uint64_t v;

	memcpy(&v, r->block + at, sizeof(v));
	return r->swapped ? __builtin_bswap64(v) : v;
}

static int damaged(struct capture_reader *r, const char *what)
{
	snprintf(r->why, sizeof(r->why), "byte %llu: %s", (unsigned long long)r->at, what);
	return -1;
}

/* Reads until the block has `size` bytes. Returns 1, 0 if the file ends before its first, or -1. */
static int fill(struct capture_reader *r, size_t size)
{
	size_t got;

	if (r->room < size) {
		uint8_t *more = mg_realloc(r->block, size);

		if (!more)
			return damaged(r, strerror(ENOMEM));
		r->block = more;
		r->room = size;
	}
	got = fread(r->block + r->size, 1, size - r->size, r->from);
	r->size += got;
	if (r->size == size)
		return 1;
	if (ferror(r->from))
		return damaged(r, strerror(errno));
	if (!r->size)
		return 0;
	return damaged(r, "the file ends within a block: was the capture still running?");
}

static int add_interface(struct capture_reader *r, const struct capture_interface *i)
{
	struct capture_interface *more;

	if (r->interfaces == INTERFACES_MOST)
		return damaged(r, "too many interfaces");
	if (r->interfaces & (r->interfaces - 1)) {
		r->interface[r->interfaces++] = *i;
		return 1;
	}
	more = mg_realloc(r->interface, (r->interfaces ? 2 * r->interfaces : 1) * sizeof(*more));
	if (!more)
		return damaged(r, strerror(ENOMEM));
	r->interface = more;
	r->interface[r->interfaces++] = *i;
	return 1;
}

/* Sets the resolution from its option: a negative power of ten, or of two with the highest bit. */
static bool set_resolution(struct capture_interface *i, uint8_t value)
{
	uint8_t power = value & 0x7f;

	if (value & 0x80) {
		i->ticks = power < 64 ? UINT64_C(1) << power : 0;
	} else {
		i->ticks = power < 20;
		for (int n = 0; n < power && i->ticks; n++)
			i->ticks *= 10;
	}
	return i->ticks != 0;
}

static int take_interface(struct capture_reader *r)
{
	struct capture_interface i = {.ticks = 1000000};
	size_t end = r->size - 4, at = 16;

	if (r->size < 20)
		return damaged(r, "an interface's block is too short");
	i.link_type = number16(r, 8);
	i.snaplen = number32(r, 12);
	while (end - at >= 4) {
		uint16_t code = number16(r, at), size = number16(r, at + 2);

		at += 4;
		if (code == OPTION_END)
			break;
		if (size > end - at)
			return damaged(r, "an option is longer than its block");
		if (code == OPTION_RESOLUTION && size == 1 && !set_resolution(&i, r->block[at]))
			return damaged(r, "time stamps have a resolution that is not possible");
		if (code == OPTION_OFFSET && size == 8)
			i.offset_s = (int64_t)number64(r, at);
		at += (size + 3u) & ~3u;
		if (at > end)
			break;
	}
	return add_interface(r, &i);
}

/* Takes the byte order from a section's header, of which the first 12 bytes are there. */
static int take_order(struct capture_reader *r)
{
	uint32_t magic;

	memcpy(&magic, r->block + 8, sizeof(magic));
	if (magic != BLOCK_MAGIC && __builtin_bswap32(magic) != BLOCK_MAGIC)
		return damaged(r, "a section has no byte order");
	r->swapped = magic != BLOCK_MAGIC;
	r->interfaces = 0;
	return 1;
}

static int next_block(struct capture_reader *r)
{
	uint32_t length;
	int got = fill(r, 8);

	if (got <= 0)
		return got;
	r->type = number32(r, 0);
	if (r->type == BLOCK_SECTION) {
		got = fill(r, 12);
		if (got > 0)
			got = take_order(r);
		if (got <= 0)
			return got;
	}
	length = number32(r, 4);
	if (length < 12 || length % 4)
		return damaged(r, "a block has a length that is not possible");
	if (length > BLOCK_MOST)
		return damaged(r, "a block is longer than 64 MB");
	got = fill(r, length);
	if (got <= 0)
		return got;
	if (number32(r, length - 4) != length)
		return damaged(r, "a block's two lengths differ");
	if (r->type == BLOCK_SECTION && length < 28)
		return damaged(r, "a section's header is too short");
	if (r->type == BLOCK_SECTION && number16(r, 12) != 1)
		return damaged(r, "this version of pcapng is not known: it is not 1");
	return r->type == BLOCK_INTERFACE ? take_interface(r) : 1;
}

/* Reads a record of a pcap file. */
static int next_record(struct capture_reader *r)
{
	uint32_t length;
	int got = fill(r, RECORD_HEADER);

	if (got <= 0)
		return got;
	length = number32(r, 8);
	if (length > BLOCK_MOST)
		return damaged(r, "a packet is longer than 64 MB");
	r->type = BLOCK_PACKET;
	return fill(r, RECORD_HEADER + length);
}

int capture_next(struct capture_reader *r)
{
	r->at += r->size;
	r->size = 0;
	return r->is_pcapng ? next_block(r) : next_record(r);
}

static int take_pcap(struct capture_reader *r, uint32_t magic)
{
	struct capture_interface i = {0};

	r->swapped = magic != PCAP_US && magic != PCAP_NS;
	magic = r->swapped ? __builtin_bswap32(magic) : magic;
	if (fill(r, PCAP_HEADER) <= 0)
		return -1;
	i.ticks = magic == PCAP_NS ? 1000000000 : 1000000;
	i.snaplen = number32(r, 16);
	i.link_type = (uint16_t)number32(r, 20);
	return add_interface(r, &i) > 0 ? 0 : -1;
}

int capture_rewind(struct capture_reader *r)
{
	uint32_t magic;

	if (fseeko(r->from, 0, SEEK_SET) != 0)
		return damaged(r, strerror(errno));
	r->at = r->size = 0;
	r->interfaces = 0;
	r->is_pcapng = r->swapped = false;
	if (fill(r, 4) <= 0)
		return damaged(r, "this is no capture: it has not even four bytes");
	memcpy(&magic, r->block, sizeof(magic));
	if (magic == BLOCK_SECTION) {
		r->is_pcapng = true;
		r->size = 0;
		return fseeko(r->from, 0, SEEK_SET) == 0 ? 0 : damaged(r, strerror(errno));
	}
	if (magic == PCAP_US || magic == PCAP_NS || __builtin_bswap32(magic) == PCAP_US ||
		__builtin_bswap32(magic) == PCAP_NS)
		return take_pcap(r, magic);
	return damaged(r, "this is no capture: it begins neither as pcapng nor as pcap (is it "
			  "compressed?)");
}

int capture_open_stream(struct capture_reader *r, FILE *from)
{
	memset(r, 0, sizeof(*r));
	r->from = from;
	return capture_rewind(r);
}

int capture_open(struct capture_reader *r, const char *path)
{
	uint64_t size;
	int fd = plain_file_open_named(path, &size);
	FILE *from;

	memset(r, 0, sizeof(*r));
	if (fd < 0) {
		snprintf(r->why, sizeof(r->why), "%s", plain_file_problem(-fd));
		return -1;
	}
	from = fdopen(fd, "rb");
	if (from)
		return capture_open_stream(r, from);
	close(fd);
	return damaged(r, strerror(errno));
}

void capture_close(struct capture_reader *r)
{
	if (r->from)
		fclose(r->from);
	free(r->interface);
	free(r->block);
	r->from = NULL;
	r->interface = NULL;
	r->block = NULL;
}

static void set_time(struct captured *to, uint64_t ticks)
{
	const struct capture_interface *i = to->interface;
	__int128 seconds = (__int128)(ticks / i->ticks) + i->offset_s;

	to->resolution_ns = 1e9 / (double)i->ticks;
	to->has_time = seconds >= 0 && seconds < SECONDS_MOST;
	if (to->has_time)
		to->ns = (uint64_t)seconds * 1000000000 +
			 (uint64_t)((unsigned __int128)(ticks % i->ticks) * 1000000000 / i->ticks);
}

static int record_packet(struct capture_reader *r, struct captured *to)
{
	uint32_t part = number32(r, 4);

	to->interface = r->interface;
	to->length = number32(r, 8);
	to->original = number32(r, 12);
	to->data = r->block + RECORD_HEADER;
	if (part >= to->interface->ticks)
		return damaged(r, "a time stamp has a fraction of a second or more");
	set_time(to, (uint64_t)number32(r, 0) * to->interface->ticks + part);
	return 1;
}

int capture_packet(struct capture_reader *r, struct captured *to)
{
	size_t fixed = r->type == BLOCK_SIMPLE_PACKET ? 12 : 28, rest;
	uint32_t at;

	memset(to, 0, sizeof(*to));
	if (!r->is_pcapng)
		return record_packet(r, to);
	if (r->type != BLOCK_PACKET && r->type != BLOCK_OLD_PACKET &&
		r->type != BLOCK_SIMPLE_PACKET)
		return 0;
	if (r->size < fixed + 4)
		return damaged(r, "a packet's block is too short");
	at = r->type == BLOCK_PACKET ? number32(r, 8) : 0;
	at = r->type == BLOCK_OLD_PACKET ? number16(r, 8) : at;
	if (at >= r->interfaces)
		return damaged(r, "a packet is of an interface that is not described");
	to->interface = &r->interface[at];
	rest = r->size - fixed - 4;
	to->data = r->block + fixed;
	if (r->type == BLOCK_SIMPLE_PACKET) {
		to->original = number32(r, 8);
		to->length = to->original < rest ? to->original : (uint32_t)rest;
		return 1;
	}
	to->length = number32(r, 20);
	to->original = number32(r, 24);
	if (to->length > rest)
		return damaged(r, "a packet is longer than its block");
	to->options = fixed + ((to->length + 3u) & ~3u);
	if (to->options > r->size - 4)
		return damaged(r, "a packet is longer than its block");
	set_time(to, (uint64_t)number32(r, 12) << 32 | number32(r, 16));
	return 1;
}

/* Returns where the options end, without the mark of their end. */
static size_t options_end(const struct capture_reader *r, size_t at)
{
	while (r->size - at >= 8) { /* the trailer follows */
		uint16_t code = number16(r, at);
		size_t size = (number16(r, at + 2) + 3u) & ~3u;

		if (code == OPTION_END || size > r->size - 4 - at - 4)
			break;
		at += 4 + size;
	}
	return at;
}

void capture_copy(const struct capture_reader *r, const struct captured *p, struct block *b)
{
	size_t end;

	b->swapped = r->is_pcapng && r->swapped;
	if (!r->is_pcapng) {
		uint64_t s = p->ns / 1000000000, part = p->ns % 1000000000;

		block_begin_packet(b, 0,
			s * p->interface->ticks + part * p->interface->ticks / 1000000000, p->data,
			p->length, p->original);
		return;
	}
	b->n = 0;
	b->failed = false;
	end = options_end(r, p->options);
	block_raw(b, r->block, end);
}
