/* SPDX-License-Identifier: MIT */
/* Prints the manual page magnet-events(5) from the event table. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "event_table.h"
#include "events.h"
#include "ring.h"

static const char head[] =
	".\\\" SPDX-License-Identifier: MIT\n"
	".\\\" Made by gen_events.c from common/events.h: do not edit.\n"
	".Dd November 21, 2026\n"
	".Dt MAGNET-EVENTS 5\n"
	".Os\n"
	".Sh NAME\n"
	".Nm magnet-events\n"
	".Nd the events magnet records, and their fields\n"
	".Sh DESCRIPTION\n"
	"A recording holds up to two traces in the Common Trace Format, CTF 1.8:\n"
	"one written by\n"
	".Xr magnet-kernel-tracer 8 ,\n"
	"one of the application side, by\n"
	".Xr magnet-record 1\n"
	"or by LTTng, see\n"
	".Xr libmagnet 7 .\n"
	"Both count time in nanoseconds of\n"
	".Dv CLOCK_MONOTONIC .\n"
	"This page lists every event and field of both.\n"
	".Pp\n"
	"Each kernel event has a header with its number\n"
	".Pq unsigned, 2 bytes\n"
	"and its time\n"
	".Pq unsigned, 8 bytes ,\n"
	"and a context with\n"
	".Va tid\n"
	"and\n"
	".Va pid ,\n"
	"the thread and the process that ran on the CPU\n"
	".Pq unsigned, 4 bytes each .\n"
	"In a softirq that is what it interrupted, not the thread the event is about.\n"
	"The CPU is\n"
	".Va cpu_id\n"
	"of the packet.\n"
	"The fields follow without padding, in the order given here, little-endian.\n"
	".Pp\n"
	"Sizes and lengths are bytes unless it says otherwise.\n"
	"A name that ends in\n"
	".Sq _ns\n"
	"is a\n"
	".Dv CLOCK_MONOTONIC\n"
	"time.\n"
	"Sequence numbers are TCP's, 32 bits, in host order.\n"
	"A socket cookie identifies a socket as long as the machine is up; 0 means none.\n"
	"Addresses are IPv6, in network order;\n"
	"an IPv4 address a.b.c.d stands as ::ffff:a.b.c.d.\n"
	"Texts are UTF-8, padded with zero bytes.\n"
	"No event holds any of the bytes that were sent or received.\n";

static const char tail[] = ".Sh SEE ALSO\n"
			   ".Xr babeltrace2 1 ,\n"
			   ".Xr magnet-show 1 ,\n"
			   ".Xr libmagnet 7 ,\n"
			   ".Xr magnet-kernel-tracer 8\n";

/* Text as mdoc takes it: no macro at the start of a line, a minus that stays a minus. */
static void text(const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", stdout);
	for (; *s; s++) {
		if (*s == '\\')
			fputs("\\e", stdout);
		else if (*s == '-' && isdigit((unsigned char)s[1]))
			fputs("\\-", stdout);
		else
			putchar(*s);
	}
}

static void fields(const struct mg_event_desc *d)
{
	static const char *const classes[] = {
		[MG_CLASS_UINT] = "unsigned",
		[MG_CLASS_HEX] = "unsigned, shown in hexadecimal",
		[MG_CLASS_INT] = "signed",
		[MG_CLASS_TEXT] = "text",
		[MG_CLASS_BYTES] = "address",
	};

	printf(".Bl -tag -width Ds -compact\n");
	for (int i = 0; i < d->field_count; i++) {
		const struct mg_field_desc *f = &d->fields[i];

		printf(".It Va %s No \\&(%s, %d byte%s)\n", f->name, classes[f->class], f->size,
			f->size == 1 ? "" : "s");
		text(f->doc);
		if (f->names->count)
			printf(" (see\n.Sy %s\nbelow)", f->names->name);
		putchar('\n');
	}
	printf(".El\n");
}

/* Events may share their fields: then they are printed with the first of them. */
static void event(const struct mg_event_desc *table, const struct mg_event_desc *d)
{
	const struct mg_event_desc *first = table;

	while (first->fields != d->fields)
		first++;
	printf(".It Sy %s\n", d->name);
	text(d->doc);
	printf("\n.br\nNumber %u, layer %s, %u bytes.\n", d->id, mg_layer_names[d->layer], d->size);
	if (first != d)
		printf("The fields are those of\n.Sy %s .\n", first->name);
	else
		fields(d);
}

static int group(const struct mg_event_desc *d)
{
	return d->layer == MG_LAYER_APP ? 2 : d->layer == MG_LAYER_TRACER ? 1 : 0;
}

static void kernel_events(int of_group)
{
	const struct mg_event_desc *table;
	size_t count;

	table = mg_event_table(&count);
	printf(".Bl -tag -width Ds\n");
	for (size_t i = 0; i < count; i++)
		if (group(&table[i]) == of_group)
			event(table, &table[i]);
	printf(".El\n");
}

/* One event a wrapped call, all with the same fields. */
static void app_events(void)
{
	const struct mg_event_desc *table, *last = NULL;
	size_t count;

	table = mg_event_table(&count);
	printf(".Bl -tag -width magnet:shutdown -compact\n");
	for (size_t i = 0; i < count; i++) {
		if (group(&table[i]) != 2)
			continue;
		last = &table[i];
		printf(".It Sy %s\n", last->name);
		text(last->doc);
		putchar('\n');
	}
	printf(".El\n.Pp\nThe fields of each:\n");
	if (last)
		fields(last);
}

static void numbers(const struct mg_enum *e)
{
	printf(".It Sy %s\n", e->name);
	for (size_t i = 0; i < e->count; i++) {
		printf("%s%s", i ? ",\n" : "", e->label[i].value < 0 ? "\\" : "");
		if (e == &mg_names_e_option && e->label[i].value)
			printf("%lld/%lld", (long long)e->label[i].value >> 16,
				(long long)e->label[i].value & 0xffff);
		else
			printf("%lld", (long long)e->label[i].value);
		printf(" %s", e->label[i].name);
	}
	printf(".\n");
}

#define NUMBERS(tag, ctype, bytes, class) numbers(&mg_names_##tag);

int main(void)
{
	fputs(head, stdout);
	printf(".Ss Kernel events\n"
	       "One stream a CPU.\n"
	       "Events of the layer sched are recorded for traced threads,\n"
	       "those of the other layers for their TCP sockets;\n"
	       "the layer syscall has the calls on UDP and raw sockets too.\n");
	kernel_events(0);
	printf(".Ss Events of the tracer itself\n"
	       "In a stream of their own; a\n"
	       ".Sy lost\n"
	       "event stands in the stream of the CPU that lost, at the gap,\n"
	       "if the CPU is known.\n");
	kernel_events(1);
	printf(".Ss Application events\n"
	       "Written when the call has returned, so the time of the event is that of the "
	       "end.\n");
	app_events();
	printf(".Ss Numbers with names\n"
	       "The metadata has each of these as an enumeration of that name, so that\n"
	       ".Nm magnet show ,\n"
	       "babeltrace2, and other readers of CTF print the names;\n"
	       "a number without a name is printed as a number.\n"
	       "Kinds below %u are not traced.\n"
	       "Socket options are given by level and name.\n"
	       ".Bl -tag -width Ds\n",
		MG_KIND_tcp);
	MG_ENUM_TYPES(NUMBERS)
	printf(".El\n");
	fputs(tail, stdout);
	return fflush(stdout) != 0 || ferror(stdout);
}
