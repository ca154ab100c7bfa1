/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* All programs in one object, since they share their maps; one file per layer of the stack. */
#include "kernel.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>

#include "events.h"
#include "ring.h"

#include "old.bpf.h"
#include "cast.bpf.h"
#include "loop.bpf.h"
#include "ring.bpf.h"
#include "state.bpf.h"
#include "filter.bpf.h"
#include "keys.bpf.h"
#include "not_seen.bpf.h"
#include "task.bpf.h"
#include "tuple.bpf.h"
#include "memo.bpf.h"
#include "followed.bpf.h"
#include "verdict.bpf.h"
#include "select.bpf.h"
#include "cookie.bpf.h"
#include "compat.bpf.h"
#include "met.bpf.h"
#include "others.bpf.h"
#include "context.bpf.h"
#include "stack.bpf.h"
#include "packet.bpf.h"
#include "packet_event.bpf.h"
#include "journey.bpf.h"
#include "translated.bpf.h"
#include "request.bpf.h"
#include "tcp_rare.bpf.h"
#include "ip_header.bpf.h"
#include "datagram.bpf.h"
#include "peer.bpf.h"
#include "whose.bpf.h"
#include "late.bpf.h"
#include "zerocopy.bpf.h"
#include "listen.bpf.h"
#include "descriptor.bpf.h"
#include "syscall.bpf.h"
#include "syscall_end.bpf.h"
#include "socket.bpf.h"
#include "socket_fallback.bpf.h"
#include "lock.bpf.h"
#include "tcp.bpf.h"
#include "ip.bpf.h"
#include "ip_fallback.bpf.h"
#include "device.bpf.h"
#include "drop.bpf.h"
#include "timestamps.bpf.h"
#include "blocked.bpf.h"
#include "switch.bpf.h"
#include "sched.bpf.h"
#include "irq.bpf.h"
#include "identity.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";
