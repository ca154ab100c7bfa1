/* SPDX-License-Identifier: MIT */
/* Words for stages, reasons, layers and calls. */
#include "event_table.h"
#include "report.h"

const char *flow_comm(const struct fact_flow *f)
{
	return f->program ? f->program : "";
}

const char *flow_ulp(const struct fact_flow *f)
{
	static const char *const names[] = {
		NULL, [MG_ULP_TLS] = "ktls", [MG_ULP_MPTCP] = "mptcp", [MG_ULP_OTHER] = "ulp"};

	return names[f->ulp < sizeof(names) / sizeof(names[0]) ? f->ulp : MG_ULP_OTHER];
}

#define STAGE_NAME(ID, name, label)  name,
#define STAGE_LABEL(ID, name, label) label,
static const char *const tx_names[] = {MG_TX_STAGES(STAGE_NAME)};
static const char *const rx_names[] = {MG_RX_STAGES(STAGE_NAME)};
static const char *const tx_labels[] = {MG_TX_STAGES(STAGE_LABEL)};
static const char *const rx_labels[] = {MG_RX_STAGES(STAGE_LABEL)};

int stage_count(const struct fact_flow *f)
{
	return f->flow.rx ? RX_STAGES : TX_STAGES;
}

static bool is_to_socket(const struct fact_flow *f, int stage)
{
	return f->flow.rx && stage == RX_STAGE_IP_TCP && f->kind != MG_KIND_tcp;
}

/* Returns whether the event of the copy comes after it, as that of messages does. */
static bool is_copied_before(const struct fact_flow *f)
{
	return f->flow.rx && f->kind != MG_KIND_tcp && f->kind != MG_KIND_unix_stream;
}

const char *stage_name(const struct fact_flow *f, int stage)
{
	if (is_to_socket(f, stage))
		return "ip_to_socket";
	return f->flow.rx ? rx_names[stage] : tx_names[stage];
}

const char *stage_label(const struct fact_flow *f, int stage)
{
	if (is_to_socket(f, stage))
		return "IP to socket queue";
	if (is_copied_before(f) && stage == RX_STAGE_COPY)
		return "call and copy";
	if (is_copied_before(f) && stage == RX_STAGE_RETURN)
		return "return to the program";
	return f->flow.rx ? rx_labels[stage] : tx_labels[stage];
}

static const char *const reason_names[] = {MG_WHY_REASONS(STAGE_NAME)};
static const char *const reason_labels[] = {MG_WHY_REASONS(STAGE_LABEL)};
static const char *const release_names[] = {MG_WHY_RELEASES(STAGE_NAME)};
static const char *const release_labels[] = {MG_WHY_RELEASES(STAGE_LABEL)};

const char *why_reason_name(unsigned int reason)
{
	return reason_names[reason];
}

const char *why_reason_label(unsigned int reason)
{
	return reason_labels[reason];
}

const char *why_release_name(unsigned int release)
{
	return release_names[release];
}

const char *why_release_label(unsigned int release)
{
	return release_labels[release];
}

int layer_count(const struct fact_flow *f)
{
	return f->flow.rx ? RX_LAYERS : TX_LAYERS;
}

#define LAYER_NAME(ID, name, label) name,
const char *layer_name(const struct fact_flow *f, int layer)
{
	static const char *const tx[] = {MG_TX_LAYERS(LAYER_NAME)};
	static const char *const rx[] = {MG_RX_LAYERS(LAYER_NAME)};

	return f->flow.rx ? rx[layer] : tx[layer];
}

bool call_is_kernel_only(const struct call_stats *s)
{
	return s->key.id & CALL_KERNEL_ONLY;
}

const char *call_name(const struct call_stats *s)
{
	return call_is_kernel_only(s) ? mg_syscall_name(s->key.id & ~CALL_KERNEL_ONLY)
				      : mg_function_name(s->key.id);
}
