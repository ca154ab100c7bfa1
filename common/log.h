/* SPDX-License-Identifier: MIT */
/* The one logger: a line on stderr, `program: text`. Not for libmagnet.so, which never prints. */
#ifndef MAGNET_COMMON_LOG_H
#define MAGNET_COMMON_LOG_H

/*
 * To be called first: where a standard descriptor is closed its number is taken, and fails as
 * before for whoever uses it. Else a trace file or a pipe would get number 2, and our lines.
 * Programs that are run find it closed.
 */
void mg_standard_fds(void);
void mg_log_name(const char *program);
void mg_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void mg_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* only with MAGNET_DEBUG set in the environment */
void mg_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
