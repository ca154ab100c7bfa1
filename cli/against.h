/* SPDX-License-Identifier: MIT */
/* magnet report --against: two recordings side by side. */
#ifndef MAGNET_CLI_AGAINST_H
#define MAGNET_CLI_AGAINST_H

#include "render/report.h"

/*
 * Compares the recording in these directories with the one in `against`, and prints the
 * differences. Returns an exit status.
 */
int report_against(char **dirs, int count, char *against, enum report_form form);

#endif
