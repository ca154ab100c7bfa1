/* SPDX-License-Identifier: MIT */
/* libmagnet-lttng.so: writes calls as LTTng-UST events, for the user's own LTTng sessions. */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include <dlfcn.h>
#include <lttng/ust-events.h>
#include <lttng/ust-fork.h>
#include <signal.h>

#include "backend.h"

/*
 * The probe that LTTng's macros generate writes field by field, each by a call of its own into
 * LTTng. They name it and take its address by one word: this macro renames the function where it is
 * declared and defined, so that the address is that of the probe below.
 */
#define lttng_ust__event_probe__magnet___call(...) probe_by_field(__VA_ARGS__)
static void(lttng_ust__event_probe__magnet___call)(void *data, const struct mg_call *c);

#include "provider.h"

#define CALL_FIELD_BYTES(S, type, name, doc) +sizeof(mg_##type)
#define CALL_BYTES                           (0 MG_EV_CALL(CALL_FIELD_BYTES, ))
_Static_assert(offsetof(struct mg_call, kind) + sizeof(mg_e_kind) == CALL_BYTES,
	"no holes between fields: in the buffer they are as in the struct");

/*
 * Writes a call as one piece. Leaves what is rare to the generated probe: sessions with a filter,
 * and triggers.
 */
static void(lttng_ust__event_probe__magnet___call)(void *data, const struct mg_call *c)
{
	const struct lttng_ust_event_common *event = data;
	struct lttng_ust_event_recorder *recorder = event->child;
	struct lttng_ust_probe_ctx probe = {
		.struct_size = sizeof(probe), .ip = __builtin_return_address(0)};
	struct lttng_ust_ring_buffer_ctx ctx;
	struct lttng_ust_channel_buffer *channel;

	if (__builtin_expect(event->type != LTTNG_UST_EVENT_TYPE_RECORDER ||
				     CMM_ACCESS_ONCE(event->eval_filter),
		    0)) {
		probe_by_field(data, c);
		return;
	}
	channel = recorder->chan;
	if (!CMM_ACCESS_ONCE(channel->parent->session->active) ||
		!CMM_ACCESS_ONCE(channel->parent->enabled) || !CMM_ACCESS_ONCE(event->enabled))
		return;
	lttng_ust_ring_buffer_ctx_init(
		&ctx, recorder, CALL_BYTES, lttng_ust_rb_alignof(uint64_t), &probe);
	if (channel->ops->event_reserve(&ctx) < 0)
		return;
	channel->ops->event_write(&ctx, c, CALL_BYTES, lttng_ust_rb_alignof(uint64_t));
	channel->ops->event_commit(&ctx);
}

#define LOG(n, name, dir)                                                \
	static void log_##name(unsigned int fn, const struct mg_call *c) \
	{                                                                \
		(void)fn;                                                \
		lttng_ust_do_tracepoint(magnet, name, c);                \
	}
MG_FUNCTIONS(LOG)

static void log_mark(const struct mg_mark *m)
{
	lttng_ust_do_tracepoint(magnet, mark, m);
}

static __thread sigset_t signals __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	lttng_ust_before_fork(&signals);
}

static void after_fork_parent(void)
{
	lttng_ust_after_fork_parent(&signals);
}

static void after_fork_child(void)
{
	lttng_ust_after_fork_child(&signals);
}

#define ROW(n, name, dir)    [n] = log_##name,
#define WANTED(n, name, dir) [n] = &lttng_ust_tracepoint_magnet___##name.state,
static struct mg_backend backend = {.wanted = {MG_FUNCTIONS(WANTED)},
	.log = {MG_FUNCTIONS(ROW)},
	.wanted_mark = &lttng_ust_tracepoint_magnet___mark.state,
	.mark = log_mark};

__attribute__((visibility("default"))) const struct mg_backend *mg_lttng_backend(void);

const struct mg_backend *mg_lttng_backend(void)
{
	/* LTTng must learn of a fork; liblttng-ust-fork.so does that if the user preloaded it */
	void *fork_library = dlopen("liblttng-ust-fork.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (fork_library) {
		dlclose(fork_library);
		return &backend;
	}
	backend.before_fork = before_fork;
	backend.after_fork_parent = after_fork_parent;
	backend.after_fork_child = after_fork_child;
	return &backend;
}
