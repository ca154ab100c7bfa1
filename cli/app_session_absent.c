/* SPDX-License-Identifier: MIT */
/* For a magnet built without the headers of LTTng's control library: says what to install. */
#include <errno.h>
#include <stdio.h>

#include "app_session.h"

int app_session_open(
	struct app_session **s, const struct app_session_options *o, char *why, size_t size)
{
	(void)o;
	*s = NULL;
	snprintf(why, size,
		"this magnet was built without LTTng's control library: install liblttng-ctl-dev, "
		"and build it again");
	return -ENOSYS;
}

int app_session_begin(struct app_session *s, const char *kernel_dir, char *why, size_t size)
{
	(void)s;
	(void)kernel_dir;
	(void)why;
	(void)size;
	return -ENOSYS;
}

const char *app_session_name(const struct app_session *s)
{
	(void)s;
	return NULL;
}

bool app_session_was_idle(const struct app_session *s)
{
	(void)s;
	return false;
}

int app_session_watch(const struct app_session *s)
{
	(void)s;
	return -1;
}

int app_session_follow(struct app_session *s, char *why, size_t size)
{
	return app_session_begin(s, NULL, why, size);
}

int app_session_end(struct app_session *s, uint64_t *discarded, char *why, size_t size)
{
	*discarded = 0;
	return app_session_begin(s, NULL, why, size);
}

void app_session_free(struct app_session *s)
{
	(void)s;
}
