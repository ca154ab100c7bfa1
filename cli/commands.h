/* SPDX-License-Identifier: MIT */
/* The subcommands. Each gets its own name as argv[0] and returns the exit status. */
#ifndef MAGNET_CLI_COMMANDS_H
#define MAGNET_CLI_COMMANDS_H

#define EXIT_DONE   0
#define EXIT_FAILED 1
#define EXIT_USAGE  2

int cmd_annotate(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_top(int argc, char **argv);

#endif
