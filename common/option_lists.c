/* SPDX-License-Identifier: MIT */
#include "option_lists.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <net/if.h>
#include <string.h>

#include "alloc.h"
#include "event_spec.h"
#include "event_table.h"
#include "options.h"

bool option_item(const char **at, char item[OPTION_ITEM_SIZE])
{
	size_t all = strcspn(*at, ","), n = all;

	if (!**at)
		return false;
	if (n >= OPTION_ITEM_SIZE)
		n = OPTION_ITEM_SIZE - 1;
	memcpy(item, *at, n);
	item[n] = 0;
	*at += all + ((*at)[all] == ',');
	return true;
}

/* ---- items ---- */

bool option_protocol(const char *item, uint32_t *kinds)
{
	for (unsigned int k = MG_KIND_tcp; k < MG_KIND_END; k++)
		if (strcmp(mg_kind_name(k), item) == 0) {
			*kinds = 1u << k;
			return true;
		}
	if (strcmp(item, "unix") == 0)
		*kinds = 1u << MG_KIND_unix_stream | 1u << MG_KIND_unix_dgram |
			 1u << MG_KIND_unix_seqpacket;
	else if (strcmp(item, "icmp") == 0)
		*kinds = 1u << MG_KIND_raw;
	else
		return option_refuse(
			"protocols of tcp, udp, unix, raw, icmp, netlink and vsock, or any");
	return true;
}

bool option_port(const char *item, uint16_t *port)
{
	uint64_t n;

	if (!option_number(item, 1, UINT16_MAX, &n))
		return option_refuse("ports from 1 to 65535, or any");
	*port = (uint16_t)n;
	return true;
}

bool option_prefix(const char *item, struct mg_prefix *p)
{
	char text[OPTION_ITEM_SIZE], *slash;
	uint64_t bits = 128;
	struct in_addr v4;
	bool valid;

	snprintf(text, sizeof(text), "%s", item);
	slash = strchr(text, '/');
	if (slash)
		*slash = 0;
	memset(p, 0, sizeof(*p));
	if (inet_pton(AF_INET, text, &v4) == 1) {
		valid = !slash || option_number(slash + 1, 0, 32, &bits);
		bits = slash ? bits + 96 : 128;
		p->addr[2] = htonl(0xffff);
		p->addr[3] = v4.s_addr;
	} else {
		valid = inet_pton(AF_INET6, text, p->addr) == 1 &&
			(!slash || option_number(slash + 1, 0, 128, &bits));
	}
	if (!valid)
		return option_refuse(
			"addresses or prefixes, such as 10.0.0.0/8 or fd00::/8, or any");
	for (unsigned int i = 0; i < bits; i++)
		p->mask[i / 32] |= htonl(1u << (31 - i % 32));
	for (int i = 0; i < 4; i++)
		p->addr[i] &= p->mask[i];
	return true;
}

bool option_sample(const char *text, uint32_t *n)
{
	uint64_t value;

	if (!option_number(text, 1, UINT32_MAX, &value))
		return option_refuse("a whole number from 1 to %" PRIu32 ", or any", UINT32_MAX);
	*n = (uint32_t)value;
	return true;
}

bool option_interface(const char *text)
{
	return (text[0] && strlen(text) < IFNAMSIZ && !strchr(text, ',')) ||
	       option_refuse(
		       "the name of an interface, of at most %d characters, or any", IFNAMSIZ - 1);
}

#define IN_LIST(name) " " #name

bool option_hook_kind(const char *item, unsigned int *kind)
{
#define NAME(name) #name,
	static const char *const names[OPTION_HOOKS] = {OPTION_HOOK_KINDS(NAME)};
#undef NAME

	for (*kind = 0; *kind < OPTION_HOOKS; ++*kind)
		if (strcmp(names[*kind], item) == 0)
			return true;
	return option_refuse("kinds of hooks, separated by commas:" OPTION_HOOK_KINDS(IN_LIST));
}

bool option_trigger(const char *text, struct option_trigger *t)
{
	const char *time = text + strlen("latency>");
	char unit = text[0] ? text[strlen(text) - 1] : 0;

	option_refuse("retransmission, lost, or latency>TIME with us, ms or s, such as "
		      "latency>100ms; latency=TIME is the same");
	if (strcmp(text, "retransmission") == 0)
		return t->retransmission = true;
	if (strcmp(text, "lost") == 0)
		return t->lost = true;
	if (strncmp(text, "latency", 7) != 0 || (text[7] != '>' && text[7] != '='))
		return false;
	if (unit != 's' || !option_time(time, 1000, 1000000000000000, &t->latency_ns))
		return option_refuse("latency> and a time of 1us to 1000000s, with its unit");
	return true;
}

/* ---- types ---- */

static bool is_any(const char *text)
{
	return strcmp(text, "any") == 0;
}

/* Returns how many items all texts of the list have since the last "any". */
static size_t items(const struct option_list *l)
{
	char item[OPTION_ITEM_SIZE];
	size_t n = 0;

	for (size_t i = 0; i < l->count; i++) {
		const char *at = l->text[i];

		for (n = is_any(at) ? 0 : n; !is_any(l->text[i]) && option_item(&at, item);)
			n++;
	}
	return n;
}

/* Adds a text to the option's list if each of its items is one. */
static bool add(const struct option_row *row, const char *text, void *value,
	bool (*is_item)(const char *item))
{
	struct option_list *l = value;
	char item[OPTION_ITEM_SIZE];
	const char *at = text;
	size_t n = is_any(text) ? 0 : items(l);

	if (!text[0])
		return is_item(text);
	while (!is_any(text) && option_item(&at, item)) {
		if (!is_item(item))
			return false;
		if (row->max && ++n > row->max)
			return option_refuse("at most %" PRIu64 " of them", row->max);
	}
	return option_list_add(l, text);
}

#define LIST(name, is_item)                                                                   \
	static bool parse_##name(const struct option_row *row, const char *text, void *value) \
	{                                                                                     \
		return add(row, text, value, is_item);                                        \
	}                                                                                     \
	const struct option_type option_type_##name = {parse_##name, NULL, true};

static bool is_protocol(const char *item)
{
	return option_protocol(item, &(uint32_t){0});
}

static bool is_port(const char *item)
{
	return option_port(item, &(uint16_t){0});
}

static bool is_prefix(const char *item)
{
	return option_prefix(item, &(struct mg_prefix){.addr = {0}});
}

static bool is_hook_kind(const char *item)
{
	return option_hook_kind(item, &(unsigned int){0});
}

LIST(protocols, is_protocol)
LIST(ports, is_port)
LIST(prefixes, is_prefix)
LIST(hook_kinds, is_hook_kind)

static bool parse_sample(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	return (is_any(text) || option_sample(text, &(uint32_t){0})) &&
	       option_list_add(value, text);
}

static bool parse_interface(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	return option_interface(text) && option_list_add(value, text);
}

static bool parse_triggers(const struct option_row *row, const char *text, void *value)
{
	(void)row;
	return option_trigger(text, &(struct option_trigger){0}) && option_list_add(value, text);
}

/* Whether there is such a tracepoint is found out later. */
static bool parse_events(const struct option_row *row, const char *text, void *value)
{
	struct event_spec s;
	const char *wrong = spec_parse(text, &s);

	(void)row;
	if (wrong)
		return option_refuse("CATEGORY:NAME[/FILTER/][:FIELD,...]: %s", wrong);
	spec_free(&s);
	return option_list_add(value, text);
}

const struct option_type option_type_sample = {parse_sample, NULL, true};
const struct option_type option_type_interface = {parse_interface, NULL, true};
const struct option_type option_type_triggers = {parse_triggers, NULL, true};
const struct option_type option_type_events = {parse_events, NULL, true};
