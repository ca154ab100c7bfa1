/* SPDX-License-Identifier: MIT */
/*
 * System calls without the C library: they touch no thread-local storage and no errno, and pass no
 * wrapper. Each returns what the kernel returns: a negative error number where the call fails. The
 * sixth argument does not stay in its register, where the program's next call would have it, too.
 */
#ifndef MAGNET_COMMON_KERNEL_CALL_H
#define MAGNET_COMMON_KERNEL_CALL_H

#include <stdbool.h>
#include <sys/syscall.h>

static inline long mg_kernel_call(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall\n\txorl %%r9d, %%r9d"
			 : "=a"(ret), "+r"(r9)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0\n\tmov x5, xzr"
			 : "+r"(x0), "+r"(x5)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
#else
#error "system calls are known for x86-64 and arm64 only"
#endif
}

/* Whether what a call returned is an error, also where it may return addresses. */
static inline bool mg_kernel_failed(long ret)
{
	return (unsigned long)ret > -4096ul;
}

#endif
