/* SPDX-License-Identifier: MIT */
/*
 * What a program is, as far as preloading libmagnet.so into it goes: by whom it is loaded, and
 * whether a run-time library must come before ours. Makes system calls only: no allocation, no
 * errno, no thread-local storage.
 */
#ifndef MAGNET_COMMON_PROGRAM_KIND_H
#define MAGNET_COMMON_PROGRAM_KIND_H

enum mg_preload {
	MG_PRELOAD_PLAIN,         /* nothing to mind; also where the program cannot be looked at */
	MG_PRELOAD_AFTER_RUNTIME, /* a sanitizer's runtime refuses to come after another library */
	MG_PRELOAD_REFUSED /* libmagnet.so would keep it from starting, or have it warned of */
};

#define MG_RUNTIME_ENV "MAGNET_RUNTIME" /* the runtime that was put before ours */

struct mg_program_kind {
	enum mg_preload preload;
	char loader[128]; /* who refuses: the program's loader; "" it is for another machine */
	char runtime[64]; /* what comes first */
};

/* The file at `path`, or what its #! line names. */
void mg_program_look(struct mg_program_kind *k, int dir, const char *path);
/* An open file. */
void mg_program_look_fd(struct mg_program_kind *k, int fd);
/* What execvp() would find: PATH is `search`, NULL the default one. */
void mg_program_look_search(struct mg_program_kind *k, const char *file, const char *search);

#endif
