// SPDX-License-Identifier: MIT
// What each thread did over time: it ran, waited for a CPU, or was blocked, and in what.
import { Framed, colour, prints, resolution, timeTicks } from "./chart.mjs";
import { index, load, tracks } from "./data.mjs";
import { element, table } from "./table.mjs";
import { count, moment, time } from "./units.mjs";
import { view } from "./view.mjs";

const ROW = 28; // a line of text and a bar
const NAME = 13;
const AXIS = 22;
const TABLE_ROWS = 500;
const MOST_NAMED = 5;
const ON_PAPER = 24; // threads that a sheet has room for

const NOTE = "It ran, waited for a CPU, or was blocked; empty where that is not known, such as before its first wait.";

const RUNNING = { name: "running", colour: "--running" };
const QUEUED = { name: "waiting for a CPU", colour: "--queued" };
const OTHER = { name: "blocked in something else", colour: "--blocked-6" };
const THROTTLED = { name: "throttled by a CPU quota", colour: "--throttled" };
const UNDIVIDED = { name: "off the CPU, wakeup not recorded", colour: "--undivided" };

/** The kind of a wait: without the peer. */
function kindOf(why) {
  return why.split(",")[0].replace("system_call ", "blocked in ").replace("page_fault", "blocked in a page fault");
}

/** Returns the states there are: running, waiting for a CPU, and the longest kinds of blocks. */
function statesOf(threads) {
  const total = new Map();
  let throttled = false;
  for (const t of threads)
    for (let i = 0; i < t.time.length; i++) {
      const kind = kindOf(index.texts[t.why[i]]);
      if (kind === "throttled") throttled = true;
      else if (kind !== "preempted" && !Number.isNaN(t.woken[i]))
        total.set(kind, (total.get(kind) ?? 0) + t.woken[i] - t.time[i]);
    }
  const longest = [...total.keys()].sort((a, b) => total.get(b) - total.get(a));
  const blocked = longest.slice(0, MOST_NAMED).map((name, i) => ({ name, colour: `--blocked-${i + 1}` }));
  const stopped = throttled ? [THROTTLED] : [];
  return [RUNNING, QUEUED, ...stopped, ...blocked, ...(longest.length > MOST_NAMED ? [OTHER] : []), UNDIVIDED];
}

/** A thread's intervals off the CPU, and the time it had spent in each state before each of them. */
class Intervals {
  constructor(columns, states) {
    const n = columns.time.length;
    const byName = new Map(states.map((s, i) => [s.name, i]));
    this.begin = columns.time;
    this.woken = columns.woken;
    this.end = columns.end;
    this.why = columns.why;
    this.state = new Uint8Array(n);
    this.before = states.map(() => new Float64Array(n + 1));
    for (let i = 0; i < n; i++) {
      const kind = kindOf(index.texts[this.why[i]]);
      if (kind === "preempted") this.state[i] = byName.get(QUEUED.name);
      else if (kind === "throttled") this.state[i] = byName.get(THROTTLED.name);
      else if (Number.isNaN(this.woken[i])) this.state[i] = byName.get(UNDIVIDED.name);
      else this.state[i] = byName.get(kind) ?? byName.get(OTHER.name);
      this.before.forEach((sums) => (sums[i + 1] = sums[i]));
      const [first, queued] = this.#parts(i);
      this.before[this.state[i]][i + 1] += first;
      this.before[1][i + 1] += queued;
    }
  }

  /** Returns how long an interval was blocked, and how long it waited for a CPU after that. */
  #parts(i) {
    const whole = this.end[i] - this.begin[i];
    if (this.state[i] === 1 || Number.isNaN(this.woken[i])) return [whole, 0];
    return [this.woken[i] - this.begin[i], this.end[i] - this.woken[i]];
  }

  /** Returns the place of the last interval that has begun at a time; -1 if none has. */
  place(t) {
    let low = 0;
    let high = this.begin.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.begin[middle] <= t) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Adds to `sums` the time in each state before a time, `sign` times. */
  add(sums, t, sign) {
    const i = this.place(t);
    if (i < 0) return;
    for (let s = 1; s < sums.length; s++) sums[s] += sign * this.before[s][i];
    const [first, queued] = this.#parts(i);
    const within = t - this.begin[i];
    sums[this.state[i]] += sign * Math.min(within, first);
    sums[1] += sign * Math.min(Math.max(within - first, 0), queued);
  }

  /** Returns what it did at a time, in words. */
  at(t) {
    const i = this.place(t);
    const n = this.begin.length;
    if (i < 0 || t > this.end[n - 1]) return "not known";
    if (t > this.end[i]) return `running since ${moment(this.end[i] / 1e9, 1e-6)}`;
    const whole = time(this.end[i] - this.begin[i]);
    if (!Number.isNaN(this.woken[i]) && t > this.woken[i])
      return `waiting for a CPU for ${time(this.end[i] - this.woken[i])}`;
    return `${index.texts[this.why[i]].replace("_", " ")}, off the CPU for ${whole}`;
  }
}

class Threads extends Framed {
  constructor(threads, states) {
    super({
      title: "What each thread did",
      note: NOTE,
      height: threads.length * ROW + AXIS,
    });
    this.thinned = threads.some((t) => t.seen > t.time.length);
    this.states = states;
    this.threads = threads.map((t) => ({ name: t.name, all: new Intervals(t, states) }));
    this.canvas = element("canvas");
    this.plot.prepend(this.canvas);
    for (const s of states) {
      const key = element("span", { class: "key" }, element("span", { class: "swatch" }), s.name);
      key.firstChild.style.setProperty("--swatch", `var(${s.colour})`);
      this.legend.append(key);
    }
    this.begin();
  }

  /** Chooses the threads that are drawn, gives their rows room, and says what is left out. */
  #room() {
    const most = prints() ? ON_PAPER : this.threads.length;
    this.drawn = this.threads.slice(0, most);
    this.height = this.drawn.length * ROW + AXIS;
    this.plot.style.height = `${this.height}px`;
    const left = index.threads - this.drawn.length;
    this.note.textContent =
      NOTE +
      (left > 0 ? ` ${count(left)} ${left > 1 ? "threads" : "thread"} with fewer waits ${left > 1 ? "are" : "is"} not shown.` : "") +
      (this.thinned ? " Of neighbouring waits the short ones are left out." : "");
  }

  draw() {
    this.#room();
    const scale = resolution();
    const width = this.plot.clientWidth;
    this.canvas.width = width * scale;
    this.canvas.height = this.height * scale;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = getComputedStyle(document.body).font.replace(/[\d.]+px/, "11px");
    const colours = this.states.map((s) => colour(s.colour));
    this.drawn.forEach((t, row) => this.#row(context, t, row * ROW, colours));
    this.#axis(context);
  }

  #row(context, thread, top, colours) {
    const { left, width } = this.area();
    const step = ((view.to - view.from) * 1e9) / width;
    const first = thread.all.begin[0];
    const last = thread.all.end[thread.all.end.length - 1];
    const sums = new Float64Array(this.states.length);
    context.fillStyle = colour("--grid"); // between a bar and the next name
    context.fillRect(left, top, width, 1);
    context.fillStyle = colour("--text");
    context.textBaseline = "top";
    context.fillText(thread.name, left, top + 2);
    for (let x = 0; x < width; x++) {
      const from = Math.max(view.from * 1e9 + x * step, first);
      const to = Math.min(view.from * 1e9 + (x + 1) * step, last);
      if (to <= from) continue;
      sums.fill(0);
      thread.all.add(sums, to, 1);
      thread.all.add(sums, from, -1);
      sums[0] = to - from - sums.reduce((a, b) => a + b, 0);
      let bottom = top + ROW - 2;
      for (let s = 0; s < sums.length; s++) {
        const height = (Math.max(sums[s], 0) / (to - from)) * (ROW - NAME - 2);
        if (height <= 0) continue;
        context.fillStyle = colours[s];
        context.fillRect(left + x, bottom - height, 1, height);
        bottom -= height;
      }
    }
  }

  #axis(context) {
    const { left, width } = this.area();
    const top = this.drawn.length * ROW;
    context.fillStyle = colour("--text");
    context.strokeStyle = colour("--axis");
    context.textBaseline = "top";
    context.textAlign = "center";
    for (const tick of timeTicks(view.from, view.to, width)) {
      const x = left + ((tick.v - view.from) / (view.to - view.from)) * width;
      const half = context.measureText(tick.label).width / 2;
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x, top + 4);
      context.stroke();
      context.fillText(tick.label, Math.min(x, left + width - half), top + 6);
    }
    context.textAlign = "start";
  }

  valuesAt(at) {
    return this.threads.map((t) => `${t.name}: ${t.all.at(at * 1e9)}`).join("; ");
  }

  makeTable() {
    const all = this.threads.flatMap((t) => {
      const rows = [];
      const begin = Math.max(t.all.place(view.from * 1e9), 0);
      for (let i = begin; i < t.all.begin.length && t.all.begin[i] < view.to * 1e9 && rows.length <= TABLE_ROWS; i++)
        rows.push({ t, i });
      return rows;
    });
    all.sort((a, b) => a.t.all.begin[a.i] - b.t.all.begin[b.i]);
    return table(
      [
        { head: "from", cell: (r) => moment(r.t.all.begin[r.i] / 1e9, 1e-9) },
        { head: "thread", left: true, cell: (r) => r.t.name },
        { head: "off the CPU", cell: (r) => time(r.t.all.end[r.i] - r.t.all.begin[r.i]) },
        { head: "of that, for a CPU", cell: (r) => time(r.t.all.end[r.i] - r.t.all.woken[r.i]) },
        { head: "why", left: true, cell: (r) => index.texts[r.t.all.why[r.i]].replace("_", " ") },
      ],
      all.slice(0, TABLE_ROWS),
      all.length > TABLE_ROWS
        ? `The first ${TABLE_ROWS} waits of what is shown; zoom in for others.`
        : `All ${count(all.length)} waits of what is shown.`,
    );
  }
}

/** Returns the chart; null if no waits were recorded. */
export async function threadChart() {
  const numbers = tracks("wait");
  if (!numbers.length) return null;
  const all = await Promise.all(
    numbers.map(async (n) => ({
      ...(await load(n)),
      name: index.texts[index.tracks[n].name],
      seen: index.tracks[n].seen,
    })),
  );
  return new Threads(all, statesOf(all));
}

