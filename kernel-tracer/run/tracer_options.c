/* SPDX-License-Identifier: MIT */
#include "run/tracer_options.h"

#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "log.h"
#include "options.h"
#include "version.h"
#include "hooks/hook_table.h"
#include "run/selection.h"

static const char usage[] =
	"usage: magnet-kernel-tracer -o DIR [OPTION...] [--] [COMMAND [ARG...]]\n"
	"       magnet-kernel-tracer ctl ...        speak to a running tracer\n"
	"\n"
	"Records socket, TCP, IP, device and scheduler events of COMMAND and its children, of a\n"
	"running process, of a cgroup, or (without any of these) of the whole machine, into a CTF\n"
	"trace in DIR.\n"
	"\n";

/* Adds the kinds of hooks in a list to *out, as bits 1 << enum hook_kind. */
static void add_kinds(const char *text, uint32_t *out)
{
	static const enum hook_kind kinds[OPTION_HOOKS] = {[OPTION_HOOK_fentry] = HOOK_FENTRY,
		[OPTION_HOOK_fexit] = HOOK_FEXIT,
		[OPTION_HOOK_netfilter] = HOOK_NETFILTER,
		[OPTION_HOOK_sockops] = HOOK_SOCKOPS};
	char item[OPTION_ITEM_SIZE];
	unsigned int kind;

	while (option_item(&text, item))
		if (option_hook_kind(item, &kind))
			*out |= 1u << kinds[kind];
}

/* Adds all values given for a filter to those before. */
static int add_filter(struct tracer_options *o, const struct option_row *row)
{
	const struct option_list *values = option_value(row, &o->given);
	char why[400];

	for (size_t i = 0; i < values->count; i++)
		if (selection_add(&o->hooks.settings, option_row_name(row), values->text[i], why,
			    sizeof(why))) {
			mg_error("%s %s", row->option, why);
			return -EINVAL;
		}
	return 0;
}

/* Takes the values of lists. Returns 0 or a negative errno. */
static int take_lists(struct tracer_options *o)
{
	const struct recorder_options *given = &o->given;
	int err = 0;

	for (size_t i = 0; i < given->trigger.count; i++)
		option_trigger(given->trigger.text[i], &o->trigger);
	for (size_t i = 0; i < given->without.count; i++)
		add_kinds(given->without.text[i], &o->hooks.without);
	for (size_t i = 0; i < recorder_option_count && !err; i++)
		if (recorder_option_rows[i].use & MG_FILTER)
			err = add_filter(o, &recorder_option_rows[i]);
	return err;
}

/* Copies what the hooks and BPF programs are told and `ctl set` may change. */
static void copy_settings(struct tracer_options *o)
{
	o->hooks.layers = o->given.layers & MG_ALL_LAYERS;
	o->hooks.settings.level = o->given.level;
	/* without the layer syscall nothing tells which threads use a connection that is kept */
	o->hooks.settings.served = o->hooks.settings.active & MG_FILTERS_SAMPLE &&
				   o->hooks.layers & 1u << MG_LAYER_SYSCALL;
}

/* Records TCP alone where the layers are `light`, and all protocols elsewhere, unless the user
 * chose. */
static void choose_protocols(struct tracer_options *o)
{
	const char *value = o->given.layers & MG_LIGHT_ALONE ? "tcp" : "any";
	char why[100];

	if (!o->chose_protocols)
		selection_set(&o->hooks.settings, "protocol", value, why, sizeof(why));
}

/* Returns what is wrong with the triggers, NULL if nothing is. */
static const char *wrong_triggers(const struct tracer_options *o)
{
	const uint32_t both = 1u << MG_LAYER_DEVICE | 1u << MG_LAYER_SOCKET;
	bool flight = o->given.flight.bytes || o->given.flight.ns;

	if (!flight && o->given.trigger.count)
		return "--trigger needs --flight: it dumps the flight recorder";
	if (o->trigger.latency_ns && (o->hooks.layers & both) != both)
		return "--trigger latency needs the layers device and socket";
	if (o->trigger.retransmission && !(o->hooks.layers & 1u << MG_LAYER_TCP))
		return "--trigger retransmission needs the layer tcp";
	return NULL;
}

static int check(struct tracer_options *o)
{
	int err;

	if (!o->given.output) {
		mg_error("-o DIR is required: the directory for the trace (see --help)");
		return -EINVAL;
	}
	err = recorder_options_check(&o->given, o->command != NULL);
	if (err)
		return err;
	if (wrong_triggers(o)) {
		mg_error("%s", wrong_triggers(o));
		return -EINVAL;
	}
	/* no error: the interface may come later, or be in another network namespace */
	if (o->hooks.settings.interface[0] && !if_nametoindex(o->hooks.settings.interface))
		mg_warn("there is no interface %s in this network namespace",
			o->hooks.settings.interface);
	return 0;
}

int tracer_options_parse(struct tracer_options *o, int argc, char **argv)
{
	const struct option_command c = {.usage = usage,
		.rows = recorder_option_rows,
		.count = recorder_option_count,
		.command = MG_TRACER,
		.command_follows = true};
	struct recorder_options *given = &o->given;
	int err;

	recorder_options_init(given);
	given->drain = 20;
	err = options_parse(&c, argc, argv, given, NULL);
	if (given->version)
		puts("magnet-kernel-tracer " MAGNET_VERSION);
	if (!err)
		err = take_lists(o);
	if (err)
		return err;
	if (optind < argc)
		o->command = argv + optind;
	o->chose_protocols = given->protocol.count;
	choose_protocols(o);
	copy_settings(o);
	err = check(o);
	o->control = given->control_fd <= INT32_MAX ? (int)given->control_fd : -1;
	o->hooks.pid = given->pid;
	o->hooks.fresh = given->fresh;
	o->hooks.all = given->all || (!o->command && !given->pid.count && !given->cgroup);
	o->hooks.buffer_bytes = given->buffer;
	o->hooks.anonymize = given->anonymize;
	o->hooks.stack_ns = given->stacks;
	return err;
}

int tracer_options_set(struct tracer_options *o, const struct option_row *row, const char *value,
	char *why, size_t size)
{
	size_t used = (size_t)snprintf(why, size, "bad value for %s: ", option_row_name(row));

	if (row->use & MG_FILTER) {
		int err = selection_set(
			&o->hooks.settings, option_row_name(row), value, why + used, size - used);

		if (!err && strcmp(option_row_name(row), "protocol") == 0)
			o->chose_protocols = true;
		copy_settings(o);
		return err;
	}
	if (!row->type->parse(row, value, option_value(row, &o->given))) {
		snprintf(why + used, size - used, "it takes %s", option_takes());
		return -EINVAL;
	}
	if (row->type == &option_type_layers)
		choose_protocols(o);
	copy_settings(o);
	return 0;
}
