/* SPDX-License-Identifier: MIT */
/* The table of lttng-modules' events that correspond to one of the core's. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "lttng_parts.h"
#include "members.h"

/* ---- threads: events without context belong to the one that sched_switch let run ---- */

static struct known_thread *thread_of(struct lttng *l, uint32_t tid, uint32_t pid, const char *comm)
{
	struct known_thread *t;

	HASH_FIND(hh, l->threads, &tid, sizeof(tid), t);
	if (t && (!pid || t->pid == pid))
		return t;
	if (!t) {
		t = mg_calloc(1, sizeof(*t));
		if (!t)
			return NULL;
		t->tid = tid;
		HASH_ADD(hh, l->threads, tid, sizeof(t->tid), t);
		t = hash_kept(t);
		if (!t)
			return NULL;
	}
	if (pid)
		t->pid = pid;
	core_know_thread(l->core, tid, t->pid, comm);
	return t;
}

static void known_by(struct lttng *l, const bt_field *payload, const char *tid, const char *pid,
	const char *comm)
{
	char name[16];
	uint32_t id = (uint32_t)member_integer(payload, tid, 0);

	if (id)
		thread_of(l, id, pid ? (uint32_t)member_integer(payload, pid, 0) : 0,
			field_text(member_of(payload, comm), name, sizeof(name)) ? name : NULL);
}

uint32_t lttng_pid(const struct lttng *l, uint32_t tid)
{
	const struct known_thread *t;

	HASH_FIND(hh, l->threads, &tid, sizeof(tid), t);
	return t ? t->pid : 0;
}

static bool on_process(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	(void)e;
	known_by(l, payload, "tid", "pid", "name");
	return false;
}

/*
 * Converts the state of a preempted thread: the kernel marks it with one bit above all states,
 * whose position depends on the kernel version; no state but 0 is combined with it.
 */
static bool on_switch(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	struct mg_sched_switch *p = &e->sched_switch;

	p->preempt = p->prev_state >= 1024 && !(p->prev_state & (p->prev_state - 1));
	if (p->preempt)
		p->prev_state = 0;
	known_by(l, payload, "prev_tid", NULL, "prev_comm");
	known_by(l, payload, "next_tid", NULL, "next_comm");
	if (e->cpu >= 0 && e->cpu < LTTNG_CPUS)
		l->running[e->cpu] = p->next_tid;
	e->tid = p->prev_tid;
	return true;
}

static bool on_waking(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	known_by(l, payload, "tid", NULL, "comm");
	e->sched_waking.wakee_pid = lttng_pid(l, e->sched_waking.wakee_tid);
	return true;
}

static bool on_fork(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	known_by(l, payload, "child_tid", "child_pid", "child_comm");
	e->task_fork.child_pid = lttng_pid(l, e->task_fork.child_tid);
	return true;
}

static bool on_exec(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	char path[4096];
	const char *name;

	(void)l;
	if (!field_text(member_of(payload, "filename"), path, sizeof(path)))
		return false;
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	memcpy(e->task_exec.comm, name, strnlen(name, sizeof(e->task_exec.comm) - 1));
	return true;
}

static bool on_exit_of(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	struct known_thread *t;

	e->tid = (uint32_t)member_integer(payload, "tid", e->tid);
	e->pid = lttng_pid(l, e->tid);
	e->task_exit.leader = e->tid == e->pid;
	HASH_FIND(hh, l->threads, &e->tid, sizeof(e->tid), t);
	if (t) { /* its number may next belong to another thread */
		HASH_DEL(l->threads, t);
		free(t);
	}
	return true;
}

/* ---- system calls ---- */

static bool on_enter(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	static const char *const lengths[] = {"count", "len", "size"};
	struct known_thread *t = e->tid ? thread_of(l, e->tid, e->pid, NULL) : NULL;
	struct mg_sys_enter *p = &e->sys_enter;

	if (!t)
		return false;
	t->call = p->call;
	p->fd = (int32_t)member_integer(payload, "fd", member_integer(payload, "out_fd", -1ull));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && !p->asked; i++)
		p->asked = member_integer(payload, lengths[i], 0);
	if (mg_syscall_direction(p->call) != MG_DIR_OTHER)
		p->flags = (uint32_t)member_integer(payload, "flags", 0);
	return true;
}

/* Converts the one event with which old versions end all calls. */
static bool on_exit_call(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	struct known_thread *t = e->tid ? thread_of(l, e->tid, e->pid, NULL) : NULL;

	if (!t || !t->call)
		return false;
	e->sys_exit.call = t->call;
	e->sys_exit.ret = (int64_t)member_integer(payload, "ret", 0);
	e->sys_exit.bytes = UINT32_MAX;
	t->call = 0;
	return true;
}

/* ---- packets (lttng_net.c) ---- */

static bool on_queue(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	return net_packet(&l->net, payload, e, false);
}

static bool on_receive(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	return net_packet(&l->net, payload, e, true);
}

static bool on_xmit(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	return net_sent(&l->net, payload, e);
}

static bool on_local_out(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	return net_segment(&l->net, payload, e, false);
}

static bool on_local_in(struct lttng *l, const bt_field *payload, struct mg_event *e)
{
	return net_segment(&l->net, payload, e, true);
}

/* ---- the table ---- */

/* clang-format off */
static const struct row rows[] = {
	{"sched_switch", MG_EVENT_sched_switch, NULL,
		{{"prev_tid", "prev_tid"}, {"next_tid", "next_tid"}, {"prev_state", "prev_state"}}, on_switch},
	{"sched_waking", MG_EVENT_sched_waking, NULL, {{"tid", "wakee_tid"}}, on_waking},
	{"sched_wakeup", MG_EVENT_sched_waking, "sched_waking", {{"tid", "wakee_tid"}}, on_waking},
	{"sched_wakeup", MG_EVENT_sched_wakeup, NULL, {{"tid", "wakee_tid"}}, on_waking},
	{"sched_wakeup_new", MG_EVENT_sched_wakeup_new, NULL, {{"tid", "wakee_tid"}}, on_waking},
	{"sched_migrate_task", MG_EVENT_sched_migrate, NULL,
		{{"tid", "moved_tid"}, {"orig_cpu", "from_cpu"}, {"dest_cpu", "to_cpu"}}, NULL},
	{"sched_process_fork", MG_EVENT_task_fork, NULL,
		{{"child_tid", "child_tid"}, {"child_comm", "comm"}}, on_fork},
	{"sched_process_exec", MG_EVENT_task_exec, NULL, {{0}}, on_exec},
	{"sched_process_exit", MG_EVENT_task_exit, NULL, {{0}}, on_exit_of},
	{"lttng_statedump_process_state", 0, NULL, {{0}}, on_process},
	{"irq_handler_entry", MG_EVENT_irq_entry, NULL, {{"irq", "number"}}, NULL},
	{"irq_handler_exit", MG_EVENT_irq_exit, NULL, {{"irq", "number"}}, NULL},
	{"irq_softirq_entry", MG_EVENT_softirq_entry, NULL, {{"vec", "vec"}}, NULL},
	{"irq_softirq_exit", MG_EVENT_softirq_exit, NULL, {{"vec", "vec"}}, NULL},
	{"softirq_entry", MG_EVENT_softirq_entry, NULL, {{"vec", "vec"}}, NULL},
	{"softirq_exit", MG_EVENT_softirq_exit, NULL, {{"vec", "vec"}}, NULL},
	{"net_dev_queue", MG_EVENT_dev_queue, NULL, {{0}}, on_queue},
	{"net_dev_xmit", MG_EVENT_dev_done, NULL, {{"rc", "rc"}, {"len", "len"}}, on_xmit},
	{"net_if_receive_skb", MG_EVENT_dev_recv, NULL, {{0}}, on_receive},
	{"netif_receive_skb", MG_EVENT_dev_recv, NULL, {{0}}, on_receive},
	/* packets put on a backlog come by the former event again */
	{"net_if_rx", MG_EVENT_dev_recv, "net_if_receive_skb", {{0}}, on_receive},
	{"netif_rx", MG_EVENT_dev_recv, "netif_receive_skb", {{0}}, on_receive},
	{"inet_sock_local_out", MG_EVENT_ip_out, NULL, {{"seq", "seq"}, {"ack_seq", "ack"}}, on_local_out},
	{"inet_sock_local_in", MG_EVENT_ip_in, NULL, {{"seq", "seq"}, {"ack_seq", "ack"}}, on_local_in},
	{"exit_syscall", MG_EVENT_sys_exit, NULL, {{0}}, on_exit_call},
};
/* clang-format on */
static const struct row enter_row = {.id = MG_EVENT_sys_enter, .more = on_enter};
static const struct row exit_row = {.id = MG_EVENT_sys_exit, .more = on_exit_call};

/*
 * Finds the row and the call for names such as "syscall_entry_sendto",
 * "compat_syscall_entry_sendto" and "sys_sendto"; leaves both unset for other names.
 */
static void find_call(const char *name, const struct row **row, uint16_t *call)
{
	static const struct {
		const char *prefix;
		const struct row *row;
	} kinds[] = {
		{"syscall_entry_", &enter_row}, {"syscall_exit_", &exit_row}, {"sys_", &enter_row}};
	static const struct {
		const char *name;
		uint16_t call;
	} more[] = {{"send", MG_SYS_sendto}, {"recv", MG_SYS_recvfrom},
		{"sendfile64", MG_SYS_sendfile}};
	const char *rest = strncmp(name, "compat_", 7) == 0 ? name + 7 : name;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !*row; i++)
		if (strncmp(rest, kinds[i].prefix, strlen(kinds[i].prefix)) == 0) {
			*row = kinds[i].row;
			rest += strlen(kinds[i].prefix);
		}
	if (!*row)
		return;
	for (uint16_t id = MG_SYS_none + 1; id < MG_SYS_END; id++)
		if (strcmp(rest, mg_syscall_name(id)) == 0)
			*call = id;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (strcmp(rest, more[i].name) == 0)
			*call = more[i].call;
	if (!*call)
		*row = NULL;
}

static bool has_class(const bt_stream_class *s, const char *name)
{
	uint64_t n = bt_stream_class_get_event_class_count(s);

	for (uint64_t i = 0; i < n; i++) {
		const char *is = bt_event_class_get_name(
			bt_stream_class_borrow_event_class_by_index_const(s, i));

		if (is && strcmp(is, name) == 0)
			return true;
	}
	return false;
}

const struct row *lttng_row(const bt_stream_class *stream, const char *name, uint16_t *call)
{
	const struct row *row = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !row; i++)
		if (strcmp(name, rows[i].name) == 0 &&
			!(rows[i].unless && has_class(stream, rows[i].unless)))
			row = &rows[i];
	if (!row)
		find_call(name, &row, call);
	return row;
}
