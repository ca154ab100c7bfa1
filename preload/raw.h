/* SPDX-License-Identifier: MIT */
/* The C library's own syscall(), past our wrapper of it. */
#ifndef MAGNET_PRELOAD_RAW_H
#define MAGNET_PRELOAD_RAW_H

long mg_system_call(long nr, long a, long b, long c);

/*
 * Returns an option of SOL_SOCKET, or a negative error number. Touches no errno; the kernel side
 * does not take the call for the program's.
 */
int mg_socket_option(int fd, int option);

#endif
