/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "hooks/hooks.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events.h"
#include "log.h"
#include "hooks/cgroup.h"
#include "hooks/hook_choice.h"
#include "hooks/hook_objects.h"
#include "hooks/hook_table.h"
#include "hooks/program_images.h"

int hooks_program_fd(const struct hooks *h, const char *name)
{
	const struct program_image *image = h->images ? program_images_find(h->images, name) : NULL;
	struct bpf_program *p;

	if (image)
		return image->fd;
	for (int i = 0; i < h->parts; i++) {
		p = bpf_object__find_program_by_name(h->part[i].object, name);
		if (p && bpf_program__autoload(p))
			return bpf_program__fd(p);
	}
	p = h->images ? NULL : bpf_object__find_program_by_name(h->object, name);
	return p ? bpf_program__fd(p) : -ENOENT;
}

int hooks_map_fd(const struct hooks *h, const char *name)
{
	return bpf_object__find_map_fd_by_name(h->object, name);
}

static int map_by_suffix(const struct hooks *h, const char *suffix)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, h->object) {
		const char *section = strstr(bpf_map__name(map), suffix);

		if (section && strcmp(section, suffix) == 0)
			return bpf_map__fd(map);
	}
	return -ENOENT;
}

/*
 * Maps what bpf/caller.bpf.h keeps of threads and sockets by their numbers; returns NULL if it
 * cannot, or the programs have none.
 */
static struct mg_places *map_places(const struct hooks *h)
{
	void *places = MAP_FAILED;

	if (!h->old)
		places = mmap(NULL, sizeof(struct mg_places), PROT_READ | PROT_WRITE, MAP_SHARED,
			map_by_suffix(h, ".bss"), 0);
	return places != MAP_FAILED ? places : NULL;
}

/* Frees the place of a process's first thread: it may have one from calls before. */
static void free_place(const struct hooks *h, pid_t pid)
{
	uint64_t thread = (uint64_t)pid << 32 | (uint32_t)pid;
	__u64 *caller;
	struct mg_places *places = map_places(h);

	if (!places)
		return;
	caller = places->caller[(uint32_t)pid % MG_CALLERS];
	if (*caller == thread)
		memset(caller, 0, sizeof(places->caller[0]));
	munmap(places, sizeof(*places));
}

/* Empties the places of followed and refused sockets' numbers. */
static void forget_numbers(const struct hooks *h)
{
	struct mg_places *places = map_places(h);

	if (!places)
		return;
	memset(places->number, 0, sizeof(places->number));
	munmap(places, sizeof(*places));
}

int hooks_mark_task(struct hooks *h, pid_t pid, bool on, int again)
{
	uint8_t mark[MG_TASK_MARK] = {[MG_TASK_AGAIN] = (uint8_t)again};
	int map = hooks_map_fd(h, "tasks");
	/* task storage is keyed by a pidfd, the older kernels' hash map by the id */
	int key = h->old ? (int)pid : (int)syscall(SYS_pidfd_open, pid, 0), err;

	if (key < 0)
		return -errno;
	err = on ? bpf_map_update_elem(map, &key, mark, again ? BPF_ANY : BPF_NOEXIST)
		 : bpf_map_delete_elem(map, &key);
	if (err)
		err = -errno;
	if (!on || again) /* only calibration unmarks, and marks again */
		free_place(h, pid);
	if (!h->old)
		close(key);
	return err;
}

/* Finds the next key before one is deleted: a search from the beginning takes longer each time. */
void hooks_empty(struct hooks *h, const char *map)
{
	uint64_t key, next;
	int fd = hooks_map_fd(h, map), more = bpf_map_get_next_key(fd, NULL, &key);

	while (more == 0) {
		more = bpf_map_get_next_key(fd, &key, &next);
		bpf_map_delete_elem(fd, &key);
		key = next;
	}
}

int hooks_iterate(struct hooks *h, const char *program)
{
	int link = bpf_link_create(hooks_program_fd(h, program), 0, BPF_TRACE_ITER, NULL);
	char sink[64];
	int fd, err = 0;

	if (link < 0)
		return link;
	fd = bpf_iter_create(link);
	if (fd < 0) {
		err = -errno;
	} else {
		while (read(fd, sink, sizeof(sink)) > 0)
			;
		close(fd);
	}
	close(link);
	return err;
}

/* Meets the sockets that traced tasks already have, on layers where their calls do not do it. */
static int meet_existing(struct hooks *h)
{
	for (size_t i = 0; i < hook_count; i++)
		if (hook_meets_sockets(&hook_table[i]) && h->links[i])
			return hooks_iterate(h, "meet_existing");
	return 0;
}

static void forget_met(int map)
{
	static const struct mg_met nobody[MG_MET_SLOTS];

	for (uint32_t i = 0; i < MG_MET_VALUES; i++)
		bpf_map_update_elem(map, &i, nobody, BPF_ANY);
}

/* Events whose hooks keep_threads() needs. */
static const char *const keepers[] = {"sched_switch", "task_exec", "task_exit"};

static bool is_attached(const struct hooks *h, const char *event)
{
	for (size_t i = 0; i < hook_count; i++)
		if (h->links[i] && strcmp(hook_table[i].event, event) == 0)
			return true;
	return false;
}

/*
 * Has the programs keep which traced thread each CPU runs, from the next switch on, or not ask for
 * it. What they noted before is not believed any more.
 */
static void keep_threads(struct hooks *h, bool on)
{
	on &= !h->old; /* there nobody has a place */
	for (size_t i = 0; i < sizeof(keepers) / sizeof(keepers[0]); i++)
		on &= is_attached(h, keepers[i]);
	h->epoch += on;
	for (int cpu = 0; h->ring_memory && cpu < h->cpus; cpu++)
		__atomic_store_n(
			&hooks_ring(h, cpu)->epoch_now, on ? h->epoch : 0, __ATOMIC_SEQ_CST);
}

int hooks_set(struct hooks *h, const struct mg_bpf_settings *s)
{
	int map = map_by_suffix(h, ".data.settings");
	struct mg_bpf_settings was, now = *s;
	uint32_t zero = 0;
	bool same;

	if (bpf_map_lookup_elem(map, &zero, &was))
		return -errno;
	was.level = s->level;
	was.served = s->served;
	now.round = was.round;
	same = memcmp(&was, &now, sizeof(was)) == 0;
	now.round += !same;
	keep_threads(h, false);
	if (bpf_map_update_elem(map, &zero, &now, BPF_ANY))
		return -errno;
	h->settings = now;
	if (same) { /* the choice of followed sockets does not depend on these */
		keep_threads(h, true);
		return 0;
	}
	forget_numbers(h);
	hooks_empty(h, "socks");
	hooks_empty(h, "tuples");
	hooks_empty(h, "others");
	hooks_empty(h, "places");
	/* entries come from packets that the filters may refuse now */
	hooks_empty(h, "paths");
	/* programs may have looked these up meanwhile, and remember it for this round */
	now.round++;
	if (bpf_map_update_elem(map, &zero, &now, BPF_ANY))
		return -errno;
	forget_met(hooks_map_fd(h, "met"));
	keep_threads(h, true);
	return meet_existing(h);
}

static int link_to_sockets(int program)
{
	bool whole = true;
	int link = cgroup_link_sockets(program, &whole);

	if (link >= 0 && !whole)
		mg_warn("in this cgroup namespace timestamps are recorded of its own cgroups' "
			"sockets alone");
	return link;
}

/* Attaches a row's program to what it was loaded for. Returns a descriptor or a negative errno. */
static int link_of(const struct hooks *h, size_t row)
{
	int program = hooks_program_fd(h, hook_table[row].program), fd;

	if (program < 0)
		return program;
	if (hook_table[row].kind == HOOK_SOCKOPS)
		return link_to_sockets(program);
	fd = bpf_raw_tracepoint_open(NULL, program);
	return fd < 0 ? -errno : fd;
}

static int attach(struct hooks *h, size_t row)
{
	int fd = link_of(h, row);

	if (fd > 0)
		h->links[row] = fd;
	return fd < 0 ? fd : 0;
}

static void detach(struct hooks *h, size_t row)
{
	if (h->links[row])
		close(h->links[row]);
	h->links[row] = 0;
}

/* Returns whether keep_threads() needs the row. */
static bool is_keeper(const struct hook *k)
{
	for (size_t i = 0; i < sizeof(keepers) / sizeof(keepers[0]); i++)
		if (strcmp(k->event, keepers[i]) == 0)
			return true;
	return false;
}

int hooks_attach_calls(struct hooks *h)
{
	int err = 0;

	for (size_t i = 0; i < hook_count && !err; i++)
		if (hook_table[i].layer == MG_LAYER_SYSCALL && hook_is_needed(h->state[i]))
			err = attach(h, i);
	/* calls cost less with these, and one that fails is reported by hooks_attach() */
	for (size_t i = 0; i < hook_count && !err; i++)
		if (is_keeper(&hook_table[i]) && h->state[i] == 0)
			attach(h, i);
	keep_threads(h, true);
	return err;
}

int hooks_copy_calls(struct hooks *h)
{
	if (h->old) /* some of these kernels log a warning otherwise */
		return -EOPNOTSUPP;
	for (size_t i = 0; i < hook_count; i++) {
		int link;

		if (hook_table[i].layer != MG_LAYER_SYSCALL || !hook_is_needed(h->state[i]))
			continue;
		if (h->copies == COPIES_MAX)
			return -E2BIG;
		link = link_of(h, i);
		if (link < 0)
			return link; /* before Linux 6.10 a program cannot be attached twice */
		h->copy[h->copies++] = link;
	}
	return 0;
}

void hooks_drop_copy(struct hooks *h)
{
	for (int i = 0; i < CALIBRATION_LINKS && h->copies; i++)
		close(h->copy[--h->copies]);
}

/*
 * Returns whether another row feeds the row's event, or the reason has been reported with another
 * row of that event.
 */
static bool is_settled(const struct hooks *h, size_t row)
{
	for (size_t i = 0; i < hook_count; i++)
		if (i != row && hook_same_event(i, row) &&
			(hook_is_usable(h->state[i]) ||
				(i < row && h->state[i] < 0 && !is_settled(h, i))))
			return true;
	return false;
}

/* Writes the reasons why none of an event's rows is in use. */
static void reasons(const struct hooks *h, size_t row, char *text, size_t size)
{
	for (size_t i = row; i < hook_count; i++) {
		size_t at = strlen(text);
		char one[160];

		if (h->state[i] >= 0 || !hook_same_event(i, row))
			continue;
		hook_reason(&hook_table[i], h->state[i], one, sizeof(one));
		if (!strstr(text, one))
			snprintf(text + at, size - at, "%s%s", at ? "; " : "", one);
	}
}

int hooks_attach(struct hooks *h, uint32_t layers, hook_report_fn report, void *arg)
{
	uint32_t self = (uint32_t)getpid(), zero = 0;

	bpf_map_update_elem(map_by_suffix(h, ".data.tracer"), &zero, &self, BPF_ANY);
	for (size_t i = 0; i < hook_count; i++) {
		const struct hook *k = &hook_table[i];
		struct hook_status s = {.layer = k->layer, .status = h->state[i]};

		if (s.status == HOOK_TO_MEASURE) {
			detach(h, i);
			h->state[i] = HOOK_OFF;
		}
		if (s.status > 0)
			continue;
		snprintf(s.what, sizeof(s.what), "%s", k->event);
		if (s.status == 0 && k->kind == HOOK_NETFILTER)
			continue; /* netns.c attaches and reports these */
		if (s.status == 0 && !h->links[i])
			s.status = h->state[i] = attach(h, i);
		if (s.status && (is_settled(h, i) || !hook_is_wanted(k, layers, &h->settings)))
			continue;
		hook_by(k, s.by, sizeof(s.by));
		if (s.status)
			reasons(h, i, s.why, sizeof(s.why));
		if (!hook_is_selection(k) || s.status)
			report(arg, &s);
	}
	keep_threads(h, true);
	return 0;
}

int hooks_set_layers(struct hooks *h, uint32_t layers, hook_report_fn report, void *arg)
{
	int first = 0;

	keep_threads(h, false); /* before its hooks are detached */
	for (size_t i = 0; i < hook_count; i++) {
		const struct hook *k = &hook_table[i];
		struct hook_status s = {.layer = k->layer};
		bool wanted = hook_is_wanted(k, layers, &h->settings);

		if (h->state[i] != (wanted ? HOOK_OFF : 0))
			continue;
		h->state[i] = !wanted ? HOOK_OFF : h->loaded[i] ? 0 : h->load_error;
		if (k->kind == HOOK_NETFILTER && h->state[i] >= 0)
			continue; /* netns.c attaches these */
		snprintf(s.what, sizeof(s.what), "%s", k->event);
		if (wanted)
			s.status = h->state[i] = h->loaded[i] ? attach(h, i) : h->state[i];
		else
			detach(h, i);
		if (s.status && !first)
			first = s.status;
		if (hook_meets_sockets(k) && wanted && !s.status)
			meet_existing(h);
		if (!wanted)
			s.status = -ENOLINK;
		if (!hook_is_selection(k) || (wanted && s.status))
			report(arg, &s);
	}
	keep_threads(h, true);
	return first;
}

bool hook_in_namespaces(const struct hooks *h, size_t row)
{
	return hook_table[row].kind == HOOK_NETFILTER && h->state[row] == 0;
}

bool hook_is_off_in_namespaces(const struct hooks *h, size_t row)
{
	return hook_table[row].kind == HOOK_NETFILTER && h->state[row] == HOOK_OFF;
}

int hooks_follow_tasks(struct hooks *h)
{
	return hooks_iterate(h, "follow_existing");
}

int hooks_follow(struct hooks *h)
{
	int err = hooks_follow_tasks(h);

	return err ? err : meet_existing(h);
}

static uint64_t recursion_misses(int fd, uint64_t otherwise)
{
	struct bpf_prog_info info;
	uint32_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	return bpf_obj_get_info_by_fd(fd, &info, &len) ? otherwise : info.recursion_misses;
}

/* Returns how much a count has grown since the last call for it. */
static uint64_t grown(struct hooks *h, int map, uint32_t i)
{
	uint64_t n, before = h->not_seen[i];

	if (bpf_map_lookup_elem(map, &i, &n) != 0 || n <= before)
		return 0;
	h->not_seen[i] = n;
	return n - before;
}

static void new_not_seen(struct hooks *h, hook_miss_fn tell, void *arg)
{
	static const struct {
		const char *producer;
		uint32_t reason;
	} what[MG_NOT_SEEN_END] = {
		[MG_NOT_SEEN_CONNECTIONS] = {"too many connections", MG_LOST_NOT_FOLLOWED},
		[MG_NOT_SEEN_32BIT] = {"calls of 32-bit programs", MG_LOST_CALLS},
		[MG_NOT_SEEN_LISTENERS] = {"too many listening ports", MG_LOST_NOT_FOLLOWED},
		[MG_NOT_SEEN_THREADS] = {"too many threads", MG_LOST_THREADS},
	};
	int map = hooks_map_fd(h, "not_seen");

	for (uint32_t i = 0; i < MG_NOT_SEEN_END; i++) {
		uint64_t n = grown(h, map, i), again = grown(h, map, MG_NOT_SEEN_AGAIN(i));

		if (n || again) /* a count of 0 says that the same ones are still missing */
			tell(arg, what[i].producer, n, what[i].reason);
	}
}

bool hooks_feed(const struct hooks *h, const char *event)
{
	for (size_t i = 0; i < hook_count; i++)
		if (h->state[i] == 0 && strcmp(hook_table[i].event, event) == 0)
			return true;
	return false;
}

void hooks_new_misses(struct hooks *h, hook_miss_fn tell, void *arg)
{
	for (size_t i = 0; i < hook_count; i++) {
		uint64_t before = h->misses[i];

		if (h->state[i] != 0)
			continue;
		h->misses[i] = recursion_misses(hooks_program_fd(h, hook_table[i].program), before);
		if (h->misses[i] > before)
			tell(arg, hook_table[i].event, h->misses[i] - before, MG_LOST_SKIPPED);
	}
	new_not_seen(h, tell, arg);
}

void hooks_detach(struct hooks *h)
{
	keep_threads(h, false); /* before its hooks are detached */
	for (size_t i = 0; i < hook_count; i++)
		detach(h, i);
}

void hooks_unload(struct hooks *h)
{
	hooks_detach(h);
	if (h->ring_memory)
		munmap(h->ring_memory, h->ring_stride * (uint64_t)h->cpus);
	if (h->images)
		program_images_free(h->images);
	free(h->images);
	hook_objects_close(h);
	free(h->targets);
	free(h->config);
	memset(h, 0, sizeof(*h));
}
