// SPDX-License-Identifier: MIT
// The report's figures, and the numbers of the charts, which are unpacked when a chart needs them.

const TIMES = new Map();

/** The object that `magnet report --json` prints. */
export const report = JSON.parse(document.getElementById("report").textContent);
/** What the page has beside it: the list of tracks, distributions, texts and words. */
export const index = JSON.parse(document.getElementById("index").textContent);

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads numbers of variable length, seven bits a byte, the lowest first. */
export function numbers(bytes, total) {
  const all = new Float64Array(total);
  for (let i = 0, at = 0; i < total; i++) {
    let value = 0;
    let scale = 1;
    let byte;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    all[i] = value;
  }
  return all;
}

/** Gives each column of a track its meaning: times in ns since the begin, NaN if not known. */
export function columnsOf(track, all) {
  const found = {};
  const rows = track.rows;
  track.columns.forEach((column, at) => {
    const values = all.subarray(at * rows, (at + 1) * rows);
    if (at === 0) {
      for (let i = 0, now = 0; i < rows; i++) {
        const n = values[i];
        now += n % 2 ? -(n + 1) / 2 : n / 2;
        values[i] = now;
      }
    } else {
      const times = found.time;
      for (let i = 0; i < rows; i++) {
        const n = values[i];
        values[i] = n === 0 ? NaN : n - 1 + (column.type === "time" ? times[i] : 0);
      }
    }
    found[column.name] = values;
  });
  return found;
}

async function unpack(number) {
  const track = index.tracks[number];
  const begin = performance.now();
  const bytes = await inflate(fromBase64(document.getElementById(`track-${number}`).textContent));
  const columns = columnsOf(track, numbers(bytes, track.rows * track.columns.length));
  TIMES.set(number, performance.now() - begin);
  return columns;
}

const unpacked = new Map();

/** Returns a promise of the columns of a track, by name. */
export function load(number) {
  if (!unpacked.has(number)) unpacked.set(number, unpack(number));
  return unpacked.get(number);
}

/** Returns the numbers of the tracks of a kind, of a flow if one is given. */
export function tracks(kind, flow) {
  return index.tracks.flatMap((t, i) =>
    t.kind === kind && (flow === undefined || t.flow === flow) ? [i] : [],
  );
}

/** Returns the other direction of a flow's socket. */
export function otherDirection(flow) {
  return flow.endsWith("/tx") ? flow.replace(/tx$/, "rx") : flow.replace(/rx$/, "tx");
}

/** Returns a time of the recording in seconds, from one of the system's clock. */
export function secondsOf(ns) {
  return (ns - index.begin_ns) / 1e9;
}
