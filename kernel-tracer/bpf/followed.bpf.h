/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Numbers of the TCP sockets that are in `socks`, each at a place of its own: a few instructions
 * tell that a socket is followed. No other socket will ever have its number. One whose place a
 * later one has taken is found in `socks` itself.
 */
#ifndef MAGNET_BPF_FOLLOWED_H
#define MAGNET_BPF_FOLLOWED_H

volatile __u64 followed_numbers[MG_FOLLOWED_NUMBERS] SEC(".bss.numbers");

/* The loader changes settings.round with the filters, and empties the places. */
static __always_inline __u64 followed_mark(__u64 number)
{
	return number ^ (__u64)settings.round << 56;
}

static __always_inline bool is_followed(__u64 number)
{
	return followed_numbers[number & (MG_FOLLOWED_NUMBERS - 1)] == followed_mark(number);
}

/* Call it when the socket has been put into `socks`. */
static __always_inline void number_followed(__u64 number)
{
	followed_numbers[number & (MG_FOLLOWED_NUMBERS - 1)] = followed_mark(number);
}

/* Call it before the socket is taken out. */
static __always_inline void number_forgotten(__u64 number)
{
	if (is_followed(number))
		followed_numbers[number & (MG_FOLLOWED_NUMBERS - 1)] = 0;
}

#endif
