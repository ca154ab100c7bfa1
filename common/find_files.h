/* SPDX-License-Identifier: MIT */
/* Finding files below a directory from an untrusted source: bounded, and never outside it. */
#ifndef MAGNET_COMMON_FIND_FILES_H
#define MAGNET_COMMON_FIND_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define FIND_DEPTH   32      /* directories within each other */
#define FIND_ENTRIES 1000000 /* files and directories in all */

struct file_search {
	/* Called for each regular file; a result other than 0 ends the search. */
	int (*found)(void *arg, const char *dir, const char *name);
	void *arg;
	bool in_link;              /* below such a link */
	char link[PATH_MAX];       /* the first link that was not followed; "" = there is none */
	char unreadable[PATH_MAX]; /* the first directory that may not be read; "" = there is none
				    */
	unsigned long entries;
};

/*
 * Looks through `top` and the directories in it. `top` may be a link; those in it are not followed,
 * except `app` and links to directories in a directory of that name, which lead to the output of an
 * LTTng session. Below these none is followed.
 * Returns 0, what `found` returned, or a negative errno: -E2BIG for more entries than FIND_ENTRIES,
 * -ENAMETOOLONG for directories deeper than FIND_DEPTH. Directories that may not be read are passed
 * over, the first of them is noted.
 */
int files_find(struct file_search *s, const char *top);

/* Returns a text for such an errno, to stand behind the path and a colon. */
const char *files_find_problem(int err);

#endif
