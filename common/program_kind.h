/* SPDX-License-Identifier: MIT */
/*
 * Whether libmagnet.so can be preloaded into a program: which loader it has, and whether a run-time
 * library must come first. Makes system calls only: no allocation, no errno, no thread-local
 * storage.
 */
#ifndef MAGNET_COMMON_PROGRAM_KIND_H
#define MAGNET_COMMON_PROGRAM_KIND_H

#include <stdbool.h>

enum mg_preload {
	MG_PRELOAD_PLAIN,         /* yes; also if the program cannot be examined */
	MG_PRELOAD_AFTER_RUNTIME, /* a sanitizer's runtime refuses to come after another library */
	MG_PRELOAD_REFUSED /* libmagnet.so would keep it from starting, or have it warned of */
};

#define MG_RUNTIME_ENV "MAGNET_RUNTIME" /* the runtime that was put before ours */

struct mg_program_kind {
	enum mg_preload preload;
	bool loads;       /* whether a loader that preloads libraries starts it */
	char loader[128]; /* the loader that refuses; "": the program is for another machine */
	char runtime[64]; /* the run-time library that must come first */
};

/* Examines the file at `path`, or the interpreter of its #! line. */
void mg_program_look(struct mg_program_kind *k, int dir, const char *path);
/* Examines an open file. */
void mg_program_look_fd(struct mg_program_kind *k, int fd);
/* Examines the program that execvp() would run: PATH is `search`, NULL the default one. */
void mg_program_look_search(struct mg_program_kind *k, const char *file, const char *search);

#endif
