/* SPDX-License-Identifier: MIT */
/* The recording that is meant where none is named: the newest one here. */
#ifndef MAGNET_CLI_NEWEST_H
#define MAGNET_CLI_NEWEST_H

/* The directories of a command line. */
struct directories {
	char **at;
	int count;
	char *newest[2]; /* room for the newest one, and a NULL */
};

/*
 * Takes the arguments from `first` on; if there are none, the newest recording in the current
 * directory, and says which. Returns 0, or -ENOENT after a message.
 */
int directories_choose(struct directories *d, int argc, char **argv, int first);

#endif
