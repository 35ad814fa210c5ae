// Which step it is: pure functions, no browser.  A step is an index into the frames; `lastStep` is the largest one.

export const SPEEDS = [0.5, 1, 2, 4, 8];
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
