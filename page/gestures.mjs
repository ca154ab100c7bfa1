// SPDX-License-Identifier: MIT
// Zoom, pan and hover by mouse, finger and keyboard, the same for every chart.
import { view } from "./view.mjs";

const SMALLEST = 6; // pixels: less is a click

const KEYS = {
  ArrowLeft: (axis) => axis.pan(-0.2),
  ArrowRight: (axis) => axis.pan(0.2),
  PageUp: (axis) => axis.pan(-0.9),
  PageDown: (axis) => axis.pan(0.9),
  "+": (axis) => axis.zoom(0.5),
  "=": (axis) => axis.zoom(0.5),
  "-": (axis) => axis.zoom(2),
  Home: (axis) => axis.reset(),
  0: (axis) => axis.reset(),
  Escape: (axis) => axis.point(null),
};

function onKey(event, axis) {
  const f = KEYS[event.key];
  if (!f || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow") && event.shiftKey) {
    // the pointer, for those who have none
    const step = (axis.to - axis.from) / 100;
    const at = axis.pointer ?? (axis.from + axis.to) / 2;
    axis.point(at + (event.key === "ArrowLeft" ? -step : step));
  } else f(axis);
  event.preventDefault();
}

/** Has two fingers zoom and one move. */
function onTouch(fingers, event, axis, timeAt) {
  const before = [...fingers.values()];
  const width = axis.to - axis.from;
  fingers.set(event.pointerId, event.clientX);
  const now = [...fingers.values()];
  if (now.length === 1) {
    const by = timeAt(before[0]) - timeAt(now[0]);
    axis.show(axis.from + by, axis.from + by + width);
  } else if (now.length === 2) {
    const spread = (two) => Math.max(Math.abs(two[0] - two[1]), 10);
    axis.zoom(spread(before) / spread(now), timeAt((now[0] + now[1]) / 2));
  }
}

/**
 * Attaches them to an element. `area` returns {left, width}, the pixels of the element that the view
 * takes; the charts over time share theirs.
 */
export function attach(element, area, axis = view) {
  const band = document.createElement("div");
  const fingers = new Map();
  let start = null;
  band.className = "band";
  band.hidden = true;
  element.append(band);
  const timeAt = (clientX) => {
    const { left, width } = area();
    const x = (clientX - element.getBoundingClientRect().left - left) / width;
    return axis.from + Math.min(Math.max(x, 0), 1) * (axis.to - axis.from);
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
      axis.show(Math.min(start.at, other), Math.max(start.at, other));
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
    if (fingers.has(event.pointerId)) onTouch(fingers, event, axis, timeAt);
    else if (start && start.shift) {
      const by = start.at - timeAt(event.clientX);
      axis.show(axis.from + by, axis.to + by);
    } else if (start) select(event);
    axis.point(timeAt(event.clientX));
  });
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("pointerleave", () => axis.point(null));
  element.addEventListener("dblclick", () => axis.reset());
  element.addEventListener("keydown", (event) => onKey(event, axis));
  element.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return; // else the page scrolls
      axis.zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.clientX));
      event.preventDefault();
    },
    { passive: false },
  );
}
