// From the compact form the server sends to frames a painter can read.  Mirrors `encode` in ui/player/encoding.py.

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

export function numbersFromBase64(text, Kind) {
  return new Kind(bytesFromBase64(text).buffer);
}

// What all pictures have in common.  The painter adds its own, among it `positions` (sorted, one per frame, on an axis
// that linked players can share), the `end` of its own axis, `axis` (the `end` and smallest `gap` of all linked ones) and
// `timeText(position)`; `zooms`, if positions may lie anywhere on the axis and parts of it can be looked at; and `foretells`,
// if what is to come is faintly there.
export function decodeFrames(data, painter) {
  const numSteps = data.steps;
  const frames = {
    numSteps,
    numbers: data.at ?? Array.from({ length: numSteps }, (_, step) => step), // frame -> step of the run
    totalSteps: data.total,
    notes: expandChanges(data.notes, numSteps),
    events: data.events, // sorted frames at which something happened
    states: data.states,
    alt: data.alt,
    words: data.words,
  };
  return { ...frames, ...painter.decode(data, frames) };
}

// The frame that shows step `number` of the run: the last one that is not later.
export function frameOf(numbers, number) {
  const later = numbers.findIndex((at) => at > number);
  return Math.max(0, later < 0 ? numbers.length - 1 : later - 1);
}
