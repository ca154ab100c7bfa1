/* SPDX-License-Identifier: MIT */
/* The trace's description in CTF 1.8 TSDL: what babeltrace2 reads to understand the streams. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ctf.h"
#include "event_table.h"
#include "events.h"
#include "version.h"

#define TSDL_UINT(tag, bits) \
	"typealias integer { size = " #bits "; align = 8; signed = false; } := " #tag ";\n"
#define TSDL_HEX(tag, bits)                                                                     \
	"typealias integer { size = " #bits "; align = 8; signed = false; base = x; } := " #tag \
	";\n"
#define TSDL_INT(tag, bits) \
	"typealias integer { size = " #bits "; align = 8; signed = true; } := " #tag ";\n"

/* Numbers with names have an alias each. */
static void write_enum(FILE *f, const struct mg_enum *e, const char *base)
{
	fprintf(f, "typealias enum : %s {", base);
	for (size_t i = 0; i < e->count; i++)
		fprintf(f, "%s\"%s\" = %lld", i ? ", " : " ", e->label[i].name,
			(long long)e->label[i].value);
	fprintf(f, " } := %s;\n", e->name);
}

#define BASE_UINT(bytes)                     "u" BITS_##bytes
#define BASE_HEX(bytes)                      "x" BITS_##bytes
#define BASE_INT(bytes)                      "s" BITS_##bytes
#define BITS_1                               "8"
#define BITS_2                               "16"
#define BITS_4                               "32"
#define WRITE_ENUM(tag, ctype, bytes, class) write_enum(f, &mg_names_##tag, BASE_##class(bytes));

/* Only integers have an alias; text and addresses are arrays of the two byte types below. */
static const char types[] = TSDL_UINT(u8, 8) TSDL_UINT(u16, 16) TSDL_UINT(u32, 32) TSDL_UINT(
	u64, 64) TSDL_HEX(x8, 8) TSDL_HEX(x32, 32) TSDL_HEX(x64, 64) TSDL_INT(s32, 32) TSDL_INT(s64,
	64) "typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := utf8;\n"
	    "typealias integer { size = 64; align = 8; signed = false; map = "
	    "clock.monotonic.value; } "
	    ":= ns_t;\n";

static const char layout[] = "stream {\n"
			     "\tid = 0;\n"
			     "\tpacket.context := struct {\n"
			     "\t\tns_t timestamp_begin;\n"
			     "\t\tns_t timestamp_end;\n"
			     "\t\tu64 content_size;\n"
			     "\t\tu64 packet_size;\n"
			     "\t\tu64 packet_seq_num;\n"
			     "\t\tu64 events_discarded;\n"
			     "\t\ts32 cpu_id;\n"
			     "\t};\n"
			     "\tevent.header := struct { u16 id; ns_t timestamp; };\n"
			     "\tevent.context := struct { u32 tid; u32 pid; };\n"
			     "};\n";

static void write_event(FILE *f, const struct mg_event_desc *e)
{
	static const char *const alias[] = {
		[MG_CLASS_UINT] = "u", [MG_CLASS_HEX] = "x", [MG_CLASS_INT] = "s"};

	fprintf(f, "event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n", e->name, e->id);
	fputs("\tfields := struct {\n", f);
	for (int i = 0; i < e->field_count; i++) {
		const struct mg_field_desc *d = &e->fields[i];

		if (d->class == MG_CLASS_TEXT || d->class == MG_CLASS_BYTES)
			fprintf(f, "\t\t%s _%s[%u];\n", d->class == MG_CLASS_TEXT ? "utf8" : "x8",
				d->name, d->size);
		else if (d->names->count)
			fprintf(f, "\t\t%s _%s;\n", d->names->name, d->name);
		else
			fprintf(f, "\t\t%s%u _%s;\n", alias[d->class], d->size * 8u, d->name);
	}
	fputs("\t};\n};\n", f);
}

/* The events a trace of the domain may hold; losses are recorded in both. */
static bool is_of(const struct mg_event_desc *e, enum ctf_domain domain)
{
	return e->layer == MG_LAYER_TRACER || (e->layer == MG_LAYER_APP) == (domain == CTF_APP);
}

/*
 * No id may be left out: babeltrace2's filter.lttng-utils.debug-info takes the n-th class for the
 * one with id n, and aborts if there is none.
 */
static void write_events(FILE *f, enum ctf_domain domain, unsigned int ids)
{
	const struct mg_event_desc *table;
	bool described[CTF_CHOSEN_ID] = {false};
	size_t count;

	table = mg_event_table(&count);
	for (size_t i = 0; i < count; i++) {
		if (!is_of(&table[i], domain))
			continue;
		write_event(f, &table[i]);
		described[table[i].id] = true;
		if (table[i].id >= ids)
			ids = table[i].id + 1;
	}
	for (unsigned int id = 0; id < ids; id++) {
		char name[16];

		snprintf(name, sizeof(name), "unused_%u", id);
		if (!described[id])
			write_event(f, &(struct mg_event_desc){.name = name, .id = (uint16_t)id});
	}
}

static void read_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(buf, (int)size, f))
		buf[0] = 0;
	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = 0;
}

int random_uuid(char out[37])
{
	read_line("/proc/sys/kernel/random/uuid", out, 37);
	return strlen(out) == 36 ? 0 : -EIO;
}

int ctf_write_metadata(const char *dir, enum ctf_domain domain, const char *uuid, int64_t offset_ns,
	const char *classes, bool other_side)
{
	char path[4096], temporary[4096], boot[37];
	struct utsname u;
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	snprintf(temporary, sizeof(temporary), "%s/.metadata.new", dir);
	/* not through a link that somebody put there, and for its owner alone */
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		return err;
	}
	uname(&u);
	read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	fprintf(f, "/* CTF 1.8 */\n\n");
	/* the clock must stand before the type that maps to it */
	fprintf(f,
		"clock {\n\tname = monotonic;\n\tuuid = \"%s\";\n"
		"\tdescription = \"CLOCK_MONOTONIC\";\n\tfreq = 1000000000;\n"
		"\toffset_s = %lld;\n\toffset = %lld;\n\tabsolute = true;\n};\n",
		boot, (long long)(offset_ns / 1000000000), (long long)(offset_ns % 1000000000));
	fputs(types, f);
	MG_ENUM_TYPES(WRITE_ENUM)
	fprintf(f,
		"trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%s\";\n\tbyte_order = le;\n"
		"\tpacket.header := struct { x32 magic; u8 uuid[16]; u32 stream_id; };\n};\n",
		uuid);
	fprintf(f,
		"env {\n\thostname = \"%s\";\n\tdomain = \"%s\";\n"
		"\ttracer_name = \"%s\";\n\ttracer_version = \"%s\";\n"
		"\ttrace_format = %d;\n"
		"\tsysname = \"%s\";\n\tkernel_release = \"%s\";\n\tkernel_version = "
		"\"%s\";\n%s};\n",
		u.nodename, domain == CTF_APP ? "app" : "kernel",
		domain == CTF_APP ? "libmagnet" : "magnet-kernel-tracer", MAGNET_VERSION,
		MG_TRACE_FORMAT, u.sysname, u.release, u.version,
		!other_side         ? ""
		: domain == CTF_APP ? "\tother_side = \"kernel\";\n"
				    : "\tother_side = \"app\";\n");
	fputs(layout, f);
	write_events(f, domain, classes ? CTF_CHOSEN_ID : 0);
	if (classes)
		fputs(classes, f);
	if (fflush(f) != 0 || ferror(f)) {
		int err = -errno;

		fclose(f);
		unlink(temporary);
		return err ? err : -EIO;
	}
	fclose(f);
	return rename(temporary, path) == 0 ? 0 : -errno;
}
