/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The softirq that each CPU is in: it releases what a socket sends there. The softirqs' own events
 * cover only those on top of traced threads.
 */
#ifndef MAGNET_BPF_CONTEXT_H
#define MAGNET_BPF_CONTEXT_H

/*
 * Returns the value of the field `context` of ip_out; 0 until the first softirq, and where their
 * hooks are not attached.
 */
static __always_inline __u8 context_here(void)
{
	const struct mg_ring *r = ring_here();

	return r ? r->context : 0;
}

#endif
