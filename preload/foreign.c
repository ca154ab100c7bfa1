/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "foreign.h"

#include <stddef.h>

#include "kernel_call.h"

#if defined(__x86_64__)
#include <asm/hwcap2.h>
#include <asm/prctl.h>
#include <sys/auxv.h>
#endif

#if defined(__x86_64__)
static bool can_read_base; /* whether the kernel lets programs read the FS register */
#endif

/* Block addresses plus 1; 0 marks a free entry. */
#define BLOCKS 64
static uintptr_t blocks[BLOCKS];
volatile uint32_t mg_foreign_blocks;

/* Returns the address of the caller's thread-local block without reading from it. */
static uintptr_t thread_pointer(void)
{
	uintptr_t p = 0;

#if defined(__x86_64__)
	if (can_read_base)
		__asm__ volatile("rdfsbase %0" : "=r"(p));
	else
		mg_kernel_call(SYS_arch_prctl, ARCH_GET_FS, (long)&p, 0, 0, 0, 0);
#elif defined(__aarch64__)
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(p));
#endif
	return p;
}

static uintptr_t *find(uintptr_t entry)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (__atomic_load_n(&blocks[i], __ATOMIC_ACQUIRE) == entry)
			return &blocks[i];
	return NULL;
}

void mg_foreign_add(const void *block)
{
	uintptr_t entry = (uintptr_t)block + 1, *place;

#if defined(__x86_64__)
	can_read_base = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
#endif
	if (find(entry))
		return;
	while ((place = find(0))) {
		uintptr_t none = 0;

		if (!__atomic_compare_exchange_n(
			    place, &none, entry, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_add(&mg_foreign_blocks, 1, __ATOMIC_RELEASE);
		return;
	}
}

void mg_foreign_remove(const void *block)
{
	uintptr_t entry = (uintptr_t)block + 1, *place = find(entry);

	if (place && __atomic_compare_exchange_n(
			     place, &entry, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		__atomic_fetch_sub(&mg_foreign_blocks, 1, __ATOMIC_RELEASE);
}

void mg_foreign_forget(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		__atomic_store_n(&blocks[i], 0, __ATOMIC_RELAXED);
	mg_foreign_blocks = 0;
}

bool mg_on_foreign_block(void)
{
	return find(thread_pointer() + 1) != NULL;
}
