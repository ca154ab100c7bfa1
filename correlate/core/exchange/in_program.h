/* SPDX-License-Identifier: MIT */
/*
 * Divides the time that a request was in the server's program: from the thread that wrote the reply
 * back along the wakings to the thread that read the request (method, "In the program"); and the
 * time before, from the request's arrival, by what the thread did that read it then.
 */
#ifndef MAGNET_CORRELATE_CORE_EXCHANGE_IN_PROGRAM_H
#define MAGNET_CORRELATE_CORE_EXCHANGE_IN_PROGRAM_H

#include "exchange/exchange.h"

/*
 * Divides the time of an exchange whose request was read and whose reply was begun; what was
 * divided before is replaced.
 */
void in_program_divide(struct core *c, const struct mg_sock *s, struct exchange *e);
/* Divides it if that was not done before, and emits the parts. */
void in_program_emit(struct core *c, const struct mg_sock *s, struct exchange *e);
/* Hands on the memory of one that has been told, to the socket's next exchange. */
void in_program_hand_on(const struct exchange *told, struct exchange *next);
void in_program_free(struct exchange *e);

#endif
