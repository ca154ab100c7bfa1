/* SPDX-License-Identifier: MIT */
#include "filter_options.h"

#include <stdio.h>
#include <string.h>

#include "event_table.h"
#include "log.h"
#include "option_lists.h"
#include "options.h"

/* Calls `add` for each item of a list; it returns false after option_refuse(). */
static bool each(const char *text, void *value, bool (*add)(void *value, const char *item))
{
	char item[OPTION_ITEM_SIZE];

	if (!text[0])
		return add(value, text);
	while (option_item(&text, item))
		if (!add(value, item))
			return false;
	return true;
}

static bool is_full(uint32_t n)
{
	if (n == FILTER_ITEMS)
		option_refuse("at most %d of them", FILTER_ITEMS);
	return n == FILTER_ITEMS;
}

static bool add_process(void *value, const char *item)
{
	struct filter_processes *p = value;
	uint64_t pid = 0;

	if (is_full(p->n))
		return false;
	if (!item[0] ||
		(item[strspn(item, "0123456789")] == 0 && !option_number(item, 1, INT32_MAX, &pid)))
		return option_refuse("numbers of processes or names of their programs, such as "
				     "1234 or nginx");
	p->of[p->n].pid = (uint32_t)pid;
	snprintf(p->of[p->n++].name, sizeof(p->of[0].name), "%s", item);
	return true;
}

static bool add_thread(void *value, const char *item)
{
	struct filter_threads *t = value;
	uint64_t tid;

	if (is_full(t->n))
		return false;
	if (!option_number(item, 1, INT32_MAX, &tid))
		return option_refuse("numbers of threads");
	t->tid[t->n++] = (uint32_t)tid;
	return true;
}

static bool add_port(void *value, const char *item)
{
	struct filter_ports *p = value;

	if (is_full(p->n))
		return false;
	if (!option_port(item, &p->port[p->n]))
		return option_refuse("ports from 1 to 65535");
	p->n++;
	return true;
}

/* Cuts the port off an address, "10.0.0.1:80" or "[fd00::1]:80". Returns false if it is none. */
static bool take_port(char *address, uint16_t *port)
{
	char *end = strrchr(address, ']'), *colon = strrchr(address, ':');

	*port = 0;
	if (address[0] == '[' && end && (!end[1] || end[1] == ':')) {
		bool has = end[1] && option_port(end + 2, port), none = !end[1];

		*end = 0;
		memmove(address, address + 1, strlen(address));
		return has || none;
	}
	if (!colon || strchr(address, ':') != colon)
		return true; /* without a port, an IPv6 address among them */
	*colon = 0;
	return option_port(colon + 1, port);
}

static bool add_peer(void *value, const char *item)
{
	char address[OPTION_ITEM_SIZE];
	struct filter_peers *p = value;

	if (is_full(p->n))
		return false;
	snprintf(address, sizeof(address), "%s", item);
	if (!take_port(address, &p->of[p->n].port) || !option_prefix(address, &p->of[p->n].prefix))
		return option_refuse("addresses or prefixes, with a port if wanted, such as "
				     "10.0.0.7, 10.0.0.0/8, 10.0.0.7:80 or [fd00::1]:80");
	p->n++;
	return true;
}

static bool add_protocol(void *value, const char *item)
{
	uint32_t *kinds = value, more;

	if (!option_protocol(item, &more))
		return option_refuse("protocols of tcp, udp, unix, raw, icmp, netlink and vsock");
	*kinds |= more;
	return true;
}

static bool add_direction(void *value, const char *item)
{
	uint32_t *directions = value;

	if (strcmp(item, "sent") != 0 && strcmp(item, "received") != 0)
		return option_refuse("sent or received");
	*directions |= 1u << (item[0] == 'r');
	return true;
}

static bool refuse_event(const char *item)
{
	char names[3000] = "";
	size_t count, used = 0;
	const struct mg_event_desc *all = mg_event_table(&count);

	for (size_t i = 0; i < count && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, " %s", all[i].name);
	return option_refuse("events, of which there is no %.64s: category:name for one chosen "
			     "with magnet record --event, or of%s",
		item, names);
}

static bool add_event(void *value, const char *item)
{
	const struct mg_event_desc *d = mg_event_by_name(item);
	struct filter_events *w = value;

	if (d) {
		w->id[d->id / 64] |= 1ull << (d->id % 64);
	} else if (strchr(item, ':') && strlen(item) < sizeof(w->name[0])) {
		if (is_full(w->names))
			return false;
		snprintf(w->name[w->names++], sizeof(w->name[0]), "%s", item);
	} else {
		return refuse_event(item);
	}
	w->n++;
	return true;
}

#define LAYER_NAME(NAME, name) " " #name
static bool add_layer(void *value, const char *item)
{
	uint32_t *layers = value;

	for (int i = 0; i < MG_LAYER_END; i++)
		if (strcmp(mg_layer_names[i], item) == 0) {
			*layers |= 1u << i;
			return true;
		}
	return option_refuse("layers of" MG_LAYERS(LAYER_NAME));
}

#define LIST(name, add)                                                                       \
	static bool parse_##name(const struct option_row *row, const char *text, void *value) \
	{                                                                                     \
		(void)row;                                                                    \
		return each(text, value, add);                                                \
	}                                                                                     \
	const struct option_type option_type_filter_##name = {parse_##name, NULL, false};

LIST(processes, add_process)
LIST(threads, add_thread)
LIST(ports, add_port)
LIST(peers, add_peer)
LIST(protocols, add_protocol)
LIST(directions, add_direction)
LIST(events, add_event)
LIST(layers, add_layer)

static bool parse_filter_time(const struct option_row *row, const char *text, void *value)
{
	return option_time(text, row->min, row->max, value);
}

const struct option_type option_type_filter_time = {parse_filter_time, NULL, false};

bool filter_is_valid(const struct filter *f)
{
	if (!f->to_ns || f->from_ns < f->to_ns)
		return true;
	mg_error("--from is not before --to");
	return false;
}
