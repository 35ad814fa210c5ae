// From the compact form the server sends to frames a painter can read.  Mirrors `encode` in ui/player.py.

export function bytesFromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

// Runs are int16 triples (length, state, owner), row after row; the lengths of one row add up to `numSteps`.
export function decodeRuns(text, numRows, numSteps) {
  const bytes = bytesFromBase64(text);
  const view = new DataView(bytes.buffer);
  const rows = [];
  let at = 0;
  for (let row = 0; row < numRows; row++) {
    const spans = [];
    for (let from = 0; from < numSteps; at += 6) {
      if (at + 6 > bytes.length) throw new Error(`runs end early in row ${row}`);
      const to = from + view.getInt16(at, true);
      if (to <= from || to > numSteps) throw new Error(`bad run length in row ${row}`);
      spans.push({ from, to, state: view.getInt16(at + 2, true), owner: view.getInt16(at + 4, true) });
      from = to;
    }
    rows.push(spans);
  }
  return rows;
}

// [[step, value], ...] says when a value changed; the answer has one value per step.
export function expandChanges(changes, numSteps) {
  const values = [];
  for (let i = 0; i < changes.length; i++) {
    const until = i + 1 < changes.length ? changes[i + 1][0] : numSteps;
    while (values.length < until) values.push(changes[i][1]);
  }
  return values;
}

export function spanAt(spans, step) {
  let low = 0;
  let high = spans.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (spans[middle].from <= step) low = middle;
    else high = middle - 1;
  }
  return spans[low];
}

function decodeGrid(grid) {
  return {
    title: grid.title,
    slots: grid.slots,
    numSteps: grid.steps, // its own length; the shared axis may be longer
    rows: decodeRuns(grid.runs, grid.slots.length, grid.steps),
    waiting: expandChanges(grid.waiting, grid.steps),
    counters: expandChanges(grid.counters, grid.steps),
  };
}

export function decodeFrames(data) {
  const numSteps = Math.max(...data.grids.map((grid) => grid.steps));
  const numbers = data.at ?? Array.from({ length: numSteps }, (_, step) => step); // frame -> step of the run
  return {
    painter: data.painter,
    numSteps,
    numbers,
    totalSteps: data.total,
    grids: data.grids.map(decodeGrid),
    notes: expandChanges(data.notes, numSteps),
    times: expandChanges(data.times, numSteps),
    events: data.events, // sorted frames at which something happened
    states: data.states,
    requests: data.requests,
    alt: data.alt,
  };
}

// The frame that shows step `number` of the run: the last one that is not later.
export function frameOf(numbers, number) {
  const later = numbers.findIndex((at) => at > number);
  return Math.max(0, later < 0 ? numbers.length - 1 : later - 1);
}

export function statesThatOccur(frames) {
  const seen = new Set();
  for (const grid of frames.grids) {
    for (const spans of grid.rows) for (const span of spans) seen.add(span.state);
  }
  return [...seen].sort((a, b) => a - b);
}
