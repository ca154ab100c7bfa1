/* SPDX-License-Identifier: MIT */
#include "export/pcapng.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "capture/rebuilt.h"
#include "log.h"
#include "output_file.h"
#include "version.h"

struct pcapng {
	struct traffic traffic;
	struct output_file file;
};

bool pcapng_begin(struct export *e)
{
	struct pcapng *p = mg_calloc(1, sizeof(*p));

	if (!p)
		return export_refuse(e, e->to, ENOMEM);
	if (!output_file_open(&p->file, e->to)) {
		int err = errno;

		free(p);
		return export_refuse(e, e->to, err);
	}
	p->traffic.filter = e->filter;
	p->traffic.packets_only = true;
	traffic_listen(&p->traffic, e->core);
	e->state = p;
	return true;
}

/* Returns the text of a member of session.json; NULL if it has none. */
static const char *member(const struct export *e, const char *name)
{
	return json_string_value(json_object_get(*e->session, name));
}

/* Says what the file lacks. */
static void warn(const struct export *e, const struct traffic *t, const struct rebuilt_counts *c)
{
	if (!c->sent && !c->received)
		mg_warn("%s has no packets: none passed a device, or the recording does not have "
			"the layer device",
			e->to);
	if (c->without_end)
		mg_warn("%" PRIu64 " packets have an address that is not recorded: it is 0",
			c->without_end);
	if (c->devices > 1)
		mg_warn("a packet that passed several of the %" PRIu64 " devices is in %s once for "
			"each: look at one at a time, in Wireshark by frame.interface_id",
			c->devices, e->to);
	if (t->unknown)
		mg_warn("%" PRIu64 " packets are left out: the recording does not describe their "
			"sockets",
			t->unknown);
}

bool pcapng_end(struct export *e, bool is_read)
{
	struct pcapng *p = e->state;
	struct rebuilt_about about = {
		member(e, "cpu"), member(e, "kernel"), "magnet " MAGNET_VERSION};
	struct rebuilt_counts counts;
	bool written = false;
	int err = EIO;

	if (is_read) {
		traffic_finish(&p->traffic);
		written = rebuilt_write(p->file.to, &p->traffic, &about, &counts);
		err = errno;
	}
	if (!output_file_close(&p->file, written)) {
		written = false;
		err = errno;
	}
	if (written)
		warn(e, &p->traffic, &counts);
	else if (is_read)
		export_refuse(e, e->to, err);
	traffic_free(&p->traffic);
	free(p);
	return written;
}
