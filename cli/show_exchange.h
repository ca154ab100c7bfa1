/* SPDX-License-Identifier: MIT */
/* magnet show --exchange: one exchange of a request and its reply. */
#ifndef MAGNET_CLI_SHOW_EXCHANGE_H
#define MAGNET_CLI_SHOW_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

/* An exchange named by one byte of it: "4097/tx@1200". */
struct exchange_name {
	char flow[40]; /* "": none is named */
	uint64_t byte;
};

/* Returns whether the text names a flow and a byte of it. */
bool exchange_name_parse(const char *text, struct exchange_name *to);
/*
 * Prints the exchange whose request or reply has the byte, and then the life of the bytes on which
 * the reply waited. Returns an exit status.
 */
int show_exchange(char **dirs, int count, const struct exchange_name *name);

#endif
