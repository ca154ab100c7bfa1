/* SPDX-License-Identifier: MIT */
#include "export/text_file.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool text_file_open(struct text_file *f, struct export *e, const char *name, ...)
{
	int n = snprintf(f->path, sizeof(f->path), "%s/", e->to), more;
	va_list args;

	va_start(args, name);
	more = vsnprintf(f->path + n, n < PATH_MAX ? sizeof(f->path) - (size_t)n : 0, name, args);
	va_end(args);
	f->to = NULL;
	if (n + more >= PATH_MAX)
		return export_refuse(e, e->to, ENAMETOOLONG);
	f->to = fopen(f->path, "wxe");
	return f->to || export_refuse(e, f->path, errno);
}

bool text_file_open_output(struct text_file *f, struct export *e)
{
	bool is_standard = strcmp(e->to, "-") == 0;

	snprintf(f->path, sizeof(f->path), "%s", is_standard ? "standard output" : e->to);
	f->to = is_standard ? stdout : fopen(e->to, "we");
	return f->to || export_refuse(e, f->path, errno);
}

bool text_file_close(struct text_file *f, struct export *e, bool is_kept)
{
	struct stat st;
	bool good = true, is_file, failed;

	if (!f->to)
		return true;
	failed = ferror(f->to);
	errno = 0;
	if (failed) { /* why is found out by another attempt */
		clearerr(f->to);
		fputc('\n', f->to);
		fflush(f->to);
	}
	is_file = f->to != stdout && fstat(fileno(f->to), &st) == 0 && S_ISREG(st.st_mode);
	if ((f->to == stdout ? fflush(f->to) : fclose(f->to)) != 0 || failed)
		good = export_refuse(e, f->path, errno ? errno : EIO);
	if ((!is_kept || !good) && is_file)
		unlink(f->path);
	f->to = NULL;
	return good;
}

void text_file_remove(const struct text_file *f)
{
	if (f->path[0])
		unlink(f->path);
}
