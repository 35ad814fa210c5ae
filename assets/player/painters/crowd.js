// Many requests in the pipeline: the stations with how many are there, below them who, and how full the KV pool is.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { stay } from "../motion.js";
import { paintSpan } from "../patterns.js";
import { paintStops, placeStops, stopUnder } from "../stops.js";
import { fill } from "../words.js";

const SCREEN = 7; // the last station

// --- data ----------------------------------------------------------------------------------------------------------

export function decode({ picture, texts }, { numbers }) {
  const scenes = picture.scenes.map(([places, sampled, used]) => ({ places, sampled, used }));
  const end = Math.max(numbers.at(-1), 1);
  const { kinds, stored, rows, lively, blocks } = picture;
  return { names: texts.stations, rowNames: texts.rows, kinds, stored, rows, lively, blocks, scenes, positions: numbers, end, axis: { end, gap: 1 }, timeText: () => "" };
}

export function numRows(frames) {
  return frames.rows.length + 6;
}

export function statesThatOccur() {
  return []; // stations and rows carry their names
}

// --- places --------------------------------------------------------------------------------------------------------

export function layout(frames, given) {
  const roomy = arrange(frames, given, placeStops(frames.names, { ...given, top: 2, second: "00" }));
  return roomy.height <= given.room ? roomy : arrange(frames, given, null); // the rows carry their names
}

function arrange(frames, { width, room, size, widthOf }, stops) {
  const top = stops ? 2 + stops.height + Math.round(size * 1.1) : 0;
  const fits = Math.floor((room - top) / (frames.rows.length + 1));
  const row = Math.min(Math.max(fits, Math.round(size * (stops ? 1.8 : 1.5))), Math.round(size * 2.9));
  const left = Math.ceil(Math.max(...frames.rowNames.map(widthOf), widthOf(frames.words.pool)) + 14);
  return { width, height: top + row * (frames.rows.length + 1), stops, top, row, left, size };
}

export function spotAt(place, frames, { step }, x, y) {
  const stop = place.stops ? stopUnder(place.stops, x, y) : -1;
  if (stop < 0) return null;
  const box = place.stops.boxes[stop];
  const count = countAt(frames, frames.scenes[step], stop);
  return { text: [frames.names[stop], count].filter(Boolean).join(" · "), x: box.x + box.width / 2, y: box.y, height: box.height };
}

function countAt(frames, scene, stop) {
  const row = frames.rows.indexOf(stop);
  return row < 0 ? 0 : scene.places[row].length;
}

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns(frames) {
  return [...frames.rowNames, frames.words.pool];
}

export function cells(frames, step) {
  const { places, used } = frames.scenes[step];
  return [...places.map((requests) => requests.map(([letter, rows]) => (rows ? `${letter} ${rows}` : letter)).join(", ") || "–"), `${used} / ${frames.blocks}`];
}

// --- the picture ---------------------------------------------------------------------------------------------------

// Where everybody will have come to; what is written beside the pool would stand over what is there.
export function ghostArea({ left, top, width, row }, frames) {
  return { x: left, y: top, width: width - left, height: row * frames.rows.length };
}

export function paint(c, frames, { step, at = stay }, place, look) {
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  const scene = frames.scenes[step];
  if (place.stops) paintStations(c, frames, scene, place, look);
  scene.places.forEach((requests, row) => paintRow(c, frames, requests, row, at, place, look));
  paintPool(c, frames, scene, place, look);
}

function paintStations(c, frames, scene, place, look) {
  const counts = frames.names.map((_, stop) => countAt(frames, scene, stop));
  const works = frames.lively.filter((stop) => (frames.rows.includes(stop) ? counts[stop] : scene.sampled));
  const lit = [...works, ...(scene.sampled ? [SCREEN] : []), ...frames.rows.filter((stop) => stop !== SCREEN && counts[stop])];
  const lines = counts.map((count) => (count ? String(count) : ""));
  paintStops(c, frames.names, frames.kinds, place.stops, { lit, seen: [], lines, loop: frames.words.loop }, look);
}

function paintName(c, text, row, place, look) {
  c.textAlign = "right";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(text, place.left - 10, place.top + (row + 0.5) * place.row);
}

// A request goes from row to row.
function paintRow(c, frames, requests, row, moved, place, look) {
  paintName(c, frames.rowNames[row], row, place, look);
  const state = look.states[frames.kinds[frames.rows[row]]];
  const high = Math.round(place.row * 0.74);
  const middle = place.top + (row + 0.5) * place.row;
  let x = place.left;
  for (const [at, [letter, rows]] of requests.entries()) {
    const number = rows ? String(rows) : "";
    const [wide, more] = [look.widthOfBold(letter), number ? look.widthOf(number) + 6 : 0];
    const width = Math.max(wide + more + 14, high);
    const rest = `+${requests.length - at}`;
    const isLast = at + 1 === requests.length;
    if (x + width + (isLast ? 0 : look.widthOf(rest) + 4) > place.width) {
      paintText(c, rest, x + 2, middle, look.font, look.muted);
      return;
    }
    c.strokeStyle = state.colour;
    c.lineWidth = 2;
    const here = moved(letter, { x, middle });
    c.beginPath();
    c.roundRect(here.x + 1, here.middle - high / 2, width - 2, high, 4);
    c.stroke();
    const start = here.x + (width - wide - more) / 2;
    paintText(c, letter, start, here.middle, look.bold, look.text);
    paintText(c, number, start + wide + 6, here.middle, look.font, look.muted);
    x += width + 4;
  }
}

function paintText(c, text, x, y, font, colour) {
  c.textAlign = "left";
  c.font = font;
  c.fillStyle = colour;
  c.fillText(text, x, y);
}

function paintPool(c, frames, { used }, place, look) {
  const row = frames.rows.length;
  paintName(c, frames.words.pool, row, place, look);
  const said = fill(frames.words.of, { n: used, total: frames.blocks });
  const high = Math.round(place.row * 0.5);
  const y = place.top + (row + 0.5) * place.row - high / 2;
  const room = place.width - place.left - look.widthOf(fill(frames.words.of, { n: frames.blocks, total: frames.blocks })) - 10;
  c.fillStyle = look.track;
  c.fillRect(place.left, y, room, high);
  if (used) paintSpan(c, look.states[frames.stored], place.left, y, (room * used) / frames.blocks, high, [0, 2], look);
  paintText(c, said, place.left + room + 8, y + high / 2, look.font, look.text);
}
