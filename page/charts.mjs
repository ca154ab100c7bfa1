// SPDX-License-Identifier: MIT
// The charts over time: of exchanges, and of one connection.
import { Chart } from "./chart.mjs";
import { index, load, otherDirection, report, secondsOf, tracks } from "./data.mjs";
import { Line } from "./levels.mjs";
import { bytes, count, time } from "./units.mjs";

const COLOURS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"];
const segments = (n) => `${count(n)} segments`;
const micros = (n) => time(1000 * n);

/** Times in which events are missing, in seconds. */
export const gaps = report.loss.gaps
  .filter((g) => g.from_ns !== null && g.to_ns !== null)
  .map((g) => [secondsOf(g.from_ns), secondsOf(g.to_ns)]);

/** Makes a line of a track's column. */
async function lineOf(number, column, rest) {
  const columns = await load(number);
  const track = index.tracks[number];
  const line = new Line(columns.time.map((t) => t / 1e9), columns[column]);
  return { line, seen: track.seen, thinned: track.rows < track.seen, columns, ...rest };
}

function noteOf(lines, otherwise) {
  const thinned = lines.some((l) => l.thinned);
  return thinned ? `${otherwise} Of neighbouring points only the first, smallest, largest and last are kept.` : otherwise;
}

/** Requests over time, by the time until their reply; the slowest are marked. */
export async function exchanges() {
  const numbers = tracks("exchange");
  if (!numbers.length) return null;
  const lines = await Promise.all(
    numbers.map((n, i) =>
      lineOf(n, "to_reply", {
        name: index.texts[index.tracks[n].name],
        format: time,
        colour: COLOURS[i % COLOURS.length],
        how: "points",
        size: 2.2,
      }),
    ),
  );
  for (const l of lines)
    l.more = (at) => `exchange ${count(l.columns.ordinal[at])} of ${index.texts[l.columns.request[at]]}`;
  const values = lines.flatMap((l) => [...l.line.y.slice(0, 5000)]).sort((a, b) => a - b);
  const wide = values.length > 1 && values.at(-1) > 30 * Math.max(values[values.length >> 1], 1);
  return new Chart({
    title: "Exchanges over time",
    note: noteOf(
      lines,
      `Time from each request to its reply${wide ? ", logarithmic" : ""}, at the time of the call that read or wrote the request's last byte; circles mark the slowest.`,
    ),
    lines,
    format: time,
    logarithmic: wide,
    bands: gaps,
    marks: report.slowest
      .filter((s) => s.to_reply_ns !== null)
      .map((s) => ({ x: secondsOf(s.time_ns), y: s.to_reply_ns })),
  });
}

const LAYER_LABELS = {
  call: "application (calls)",
  copy: "copied by the socket",
  tcp: "TCP",
  ip: "IP",
  queue: "device's queue",
  device: "device (wire)",
  driver: "driver",
  in_order: "readable in order",
};

export function layerLabel(layer) {
  return LAYER_LABELS[layer] ?? layer;
}

/** Sizes at each layer over time: what the application wrote against what went onto the wire. */
async function sizes(flow) {
  const numbers = tracks("size", flow);
  if (!numbers.length) return null;
  const lines = await Promise.all(
    numbers.map((n, i) => {
      const layer = index.tracks[n].layer;
      return lineOf(n, "payload", {
        name: layerLabel(layer),
        format: bytes,
        colour: COLOURS[i % COLOURS.length],
        how: "points",
        off: layer !== "call" && layer !== "device",
      });
    }),
  );
  if (lines.every((l) => l.off)) lines.forEach((l) => delete l.off);
  for (const l of lines)
    l.more = (at) =>
      Number.isNaN(l.columns.wire[at]) ? "" : `${bytes(l.columns.wire[at])} with headers`;
  return new Chart({
    title: "Application against wire",
    note: noteOf(lines, "Payload of each call, and of each packet at each layer."),
    lines,
    format: bytes,
    bands: gaps,
  });
}

/** Makes a chart of tracks with one value each; null if there are none. */
async function simple(title, note, format, parts, axisFormat) {
  const there = parts.flatMap((p) => tracks(p.kind, p.flow).map((n) => ({ ...p, n })));
  if (!there.length) return null;
  const lines = await Promise.all(
    there.map((p, i) =>
      lineOf(p.n, index.tracks[p.n].columns[1].name, {
        name: p.name,
        format: p.format ?? format,
        colour: COLOURS[i % COLOURS.length],
        how: p.how ?? "steps",
        size: 3,
        off: p.off,
      }),
    ),
  );
  there.forEach((p, i) => {
    if (p.more) lines[i].more = (at) => p.more(lines[i].columns, at);
  });
  return new Chart({ title, note: noteOf(lines, note), lines, format, axisFormat, bands: gaps });
}

/** Whether the recording has TCP's state; it is recorded on demand only. */
export function hasState() {
  return tracks("cwnd").length > 0;
}

/** Returns promises of the charts of a flow's connection; of null where nothing was recorded. */
export function chartsOf(flow) {
  const tx = flow.endsWith("/tx") ? flow : otherDirection(flow);
  const rx = otherDirection(tx);
  return [
    sizes(flow),
    simple(
      "Send buffer and receive queue",
      "Bytes in the buffers of the socket: as calls write, as segments arrive, as bytes become readable, and as the program reads.",
      bytes,
      [
        { kind: "buffer", flow: tx, name: "written, not acknowledged" },
        { kind: "unsent", flow: tx, name: "written, not sent" },
        { kind: "buffer", flow: rx, name: "received, not read" },
      ],
    ),
    simple(
      "Congestion window, segments",
      "At each of TCP's events.",
      segments,
      [
        { kind: "cwnd", flow: tx, name: "congestion window" },
        { kind: "ssthresh", flow: tx, name: "slow-start threshold" },
      ],
      count,
    ),
    simple("Round-trip time", "As TCP smooths it, and the retransmission timeout it makes of it.", micros, [
      { kind: "srtt", flow: tx, name: "smoothed round-trip time" },
      { kind: "rto", flow: tx, name: "retransmission timeout", off: true },
    ]),
    simple("Windows", "Bytes that the peer has room for, and that it was told there is room for here.", bytes, [
      { kind: "snd_wnd", flow: tx, name: "offered by the peer" },
      { kind: "rcv_wnd", flow: tx, name: "offered to the peer", off: true },
    ]),
    simple("Losses and retransmissions", "Payload of each; a segment without payload is at 0.", bytes, [
      ...[tx, rx].map((f) => ({
        kind: "drop",
        flow: f,
        name: f === tx ? "dropped on the way out" : "dropped on the way in",
        how: "points",
        more: (c, at) => `${segments(c.segments[at])}, ${index.texts[c.why[at]]}`,
      })),
      {
        kind: "retransmit",
        flow: tx,
        name: "sent again",
        how: "points",
        more: (c, at) => segments(c.segments[at]),
      },
    ]),
  ];
}
