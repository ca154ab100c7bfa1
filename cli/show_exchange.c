/* SPDX-License-Identifier: MIT */
#include "show_exchange.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "loader.h"
#include "log.h"
#include "output.h"
#include "render/byte_life.h"
#include "render/text_exchanges.h"
#include "show_bytes.h"

bool exchange_name_parse(const char *text, struct exchange_name *to)
{
	const char *at = strrchr(text, '@');
	struct exchange_name name = {0};
	uint64_t sock;
	bool rx;
	char *end;

	if (!at || (size_t)(at - text) >= sizeof(name.flow) || at[1] < '0' || at[1] > '9')
		return false;
	memcpy(name.flow, text, (size_t)(at - text));
	errno = 0;
	name.byte = strtoull(at + 1, &end, 10);
	if (errno || *end || !flow_parse(name.flow, &sock, &rx))
		return false;
	*to = name;
	return true;
}

/* ---- the exchange is found ---- */

/* An exchange that is looked for, and found. */
struct search {
	uint64_t sock, byte;
	bool rx, found;
	struct fact_exchange fact; /* without what it points to */
};

/* Returns whether bytes [offset, offset + bytes) have that one; an empty message is where it began.
 */
static bool has(uint64_t offset, uint64_t bytes, uint64_t byte)
{
	return offset != FACT_NONE && byte >= offset && byte - offset < (bytes ? bytes : 1);
}

static void look(void *arg, const void *fact)
{
	const struct fact_exchange *f = fact;
	struct search *s = arg;

	if (s->found || f->request.sock != s->sock)
		return;
	s->found = f->request.rx == s->rx ? has(f->request_offset, f->request_bytes, s->byte)
					  : has(f->reply_offset, f->reply_bytes, s->byte);
	if (s->found)
		s->fact = *f;
}

/* Reads the recording to find it. Returns an exit status. */
static int find(struct search *s, const struct exchange_name *name, char **dirs, int count)
{
	struct loaded in;
	struct fact_flow flow;
	int status = EXIT_DONE;

	flow_parse(name->flow, &s->sock, &s->rx);
	s->byte = name->byte;
	loaded_init_facts(&in);
	facts_listen(core_facts(in.core), FACT_exchange, look, s);
	if (loaded_read(&in, dirs, count)) {
		status = EXIT_FAILED;
	} else if (!s->found && !core_flow(in.core, s->sock, s->rx, &flow)) {
		status = loaded_no_flow(name->flow);
	} else if (!s->found) {
		mg_error("no exchange has byte %" PRIu64
			 " of flow %s (magnet show --facts exchange lists them)",
			name->byte, name->flow);
		status = EXIT_FAILED;
	}
	loaded_free(&in);
	return status;
}

/* ---- the exchange is shown ---- */

static int print(struct loaded *in, const struct fact_exchange *f)
{
	struct output out;

	if (loaded_report(in))
		return EXIT_FAILED;
	output_begin(&out);
	text_one_exchange(&in->report, f, out.to, out.colour);
	output_end(&out);
	return output_finish("the exchange");
}

int show_exchange(char **dirs, int count, const struct exchange_name *name)
{
	struct search s = {0};
	struct exchange_id only;
	struct loaded in;
	int status = find(&s, name, dirs, count);

	if (status != EXIT_DONE)
		return status;
	only = (struct exchange_id){.sock = s.fact.request.sock,
		.ordinal = s.fact.ordinal,
		.rx = s.fact.request.rx,
		.server_request_last = s.fact.role == ROLE_CLIENT ? s.fact.server_request_last : 0};
	loaded_init(&in);
	in.again = true;
	core_pack_closed(in.core);
	figures_keep_exchange(in.core, &only);
	status = loaded_read(&in, dirs, count) ? EXIT_FAILED : print(&in, &s.fact);
	loaded_free(&in);
	return status == EXIT_DONE ? show_lives(dirs, count, &s.fact) : status;
}
