/* SPDX-License-Identifier: MIT */
/* Loads the programs of layers that are chosen while recording. */
#define _GNU_SOURCE
#include "hooks/load_more.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "hooks/hook_choice.h"
#include "hooks/hook_objects.h"
#include "hooks/hook_table.h"
#include "hooks/load_parts.h"

struct more {
	struct hooks *h;
	bool rows[HOOKS_MAX];
	struct load_part part;
	bool is_done;
};

static void *load_more(void *arg)
{
	struct more *m = arg;

	m->part.err = hook_objects_open(m->h, &m->part.object);
	if (!m->part.err) {
		hook_objects_select(m->part.object, m->rows, false);
		m->part.err = load_parts_use_maps(m->h->object, m->part.object);
	}
	if (!m->part.err)
		load_part(&m->part);
	__atomic_store_n(&m->is_done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Loads the rows of `m` in a thread. Returns 0 or a negative errno. */
static int load_rows(struct more *m, void (*meanwhile)(void *arg), void *arg)
{
	struct hooks *h = m->h;
	pthread_t thread;

	if (h->parts == HOOKS_PARTS)
		return -E2BIG;
	if (pthread_create(&thread, NULL, load_more, m) != 0)
		return -EAGAIN;
	while (!__atomic_load_n(&m->is_done, __ATOMIC_ACQUIRE)) {
		meanwhile(arg);
		usleep(1000);
	}
	pthread_join(thread, NULL);
	if (m->part.err) {
		bpf_object__close(m->part.object);
		return m->part.err;
	}
	h->part[h->parts++] = m->part;
	for (size_t i = 0; i < hook_count; i++)
		h->loaded[i] |= m->rows[i];
	return 0;
}

/*
 * The kernel may refuse casts in programs of these layers though it took those loaded first: then
 * the plain programs are loaded, as at the start.
 */
static int load_either(struct more *m, void (*meanwhile)(void *arg), void *arg)
{
	int err = load_rows(m, meanwhile, arg);

	if (!err || err == -E2BIG || err == -EAGAIN || !m->h->cast)
		return err;
	m->h->cast = false;
	m->part = (struct load_part){0};
	m->is_done = false;
	return load_rows(m, meanwhile, arg);
}

int hooks_load_more(struct hooks *h, uint32_t layers, void (*meanwhile)(void *arg), void *arg)
{
	struct more m = {.h = h};
	bool any = false;

	for (size_t i = 0; i < hook_count; i++) {
		m.rows[i] = h->state[i] == HOOK_OFF && !h->loaded[i] &&
			    hook_is_wanted(&hook_table[i], layers, &h->settings);
		any |= m.rows[i];
	}
	h->load_error = any ? load_either(&m, meanwhile, arg) : 0;
	return h->load_error;
}
