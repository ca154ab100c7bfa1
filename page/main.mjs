// SPDX-License-Identifier: MIT
// The page: its parts in order, the choice of a flow, the bar at the top, colours and printing.
import { held, slowest, waterfall } from "./bars.mjs";
import { colour, prints } from "./chart.mjs";
import { chartsOf, exchanges, hasState } from "./charts.mjs";
import { index, load, report, tracks } from "./data.mjs";
import { distributionsOf } from "./distributions.mjs";
import { blocked, calls, drops, flows, groups, layers, ownCost, unknown } from "./figures.mjs";
import { Line } from "./levels.mjs";
import { element } from "./table.mjs";
import { threadChart } from "./threads.mjs";
import { bytes, moment, time } from "./units.mjs";
import { view, watch, whole } from "./view.mjs";

const at = (id) => document.getElementById(id);
const shown = new Set(); // charts that are there
let ofFlow = []; // those of the chosen flow

function add(section, chart) {
  if (!chart) return null;
  section.append(chart.element);
  shown.add(chart);
  return chart;
}

/** Says that there is nothing, or that nobody can know, as the kernel side was not recorded. */
function nothing(section, what) {
  section.append(unknown() ?? element("p", { class: "nothing" }, what));
}

// ---- the bar at the top ----

function drawOverview(line) {
  const canvas = at("overview").firstElementChild;
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = at("overview");
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = colour("--c1");
  const places = line.visible(whole.from, whole.to, width);
  let most = 1;
  for (const p of places) most = Math.max(most, line.y[p]);
  for (const p of places) {
    const x = (line.x[p] / whole.to) * width;
    const tall = Math.max((line.y[p] / most) * (height - 2), 1);
    context.fillRect(x, height - tall, 1, tall);
  }
}

/** Shows the calls of the largest flow, and which part of the time is shown below. */
async function overview(flow) {
  const strip = at("overview");
  const number = tracks("size", flow)[0];
  const columns = number === undefined ? null : await load(number);
  const line = columns
    ? new Line(columns.time.map((t) => t / 1e9), columns.payload)
    : new Line([], []);
  const draw = () => drawOverview(line);
  new ResizeObserver(draw).observe(strip);
  shown.add({ redraw: draw });
  const brush = at("brush");
  const place = () => {
    brush.style.left = `${(100 * view.from) / whole.to}%`;
    brush.style.width = `${(100 * (view.to - view.from)) / whole.to}%`;
    at("range").textContent =
      view.from === whole.from && view.to === whole.to
        ? `all ${time(1e9 * whole.to)}`
        : `${moment(view.from, (view.to - view.from) / 1000)} to ${moment(view.to, (view.to - view.from) / 1000)}`;
  };
  watch(place);
  place();
  const timeAt = (event) => {
    const box = strip.getBoundingClientRect();
    return (whole.to * (event.clientX - box.left)) / box.width;
  };
  let from = null;
  strip.addEventListener("pointerdown", (event) => {
    from = timeAt(event);
    strip.setPointerCapture(event.pointerId);
  });
  strip.addEventListener("pointermove", (event) => {
    if (from !== null) view.show(Math.min(from, timeAt(event)), Math.max(from, timeAt(event)));
  });
  strip.addEventListener("pointerup", () => (from = null));
  strip.addEventListener("dblclick", () => view.reset());
}

function buttons() {
  const does = {
    "zoom-in": () => view.zoom(0.5),
    "zoom-out": () => view.zoom(2),
    earlier: () => view.pan(-0.5),
    later: () => view.pan(0.5),
    all: () => view.reset(),
  };
  for (const [id, f] of Object.entries(does)) at(id).addEventListener("click", f);
}

// ---- the chosen flow ----

function labelOf(flow) {
  return `${flow.id} ${flow.comm ?? ""} ${flow.local ?? "?"} ${flow.direction === "tx" ? "→" : "←"} ${flow.remote ?? "?"}, ${bytes(flow.bytes)}`;
}

let choosing = 0;

async function choose(id) {
  const place = report.flows.findIndex((f) => f.id === id);
  const flow = report.flows[place];
  const turn = ++choosing;
  if (!flow) return;
  at("flow").value = id;
  at("chosen").textContent = labelOf(flow); // paper has no field
  const made = await Promise.all(chartsOf(id));
  if (turn !== choosing) return;
  for (const chart of ofFlow) {
    shown.delete(chart);
    chart.remove();
  }
  for (const name of ["waterfall", "distributions", "connection"]) at(name).replaceChildren();
  at("waterfall").append(waterfall(flow, place), held(flow, place) ?? "");
  ofFlow = made.filter((c) => c);
  for (const chart of ofFlow) add(at("connection"), chart);
  if (ofFlow.length && flow.proto === "tcp" && !hasState())
    nothing(
      at("connection"),
      "Congestion window, round-trip time and windows: not available, as they were not recorded (magnet record --level light).",
    );
  const distributions = distributionsOf(id);
  for (const chart of distributions) add(at("distributions"), chart);
  if (flow.layers.length) at("distributions").append(layers(flow, place));
  ofFlow.push(...distributions);
  if (!ofFlow.length)
    nothing(at("connection"), `No charts: they are of the ${index.flows_most} largest flows, as far as the recording has them.`);
}

/** Leaves out what is shown of one flow. */
function noFlow() {
  for (const e of at("one").querySelectorAll("h3, p, div")) e.remove();
  nothing(at("one"), "No bytes were moved on sockets.");
}

function chooser() {
  const select = at("flow");
  const charted = new Set(index.tracks.map((t) => t.flow));
  for (const f of report.flows.slice(0, index.flows_most))
    if (charted.has(f.id)) select.append(element("option", { value: f.id }, labelOf(f)));
  select.addEventListener("change", () => choose(select.value));
  return select.options.length ? select.options[0].value : report.flows[0]?.id;
}

// ---- colours, printing ----

function redrawAll() {
  for (const chart of shown) chart.redraw();
}

const isDark = matchMedia("(prefers-color-scheme: dark)");

/** Sets the colours: those chosen, or the system's; paper is light. */
function shade() {
  const chosen = at("theme").value;
  const dark = !prints() && (chosen === "dark" || (chosen === "auto" && isDark.matches));
  document.documentElement.dataset.shade = dark ? "dark" : "light";
  redrawAll();
}

function theme() {
  at("theme").addEventListener("change", shade);
  isDark.addEventListener("change", shade);
  shade();
}

/** Puts pictures in place of the charts: Chromium prints nothing of what a canvas was just given. */
function pictures(on) {
  for (const old of document.querySelectorAll(".plot img")) old.remove();
  if (!on) return;
  for (const canvas of document.querySelectorAll(".plot canvas")) {
    const img = element("img", { src: canvas.toDataURL(), alt: "", decoding: "sync" });
    img.style.width = canvas.style.width;
    img.style.height = canvas.style.height;
    canvas.after(img);
  }
}

function printing() {
  const set = (on) => {
    document.documentElement.classList.toggle("printing", on);
    shade();
    pictures(on);
  };
  window.addEventListener("beforeprint", () => set(true));
  window.addEventListener("afterprint", () => set(false));
}

// ---- all of it ----

async function main() {
  const begin = performance.now();
  buttons();
  theme();
  printing();
  const first = chooser();
  const chart = add(at("exchanges"), await exchanges());
  if (!chart) nothing(at("exchanges"), "No exchanges of a request and its reply were found.");
  else at("exchanges").append(groups());
  document.documentElement.dataset.first = String(performance.now() - begin);
  const slow = slowest();
  if (slow) at("slowest").append(slow);
  else nothing(at("slowest"), "There are neither exchanges nor bytes that were followed.");
  if (first) await choose(first);
  else noFlow();
  if (!add(at("threads"), await threadChart())) nothing(at("threads"), "Waits of threads were not recorded.");
  if (report.scheduler?.blocked?.length) at("threads").append(blocked());
  at("calls").append(calls());
  if (first)
    at("flows").append(flows((id) => {
      choose(id);
      at("flow").scrollIntoView();
    }));
  else nothing(at("flows"), "No bytes were moved on sockets.");
  at("losses").append(drops());
  at("cost").append(ownCost());
  await overview(first);
  document.documentElement.dataset.ready = String(performance.now() - begin);
}

main().catch((error) => {
  at("failed").hidden = false;
  at("failed").textContent = `The charts cannot be drawn: ${error.message}`;
  throw error;
});
