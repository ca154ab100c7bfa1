/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Loops that the verifier checks once. bpf_loop() came with Linux 5.17; programs for older kernels
 * have a plain loop, of which the verifier follows every turn.
 */
#ifndef MAGNET_BPF_LOOP_H
#define MAGNET_BPF_LOOP_H

/*
 * Calls `turn`, a function `long turn(__u64 i, void *arg)`, for i from 0 to n - 1, until it returns
 * something else than 0.
 */
#if CAN_CAST
#define LOOP(n, turn, arg) bpf_loop(n, turn, arg, 0)
#else
#define LOOP(n, turn, arg)                                                       \
	_Pragma("clang loop unroll(disable)") for (__u64 turn_ = 0; turn_ < (n); \
						   turn_++) if (turn(turn_, arg)) break
#endif

#endif
