/* SPDX-License-Identifier: MIT */
#include "enums.h"

#include "names.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* From the three forms of rows that lists have. */
#define BARE(value, name, ...)        {value, #name},
#define QUOTED(value, name)           {value, name},
#define NAMED(value, NAME, name)      {value, name},
#define OF_SOFTIRQ(value, NAME, name) {MG_CONTEXT_SOFTIRQ + value, name},
#define OF_IRQ(NAME, tracepoint)      {MG_IRQ_##NAME, #tracepoint},

static const struct mg_label e_kind[] = {MG_KINDS(BARE)};
static const struct mg_label e_syscall[] = {{MG_SYS_none, "none"}, MG_SYSCALLS(BARE)};
static const struct mg_label e_family[] = {MG_FAMILIES(QUOTED)};
static const struct mg_label e_proto[] = {MG_PROTOCOLS(QUOTED)};
static const struct mg_label e_sock_proto[] = {MG_SOCKET_PROTOCOLS(QUOTED)};
static const struct mg_label e_tcp_state[] = {MG_TCP_STATES(NAMED)};
static const struct mg_label e_opener[] = {MG_OPENERS(QUOTED)};
static const struct mg_label e_ulp[] = {MG_ULPS(NAMED)};
static const struct mg_label e_ca_state[] = {MG_CA_STATES(BARE)};
static const struct mg_label e_reset[] = {{MG_RESET_unknown, "unknown"}, MG_RESETS(BARE)};
static const struct mg_label e_softirq[] = {MG_SOFTIRQS(NAMED)};
static const struct mg_label e_context[] = {MG_CONTEXTS(NAMED) MG_SOFTIRQS(OF_SOFTIRQ)};
static const struct mg_label e_irq[] = {MG_IRQS_ANYWHERE(OF_IRQ) MG_IRQS_X86(OF_IRQ)};
static const struct mg_label e_via[] = {MG_VIAS(NAMED)};
static const struct mg_label e_lost[] = {MG_LOSSES(NAMED)};
static const struct mg_label e_status[] = {MG_STATUSES(QUOTED)};
static const struct mg_label e_symbol[] = {MG_SYMBOLS(NAMED)};
static const struct mg_label e_side[] = {MG_SIDES(QUOTED)};
static const struct mg_label e_entry[] = {MG_ENTRIES(NAMED)};
static const struct mg_label e_option[] = {MG_OPTIONS(QUOTED)};

#define PLAIN(tag, ctype, bytes, class) const struct mg_enum mg_names_##tag = {0};
#define ENUMERATED(tag, ctype, bytes, class) \
	const struct mg_enum mg_names_##tag = {#tag, tag, COUNT(tag)};
MG_PLAIN_TYPES(PLAIN)
MG_ENUM_TYPES(ENUMERATED)

const char *mg_enum_name(const struct mg_enum *e, int64_t value)
{
	for (size_t i = 0; i < e->count; i++)
		if (e->label[i].value == value)
			return e->label[i].name;
	return NULL;
}
