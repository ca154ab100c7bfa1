/* SPDX-License-Identifier: MIT */
/* magnet report of recordings of two hosts. */
#ifndef MAGNET_CLI_TWO_HOSTS_H
#define MAGNET_CLI_TWO_HOSTS_H

#include <stdbool.h>

#include "render/report.h"

/*
 * Directories by the host they were recorded on, so far as their session.json tells; those without
 * one belong with the one before.
 */
struct by_host {
	char **dir[2]; /* the first host's, the other's */
	int count[2];
	bool more; /* there are more hosts than two */
};

/* 0 or -ENOMEM; to be freed in any case. */
int by_host_sort(struct by_host *b, char **dirs, int count);
void by_host_free(struct by_host *b);

/* Whether all are of one host; says so if not. */
bool is_one_host(char **dirs, int count);

/* Both, and what is between them. Returns an exit status. */
int report_two_hosts(const struct by_host *b, enum report_form form);

#endif
