// A strip of memory: slots side by side, each coloured by its request and patterned by its state, with letters, sizes or
// block numbers, and below it whoever waits, drawn to the same scale.  For the painters that show memory.

import { decodeRuns, expandChanges } from "./decode.js";
import { stay } from "./motion.js";
import { inkOn, makeFill, paintSpan } from "./patterns.js";

const FAINT = 0.5; // how strong a slot without a token is
const FULL = new Set(["filled", "free"]);
const AIR = 1; // px between two neighbours

export function decodeStrip(strip, texts, numSteps) {
  return {
    ...texts,
    ...strip,
    rows: decodeRuns(strip.runs, numSteps, strip.slots), // step -> runs of equal slots
    waiting: expandChanges(strip.waiting, numSteps),
    counters: expandChanges(texts.counters, numSteps),
    everWaits: strip.waiting.some(([, who]) => who.length > 0),
  };
}

export const sizeText = (strip, slots) =>
  strip.unit ? `${(slots / strip.perUnit).toFixed(1)} ${strip.unit}` : String(slots);

// Rows from `top` on: slots, their numbers, whoever waits.  Where room is short (`dense`) the scale goes.
export function layoutStrip(strip, { width, size, top, room, dense = false }) {
  const small = dense ? (strip.size > 1 ? Math.round(size * 1.15) : 0) : Math.round(size * 1.5);
  const waitingHeight = strip.everWaits ? Math.round(size * (dense ? 1.4 : 2)) : 0;
  const height = Math.min(Math.max(room - small - waitingHeight, size * (dense ? 1.2 : 1.8)), size * 8);
  const numbers = top + height + small / 2;
  const bottom = top + height + small + waitingHeight;
  return { top, height, numbers, waiting: bottom - waitingHeight / 2, bottom, size, small, cell: (width - 2) / strip.slots, left: 1 };
}

const edge = (place, slot, look) => Math.round((place.left + slot * place.cell) * look.ratio) / look.ratio;

// What a request's slots look like in a state; kept with the look, as making a pattern is slow.
function styleOf(look, requests, run) {
  const state = look.states[run.state];
  if (run.owner < 0) return state;
  look.styles ??= new Map();
  const key = `${run.state} ${run.owner}`;
  if (!look.styles.has(key)) {
    const own = { ...state, colour: requests.colours[run.owner] };
    const fill = look.newCanvas ? makeFill(own, look.background, look.ratio, look.newCanvas) : own.colour;
    look.styles.set(key, { ...own, fill, ink: inkOn(own.colour) });
  }
  return look.styles.get(key);
}

// What is free first: what is owned may be on its way.
export function paintStrip(c, frames, strip, step, place, look, { marked = [], at = stay } = {}) {
  const runs = strip.rows[step].filter(({ owner }) => owner < 0).concat(ownedRuns(strip, step, at));
  for (const run of runs) {
    const style = styleOf(look, frames.requests, run);
    const x = edge(place, run.from, look);
    c.globalAlpha = FULL.has(frames.states[run.state].name) ? 1 : FAINT;
    paintSpan(c, style, x, place.top, edge(place, run.to, look) - x, place.height, [0, 0], look);
    c.globalAlpha = 1;
  }
  if (strip.size > 1) paintBlocks(c, frames, strip, step, place, look, marked);
  else paintOwners(c, frames, strip, strip.rows[step], at, place, look);
  if (strip.everWaits) paintWaiting(c, frames, strip, step, place, look);
}

// The runs of the requests where they are by now.  A request's first run stays its first run, wherever it is moved to; in
// paged memory a run stays in its block.  New tokens fill their slots from the left.
function ownedRuns(strip, step, at) {
  const count = new Map();
  return strip.rows[step].filter(({ owner }) => owner >= 0).map((run) => {
    const { from, to, owner, state } = run;
    const kind = `${strip.title} ${owner} ${state}`;
    const nth = strip.size > 1 ? Math.floor(from / strip.size) : (count.get(kind) ?? 0);
    count.set(kind, nth + 1);
    return { ...run, ...at(`${kind} ${nth}`, { from, to }, { from, to: from }) };
  });
}

// --- contiguous: one letter for each request, the size of each hole, a scale below -----------------------------------

function paintOwners(c, frames, strip, runs, at, place, look) {
  for (const { owner, ...there } of stretches(runs)) {
    const { from, to } = owner < 0 ? there : at(`${strip.title} ${owner}`, there);
    const [x, end] = [edge(place, from, look), edge(place, to, look)];
    frame(c, x, end, place, owner < 0 ? look.faint : look.background);
    const size = sizeText(strip, there.to - there.from);
    const letter = frames.requests.letters[owner] ?? "";
    plate(c, letter, size, x, end, place.top + place.height / 2 + 0.5, look);
  }
  paintScale(c, strip, place, look);
}

// Neighbouring runs of one owner, or of nobody, as one.
export function stretches(runs) {
  const found = [];
  for (const { from, to, owner } of runs) {
    if (found.length && found.at(-1).owner === owner) found.at(-1).to = to;
    else found.push({ from, to, owner });
  }
  return found;
}

function frame(c, x, end, place, colour) {
  c.strokeStyle = colour;
  c.lineWidth = 2;
  c.strokeRect(x, place.top, end - x, place.height);
}

// A letter on a ground of its own, so that it reads on every pattern; with the size where there is room.
export function plate(c, letter, size, x, end, middle, look) {
  if (look.wordless) return; // a faint picture over another one
  const own = letter ? look.widthOfBold(letter) + 6 : 0;
  const both = size && own + look.widthOf(size) + 12 <= end - x;
  const width = own + (both ? look.widthOf(size) + (own ? 6 : 8) : 2);
  if (width > end - x + 4 || (!letter && !both)) return;
  const left = (x + end) / 2 - width / 2;
  const height = Math.round(look.size * 1.35);
  c.fillStyle = look.background;
  c.beginPath();
  c.roundRect(left, middle - height / 2, width, height, 3);
  c.fill();
  c.textAlign = "left";
  c.fillStyle = look.text;
  c.font = look.bold;
  c.fillText(letter, left + 4, middle);
  c.font = look.font;
  if (both) c.fillText(size, left + 4 + own, middle);
}

function paintScale(c, strip, place, look) {
  if (!strip.unit || !place.small) return;
  c.font = look.font;
  c.fillStyle = look.muted;
  const last = Math.floor(strip.slots / strip.perUnit);
  for (let tick = 0; tick <= last; tick++) {
    const x = edge(place, tick * strip.perUnit, look);
    c.fillRect(x, place.top + place.height + 1, 1, 4);
    c.textAlign = tick ? "center" : "left";
    c.fillText(tick === last ? `${tick} ${strip.unit}` : String(tick), x, place.numbers + 2);
  }
}

// --- paged: a box for each block, its owner's letter inside, its number below ----------------------------------------

function paintBlocks(c, frames, strip, step, place, look, marked) {
  const middle = place.top + place.height / 2 + 0.5;
  const owners = ownersOf(frames, strip, step);
  const numBlocks = strip.slots / strip.size;
  const every = Math.ceil((look.widthOf(String(numBlocks)) + 6) / (place.cell * strip.size));
  for (let block = 0; block < numBlocks; block++) {
    const [x, end] = [edge(place, block * strip.size, look), edge(place, (block + 1) * strip.size, look)];
    const who = owners[block];
    frame(c, x + AIR, end - AIR, place, marked.includes(block) ? look.text : who.length ? look.background : look.faint);
    const letters = who.map((owner) => frames.requests.letters[owner]).join("");
    const fits = look.widthOfBold(letters) + 8 <= end - x;
    if (letters) plate(c, fits || who.length === 1 ? letters : `×${who.length}`, "", x, end, middle, look);
    c.textAlign = "center";
    c.font = marked.includes(block) ? look.bold : look.font;
    c.fillStyle = marked.includes(block) ? look.text : look.muted;
    if (block % every === 0) c.fillText(String(block + strip.first), (x + end) / 2, place.numbers);
  }
}

// Block -> whose it is: all who have it in their table, or whose tokens a free one still holds.
export function ownersOf(frames, strip, step) {
  const owners = Array.from({ length: strip.slots / strip.size }, () => []);
  for (const { from, to, owner } of strip.rows[step]) {
    for (let block = Math.floor(from / strip.size); owner >= 0 && block < to / strip.size; block++) {
      if (!owners[block].includes(owner)) owners[block].push(owner);
    }
  }
  for (const [who, blocks] of frames.tables?.[step] ?? []) {
    for (const block of blocks) if (!owners[block].includes(who)) owners[block].push(who);
  }
  return owners;
}

// --- the queue -------------------------------------------------------------------------------------------------------

function paintWaiting(c, frames, strip, step, place, look) {
  const height = Math.min(Math.round(look.size * 1.5), (place.bottom - place.waiting) * 2 - 2);
  const word = frames.words.waiting;
  if (!strip.waiting[step].length) return;
  c.textAlign = "left";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(word, place.left, place.waiting);
  let x = place.left + look.widthOf(word) + 10;
  for (const [who, slots] of strip.waiting[step]) {
    const letter = frames.requests.letters[who];
    const room = place.left + strip.slots * place.cell - x; // whoever asks for more than is seen is cut short
    const width = Math.min(Math.max(slots * place.cell, look.widthOfBold(letter) + 10), Math.max(room, 0));
    c.strokeStyle = frames.requests.colours[who];
    c.lineWidth = 2;
    c.setLineDash?.([5, 3]);
    c.strokeRect(x, place.waiting - height / 2, width, height);
    c.setLineDash?.([]);
    plate(c, letter, strip.unit ? sizeText(strip, slots) : "", x, x + width, place.waiting, look);
    x += width + 8;
  }
}

// --- in words --------------------------------------------------------------------------------------------------------

export function spotInStrip(frames, strip, step, place, x, y) {
  const slot = Math.floor((x - place.left) / place.cell);
  if (y < place.top || y > place.top + place.height || slot < 0 || slot >= strip.slots) return null;
  const run = strip.rows[step].find(({ to }) => to > slot);
  const block = Math.floor(slot / strip.size);
  const name = strip.size > 1 ? `${frames.words.block} ${block + strip.first}` : "";
  const who = strip.size > 1 ? ownersOf(frames, strip, step)[block] : run.owner < 0 ? [] : [run.owner];
  const letters = who.map((owner) => frames.requests.letters[owner]).join(" ");
  const state = frames.states[run.state].label;
  const size = strip.size > 1 ? "" : sizeText(strip, run.to - run.from);
  const text = [name, letters, state, size].filter(Boolean).join(" · ");
  const from = strip.size > 1 ? block * strip.size : run.from;
  const to = strip.size > 1 ? from + strip.size : run.to;
  return { text, x: place.left + ((from + to) / 2) * place.cell, y: place.top, height: place.height };
}

// Every stretch of the memory at a step, for the table: "A 0.8 GB; free 0.6 GB; ..."
export function inWords(frames, strip, step) {
  const parts = strip.rows[step].map(({ from, to, state, owner }) => {
    const who = owner < 0 ? "" : `${frames.requests.letters[owner]} `;
    return `${who}${frames.states[state].label} ${sizeText(strip, to - from)}`;
  });
  const queue = strip.waiting[step].map(([who]) => frames.requests.letters[who]).join(" ");
  return `${parts.join("; ")}\n${frames.words.waiting}: ${queue || "–"}`;
}

export function paintTitle(c, strip, step, y, width, look) {
  c.textAlign = "left";
  c.font = look.bold;
  c.fillStyle = look.text;
  c.fillText(strip.title, 0, y);
  const counter = strip.counters[step];
  c.textAlign = "right";
  c.font = look.font;
  if (look.widthOfBold(strip.title) + look.widthOf(counter) + 12 <= width) c.fillText(counter, width - 1, y);
}
