/* SPDX-License-Identifier: MIT */
/*
 * The figures that are reported: one row a figure, in the order in which the JSON report has them.
 * A scope is what they are figures of: a call, a flow, a stage. The JSON report, its schema, the
 * page magnet-figures(5) and the values that the text prints come from this table.
 *
 * Rows, of the scope S; `name` is the key in JSON, `label` what people read:
 *
 *   V(S, TYPE, UNIT, name, known, label, doc)
 *       a value, which get_S_name() returns
 *   O(S, CHILD, name, known, doc)
 *       an object; into_S_name() fills in the figures of CHILD
 *   L(S, CHILD, name, known, doc)
 *       a list of objects; next_S_name() fills in one after the other
 *   W(S, words, UNIT, name, known, doc)
 *       an object with a number for each word; get_S_name() takes the word's index
 *   T(S, name, known, doc)
 *       a list of texts; next_S_name() returns one after the other
 *   P(S, CHILD, there)
 *       the figures of CHILD, if `there`, as if they were rows of S; part_S_CHILD() fills them in
 *
 * `known` says when a figure is known; where it is not, JSON has null and the text n/a. It is a row
 * of MG_KNOWN_S, whose function known_S_name() is asked before the getter, or one of
 *
 *   always    it is known in every recording
 *   recorded  the getter returns nothing where it was not recorded
 *   counted   the getter returns nothing where the events that it counts were not recorded, or 0
 *             where some of them are missing
 *   samples   there is a sample; of quantiles above the median, ten samples beyond it
 *
 * Types: COUNT, SIGNED, NUMBER (with decimals), TEXT, FLAG, ANY (a value of JSON).
 */
#ifndef MAGNET_CORRELATE_REPORTED_TABLE_H
#define MAGNET_CORRELATE_REPORTED_TABLE_H

#include "figures/call_table.h"
#include "figures/tcp_table.h"
#include "reported/table_beside.h"
#include "reported/table_exchanges.h"
#include "reported/table_flow.h"
#include "reported/table_recording.h"
#include "reported/table_scheduler.h"
#include "reported/table_wire.h"

/* clang-format off */
/* F(scope, its C type, doc): of a report, of a comparison, of two hosts, and of a capture */
#define MG_REPORT_SCOPES(F) \
	F(spread, struct spread_figures, "Times of one kind") \
	F(longest, struct spread_figures, "Longest of times of one kind") \
	F(call_time, struct spread_figures, "Times of calls") \
	F(overhead, struct overhead_figures, "Overhead of a call") \
	F(interposition, struct call_figures, "What libmagnet.so adds to a call") \
	F(call, struct call_figures, "A function and kind of socket") \
	F(waits, struct waits_figures, "Waits of threads") \
	F(switch, struct switch_figures, "Switches of one kind on one CPU") \
	F(blocked, struct blocked_figures, "What the threads of a process were blocked in") \
	F(scheduler, struct scheduler_figures, "The scheduler") \
	F(stage, struct stage_figures, "A stage of a flow's bytes") \
	F(why, struct why_figures, "A reason for which bytes waited in the send buffer") \
	F(held, struct held_figures, "A part of the wait in the send buffer") \
	F(last_byte, struct spread_figures, "Last bytes of calls") \
	F(waterfall_stage, struct waterfall_stage_figures, "A stage of such bytes") \
	F(waterfall, struct waterfall_figures, "Bytes whose total is about a quantile") \
	F(residence, struct flow_figures, "Where bytes waited") \
	F(lineage_sent, struct flow_figures, "Sent bytes that cannot be followed as usual") \
	F(lineage_received, struct flow_figures, "Received bytes that cannot be followed as usual") \
	F(lineage_tcp, struct flow_figures, "Bytes of TCP that cannot be followed as usual") \
	F(lineage, struct flow_figures, "Bytes that cannot be followed as usual") \
	F(hold, struct spread_figures, "Pages of sends with MSG_ZEROCOPY") \
	F(zerocopy, struct zerocopy_figures, "Sends with MSG_ZEROCOPY") \
	F(timed_stage, struct timed_stage_figures, "A stage of sends by the kernel's timestamps") \
	F(timed_sends, struct timed_sends_figures, "Sends by the kernel's timestamps") \
	F(extent, struct extent_figures, "Values of a connection's state") \
	F(troubles_sent, struct tcp_figures, "What happened to a sending connection") \
	F(troubles, struct tcp_figures, "What happened to a connection") \
	F(tcp_sent, struct tcp_figures, "State of a sending connection") \
	F(tcp, struct tcp_figures, "State of a connection") \
	F(layer, struct layer_figures, "A layer of a flow") \
	F(modulation, struct modulation_figures, "Modulation of a flow's traffic by the stack") \
	F(drop, struct drop_figures, "Packets of a flow that were dropped for one reason at one place") \
	F(exchange_time, struct exchange_time_figures, "A time of exchanges") \
	F(program_part, struct program_part_figures, "A part of the time in a server's program, of all exchanges of a port") \
	F(program_time, struct program_time_figures, "A part of the time in a server's program, of one exchange") \
	F(time_bin, struct time_bin_figures, "Exchanges, or calls, with about the same time") \
	F(cause, struct cause_figures, "A cause of the time of exchanges") \
	F(answer_column, struct answer_column_figures, "Exchanges that took about as long") \
	F(exchange_group, struct exchange_group_figures, "Exchanges of a listening port, or with a server") \
	F(slow_exchange, struct slow_exchange_figures, "One of the slowest exchanges") \
	F(slow_stage, struct slow_stage_figures, "A stage of such bytes") \
	F(slow_range, struct slow_range_figures, "Bytes of a stream without exchanges that were among the slowest") \
	F(flow_exchanges, struct flow_figures, "Exchanges of a socket") \
	F(flow_on_demand, struct flow_figures, "Statistics on demand") \
	F(flow, struct flow_figures, "One direction of a socket") \
	F(drop_sum, struct drop_sum_figures, "Packets dropped for one reason at one place") \
	F(group, struct group_figures, "Flows of one program, protocol, direction and side") \
	F(side, struct side_figures, "A side of the recording") \
	F(sides, struct report_figures, "Both sides of the recording") \
	F(session, struct report_figures, "What was recorded") \
	F(gap, struct gap_figures, "A time in which events are missing") \
	F(missing, struct missing_events, "Events that were written and are not there") \
	F(time_coverage, struct time_coverage_figures, "How much of the time a layer was seen on a CPU") \
	F(loss, struct report_figures, "Events that are missing") \
	F(unseen, struct unseen_figures, "Programs that libmagnet.so did not see") \
	F(marked_bytes, struct marked_bytes_figures, "Bytes beside a mark") \
	F(mark, struct mark_figures, "A point that the program marked") \
	F(dump, struct dump_figures, "A dump of the flight recorder") \
	F(stack, struct stack_figures, "Stacks that are the same (--stacks)") \
	F(other_event, struct other_event_figures, "A chosen event") \
	F(hook, struct hook_figures, "A hook of the kernel side") \
	F(filter, struct report_figures, "A filter") \
	F(events, struct report_figures, "Events read") \
	F(clock, struct report_figures, "The clock") \
	F(losses, struct report_figures, "Losses of the network and its ends") \
	F(tracer, struct own_cost, "Tracing overhead") \
	F(connects, struct report_figures, "Attempts to open TCP connections") \
	F(time_lost, struct time_lost, "Time lost, summed over messages and threads") \
	F(whole, struct report_figures, "All flows together") \
	F(report_on_demand, struct report_figures, "Statistics on demand") \
	F(call_on_flow, struct call_on_flow_figures, "A call on the one flow that is reported") \
	F(report, struct report_figures, "The report")
#define MG_COMPARISON_SCOPES(F) \
	F(subject, struct subject_figures, "What two recordings both have") \
	F(compared, struct compared_figures, "A figure of two recordings") \
	F(compared_recording, struct compared_recording_figures, "One of the recordings") \
	F(comparison, struct comparison_figures, "The comparison with another recording")
#define MG_HOSTS_SCOPES(F) \
	F(crossing, struct crossing_figures, "A direction of a connection between the hosts") \
	F(clock_standing, struct clock_standing_figures, "The hosts' clocks at one time") \
	F(clock_window, struct clock_window_figures, "A time in which the hosts' clocks run evenly") \
	F(passings, struct hosts_figures, "Packets between the hosts") \
	F(joint, struct joint_figures, "Exchanges of a client with a server on the other host") \
	F(hosts, struct hosts_figures, "What lies between two hosts")
#define MG_WIRE_SCOPES(F) \
	F(crossing_time, struct crossing_time_figures, "A time from host to host, or to the wire") \
	F(wire_clock, struct wire_figures, "A capture's clock") \
	F(wire_flow, struct wire_flow_figures, "A flow on the wire") \
	F(wire, struct wire_figures, "A capture beside the recording")
#define MG_SCOPES(F) MG_WIRE_SCOPES(F) MG_HOSTS_SCOPES(F) MG_COMPARISON_SCOPES(F) MG_REPORT_SCOPES(F)
/* clang-format on */

#endif
