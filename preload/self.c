/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "self.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel_call.h"

__thread struct mg_self mg_self __attribute__((tls_model("initial-exec")));

static uint32_t always = 1;
volatile uint32_t *mg_same_process = &always;
static uint32_t process;
volatile uint32_t mg_sharing;

/*
 * The C library knows the thread's id and writes it into a mutex it locks. Asking the kernel would
 * be a system call that a sandboxed program may have forbidden.
 */
static uint32_t own_tid(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	uint32_t tid;

	pthread_mutex_lock(&m);
	tid = (uint32_t)m.__data.__owner;
	pthread_mutex_unlock(&m);
	return tid;
}

static uint32_t kernel_tid(void)
{
	return (uint32_t)mg_kernel_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static uint32_t kernel_pid(void)
{
	return (uint32_t)mg_kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

void mg_self_init(void)
{
	long page = mg_kernel_call(
		SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	process = kernel_pid();
	memset(&mg_self, 0, sizeof(mg_self)); /* of a call that was too early to know the process */
	if (mg_kernel_failed(page))
		return;
	if (mg_kernel_call(SYS_madvise, page, 4096, MADV_WIPEONFORK, 0, 0, 0) != 0) {
		mg_kernel_call(SYS_munmap, page, 4096, 0, 0, 0, 0);
		return;
	}
	mg_same_process = (volatile uint32_t *)page;
	*mg_same_process = 1;
}

/* The process has its memory to itself: whoever shared the parent's is not here. */
static void alone(void)
{
	mg_sharing = 0;
	mg_foreign_forget();
}

/* The child that this thread has made is gone, or has memory of its own. */
static void child_gone(void)
{
	__atomic_fetch_sub(&mg_sharing, 1, __ATOMIC_RELAXED);
}

void mg_self_forked(void)
{
	if (!mg_tls_is_ours())
		return; /* none of its calls will be logged */
	memset(&mg_self, 0, sizeof(mg_self));
	*mg_same_process = 1;
	alone();
	process = mg_self.tid = mg_self.pid = own_tid();
}

void mg_self_learn(void)
{
	if (!*mg_same_process) { /* a fork the C library does not know of */
		memset(&mg_self, 0, sizeof(mg_self));
		*mg_same_process = 1;
		alone();
		mg_self.in_kernel = true;
		process = kernel_pid();
	}
	if (mg_self.vforked) {
		uint32_t tid = kernel_tid();

		if (tid != mg_self.home) { /* a child, a process of one thread: nothing is kept */
			mg_self.pid = tid;
			return;
		}
		mg_self.vforked = false;
		child_gone();
		mg_self.tid = tid;
	} else {
		mg_self.tid = mg_self.in_kernel ? kernel_tid() : own_tid();
	}
	mg_self.pid = process;
}

bool mg_is_sharing_child(void)
{
	/* a child with memory of its own, of a fork the C library does not know of */
	if (!*mg_same_process)
		return false;
	return kernel_pid() != process;
}

/* ---- vfork() ---- */

/* The child has this thread's storage: it is not known for whom mg_self is, until one asks. */
static void expect_vfork(void)
{
	if (!mg_self.vforked) {
		mg_self_check();
		mg_self.home = mg_self.tid;
		mg_self.vforked = true;
		__atomic_fetch_add(&mg_sharing, 1, __ATOMIC_RELAXED);
	}
	mg_self.tid = 0;
}

void mg_before_clone(unsigned long flags, const void *tls)
{
	if (!(flags & CLONE_VM))
		return;
	if (flags & CLONE_SETTLS) {
		mg_foreign_add(tls);
		if (!(flags & CLONE_THREAD))
			__atomic_fetch_add(&mg_sharing, 1, __ATOMIC_RELAXED);
	} else if (flags & CLONE_VFORK && mg_tls_is_ours()) {
		expect_vfork();
	}
}

/* The same where the call returns here: a child that it has waited for is gone. */
static void after_clone(unsigned long flags, const void *tls)
{
	unsigned long all = CLONE_VM | CLONE_VFORK | CLONE_SETTLS;

	if ((flags & all) != all || flags & CLONE_THREAD)
		return;
	mg_foreign_remove(tls);
	child_gone();
}

/*
 * It returns twice on one stack, so that no function can stand between it and its caller: this is
 * told of it, and then jumps there. Returns where to.
 */
__attribute__((used, visibility("hidden"))) void *mg_before_vfork(void);

void *mg_before_vfork(void)
{
	mg_before_clone(CLONE_VM | CLONE_VFORK, NULL);
	return mg_real_vfork();
}

#if defined(__x86_64__)
__asm__(".text\n.globl vfork\n.type vfork, @function\nvfork:\n"
	"\tendbr64\n\tsubq $8, %rsp\n\tcall mg_before_vfork\n\taddq $8, %rsp\n\tjmp *%rax\n"
	".size vfork, .-vfork\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl vfork\n.type vfork, %function\nvfork:\n"
	"\thint #34\n\tstp x29, x30, [sp, #-16]!\n\tbl mg_before_vfork\n"
	"\tldp x29, x30, [sp], #16\n\tmov x16, x0\n\tbr x16\n"
	".size vfork, .-vfork\n");
#endif

/* The same with a stack of the child's own. */
__attribute__((visibility("default"))) int clone(
	int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	void *parent_tid, *tls, *child_tid;
	va_list ap;
	int ret;

	va_start(ap, arg);
	parent_tid = va_arg(ap, void *);
	tls = va_arg(ap, void *);
	child_tid = va_arg(ap, void *);
	va_end(ap);
	mg_before_clone((unsigned int)flags, tls);
	ret = mg_real_clone()(fn, stack, flags, arg, parent_tid, tls, child_tid);
	after_clone((unsigned int)flags, tls);
	return ret;
}
