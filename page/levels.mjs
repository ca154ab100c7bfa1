// SPDX-License-Identifier: MIT
// Points of a line, and what a screen can show of them: of each column of pixels the first, the
// smallest, the largest and the last point. What is drawn of these looks like all of the points.

const BLOCK = 256;

/** Points sorted by x, without those whose y is not known. */
export class Line {
  constructor(x, y) {
    let n = 0;
    this.x = new Float64Array(x.length);
    this.y = new Float64Array(x.length);
    for (let i = 0; i < x.length; i++) {
      if (!Number.isNaN(y[i])) {
        this.x[n] = x[i];
        this.y[n++] = y[i];
      }
    }
    this.x = this.x.subarray(0, n);
    this.y = this.y.subarray(0, n);
    this.#extremes();
  }

  #least;
  #most;

  /** Finds the smallest and the largest of each block of points. */
  #extremes() {
    const blocks = Math.ceil(this.x.length / BLOCK);
    this.#least = new Uint32Array(blocks);
    this.#most = new Uint32Array(blocks);
    for (let b = 0; b < blocks; b++) {
      const end = Math.min((b + 1) * BLOCK, this.x.length);
      [this.#least[b], this.#most[b]] = this.#search(b * BLOCK, end, b * BLOCK, b * BLOCK);
    }
  }

  #search(from, to, least, most) {
    for (let i = from; i < to; i++) {
      if (this.y[i] < this.y[least]) least = i;
      if (this.y[i] > this.y[most]) most = i;
    }
    return [least, most];
  }

  /** Returns the places of the smallest and the largest of the points from `from` to before `to`. */
  #extremesOf(from, to) {
    let least = from;
    let most = from;
    const first = Math.ceil(from / BLOCK);
    const last = Math.floor(to / BLOCK);
    if (first >= last) return this.#search(from, to, least, most);
    [least, most] = this.#search(from, first * BLOCK, least, most);
    for (let b = first; b < last; b++) {
      if (this.y[this.#least[b]] < this.y[least]) least = this.#least[b];
      if (this.y[this.#most[b]] > this.y[most]) most = this.#most[b];
    }
    return this.#search(last * BLOCK, to, least, most);
  }

  /** Returns the place of the first point that is not before x. */
  place(x) {
    let low = 0;
    let high = this.x.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.x[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the place of the point next to x; -1 if there is none. */
  nearest(x) {
    const after = this.place(x);
    if (!this.x.length) return -1;
    if (after === this.x.length) return after - 1;
    return after > 0 && x - this.x[after - 1] < this.x[after] - x ? after - 1 : after;
  }

  /**
   * Returns the places of points to draw between two x on so many columns of pixels, with one on
   * either side. All points are there if they are few.
   */
  visible(from, to, columns) {
    const begin = Math.max(this.place(from) - 1, 0);
    const end = Math.min(this.place(to) + 1, this.x.length);
    if (end - begin <= 4 * columns) return Uint32Array.from({ length: end - begin }, (_, i) => begin + i);
    const places = [];
    const width = (to - from) / columns;
    let at = begin;
    for (let c = 0; c <= columns && at < end; c++) {
      const next = c === columns ? end : Math.min(this.place(from + (c + 1) * width), end);
      if (next === at) continue;
      const four = [at, ...this.#extremesOf(at, next), next - 1].sort((a, b) => a - b);
      four.forEach((p, i) => {
        if (i === 0 || p !== four[i - 1]) places.push(p);
      });
      at = next;
    }
    return Uint32Array.from(places);
  }
}

/** Merges points of several lines into rows [x, y of the first, y of the second, …], null where none. */
export function rows(lines, from, to, columns) {
  const visible = lines.map((l) => l.visible(from, to, columns));
  const at = lines.map(() => 0);
  const all = [];
  for (;;) {
    let x = Infinity;
    for (let i = 0; i < lines.length; i++)
      if (at[i] < visible[i].length) x = Math.min(x, lines[i].x[visible[i][at[i]]]);
    if (x === Infinity) return all;
    const row = [x];
    for (let i = 0; i < lines.length; i++) {
      const there = at[i] < visible[i].length && lines[i].x[visible[i][at[i]]] === x;
      row.push(there ? lines[i].y[visible[i][at[i]++]] : null);
    }
    all.push(row);
  }
}
