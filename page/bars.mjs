// SPDX-License-Identifier: MIT
// Waterfalls: where the bytes of a direction waited, and where the time of the slowest went.
import { index, report, secondsOf } from "./data.mjs";
import { element, table } from "./table.mjs";
import { bytes, count, moment, share, text, time } from "./units.mjs";
import { view } from "./view.mjs";

const OTHERS = "others";
const COLOURS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8", "--c9", "--c10"];

/** Makes a bar of parts {colour, from, part, title}; `from` and `part` are shares of its width. */
function bar(parts) {
  const whole = element("div", { class: "bar" });
  for (const p of parts) {
    const piece = element("span", { title: p.title });
    piece.style.left = `${100 * p.from}%`;
    piece.style.width = `${100 * p.part}%`;
    piece.style.setProperty("--swatch", `var(${p.colour})`);
    whole.append(piece);
  }
  return whole;
}

/** Returns where the last byte of each send waited, by the kernel's timestamps. */
function timedSends(timed, place) {
  const cell = (s, at, key) => ({ text: time(s[key]), figure: `${place}.stages_ns.${at}.${key}` });
  return table(
    [
      { head: "stage", left: true, cell: (s) => index.words.timed[s.stage] ?? s.stage },
      { head: "sends", cell: (s, at) => ({ text: count(s.n), figure: `${place}.stages_ns.${at}.n` }) },
      { head: "mean", cell: (s, at) => cell(s, at, "mean") },
      { head: "p50", cell: (s, at) => cell(s, at, "p50") },
      { head: "p99", cell: (s, at) => cell(s, at, "p99") },
      { head: "max", cell: (s, at) => cell(s, at, "max") },
    ],
    timed.stages_ns,
    `The last byte of each of ${count(timed.n)} sends, by the kernel's timestamps, as far as they are known.`,
  );
}

/** Returns where the bytes of a flow waited, a row for each stage, each beginning where the last ended. */
export function waterfall(flow, at) {
  const section = element("div", {});
  if (flow.timed_sends) section.append(timedSends(flow.timed_sends, `flows.${at}.timed_sends`));
  if (flow.timed_sends && !flow.residence.length) return section;
  if (flow.withheld || !flow.residence.length || flow.residence_total_ns === null) {
    const why = flow.withheld ? ` (${flow.withheld})` : "";
    section.append(element("p", {}, `Not available for this direction${why}.`));
    return section;
  }
  // as the text has them: without the overhead of tracing, which then is a row of its own
  const less = flow.residence.every((s) => s.compensated_mean_ns !== null) ? "compensated_" : "";
  let begin = 0;
  const rows = flow.residence.map((s, i) => {
    const from = begin;
    begin += s[`${less}mean_ns`];
    return { ...s, from, part: s[`${less}mean_ns`], place: `flows.${at}.residence.${i}`, less };
  });
  if (less && flow.probes_ns !== null)
    rows.push({ name: "tracing overhead", from: begin, part: flow.probes_ns, overhead: `flows.${at}.probes_ns` });
  const total = flow.residence_total_ns || 1;
  const wire = flow.wire ? flow.wire.device_ns : null;
  if (wire && wire.mean !== null) {
    const name = flow.id.endsWith("/rx") ? "wire to device" : "driver to wire";
    rows.push({
      name: `${name}, not in the total (±${time(wire.half_width)})`,
      mean_ns: wire.mean,
      p50_ns: wire.p50,
      p99_ns: wire.p99,
      wire: `flows.${at}.wire.device_ns`,
    });
  }
  const cell = (s, key) => {
    if (s.overhead) return key === "mean_ns" ? { text: time(s.part), figure: s.overhead } : "";
    if (s.wire) return { text: time(s[key]), figure: `${s.wire}.${key.replace("_ns", "")}` };
    return { text: time(s[s.less + key]), figure: `${s.place}.${s.less}${key}` };
  };
  section.append(
    table(
      [
        { head: "stage", left: true, cell: (s) => s.name ?? index.words.stages[s.stage] ?? s.stage },
        { head: "mean", cell: (s) => cell(s, "mean_ns") },
        { head: "p50", cell: (s) => cell(s, "p50_ns") },
        { head: "p99", cell: (s) => cell(s, "p99_ns") },
        {
          head: "time of the mean byte",
          left: true,
          cell: (s) =>
            s.wire
              ? ""
              : bar([{ colour: "--c1", from: s.from / total, part: s.part / total, title: time(s.part) }]),
        },
      ],
      rows,
      `From the first layer to the last ${time(total)} on average, of ${bytes(flow.bytes)}.`,
    ),
  );
  return section;
}

function legendOf(names, colours) {
  const legend = element("div", { class: "legend" });
  for (const name of names) {
    const key = element("span", { class: "key" }, element("span", { class: "swatch" }), name);
    key.firstChild.style.setProperty("--swatch", `var(${colours.get(name)})`);
    legend.append(key);
  }
  return legend;
}

/** Joins the parts of a row that are not to be told apart. */
function joined(parts, isSmall) {
  const ns = parts.filter(isSmall).reduce((sum, p) => sum + p.ns, 0);
  return ns ? [...parts.filter((p) => !isSmall(p)), { name: OTHERS, ns }] : parts;
}

/** Joins the parts of all rows that are too small to be seen, and those for which there is no colour. */
function distinct(all, longest) {
  const total = new Map();
  const rows = all.map((r) => {
    const isSmall = (p) => p.ns < longest / 100;
    return { ...r, parts: r.parts.filter(isSmall).length < 2 ? r.parts : joined(r.parts, isSmall) };
  });
  for (const p of rows.flatMap((r) => r.parts)) if (p.name !== OTHERS) total.set(p.name, (total.get(p.name) ?? 0) + p.ns);
  const largest = [...total.keys()].sort((a, b) => total.get(b) - total.get(a)).slice(0, COLOURS.length);
  const has = new Set(largest);
  return rows.map((r) => ({ ...r, parts: joined(r.parts, (p) => !has.has(p.name)) }));
}

/** Names a cause and where it was: "waiting for a CPU (server)", but "network" alone. */
function causeOf(c) {
  const label = index.words.causes[c.cause] ?? c.cause;
  return label === c.at ? label : `${label} (${c.at})`;
}

/** Makes a table of rows {time_ns, whole, parts: [{name, ns}]}, with a bar for each. */
function slowTable(all, columns, caption) {
  const longest = Math.max(...all.map((r) => r.whole), 1);
  const rows = distinct(all, longest);
  const found = new Set(rows.flatMap((r) => r.parts.map((p) => p.name)));
  const others = found.delete(OTHERS);
  const names = [...found, ...(others ? [OTHERS] : [])];
  const colours = new Map([...found].map((n, i) => [n, COLOURS[i]]).concat([[OTHERS, "--undivided"]]));
  const made = table(
    [
      ...columns,
      {
        head: "where the time went",
        left: true,
        cell: (r) => {
          let from = 0;
          return bar(
            r.parts.map((p) => {
              const piece = {
                colour: colours.get(p.name),
                from: from / longest,
                part: p.ns / longest,
                title: `${p.name}: ${time(p.ns)}`,
              };
              from += p.ns;
              return piece;
            }),
          );
        },
      },
      {
        head: "of that",
        left: true,
        long: true,
        cell: (r) =>
          r.parts
            .slice(0, 3)
            .map((p) => `${p.name} ${time(p.ns)}`)
            .join(", "),
      },
    ],
    rows,
    caption,
  );
  return element("div", {}, legendOf(names, colours), made);
}

function whenButton(ns, whole) {
  const at = secondsOf(ns);
  return element(
    "button",
    {
      type: "button",
      title: "Show this time in the charts",
      on: { click: () => view.show(at - (2 * whole) / 1e9, at + (3 * whole) / 1e9) },
    },
    moment(at, 1e-4),
  );
}

/** Returns the slowest exchanges, or byte ranges where there are none; null if there is neither. */
export function slowest() {
  if (report.slowest.length)
    return slowTable(
      report.slowest.map((s, i) => ({
        ...s,
        place: `slowest.${i}`,
        whole: s.whole_ns,
        parts: s.causes.map((c) => ({ name: causeOf(c), ns: c.mean_ns })),
      })),
      [
        { head: "at", cell: (s) => whenButton(s.time_ns, s.whole_ns) },
        { head: "whole time", cell: (s) => ({ text: time(s.whole_ns), figure: `${s.place}.whole_ns` }) },
        { head: "to the reply", cell: (s) => ({ text: time(s.to_reply_ns), figure: `${s.place}.to_reply_ns` }) },
        { head: "request", cell: (s) => bytes(s.request_bytes) },
        { head: "reply", cell: (s) => bytes(s.reply_bytes) },
        { head: "of", left: true, cell: (s) => `${s.request}, number ${count(s.ordinal)}` },
      ],
      "The slowest exchanges of a request and its reply.",
    );
  if (report.slowest_ranges.length)
    return slowTable(
      report.slowest_ranges.map((s, i) => ({
        ...s,
        place: `slowest_ranges.${i}`,
        whole: s.total_ns,
        parts: s.stages.map((p) => ({ name: index.words.stages[p.stage] ?? p.stage, ns: p.ns })),
      })),
      [
        { head: "at", cell: (s) => whenButton(s.time_ns, s.total_ns) },
        { head: "total", cell: (s) => ({ text: time(s.total_ns), figure: `${s.place}.total_ns` }) },
        { head: "bytes", left: true, cell: (s) => `${s.flow} from ${count(s.offset)}, ${bytes(s.length)}` },
        { head: "held by", left: true, cell: (s) => text(s.why && (index.words.reasons[s.why] ?? s.why)) },
      ],
      "The slowest bytes of streams without exchanges.",
    );
  return null;
}

/** Returns what held the bytes of a sent flow in the send buffer; null if that is not known. */
export function held(flow, at) {
  if (!flow.send_buffer_held || !flow.send_buffer_held.length) return null;
  const place = (i) => `flows.${at}.send_buffer_held.${i}`;
  const mean = flow.send_buffer_held.every((h) => h.compensated_mean_ns !== null) ? "compensated_mean_ns" : "mean_ns";
  return table(
    [
      { head: "held by", left: true, cell: (h) => index.words.reasons[h.reason] ?? h.reason },
      { head: "mean", cell: (h, i) => ({ text: time(h[mean]), figure: `${place(i)}.${mean}` }) },
      { head: "share", cell: (h, i) => ({ text: share(h.wait_share), figure: `${place(i)}.wait_share` }) },
      {
        head: "",
        left: true,
        cell: (h) => bar([{ colour: "--c2", from: 0, part: h.wait_share ?? 0, title: share(h.wait_share) }]),
      },
    ],
    flow.send_buffer_held,
    "What held the bytes in the send buffer.",
  );
}
