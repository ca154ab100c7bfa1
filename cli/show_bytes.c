/* SPDX-License-Identifier: MIT */
#include "show_bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "loader.h"
#include "log.h"
#include "output.h"
#include "render/byte_life.h"
#include "render/text_exchanges.h"

#define ATOMS_SHOWN 12

static int read_once(struct life *l, struct loaded *in, char **dirs, int count)
{
	core_listen(in->core, life_event, l);
	return loaded_read(in, dirs, count);
}

static int print(struct life *l, const char *flow, bool tsv)
{
	struct output out;
	int err;

	if (!l->flow_seen)
		return loaded_no_flow(flow);
	if (!l->rows) {
		mg_error("nothing was recorded of these bytes of flow %s (magnet report --flow %s "
			 "prints how many it has)",
			flow, flow);
		return EXIT_FAILED;
	}
	if (l->full) {
		mg_error("these bytes have too many events to be shown: give a shorter range");
		return EXIT_FAILED;
	}
	output_begin(&out);
	out.is_data = tsv;
	err = tsv ? life_tsv(l, out.to) : life_text(l, out.to, ATOMS_SHOWN);
	if (err) {
		mg_error("%s", strerror(-err));
		return EXIT_FAILED;
	}
	output_end(&out);
	return output_finish("the bytes' life");
}

int show_life(char **dirs, int count, const char *flow, uint64_t from, uint64_t to, bool tsv)
{
	int status = EXIT_FAILED, err;
	struct loaded in;
	struct life life;

	loaded_init(&in);
	life_init(&life, in.core, flow, from, to);
	err = read_once(&life, &in, dirs, count);
	if (!err && life.late) {
		loaded_free(&in);
		loaded_init(&in);
		life_again(&life, in.core);
		err = read_once(&life, &in, dirs, count);
	}
	if (!err)
		status = print(&life, flow, tsv);
	life_free(&life);
	loaded_free(&in);
	return status;
}

int show_lives(char **dirs, int count, const struct fact_exchange *f)
{
	char request[32], reply[32];
	uint64_t last = f->request_offset + f->request_bytes - 1;
	int status = EXIT_DONE, second;

	flow_name(request, f->request.sock, f->request.rx);
	flow_name(reply, f->reply.sock, f->reply.rx);
	if (f->request_bytes)
		status = show_life(dirs, count, request, last, last + 1, false);
	if (!f->reply_bytes)
		return status;
	second = show_life(dirs, count, reply, f->reply_offset, f->reply_offset + 1, false);
	return status == EXIT_DONE ? second : status;
}

/* Prints the life of bytes that waited long. */
static int show_range(char **dirs, int count, const struct slow_range *s)
{
	char flow[32];

	flow_name(flow, s->sock, s->rx);
	return show_life(dirs, count, flow, s->offset, s->offset + s->length, false);
}

static int print_slowest(struct loaded *in)
{
	struct output out;

	if (loaded_report(in))
		return EXIT_FAILED;
	output_begin(&out);
	text_slowest(&in->report, out.to, out.colour);
	output_end(&out);
	return output_finish("the slowest exchanges");
}

int show_slowest(char **dirs, int count, uint32_t n, struct filter *f)
{
	const struct exchange_table *t;
	int status = EXIT_FAILED;
	struct loaded in;

	loaded_init(&in);
	if (filter_is_set(f)) {
		if (loaded_filter(&in, f, dirs, count))
			return EXIT_FAILED;
	} else {
		core_pack_closed(in.core);
	}
	figures_keep_slowest(in.core, n);
	if (loaded_read(&in, dirs, count) == 0)
		status = print_slowest(&in);
	for (size_t i = 0; i < in.report.slow_range_count && status == EXIT_DONE; i++)
		status = show_range(dirs, count, &in.report.slow_ranges[i]);
	t = &figures_of(in.core)->exchanges;
	for (uint32_t i = 0; i < t->slow_n && status == EXIT_DONE; i++)
		status = show_lives(dirs, count, &t->slow[i].fact);
	loaded_free(&in);
	return status;
}
