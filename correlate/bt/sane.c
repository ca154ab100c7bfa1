/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "sane.h"

#include <ctype.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "packets.h"
#include "plain_file.h"
#include "read/metadata.h"

#define INDEX_MAGIC 0xC1F1DCC1u
#define INDEX_ENTRY 72 /* bytes in version 1.1; older versions share only the beginning */

struct index_head {
	uint32_t magic, major, minor, entry_size;
};
struct index_entry {
	uint64_t offset, packet_size, content_size; /* offset in bytes, sizes in bits */
};

static bool index_is_sane(FILE *f, uint64_t stream_size)
{
	struct index_head h;
	char bytes[INDEX_ENTRY];

	if (fread(&h, sizeof(h), 1, f) != 1 || be32toh(h.magic) != INDEX_MAGIC)
		return true; /* the index is not used then */
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

static FILE *open_file(const char *path, uint64_t *size)
{
	int fd = plain_file_open(path, size);
	FILE *f = fd < 0 ? NULL : mg_checked(fdopen(fd, "r"));

	if (fd >= 0 && !f)
		close(fd);
	return f;
}

static bool streams_are_sane(
	const char *dir, const struct packet_layout *layout, char *why, size_t why_size)
{
	char path[PATH_MAX];
	struct dirent *e;
	bool sane = true;
	DIR *d = mg_checked(opendir(dir));

	while (d && sane && (e = readdir(d))) {
		uint64_t size = 0, at;
		FILE *f;

		if (e->d_name[0] == '.' || strcmp(e->d_name, "metadata") == 0)
			continue;
		snprintf(path, sizeof(path), "%.3000s/%s", dir, e->d_name);
		f = open_file(path, &size);
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

/* Checks the indexes: DIR/index/NAME.idx describes DIR/NAME. */
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
		uint64_t size = 0, index_size;
		struct stat st;
		FILE *f;

		if (len < 5 || strcmp(e->d_name + len - 4, ".idx") != 0)
			continue;
		snprintf(path, sizeof(path), "%.3000s/%.*s", dir, (int)len - 4, e->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			size = (uint64_t)st.st_size;
		snprintf(path, sizeof(path), "%.3000s/index/%s", dir, e->d_name);
		f = open_file(path, &index_size);
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

/* Returns whether the whole word at `at` is this one, and not part of a longer word. */
static bool is_word(const char *text, const char *at, size_t length)
{
	return (at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
	       !(isalnum((unsigned char)at[length]) || at[length] == '_');
}

/* Returns whether the block sets `freq` to a number above 0. Comments are blanked out by now. */
static bool has_rate(const char *block)
{
	const char *end = strchr(block, '}');

	for (const char *at = strstr(block, "freq"); at && end && at < end;
		at = strstr(at + 1, "freq")) {
		const char *value = at + 4 + strspn(at + 4, " \t\n");

		if (is_word(block, at, 4) && *value == '=')
			return strtoull(value + 1, NULL, 0) > 0;
	}
	return false;
}

/* Checks that each clock has a rate, as babeltrace2 divides by it. */
static bool clocks_are_sane(const char *text)
{
	for (const char *at = strstr(text, "clock"); at; at = strstr(at + 1, "clock")) {
		const char *block = at + 5 + strspn(at + 5, " \t\n");

		if (*block == '{' && is_word(text, at, 5) && !has_rate(block))
			return false;
	}
	return true;
}

bool trace_is_sane(const char *dir, char *why, size_t why_size)
{
	struct packet_layout layout;
	size_t size = 0;
	bool sane;
	char *text;

	errno = 0;
	text = metadata_text(dir, &size, why, why_size);
	if (!text)
		return errno == ENOENT; /* opening it later reports the reason */
	layout = packet_layout_of(text);
	sane = !memchr(text, 0, size);
	metadata_blank_words(text, size);
	if (!sane)
		snprintf(why, why_size, "%.700s/metadata: it is no text", dir);
	if (sane && !clocks_are_sane(text)) {
		snprintf(why, why_size, "%.700s/metadata: a clock in it has no rate", dir);
		sane = false;
	}
	free(text);
	return sane && streams_are_sane(dir, &layout, why, why_size) &&
	       indexes_are_sane(dir, why, why_size);
}
