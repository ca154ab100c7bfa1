/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "self.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fdkind.h"
#include "kernel_call.h"

__thread struct mg_self mg_self __attribute__((tls_model("initial-exec")));

static uint32_t always = 1;
volatile uint32_t *mg_same_process = &always;
uint32_t mg_self_process;
volatile uint32_t mg_sharing;
bool mg_self_nested;

/*
 * Children in this memory that run beside their parent: twice the process id, plus 1 for a child
 * with its own descriptors.
 */
#define CHILDREN 16
static uint64_t children[CHILDREN];
static uint32_t beside; /* number of such children, including those whose id is unknown */

/*
 * Returns the thread's id without a system call, which a sandbox may have forbidden: the C library
 * writes the id into a mutex that the thread locks.
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

	mg_self_process = kernel_pid();
	/* discards what an early call stored before the process was known */
	memset(&mg_self, 0, sizeof(mg_self));
	if (mg_kernel_failed(page))
		return;
	if (mg_kernel_call(SYS_madvise, page, 4096, MADV_WIPEONFORK, 0, 0, 0) != 0) {
		mg_kernel_call(SYS_munmap, page, 4096, 0, 0, 0, 0);
		return;
	}
	mg_same_process = (volatile uint32_t *)page;
	*mg_same_process = 1;
}

/* Resets the counts of children after a fork: the new process shares its memory with nobody. */
static void alone(void)
{
	mg_sharing = beside = 0;
	memset(children, 0, sizeof(children));
	mg_foreign_forget();
}

/* Call it when a child that this thread made has ended or has its own memory. */
static void child_gone(void)
{
	__atomic_fetch_sub(&mg_sharing, 1, __ATOMIC_RELAXED);
}

static void child_beside_gone(bool own_descriptors)
{
	if (own_descriptors)
		child_gone();
	__atomic_fetch_sub(&beside, 1, __ATOMIC_RELAXED);
}

void mg_self_forget_gone(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		uint64_t child = __atomic_load_n(&children[i], __ATOMIC_RELAXED);

		if (child && mg_kernel_call(SYS_kill, (long)(child / 2), 0, 0, 0, 0, 0) == -ESRCH &&
			__atomic_compare_exchange_n(
				&children[i], &child, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			child_beside_gone(child & 1);
	}
}

/* Stores the child's id. If the table is full, the child counts for ever. */
static void remember_child(int pid, bool own_descriptors)
{
	uint64_t child = (uint64_t)pid * 2 + own_descriptors;

	for (int i = 0; i < CHILDREN; i++) {
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(
			    &children[i], &none, child, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
}

/* Begins anew after a fork, with `id`. Process 1 is the first one of a namespace. */
static void begin_child(uint32_t id)
{
	mg_self_nested |= id == 1 || mg_self.children_nested;
	memset(&mg_self, 0, sizeof(mg_self));
	*mg_same_process = 1;
	alone();
	mg_self_process = id;
}

void mg_self_forked(void)
{
	if (!mg_tls_is_ours())
		return; /* none of the thread's calls will be logged */
	begin_child(own_tid());
	mg_self.tid = mg_self.pid = mg_self_process;
}

void mg_self_learn(void)
{
	if (!*mg_same_process) { /* a fork that bypassed the C library */
		begin_child(kernel_pid());
		mg_self.in_kernel = true;
	}
	if (mg_self.shared) {
		if (beside && !mg_fd_ask_no_more)
			mg_self_forget_gone();
		if (beside)
			return;
		mg_self.shared = false;
		mg_self.tid = mg_self.home;
	} else if (mg_self.vforked) {
		uint32_t tid = kernel_tid();

		/*
		 * this is the child, a process with one thread: nothing is stored for the parent's
		 * thread
		 */
		if (tid != mg_self.home) {
			mg_self.pid = tid;
			return;
		}
		mg_self.vforked = false;
		child_gone();
		mg_self.tid = tid;
	} else {
		mg_self.tid = mg_self.in_kernel ? kernel_tid() : own_tid();
	}
	mg_self.pid = mg_self_process;
}

void mg_self_ask(uint32_t *tid, uint32_t *pid)
{
	if (!mg_self.shared) { /* the child of a vfork() */
		*tid = *pid = mg_self.pid;
	} else if (mg_fd_ask_no_more) {
		*tid = mg_self.home;
		*pid = mg_self_process;
	} else {
		*tid = kernel_tid();
		*pid = kernel_pid();
	}
}

/*
 * Returns whether the caller may be a vfork child, where the process's own id may not be asked any
 * more: only a thread that has made a child can be.
 */
static bool is_vforked(void)
{
	if (!mg_tls_is_ours() || !mg_self.vforked)
		return false;
	mg_self_check();
	return mg_self.vforked;
}

bool mg_is_sharing_child(void)
{
	/* a child with its own memory, from a fork that bypassed the C library */
	if (!*mg_same_process)
		return false;
	if (mg_fd_ask_no_more)
		return is_vforked();
	if (kernel_pid() != mg_self_process)
		return true;
	mg_self_forget_gone();
	return false;
}

/* ---- vfork() ---- */

/*
 * Prepares for a child that shares this thread's storage: whether mg_self describes the parent or
 * the child is unknown until the kernel is asked.
 */
static void expect_vfork(void)
{
	if (mg_self.shared) /* ids are asked of the kernel at every call already */
		return;
	if (!mg_self.vforked) {
		mg_self_check();
		mg_self.home = mg_self.tid;
		mg_self.vforked = true;
		__atomic_fetch_add(&mg_sharing, 1, __ATOMIC_RELAXED);
	}
	mg_self.tid = 0;
}

/* Prepares for a child that shares the storage and runs beside its parent. */
static void share_storage(void)
{
	mg_self_check();
	if (mg_self.shared)
		return;
	mg_self.home = mg_self.tid;
	mg_self.shared = true;
	mg_self.tid = 0;
}

void mg_before_clone(unsigned long flags, const void *tls)
{
	if (!(flags & CLONE_VM))
		return;
	if (flags & CLONE_SETTLS) {
		mg_foreign_add(tls);
		if (flags & CLONE_THREAD)
			return;
	} else if (!mg_tls_is_ours()) {
		return;
	} else if (flags & CLONE_VFORK) {
		expect_vfork();
		return;
	}
	/* counted first, or a signal handler would find nobody sharing and end the state */
	__atomic_fetch_add(&beside, 1, __ATOMIC_RELAXED);
	if (!(flags & CLONE_SETTLS))
		share_storage();
	if (!(flags & (CLONE_FILES | CLONE_THREAD)))
		__atomic_fetch_add(&mg_sharing, 1, __ATOMIC_RELAXED);
}

/*
 * Call it after the call returned in the parent: forgets a child that the call has waited for or
 * failed to make.
 */
static void after_clone(unsigned long flags, const void *tls, int ret)
{
	bool own_descriptors = !(flags & CLONE_FILES);

	if (!(flags & CLONE_VM) || flags & CLONE_THREAD ||
		(flags & (CLONE_SETTLS | CLONE_VFORK)) == CLONE_VFORK ||
		(!(flags & CLONE_SETTLS) && !mg_tls_is_ours()))
		return;
	if (ret >= 0 && !(flags & CLONE_VFORK)) {
		remember_child(ret, own_descriptors);
		return;
	}
	if (flags & CLONE_SETTLS)
		mg_foreign_remove(tls);
	child_beside_gone(own_descriptors);
}

/*
 * Prepares for vfork() and returns the address of the real one. vfork() returns twice on one stack,
 * so no C function may stand between it and its caller: the assembly below calls this function and
 * then jumps.
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

/* Wrapper of clone(), which gives the child a stack of its own. */
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
	after_clone((unsigned int)flags, tls, ret);
	return ret;
}
