/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of syscall() and closefrom(), which do not fit the table of wrapped calls: the first
 * carries any system call, the second returns nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fdkind.h"
#include "guard.h"
#include "kernel_call.h"
#include "log_call.h"
#include "nested.h"
#include "raw.h"
#include "room.h"

/* The C library's syscall(); it takes as many arguments as the system call has. */
__attribute__((visibility("hidden"))) extern long (*mg_real_syscall)(
	long, long, long, long, long, long, long);
long (*mg_real_syscall)(long, long, long, long, long, long, long);
static void (*real_closefrom)(int);

static void bind_raw(void)
{
	void *f[] = {dlsym(RTLD_NEXT, "closefrom"), dlsym(RTLD_NEXT, "syscall")};

	memcpy(&real_closefrom, &f[0], sizeof(f[0]));
	memcpy(&mg_real_syscall, &f[1], sizeof(f[1]));
	mg_life_begin();
}

/* Binds the real functions before any thread could race to do it. */
static void __attribute__((constructor)) bind_now(void)
{
	if (!mg_real_syscall)
		bind_raw();
}

long mg_system_call(long nr, long a, long b, long c)
{
	if (!mg_real_syscall)
		bind_raw();
	return mg_real_syscall(nr, a, b, c, 0, 0, 0);
}

int mg_socket_option(int fd, int option)
{
	int value = 0;
	socklen_t len = sizeof(value);
	long err = mg_kernel_call(SYS_getsockopt, fd, SOL_SOCKET, option, (long)&value, (long)&len,
		MG_NOT_THE_PROGRAMS);

	return err ? (int)err : value;
}

/*
 * The system calls that are logged or that change descriptors: function to log, and the index of
 * each argument.
 */
struct row {
	unsigned int fn; /* MG_FN_END: not logged */
	int len, flags;  /* index of the argument; -1: none */
};

#ifdef SYS_dup2
#define DUP2(X) X(dup2, MG_FN_END, -1, -1)
#else
#define DUP2(X)
#endif

/* clang-format off */
#define FOLLOWED(X) \
	X(read, MG_FN_read, 2, -1) \
	X(write, MG_FN_write, 2, -1) \
	X(readv, MG_FN_readv, -1, -1) \
	X(writev, MG_FN_writev, -1, -1) \
	X(sendto, MG_FN_sendto, 2, 3) \
	X(recvfrom, MG_FN_recvfrom, 2, 3) \
	X(sendmsg, MG_FN_sendmsg, -1, 2) \
	X(recvmsg, MG_FN_recvmsg, -1, 2) \
	X(sendmmsg, MG_FN_sendmmsg, -1, 3) \
	X(recvmmsg, MG_FN_recvmmsg, -1, 3) \
	X(preadv2, MG_FN_preadv2, -1, -1) \
	X(pwritev2, MG_FN_pwritev2, -1, -1) \
	X(sendfile, MG_FN_sendfile, 3, -1) \
	X(connect, MG_FN_connect, -1, -1) \
	X(accept, MG_FN_accept, -1, -1) \
	X(accept4, MG_FN_accept4, -1, 3) \
	X(shutdown, MG_FN_shutdown, -1, -1) \
	X(close, MG_FN_close, -1, -1) \
	X(bind, MG_FN_bind, -1, -1) \
	X(listen, MG_FN_listen, -1, -1) \
	X(close_range, MG_FN_END, -1, -1) \
	X(dup, MG_FN_END, -1, -1) \
	DUP2(X) \
	X(dup3, MG_FN_END, -1, -1) \
	X(fcntl, MG_FN_END, -1, -1) \
	X(socket, MG_FN_END, -1, -1) \
	X(seccomp, MG_FN_END, -1, -1) \
	X(prctl, MG_FN_END, -1, -1) \
	X(setns, MG_FN_END, -1, -1) \
	X(unshare, MG_FN_END, -1, -1)
/* clang-format on */

/* Handling of each system call number in syscall(); 0 passes straight through. */
#define WAY_FOLLOWED              1
#define WAY_MAKES_CHILD           2
#define WAYS                      512
#define WAY(name, fn, len, flags) [SYS_##name] = WAY_FOLLOWED,
__attribute__((visibility("hidden"))) extern const uint8_t mg_syscall_ways[WAYS];
const uint8_t mg_syscall_ways[WAYS] = {
	FOLLOWED(WAY)[SYS_clone] = WAY_MAKES_CHILD, [SYS_clone3] = WAY_MAKES_CHILD,
#ifdef SYS_vfork
	[SYS_vfork] = WAY_MAKES_CHILD
#endif
};

#define ROW(name, fn, len, flags) [SYS_##name] = {fn, len, flags},
static const struct row rows[WAYS] = {FOLLOWED(ROW)};

#ifdef SYS_dup2
#define REPLACES(nr) ((nr) == SYS_dup2 || (nr) == SYS_dup3)
#else
#define REPLACES(nr) ((nr) == SYS_dup3)
#endif

/* Arguments of clone3() in the first version of its struct, which every kernel reads. */
struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

/* Position of clone()'s thread-local block, which differs between architectures. */
#if defined(__x86_64__)
#define IS_X86_64 1
#else
#define IS_X86_64 0
#endif

/*
 * Returns the prctl() option equivalent to a seccomp() or prctl() call; its argument in `argument`.
 */
static int option_of(long nr, const long a[6], unsigned long *argument)
{
	if (nr == SYS_seccomp && a[0] == SECCOMP_SET_MODE_STRICT)
		*argument = SECCOMP_MODE_STRICT;
	else if (nr == SYS_seccomp && a[0] == SECCOMP_SET_MODE_FILTER)
		*argument = SECCOMP_MODE_FILTER;
	else if (nr == SYS_prctl)
		*argument = (unsigned long)a[1];
	else
		return 0;
	return nr == SYS_prctl ? (int)a[0] : PR_SET_SECCOMP;
}

static void before_limit(long nr, const long a[6])
{
	unsigned long argument;
	int option = option_of(nr, a, &argument);

	if (option)
		mg_before_prctl(option, argument);
}

static void after_limit(long nr, const long a[6], long ret)
{
	unsigned long argument;
	int option = option_of(nr, a, &argument);

	if (option)
		mg_after_prctl(option, argument, (int)ret);
}

/*
 * Updates the descriptor table after a call; `kind` is that of the descriptor it was called with.
 */
static void book(long nr, const long a[6], long ret, int kind, const void *caller)
{
	switch (nr) {
	case SYS_accept:
	case SYS_accept4:
		fd_set_kind((int)ret, kind);
		break;
	case SYS_dup:
	case SYS_dup3:
#ifdef SYS_dup2
	case SYS_dup2:
#endif
		fd_copied((int)a[0], (int)ret);
		break;
	case SYS_fcntl:
		if (a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC)
			fd_copied((int)a[0], (int)ret);
		break;
	case SYS_socket:
		fd_set_kind((int)ret, socket_kind((int)a[0], (int)a[1], (int)a[2], caller));
		break;
	case SYS_seccomp:
	case SYS_prctl:
		after_limit(nr, a, ret);
		break;
	case SYS_setns:
		mg_after_setns((int)a[0], (int)a[1], (int)ret);
		break;
	case SYS_unshare:
		mg_after_unshare((unsigned long)a[0], (int)ret);
		break;
	case SYS_recvmsg:
		if (ret >= 0)
			fd_received((struct msghdr *)a[1], caller);
		break;
	default:
		break;
	}
}

/* Makes and logs a call that is in the table. Returns the value syscall() has to return. */
static long follow(const struct row *r, long nr, long a[6], const void *caller)
{
	struct mg_call c = {0};
	int kind = MG_KIND_other, error;
	long ret;

	if (nr == SYS_close)
		a[0] = guard_close((int)a[0], caller);
	if (nr == SYS_close_range && guard_needed())
		return close_range((unsigned int)a[0], (unsigned int)a[1], (int)a[2]);
	before_limit(nr, a);
	if (r->fn != MG_FN_END)
		kind = nr == SYS_close ? fd_ending((int)a[0]) : fd_kind((int)a[0]);
	else if (nr == SYS_close_range && !(a[2] & CLOSE_RANGE_CLOEXEC))
		fd_ending_range((unsigned int)a[0], (unsigned int)a[1]);
	else if (REPLACES(nr))
		fd_replaced((int)a[0], (int)a[1]);
	if (r->fn == MG_FN_END || !MG_KIND_TRACED(kind) || !*mg_wanted[r->fn] ||
		!mg_tls_is_ours()) {
		ret = mg_real_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		book(nr, a, ret, kind, caller);
		if (mg_counter_forbidden && r->fn != MG_FN_END && MG_KIND_TRACED(kind))
			mg_life_count_untimed(r->fn, ret);
		return ret;
	}
	c.enter = mg_cycles_after();
	ret = mg_real_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	c.exit = mg_cycles_after();
	error = errno;
	c.asked = r->len >= 0 ? (uint64_t)a[r->len] : 0;
	c.flags = r->flags >= 0 ? (uint32_t)a[r->flags] : 0;
	book(nr, a, ret, kind, caller);
	if (was_no_socket(ret, error, kind, (int)a[0])) {
		errno = error;
		return ret;
	}
	complete(&c, (int)a[0], ret, error, kind);
	mg_log[r->fn](r->fn, &c);
	measure(&c);
	errno = error;
	return ret;
}

/* The two ways through syscall() that do not pass straight through. */
__attribute__((visibility("hidden"))) long mg_syscall_followed(
	long nr, long a, long b, long c, long d, long e, long f);
__attribute__((visibility("hidden"))) void mg_syscall_makes_child(
	long nr, long flags, long stack, long parent_tid, long d, long e);

long mg_syscall_followed(long nr, long a, long b, long c, long d, long e, long f)
{
	long args[6] = {a, b, c, d, e, f};

	if (!mg_real_syscall)
		bind_raw();
	if ((unsigned long)nr >= WAYS || mg_syscall_ways[nr] != WAY_FOLLOWED)
		return mg_real_syscall(nr, a, b, c, d, e, f);
	return follow(&rows[nr], nr, args, __builtin_return_address(0));
}

void mg_syscall_makes_child(long nr, long flags, long stack, long parent_tid, long d, long e)
{
	const struct clone3_args *args = (const void *)flags;

	(void)parent_tid;
	/* `stack` holds the size of the arguments; some programs only probe for clone3() */
	if (nr == SYS_clone3) {
		if (args && (size_t)stack >= sizeof(*args))
			mg_before_clone(args->flags, (const void *)(uintptr_t)args->tls);
	} else if (nr != SYS_clone) {
		mg_before_clone(CLONE_VM | CLONE_VFORK, NULL);
	} else {
		mg_before_clone((unsigned long)flags, (const void *)(IS_X86_64 ? e : d));
	}
}

/*
 * syscall() takes as many arguments as the call has. A call that needs no handling is jumped to
 * with stack and registers unchanged: it may return on another stack, and the stack slot of a
 * seventh argument belongs to the caller.
 */
#define TEXT(x)  #x
#define VALUE(x) TEXT(x)
#if defined(__x86_64__)
__asm__(".text\n.globl syscall\n.type syscall, @function\nsyscall:\n"
	"\tendbr64\n"
	"\tcmpq $" VALUE(
		WAYS) ", %rdi\n\tjae 1f\n"
		      "\tleaq mg_syscall_ways(%rip), %rax\n"
		      "\tmovzbl (%rax,%rdi), %eax\n"
		      "\ttestl %eax, %eax\n\tjne 2f\n"
		      "1:\tmovq mg_real_syscall(%rip), %rax\n"
		      "\ttestq %rax, %rax\n\tje 3f\n"
		      "\tjmp *%rax\n"
		      "2:\tcmpl $" VALUE(
			      WAY_MAKES_CHILD) ", %eax\n\tje 4f\n"
					       "3:\tjmp mg_syscall_followed\n"
					       "4:\tpushq %rdi\n\tpushq %rsi\n\tpushq "
					       "%rdx\n\tpushq %rcx\n\tpushq %r8\n\tpushq %r9\n"
					       "\tsubq $8, %rsp\n\tcall "
					       "mg_syscall_makes_child\n\taddq $8, %rsp\n"
					       "\tpopq %r9\n\tpopq %r8\n\tpopq %rcx\n\tpopq "
					       "%rdx\n\tpopq %rsi\n\tpopq %rdi\n"
					       "\tjmp 1b\n"
					       ".size syscall, .-syscall\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl syscall\n.type syscall, %function\nsyscall:\n"
	"\thint #34\n"
	"\tcmp x0, #" VALUE(
		WAYS) "\n\tb.hs 1f\n"
		      "\tadrp x16, mg_syscall_ways\n\tadd x16, x16, :lo12:mg_syscall_ways\n"
		      "\tldrb w16, [x16, x0]\n\tcbnz w16, 2f\n"
		      "1:\tadrp x16, mg_real_syscall\n\tldr x16, [x16, :lo12:mg_real_syscall]\n"
		      "\tcbz x16, 3f\n"
		      "\tbr x16\n"
		      "2:\tcmp w16, #" VALUE(
			      WAY_MAKES_CHILD) "\n\tb.eq 4f\n"
					       "3:\tb mg_syscall_followed\n"
					       "4:\tstp x29, x30, [sp, #-80]!\n\tmov x29, sp\n"
					       "\tstp x0, x1, [sp, #16]\n\tstp x2, x3, [sp, #32]\n"
					       "\tstp x4, x5, [sp, #48]\n\tstr x6, [sp, #64]\n"
					       "\tbl mg_syscall_makes_child\n"
					       "\tldp x0, x1, [sp, #16]\n\tldp x2, x3, [sp, #32]\n"
					       "\tldp x4, x5, [sp, #48]\n\tldr x6, [sp, #64]\n"
					       "\tldp x29, x30, [sp], #80\n\tb 1b\n"
					       ".size syscall, .-syscall\n");
#endif

#define EXPORTED __attribute__((visibility("default")))

/* The C library's own close_range() is only the system call, so it is made directly. */
EXPORTED int close_range(unsigned int first, unsigned int last, int flags)
{
	if (!(flags & CLOSE_RANGE_CLOEXEC))
		fd_ending_range(first, last);
	if (guard_needed())
		return guard_close_range(first, last, flags);
	return (int)mg_system_call(SYS_close_range, first, last, flags);
}

EXPORTED void closefrom(int lowest)
{
	int saved = mg_get_errno();

	if (guard_needed() || !real_closefrom) {
		close_range(lowest > 0 ? (unsigned int)lowest : 0, ~0u, 0);
	} else {
		fd_ending_range(lowest > 0 ? (unsigned int)lowest : 0, ~0u);
		real_closefrom(lowest);
	}
	mg_set_errno(saved);
}
