/* SPDX-License-Identifier: MIT */
#include "stacks/chain.h"

#include <stddef.h>
#include <string.h>

static bool begins_with_any(const char *name, const char *const *with, size_t count)
{
	for (size_t i = 0; name && i < count; i++)
		if (strncmp(name, with[i], strlen(with[i])) == 0)
			return true;
	return false;
}
#define BEGINS_WITH_ANY(name, list) begins_with_any(name, list, sizeof(list) / sizeof((list)[0]))

/* Functions that call BPF programs, on the way from the tracepoint. */
static bool is_of_tracing(const char *name)
{
	static const char *const own[] = {"bpf_prog_", "bpf_trace_run", "__bpf_trace_",
		"__traceiter_", "bpf_trampoline_", "bpf_get_stack", "__bpf_get_stack",
		"get_perf_callchain", "perf_callchain_"};

	return BEGINS_WITH_ANY(name, own);
}

/* Functions that nothing of the program calls. */
static bool is_first(const struct place *p)
{
	static const char *const names[] = {"_start", "start_thread", "clone", "clone3", "__clone",
		"__clone3", "thread_start", "runtime.goexit", "runtime.mstart", "runtime.rt0_go"};
	static const char *const beginnings[] = {"__libc_start_"};

	for (size_t i = 0; p->function && i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == p->function_length &&
			memcmp(p->function, names[i], p->function_length) == 0)
			return true;
	return BEGINS_WITH_ANY(p->function, beginnings);
}

static void add(struct chain *c, uint64_t address, const struct place *p)
{
	if (c->count < CHAIN_MAX)
		c->frame[c->count++] = (struct chain_frame){address, *p};
}

static void add_unknown(struct chain *c)
{
	static const struct place none;

	if (c->count && c->frame[c->count - 1].address)
		add(c, 0, &none);
}

static void make_of_kernel(struct chain *c, const struct mg_stack *s, place_fn name, void *arg)
{
	bool begun = false;

	for (uint32_t i = 0; i < s->count; i++) {
		struct place p = {0};

		name(arg, s, i ? s->frame[i] - 1 : s->frame[i], &p);
		begun |= !is_of_tracing(p.function);
		if (begun)
			add(c, s->frame[i], &p);
	}
}

static void make_of_program(struct chain *c, const struct mg_stack *s, place_fn name, void *arg)
{
	struct place p = {0};

	for (uint32_t i = 0; i < s->count; i++) {
		p = (struct place){0};
		name(arg, s, i ? s->frame[i] - 1 : s->frame[i], &p);
		/* an address that is in no program or list of functions is no return address */
		if (i && !p.function && !p.file)
			break;
		add(c, s->frame[i], &p);
		if (is_first(&p))
			return;
		if (!p.keeps_frame)
			add_unknown(c);
	}
	add_unknown(c);
}

void chain_make(struct chain *out, const struct mg_stack *s, place_fn name, void *arg)
{
	out->count = 0;
	if (s->user)
		make_of_program(out, s, name, arg);
	else
		make_of_kernel(out, s, name, arg);
	if (s->count == MG_STACK_FRAMES)
		add_unknown(out);
}
