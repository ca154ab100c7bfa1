/* SPDX-License-Identifier: MIT */
/* Functions shared by the cases of `lives`. None of them knows of magnet. */
#ifndef MAGNET_TESTS_LIVES_H
#define MAGNET_TESTS_LIVES_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(what)                                                                  \
	do {                                                                          \
		if (!(what)) {                                                        \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what, \
				strerror(errno));                                     \
			exit(1);                                                      \
		}                                                                     \
	} while (0)

/* Runs a case: its arguments follow its name. Returns the exit status. */
typedef int (*life)(int argc, char **argv);
#define LIFE(name) int life_##name(int argc, char **argv)

/* clang-format off */
#define LIVES(X) \
	X(brief) X(end) X(killed) X(exec_chain) \
	X(fork) X(storm) X(vfork) X(raw_fork) X(spawn) X(clone_vm) X(beside) X(beside_sandbox) X(foreign) \
	X(daemon) X(cage) X(drop) X(sandbox) X(sandboxed_child) X(sandboxed_parent) X(execs) \
	X(strict) X(no_counter) X(counter_stays) X(childs_counter) \
	X(threads) X(thread_chain) X(signals) X(jumps) X(cancel) \
	X(rights) X(inherit) X(inherited) X(reuse) \
	X(memory) X(limit) X(lock) X(state) X(deepbind) X(uring)
/* clang-format on */

#define DECLARE(name) LIFE(name);
LIVES(DECLARE)
#undef DECLARE

/*
 * Returns a UDP socket connected to itself that no process reads: no send blocks or fails. Makes
 * the calls socket, bind and connect.
 */
int sink(void);
void sends(int fd, int n);
/* Wait for one child, or for all children; each must end with status 0. */
void reap(int pid);
void reap_all(void);
/* Executes the program itself with another case. */
void become(const char *name, const char *argument);
/* Makes one system call fatal from now on. */
void forbid_call(unsigned int nr);
/* Returns a file that exists for this process only. */
int scratch_file(void);
unsigned long long now_us(void);
/* Writes a result for the test, apart from the output, to the file named by $LIVES_TOLD, if any. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
