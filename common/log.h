/* SPDX-License-Identifier: MIT */
/* The one logger: a line on stderr, `program: text`. Not for libmagnet.so, which never prints. */
#ifndef MAGNET_COMMON_LOG_H
#define MAGNET_COMMON_LOG_H

/*
 * Opens /dev/null in the place of closed standard descriptors. Call it first: else a trace file or
 * a pipe would get number 2, and our messages. Programs that are run find them closed.
 */
void mg_standard_fds(void);
void mg_log_name(const char *program);
void mg_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void mg_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* prints only if MAGNET_DEBUG is set in the environment */
void mg_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
