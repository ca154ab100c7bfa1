// SPDX-License-Identifier: MIT
// A chart over time: lines of points, with legend, values under the pointer, and a table.
/* global Dygraph */
import { attach } from "./gestures.mjs";
import { rows } from "./levels.mjs";
import { element, folded, table } from "./table.mjs";
import { count, linearTicks, logTicks, moment, niceStep } from "./units.mjs";
import { unwatch, view, watch } from "./view.mjs";

/** Width of the labels at the left, so that the times of all charts are in one line. */
export const LEFT = 64;
const HEIGHT = 220;
const TABLE_ROWS = 500;
const PIXELS_A_TICK = 90;

/** Returns a colour of the style sheet. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Whether the page is being printed. */
export function prints() {
  return document.documentElement.classList.contains("printing");
}

/** Returns the dots of a canvas for each pixel of the page; paper has more of them. */
export function resolution() {
  return prints() ? 3 : window.devicePixelRatio || 1;
}

/** Gives a chart of the library its place's size, and options. */
export function renew(graph, options) {
  graph.updateOptions({ pixelRatio: resolution() }, true);
  graph.resize();
  graph.updateOptions(options);
}

export function timeTicks(from, to, pixels) {
  const step = niceStep(((to - from) * PIXELS_A_TICK) / Math.max(pixels, PIXELS_A_TICK)) || 1e-9;
  const ticks = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) ticks.push({ v: k * step, label: moment(k * step, step) });
  return ticks;
}

/** Returns the distance of two columns of pixels, for times to tell them apart. */
function pixel() {
  return (view.to - view.from) / 1000;
}

/** Marks the time under the pointer by a line over an element, of which `area` is the chart. */
export function cursorOver(plot, area) {
  const line = element("div", { class: "cursor", hidden: true });
  plot.append(line);
  return () => {
    const { left, width } = area();
    const at = (view.pointer - view.from) / (view.to - view.from);
    line.hidden = view.pointer === null || at < 0 || at > 1;
    line.style.left = `${left + at * width}px`;
  };
}

/** What all charts over time have: an element, and that it is drawn only where it is seen. */
export class Framed {
  constructor({ title, note, height = HEIGHT }) {
    this.height = height;
    this.legend = element("div", { class: "legend" });
    this.readout = element("p", { class: "readout", role: "status" });
    this.plot = element("div", {
      class: "plot",
      tabIndex: 0,
      role: "img",
      "aria-label": `${title}. Arrow keys move, plus and minus zoom, Home shows all, shift and arrow keys read values.`,
    });
    this.plot.style.height = `${height}px`;
    this.element = element("figure", { class: "chart" }, element("figcaption", {}, element("h3", {}, title)));
    this.note = element("p", { class: "note" }, note ?? "");
    if (note) this.element.firstChild.append(this.note);
    this.element.append(this.legend, this.plot, this.readout, folded("Table", () => this.makeTable()));
    this.seen = false;
    this.stale = true;
    this.update = this.update.bind(this);
    watch(this.update);
    this.observer = new IntersectionObserver((entries) => this.onSeen(entries), { rootMargin: "200px" });
    this.observer.observe(this.plot);
    this.resized = new ResizeObserver(() => this.redraw());
    this.resized.observe(this.plot);
  }

  onSeen(entries) {
    this.seen = entries.at(-1).isIntersecting;
    if (this.seen) this.update();
  }

  /** Call after the subclass is ready to draw. */
  begin() {
    this.moveCursor = cursorOver(this.plot, () => this.area());
    attach(this.plot, () => this.area());
    this.redraw();
  }

  area() {
    return { left: LEFT, width: Math.max(this.plot.clientWidth - LEFT - 8, 50) };
  }

  /** Draws anew, now if it is seen. */
  redraw() {
    this.stale = true;
    this.update();
  }

  update() {
    if (!this.moveCursor || !this.plot.isConnected) return;
    if (this.shown?.from !== view.from || this.shown?.to !== view.to) this.stale = true;
    if (!this.seen && !prints()) return;
    if (this.stale && this.plot.clientWidth) {
      this.stale = false;
      this.shown = { from: view.from, to: view.to };
      this.draw();
    }
    this.moveCursor();
    this.readout.textContent = view.pointer === null ? "" : this.valuesAt(view.pointer);
  }

  remove() {
    unwatch(this.update);
    this.observer.disconnect();
    this.resized.disconnect();
    this.element.remove();
  }
}

/**
 * A chart of lines. Each of `lines` is {name, line, format, colour, how, columns}: `line` is a Line in
 * seconds, `how` is "points", "steps" or nothing, `more` returns further text for the point at a place.
 */
export class Chart extends Framed {
  constructor(options) {
    super(options);
    this.lines = options.lines;
    this.format = options.format;
    this.axisFormat = options.axisFormat ?? options.format;
    this.logarithmic = options.logarithmic || false;
    this.marks = options.marks || [];
    this.bands = options.bands || [];
    this.hidden = new Set(this.lines.flatMap((l, i) => (l.off ? [i] : [])));
    this.lines.forEach((l, i) => this.legend.append(this.#key(l, i)));
    this.begin();
  }

  #key(line, at) {
    const key = element(
      "button",
      { type: "button", "aria-pressed": String(!this.hidden.has(at)), title: "Show or hide" },
      element("span", { class: "swatch" }),
      `${line.name} (${count(line.seen ?? line.line.x.length)})`,
    );
    key.firstChild.style.setProperty("--swatch", `var(${line.colour})`);
    key.addEventListener("click", () => {
      if (!this.hidden.delete(at)) this.hidden.add(at);
      key.setAttribute("aria-pressed", String(!this.hidden.has(at)));
      this.redraw();
    });
    return key;
  }

  #visible() {
    return this.lines.filter((_, i) => !this.hidden.has(i));
  }

  /** Returns the range of the values that are drawn, with some room. */
  #range(points) {
    let least = Infinity;
    let most = -Infinity;
    for (const row of points)
      for (let i = 1; i < row.length; i++)
        if (row[i] !== null) {
          least = Math.min(least, row[i]);
          most = Math.max(most, row[i]);
        }
    if (most === -Infinity) return this.logarithmic ? [1, 10] : [0, 1];
    return this.logarithmic ? [Math.max(least, 1) * 0.7, Math.max(most, 1) * 1.4] : [0, (most || 1) * 1.08];
  }

  #options(lines) {
    const series = {};
    for (const l of lines)
      series[l.name] = {
        strokeWidth: l.how === "points" ? 0 : 1.5,
        drawPoints: l.how === "points",
        pointSize: l.size ?? 1.8,
        stepPlot: l.how === "steps",
      };
    return {
      labels: ["time", ...lines.map((l) => l.name)],
      colors: lines.map((l) => colour(l.colour)),
      series,
      dateWindow: [view.from, view.to],
      logscale: this.logarithmic,
      gridLineColor: colour("--grid"),
      axisLineColor: colour("--axis"),
      axes: {
        x: { ticker: (from, to, pixels) => timeTicks(from, to, pixels) },
        y: {
          ticker: (from, to, pixels) =>
            this.logarithmic
              ? logTicks(Math.log10(from), Math.log10(to), Math.floor(pixels / 36), this.axisFormat)
              : linearTicks(from, to, pixels, this.axisFormat),
          axisLabelWidth: LEFT - 6,
        },
      },
    };
  }

  draw() {
    const lines = this.#visible();
    const points = rows(
      lines.map((l) => l.line),
      view.from,
      view.to,
      this.area().width,
    );
    // the library wants a row at least, and a line
    const file = points.length ? points : [[view.from, ...lines.map(() => null)]];
    if (!lines.length) file.forEach((row) => row.push(null));
    const shown = lines.length ? lines : [{ name: "nothing", colour: "--c1", line: { x: [] } }];
    const options = { ...this.#options(shown), valueRange: this.#range(file), file };
    if (this.graph) {
      renew(this.graph, options);
    } else {
      this.#make(options);
    }
  }

  #make({ file, ...options }) {
    const inner = element("div", { class: "inner" });
    this.plot.prepend(inner);
    inner.style.height = `${this.height}px`;
    this.graph = new Dygraph(inner, file, {
      ...options,
      pixelRatio: resolution(),
      interactionModel: {},
      legend: "never",
      highlightCircleSize: 0,
      connectSeparatedPoints: true,
      labelsKMB: false,
      rightGap: 8,
      xRangePad: 0,
      underlayCallback: (context, area, graph) => this.#underlay(context, area, graph),
    });
  }

  /** Draws times in which events are missing, and marked times. */
  #underlay(context, area, graph) {
    context.fillStyle = colour("--missing");
    for (const [from, to] of this.bands) {
      const left = Math.max(graph.toDomXCoord(from), area.x);
      const right = Math.min(graph.toDomXCoord(to), area.x + area.w);
      if (right > left) context.fillRect(left, area.y, Math.max(right - left, 1), area.h);
    }
    context.strokeStyle = colour("--slow");
    for (const mark of this.marks) {
      if (mark.x < view.from || mark.x > view.to) continue;
      const x = graph.toDomXCoord(mark.x);
      const y = graph.toDomYCoord(mark.y);
      context.lineWidth = 1.5;
      context.beginPath();
      context.arc(x, y, 6, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  valuesAt(at) {
    const values = this.#visible().flatMap((l) => {
      const place = l.line.nearest(at);
      if (place < 0) return [];
      const more = l.more ? `, ${l.more(place)}` : "";
      return [`${l.name}: ${l.format(l.line.y[place])} at ${moment(l.line.x[place], pixel())}${more}`];
    });
    return values.join("; ");
  }

  makeTable() {
    const all = this.#visible().flatMap((l) => {
      const from = l.line.place(view.from);
      const to = Math.min(l.line.place(view.to) + 1, l.line.x.length);
      return Array.from({ length: Math.min(to - from, TABLE_ROWS + 1) }, (_, i) => ({ l, at: from + i }));
    });
    all.sort((a, b) => a.l.line.x[a.at] - b.l.line.x[b.at]);
    const shown = all.slice(0, TABLE_ROWS);
    const caption =
      all.length > TABLE_ROWS
        ? `The first ${TABLE_ROWS} points of what is shown; zoom in for others.`
        : `All ${count(all.length)} points of what is shown.`;
    return table(
      [
        { head: "time", cell: (r) => moment(r.l.line.x[r.at], 1e-9) },
        { head: "line", left: true, cell: (r) => r.l.name },
        { head: "value", cell: (r) => r.l.format(r.l.line.y[r.at]) },
        { head: "more", left: true, cell: (r) => (r.l.more ? r.l.more(r.at) : "") },
      ],
      shown,
      caption,
    );
  }
}
