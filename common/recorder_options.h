/* SPDX-License-Identifier: MIT */
/*
 * The options of magnet record and of magnet-kernel-tracer, one row each. A row is all that
 * parsing,
 * --help, the manuals, handing the option over to the tracer or to libmagnet.so,
 * magnet-kernel-tracer ctl and its status need; only the code that uses the value is elsewhere.
 */
#ifndef MAGNET_COMMON_RECORDER_OPTIONS_H
#define MAGNET_COMMON_RECORDER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "option_lists.h"
#include "option_table.h"
#include "options.h"

/* bits of `commands`: which program takes the option */
#define MG_RECORD (1u << 0) /* magnet record */
#define MG_TRACER (1u << 1) /* magnet-kernel-tracer */
#define MG_BOTH   (MG_RECORD | MG_TRACER)

/* bits of `use`: who else uses it */
#define MG_TO_TRACER (1u << 0) /* magnet record hands it to the tracer */
#define MG_TO_APP    (1u << 1) /* libmagnet.so gets it in the environment: MAGNET_NAME */
#define MG_SETTABLE  (1u << 2) /* magnet-kernel-tracer ctl changes it */
#define MG_FILTER    (1u << 3) /* chooses sockets; run/selection.c of the tracer uses it */
#define MG_KERNEL    (1u << 4) /* without effect where the kernel side is not recorded */

/* clang-format off */
/*
 * X(type, member, option, letter, argument, least, most, commands, use, doc). The order is that of
 * --help and of the manuals.
 */
#define MG_RECORDER_OPTIONS(X) \
	X(text, output, "output", 'o', "DIR", 0, 0, MG_BOTH, 0, \
		"trace directory to make (default of magnet record: magnet-COMMAND-TIME)") \
	X(number, repeat, "repeat", 0, "N", 1, 999, MG_RECORD, 0, \
		"run and record COMMAND N times, one after the other, in DIR/1 to DIR/N, to compare them with " \
		"others") \
	X(flag, app_only, "app-only", 0, NULL, 0, 0, MG_RECORD, 0, \
		"record only the application side; this needs no privilege") \
	X(flag, kernel_only, "kernel-only", 0, NULL, 0, 0, MG_RECORD, 0, \
		"record only the kernel side; COMMAND runs without libmagnet.so") \
	X(text, session, "session", 0, "NAME", 0, 0, MG_RECORD, 0, \
		"record the application side in this LTTng session of your own, with its channels, contexts " \
		"and filters, instead of in magnet's rings") \
	X(flag, lttng, "lttng", 0, NULL, 0, 0, MG_RECORD, 0, \
		"record the application side in an LTTng session made for the recording, which writes to " \
		"DIR/app") \
	X(processes, pid, "pid", 'p', "LIST", 0, 0, MG_BOTH, MG_TO_TRACER, \
		"record these running processes, their children and the children they make, kernel side " \
		"only; may be repeated") \
	X(flag, fresh, "fresh", 0, NULL, 0, 0, MG_TRACER, 0, \
		"do not look for connections of PID, which has none yet") \
	X(flag, with_app, "with-app", 0, NULL, 0, 0, MG_TRACER, 0, \
		"note in the trace that the recording has an application side too") \
	X(flag, all, "all", 'a', NULL, 0, 0, MG_BOTH, 0, \
		"record every process of the machine, kernel side only") \
	X(path, cgroup, "cgroup", 0, "PATH", 0, 0, MG_BOTH, MG_TO_TRACER, \
		"record the tasks of a cgroup (v2) and what they start, kernel side only") \
	X(layers, layers, "layers", 'l', "LIST", 0, 0, MG_BOTH, MG_TO_TRACER | MG_KERNEL | MG_SETTABLE, \
		"record these layers of the kernel side: " MG_LAYER_LIST(", ") " or none; light " \
		"records socket, tcp and device for TCP sockets only; +LIST adds to the default (all but timestamps, " \
		"netfilter, gro and switch)") \
	X(size, buffer, "buffer", 'b', "SIZE", MG_BUFFER_MIN, MG_BUFFER_MAX, MG_BOTH, MG_TO_TRACER, \
		"buffer for each CPU of the kernel side (default: 16M, less on many CPUs), and for each " \
		"thread of the application side (default: 4M, at most 16M)") \
	X(number, drain, "drain", 'd', "MS", 1, 10000, MG_BOTH, MG_TO_TRACER | MG_SETTABLE, \
		"empty the kernel side's buffers every MS milliseconds (default: 20)") \
	X(events, event, "event", 'e', "EVENT", 0, 0, MG_BOTH, MG_TO_TRACER | MG_KERNEL, \
		"also record CATEGORY:NAME[/FILTER/][:FIELD,...], any tracepoint of the kernel; may be " \
		"repeated") \
	X(time, duration, "duration", 0, "TIME", 1000000, 1000000000000000, MG_BOTH, 0, \
		"stop after this time, such as 10s, 0.5 or 2m; magnet record asks COMMAND to end and waits " \
		"2 s for it") \
	X(size, max_size, "max-size", 0, "SIZE", 64u << 10, 1ull << 50, MG_BOTH, MG_TO_TRACER, \
		"stop recording a side when its trace reaches this size") \
	X(amount, rotate, "rotate", 0, "AMOUNT", 64u << 10, 0, MG_BOTH, MG_TO_TRACER, \
		"begin a new part of the trace at this size, or after this time, such as 30s") \
	X(number, keep, "keep", 0, "N", 1, 1000000, MG_BOTH, MG_TO_TRACER, \
		"keep only the newest N parts that --rotate or --flight makes") \
	X(amount, flight, "flight", 0, "AMOUNT", 1u << 20, 0, MG_BOTH, MG_TO_TRACER, \
		"flight recorder: keep only the newest events, by size or by time, and write them when a " \
		"dump is requested") \
	X(triggers, trigger, "trigger", 0, "WHEN", 0, 0, MG_BOTH, MG_TO_TRACER | MG_KERNEL, \
		"dump the flight recorder on retransmission, on lost, or on latency=100ms; may be " \
		"repeated") \
	X(level, level, "level", 0, "LEVEL", 0, 0, MG_BOTH, MG_TO_TRACER | MG_KERNEL | MG_SETTABLE, \
		"record protocol state with each TCP event: none, light or full (default: none)") \
	X(threshold, stacks, "stacks", 0, "[=TIME]", 1000, 3600000000000ull, MG_BOTH, MG_TO_TRACER | MG_KERNEL, \
		"also record the program's and the kernel's stack where a thread blocks for TIME " \
		"(default: 1ms) or longer, at calls on sockets, at drops and at retransmissions") \
	X(hook_kinds, without, "without", 0, "KINDS", 0, 0, MG_BOTH, MG_TO_TRACER | MG_KERNEL, \
		"do not use hooks of these kinds: fentry, fexit, netfilter, sockops") \
	X(flag, follow, "follow", 'f', NULL, 0, 0, MG_RECORD, 0, \
		"also record the children of COMMAND or PID: this is always done, and the option is here " \
		"for those who know it from strace") \
	X(functions, calls, "calls", 0, "LIST", 0, 0, MG_RECORD, MG_TO_APP, \
		"log only these application calls, such as send,recv (default: all)") \
	X(flag, waits, "waits", 0, NULL, 0, 0, MG_RECORD, MG_TO_APP, \
		"also log poll, select, epoll_wait and similar calls") \
	X(flag, entries, "entries", 0, NULL, 0, 0, MG_RECORD, MG_TO_APP, \
		"also log the start of each call, so that a blocked call is visible before it returns") \
	X(protocols, protocol, "protocol", 0, "LIST", 0, 0, MG_BOTH, MG_TO_TRACER | MG_KERNEL | MG_SETTABLE | MG_FILTER, \
		"record only sockets of these protocols: tcp, udp, unix, raw, icmp, netlink, vsock") \
	X(list, netns, "netns", 0, "LIST", 0, 0, MG_BOTH, MG_TO_TRACER | MG_KERNEL | MG_SETTABLE | MG_FILTER, \
		"record only sockets of these network namespaces: names, paths or inode numbers") \
	X(ports, port, "port", 0, "LIST", 0, MG_FILTER_PORTS, MG_BOTH, MG_TO_TRACER | MG_KERNEL | MG_SETTABLE | MG_FILTER, \
		"record only connections from or to these ports") \
	X(prefixes, address, "address", 0, "LIST", 0, MG_FILTER_PREFIXES, MG_BOTH, MG_TO_TRACER | MG_KERNEL | MG_SETTABLE | MG_FILTER, \
		"record only connections from or to these addresses or prefixes") \
	X(sample, sample, "sample", 0, "N", 0, 0, MG_BOTH, MG_TO_TRACER | MG_KERNEL | MG_SETTABLE | MG_FILTER, \
		"record only one in N connections, but all of it") \
	X(interface, interface, "interface", 0, "NAME", 0, 0, MG_BOTH, MG_TO_TRACER | MG_KERNEL | MG_SETTABLE | MG_FILTER, \
		"record packets only at this interface") \
	X(flag, anonymize, "anonymize", 0, NULL, 0, 0, MG_BOTH, MG_TO_TRACER, \
		"leave out addresses and ports") \
	X(text, control, "control", 0, "PATH", 0, 0, MG_TRACER, 0, \
		"make the control socket here (default: /run/magnet/kernel-tracer-PID.sock)") \
	X(number, control_fd, "control-fd", 0, "FD", 0, INT32_MAX, MG_TRACER, 0, \
		"speak with a parent process at this descriptor, one JSON object a line") \
	X(flag, quiet, "quiet", 'q', NULL, 0, 0, MG_RECORD, 0, \
		"print nothing if all goes well") \
	X(help, help, "help", 'h', NULL, 0, 0, MG_BOTH, OPTION_LAST, \
		"print this help") \
	X(flag, version, "version", 0, NULL, 0, 0, MG_TRACER, OPTION_LAST, \
		"print the version")
/* clang-format on */

#define MG_OPTION_MEMBER(type, member, ...) option_value_##type member;
struct recorder_options {
	MG_RECORDER_OPTIONS(MG_OPTION_MEMBER)
};
#undef MG_OPTION_MEMBER

extern const struct option_row recorder_option_rows[];
extern const size_t recorder_option_count;

/* Sets the values of a command line without options. */
void recorder_options_init(struct recorder_options *o);
void recorder_options_free(struct recorder_options *o);
/*
 * Checks for options that exclude each other, lack another, or name a process that does not exist;
 * `command` says whether a COMMAND was given. Returns 0, or -EINVAL or -ESRCH after a message.
 */
int recorder_options_check(const struct recorder_options *o, bool command);

#endif
