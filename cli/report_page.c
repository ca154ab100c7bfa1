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
#include "hosts/hosts_page.h"
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

char *page_frame(const char *name)
{
	char path[PATH_MAX];
	char *frame;

	if (!find_part(path, "page", MAGNET_DATADIR, name)) {
		mg_error("this magnet was built without pages: install libjs-dygraphs and build "
			 "it again");
		return NULL;
	}
	frame = content_of(path);
	if (!frame)
		mg_error("%s: %s", path, strerror(errno));
	return frame;
}

/* The page of one host that is to be written, or of two. */
struct written {
	struct page *first, *other;
	const struct report *r;
	const struct between *w; /* NULL: one host */
	const char *frame, *one_frame;
};

static bool write_page(const struct written *p, FILE *to)
{
	return p->w ? hosts_page_write(p->w, p->first, p->other, p->frame, p->one_frame, to)
		    : page_write(p->first, p->r, p->frame, to);
}

static int to_file(const struct written *p, const char *path)
{
	FILE *to = fopen(path, "we");
	struct stat st;
	bool known, written;
	int err;

	if (!to) {
		mg_error("%s: %s", path, strerror(errno));
		return EXIT_FAILED;
	}
	known = write_page(p, to);
	written = !ferror(to);
	err = errno;
	if (fclose(to) != 0 && written) {
		written = false;
		err = errno;
	}
	if (known && written)
		return EXIT_DONE;
	if (!known)
		mg_error("page.html or two-hosts.html is not this magnet's: install magnet again");
	else
		mg_error("cannot write %s: %s", path, strerror(err));
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) /* a part of a page is none */
		unlink(path);
	return EXIT_FAILED;
}

int page_to_file(struct page *p, const struct report *r, const char *frame, const char *path)
{
	return to_file(&(struct written){.first = p, .r = r, .frame = frame}, path);
}

int hosts_page_to_file(struct page *first, struct page *other, const struct between *w,
	const char *frame, const char *one_frame, const char *path)
{
	return to_file(&(struct written){.first = first,
			       .other = other,
			       .w = w,
			       .frame = frame,
			       .one_frame = one_frame},
		path);
}
