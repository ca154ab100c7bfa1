/* SPDX-License-Identifier: MIT */
/* The report as one JSON object, by the table of figures. */
#include "reported/json.h"
#include "report.h"

json_t *json_text(const char *s)
{
	char ascii[256];
	size_t i;

	for (i = 0; s[i] && i + 1 < sizeof(ascii); i++)
		ascii[i] = s[i] & 0x80 ? '?' : s[i];
	ascii[i] = 0;
	return json_string(s) ?: json_string(ascii);
}

json_t *json_flow(const struct report *r, const struct fact_flow *f)
{
	struct flow_figures of = flow_figures_of(r, f);

	return json_of_flow(&of);
}

json_t *report_json(const struct report *r, const char *only)
{
	struct report_figures of = report_figures_of(r, only);
	json_t *j = json_of_report(&of);

	report_figures_free(&of);
	return j;
}
