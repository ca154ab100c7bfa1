/* SPDX-License-Identifier: MIT */
/*
 * Makes its system calls without the C library, as Go's programs do: a socket pair, five sends, a
 * byte received. Also built static.
 */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#endif
}

int main(void)
{
	char c = 'x';
	int fds[2];

	if (call(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, (long)fds, 0, 0))
		return 1;
	for (int i = 0; i < 5; i++)
		if (call(SYS_sendto, fds[0], (long)&c, 1, 0, 0, 0) != 1)
			return 2;
	return call(SYS_recvfrom, fds[1], (long)&c, 1, 0, 0, 0) == 1 ? 0 : 3;
}
