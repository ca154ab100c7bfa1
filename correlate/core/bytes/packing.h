/* SPDX-License-Identifier: MIT */
/* Writes and reads the memory of packed sockets, and of the states that are packed with them. */
#ifndef MAGNET_CORRELATE_CORE_BYTES_PACKING_H
#define MAGNET_CORRELATE_CORE_BYTES_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory to pack into, which grows as it is needed and is used again. */
struct packing_room {
	uint8_t *bytes;
	size_t cap;
};

struct packing {
	struct packing_room *into;
	size_t n; /* bytes written into its room */
	bool failed;
};

struct unpacking {
	const uint8_t *from;
	bool failed; /* memory is short: nothing more is read */
};

/* Writes memory that is mostly zero, a multiple of eight bytes. */
void pack_words(struct packing *p, const void *from, size_t bytes);
/* Writes bytes as they are. */
void pack_bytes(struct packing *p, const void *from, size_t bytes);
/* Reads `bytes` bytes written as words into zeroed room for more; returns NULL for none. */
void *unpack_words(struct unpacking *u, size_t bytes, size_t room);
/* Reads bytes written as words into `to`; NULL: its memory is short. */
void unpack_words_to(struct unpacking *u, void *to, size_t bytes);
/* Reads bytes written as they are into `to`; NULL: its memory is short. */
void unpack_bytes(struct unpacking *u, void *to, size_t bytes);

#define PACK(p, thing)   pack_words(p, thing, sizeof(*(thing)))
#define UNPACK(u, to, n) ((to) = unpack_words(u, (n) * sizeof(*(to)), (n) * sizeof(*(to))))
/* In place of a pointer to what is packed behind it. */
#define PACKED_THERE(p) ((p) ? (void *)1 : NULL)

#endif
