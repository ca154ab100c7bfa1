/* SPDX-License-Identifier: MIT */
#include "reported.h"

#include "report.h"

/* Returns the value at a path such as "flows.0.modulation.M"; fails if there is none. */
const json_t *at(const json_t *j, const char *path)
{
	const char *p = path;

	while (j && *p) {
		char name[64];
		size_t len = strcspn(p, ".");

		snprintf(name, sizeof(name), "%.*s", (int)len, p);
		j = json_is_array(j) ? json_array_get(j, (size_t)atoi(name))
				     : json_object_get(j, name);
		p += len + (p[len] == '.');
	}
	if (!j)
		print_error("there is no %s\n", path);
	assert_non_null(j);
	return j;
}

/* `names` are separated by spaces. */
void assert_fields(const json_t *j, const char *path, const char *names)
{
	const json_t *object = at(j, path);
	char name[64];

	while (*names) {
		size_t len = strcspn(names, " ");

		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		if (!json_object_get(object, name))
			fail_msg("%s has no %s", path, name);
		names += len + (names[len] == ' ');
	}
}

void assert_null_at(const json_t *j, const char *path)
{
	if (!json_is_null(at(j, path)))
		fail_msg("%s is not null", path);
}

void assert_number_at(const json_t *j, const char *path, double expected)
{
	const json_t *n = at(j, path);

	assert_true(json_is_number(n));
	if (fabs(json_number_value(n) - expected) > 1e-6)
		fail_msg("%s is %g, not %g", path, json_number_value(n), expected);
}

static json_t *session(void)
{
	return json_pack("{s:s, s:I, s:s, s:s}", "command", "curl -o x http://10.0.0.2/x",
		"duration_ns", (json_int_t)3000000, "host", "here", "kernel", "6.18.0");
}

/* Returns the report of a filled core; frees the core. */
json_t *reported(struct core *c)
{
	json_t *j, *s = session();
	struct report r;

	core_finish(c);
	assert_int_equal(report_init(&r, c, s, "a trace"), 0);
	j = report_json(&r, NULL);
	assert_non_null(j);
	report_free(&r);
	json_decref(s);
	feed_end(c);
	return j;
}

json_t *reported_connection(void)
{
	struct core c;

	connection_record(&c);
	return reported(&c);
}
