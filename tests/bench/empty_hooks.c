/* SPDX-License-Identifier: MIT */
/*
 * BPF programs that do nothing, at the places given: the part of a tracer's cost that no cleverness
 * inside its programs can save. Attached until stdin ends.
 *
 *   empty_hooks [-r] PLACE...   tp:TRACEPOINT, or nf:FAMILY:HOOK (numbers of <linux/netfilter.h>)
 *
 *   -r   each program records an event of nothing: it takes a slot of 64 bytes of its CPU's memory
 *        and writes the time and the thread into it. What a tracer that records at each of these
 *        places costs at least, however little it finds out.
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* values that <linux/bpf.h> has since 6.4, as the build machine's may be older */
#define TYPE_NETFILTER 32
#define AT_NETFILTER   45

static int bpf(int command, void *attr, unsigned int size)
{
	return (int)syscall(SYS_bpf, command, attr, size);
}

#define SLOTS     8192 /* as many as magnet's rings have near ones */
#define SLOT_SIZE 64
#define HEAD      (SLOTS * SLOT_SIZE)
/* clang-format off */
/* instructions: register d, register or value s, offset o */
#define SET(d, i)       {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = d, .imm = i}
#define COPY(d, s)      {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = d, .src_reg = s}
#define OP(op, d, i)    {.code = BPF_ALU64 | op | BPF_K, .dst_reg = d, .imm = i}
#define ADD(d, s)       {.code = BPF_ALU64 | BPF_ADD | BPF_X, .dst_reg = d, .src_reg = s}
#define PUT_32(d, o, s) {.code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = d, .src_reg = s, .off = o}
#define PUT(d, o, s)    {.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = d, .src_reg = s, .off = o}
#define PUT_0(d, o)     {.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = d, .off = o}
#define CALL(f)         {.code = BPF_JMP | BPF_CALL, .imm = f}
#define IF_0(d, o)      {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = d, .off = o}
#define FETCH_ADD(d, s) \
	{.code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = d, .src_reg = s, .imm = BPF_ADD | BPF_FETCH}
#define MAP(d, fd) \
	{.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = d, .src_reg = BPF_PSEUDO_MAP_FD, .imm = fd}, {0}
#define EXIT            {.code = BPF_JMP | BPF_EXIT}
/* clang-format on */

static int slots = -1; /* map of the events of nothing, -1: none are recorded */

static int make_slots(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY; /* an element for each CPU, as magnet's */
	attr.key_size = 4;
	attr.value_size = HEAD + SLOT_SIZE;
	attr.max_entries = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	return bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

static int load(int result, uint32_t type, uint32_t attach_type)
{
	struct bpf_insn nothing[] = {SET(0, result), EXIT};
	/* clang-format off */
	/* the memory's address is in register 7, the time in 8, the slot in 9 */
	struct bpf_insn event[] = {
		CALL(BPF_FUNC_get_smp_processor_id), PUT_32(10, -8, 0),
		COPY(2, 10), OP(BPF_ADD, 2, -8), MAP(1, slots),
		CALL(BPF_FUNC_map_lookup_elem), IF_0(0, 19), COPY(7, 0),
		CALL(BPF_FUNC_ktime_get_ns), COPY(8, 0),
		COPY(1, 7), OP(BPF_ADD, 1, HEAD), SET(9, 1), FETCH_ADD(1, 9),
		OP(BPF_AND, 9, SLOTS - 1), OP(BPF_LSH, 9, 6), ADD(9, 7),
		PUT(9, 8, 8), CALL(BPF_FUNC_get_current_pid_tgid), PUT(9, 16, 0),
		PUT_0(9, 24), PUT_0(9, 32), PUT_0(9, 40), PUT_0(9, 48), PUT_0(9, 56), PUT(9, 0, 8),
		SET(0, result), EXIT,
	};
	/* clang-format on */
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.expected_attach_type = attach_type;
	attr.insns = (uintptr_t)(slots < 0 ? nothing : event);
	attr.insn_cnt =
		slots < 0 ? sizeof(nothing) / sizeof(*nothing) : sizeof(event) / sizeof(*event);
	attr.license = (uintptr_t) "GPL";
	return bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach_tracepoint(const char *name)
{
	union bpf_attr attr;
	int prog = load(0, BPF_PROG_TYPE_RAW_TRACEPOINT, 0);

	if (prog < 0)
		return prog;
	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uintptr_t)name;
	attr.raw_tracepoint.prog_fd = (uint32_t)prog;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

static int attach_netfilter(const char *place)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint32_t pf, hooknum;
		int32_t priority;
		uint32_t nf_flags;
		char rest[64];
	} attr = {.attach_type = AT_NETFILTER};
	int prog = load(1, TYPE_NETFILTER, AT_NETFILTER); /* 1: accept the packet */

	if (prog < 0 || sscanf(place, "%u:%u", &attr.pf, &attr.hooknum) != 2)
		return -1;
	attr.prog_fd = (uint32_t)prog;
	/* two programs with the same priority exclude each other */
	attr.priority = 300 + (int)getpid() % 100;
	return bpf(BPF_LINK_CREATE, &attr, 64);
}

static int attach(const char *place)
{
	if (strncmp(place, "tp:", 3) == 0)
		return attach_tracepoint(place + 3);
	if (strncmp(place, "nf:", 3) == 0)
		return attach_netfilter(place + 3);
	return -1;
}

int main(int argc, char **argv)
{
	int first = argc > 1 && strcmp(argv[1], "-r") == 0 ? 2 : 1, c;

	if (first == 2 && (slots = make_slots()) < 0) {
		perror("map");
		return 1;
	}
	for (int i = first; i < argc; i++) {
		if (attach(argv[i]) < 0) {
			perror(argv[i]);
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while ((c = getchar()) != EOF)
		;
	return 0;
}
