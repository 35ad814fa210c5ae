// Boxes on shelves: blocks in reading order, each with a head (a hash, a number) and what lies in it.  On a chained shelf
// an arrow leads from each box to the next.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { cut } from "../cells.js";
import { lastUpTo } from "../clock.js";
import { expandChanges } from "../decode.js";
import { paintLabel, paintSpan } from "../patterns.js";

const AIR = 6; // px inside a box, left and right
const BETWEEN = 12; // px between two boxes, room for an arrow
const LINE = 1.4; // of the text size
const MOST_LINES = 3; // of what lies in a box
const WIDEST = 1.5; // times the width a box needs
const MOST_AIR = 24; // px that a row may be higher than it needs to be
const PIECE_GAP = 2; // px between two tokens

// --- data ----------------------------------------------------------------------------------------------------------

export function decode({ picture, texts, times }, { numSteps, numbers }) {
  const shelves = picture.shelves.map(({ kinds, rings, chained }, index) => {
    const { title, counters, heads, bodies } = texts.shelves[index];
    const states = expandChanges(kinds, numSteps);
    const ringed = expandChanges(rings, numSteps);
    const [headsAt, bodiesAt] = [expandChanges(heads, numSteps), expandChanges(bodies, numSteps)];
    const steps = states.map((row, step) =>
      row.map((state, at) => {
        const [head, body] = [texts.words[headsAt[step][at]], texts.words[bodiesAt[step][at]]];
        return { state, ring: ringed[step].includes(at), head, body: body ? body.split("\n") : [] };
      }),
    );
    return { title, counters: expandChanges(counters, numSteps), chained, steps };
  });
  const end = Math.max(numbers.at(-1), 1);
  const said = expandChanges(times, numSteps);
  return { shelves, positions: numbers, end, axis: { end, gap: 1 }, timeText: (number) => said[lastUpTo(numbers, number)] };
}

export function numRows(frames) {
  return 3 * frames.shelves.length;
}

export function statesThatOccur(frames) {
  const seen = new Set(frames.shelves.flatMap(({ steps }) => steps.flat().map((box) => box.state)));
  return [...seen].sort((a, b) => a - b);
}

// --- places --------------------------------------------------------------------------------------------------------

// A box takes as many lines of text as make the whole lowest; every shelf is as high as its fullest step.  If that is still
// too high, each box is one line: what fits of it beside its head.
export function layout(frames, { width, room, size, widthOf }) {
  const ways = [];
  for (let lines = 1; lines <= MOST_LINES; lines++) {
    const shelves = frames.shelves.map((shelf) => measureShelf(shelf, lines, { width, size, widthOf }));
    ways.push(stacked(shelves, Math.round(size * 1.9)));
  }
  let lowest = ways.reduce((best, way) => (way.height < best.height ? way : best));
  if (lowest.height > room) lowest = flat(frames, { width, room, size, widthOf });
  else stretch(lowest, room);
  const { shelves, title } = lowest;
  let y = 0;
  for (const shelf of shelves) {
    shelf.title = y + title / 2;
    shelf.top = y + title;
    y += title + shelf.height;
  }
  return { width, size, widthOf, height: y, shelves };
}

function stacked(shelves, title) {
  return { shelves, title, height: shelves.reduce((sum, shelf) => sum + title + shelf.height, 0) };
}

// As many boxes in a row as it takes; the shelf with the most rows gives way first.
function flat({ shelves }, { width, room, size, widthOf }) {
  const title = Math.round(size * 1.45);
  const rowHeight = Math.round(size * LINE) + 5;
  const made = shelves.map(({ steps }) => {
    const most = Math.max(1, ...steps.map((row) => row.length));
    const widest = Math.max(...steps.flat().map((box) => widthOf(inOneLine(box))), 1) + 2 * AIR + 6;
    return { most, perRow: Math.min(most, Math.max(1, Math.floor((width + BETWEEN) / (widest + BETWEEN)))) };
  });
  const rowsOf = ({ most, perRow }) => Math.ceil(most / perRow);
  const height = () => made.reduce((sum, shelf) => sum + title + rowsOf(shelf) * rowHeight, 0);
  while (height() > room) {
    const highest = made.reduce((best, shelf) => (rowsOf(shelf) > rowsOf(best) ? shelf : best));
    if (rowsOf(highest) === 1) break;
    highest.perRow++;
  }
  const placed = made.map((shelf) => {
    const boxWidth = Math.floor((width + BETWEEN) / shelf.perRow) - BETWEEN;
    const rows = rowsOf(shelf);
    return { perRow: shelf.perRow, boxWidth, boxHeight: rowHeight - 5, rowHeight, rows, isFlat: true, height: rows * rowHeight };
  });
  return stacked(placed, title);
}

const inOneLine = ({ head, body }) => [head, body.join(body.length > 2 ? "" : " ").trim()].filter(Boolean).join(" ");

// Where there is room to spare, boxes that hold something are higher.
function stretch(fitting, room) {
  const shelves = fitting.shelves.filter(({ hasBody }) => hasBody);
  const numRows = shelves.reduce((sum, { rows }) => sum + rows, 0);
  const air = Math.max(Math.min(Math.floor((room - fitting.height) / numRows), MOST_AIR), 0);
  for (const shelf of shelves) {
    shelf.boxHeight += air;
    shelf.rowHeight += air;
    shelf.height += air * shelf.rows;
    fitting.height += air * shelf.rows;
  }
}

function measureShelf({ steps }, lines, { width, size, widthOf }) {
  const boxes = steps.flat();
  const heads = Math.max(0, ...boxes.map(({ head }) => widthOf(head)));
  const pieces = Math.max(0, ...boxes.flatMap(({ body }) => body.map(widthOf)));
  const bodies = Math.max(0, ...boxes.map(({ body }) => bodyWidth(body, widthOf)));
  const slack = lines > 1 ? pieces / 2 : 0; // a line seldom ends where the box does
  const needed = 2 * AIR + Math.ceil(Math.max(heads + 8, pieces, bodies / lines + slack));
  const perRow = Math.max(Math.floor((width + BETWEEN) / (needed + BETWEEN)), 1);
  const most = Math.max(1, ...steps.map((row) => row.length));
  const inRow = Math.min(perRow, most);
  const boxWidth = Math.min(Math.floor((width + BETWEEN) / inRow) - BETWEEN, Math.round(needed * WIDEST));
  const hasBody = bodies > 0;
  const used = hasBody ? Math.max(...boxes.map(({ body }) => wrap(body, boxWidth - 2 * AIR, widthOf).length)) : 0;
  const boxHeight = Math.round(size * LINE * (1 + used) + 6);
  const rowHeight = boxHeight + 8;
  const rows = Math.ceil(most / inRow);
  return { perRow: inRow, boxWidth, boxHeight, rowHeight, rows, hasBody, height: rows * rowHeight };
}

const bodyWidth = (body, widthOf) => body.reduce((sum, piece) => sum + widthOf(piece) + PIECE_GAP, 0);

// The tokens of a box in lines: [[{ text, x, width }]].
export function wrap(body, width, widthOf) {
  const lines = [];
  let x = Infinity;
  for (const text of body) {
    const needed = widthOf(text);
    if (x + needed > width) {
      lines.push([]);
      x = 0;
    }
    lines.at(-1).push({ text, x, width: needed });
    x += needed + PIECE_GAP;
  }
  return lines;
}

function boxOf({ top, perRow, boxWidth, boxHeight, rowHeight }, at) {
  const [row, column] = [Math.floor(at / perRow), at % perRow];
  return { x: column * (boxWidth + BETWEEN), y: top + row * rowHeight, width: boxWidth, height: boxHeight };
}

export function spotAt(place, frames, { step }, x, y) {
  for (const [index, shelf] of frames.shelves.entries()) {
    const at = shelf.steps[step].findIndex((_, number) => isInside(boxOf(place.shelves[index], number), x, y));
    if (at < 0) continue;
    const box = boxOf(place.shelves[index], at);
    return { text: inWords(frames, shelf.steps[step][at]), x: box.x + box.width / 2, y: box.y, height: box.height };
  }
  return null;
}

const isInside = (box, x, y) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;

function inWords({ states }, { state, head, body }) {
  return [head, body.join(" "), states[state].label].filter(Boolean).join(" · ");
}

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns(frames) {
  return frames.shelves.map(({ title }) => title);
}

export function cells(frames, step) {
  return frames.shelves.map(({ steps }) => steps[step].map((box) => inWords(frames, box)).join("\n") || "–");
}

// --- the picture ---------------------------------------------------------------------------------------------------

// The boxes without what is written on them: where a state will have changed, its colour shows through.
export function ghostArea({ shelves, width, height }) {
  return { x: 0, y: shelves[0].top, width, height: height - shelves[0].top };
}

export function paint(c, frames, { step }, place, look) {
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  frames.shelves.forEach((shelf, index) => paintShelf(c, shelf, place.shelves[index], step, place, look));
}

function paintShelf(c, { title, counters, chained, steps }, shelf, step, place, look) {
  if (!look.wordless) paintTitle(c, title, counters[step], shelf, place, look);
  steps[step].forEach((box, at) => {
    const where = boxOf(shelf, at);
    if (chained && at > 0) paintArrow(c, boxOf(shelf, at - 1), where, look);
    if (shelf.isFlat) paintFlat(c, box, where, place, look);
    else paintBox(c, box, where, place, look);
  });
}

function paintTitle(c, title, counter, shelf, place, look) {
  c.textAlign = "left";
  c.fillStyle = look.text;
  c.font = look.bold;
  c.fillText(title, 0, shelf.title);
  c.textAlign = "right";
  c.font = look.font;
  c.fillText(counter, place.width, shelf.title);
}

function paintBox(c, { state, ring, head, body }, { x, y, width, height }, { size, widthOf }, look) {
  const meaning = look.states[state];
  const band = Math.round(size * LINE + 2);
  paintSpan(c, meaning, x, y, width, band, [4, 4], look);
  if (look.wordless) return;
  paintLabel(c, head, look.bold, meaning, x + AIR, y + band / 2 + 0.5, look);
  if (height > band + 4) {
    c.fillStyle = look.track;
    c.fillRect(x, y + band, width, height - band);
  }
  c.textAlign = "left";
  c.font = look.font;
  const lines = wrap(body, width - 2 * AIR, widthOf);
  const top = band + (height - band - lines.length * size * LINE) / 2;
  lines.forEach((pieces, line) => {
    const middle = y + top + size * LINE * (line + 0.5);
    for (const piece of pieces) paintPiece(c, piece, body.length > 2, x + AIR, middle, size, look);
  });
  paintRing(c, ring, { x, y, width, height }, look);
}

function paintFlat(c, box, where, { widthOf }, look) {
  const { x, y, width, height } = where;
  const meaning = look.states[box.state];
  paintSpan(c, meaning, x, y, width, height, [4, 4], look);
  if (look.wordless) return;
  paintLabel(c, cut(inOneLine(box), width - 2 * AIR, widthOf), look.font, meaning, x + AIR, y + height / 2 + 0.5, look);
  paintRing(c, box.ring, where, look);
}

function paintRing(c, ring, { x, y, width, height }, look) {
  c.strokeStyle = ring ? look.text : look.faint;
  c.lineWidth = ring ? 3 : 1;
  c.beginPath();
  c.roundRect(x + 0.5, y + 0.5, width - 1, height - 1, 4);
  c.stroke();
}

// A token among others stands on a line of its own, so that one sees where it ends.
function paintPiece(c, { text, x, width }, isOneOfMany, left, middle, size, look) {
  c.fillStyle = look.text;
  c.fillText(text, left + x, middle);
  if (!isOneOfMany) return;
  c.fillStyle = look.muted;
  c.fillRect(left + x, middle + size * 0.58, Math.max(width, 2), 1);
}

function paintArrow(c, before, { x, y, height }, look) {
  if (before.y !== y) return; // the next line needs none
  const start = before.x + before.width;
  const middle = y + Math.min(height / 2, 14);
  c.strokeStyle = look.muted;
  c.lineWidth = 1.5;
  c.beginPath();
  c.moveTo(start + 1, middle);
  c.lineTo(x - 2, middle);
  c.moveTo(x - 6, middle - 4);
  c.lineTo(x - 2, middle);
  c.lineTo(x - 6, middle + 4);
  c.stroke();
}
