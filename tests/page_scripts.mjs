// SPDX-License-Identifier: MIT
// The parts of the page's scripts that need no browser: points for a screen, numbers, units. Usage: node FILE PAGE-FOLDER
import assert from "node:assert";
import path from "node:path";
import { pathToFileURL } from "node:url";

const part = (name) => import(pathToFileURL(path.join(process.argv[2], name)));
const { Line, rows } = await part("levels.mjs");
const units = await part("units.mjs");

// few points are all there
const few = new Line([1, 2, 3, 4], [5, NaN, 7, 8]);
assert.deepEqual([...few.x], [1, 3, 4], "a value that is not known is no point");
assert.deepEqual([...few.visible(0, 10, 100)], [0, 1, 2]);
assert.equal(few.nearest(3.4), 1);
assert.equal(few.nearest(-5), 0);
assert.equal(few.nearest(99), 2);
assert.equal(new Line([], []).nearest(1), -1);

// of many: in each column of pixels the first, smallest, largest and last, as a search finds them
const n = 100_000;
const x = Float64Array.from({ length: n }, (_, i) => i / 1000);
const y = Float64Array.from({ length: n }, (_, i) => (i * 7919) % 10_007);
const line = new Line(x, y);
for (const [from, to, columns] of [[0, 100, 400], [12.3, 57.9, 333], [3, 3.01, 800]]) {
  const places = [...line.visible(from, to, columns)];
  assert.deepEqual(places, [...new Set(places)].sort((a, b) => a - b), "in order, each once");
  const there = new Set(places);
  const begin = Math.max(line.place(from) - 1, 0);
  const end = Math.min(line.place(to) + 1, n);
  assert.ok(there.has(begin) && there.has(end - 1), "with one on either side");
  if (end - begin <= 4 * columns) {
    assert.equal(places.length, end - begin, "zoomed in, all of them");
    continue;
  }
  assert.ok(places.length <= 4 * columns + 4);
  const width = (to - from) / columns;
  for (let c = 1; c < columns - 1; c++) {
    const first = line.place(from + c * width);
    const last = line.place(from + (c + 1) * width);
    if (first === last) continue;
    let least = first;
    let most = first;
    for (let i = first; i < last; i++) {
      if (y[i] < y[least]) least = i;
      if (y[i] > y[most]) most = i;
    }
    for (const place of [first, least, most, last - 1]) assert.ok(there.has(place), `column ${c}: ${place}`);
  }
}

// several lines in one table
assert.deepEqual(rows([new Line([1, 3], [10, 30]), new Line([2, 3], [200, 300])], 0, 9, 50), [
  [1, 10, null],
  [2, null, 200],
  [3, 30, 300],
]);

// numbers for people
for (const [made, expected] of [
  [units.time(0), "0 ns"],
  [units.time(610), "610 ns"],
  [units.time(2310), "2.31 µs"],
  [units.time(999_600), "1.00 ms"],
  [units.time(41.4e6), "41.4 ms"],
  [units.time(3.02e9), "3.02 s"],
  [units.time(null), "n/a"],
  [units.bytes(1000), "1000 B"],
  [units.bytes(10240), "10 KiB"],
  [units.bytes(52_428_800), "50 MiB"],
  [units.share(0), "0 %"],
  [units.share(1e-6), "< 0.1 %"],
  [units.share(0.156), "16 %"],
  [units.share(1), "100 %"],
  [units.count(311870), "311,870"],
  [units.count(null), "n/a"],
  [units.moment(2.3104567, 0.001), "2.310 s"],
])
  assert.equal(made, expected);
assert.deepEqual(units.linearTicks(0, 10, 200, units.count).map((t) => t.label), ["0", "2", "4", "6", "8", "10"]);
assert.deepEqual(units.linearTicks(0, 4096, 160, units.bytes).map((t) => t.label), ["0 B", "1 KiB", "2 KiB", "3 KiB", "4 KiB"]);
// on an axis of logarithms even steps come closer and closer: labels keep apart
const even = units.logAxisTicks(Math.log10(2e5), Math.log10(6.8e6), 270, units.time);
assert.deepEqual(even.map((t) => t.label), ["2 ms", "6 ms"], "4 ms would be too near to both");
assert.deepEqual(units.logAxisTicks(0, 9, 270, units.time).map((t) => t.label), ["1 ns", "10 µs", "100 ms"]);
console.log("ok");
