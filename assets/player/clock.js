// Which step it is: pure functions, no browser.  A step is an index into the frames; `lastStep` is the largest one.

export const SPEEDS = [0.5, 1, 2, 4, 8];
export const ROUNDING = 1e-7; // of the whole axis: closer moments are one
const RUN_SECONDS = 17; // a run takes this long at speed 1, however many steps it has
const LONGEST_STEP_SECONDS = 2.5;
const STOPS = 30; // events that are closer than this part of a run are one stop
const LONGEST_GAP_SECONDS = 0.25; // a hidden tab or a slow frame never makes the player leap

export function clampStep(step, lastStep) {
  if (!Number.isFinite(step)) return 0;
  return Math.min(Math.max(Math.round(step), 0), lastStep);
}

// The first event after `step`, else the end.  `events` is sorted.
export function nextEvent(events, step, lastStep) {
  return events.find((event) => event > step) ?? lastStep;
}

// The last event before `step`, else the beginning.
export function previousEvent(events, step) {
  return events.findLast((event) => event < step) ?? 0;
}

// Steps per second at speed 1.
export function rateFor(lastStep) {
  return Math.max(lastStep / RUN_SECONDS, 1 / LONGEST_STEP_SECONDS);
}

// Where playing pauses if it pauses at events: at the first of those that follow close upon each other.
export function stopsOf(events, lastStep) {
  const apart = Math.max(1, lastStep / STOPS);
  return events.filter((event, at) => at === 0 || event - events[at - 1] > apart);
}

// Let `seconds` pass at `rate` steps per second.  `phase` is the part of a step already waited for.  With `stops`
// (sorted steps) playing never runs over one of them: it stands still there and says so.
export function advance({ step, phase }, seconds, rate, lastStep, stops = []) {
  const waited = phase + Math.min(seconds, LONGEST_GAP_SECONDS) * rate;
  const target = Math.min(step + Math.floor(waited), lastStep);
  const stop = stops.find((event) => event > step && event <= target);
  if (stop !== undefined) return { step: stop, phase: 0, stopped: "event" };
  if (target >= lastStep) return { step: lastStep, phase: 0, stopped: "end" };
  return { step: target, phase: waited - Math.floor(waited), stopped: null };
}

// Where to stand when other frames arrive under the reader's hands.
export function carryOver(step, lastStep) {
  return { step: clampStep(step, lastStep), clamped: step > lastStep };
}

// Several sorted lists as one.  Values that are only apart by rounding are one, the later of them.
export function unionOf(lists, tolerance = 0) {
  const union = [];
  for (const value of lists.flat().sort((a, b) => a - b)) {
    if (union.length && value - union.at(-1) <= tolerance) union[union.length - 1] = value;
    else union.push(value);
  }
  return union;
}

// The last place in a sorted list with a value of at most `value`; the first place if there is none.
export function lastUpTo(values, value) {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The first place with a value of at least `value`; the last place if there is none.
export function firstFrom(values, value) {
  const at = lastUpTo(values, value);
  return values[at] < value ? Math.min(at + 1, values.length - 1) : at;
}
