/* SPDX-License-Identifier: MIT */
#include "report_page.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "commands.h"
#include "log.h"
#include "page/page.h"
#include "paths.h"

/* Returns all of a file as a text; NULL with errno. */
static char *content_of(const char *path)
{
	FILE *from = fopen(path, "re");
	struct stat st;
	char *text = NULL;

	if (!from)
		return NULL;
	if (fstat(fileno(from), &st) == 0)
		text = mg_malloc((size_t)st.st_size + 1);
	if (text) {
		text[fread(text, 1, (size_t)st.st_size, from)] = 0;
		if (ferror(from)) {
			free(text);
			text = NULL;
		}
	}
	fclose(from);
	return text;
}

char *page_frame(void)
{
	char path[PATH_MAX];
	char *frame;

	if (!find_part(path, "page", MAGNET_DATADIR, "page.html")) {
		mg_error("this magnet was built without pages: install libjs-dygraphs and build "
			 "it again");
		return NULL;
	}
	frame = content_of(path);
	if (!frame)
		mg_error("%s: %s", path, strerror(errno));
	return frame;
}

int page_to_file(struct page *p, const struct report *r, const char *frame, const char *path)
{
	FILE *to = fopen(path, "we");
	struct stat st;
	bool known, written;
	int err;

	if (!to) {
		mg_error("%s: %s", path, strerror(errno));
		return EXIT_FAILED;
	}
	known = page_write(p, r, frame, to);
	written = !ferror(to);
	err = errno;
	if (fclose(to) != 0 && written) {
		written = false;
		err = errno;
	}
	if (known && written)
		return EXIT_DONE;
	if (!known)
		mg_error("page.html is not this magnet's: install magnet again");
	else
		mg_error("cannot write %s: %s", path, strerror(err));
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) /* a part of a page is none */
		unlink(path);
	return EXIT_FAILED;
}
