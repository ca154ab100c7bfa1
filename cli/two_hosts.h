/* SPDX-License-Identifier: MIT */
/* magnet report with recordings of two hosts. */
#ifndef MAGNET_CLI_TWO_HOSTS_H
#define MAGNET_CLI_TWO_HOSTS_H

#include <stdint.h>

#include "by_host.h"
#include "render/report.h"

struct two_hosts_options {
	enum report_form form;
	struct report_detail detail;
	const char *html; /* the page's file, NULL: none */
	uint64_t slowest; /* exchanges that each host's page lists */
};

/*
 * Prints what is between the hosts, and the reports of both, or writes the page. Returns an exit
 * status.
 */
int report_two_hosts(const struct by_host *b, const struct two_hosts_options *o);

#endif
