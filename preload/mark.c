/* SPDX-License-Identifier: MIT */
/* Exported functions that magnet/marker.h calls. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "cycles.h"
#include "life.h"
#include "self.h"

__attribute__((visibility("default"))) void magnet_mark_here(
	const char *name, uint64_t id, int64_t value);

void magnet_mark_here(const char *name, uint64_t id, int64_t value)
{
	struct mg_mark m = {.id = id, .value = value};
	int saved;

	if (!*mg_wanted_mark || !mg_tls_is_ours()) {
		if (mg_counter_forbidden)
			mg_life_count_untimed_mark();
		return;
	}
	saved = errno;
	m.at = mg_cycles();
	mg_self_check();
	m.tid = mg_self.tid;
	m.pid = mg_self.pid;
	if (!m.tid)
		mg_self_ask(&m.tid, &m.pid);
	memcpy(m.name, name, strnlen(name, sizeof(m.name)));
	mg_log_mark(&m);
	errno = saved;
}
