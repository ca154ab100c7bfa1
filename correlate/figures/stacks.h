/* SPDX-License-Identifier: MIT */
/* Sums of the stacks that were taken (--stacks), and their frames, from facts (method, "Stacks").
 */
#ifndef MAGNET_CORRELATE_FIGURES_STACKS_H
#define MAGNET_CORRELATE_FIGURES_STACKS_H

#include "core/contract.h"
#include "figures/in_program.h"
#include "hash.h"

/* The frames of a stack, the innermost first. */
struct stack_chain {
	uint64_t id;
	char **frame; /* names: see stack_frame_name() */
	uint32_t n, room;
	UT_hash_handle hh;
};

/* Identity of a row; compared as bytes, all of which are set. */
struct stack_key {
	uint64_t user, kernel; /* numbers of stacks, FACT_NONE: none */
	const char *call;      /* of a block; NULL: not known */
	char program[16];      /* "": not known */
	uint64_t why;          /* enum fact_stack_why */
};

/* The same stacks of one program, however often they were taken. */
struct stack_row {
	struct stack_key key;
	uint64_t n;
	uint64_t off, max; /* blocks: time off the CPU and the longest, ns */
	UT_hash_handle hh;
};

/* Identity of a row; compared as bytes, all of which are set. */
struct request_stack_key {
	uint64_t user, kernel;
	const char *call;
	uint64_t port; /* of the server */
};

/* Blocks with the same stacks while the program had requests of one port. */
struct request_stack {
	struct request_stack_key key;
	uint64_t n, off; /* ns */
	UT_hash_handle hh;
};

/* A block that may turn out to be in a request. */
struct recent_block {
	uint64_t tid, end; /* cycles */
	uint64_t user, kernel, off;
	const char *call;
};
#define RECENT_BLOCKS 4096

struct stack_table {
	struct core *core;
	struct stack_row *rows; /* by reason, then the most first, once all is read */
	uint64_t left_out;      /* stacks beyond the rows there is room for */
	struct stack_chain *chains;
	struct request_stack *requests; /* the most time first, once all is read */
	struct recent_block *recent;    /* NULL: no block had a stack */
	uint64_t recent_n;
	struct program_times parts; /* of the exchange that comes next */
	bool recorded;              /* the recording says how many there are; what follows is set */
	struct fact_stacks counts;
	char kernel_unnamed[40]; /* why functions of the kernel have no names; "": they have */
};

/* Call it before exchange_table_listen(). */
void stack_table_listen(struct stack_table *t, struct core *c);
/* Sorts the rows, once all is read. */
void stack_table_finish(struct stack_table *t);
/* Returns the frames of a stack, NULL if they are not known. */
const struct stack_chain *stack_chain(const struct stack_table *t, uint64_t id);
/* Returns by what a row is sorted: a block's time, else how often it was taken. */
uint64_t stack_weight(const struct stack_row *r);
/*
 * Returns a frame's name, to be freed: the function; "[FILE+0xOFFSET]" of one without a name;
 * "[unknown callers]". NULL without memory.
 */
char *stack_frame_name(const struct fact_frame *f);
void stack_table_free(struct stack_table *t);

#endif
