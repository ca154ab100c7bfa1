// SPDX-License-Identifier: MIT
// Zoom, pan and hover by mouse, finger and keyboard, the same for every chart.
import { pan, point, reset, show, view, zoom } from "./view.mjs";

const SMALLEST = 6; // pixels: less is a click

const KEYS = {
  ArrowLeft: () => pan(-0.2),
  ArrowRight: () => pan(0.2),
  PageUp: () => pan(-0.9),
  PageDown: () => pan(0.9),
  "+": () => zoom(0.5),
  "=": () => zoom(0.5),
  "-": () => zoom(2),
  Home: reset,
  0: reset,
  Escape: () => point(null),
};

function onKey(event) {
  const f = KEYS[event.key];
  if (!f || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow") && event.shiftKey) {
    // the pointer, for those who have none
    const step = (view.to - view.from) / 100;
    const at = view.pointer ?? (view.from + view.to) / 2;
    point(at + (event.key === "ArrowLeft" ? -step : step));
  } else f();
  event.preventDefault();
}

/** Has two fingers zoom and one move. */
function onTouch(fingers, event, timeAt) {
  const before = [...fingers.values()];
  const width = view.to - view.from;
  fingers.set(event.pointerId, event.clientX);
  const now = [...fingers.values()];
  if (now.length === 1) {
    const by = timeAt(before[0]) - timeAt(now[0]);
    show(view.from + by, view.from + by + width);
  } else if (now.length === 2) {
    const spread = (two) => Math.max(Math.abs(two[0] - two[1]), 10);
    zoom(spread(before) / spread(now), timeAt((now[0] + now[1]) / 2));
  }
}

/**
 * Attaches them to an element. `area` returns {left, width}, the pixels of the element that the view
 * takes.
 */
export function attach(element, area) {
  const band = document.createElement("div");
  const fingers = new Map();
  let start = null;
  band.className = "band";
  band.hidden = true;
  element.append(band);
  const timeAt = (clientX) => {
    const { left, width } = area();
    const x = (clientX - element.getBoundingClientRect().left - left) / width;
    return view.from + Math.min(Math.max(x, 0), 1) * (view.to - view.from);
  };
  const select = (event) => {
    const left = element.getBoundingClientRect().left;
    band.hidden = Math.abs(event.clientX - start.x) < SMALLEST;
    band.style.left = `${Math.min(event.clientX, start.x) - left}px`;
    band.style.width = `${Math.abs(event.clientX - start.x)}px`;
  };
  const end = (event) => {
    fingers.delete(event.pointerId);
    if (start && !start.shift && Math.abs(event.clientX - start.x) >= SMALLEST && event.type === "pointerup") {
      const other = timeAt(event.clientX);
      show(Math.min(start.at, other), Math.max(start.at, other));
    }
    start = null;
    band.hidden = true;
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    element.setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") fingers.set(event.pointerId, event.clientX);
    else start = { x: event.clientX, at: timeAt(event.clientX), shift: event.shiftKey };
  });
  element.addEventListener("pointermove", (event) => {
    if (fingers.has(event.pointerId)) onTouch(fingers, event, timeAt);
    else if (start && start.shift) {
      const by = start.at - timeAt(event.clientX);
      show(view.from + by, view.to + by);
    } else if (start) select(event);
    point(timeAt(event.clientX));
  });
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("pointerleave", () => point(null));
  element.addEventListener("dblclick", reset);
  element.addEventListener("keydown", onKey);
  element.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return; // else the page scrolls
      zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.clientX));
      event.preventDefault();
    },
    { passive: false },
  );
}
