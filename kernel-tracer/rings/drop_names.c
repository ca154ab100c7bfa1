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
#include "rings/kernel_symbols.h"

enum { NOT_ASKED, BEING_READ, READ };

struct drop_names {
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
	n->functions = kernel_symbols_open();
	if (!n->functions) {
		free(n);
		return NULL;
	}
	return n;
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
	const char *name = n->functions ? kernel_symbol(n->functions, address, NULL) : NULL;

	/* without a name the kernel hides addresses from this process */
	snprintf(out, 32, "%.31s", name ? name : "not reported");
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
	kernel_symbols_free(n->functions);
	free(n);
}
