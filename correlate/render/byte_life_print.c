/* SPDX-License-Identifier: MIT */
/* Prints the life of bytes as text and as tab-separated values. */
#include <inttypes.h>
#include <string.h>

#include "event_table.h"
#include "byte_life.h"
#include "report.h"
#include "stage.h"
#include "table.h"

/* ---- content of a row ---- */

/* Returns the row's name, which programs can rely on; the text uses labels. */
static const char *name_of(const struct life_row *r)
{
	const struct mg_event_desc *d;

	switch (r->what) {
	case LIFE_CALLED:
		return "call";
	case LIFE_ENTERED:
		return "sys_enter";
	case LIFE_ACKED:
		return "acknowledged";
	case LIFE_WOKEN:
		return "woken";
	case LIFE_RUNS:
		return "runs";
	case LIFE_LEFT:
		return "sys_exit";
	case LIFE_RETURNED:
		return "return";
	default:
		d = mg_event_by_id(r->event);
		return d ? d->name : "?";
	}
}

/* Returns what an event says of a byte: a layer that it passes, or what else happens to it. */
static const char *label_of_event(uint16_t event)
{
#define LABEL(ID, name, label) label,
	static const char *const tx[] = {MG_TX_LAYERS(LABEL)};
	static const char *const rx[] = {MG_RX_LAYERS(LABEL)};
#undef LABEL

	if (tx_stage_of(event) != TX_NONE)
		return tx[tx_stage_of(event)];
	if (rx_stage_of(event) != RX_NONE)
		return rx[rx_stage_of(event)];
	switch (event) {
	case MG_EVENT_tcp_retransmit:
		return "SENT AGAIN by TCP";
	case MG_EVENT_drop:
		return "DROPPED";
	case MG_EVENT_sock_sent:
		return "send is done";
	case MG_EVENT_sock_ready:
		return "in the receiver's queue";
	case MG_EVENT_sock_received:
		return "taken from the queue";
	default:
		return NULL;
	}
}

static void label_of(const struct life_row *r, char out[64])
{
	const char *label = r->away ? NULL : label_of_event(r->event);

	switch (r->what) {
	case LIFE_CALLED:
		snprintf(out, 64, "%s() called", mg_function_name(r->event - MG_APP_BASE));
		return;
	case LIFE_ENTERED:
		snprintf(out, 64, "system call %s begins", mg_syscall_name(r->event));
		return;
	case LIFE_LEFT:
		snprintf(out, 64, "system call %s ends", mg_syscall_name(r->event));
		return;
	case LIFE_RETURNED:
		snprintf(out, 64, "%s() returns", mg_function_name(r->event - MG_APP_BASE));
		return;
	case LIFE_ACKED:
		snprintf(out, 64, "acknowledgement arrives");
		return;
	case LIFE_WOKEN:
		snprintf(out, 64, "reader woken");
		return;
	case LIFE_RUNS:
		snprintf(out, 64, "reader gets the CPU");
		return;
	default:
		break;
	}
	snprintf(out, 64, "%s%s", label ? label : name_of(r), r->away ? " (away)" : "");
}

static bool same_place(const struct life_row *a, const struct life_row *b)
{
	return a->what == b->what && a->event == b->event && a->at_receiver == b->at_receiver &&
	       a->away == b->away;
}

/* Returns whether the same bytes have passed this point before. */
static bool is_again(const struct life_row *const *row, size_t i)
{
	if (row[i]->what != LIFE_EVENT || row[i]->event == MG_EVENT_tcp_retransmit ||
		row[i]->event == MG_EVENT_drop)
		return false;
	for (size_t k = 0; k < i; k++)
		if (same_place(row[k], row[i]))
			return true;
	return false;
}

static double ns_between(const struct life *l, uint64_t from, uint64_t to)
{
	double hz = core_hz(l->core);

	return hz > 0 ? (to >= from ? 1 : -1) * (double)(to >= from ? to - from : from - to) * 1e9 /
				hz
		      : 0;
}

/* Writes the cause of the longest wait in the send buffer, its length, and what ended it. */
static void reason_of(const struct life *l, const struct life_row *r, char out[80])
{
	const char *until = why_release_label(r->released_by);

	if (r->waited_for != WHY_NOT_KNOWN && r->waited_for != WHY_IMMEDIATE)
		snprintf(out, 80, "waited for: %s%s%s%s%s", why_reason_label(r->waited_for),
			r->waited ? ", " : "",
			r->waited ? text_ns(ns_between(l, 0, r->waited)) : "", until[0] ? ", " : "",
			until);
}

static void note_of(const struct life *l, const struct life_row *const *row, size_t i, char out[80])
{
	const struct life_row *r = row[i];

	out[0] = 0;
	if (r->note[0])
		snprintf(out, 80, "%s", text_plain(r->note, 40));
	else if (r->event == MG_EVENT_tcp_retransmit && r->what == LIFE_EVENT && r->code < 0)
		snprintf(out, 80, "not sent: %s", strerror(-r->code));
	else if (r->event == MG_EVENT_dev_done && r->what == LIFE_EVENT && r->code)
		snprintf(out, 80, "refused");
	else if (is_again(row, i))
		snprintf(out, 80, "again");
	else
		reason_of(l, r, out);
}

/*
 * Returns the first row that belongs to the bytes' life: a reader may have called, and been woken,
 * before they existed.
 */
static size_t born(const struct life_row *const *row, size_t rows)
{
	size_t i = 0;

	while (i < rows && row[i]->at_receiver &&
		(row[i]->what == LIFE_CALLED || row[i]->what == LIFE_ENTERED ||
			row[i]->what == LIFE_WOKEN || row[i]->what == LIFE_RUNS))
		i++;
	return i;
}

static const char *comm_of(const struct life *l, uint32_t tid)
{
	const char *program = core_program(l->core, tid);

	return program[0] ? text_plain(program, 15) : "?";
}

/* ---- text ---- */

struct printing {
	struct life *life;
	FILE *to;
	size_t max, atoms;
	bool ns_only;
};

static void atom_text(
	void *arg, uint64_t from, uint64_t to, const struct life_row *const *row, size_t rows)
{
	struct printing *p = arg;
	const struct life *l = p->life;
	size_t first = born(row, rows);
	const struct life_row *called = NULL;
	struct table t;

	if (p->atoms++ >= p->max)
		return;
	fprintf(p->to, "\nbytes %" PRIu64 " to %" PRIu64 " (%" PRIu64 ")", from, to - 1, to - from);
	if (first == rows) {
		fprintf(p->to, ": nothing was recorded of them\n");
		return;
	}
	fprintf(p->to, ", from %.9f s\n", (double)(row[first]->time_ns - l->first_ns) / 1e9);
	table_begin(&t, "lrrlrrll");
	table_row(&t, "\tsince first\tlast\tflow\tin unit\tcpu\tthread\t");
	for (size_t i = first; i < rows; i++) {
		const struct life_row *r = row[i];
		char label[64], flow[32], unit[64], cpu[8] = "", thread[40] = "", note[80];

		label_of(r, label);
		flow_name(flow, r->cookie, r->at_receiver);
		note_of(l, row, i, note);
		snprintf(unit, sizeof(unit), "%" PRIu64 "+%" PRIu64, r->unit_off, r->unit_len);
		if (r->segments > 1)
			snprintf(unit + strlen(unit), sizeof(unit) - strlen(unit), " /%u",
				r->segments);
		if (r->cpu >= 0)
			snprintf(cpu, sizeof(cpu), "%d", r->cpu);
		if (r->tid)
			snprintf(thread, sizeof(thread), "%s/%u", comm_of(l, r->tid), r->tid);
		table_row(&t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", label,
			text_ns(ns_between(l, row[first]->t, r->t)),
			i > first ? text_ns(ns_between(l, row[i - 1]->t, r->t)) : "", flow, unit,
			cpu, thread, note);
		if ((r->what == LIFE_RETURNED || (r->what == LIFE_LEFT && !called)) &&
			r->at_receiver && r->called < row[first]->t)
			called = r;
	}
	table_print(&t, p->to, 2, false);
	if (called)
		fprintf(p->to, "  the reader's call began %s before the first row\n",
			text_ns(ns_between(l, called->called, row[first]->t)));
}

int life_text(struct life *l, FILE *to, size_t max)
{
	struct printing p = {l, to, max, 0, false};
	char from[32] = "?", at[32] = "?";
	int err;

	if (l->sender)
		flow_name(from, l->sender, false);
	if (l->receiver)
		flow_name(at, l->receiver, true);
	fprintf(to, "bytes %" PRIu64 " to %" PRIu64 ", sent as %s, received as %s\n", l->from,
		l->to - 1, l->sender ? from : "(the sender is not in this recording)",
		l->receiver ? at : "(the receiver is not in this recording)");
	err = life_atoms(l, atom_text, &p);
	if (!err && p.atoms > max)
		fprintf(to, "\nand %zu more (fewer bytes, or --tsv for all)\n", p.atoms - max);
	return err;
}

/* ---- tab-separated ---- */

static void atom_tsv(
	void *arg, uint64_t from, uint64_t to, const struct life_row *const *row, size_t rows)
{
	struct printing *p = arg;
	const struct life *l = p->life;
	size_t first = born(row, rows);

	for (size_t i = first; i < rows; i++) {
		const struct life_row *r = row[i];
		const char *called = r->what == LIFE_CALLED || r->what == LIFE_RETURNED
					     ? mg_function_name(r->event - MG_APP_BASE)
				     : r->what == LIFE_ENTERED || r->what == LIFE_LEFT
					     ? mg_syscall_name(r->event)
					     : "";
		char flow[32], note[80];

		flow_name(flow, r->cookie, r->at_receiver);
		note_of(l, row, i, note);
		fprintf(p->to, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", from, to - from,
			r->time_ns);
		if (!p->ns_only)
			fprintf(p->to, "%" PRIu64, r->t);
		fprintf(p->to, "\t%.0f\t%.0f\t%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t",
			ns_between(l, row[first]->t, r->t),
			i > first ? ns_between(l, row[i - 1]->t, r->t) : 0.0, name_of(r), called,
			flow, r->unit_off, r->unit_len);
		if (r->segments)
			fprintf(p->to, "%u", r->segments);
		fputc('\t', p->to);
		if (r->cpu >= 0)
			fprintf(p->to, "%d", r->cpu);
		fputc('\t', p->to);
		if (r->tid)
			fprintf(p->to, "%u", r->tid);
		fprintf(p->to, "\t%s\n", r->away ? "away" : note);
	}
	p->atoms++;
}

int life_tsv(struct life *l, FILE *to)
{
	struct printing p = {l, to, 0, 0, false};
	struct fact_recording r;

	core_recording(l->core, &r);
	p.ns_only = r.ns_only;

	fputs("offset\tlength\ttime_ns\tcycles\tsince_first_ns\tsince_last_ns\twhat\tcall\tflow\t"
	      "unit_offset\tunit_length\tsegments\tcpu\ttid\tnote\n",
		to);
	return life_atoms(l, atom_tsv, &p);
}
