/* SPDX-License-Identifier: MIT */

#include "rings/drop_names.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "hooks/hook_table.h"
#include "ring.h"
#include "rings/kernel_symbols.h"

enum { NOT_ASKED, BEING_READ, READ };

/* An answer of the program. */
struct told {
	uint64_t place;
	uint32_t reason;
	struct mg_drop_words words;
};

struct drop_names {
	int program, map; /* negative: it cannot be asked */
	struct told *told;
	size_t told_count, told_room;
	atomic_int state;
	pthread_t reader;
	bool runs;       /* whether the reading thread runs and must be waited for */
	struct btf *btf; /* NULL: the kernel describes no reasons */
	const struct btf_type *reasons;
	struct kernel_symbols *functions; /* read at the first drop */
};

struct drop_names *drop_names_new(void)
{
	struct drop_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->program = n->map = -1;
	n->functions = kernel_symbols_open();
	if (!n->functions) {
		free(n);
		return NULL;
	}
	return n;
}

void drop_names_ask(struct drop_names *n, int program, int map)
{
	n->program = program;
	n->map = map;
}

static const struct told *find_told(const struct drop_names *n, const struct mg_drop_raw *raw)
{
	for (size_t i = 0; i < n->told_count; i++)
		if (n->told[i].place == raw->location && n->told[i].reason == raw->reason)
			return &n->told[i];
	return NULL;
}

/* Asks for the names of a drop. Returns whether they are known now. */
static bool ask(struct drop_names *n, const struct mg_drop_raw *raw)
{
	uint64_t arguments[] = {raw->location, raw->reason};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = arguments, .ctx_size_in = sizeof(arguments));
	struct told *t;
	uint32_t zero = 0;

	if (n->told_count == n->told_room) {
		size_t room = n->told_room ? 2 * n->told_room : 16;
		struct told *more = realloc(n->told, room * sizeof(*more));

		if (!more)
			return false;
		n->told = more;
		n->told_room = room;
	}
	t = &n->told[n->told_count];
	if (bpf_prog_test_run_opts(n->program, &opts) || !opts.retval ||
		bpf_map_lookup_elem(n->map, &zero, &t->words))
		return false;
	t->place = raw->location;
	t->reason = raw->reason;
	n->told_count++;
	return true;
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

	kernel_symbols_read(n->functions);
	read_reasons(n);
	n->state = READ;
	return NULL;
}

bool drop_names_ready(struct drop_names *n, const struct mg_drop_raw *raw)
{
	if (find_told(n, raw))
		return true;
	if (n->program >= 0 && n->map >= 0) {
		if (ask(n, raw))
			return true;
		n->program = -1; /* nor will it be able to later */
	}
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

/* Returns the kernel's name of a reason, NULL if it has none. */
static const char *reason_word(const struct drop_names *n, uint32_t reason)
{
	const struct btf_enum *e = n->reasons ? btf_enum(n->reasons) : NULL;

	for (int i = 0; e && i < btf_vlen(n->reasons); i++)
		if ((uint32_t)e[i].val == reason)
			return btf__name_by_offset(n->btf, e[i].name_off);
	return NULL;
}

/* `word` is the kernel's name, or NULL, or begins with a digit. */
static void reason_name(const char *word, uint32_t reason, char out[32])
{
	static const char prefix[] = "SKB_DROP_REASON_";

	if (!reason) { /* not dropped, or the kernel does not say why */
		snprintf(out, 32, "not reported");
	} else if (word && *word && !isdigit((unsigned char)*word)) {
		if (strncmp(word, prefix, sizeof(prefix) - 1) == 0)
			word += sizeof(prefix) - 1;
		snprintf(out, 32, "%.31s", word);
	} else {
		snprintf(out, 32, "0x%x", reason);
	}
}

/* `word` is the function's name, perhaps with its module behind it, or NULL, or a number. */
static void function_name(const char *word, char out[32])
{
	/* without a name the kernel hides addresses from this process */
	if (word && *word && !isdigit((unsigned char)*word))
		snprintf(out, 32, "%.*s", (int)strcspn(word, " "), word);
	else
		snprintf(out, 32, "not reported");
}

void drop_names_of(const struct drop_names *n, const struct mg_drop_raw *raw, struct mg_drop *out)
{
	const struct told *t = find_told(n, raw);
	bool is_read = n->state == READ;

	memset(out, 0, sizeof(*out));
	out->sock = raw->sock;
	out->seq = raw->seq;
	out->len = raw->len;
	out->ifindex = raw->ifindex;
	out->segs = raw->segs;
	out->proto = raw->proto;
	out->rx = raw->rx;
	reason_name(t         ? t->words.reason
		    : is_read ? reason_word(n, raw->reason)
			      : NULL,
		raw->reason, out->reason);
	function_name(t         ? t->words.place
		      : is_read ? kernel_symbol(n->functions, raw->location, NULL)
				: NULL,
		out->location);
}

void drop_names_free(struct drop_names *n)
{
	if (!n)
		return;
	drop_names_wait(n);
	free(n->told);
	btf__free(n->btf);
	kernel_symbols_free(n->functions);
	free(n);
}
