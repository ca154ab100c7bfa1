/* SPDX-License-Identifier: MIT */
#include "filter/text.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "event_table.h"
#include "options.h"

struct text {
	char *out;
	size_t size, used;
	const char *option; /* whose values are written; NULL: before the first value */
};

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->out + t->used, t->size - t->used, fmt, ap);
	va_end(ap);
	t->used = (size_t)n < t->size - t->used ? t->used + (size_t)n : t->size - 1;
}

/* Begins another value of an option: names the option before the first one. */
static void value_of(struct text *t, const char *option)
{
	if (t->option && strcmp(t->option, option) == 0)
		put(t, ",");
	else
		put(t, "%s--%s ", t->used ? " " : "", option);
	t->option = option;
}

static int bits_of(const struct mg_prefix *p)
{
	int bits = 0;

	for (int i = 0; i < 4; i++)
		bits += __builtin_popcount(p->mask[i]);
	return bits;
}

static void put_peer(struct text *t, const struct mg_prefix *p, uint16_t port)
{
	bool is_v4 = !p->addr[0] && !p->addr[1] && p->addr[2] == htonl(0xffff) && bits_of(p) >= 96;
	char addr[INET6_ADDRSTRLEN];
	int bits = bits_of(p) - (is_v4 ? 96 : 0), all = is_v4 ? 32 : 128;

	inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? &p->addr[3] : p->addr, addr, sizeof(addr));
	put(t, port && !is_v4 ? "[%s]" : "%s", addr);
	if (bits < all)
		put(t, "/%d", bits);
	if (port)
		put(t, ":%u", port);
}

static void put_time(struct text *t, const char *option, uint64_t ns)
{
	char time[24];

	if (!ns)
		return;
	value_of(t, option);
	put(t, "%s", option_time_text(time, ns));
}

static void put_events(struct text *t, const struct filter_events *w)
{
	size_t count;
	const struct mg_event_desc *all = mg_event_table(&count);

	for (size_t i = 0; i < count; i++)
		if (w->id[all[i].id / 64] >> (all[i].id % 64) & 1) {
			value_of(t, "event");
			put(t, "%s", all[i].name);
		}
	for (uint32_t i = 0; i < w->names; i++) {
		value_of(t, "event");
		put(t, "%s", w->name[i]);
	}
}

void filter_text(const struct filter *f, char *out, size_t size)
{
	struct text t = {.out = out, .size = size};

	out[0] = 0;
	for (uint32_t i = 0; i < f->process.n; i++) {
		value_of(&t, "process");
		if (f->process.of[i].pid)
			put(&t, "%u", f->process.of[i].pid);
		else
			put(&t, "%s", f->process.of[i].name);
	}
	for (uint32_t i = 0; i < f->thread.n; i++) {
		value_of(&t, "thread");
		put(&t, "%u", f->thread.tid[i]);
	}
	for (uint32_t i = 0; i < f->port.n; i++) {
		value_of(&t, "port");
		put(&t, "%u", f->port.port[i]);
	}
	for (uint32_t i = 0; i < f->peer.n; i++) {
		value_of(&t, "peer");
		put_peer(&t, &f->peer.of[i].prefix, f->peer.of[i].port);
	}
	for (unsigned int k = 0; k < MG_KIND_END; k++)
		if (f->kinds >> k & 1) {
			value_of(&t, "protocol");
			put(&t, "%s", mg_kind_name(k));
		}
	for (unsigned int rx = 0; rx < 2; rx++)
		if (f->directions >> rx & 1) {
			value_of(&t, "direction");
			put(&t, "%s", rx ? "received" : "sent");
		}
	for (unsigned int i = 0; i < MG_LAYER_END; i++)
		if (f->layers >> i & 1) {
			value_of(&t, "layer");
			put(&t, "%s", mg_layer_names[i]);
		}
	put_events(&t, &f->event);
	put_time(&t, "from", f->from_ns);
	put_time(&t, "to", f->to_ns);
}
