/* SPDX-License-Identifier: MIT */
/* magnet doctor */
#include <stdio.h>

#include "commands.h"

int cmd_doctor(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("");
	return EXIT_DONE;
}
