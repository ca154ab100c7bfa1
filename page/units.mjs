// SPDX-License-Identifier: MIT
// Numbers as people read them, with their units.

const DIGITS = 3;

function rounded(n) {
  const text = n.toPrecision(DIGITS);
  return text.includes("e") || Number.isInteger(n) ? String(Number(text)) : text;
}

/** A time: 610 ns, 2.31 ms. */
export function time(ns) {
  if (ns === null || ns === undefined || Number.isNaN(ns)) return "n/a";
  const size = Math.abs(ns);
  if (size < 999.5) return `${rounded(Math.round(ns * 10) / 10)} ns`;
  if (size < 999.5e3) return `${rounded(ns / 1e3)} µs`;
  if (size < 999.5e6) return `${rounded(ns / 1e6)} ms`;
  return size < 999.5e9 ? `${rounded(ns / 1e9)} s` : `${Math.round(ns / 1e9)} s`;
}

export function bytes(n) {
  if (n === null || n === undefined || Number.isNaN(n)) return "n/a";
  if (n < 1024) return `${rounded(Math.round(n * 10) / 10)} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let at = -1;
  do {
    n /= 1024;
    at++;
  } while (n >= 1023.5 && at + 1 < units.length);
  return `${rounded(n)} ${units[at]}`;
}

export function count(n) {
  if (n === null || n === undefined || Number.isNaN(n)) return "n/a";
  return Math.round(n).toLocaleString("en-US");
}

export function share(n) {
  if (n === null || n === undefined) return "n/a";
  if (n > 0 && n < 0.0005) return "< 0.1 %";
  return n >= 0.9995 ? "100 %" : `${(100 * n).toPrecision(n < 0.01 ? 1 : 2)} %`;
}

/** A number without a unit. */
export function plain(n) {
  if (n === null || n === undefined) return "n/a";
  if (n > 0 && n < 0.0005) return "< 0.001";
  return n >= 1000 ? count(n) : rounded(n);
}

export function text(s) {
  return s === null || s === undefined ? "n/a" : String(s);
}

/** A time of the recording, in seconds, with the digits that tell `step` apart. */
export function moment(seconds, step) {
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  return `${seconds.toFixed(digits)} s`;
}

/** The smallest of 1, 2 and 5 times a power of ten that is not below `n`. */
export function niceStep(n) {
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 5, 10].find((k) => k * power >= n * (1 - 1e-9)) * power;
}

/** Ticks of an axis from 0 in steps of 1, 2 or 5 times a power of ten; for bytes of a power of two. */
export function linearTicks(from, to, pixels, format) {
  const least = Math.max(((to - from) * 40) / Math.max(pixels, 80), 1e-9);
  const step = format === bytes ? Math.max(2 ** Math.ceil(Math.log2(least)), 1) : niceStep(least);
  const ticks = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to; k++)
    ticks.push({ v: k * step + 0, label: format(k * step + 0) });
  return ticks;
}

/** Ticks of a logarithmic axis: `from` and `to` are the logarithms of its ends. */
export function logTicks(from, to, room, format) {
  const wanted = [];
  if (format === bytes) {
    for (let k = 0; k < 50; k++) wanted.push(2 ** k);
  } else {
    const steps = (to - from) * 3 <= room ? [1, 2, 5] : (to - from) * 2 <= room ? [1, 3] : [1];
    for (let d = Math.floor(from); d <= to; d++) for (const s of steps) wanted.push(s * 10 ** d);
  }
  const seen = wanted.filter((v) => Math.log10(v) >= from && Math.log10(v) <= to);
  const every = Math.max(Math.ceil(seen.length / Math.max(room, 2)), 1);
  return seen.filter((_, i) => i % every === 0).map((v) => ({ v, label: format(v) }));
}

const PIXELS_A_TICK = 70;
const PIXELS_A_LABEL = 54;

/**
 * The same, each at its logarithm; in even steps where the axis is too short for powers, without those whose label
 * would lie on the one before.
 */
export function logAxisTicks(from, to, pixels, format) {
  let ticks = logTicks(from, to, Math.floor(pixels / PIXELS_A_TICK), format);
  if (ticks.length < 3) ticks = linearTicks(10 ** from, 10 ** to, pixels / 2, format);
  let last = -Infinity;
  return ticks
    .map((t) => ({ ...t, v: Math.log10(t.v) }))
    .filter((t) => {
      if (((t.v - last) / (to - from)) * pixels < PIXELS_A_LABEL) return false;
      last = t.v;
      return true;
    });
}
