/* SPDX-License-Identifier: MIT */

#include "run/outcomes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "hooks/hook_table.h"
#include "hooks/load_more.h"
#include "hooks/hooks.h"
#include "hooks/netns.h"
#include "rings/drain.h"

static struct hook_status *place_of(struct run *r, const struct hook_status *status)
{
	struct hook_status *more;

	for (size_t i = 0; i < r->hook_count; i++)
		if (r->hook[i].netns == status->netns && strcmp(r->hook[i].what, status->what) == 0)
			return &r->hook[i];
	more = realloc(r->hook, (r->hook_count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	r->hook = more;
	return &more[r->hook_count++];
}

struct mg_hook run_hook_event(const struct hook_status *status)
{
	struct mg_hook e = {.status = status->status, .netns = status->netns};

	snprintf(e.layer, sizeof(e.layer), "%s", mg_layer_names[status->layer]);
	snprintf(e.hook, sizeof(e.hook), "%s", status->what);
	return e;
}

void run_on_hook(void *arg, const struct hook_status *status)
{
	struct run *r = arg;
	struct mg_hook e = run_hook_event(status);
	struct hook_status *place = place_of(r, status);

	if (place)
		*place = *status;
	drain_note(r->drain, MG_EVENT_hook, &e, MG_PAYLOAD_SIZE(HOOK));
	if (status->status && status->status != -ENOLINK && r->options.control < 0 &&
		!mg_hook_is_of_lock(status->what))
		mg_warn("%s: %s cannot be attached: %s", mg_layer_names[status->layer],
			status->what, status->why[0] ? status->why : strerror(-status->status));
}

static void go_on_draining(void *arg)
{
	struct run *r = arg;

	drain_pass(r->drain); /* the loop's next pass reports errors */
}

int run_set_layers(struct run *r, uint32_t layers)
{
	const uint32_t in_namespaces = 1u << MG_LAYER_IP | 1u << MG_LAYER_NETFILTER;
	uint32_t changed = r->options.hooks.layers ^ layers;
	int err = hooks_load_more(&r->hooks, layers, go_on_draining, r);
	int attached = hooks_set_layers(&r->hooks, layers, run_on_hook, r);

	err = err ? err : attached;
	r->options.hooks.layers = layers;
	if (changed & in_namespaces)
		netns_switch(r->netns);
	return err;
}
