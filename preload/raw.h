/* SPDX-License-Identifier: MIT */
/* The C library's own syscall(), bypassing our wrapper. */
#ifndef MAGNET_PRELOAD_RAW_H
#define MAGNET_PRELOAD_RAW_H

long mg_system_call(long nr, long a, long b, long c);

/*
 * Returns a socket option of level SOL_SOCKET, or a negative error number. Does not touch errno;
 * the kernel side does not count the call as the program's.
 */
int mg_socket_option(int fd, int option);

#endif
