/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Numbers of the TCP sockets that are in `socks`, each at a place of its own: a few instructions
 * tell that a socket is followed. No other socket will ever have its number. One whose place a
 * later one has taken is found in `socks` itself.
 */
#ifndef MAGNET_BPF_FOLLOWED_H
#define MAGNET_BPF_FOLLOWED_H

#ifdef MG_OLD /* a socket may have another number there each time */
#define number_followed(number)
#define number_forgotten(number)
#else

/* CPUs number sockets in batches that begin at the same places of a small table: hence the hash. */
static __always_inline __u32 place_number(__u64 number)
{
	return number * 0x9e3779b97f4a7c15ULL >> 32 & (MG_NUMBERS - 1);
}

static __always_inline volatile __u64 *place_of_number(__u64 number)
{
	return &places_by_number.followed[place_number(number)];
}

/* The loader changes settings.round with the filters, and empties the places. */
static __always_inline __u64 mark_in(__u64 number, __u64 round)
{
	return number ^ round << 56;
}

static __always_inline __u64 mark_now(__u64 number)
{
	return mark_in(number, settings.round);
}

static __always_inline bool is_followed(__u64 number)
{
	return *place_of_number(number) == mark_now(number);
}

/* Call it when the socket has been put into `socks`. */
static __always_inline void number_followed(__u64 number)
{
	*place_of_number(number) = mark_now(number);
}

/* Call it before the socket is taken out. */
static __always_inline void number_forgotten(__u64 number)
{
	if (is_followed(number))
		*place_of_number(number) = 0;
}

#endif

#endif
