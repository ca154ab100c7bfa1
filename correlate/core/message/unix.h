/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_UNIX_H
#define MAGNET_CORRELATE_CORE_MESSAGE_UNIX_H

#include "core.h"

bool is_unix(const struct mg_sock *s);
void unix_ready(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a);
void unix_sent(struct thread *t, struct mg_sock *s, int64_t ret, uint64_t now);
void unix_copy(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a);
void unix_received(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	const struct mg_sock_moved *p, struct annotation *a);

#endif
