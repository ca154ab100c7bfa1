/* SPDX-License-Identifier: MIT */
/* Prints losses as a few lines, only if there were any. */
#include <stdarg.h>
#include <string.h>

#include "event_table.h"
#include "losses.h"
#include "reported/drop_words.h"
#include "text.h"

#define KINDS_SHOWN 3
#define PART_MAX    160

/* A sentence in parts, with line breaks between them. */
struct writer {
	FILE *to;
	size_t column;
	const char *between;
};

static __attribute__((format(printf, 2, 3))) void part(struct writer *w, const char *format, ...)
{
	char text[PART_MAX];
	va_list args;
	size_t width;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	width = text_width(text) + 2;
	if (*w->between && w->column + width > (size_t)text_columns()) {
		fprintf(w->to, "%.1s\n  ", w->between);
		w->column = 2;
	} else {
		fputs(w->between, w->to);
		w->column += strlen(w->between);
	}
	fputs(text, w->to);
	w->column += width - 2;
	w->between = "; ";
}

/* Returns whether the packets had arrived at a receiver on this machine. */
static bool had_arrived(const struct drop_sum *d)
{
	return d->rx || drop_sum_is_copy(d) ||
	       (d->layer && (strcmp(d->layer, "tcp") == 0 || strcmp(d->layer, "udp") == 0));
}

static void drop_text(char *out, size_t size, const struct drop_sum *d, uint64_t n)
{
	const char *words = drop_words(d->reason);
	char packets[40] = "";

	if (d->segs > d->n && !d->discarded)
		snprintf(packets, sizeof(packets), " in %s packet%s", text_count(d->n),
			plural(d->n));
	snprintf(out, size, "%s %s%s%s%s%s%s (%s in %s)", text_count(n),
		had_arrived(d) ? "received" : "sent", packets, d->layer ? ", at " : "",
		d->layer ? d->layer : "", words[0] ? ": " : "", words, text_plain(d->reason, 32),
		text_plain(d->location, 32));
}

/* Returns how many of the dropped packets only found no socket. */
static uint64_t without_socket(const struct losses *l)
{
	uint64_t n = 0;

	for (size_t i = 0; i < l->drops.n; i++)
		if (drop_sum_no_socket(&l->drops.v[i]))
			n += drop_sum_lost(&l->drops.v[i]);
	return n;
}

static void dropped(struct writer *w, const struct losses *l, const char *least)
{
	uint64_t n = l->dropped - without_socket(l);
	size_t shown = 0, kinds = 0;
	bool large = false; /* some stood for several segments */
	char kind[PART_MAX];

	if (!n)
		return;
	for (size_t i = 0; i < l->drops.n; i++) {
		kinds += drop_sum_lost(&l->drops.v[i]) > 0 && !drop_sum_no_socket(&l->drops.v[i]);
		large |= l->drops.v[i].segs > l->drops.v[i].n;
	}
	for (size_t i = 0; i < l->drops.n && shown < KINDS_SHOWN; i++) {
		const struct drop_sum *d = &l->drops.v[i];
		uint64_t lost = drop_sum_lost(d);

		if (!lost || drop_sum_no_socket(d))
			continue;
		drop_text(kind, sizeof(kind), d, lost);
		if (!shown++)
			part(w, "%s%s %s%s dropped: %s", least, text_count(n),
				large ? "segment" : "packet", plural(n), kind);
		else
			part(w, "%s", kind);
		w->between = ", ";
	}
	if (kinds > shown)
		part(w, "and %zu more kinds (--json)", kinds - shown);
	w->between = "; ";
}

/* Prints "33 of 400 connections"; both kinds of sockets where both had losses. */
static void whom(FILE *to, const struct losses *l)
{
	if (l->connections_hit || !l->sockets_hit)
		fprintf(to, "%s of %s connection%s", text_count(l->connections_hit),
			text_count(l->connections), plural(l->connections));
	if (l->sockets_hit)
		fprintf(to, "%s%s of %s %ssocket%s", l->connections_hit ? ", " : "",
			text_count(l->sockets_hit), text_count(l->sockets),
			l->connections ? "other " : "", plural(l->sockets));
}

static void all_parts(const struct report *r, struct writer *w, const struct losses *l)
{
	const char *least = losses_may_miss(r, LOSS_EVENTS) ? text_at_least() : "";
	uint64_t refused = without_socket(l);
	uint64_t segments = l->retransmits - l->syn_retries - l->synack_retries;

	if (segments)
		part(w, "%s%s segment%s retransmitted (%s)", least, text_count(segments),
			plural(segments), text_bytes((double)l->retransmitted_bytes));
	if (l->resent_bytes)
		part(w, "%s%s resent after a drop on this machine", least,
			text_bytes((double)l->resent_bytes));
	if (l->wait.n)
		part(w, "their bytes waited %s on average",
			text_ns(report_ns(r, dist_mean(&l->wait))));
	dropped(w, l, least);
	if (l->timeouts)
		part(w, "%s%s retransmission timeout%s", least, text_count(l->timeouts),
			plural(l->timeouts));
	if (l->syn_retries)
		part(w, "%s%s SYN%s retransmitted", least, text_count(l->syn_retries),
			plural(l->syn_retries));
	if (l->synack_retries)
		part(w, "%s%s SYN-ACK%s retransmitted", least, text_count(l->synack_retries),
			plural(l->synack_retries));
	if (l->listen_drops)
		part(w, "%s%s packet%s dropped by listening sockets, whose queues were full", least,
			text_count(l->listen_drops), plural(l->listen_drops));
	if (refused)
		part(w,
			"%s%s packet%s found no socket: nobody listened on the port, or it was "
			"closed",
			least, text_count(refused), plural(refused));
	if (l->resets_sent)
		part(w, "%s%s reset%s sent", least, text_count(l->resets_sent),
			plural(l->resets_sent));
	if (l->resets_received)
		part(w, "%s%s reset%s received", least, text_count(l->resets_received),
			plural(l->resets_received));
}

static bool any_loss(const struct losses *l)
{
	return l->retransmits || l->resent_bytes || l->dropped > without_socket(l) || l->timeouts ||
	       l->listen_drops;
}

/*
 * Returns what the losses are called. What was sent again had arrived, too, where TCP dropped as
 * many copies of data that it had; if nobody sent it again, the network had duplicated it. What was
 * sent again had been lost here, where as much was dropped here.
 */
static const char *title(const struct losses *l)
{
	uint64_t copies = 0, n = l->dropped - without_socket(l);

	for (size_t i = 0; i < l->drops.n; i++)
		copies += drop_sum_is_copy(&l->drops.v[i]) ? drop_sum_lost(&l->drops.v[i]) : 0;
	if (copies && copies == n && copies >= l->retransmits && !l->listen_drops)
		return l->retransmits || l->resent_bytes ? "Segments sent twice, which had arrived"
							 : "Segments that arrived twice";
	if (n && !l->retransmits && !l->resent_bytes && !l->timeouts)
		return "Packets dropped";
	if (l->listen_drops && l->retransmits == l->syn_retries + l->synack_retries)
		return "Losses at a full listen queue";
	if (l->listen_drops && l->listen_drops * 2 >= l->retransmits)
		return "Losses, most at a full listen queue";
	if (n > copies && n - copies >= l->retransmits)
		return "Losses on this host";
	if (n > copies && (n - copies) * 2 >= l->retransmits)
		return "Losses, most on this host";
	return any_loss(l)  ? "Losses on the network"
	       : l->dropped ? "Connections refused or reset"
			    : "Resets";
}

void text_losses(const struct report *r, FILE *to, bool colour)
{
	struct writer w = {.to = to, .between = ""};
	const struct losses *l = &r->losses;

	if (any_loss(l) || l->dropped || l->resets_sent || l->resets_received) {
		fprintf(to, "%s%s%s, ", colour ? "\033[31m" : "", title(l),
			colour ? "\033[0m" : "");
		whom(to, l);
		fprintf(to, " hit:\n  ");
		w.column = 2;
		all_parts(r, &w, l);
		fprintf(to, "\n");
	} else if (losses_may_miss(r, LOSS_EVENTS)) {
		fprintf(to, "retransmissions, drops and resets: n/a, as events of them may be "
			    "missing\n");
	}
}

static void drop_sum(const struct drop_sum *d, const char *what, FILE *to)
{
	fprintf(to, "  %s: %s in %s%s%s%s\n", what, text_plain(d->reason, 32),
		text_plain(d->location, 32), d->layer ? " (" : "", d->layer ? d->layer : "",
		d->layer ? ")" : "");
}

void text_drop_sums(const struct drop_sums *all, FILE *to)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct drop_sum *d = &all->v[i];
		uint64_t lost = drop_sum_lost(d);
		char what[PART_MAX];

		if (lost) {
			snprintf(what, sizeof(what), "dropped: %s (%s)", text_count(lost),
				text_bytes((double)d->bytes));
			drop_sum(d, what, to);
		}
		if (d->discarded) {
			snprintf(what, sizeof(what),
				"discarded by TCP, no loss: %s segment%s without payload",
				text_count(d->discarded), plural(d->discarded));
			drop_sum(d, what, to);
		}
	}
}
