/* SPDX-License-Identifier: MIT */
/*
 * Points of a program's own in magnet's trace:
 *
 *	#include <magnet/marker.h>
 *	magnet_mark("frame", frame_number, size);
 *
 * A mark stands in the trace at its time, and the report ties it to the bytes the thread sends next
 * and received last. Where libmagnet.so is not preloaded it does nothing; where it is and nobody
 * records, it costs some nanoseconds. Only a program with a dynamic linker can have it.
 */
#ifndef MAGNET_MARKER_H
#define MAGNET_MARKER_H

#include <dlfcn.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*magnet_mark_fn)(const char *name, uint64_t id, int64_t value);

/*
 * `name` is what kind of point it is, UTF-8; 24 bytes of it are kept. `id` tells one such point
 * from another, `value` is the program's own. Async-signal-safe after its first call; keeps errno.
 */
static inline void magnet_mark(const char *name, uint64_t id, int64_t value)
{
	static magnet_mark_fn mark;
	static int looked;

	if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
		union {
			void *object;
			magnet_mark_fn function;
		} found;

		found.object = dlsym((void *)0, "magnet_mark_here"); /* in the whole program */
		mark = found.function;
		__atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
	}
	if (mark)
		mark(name, id, value);
}

#ifdef __cplusplus
}
#endif

#endif
