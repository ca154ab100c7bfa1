/* SPDX-License-Identifier: MIT */
/* magnet report --against: recordings side by side. */
#ifndef MAGNET_CLI_AGAINST_H
#define MAGNET_CLI_AGAINST_H

#include "render/report.h"

struct against_options {
	const char *against; /* directories, separated by commas */
	enum report_form form;
	size_t rows; /* figures that the text has at most; 0: all */
};

/* How many figures the text has, unless all are asked for. */
#define AGAINST_ROWS 10

/*
 * Compares the recordings in these directories with those in `o->against`, and prints the
 * differences. Returns an exit status.
 */
int report_against(char **dirs, int count, const struct against_options *o);

#endif
