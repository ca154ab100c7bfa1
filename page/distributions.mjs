// SPDX-License-Identifier: MIT
// Distribution functions of the sizes and spacings at each layer of a flow.
/* global Dygraph */
import { LEFT, colour, renew, resolution } from "./chart.mjs";
import { layerLabel } from "./charts.mjs";
import { index } from "./data.mjs";
import { attach } from "./gestures.mjs";
import { Line, rows } from "./levels.mjs";
import { element, folded, table } from "./table.mjs";
import { bytes, count, logAxisTicks, share, time } from "./units.mjs";
import { View } from "./view.mjs";

const HEIGHT = 220;
const COLOURS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"];
const NARROWEST_FACTOR = 0.02; // a factor of 1.05: the axis is of logarithms

/** A chart of distribution functions, of {name, shares, values}. */
class Distributions {
  constructor(title, note, format, curves) {
    this.format = format;
    this.curves = curves;
    this.plot = element("div", {
      class: "plot static",
      tabIndex: 0,
      role: "img",
      "aria-label": `${title}. Arrow keys move, plus and minus zoom, Home shows all, shift and arrow keys read values.`,
    });
    this.plot.style.height = `${HEIGHT}px`;
    this.legend = element("div", { class: "legend" });
    this.readout = element("p", { class: "readout", role: "status" });
    curves.forEach((c, i) => {
      const key = element("span", { class: "key" }, element("span", { class: "swatch" }), `${c.name} (${count(c.n)})`);
      key.firstChild.style.setProperty("--swatch", `var(${COLOURS[i % COLOURS.length]})`);
      this.legend.append(key);
    });
    this.element = element(
      "figure",
      { class: "chart" },
      element("figcaption", {}, element("h3", {}, title), element("p", { class: "note" }, note)),
      this.legend,
      this.plot,
      this.readout,
      folded("Table", () => this.#table()),
    );
    this.lines = curves.map((c) => new Line(c.values.map((v) => Math.log10(Math.max(v, 1))), c.shares));
    const ends = this.lines.flatMap((l) => [l.x[0], l.x.at(-1)]);
    const whole = { from: Math.min(...ends) - 0.1, to: Math.max(...ends) + 0.1 };
    this.view = new View(whole, NARROWEST_FACTOR, () => this.#changed());
    attach(this.plot, () => this.#area(), this.view);
    this.resized = new ResizeObserver(() => this.redraw());
    this.resized.observe(this.plot);
  }

  #area() {
    return { left: LEFT, width: Math.max(this.plot.clientWidth - LEFT - 8, 50) };
  }

  /** Draws before the next frame, once however many changes there were. */
  #changed() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      if (this.drawn?.from !== this.view.from || this.drawn?.to !== this.view.to) this.redraw();
      this.readout.textContent = this.view.pointer === null ? "" : this.#valuesAt(this.view.pointer);
    });
  }

  redraw() {
    if (!this.plot.clientWidth) return;
    const { from, to } = this.view;
    this.drawn = { from, to };
    const options = {
      file: rows(this.lines, from, to, 2000),
      colors: COLOURS.map(colour),
      gridLineColor: colour("--grid"),
      axisLineColor: colour("--axis"),
      dateWindow: [from, to],
      axes: {
        x: { ticker: (least, most, pixels) => logAxisTicks(least, most, pixels, this.format) },
        y: { axisLabelFormatter: (y) => `${Math.round(100 * y)} %`, axisLabelWidth: LEFT - 6 },
      },
    };
    if (this.graph) renew(this.graph, options);
    else this.#make(options);
  }

  #make({ file, ...options }) {
    const inner = element("div", { class: "inner" });
    inner.style.height = `${HEIGHT}px`;
    this.plot.prepend(inner);
    this.graph = new Dygraph(inner, file, {
      ...options,
      pixelRatio: resolution(),
      labels: ["value", ...this.curves.map((c) => c.name)],
      interactionModel: {},
      legend: "never",
      highlightCircleSize: 0,
      connectSeparatedPoints: true,
      stepPlot: true,
      strokeWidth: 1.5,
      valueRange: [0, 1.02],
      rightGap: 8,
    });
  }

  #valuesAt(x) {
    return this.lines
      .map((l, i) => {
        const at = l.place(x) - 1;
        return `${this.curves[i].name}: ${share(at < 0 ? 0 : l.y[at])}`;
      })
      .concat([`at most ${this.format(10 ** x)}`])
      .join("; ");
  }

  #table() {
    const quantiles = [0.01, 0.1, 0.5, 0.9, 0.99, 1];
    return table(
      [
        { head: "layer", left: true, cell: (c) => c.name },
        { head: "packets", cell: (c) => count(c.n) },
        ...quantiles.map((q) => ({
          head: q === 1 ? "max" : `p${100 * q}`,
          cell: (c) => this.format(c.values[c.shares.findIndex((s) => s >= q - 1e-9)]),
        })),
      ],
      this.curves,
    );
  }

  remove() {
    this.resized.disconnect();
    this.element.remove();
  }
}

/** Returns the charts of a flow. */
export function distributionsOf(flow) {
  const layers = index.distributions.filter((d) => d.flow === flow);
  const curves = (key) =>
    layers.flatMap((d) => (d[key] ? [{ name: layerLabel(d.layer), ...d[key] }] : []));
  const charts = [];
  if (curves("sizes").length)
    charts.push(
      new Distributions(
        "Sizes",
        "Share of the packets at each layer with at most this payload.",
        bytes,
        curves("sizes"),
      ),
    );
  if (curves("spacings").length)
    charts.push(
      new Distributions(
        "Spacings",
        "Share of the packets that come at most so long after the one before; those beside a loss of events are left out.",
        time,
        curves("spacings"),
      ),
    );
  return charts;
}
