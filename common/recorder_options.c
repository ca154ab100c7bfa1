/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "recorder_options.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>

#include "log.h"

#define ROW(type, member, option, letter, argument, least, most, commands, use, doc) \
	{"--" option, argument, doc, &option_type_##type, least, most,               \
		offsetof(struct recorder_options, member), commands, use, letter},
const struct option_row recorder_option_rows[] = {MG_RECORDER_OPTIONS(ROW)};
#undef ROW
const size_t recorder_option_count = sizeof(recorder_option_rows) / sizeof(recorder_option_rows[0]);

void recorder_options_init(struct recorder_options *o)
{
	memset(o, 0, sizeof(*o));
	o->layers = MG_USUAL_LAYERS;
	o->control_fd = UINT64_MAX;
}

void recorder_options_free(struct recorder_options *o)
{
	for (size_t i = 0; i < recorder_option_count; i++)
		if (recorder_option_rows[i].type->is_list)
			option_list_free(option_value(&recorder_option_rows[i], o));
}

/* Returns what is wrong with the bounds of the trace, NULL if nothing is. */
static const char *wrong_bounds(const struct recorder_options *o)
{
	bool rotate = o->rotate.bytes || o->rotate.ns, flight = o->flight.bytes || o->flight.ns;

	if (o->keep && !rotate && !flight)
		return "--keep needs --rotate or --flight, which make the parts to be kept";
	if (o->keep && o->max_size)
		return "--keep and --max-size exclude each other";
	if (o->stacks && (rotate || flight))
		return "--stacks excludes --rotate and --flight: stacks are named at the end of "
		       "the recording";
	if (o->stacks && o->anonymize)
		return "--stacks excludes --anonymize: stacks have addresses and names of files";
	if (flight && (rotate || o->max_size))
		return "--flight excludes --rotate and --max-size";
	return NULL;
}

int recorder_options_check(const struct recorder_options *o, bool command)
{
	const char *wrong = wrong_bounds(o);

	if (command + (o->pid.count != 0) + o->all + (o->cgroup != NULL) > 1)
		wrong = "a COMMAND, --pid, --cgroup and --all exclude each other: give one of them";
	if (!wrong && o->repeat && !command)
		wrong = "--repeat needs a COMMAND to run several times: what runs already is "
			"recorded once";
	if (wrong) {
		mg_error("%s", wrong);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < o->pid.count; i++)
		if (kill(o->pid.pid[i], 0) != 0 && errno == ESRCH) {
			mg_error(
				"there is no process %d: give --pid those that run", o->pid.pid[i]);
			return -ESRCH;
		}
	return 0;
}
