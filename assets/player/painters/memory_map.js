// The memory map: what lies where in KV memory at one step, one strip for each memory, above each other.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { lastUpTo } from "../clock.js";
import { expandChanges } from "../decode.js";
import { decodeStrip, inWords, layoutStrip, paintStrip, paintTitle, spotInStrip } from "../strip.js";

const ROWS = 6; // title, slots, scale, queue

export function decode({ picture, texts, times }, { numSteps }) {
  const strips = picture.strips.map((strip, index) => decodeStrip(strip, texts.strips[index], numSteps));
  const said = expandChanges(times, numSteps);
  const positions = picture.at;
  const end = Math.max(positions.at(-1), 1);
  const timeText = (position) => said[lastUpTo(positions, position)];
  return { strips, requests: picture.requests, positions, end, axis: { end, gap: 1 }, timeText };
}

export function numRows(frames) {
  return frames.strips.length * ROWS;
}

export function statesThatOccur(frames) {
  const seen = new Set(frames.strips.flatMap((strip) => strip.rows.flat().map((run) => run.state)));
  return [...seen].sort((a, b) => a - b);
}

export function layout(frames, { width, room, size }) {
  const roomy = stack(frames, { width, room, size }, false);
  return roomy.height <= room ? roomy : stack(frames, { width, room, size }, true);
}

function stack(frames, { width, room, size }, dense) {
  const titleHeight = Math.round(size * (dense ? 1.35 : 1.9));
  const gap = Math.round(size * (dense ? 0.2 : 0.6));
  const share = room / frames.strips.length - titleHeight - gap;
  let y = 0;
  const places = frames.strips.map((strip) => {
    const place = layoutStrip(strip, { width, size, top: y + titleHeight, room: share, dense });
    const title = y + titleHeight / 2;
    y = place.bottom + gap;
    return { ...place, title };
  });
  return { width, height: y - gap, size, places };
}

export function spotAt({ places }, frames, { step }, x, y) {
  const spots = frames.strips.map((strip, index) => spotInStrip(frames, strip, step, places[index], x, y));
  return spots.find(Boolean) ?? null;
}

export function columns(frames) {
  return frames.strips.map((strip) => strip.title);
}

export function cells(frames, step) {
  return frames.strips.map((strip) => inWords(frames, strip, step));
}

// The slots.
export function ghostArea({ places, width }) {
  const last = places.at(-1);
  return { x: 0, y: places[0].top, width, height: last.top + last.height - places[0].top };
}

export function paint(c, frames, { step, at }, { width, height, places }, look) {
  c.clearRect(0, 0, width, height);
  c.textBaseline = "middle";
  frames.strips.forEach((strip, index) => {
    paintTitle(c, strip, step, places[index].title, width, look);
    paintStrip(c, frames, strip, step, places[index], look, { at });
  });
}
