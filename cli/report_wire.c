/* SPDX-License-Identifier: MIT */
#include "report_wire.h"

#include "log.h"

static bool refuse(const struct report_wire *w)
{
	mg_error("%s: %s", w->path, w->capture.why);
	return false;
}

bool report_wire_begin(struct report_wire *w, const char *path, struct core *core)
{
	if (!path)
		return true;
	w->path = w->wire.path = path;
	traffic_listen(&w->traffic, core);
	return capture_open(&w->capture, path) == 0 || refuse(w);
}

bool report_wire_read(struct report_wire *w)
{
	if (!w->path)
		return true;
	traffic_finish(&w->traffic);
	return wire_read(&w->wire, &w->traffic, &w->capture) == 0 || refuse(w);
}

void report_wire_free(struct report_wire *w)
{
	if (!w->path)
		return;
	wire_free(&w->wire);
	traffic_free(&w->traffic);
	capture_close(&w->capture);
}
