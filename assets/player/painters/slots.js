// The slot grid: who sits in which slot at which step.  Grids stand above each other on one step axis.  What has not been
// played is faint, as far as it may be seen; from there on a thin line, so that a prediction is still possible.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { lastUpTo } from "../clock.js";
import { decodeRuns, expandChanges, spanAt } from "../decode.js";
import { GHOST, stay } from "../motion.js";
import { paintLabel, paintSpan } from "../patterns.js";
import { fill } from "../words.js";

const TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000];
const LETTER_HEIGHT = 0.72; // of the text size: a capital letter just fits

const EDGE = 11; // px right of the axis: half the thumb of the scrubber, which stands above the cursor

export function decode({ picture, texts, times }, { numSteps, numbers }) {
  const grids = picture.grids.map((grid, index) => decodeGrid({ ...grid, ...texts.grids[index] }));
  const end = Math.max(numbers.at(-1), 1);
  const said = expandChanges(times, numSteps);
  const timeText = (number) => said[lastUpTo(numbers, number)];
  return { grids, requests: picture.requests, positions: numbers, end, axis: { end, gap: 1 }, timeText, foretells: true };
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

export function numRows(frames) {
  return frames.grids.reduce((sum, grid) => sum + grid.slots.length, 0);
}

export function statesThatOccur(frames) {
  const seen = new Set(frames.grids.flatMap((grid) => grid.rows.flat().map((span) => span.state)));
  return [...seen].sort((a, b) => a - b);
}

// Everything's place in CSS pixels.  `room` is the height we may use, `size` the text size, `widthOf(text)` measures.
export function layout(frames, { width, room, size, widthOf }) {
  const roomy = stack(frames, { width, room, size, widthOf }, false);
  if (roomy.rowHeight > size + 2) return roomy;
  const dense = stack(frames, { width, room, size, widthOf }, true); // who waits moves up beside the title
  const isTooTall = roomy.height > room;
  return isTooTall || dense.rowHeight >= roomy.rowHeight + 2 ? dense : roomy;
}

function stack(frames, { width, room, size, widthOf }, dense) {
  const labels = frames.grids.flatMap((grid) => grid.slots);
  const gutter = Math.max(widthOf(frames.words.axis), ...labels.map(widthOf)) + 10;
  const left = Math.ceil(Math.min(Math.max(gutter, 28), width * 0.25));
  const right = width - EDGE;
  const titleHeight = Math.round(size * (dense ? 1.55 : 1.9));
  const waitingHeight = dense ? 0 : Math.round(size * 2);
  const axisHeight = Math.round(size * (dense ? 1.4 : 1.8));
  const gap = Math.round(size * (dense ? 0.2 : 0.7)); // between two grids
  const air = dense ? 3 : 0; // between the last row and the axis
  const fixed = frames.grids.length * (titleHeight + waitingHeight + gap) - gap + air + axisHeight;
  const fits = Math.floor((room - fixed) / labels.length);
  const rowHeight = Math.min(Math.max(fits, Math.round(size * 0.28)), Math.round(size * 3.2));
  let y = 0;
  const grids = frames.grids.map((grid) => {
    const title = y + titleHeight / 2;
    const top = y + titleHeight;
    const bottom = top + grid.slots.length * rowHeight;
    const waiting = dense ? title : bottom + waitingHeight / 2 + 2;
    y = bottom + waitingHeight + gap;
    return { title, top, bottom, waiting };
  });
  const axis = y - gap + air;
  const cell = (right - left) / frames.numSteps;
  const scrub = { from: left + cell, span: (frames.numSteps - 1) * cell };
  return { width, height: axis + axisHeight, left, right, cell, rowHeight, size, grids, axis, axisHeight, dense, scrub };
}

// The cell under the pointer in words, or null; only what is seen answers.
export function spotAt(layout, frames, moment, x, y) {
  const column = Math.floor((x - layout.left) / layout.cell);
  const index = layout.grids.findIndex(({ top, bottom }) => y >= top && y < bottom);
  if (index < 0 || column < 0 || column >= Math.max(moment.step + 1, sightOf(frames, moment)) || column >= frames.grids[index].numSteps) return null;
  const grid = frames.grids[index];
  const row = Math.floor((y - layout.grids[index].top) / layout.rowHeight);
  const { state, owner } = spanAt(grid.rows[row], column);
  const where = fill(frames.words.step_of, { n: frames.numbers[column] + 1, total: frames.totalSteps });
  const parts = [where, grid.slots[row], frames.requests[owner], frames.states[state].label];
  return {
    text: parts.filter(Boolean).join(" · "),
    x: layout.left + (column + 0.5) * layout.cell,
    y: layout.grids[index].top + row * layout.rowHeight,
    height: layout.rowHeight,
  };
}

// How many columns may be seen before they are played.
const sightOf = (frames, { ghost }) => (ghost === undefined ? 0 : lastUpTo(frames.positions, ghost) + 1);

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns(frames) {
  return frames.grids.map((grid) => grid.title);
}

export function cells(frames, step) {
  return frames.grids.map((grid) => {
    if (step >= grid.numSteps) return frames.words.ended;
    const parts = grid.rows.map((spans, row) => {
      const { state, owner } = spanAt(spans, step);
      return [grid.slots[row], frames.requests[owner], frames.states[state].label].filter(Boolean).join(" ");
    });
    const waiting = grid.waiting[step].map((request) => frames.requests[request]).join(" ");
    return `${parts.join("; ")}\n${frames.words.waiting}: ${waiting || "–"}`;
  });
}

// --- the picture ---------------------------------------------------------------------------------------------------

// Frames at round step numbers, far enough apart for their labels.  Thinned frames skip numbers, hence the search.
export function tickSteps(numbers, cell, labelWidth) {
  const room = labelWidth * 1.6;
  const perNumber = (cell * numbers.length) / (numbers.at(-1) + 1);
  const every = TICKS.find((interval) => interval * perNumber >= room) ?? TICKS.at(-1);
  const steps = [];
  let next = every;
  numbers.forEach((number, step) => {
    if (number + 1 < next) return;
    next = (Math.floor((number + 1) / every) + 1) * every;
    if (!steps.length || (step - steps.at(-1)) * cell >= room) steps.push(step);
  });
  return steps;
}

export function paint(c, frames, moment, layout, look) {
  const { step, at = stay } = moment;
  const head = at("head", { x: step + 1 }).x; // the edge of what has been played, in columns
  c.clearRect(0, 0, layout.width, layout.height);
  c.textBaseline = "middle";
  frames.grids.forEach((grid, index) => {
    paintGrid(c, frames, grid, layout.grids[index], { step, head, sight: sightOf(frames, moment) }, layout, look);
    paintComers(c, frames, index, { ...moment, head, at }, layout, look);
  });
  paintAxis(c, frames, step, layout, look);
}

function paintGrid(c, frames, grid, place, { step, head, sight }, layout, look) {
  paintTitle(c, grid, place, step, layout, look);
  const shown = Math.min(head, grid.numSteps); // columns already played
  const seen = Math.max(Math.min(sight, grid.numSteps), shown);
  grid.rows.forEach((spans, row) => {
    const y = place.top + row * layout.rowHeight;
    paintRowLabel(c, grid.slots[row], row, y, layout, look);
    paintFuture(c, grid, seen, y, layout, look);
    paintGhost(c, spans, shown, seen, y, layout, look);
    paintRow(c, frames, spans, shown, y, layout, look);
  });
  if (layout.cell >= 12) paintStepLines(c, place, shown, layout, look);
  if (step >= grid.numSteps) paintEnd(c, frames, grid, place, layout, look);
  paintPlayhead(c, place, head, layout, look);
}

function paintTitle(c, grid, place, step, layout, look) {
  c.textAlign = "left";
  c.fillStyle = look.text;
  c.font = look.bold;
  c.fillText(grid.title, 0, place.title);
  c.textAlign = "right";
  c.font = look.font;
  c.fillText(grid.counters[Math.min(step, grid.numSteps - 1)] ?? "", layout.right, place.title);
}

function paintRowLabel(c, label, row, y, layout, look) {
  const every = Math.ceil((layout.size + 1) / layout.rowHeight); // low rows: only every n-th label fits
  if (row % every) return;
  c.textAlign = "right";
  c.font = look.font;
  c.fillStyle = look.muted;
  const middle = every === 1 ? (layout.rowHeight - 1) / 2 : layout.rowHeight / 2;
  c.fillText(label, layout.left - 8, y + middle, layout.left - 8);
}

function paintFuture(c, grid, seen, y, layout, look) {
  const from = layout.left + seen * layout.cell;
  const to = seen < grid.numSteps ? layout.right : from; // how long it will take is not given away
  if (to <= from) return;
  c.fillStyle = layout.rowHeight < 10 ? look.track : look.faint;
  c.fillRect(from, y + Math.floor(layout.rowHeight / 2), to - from, 1);
}

// What is to come, without its letters.
function paintGhost(c, spans, shown, seen, y, layout, look) {
  const height = heightOf(layout);
  c.globalAlpha = GHOST;
  for (const { from, to, state } of spans) {
    const [start, end] = [Math.max(from, shown), Math.min(to, seen)];
    if (start >= end) continue;
    const air = layout.cell >= 2 ? 1 : 0;
    paintSpan(c, look.states[state], layout.left + start * layout.cell, y, (end - start) * layout.cell - air, height, [0, 0], look);
  }
  c.globalAlpha = 1;
}

const heightOf = ({ rowHeight }) => rowHeight - (rowHeight >= 10 ? 2 : 1);

// One row, run by run; neighbours with the same owner belong together and carry one letter: always in the first part
// with room for it, so that it does not wander.
function paintRow(c, frames, spans, shown, y, layout, look) {
  const height = heightOf(layout);
  const round = height >= 12 ? 3 : 0;
  const crisp = (step) => Math.round((layout.left + step * layout.cell) * look.ratio) / look.ratio;
  for (let first = 0; first < spans.length && spans[first].from < shown; ) {
    const owner = spans[first].owner;
    let last = first;
    while (owner >= 0 && last + 1 < spans.length && spans[last + 1].owner === owner) last++;
    const letter = height >= layout.size * LETTER_HEIGHT ? frames.requests[owner] : null;
    const room = letter ? look.widthOfBold(letter) + 6 : 0;
    const home = letter ? spans.findIndex((span, at) => at >= first && (span.to - span.from) * layout.cell >= room) : -1;
    let named = !letter;
    for (let at = first; at <= last && spans[at].from < shown; at++) {
      const { from, to, state } = spans[at];
      const ends = at === last && to <= shown; // the run is over: some air before the next owner
      const x = crisp(from);
      const width = Math.max(crisp(Math.min(to, shown)) - x - (ends && layout.cell >= 2 ? 1 : 0), 0.5);
      paintSpan(c, look.states[state], x, y, width, height, [at === first ? round : 0, ends ? round : 0], look);
      if (at !== home || width < room - 1) continue;
      paintLabel(c, letter, look.bold, look.states[state], x + 4, y + height / 2 + 0.5, look);
      named = true;
    }
    if (!named && spans[last].to >= shown) paintNewcomer(c, letter, room, shown, y, height, layout, look);
    first = last + 1;
  }
}

// Who has just come is named beside the playhead until the letter fits inside.
function paintNewcomer(c, letter, room, shown, y, height, layout, look) {
  const x = layout.left + shown * layout.cell + 3;
  if (x + room > layout.right) return;
  c.fillStyle = look.background;
  c.fillRect(x, y, room, height);
  c.textAlign = "left";
  c.font = look.bold;
  c.fillStyle = look.text;
  c.fillText(letter, x + 3, y + height / 2 + 0.5);
}

function paintStepLines(c, place, shown, layout, look) {
  c.fillStyle = look.background;
  c.globalAlpha = 0.35;
  for (let column = 1; column < shown; column++) {
    c.fillRect(Math.round(layout.left + column * layout.cell) - 0.5, place.top, 1, place.bottom - place.top);
  }
  c.globalAlpha = 1;
}

function paintEnd(c, frames, grid, place, layout, look) {
  const x = layout.left + grid.numSteps * layout.cell;
  c.fillStyle = look.muted;
  c.fillRect(x, place.top, 1, place.bottom - place.top);
  c.textAlign = "left";
  c.font = look.font;
  const text = frames.words.ended;
  if (layout.right - x > look.widthOf(text) + 12) c.fillText(text, x + 8, (place.top + place.bottom) / 2);
}

function paintPlayhead(c, place, head, layout, look) {
  c.fillStyle = look.accent;
  const x = layout.left + head * layout.cell;
  c.fillRect(Math.min(x - 1, layout.right - 1), place.top - 3, 2, place.bottom - place.top + 5);
}

// Who waits, and who is on the way between the queue and a slot.
function paintComers(c, frames, index, { step, before, head, at }, layout, look) {
  const [grid, place] = [frames.grids[index], layout.grids[index]];
  const height = Math.round(layout.size * 1.45);
  const widthOf = (who) => Math.max(look.widthOf(frames.requests[who] ?? "") + 8, height);
  const moved = (who, there) => at(`${index} ${who}`, there);
  paintWaiting(c, frames, grid, place, step, { widthOf, moved, height }, layout, look);
  const waited = before < grid.numSteps ? grid.waiting[before] : [];
  grid.rows.forEach((spans, row) => {
    const { owner } = step < grid.numSteps ? spanAt(spans, step) : { owner: -1 };
    if (owner < 0) return;
    const there = { x: layout.left + head * layout.cell, y: place.top + (row + 0.5) * layout.rowHeight };
    const here = moved(owner, there);
    const isThere = Math.abs(here.y - there.y) < 1;
    if (!isThere && waited.includes(owner)) paintChip(c, frames.requests[owner], here.x, here.y, widthOf(owner), height, look);
  });
}

function paintWaiting(c, frames, grid, place, step, { widthOf, moved, height }, layout, look) {
  const waiting = step < grid.numSteps ? grid.waiting[step] : [];
  const counter = grid.counters[Math.min(step, grid.numSteps - 1)] ?? "";
  const right = layout.right - (layout.dense ? look.widthOf(counter) + 12 : 0);
  let x = layout.dense ? look.widthOfBold(grid.title) + 20 : layout.left;
  paintText(c, look, `${frames.words.waiting} ${waiting.length}`, x, place.waiting);
  x += look.widthOf(`${frames.words.waiting} 00`) + 8;
  for (let index = 0; index < waiting.length; index++) {
    const who = waiting[index];
    const width = widthOf(who);
    const rest = `+${waiting.length - index}`;
    const needed = index + 1 < waiting.length ? width + look.widthOf(rest) + 6 : width;
    if (x + needed > right) return paintText(c, look, rest, x + 2, place.waiting);
    const here = moved(who, { x, y: place.waiting });
    paintChip(c, frames.requests[who] ?? "", here.x, here.y, width, height, look);
    x += width + 4;
  }
}

function paintText(c, look, text, x, y) {
  c.textAlign = "left";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(text, x, y);
}

// On a ground of its own: on its way it crosses the rows.
function paintChip(c, letter, x, y, width, height, look) {
  c.fillStyle = look.background;
  c.fillRect(x, y - height / 2, width, height);
  c.strokeStyle = look.queue;
  c.lineWidth = 1.5;
  c.beginPath();
  c.roundRect(x + 0.75, y - height / 2 + 0.25, width - 1.5, height - 1.5, 3);
  c.stroke();
  c.textAlign = "center";
  c.font = look.font;
  c.fillStyle = look.text;
  c.fillText(letter, x + width / 2, y);
}

function paintAxis(c, frames, step, layout, look) {
  const { left, right, cell, axis, axisHeight } = layout;
  const y = axis + axisHeight / 2 + 3;
  const middle = (at) => left + (at + 0.5) * cell;
  c.fillStyle = look.faint;
  c.fillRect(left, axis, right - left, 1);
  c.textAlign = "right";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(frames.words.axis, left - 8, y);
  c.textAlign = "center";
  const now = String(frames.numbers[step] + 1);
  const nowWidth = look.widthOfBold(now);
  const inside = (x, width) => Math.min(Math.max(x, left + width / 2), right - width / 2);
  const nowX = inside(middle(step), nowWidth);
  for (const at of tickSteps(frames.numbers, cell, look.widthOf(String(frames.totalSteps)))) {
    const text = String(frames.numbers[at] + 1);
    const width = look.widthOf(text);
    const x = inside(middle(at), width);
    c.fillRect(Math.round(middle(at)), axis, 1, 4);
    if (Math.abs(x - nowX) > (width + nowWidth) / 2 + 6) c.fillText(text, x, y);
  }
  c.font = look.bold;
  c.fillStyle = look.accent;
  c.fillText(now, nowX, y);
}
