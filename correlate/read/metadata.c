/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "metadata.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "format.h"
#include "plain_file.h"

#define PACKET_MAGIC 0x75D11D57u
#define DEPTH_MAX    64
#define SEPARATOR    0x1e /* of CTF 2, before each fragment */

struct packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum, content_size, packet_size; /* bits */
	uint8_t compression, encryption, checksum_scheme, major, minor;
} __attribute__((packed));

/* ---- the text ---- */

static bool is_packet(const char *at, size_t left, struct packet *p)
{
	if (left < sizeof(*p))
		return false;
	memcpy(p, at, sizeof(*p));
	p->content_size = le32toh(p->content_size);
	p->packet_size = le32toh(p->packet_size);
	return le32toh(p->magic) == PACKET_MAGIC;
}

/*
 * Removes packet headers and padding from the text. Returns false if the packets do not reach its
 * end.
 */
static bool unpack(char *text, size_t *size)
{
	size_t at = 0, used = 0;
	struct packet p;

	if (!is_packet(text, *size, &p))
		return true;
	while (at < *size) {
		size_t length;

		if (!is_packet(text + at, *size - at, &p) || p.content_size < 8 * sizeof(p) ||
			p.packet_size % 8 || p.packet_size < p.content_size ||
			p.packet_size / 8 > *size - at)
			return false;
		length = p.content_size / 8 - sizeof(p);
		memmove(text + used, text + at + sizeof(p), length);
		used += length;
		at += p.packet_size / 8;
	}
	text[used] = 0;
	*size = used;
	return true;
}

char *metadata_text(const char *dir, size_t *size, char *why, size_t why_size)
{
	char path[4096], *text;

	snprintf(path, sizeof(path), "%.4000s/metadata", dir);
	text = plain_file_read(path, METADATA_MAX, size);
	if (!text) {
		snprintf(why, why_size, "%.700s: %s", path, plain_file_problem(errno));
	} else if (!unpack(text, size)) {
		snprintf(why, why_size, "%.700s is damaged or cut off", path);
		free(text);
		text = NULL;
	}
	return text;
}

/* ---- content ---- */

bool metadata_is_ctf2(const char *text, size_t size)
{
	return size > 0 && text[0] == SEPARATOR;
}

/* Copies the quoted value after `key` = or :=, in the block that starts with `block`. */
static bool quoted_value(
	const char *text, const char *block, const char *key, char *out, size_t size)
{
	const char *at = strstr(text, block), *end;

	at = at ? strstr(at, key) : NULL;
	at = at ? at + strlen(key) : NULL;
	at = at ? at + strspn(at, " :=\t\n") : NULL;
	end = at && *at == '"' ? strchr(at + 1, '"') : NULL;
	if (!end || (size_t)(end - at) > size)
		return false;
	memcpy(out, at + 1, (size_t)(end - at - 1));
	out[end - at - 1] = 0;
	return true;
}

/* Returns the number after `trace_format =` in the environment. */
static uint64_t format_of(const char *text)
{
	const char *at = strstr(text, "env {"), *end = at ? strchr(at, '}') : NULL;

	at = end ? memmem(at, (size_t)(end - at), "trace_format", strlen("trace_format")) : NULL;
	if (!at)
		return TRACE_FORMAT_FIRST;
	at += strlen("trace_format");
	return strtoull(at + strspn(at, " =\t\n"), NULL, 10);
}

int64_t metadata_clock_offset(const char *text)
{
	const char *clock = strstr(text, "clock {"), *end = clock ? strchr(clock, '}') : NULL, *at;
	int64_t seconds = 0, ns = 0, hz = 0;

	if (!end)
		return 0;
	for (at = clock; at && at < end; at = strchr(at + 1, '\n')) {
		long long value;

		if (sscanf(at, " offset_s = %lld ;", &value) == 1)
			seconds = value;
		else if (sscanf(at, " offset = %lld ;", &value) == 1)
			ns = value;
		else if (sscanf(at, " freq = %lld ;", &value) == 1)
			hz = value;
	}
	if (hz != 1000000000 || seconds < 0 || seconds > INT64_MAX / hz - 1 || ns < 0 ||
		seconds * hz > INT64_MAX - ns)
		return 0;
	return seconds * hz + ns;
}

/*
 * Looks for the tracer of a trace of CTF 2. No magnet writes such traces: what is of magnet's there
 * another program has copied, and is read as any other tracer's.
 */
static void look_at_ctf2(struct metadata_facts *facts, const char *text)
{
	char tracer[64] = "";

	quoted_value(text, "\"environment\"", "\"tracer_name\"", tracer, sizeof(tracer));
	facts->is_lttng = strncmp(tracer, "lttng", 5) == 0;
}

void metadata_look(struct metadata_facts *facts, const char *text)
{
	char tracer[64] = "", domain[16] = "", other[16] = "";

	memset(facts, 0, sizeof(*facts));
	if (text[0] == SEPARATOR) {
		look_at_ctf2(facts, text);
		return;
	}
	facts->has_uuid = quoted_value(text, "trace {", "uuid", facts->uuid, sizeof(facts->uuid));
	quoted_value(text, "env {", "tracer_name", tracer, sizeof(tracer));
	quoted_value(text, "env {", "domain", domain, sizeof(domain));
	/* an application trace that LTTng wrote with magnet's provider has another domain */
	facts->is_own = domain[0] != 'u' && (strcmp(tracer, "magnet-kernel-tracer") == 0 ||
						    strcmp(tracer, "libmagnet") == 0);
	facts->is_app = domain[0] == 'a';
	facts->format = format_of(text);
	quoted_value(text, "env {", "tracer_version", facts->version, sizeof(facts->version) - 1);
	facts->tells_contents = facts->is_own && strstr(text, "name = \"contents\";");
	facts->has_other_side =
		facts->is_own && quoted_value(text, "env {", "other_side", other, sizeof(other));
	facts->is_lttng = strncmp(tracer, "lttng", 5) == 0;
}

/* Returns the end of a comment or quoted text that begins at `at`; else `at`. */
static const char *past_words(const char *at, const char *end)
{
	if (*at == '"' || *at == '\'') {
		char quote = *at;

		for (at++; at < end && *at != quote; at++)
			at += *at == '\\' && at + 1 < end;
		return at;
	}
	if (*at == '/' && at + 1 < end && at[1] == '*') {
		const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);

		return close ? close + 1 : end;
	}
	if (*at == '/' && at + 1 < end && at[1] == '/') {
		const char *close = memchr(at, '\n', (size_t)(end - at));

		return close ? close : end;
	}
	return at;
}

void metadata_blank_words(char *text, size_t size)
{
	const char *end = text + size;

	for (char *at = text; at < end; at++) {
		char *past = text + (past_words(at, end) - text);

		if (past == at)
			continue;
		memset(at, ' ', (size_t)(past - at) + (past < end));
		at = past;
	}
}

bool metadata_is_too_deep(const char *text, size_t size)
{
	const char *end = text + size;
	unsigned int depth = 0;

	for (const char *at = text; at < end; at++) {
		at = past_words(at, end);
		if (at == end)
			break;
		if (strchr("{[(<", *at) && *at)
			depth++;
		else if (strchr("}])>", *at) && *at && depth)
			depth--;
		if (depth > DEPTH_MAX)
			return true;
	}
	return false;
}
