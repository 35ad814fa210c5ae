// One pass through a model at a time: rows times weights, and the KV that is read beside them.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { lastUpTo } from "../clock.js";
import { expandChanges, numbersFromBase64 } from "../decode.js";
import { paintLabel, paintSpan } from "../patterns.js";
import { fill } from "../words.js";

const [PREFILL, DECODE, STORED, WEIGHTS] = [0, 1, 2, 3]; // the states, in the order they are sent in
const LARGEST_CELL = 1.25; // height of a row, of the text size
const SHARES = { rows: 0.24, weights: 0.3, kv: 0.36 }; // of the width; the rest is air between them
const COLUMN = 0.8; // of a request's share of the KV

// --- data ----------------------------------------------------------------------------------------------------------

export function decode({ picture, texts, times }, { numSteps, numbers }) {
  const { requests } = picture;
  const table = (text, Kind = Int16Array) => {
    const all = numbersFromBase64(text, Kind);
    return requests.map((_, request) => all.subarray(request * numSteps, (request + 1) * numSteps));
  };
  const end = Math.max(numbers.at(-1), 1);
  const said = expandChanges(times, numSteps);
  const timeText = (number) => said[lastUpTo(numbers, number)];
  return {
    requests,
    rows: table(picture.rows),
    context: table(picture.context),
    prefill: table(picture.prefill, Uint8Array),
    weights: texts.weights,
    positions: numbers,
    end,
    axis: { end, gap: 1 },
    timeText,
  };
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const rowsIn = ({ rows }, step) => sum(rows.map((own) => own[step]));

// What lay in KV before a step, of those who take part in it.
const readBy = ({ rows, context }, step) => sum(rows.map((own, who) => (own[step] ? context[who][step] - own[step] : 0)));

function mostRows(frames) {
  const steps = Array.from(frames.rows[0], (_, step) => rowsIn(frames, step));
  return Math.max(...steps, ...frames.context.map((own) => Math.max(...own)));
}

export function numRows(frames) {
  return mostRows(frames) + 3;
}

export function statesThatOccur() {
  return [PREFILL, DECODE, STORED, WEIGHTS];
}

// --- places --------------------------------------------------------------------------------------------------------

export function layout(frames, { width, room, size }) {
  const top = Math.round(size * 2.2);
  const bottom = Math.round(size * 1.8); // for the letters below the KV
  const cell = Math.min((room - top - bottom) / mostRows(frames), size * LARGEST_CELL);
  const body = cell * mostRows(frames);
  const air = (width * (1 - SHARES.rows - SHARES.weights - SHARES.kv)) / 2;
  const rows = { x: 0, width: width * SHARES.rows };
  const weights = { x: rows.width + air, width: width * SHARES.weights };
  const kv = { x: weights.x + weights.width + air, width: width * SHARES.kv };
  const own = kv.width / frames.requests.length; // of each request
  return { width, height: Math.round(top + body + bottom), size, top, body, cell, air, rows, weights, kv, own };
}

export function spotAt(place, frames, { step }, x, y) {
  if (y < place.top || y > place.top + place.body) return null;
  const box = { y: place.top, height: place.body };
  const [rows, weights, kv] = columnsOf(frames, step);
  if (x < place.rows.width) return { text: rows, x: place.rows.width / 2, ...box };
  const { weights: middle } = place;
  if (x >= middle.x && x < middle.x + middle.width) {
    return { text: `${weights}\n${frames.weights}`, x: middle.x + middle.width / 2, ...box };
  }
  const who = Math.floor((x - place.kv.x) / place.own);
  if (who < 0 || who >= frames.requests.length) return null;
  return { text: `${kv}\n${kvOf(frames, step, who)}`, x: place.kv.x + (who + 0.5) * place.own, ...box };
}

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns({ words }) {
  return [words.column_rows, words.column_weights, words.column_kv];
}

export function cells(frames, step) {
  const kv = frames.requests.map((_, who) => kvOf(frames, step, who));
  return [`${rowsIn(frames, step)}`, `${frames.numbers[step] + 1}×`, kv.join("; ")];
}

function kvOf({ requests, rows, context }, step, who) {
  const added = rows[who][step];
  return `${requests[who]} ${added ? context[who][step] - added : 0} / ${added}`;
}

// The titles of the three columns.
function columnsOf(frames, step) {
  const { words } = frames;
  const n = rowsIn(frames, step);
  return [
    fill(words.rows_in, { n }),
    fill(words.weights_read, { n: frames.numbers[step] + 1 }),
    fill(words.kv_rows, { read: readBy(frames, step), new: n }),
  ];
}

// --- the picture ---------------------------------------------------------------------------------------------------

// The KV that will have been stored, below what the first pass writes.
export function ghostArea({ kv, top, cell, body }, { context }) {
  const written = cell * Math.max(...context.map((own) => own[0]));
  return { x: kv.x, y: top + written, width: kv.width, height: body - written };
}

export function paint(c, frames, { step }, place, look) {
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  const titles = columnsOf(frames, step);
  [place.rows, place.weights, place.kv].forEach((column, at) => paintTitle(c, titles[at], column, place, look));
  paintRows(c, frames, step, place, look);
  paintTimes(c, place, look);
  paintWeights(c, frames, step, place, look);
  frames.requests.forEach((_, who) => paintKv(c, frames, step, who, place, look));
}

function paintTitle(c, text, { x, width }, place, look) {
  c.textAlign = "left";
  c.font = look.bold;
  c.fillStyle = look.text;
  c.fillText(text, x, place.top / 2 - 2, width + place.air / 2);
}

function paintRows(c, frames, step, place, look) {
  let at = 0;
  frames.rows.forEach((own, who) => {
    const state = look.states[frames.prefill[who][step] ? PREFILL : DECODE];
    for (let row = 0; row < own[step]; row++, at++) {
      const y = place.top + at * place.cell;
      paintCell(c, state, place.rows.x, y, place.rows.width, place, look);
      const isNamed = row === 0 && frames.requests.length > 1 && place.cell > place.size * 0.8;
      if (isNamed) paintLabel(c, frames.requests[who], look.bold, state, place.rows.x + 5, y + place.cell / 2, look);
    }
  });
}

function paintCell(c, state, x, y, width, place, look) {
  paintSpan(c, state, x, y, width, Math.max(place.cell - 1.5, 1), [2, 2], look);
}

function paintTimes(c, { rows, weights, top, body, air }, look) {
  const [x, y, arm] = [(rows.x + rows.width + weights.x) / 2, top + body / 2, look.size / 2];
  c.strokeStyle = look.text;
  c.lineWidth = 2;
  c.beginPath();
  for (const slant of [1, -1]) {
    c.moveTo(x - arm, y - slant * arm);
    c.lineTo(x + arm, y + slant * arm);
  }
  c.stroke();
  c.fillStyle = look.muted;
  c.fillRect(weights.x + weights.width + air / 2, top, 1, body); // attention is a matter of its own
}

// With a tally of how often they have been read.
function paintWeights(c, frames, step, { weights, top, body, size }, look) {
  const state = look.states[WEIGHTS];
  paintSpan(c, state, weights.x, top, weights.width, body, [4, 4], look);
  const text = frames.weights;
  paintLabel(c, text, look.bold, state, weights.x + (weights.width - look.widthOfBold(text)) / 2, top + body / 2, look);
  const every = Math.min(size * 0.75, (weights.width - 2 * size) / frames.totalSteps);
  c.fillStyle = state.ink;
  for (let reading = 0; reading <= frames.numbers[step]; reading++) {
    c.fillRect(weights.x + size + reading * every, top + body - 2 * size, every / 3, size * 1.2);
  }
}

// One request's KV: what is read, what this step adds, and faintly the rows still to come.
function paintKv(c, frames, step, who, place, look) {
  const x = place.kv.x + who * place.own;
  const width = place.own * COLUMN;
  const [added, tokens] = [frames.rows[who][step], frames.context[who][step]];
  const most = Math.max(...frames.context[who]);
  const fresh = look.states[frames.prefill[who][step] ? PREFILL : DECODE];
  for (let row = 0; row < most; row++) {
    const y = place.top + row * place.cell;
    if (row < tokens - added) paintCell(c, look.states[STORED], x, y, width, place, look);
    else if (row < tokens) paintCell(c, fresh, x, y, width, place, look);
    else paintEmpty(c, x, y, width, place, look);
  }
  c.textAlign = "center";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(`${frames.requests[who]} ${tokens}`, x + width / 2, place.top + place.body + place.size);
}

function paintEmpty(c, x, y, width, { cell }, look) {
  c.fillStyle = look.track;
  c.fillRect(x, y, width, Math.max(cell - 1.5, 1));
}
