/* SPDX-License-Identifier: MIT */
#include "progress_line.h"

#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "output.h"

#define PATIENCE_NS 1000000000 /* a shorter wait needs no line */
#define EVERY_NS    200000000
#define ERASE       "\r\033[K"

static void tell(void *arg, uint64_t done, uint64_t total)
{
	struct progress_line *p = arg;
	uint64_t now = p->on ? mg_monotonic_ns() : 0;

	if (!p->on || now < p->next_ns)
		return;
	p->next_ns = now + EVERY_NS;
	p->shown = true;
	if (total)
		fprintf(stderr, ERASE "reading: %.0f %% of %.1f MiB",
			(double)done * 100 / (double)total, (double)total / (1 << 20));
	else
		fprintf(stderr, ERASE "reading: %" PRIu64 " events", done);
	fflush(stderr);
}

void progress_begin(struct progress_line *p, bool listed)
{
	*p = (struct progress_line){.progress = {tell, p}};
	p->on = output_is_terminal(stderr) && !(listed && output_is_terminal(stdout));
	if (p->on)
		p->next_ns = mg_monotonic_ns() + PATIENCE_NS;
}

void progress_end(struct progress_line *p)
{
	if (p->shown) {
		fputs(ERASE, stderr);
		fflush(stderr);
	}
	p->on = p->shown = false;
}
