// SPDX-License-Identifier: MIT
// The part of the recording that all charts show, and the time under the pointer.
import { index } from "./data.mjs";

const NARROWEST = 1e-7;

/** The whole of it, in seconds since its first event. */
export const whole = { from: 0, to: Math.max((index.end_ns - index.begin_ns) / 1e9, 1e-6) };
export const view = { from: whole.from, to: whole.to, pointer: null };

const watchers = new Set();
let due = false;

/** Calls f(view) before the next frame whenever the view or the pointer has changed. */
export function watch(f) {
  watchers.add(f);
}

export function unwatch(f) {
  watchers.delete(f);
}

function tell() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    const begin = performance.now();
    for (const f of watchers) f(view);
    document.documentElement.dataset.redraw = String(performance.now() - begin);
  });
}

/** Shows a part of the recording, moved into the whole. */
export function show(from, to) {
  const width = Math.min(Math.max(to - from, NARROWEST), whole.to - whole.from);
  from = Math.min(Math.max((from + to - width) / 2, whole.from), whole.to - width);
  if (from === view.from && from + width === view.to) return;
  view.from = from;
  view.to = from + width;
  tell();
}

/** Shows so many times as much, with the time `at` where it is. */
export function zoom(times, at = (view.from + view.to) / 2) {
  show(at - (at - view.from) * times, at + (view.to - at) * times);
}

/** Moves by a part of what is shown. */
export function pan(by) {
  const width = view.to - view.from;
  const from = Math.min(Math.max(view.from + by * width, whole.from), whole.to - width);
  show(from, from + width);
}

export function reset() {
  show(whole.from, whole.to);
}

/** Sets the time under the pointer; null: none. */
export function point(at) {
  view.pointer = at;
  tell();
}
