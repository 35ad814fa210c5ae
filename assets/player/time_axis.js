// Times in sensible units, and where an axis has its ticks: pure functions, no browser.

const UNITS = [
  { name: "s", seconds: 1 },
  { name: "ms", seconds: 1e-3 },
  { name: "µs", seconds: 1e-6 },
];
const MOST_DECIMALS = 4;

// The unit for a whole axis: the largest one that `end` fills.
export function unitOf(end) {
  return UNITS.find((unit) => end >= unit.seconds) ?? UNITS.at(-1);
}

// Decimals that tell two times apart which differ by `gap`.
export function decimalsFor(gap, unit) {
  const needed = Math.ceil(-Math.log10(gap / unit.seconds) - 1e-9);
  return Math.min(Math.max(needed, 0), MOST_DECIMALS);
}

// Round times within the window, at least `room` px apart, with the decimals they need.
export function timeTicks({ from, to }, width, room, unit) {
  const least = ((to - from) * room) / width / unit.seconds;
  const power = 10 ** Math.floor(Math.log10(least));
  const every = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= least * (1 - 1e-9));
  const decimals = Math.max(0, -Math.floor(Math.log10(every) + 1e-9));
  const ticks = [];
  for (let n = Math.ceil(from / unit.seconds / every - 1e-9); n * every <= (to / unit.seconds) * (1 + 1e-12); n++) {
    ticks.push({ seconds: n * every * unit.seconds, text: (n * every).toFixed(decimals) });
  }
  return ticks;
}
