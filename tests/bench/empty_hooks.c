/* SPDX-License-Identifier: MIT */
/*
 * BPF programs that do nothing, at the places given: the part of a tracer's cost that no cleverness
 * inside its programs can save. Attached until stdin ends.
 *
 *   empty_hooks PLACE...   tp:TRACEPOINT, or nf:FAMILY:HOOK (numbers of <linux/netfilter.h>)
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

static int load(int result, uint32_t type, uint32_t attach_type)
{
	struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = result},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.expected_attach_type = attach_type;
	attr.insns = (uintptr_t)nothing;
	attr.insn_cnt = 2;
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
	int c;

	for (int i = 1; i < argc; i++) {
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
