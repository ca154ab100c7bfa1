// SPDX-License-Identifier: MIT
// The part of the recording that all charts show, and the time under the pointer.
import { index } from "./data.mjs";

const NARROWEST = 1e-7;

/** The part of an axis that is shown, within the whole of it, and the place under the pointer. */
export class View {
  /** `changed` is called whenever the part or the pointer has changed. */
  constructor(whole, narrowest, changed) {
    this.whole = whole;
    this.narrowest = narrowest;
    this.changed = changed;
    this.from = whole.from;
    this.to = whole.to;
    this.pointer = null;
  }

  /** Shows a part, moved into the whole. */
  show(from, to) {
    const { whole } = this;
    const width = Math.min(Math.max(to - from, this.narrowest), whole.to - whole.from);
    from = Math.min(Math.max((from + to - width) / 2, whole.from), whole.to - width);
    if (from === this.from && from + width === this.to) return;
    this.from = from;
    this.to = from + width;
    this.changed();
  }

  /** Shows so many times as much, with the place `at` where it is. */
  zoom(times, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * times, at + (this.to - at) * times);
  }

  /** Moves by a part of what is shown. */
  pan(by) {
    const width = this.to - this.from;
    const from = Math.min(Math.max(this.from + by * width, this.whole.from), this.whole.to - width);
    this.show(from, from + width);
  }

  reset() {
    this.show(this.whole.from, this.whole.to);
  }

  /** Sets the place under the pointer; null: none. */
  point(at) {
    this.pointer = at;
    this.changed();
  }
}

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

/** The whole recording, in seconds since its first event. */
export const whole = { from: 0, to: Math.max((index.end_ns - index.begin_ns) / 1e9, 1e-6) };
/** The part of it that all charts over time show. */
export const view = new View(whole, NARROWEST, tell);
