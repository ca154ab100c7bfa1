/* SPDX-License-Identifier: MIT */

#include "rings/drop_names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "hooks/hook_table.h"

struct symbol {
	uint64_t address;
	char name[32];
};

enum { NOT_ASKED, BEING_READ, READ };

struct drop_names {
	atomic_int state;
	pthread_t reader;
	bool runs;       /* whether the reading thread runs and must be waited for */
	struct btf *btf; /* NULL: the kernel describes no reasons */
	const struct btf_type *reasons;
	FILE *kallsyms;         /* opened before privileges are given up; read at the first drop */
	struct symbol *symbols; /* sorted by address */
	size_t count, room;
};

struct drop_names *drop_names_new(void)
{
	struct drop_names *n = calloc(1, sizeof(*n));

	if (n)
		n->kallsyms = fopen("/proc/kallsyms", "re");
	return n;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void read_symbols(struct drop_names *n)
{
	FILE *f = n->kallsyms;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		char *end;
		uint64_t address = strtoull(line, &end, 16);

		/* parses address, type and name by hand; sscanf() would double the time */
		if (!address || end[0] != ' ' || (end[1] | 32) != 't' || end[2] != ' ')
			continue;
		end[3 + strcspn(end + 3, "\t\n")] = 0;
		if (n->count == n->room) {
			size_t room = n->room ? n->room * 2 : 65536;
			struct symbol *more = realloc(n->symbols, room * sizeof(*more));

			/* an incomplete table would give the name of another function */
			if (!more) {
				n->count = 0;
				break;
			}
			n->symbols = more;
			n->room = room;
		}
		n->symbols[n->count].address = address;
		snprintf(n->symbols[n->count++].name, sizeof(n->symbols->name), "%.31s", end + 3);
	}
	if (f)
		fclose(f);
	n->kallsyms = NULL;
	qsort(n->symbols, n->count, sizeof(*n->symbols), by_address);
}

static void read_reasons(struct drop_names *n)
{
	int id;

	n->btf = btf__load_vmlinux_btf();
	if (libbpf_get_error(n->btf)) {
		n->btf = NULL;
		return;
	}
	id = btf__find_by_name_kind(n->btf, "skb_drop_reason", BTF_KIND_ENUM);
	if (id > 0)
		n->reasons = btf__type_by_id(n->btf, (uint32_t)id);
}

static void *read_all(void *arg)
{
	struct drop_names *n = arg;

	read_symbols(n);
	read_reasons(n);
	n->state = READ;
	return NULL;
}

bool drop_names_ready(struct drop_names *n)
{
	if (n->state == NOT_ASKED) {
		n->state = BEING_READ;
		n->runs = pthread_create(&n->reader, NULL, read_all, n) == 0;
		if (!n->runs)
			read_all(n);
	}
	return n->state == READ;
}

void drop_names_wait(struct drop_names *n)
{
	if (n->runs)
		pthread_join(n->reader, NULL);
	n->runs = false;
}

static void reason_name(const struct drop_names *n, uint32_t reason, char out[32])
{
	static const char prefix[] = "SKB_DROP_REASON_";
	/* reason 0 means not dropped */
	const struct btf_enum *e = n->reasons && reason ? btf_enum(n->reasons) : NULL;

	for (int i = 0; e && i < btf_vlen(n->reasons); i++) {
		const char *name = btf__name_by_offset(n->btf, e[i].name_off);

		if ((uint32_t)e[i].val != reason)
			continue;
		if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
			name += sizeof(prefix) - 1;
		snprintf(out, 32, "%.31s", name);
		return;
	}
	if (reason)
		snprintf(out, 32, "0x%x", reason);
	else
		snprintf(out, 32, "not reported");
}

static void function_name(const struct drop_names *n, uint64_t address, char out[32])
{
	size_t low = 0, high = n->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (n->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		memcpy(out, n->symbols[low - 1].name, 32);
	else
		snprintf(
			out, 32, "not reported"); /* the kernel hides addresses from this process */
}

void drop_names_of(const struct drop_names *n, const struct mg_drop_raw *raw, struct mg_drop *out)
{
	static const struct drop_names none;

	if (n->state != READ)
		n = &none;
	memset(out, 0, sizeof(*out));
	out->sock = raw->sock;
	out->seq = raw->seq;
	out->len = raw->len;
	out->ifindex = raw->ifindex;
	out->segs = raw->segs;
	out->proto = raw->proto;
	out->rx = raw->rx;
	reason_name(n, raw->reason, out->reason);
	function_name(n, raw->location, out->location);
}

void drop_names_free(struct drop_names *n)
{
	if (!n)
		return;
	drop_names_wait(n);
	btf__free(n->btf);
	if (n->kallsyms)
		fclose(n->kallsyms);
	free(n->symbols);
	free(n);
}
