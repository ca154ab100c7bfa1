/* SPDX-License-Identifier: MIT */
/* Goodput of a flow, as a statistic on demand. */
#include "rows.h"

json_t *whole_goodput(const struct report *r, const struct fact_flow *f)
{
	struct goodput g = flow_goodput(r, f);
	json_t *j = json_object();

	row_set(j, "delivered_bytes", g.delivered_bytes);
	row_set(j, "wire_bytes", g.wire_bytes);
	row_set(j, "ratio", g.ratio);
	row_set(j, "rate_bit_s", g.bit_s);
	json_object_set_new(j, "refused", g.refused ? json_string(g.refused) : json_null());
	return j;
}
