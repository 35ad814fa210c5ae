// Block tables: the logical blocks of the chosen request, its table, and arrows to the physical blocks; below them the
// blocks of all.  A click on a block, or the arrows up and down, choose another request.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { lastUpTo } from "../clock.js";
import { expandChanges } from "../decode.js";
import { stay } from "../motion.js";
import { decodeStrip, inWords, layoutStrip, ownersOf, paintStrip, paintTitle, plate, spotInStrip } from "../strip.js";
import { fill } from "../words.js";

const ROWS = 8; // title, logical blocks, table, arrows, slots, numbers, queue
const FEW = 10; // a table with more entries is drawn narrower than its blocks
const LEAST_ARROWS = 1.6; // of the text size

export function decode({ picture, texts, times }, { numSteps }) {
  const strip = decodeStrip(picture.strip, texts.strip, numSteps);
  const said = expandChanges(times, numSteps);
  const positions = picture.at;
  const end = Math.max(positions.at(-1), 1);
  const timeText = (position) => said[lastUpTo(positions, position)];
  const tables = expandChanges(picture.tables, numSteps); // step -> [[request, blocks], ...]
  return { strip, tables, requests: picture.requests, positions, end, axis: { end, gap: 1 }, timeText };
}

export function numRows() {
  return ROWS;
}

export function statesThatOccur(frames) {
  return [...new Set(frames.strip.rows.flat().map((run) => run.state))].sort((a, b) => a - b);
}

export function layout(frames, { width, room, size }) {
  const roomy = stack(frames, { width, room, size }, false);
  return roomy.height <= room ? roomy : stack(frames, { width, room, size }, true);
}

// Where room is short (`dense`) the row of logical blocks goes: its place in the table is a block's number.
function stack(frames, { width, room, size }, dense) {
  const { strip } = frames;
  const line = Math.round(size * (dense ? 1.35 : 1.6));
  const title = line / 2;
  const logical = dense ? null : line * 1.2;
  const table = dense ? line : logical + line + 2;
  const arrows = table + line;
  const below = Math.round(size * (strip.everWaits ? 5.6 : 3.6));
  const spare = dense ? size * 0.6 : Math.min(Math.max(room - arrows - below, size * LEAST_ARROWS), size * 5);
  const top = arrows + spare;
  const place = layoutStrip(strip, { width, size, top, room: room - top, dense });
  const most = Math.max(...frames.tables.flat().map(([, blocks]) => blocks.length), FEW);
  const box = Math.min(place.cell * strip.size, (width - 2) / most);
  return { width, height: place.bottom, size, line, title, logical, table, arrows, box, place };
}

// --- who is chosen ---------------------------------------------------------------------------------------------------

export function choices(frames, step) {
  return frames.tables[step].map(([who]) => frames.requests.letters[who]);
}

// The request whose block is under the pointer; of several that share it the one after the chosen.
export function choiceAt({ place }, frames, { step, chosen }, x, y) {
  if (y < place.top || y > place.bottom) return null;
  const block = Math.floor((x - place.left) / place.cell / frames.strip.size);
  const here = (ownersOf(frames, frames.strip, step)[block] ?? []).map((who) => frames.requests.letters[who]);
  const open = here.filter((letter) => choices(frames, step).includes(letter));
  return open.length ? open[(open.indexOf(chosen) + 1) % open.length] : null;
}

function tableOf(frames, { step, chosen }) {
  return frames.tables[step].find(([who]) => frames.requests.letters[who] === chosen)?.[1] ?? [];
}

// --- in words --------------------------------------------------------------------------------------------------------

export function spotAt({ place }, frames, { step }, x, y) {
  return spotInStrip(frames, frames.strip, step, place, x, y);
}

export function columns(frames) {
  return [frames.strip.title];
}

export function cells(frames, step) {
  const tables = frames.tables[step].map(([who, blocks]) => {
    const numbers = blocks.map((block) => block + frames.strip.first);
    return `${frames.requests.letters[who]} → ${numbers.join(" ")}`;
  });
  return [`${tables.join("; ")}\n${inWords(frames, frames.strip, step)}`];
}

// --- the picture -----------------------------------------------------------------------------------------------------

// The slots.
export function ghostArea({ place, width }) {
  return { x: 0, y: place.top, width, height: place.height };
}

export function paint(c, frames, moment, layout, look) {
  const { width, height, place } = layout;
  const { at = stay, chosen } = moment;
  const blocks = tableOf(frames, moment);
  c.clearRect(0, 0, width, height);
  c.textBaseline = "middle";
  paintTitle(c, frames.strip, moment.step, layout.title, width, look);
  paintStrip(c, frames, frames.strip, moment.step, place, look, { marked: blocks, at });
  if (!blocks.length) return;
  paintNames(c, frames, moment, blocks.length, layout, look);
  blocks.forEach((block, index) => {
    if (layout.logical !== null) paintLogical(c, frames, moment, block, index, layout, look);
    paintEntry(c, frames, block, index, layout, look);
    paintArrow(c, frames, block, (there, origin) => at(`arrow ${chosen} ${index}`, there, origin), index, layout, look);
  });
}

// What the two rows are, right of them.
function paintNames(c, frames, { chosen }, numBlocks, layout, look) {
  const x = boxAt(layout, numBlocks)[0] + 6;
  c.textAlign = "left";
  c.font = look.font;
  c.fillStyle = look.muted;
  for (const [word, y] of [["logical", layout.logical], ["table", layout.table]].filter(([, y]) => y !== null)) {
    const text = fill(frames.words[word], { who: chosen });
    if (x + look.widthOf(text) <= layout.width) c.fillText(text, x, y + layout.line / 2 - 1);
  }
}

const boxAt = ({ box }, index) => [1 + index * box, box - 4];

// What a logical block holds is what lies in its physical one.
function paintLogical(c, frames, { step }, block, index, layout, look) {
  const { strip } = frames;
  const [x, width] = boxAt(layout, index);
  const from = block * strip.size;
  const within = (slot) => Math.min(Math.max(slot - from, 0), strip.size) / strip.size;
  const height = layout.line - 2;
  c.fillStyle = look.track;
  c.fillRect(x, layout.logical, width, height);
  for (const run of strip.rows[step]) {
    if (run.to <= from || run.from >= from + strip.size || frames.states[run.state].name !== "filled") continue;
    c.fillStyle = frames.requests.colours[run.owner] ?? look.states[run.state].colour;
    c.fillRect(x + within(run.from) * width, layout.logical, (within(run.to) - within(run.from)) * width, height);
  }
  c.strokeStyle = look.muted;
  c.lineWidth = 1;
  c.strokeRect(x + 0.5, layout.logical + 0.5, width - 1, height - 1);
  plate(c, String(index), "", x, x + width, layout.logical + height / 2 + 0.5, look);
}

function paintEntry(c, frames, block, index, layout, look) {
  const [x, width] = boxAt(layout, index);
  c.strokeStyle = look.text;
  c.lineWidth = 1;
  c.strokeRect(x + 0.5, layout.table + 0.5, width - 1, layout.line - 3);
  c.textAlign = "center";
  c.font = look.bold;
  c.fillStyle = look.text;
  c.fillText(String(block + frames.strip.first), x + width / 2, layout.table + layout.line / 2 - 1);
}

// A new one grows out of the table.
function paintArrow(c, frames, block, moved, index, layout, look) {
  const { place } = layout;
  const [left, width] = boxAt(layout, index);
  const x = left + width / 2;
  const top = layout.arrows;
  const there = { end: place.left + (block + 0.5) * place.cell * frames.strip.size, bottom: place.top - 2 };
  const { end, bottom } = moved(there, { end: x, bottom: top + 6 });
  c.strokeStyle = c.fillStyle = look.text;
  c.lineWidth = 1.5;
  c.beginPath();
  c.moveTo(x, top);
  c.lineTo(end, bottom - 5);
  c.stroke();
  c.beginPath();
  c.moveTo(end - 4, bottom - 6);
  c.lineTo(end + 4, bottom - 6);
  c.lineTo(end, bottom);
  c.fill();
}
