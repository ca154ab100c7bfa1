/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "sane.h"

#include <dirent.h>
#include <endian.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "alloc.h"
#include "packets.h"

#define METADATA_MAX   (16u << 20)
#define METADATA_MAGIC 0x75D11D57u
#define INDEX_MAGIC    0xC1F1DCC1u
#define INDEX_ENTRY    72 /* bytes, version 1.1; older ones have no more than the same beginning */

struct metadata_packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum, content_size, packet_size; /* bits */
	uint8_t compression, encryption, checksum_scheme, major, minor;
} __attribute__((packed));

struct index_head {
	uint32_t magic, major, minor, entry_size;
};
struct index_entry {
	uint64_t offset, packet_size, content_size; /* the offset in bytes, sizes in bits */
};

static uint64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Packets must follow each other to the end. Metadata may also be plain text: then there are none.
 */
static bool metadata_is_sane(FILE *f, uint64_t size)
{
	struct metadata_packet p;
	uint64_t at = 0;

	while (at < size) {
		if (fseeko(f, (off_t)at, SEEK_SET) != 0 || fread(&p, sizeof(p), 1, f) != 1)
			return at == 0;
		if (le32toh(p.magic) != METADATA_MAGIC)
			return at == 0;
		if (le32toh(p.content_size) < 8 * sizeof(p) || le32toh(p.packet_size) % 8 ||
			le32toh(p.packet_size) < le32toh(p.content_size))
			return false;
		at += le32toh(p.packet_size) / 8;
	}
	return at == size;
}

static bool index_is_sane(FILE *f, uint64_t stream_size)
{
	struct index_head h;
	char bytes[INDEX_ENTRY];

	if (fread(&h, sizeof(h), 1, f) != 1 || be32toh(h.magic) != INDEX_MAGIC)
		return true; /* not used then */
	if (be32toh(h.entry_size) < sizeof(struct index_entry) ||
		be32toh(h.entry_size) > sizeof(bytes))
		return false;
	while (fread(bytes, be32toh(h.entry_size), 1, f) == 1) {
		struct index_entry e;
		uint64_t length;

		memcpy(&e, bytes, sizeof(e));
		length = be64toh(e.packet_size) / 8;
		if (be64toh(e.content_size) > be64toh(e.packet_size) || length > stream_size ||
			be64toh(e.offset) > stream_size - length)
			return false;
	}
	return true;
}

/* The text, without the packets it may come in; NULL if it cannot be had. */
static char *metadata_text(FILE *f, uint64_t size)
{
	char *text = size < METADATA_MAX ? mg_malloc(size + 1) : NULL;
	struct metadata_packet p;
	uint64_t at = 0, used = 0;

	if (!text)
		return NULL;
	while (at < size && fseeko(f, (off_t)at, SEEK_SET) == 0) {
		bool packet = fread(&p, sizeof(p), 1, f) == 1 && le32toh(p.magic) == METADATA_MAGIC;
		uint64_t length = packet ? le32toh(p.content_size) / 8 - sizeof(p) : size;

		if (!packet && (at || fseeko(f, 0, SEEK_SET) != 0))
			break;
		used += fread(text + used, 1, length < size - used ? length : size - used, f);
		if (!packet)
			break;
		at += le32toh(p.packet_size) / 8;
	}
	text[used] = 0;
	return text;
}

static bool streams_are_sane(
	const char *dir, const struct packet_layout *layout, char *why, size_t why_size)
{
	char path[PATH_MAX];
	struct dirent *e;
	bool sane = true;
	DIR *d = mg_checked(opendir(dir));

	while (d && sane && (e = readdir(d))) {
		uint64_t size, at;
		FILE *f;

		snprintf(path, sizeof(path), "%.3000s/%s", dir, e->d_name);
		size = file_size(path);
		if (!size || e->d_name[0] == '.' || strcmp(e->d_name, "metadata") == 0)
			continue;
		f = mg_checked(fopen(path, "re"));
		if (!f)
			continue;
		sane = packets_are_sane(f, size, layout, &at);
		fclose(f);
		if (!sane)
			snprintf(why, why_size, "%s is damaged at byte %" PRIu64, path, at);
	}
	if (d)
		closedir(d);
	return sane;
}

/* DIR/index/NAME.idx belongs to DIR/NAME. */
static bool indexes_are_sane(const char *dir, char *why, size_t why_size)
{
	char path[PATH_MAX];
	struct dirent *e;
	bool sane = true;
	DIR *d;

	snprintf(path, sizeof(path), "%.3000s/index", dir);
	d = mg_checked(opendir(path));
	while (d && sane && (e = readdir(d))) {
		size_t len = strlen(e->d_name);
		uint64_t size;
		FILE *f;

		if (len < 5 || strcmp(e->d_name + len - 4, ".idx") != 0)
			continue;
		snprintf(path, sizeof(path), "%.3000s/%.*s", dir, (int)len - 4, e->d_name);
		size = file_size(path);
		snprintf(path, sizeof(path), "%.3000s/index/%s", dir, e->d_name);
		f = mg_checked(fopen(path, "re"));
		if (!f)
			continue;
		sane = index_is_sane(f, size);
		fclose(f);
		if (!sane)
			snprintf(why, why_size, "%s is damaged", path);
	}
	if (d)
		closedir(d);
	return sane;
}

bool trace_is_sane(const char *dir, char *why, size_t why_size)
{
	struct packet_layout layout = {0};
	char path[PATH_MAX], *text;
	bool sane;
	FILE *f;

	snprintf(path, sizeof(path), "%.3000s/metadata", dir);
	f = mg_checked(fopen(path, "re"));
	if (!f)
		return true; /* whoever opens it will say why not */
	sane = metadata_is_sane(f, file_size(path));
	text = sane ? metadata_text(f, file_size(path)) : NULL;
	fclose(f);
	if (!sane) {
		snprintf(why, why_size, "%s is damaged or cut off", path);
		return false;
	}
	if (text)
		layout = packet_layout_of(text);
	free(text);
	return streams_are_sane(dir, &layout, why, why_size) &&
	       indexes_are_sane(dir, why, why_size);
}
