/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "packets.h"

#include <endian.h>
#include <string.h>

#define STREAM_MAGIC 0xC1FC1FC1u

/* Returns the text behind the next member, whose name it copies; NULL if there is none. */
static const char *member(const char *text, char name[32])
{
	const char *end = strchr(text, ';'), *begin = end;

	if (!end)
		return NULL;
	while (begin > text && !strchr(" \t\n", begin[-1]))
		begin--;
	snprintf(name, 32, "%.*s", (int)(end - begin < 31 ? end - begin : 31), begin);
	return end + 1;
}

static bool members_are(const char *text, const char *const *names)
{
	char name[32];

	for (; *names; names++) {
		text = member(text, name);
		if (!text || strcmp(name, *names) != 0)
			return false;
	}
	return true;
}

struct packet_layout packet_layout_of(const char *metadata)
{
	static const char *const header[] = {"magic", "uuid[16]", "stream_id", NULL};
	static const char *const context[] = {
		"timestamp_begin", "timestamp_end", "content_size", "packet_size", NULL};
	const char *h = strstr(metadata, "packet.header"), *c = strstr(metadata, "timestamp_begin");
	const char *trace = strstr(metadata, "trace {");
	struct packet_layout l = {.sizes_at = 4 + 16 + 4 + 2 * 8};

	h = h ? strchr(h, '{') : NULL;
	while (c && c > metadata && c[-1] != '{') /* back to the start of the structure */
		c--;
	l.known = h && c && members_are(h, header) && members_are(c, context);
	/* fields may have another byte order */
	trace = trace ? strstr(trace, "byte_order = ") : NULL;
	l.big_endian = trace && strncmp(trace + 13, "be", 2) == 0;
	if (strstr(metadata, "stream_instance_id"))
		l.sizes_at += 8;
	return l;
}

bool packets_are_sane(FILE *stream, uint64_t size, const struct packet_layout *l, uint64_t *at)
{
	uint64_t sizes[2], packet;
	uint32_t magic;

	if (!l->known)
		return true;
	for (*at = 0; *at < size; *at += packet) {
		if (fseeko(stream, (off_t)*at, SEEK_SET) != 0 ||
			fread(&magic, sizeof(magic), 1, stream) != 1 ||
			fseeko(stream, (off_t)(*at + l->sizes_at), SEEK_SET) != 0 ||
			fread(sizes, sizeof(sizes), 1, stream) != 1)
			return true; /* a cut-off stream is detected elsewhere */
		magic = l->big_endian ? be32toh(magic) : le32toh(magic);
		packet = (l->big_endian ? be64toh(sizes[1]) : le64toh(sizes[1])) / 8;
		if (magic != STREAM_MAGIC || packet > size - *at) /* so is this */
			return true;
		if (packet < l->sizes_at + sizeof(sizes))
			return false;
	}
	return true;
}
