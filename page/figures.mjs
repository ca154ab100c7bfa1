// SPDX-License-Identifier: MIT
// Tables of the report's figures.
import { report } from "./data.mjs";
import { element, list, table } from "./table.mjs";
import { bytes, count, plain, share, text, time } from "./units.mjs";

const MOST_FLOWS = 1000;
const MOST_BLOCKS = 15;

/** Makes a column of a figure: `path` is its place in a row, `place` that of the rows. */
function figure(head, place, path, format) {
  return {
    head,
    cell: (row, at) => ({
      text: format(path.split(".").reduce((o, key) => (o ? o[key] : null), row)),
      figure: `${place}.${at}.${path}`,
    }),
  };
}

export function calls() {
  const f = (head, path, format) => figure(head, "calls", path, format);
  return table(
    [
      { head: "call", left: true, cell: (c) => (c.kernel_only ? `${c.name} (kernel only)` : c.name) },
      { head: "socket", left: true, cell: (c) => text(c.flow_kind) },
      f("calls", "n", count),
      f("failed", "failed", count),
      f("bytes", "bytes", bytes),
      f("blocked", "blocked_n", count),
      f("time, p50", "total_ns.p50", time),
      f("p99", "total_ns.p99", time),
      f("max", "total_ns.max", time),
      f("overhead, p50", "overhead_ns.p50", time),
      f("p99", "overhead_ns.p99", time),
      f("±", "overhead_ns.uncertainty", time),
    ],
    report.calls,
    "Functions and system calls on sockets. Overhead is the CPU time of the thread for the call, of calls that did not block.",
  );
}

export function groups() {
  const f = (head, path, format) => figure(head, "exchanges", path, format);
  return table(
    [
      {
        head: "exchanges",
        left: true,
        cell: (g) => `${text(g.comm)}, ${g.role === "server" ? "server, port" : "client of"} ${g.address ?? text(g.port)}`,
      },
      { head: "socket", left: true, cell: (g) => text(g.proto) },
      f("answered", "answered", count),
      f("without a reply", "unanswered", count),
      f("uncertain", "unsure", count),
      f("to the reply, p50", "to_reply_ns.p50", time),
      f("p99", "to_reply_ns.p99", time),
      f("max", "to_reply_ns.max", time),
      f("in the program, p50", "in_program_ns.p50", time),
      f("p99", "in_program_ns.p99", time),
    ],
    report.exchanges,
    "Requests and replies, by the server's port or address.",
  );
}

export function flows(choose) {
  const f = (head, path, format) => figure(head, "flows", path, format);
  const shown = report.flows.slice(0, MOST_FLOWS);
  return table(
    [
      {
        head: "flow",
        left: true,
        cell: (flow) => element("button", { type: "button", on: { click: () => choose(flow.id) } }, flow.id),
      },
      { head: "program", left: true, cell: (flow) => text(flow.comm) },
      { head: "kind", left: true, cell: (flow) => text(flow.proto) },
      { head: "local", left: true, cell: (flow) => text(flow.local) },
      { head: "peer", left: true, cell: (flow) => text(flow.remote) },
      f("bytes", "bytes", bytes),
      f("followed", "coverage", share),
      f("all stages, mean", "residence_total_ns", time),
      f("p99", "residence_total_p99_ns", time),
      f("sent again", "retransmits", count),
      f("M", "modulation.M", plain),
    ],
    shown,
    shown.length < report.flows.length
      ? `The ${count(MOST_FLOWS)} largest of ${count(report.flows.length)} flows.`
      : "A flow is one direction of a socket.",
  );
}

export function layers(flow, at) {
  const f = (head, path, format) => figure(head, `flows.${at}.layers`, path, format);
  return table(
    [
      { head: "layer", left: true, cell: (l) => l.name },
      f("packets", "n", count),
      f("bytes", "bytes", bytes),
      f("mean size", "mean_size", bytes),
      f("cov of size", "cov_size", plain),
      f("mean spacing", "mean_spacing_ns", time),
      f("cov of spacing", "cov_spacing", plain),
    ],
    flow.layers,
    "Sizes and spacings at each layer; cov is standard deviation divided by mean.",
  );
}

/** Says why there is nothing; null if the kernel side was recorded. */
export function unknown() {
  return report.losses ? null : element("p", { class: "nothing" }, "Not available: the kernel side was not recorded.");
}

export function drops() {
  const losses = report.losses;
  if (!losses) return unknown();
  const of = (name, key) => [name, count(losses[key]), `losses.${key}`];
  const all = list(
    [
      of("packets dropped", "dropped"),
      of("segments sent again", "retransmits"),
      of("retransmission timeouts", "timeouts"),
      of("dropped by listening sockets", "listen_drops"),
      of("resets sent", "resets_sent"),
      of("resets received", "resets_received"),
    ],
    "Losses of the network and its ends.",
  );
  if (!losses.drops || !losses.drops.length) return all;
  const f = (head, key, format) => figure(head, "losses.drops", key, format);
  const rows = table(
    [
      { head: "direction", left: true, cell: (d) => (d.direction === "tx" ? "sent" : "received") },
      { head: "reason", left: true, cell: (d) => text(d.reason) },
      { head: "function of the kernel", left: true, cell: (d) => text(d.location) },
      f("times", "n", count),
      f("segments", "segments", count),
      f("bytes", "bytes", bytes),
    ],
    losses.drops,
    "Packets that the kernel dropped. Segments without payload that TCP itself discarded are not counted above.",
  );
  return element("div", {}, all, rows);
}

export function ownCost() {
  const of = (name, key, format) => [name, format(report.tracer[key]), `tracer.${key}`];
  return list(
    [
      of("an application event", "app_cost_ns_per_call", time),
      of("a kernel event", "kernel_cost_ns_per_event", time),
      of("share of one CPU while it recorded", "cpu_share", share),
      of("CPU time to begin and end", "setup_cpu_ns", time),
      ["events lost, application side", count(report.loss.app), "loss.app"],
      ["events lost, kernel side", count(report.loss.kernel), "loss.kernel"],
      ["error of joining both sides' times", time(report.clock.max_error_ns), "clock.max_error_ns"],
    ],
    "Measured in this recording.",
  );
}

export function blocked() {
  const all = report.scheduler?.blocked ?? [];
  const rows = all.slice(0, MOST_BLOCKS);
  const f = (head, path, format) => figure(head, "scheduler.blocked", path, format);
  return table(
    [
      { head: "program", left: true, cell: (b) => `${text(b.program)} ${b.pid}` },
      { head: "blocked in", left: true, cell: (b) => b.call ?? text(b.in) },
      { head: "for", left: true, cell: (b) => b.remote ?? "" },
      f("times", "n", count),
      f("in all", "total_ns", time),
      f("p50", "p50_ns", time),
      f("p99", "p99_ns", time),
      f("max", "max_ns", time),
    ],
    rows,
    rows.length < all.length
      ? `What threads were blocked in, by process: the ${MOST_BLOCKS} longest of ${count(all.length)}.`
      : "What threads were blocked in, by process.",
  );
}
