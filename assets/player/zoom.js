// Which part of the axis is in view: pure functions, no browser.  `zoom` 1 shows all of it, 2 half of it.

export const ZOOM_STEP = 2;
const MARGIN = 0.15; // of the window: nearer than this the cursor never comes to its edges
const FEWEST_MOMENTS = 4; // in view at the largest zoom
const LARGEST_ZOOM = 4096;

export function clampZoom(zoom, limit) {
  return Math.min(Math.max(zoom, 1), limit);
}

// The smallest distance between two positions.
export function closest(positions, end) {
  return positions.slice(1).reduce((least, position, i) => Math.min(least, position - positions[i]), end);
}

// How far zooming in makes sense: until moments `gap` apart stand well apart.
export function zoomLimit(gap, end) {
  const needed = end / (gap * FEWEST_MOMENTS);
  return Math.min(2 ** Math.ceil(Math.log2(Math.max(needed, 1))), LARGEST_ZOOM);
}

// The window after the cursor came to `now`.  It stands still as long as the cursor is well inside; a new zoom keeps
// the cursor where it is on the screen.
export function follow(before, now, end, zoom) {
  const length = end / zoom;
  const share = before ? (now - before.from) / (before.to - before.from) : 0.5;
  const moved = !before || Math.abs(before.to - before.from - length) > length * 1e-9;
  const wanted = moved ? now - Math.min(Math.max(share, 0), 1) * length : before.from;
  const near = Math.min(Math.max(wanted, now - (1 - MARGIN) * length), now - MARGIN * length);
  const from = Math.min(Math.max(near, 0), end - length);
  return { from, to: from + length };
}
