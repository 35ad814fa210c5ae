// Weights of one channel as bars about zero, and the levels of a scale they are rounded to.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { lastUpTo } from "../clock.js";
import { expandChanges } from "../decode.js";
import { paintSpan } from "../patterns.js";
import { fill } from "../words.js";

const [UNROUNDED, ROUNDED, LOST] = [0, 1, 2]; // the states, in the order they are sent in
const [, SCALE, ROUND] = [0, 1, 2]; // the phases
const ROWS = 15; // of text that the picture is high
const TALLEST = 20; // of the text size, however much room there is
const CLOSE = 3; // px; levels closer than this become one band
const BAR = 0.72; // of a weight's share of the width
const LEAST = 2; // px of a bar that is zero

// --- data ----------------------------------------------------------------------------------------------------------

export function decode({ picture, texts, times }, { numSteps, numbers }) {
  const end = Math.max(numbers.at(-1), 1);
  const said = expandChanges(times, numSteps);
  return {
    before: picture.before,
    after: picture.after,
    top: picture.top,
    spans: picture.spans.map(([first, stop, levels], at) => (
      { first, stop, levels, scale: texts.scales[at], error: texts.errors[at] }
    )),
    moments: picture.moments,
    positions: numbers,
    end,
    axis: { end, gap: 1 },
    timeText: (number) => said[lastUpTo(numbers, number)],
  };
}

export function numRows() {
  return ROWS;
}

export function statesThatOccur() {
  return [UNROUNDED, ROUNDED, LOST];
}

// Whether the weights of a span lie on their levels at a step.
export function isRounded({ moments }, step, span) {
  const [here, phase] = moments[step];
  return span < here || (span === here && phase === ROUND);
}

const spanOf = ({ spans }, weight) => spans.findIndex(({ stop }) => weight < stop);

// --- places --------------------------------------------------------------------------------------------------------

export function layout(frames, { width, room, size, widthOf }) {
  const left = Math.ceil(widthOf(number(-frames.top))) + 8;
  const head = Math.round(size * 2); // for the words about a scale
  const height = Math.round(Math.min(room, size * TALLEST));
  const body = height - head - 4;
  const each = (width - left) / frames.before.length;
  return { width, height, size, left, head, body, each, middle: head + body / 2, unit: body / 2 / frames.top };
}

export function spotAt(place, frames, { step }, x, y) {
  const weight = Math.floor((x - place.left) / place.each);
  if (weight < 0 || weight >= frames.before.length || y < place.head) return null;
  const name = fill(frames.words.weight, { n: weight + 1 });
  const value = number(frames.before[weight]);
  const rounded = isRounded(frames, step, spanOf(frames, weight)) ? ` → ${number(frames.after[weight])}` : "";
  return { text: `${name}\n${value}${rounded}`, x: place.left + (weight + 0.5) * place.each, y: place.head, height: place.body };
}

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns({ words }) {
  return [words.column_span, words.column_scale, words.column_error];
}

export function cells(frames, step) {
  const [at, phase] = frames.moments[step];
  const { first, stop, scale, error } = frames.spans[at];
  return [`${first + 1}–${stop}`, phase >= SCALE ? scale : "–", phase === ROUND ? error : "–"];
}

function number(value) {
  return `${Number(value.toPrecision(3))}`.replace("-", "−");
}

// --- the picture ---------------------------------------------------------------------------------------------------

export function ghostArea({ left, head, width, body }) {
  return { x: left, y: head, width: width - left, height: body, isUnder: true };
}

export function paint(c, frames, { step }, place, look) {
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  const [at, phase] = frames.moments[step];
  if (phase >= SCALE) paintLevels(c, frames, frames.spans[at], place, look);
  paintAxis(c, frames, place, look);
  frames.before.forEach((_, weight) => paintWeight(c, frames, step, weight, place, look));
  paintSeams(c, frames, place, look);
}

function paintAxis(c, { top }, { left, width, head, body, middle }, look) {
  c.textAlign = "right";
  c.font = look.font;
  c.fillStyle = look.muted;
  for (const [value, y] of [[top, head + look.size / 2], [0, middle], [-top, head + body - look.size / 2]]) {
    c.fillText(number(value), left - 6, y);
  }
  c.fillStyle = look.muted;
  c.fillRect(left, middle, width - left, 1);
}

// Where weights stop sharing a scale.
function paintSeams(c, { spans }, { left, each, head, body }, look) {
  c.fillStyle = look.muted;
  for (const { stop } of spans.slice(0, -1)) c.fillRect(left + stop * each - 0.5, head, 1, body);
}

// The levels of the span in question; where they lie close, a band.
function paintLevels(c, { words }, { first, stop, levels, scale }, place, look) {
  const x = place.left + first * place.each;
  const width = (stop - first) * place.each;
  const heights = levels.map((level) => place.middle - level * place.unit);
  heights.forEach((y, at) => {
    const gap = at ? heights[at - 1] - y : Infinity;
    c.fillStyle = look.faint;
    if (gap < CLOSE) c.fillRect(x, y, width, gap);
    else c.fillRect(x, y, width, 1);
  });
  c.fillStyle = look.accent;
  c.fillRect(x, place.head - 4, width, 3);
  const said = fill(words.scale, { n: scale });
  c.textAlign = "left";
  c.font = look.bold;
  c.fillText(said, Math.min(x, place.width - look.widthOfBold(said)), place.head / 2 - 2);
}

// Before: an outline.  After: what is stored, and hatched what lies between that and the weight it was.
function paintWeight(c, frames, step, weight, place, look) {
  const x = place.left + (weight + (1 - BAR) / 2) * place.each;
  const width = place.each * BAR;
  const [was, is] = [frames.before[weight], frames.after[weight]].map((value) => inside(value, frames.top));
  if (isRounded(frames, step, spanOf(frames, weight))) {
    const [near, far] = Math.abs(was) < Math.abs(is) ? [was, is] : [is, was];
    const kept = was * is > 0 ? near : 0;
    paintBar(c, look.states[LOST], kept, far, x, width, place, look);
    paintBar(c, look.states[ROUNDED], 0, kept, x, width, place, look);
    c.fillStyle = look.text; // the level it has gone to
    c.fillRect(x - 1, place.middle - is * place.unit - LEAST / 2, width + 2, LEAST);
  } else paintOutline(c, look.states[UNROUNDED], was, x, width, place);
  if (Math.abs(frames.before[weight]) > frames.top) paintCut(c, frames.before[weight], x, width, place, look);
}

const inside = (value, top) => Math.max(-top, Math.min(value, top));

function paintBar(c, state, from, to, x, width, { middle, unit }, look) {
  const [high, low] = [Math.max(from, to), Math.min(from, to)];
  if (high > low) paintSpan(c, state, x, middle - high * unit, width, (high - low) * unit, [0, 0], look);
}

function paintOutline(c, state, value, x, width, { middle, unit }) {
  c.strokeStyle = state.colour;
  c.lineWidth = 1.5;
  const size = Math.abs(value) * unit;
  c.strokeRect(x, value > 0 ? middle - size : middle, width, size);
}

// A weight beyond the picture says how large it is.
function paintCut(c, value, x, width, { head, body, left, size, ...place }, look) {
  const y = value > 0 ? head + size : head + body - size;
  c.textAlign = x > place.width / 2 ? "right" : "left";
  c.font = look.bold;
  c.fillStyle = look.text;
  c.fillText(`${value > 0 ? "↑" : "↓"} ${number(value)}`, x > place.width / 2 ? x - 4 : x + width + 4, y);
}
