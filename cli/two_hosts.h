/* SPDX-License-Identifier: MIT */
/* magnet report with recordings of two hosts. */
#ifndef MAGNET_CLI_TWO_HOSTS_H
#define MAGNET_CLI_TWO_HOSTS_H

#include "by_host.h"
#include "render/report.h"

/* Prints what is between the hosts, and the reports of both. Returns an exit status. */
int report_two_hosts(
	const struct by_host *b, enum report_form form, const struct report_detail *detail);

#endif
