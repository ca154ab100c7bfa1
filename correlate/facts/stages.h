/* SPDX-License-Identifier: MIT */
/*
 * The layers at which bytes are seen and the stages between them, on their way out and in; the
 * states of a thread in a call; and the words for them in every table, report and export.
 */
#ifndef MAGNET_CORRELATE_FACTS_STAGES_H
#define MAGNET_CORRELATE_FACTS_STAGES_H

/*
 * Layers, X(ID, name, label): where bytes are seen. The label tells in the life of a byte what
 * happens to it there; a call has the names of its function and system call instead.
 */
/* clang-format off */
#define MG_TX_LAYERS(X) \
	X(CALL,    "call",   "") \
	X(COPY,    "copy",   "copied into the socket") \
	X(IP_OUT,  "tcp",    "the transport hands it to IP") \
	X(IP_POST, "ip",     "IP hands it to the device layer") \
	X(QUEUE,   "queue",  "in the device's queue") \
	X(XMIT,    "device", "driver is asked to send it") \
	X(DONE,    "driver", "driver has taken it")
#define MG_RX_LAYERS(X) \
	X(DEV,   "device",   "device delivers it") \
	X(IP,    "ip",       "IP hands it to the transport") \
	X(TCP,   "tcp",      "TCP processes it") \
	X(READY, "in_order", "in order, readable") \
	X(COPY,  "copy",     "copying begins") \
	X(CALL,  "call",     "")

/* Stages, X(ID, name, label): the time between two layers. Within a range they sum to its total exactly. */
#define MG_TX_STAGES(X) \
	X(CALL,   "call",        "call to copy") \
	X(SNDBUF, "send_buffer", "send buffer") \
	X(IP,     "ip",          "IP") \
	X(QDISC,  "qdisc",       "queue (qdisc)") \
	X(DRIVER, "driver",      "driver")
#define MG_RX_STAGES(X) \
	X(DEV_IP, "device_to_ip",  "device to IP") \
	X(IP_TCP, "ip_to_tcp",     "TCP receive processing") \
	X(ORDER,  "in_order",      "in order (head of line)") \
	X(ABSENT, "reader_absent", "socket queue: reader absent") \
	X(WAKE,   "wake",          "socket queue: until woken") \
	X(RUNQ,   "run_queue",     "run queue") \
	X(POLL,   "poll_return",   "woken before, until the call") \
	X(COPY,   "copy",          "call, until the copy") \
	X(RETURN, "return",        "copy and return")

/*
 * States, X(ID, name): a thread's activity at each instant of a call. Where several apply, the
 * order is: off the CPU, interrupt, softirq, layer.
 */
#define MG_STATES(X) \
	X(ENTRY, "entry") X(SOCKET, "socket") X(LOCK, "lock") X(TCP, "tcp") X(IP, "ip") X(DEVICE, "device") \
	X(RELEASE, "release") X(RETURN, "return") X(SIGNAL, "signal") X(IRQ, "irq") X(SOFTIRQ, "softirq") \
	X(BLOCKED, "blocked") X(WAKEUP, "wakeup") X(PREEMPTED, "preempted")
/* clang-format on */

#define MG_TX_LAYER_ID(ID, name, label) TX_##ID,
#define MG_RX_LAYER_ID(ID, name, label) RX_##ID,
#define MG_TX_STAGE_ID(ID, name, label) TX_STAGE_##ID,
#define MG_RX_STAGE_ID(ID, name, label) RX_STAGE_##ID,
#define MG_STATE_ID(ID, name)           STATE_##ID,
enum tx_layer { MG_TX_LAYERS(MG_TX_LAYER_ID) TX_LAYERS };
enum rx_layer { MG_RX_LAYERS(MG_RX_LAYER_ID) RX_LAYERS };
enum tx_stage { MG_TX_STAGES(MG_TX_STAGE_ID) TX_STAGES };
enum rx_stage { MG_RX_STAGES(MG_RX_STAGE_ID) RX_STAGES };
enum call_state { MG_STATES(MG_STATE_ID) STATES };
#undef MG_TX_LAYER_ID
#undef MG_RX_LAYER_ID
#undef MG_TX_STAGE_ID
#undef MG_RX_STAGE_ID
#undef MG_STATE_ID
#define STAGES_MAX 9
/* Number of the stages of both directions, those of the way out first. */
#define STAGES_BOTH (TX_STAGES + RX_STAGES)

/* True for a state on the CPU, in the kernel, that serves the call itself. */
#define STATE_IS_OVERHEAD(s) ((s) <= STATE_RETURN)

#endif
