// The timeline: lanes of spans on one axis of seconds.  What has begun is drawn as far as the cursor has come; what is to
// come stands there faintly, as far as it may be seen, and from there on it is a thin line.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { ROUNDING } from "../clock.js";
import { numbersFromBase64 } from "../decode.js";
import { GHOST, stay } from "../motion.js";
import { paintLabel, paintSpan } from "../patterns.js";
import { decimalsFor, timeTicks, unitOf } from "../time_axis.js";
import { fill } from "../words.js";
import { closest } from "../zoom.js";

const QUANTA = 2 ** 32 - 1; // times come as whole parts of the end
const LEAST_ROW = 0.45; // of the text size
const LARGEST_ROW = 3.6;
const LABEL_ROOM = 8; // px around a text in a span

const EDGE = 11; // px right of the axis: half the thumb of the scrubber, which stands above the cursor

// --- data ----------------------------------------------------------------------------------------------------------

export function decode({ picture, texts }) {
  const { end } = picture;
  const seconds = (text) => Array.from(numbersFromBase64(text, Uint32Array), (part) => (part / QUANTA) * end);
  const positions = seconds(picture.at);
  const [starts, ends] = [seconds(picture.starts), seconds(picture.ends)];
  const kinds = numbersFromBase64(picture.kinds, Uint8Array);
  const indices = (text) => numbersFromBase64(text, Uint16Array);
  const [whose, said] = [indices(picture.whose), indices(texts.said)];
  const rows = texts.lanes.map(() => []);
  indices(picture.lanes).forEach((lane, i) => {
    const span = { lane, start: starts[i], end: ends[i], state: kinds[i] };
    rows[lane].push({ ...span, owner: picture.owners[whose[i]], label: texts.labels[said[i]] });
  });
  const axis = { end, gap: closest(positions, end) };
  const timeText = (time, digits) => {
    const unit = unitOf(axis.end);
    digits ??= Math.max(decimalsFor(axis.gap, unit), decimalsFor(axis.end / 100, unit));
    return `${(time / unit.seconds).toFixed(digits)} ${unit.name}`;
  };
  const { title, lanes, marks = [] } = texts;
  return { title, lanes, marks, rows, positions, end, axis, timeText, zooms: true, foretells: true, showsFuture: picture.future };
}

export function numRows(frames) {
  return frames.lanes.length + 2; // with title and axis
}

export function statesThatOccur(frames) {
  return frames.states.map((_, index) => index);
}

// --- places --------------------------------------------------------------------------------------------------------

// `linked`: the frames of all players on the same clock; their axes stand exactly above each other.
export function layout(frames, { width, room, size, widthOf, linked = [frames] }) {
  const axisWord = axisTitle(frames);
  const names = linked.flatMap((each) => each.lanes);
  const gutter = Math.max(widthOf(axisWord), ...names.map(widthOf)) + 10;
  const left = Math.ceil(Math.min(Math.max(gutter, 28), width * 0.27));
  const right = width - EDGE;
  const rowsOf = (titleHeight, axisHeight) => {
    const top = frames.title ? Math.round(size * titleHeight) : 4;
    const axis = Math.round(size * axisHeight);
    return [top, axis, Math.floor((room - top - axis) / frames.lanes.length)];
  };
  const roomy = rowsOf(1.9, 1.8);
  const [top, axisHeight, fits] = roomy[2] >= size ? roomy : rowsOf(1.5, 1.45);
  const rowHeight = Math.min(Math.max(fits, Math.round(size * LEAST_ROW)), Math.round(size * LARGEST_ROW));
  const axis = top + frames.lanes.length * rowHeight + 3;
  const scrub = { from: left, span: right - left };
  return { width, height: axis + axisHeight, left, right, top, rowHeight, axis, axisHeight, size, scrub };
}

function axisTitle(frames) {
  return fill(frames.words.axis_time, { unit: unitOf(frames.axis.end).name });
}

// Linked players may give the same moment with different rounding.
const slack = (frames) => frames.axis.end * ROUNDING;
const hasBegun = (span, frames, { now }) => span.start < now - slack(frames);
const isOver = (span, frames, { now }) => span.end < now - slack(frames); // before now, not just now

const xOf = ({ left, right }, { from, to }, time) => left + ((time - from) / (to - from)) * (right - left);

// The time under the pointer, also outside of the picture.
function timeAt({ left, right }, { view }, x) {
  const share = Math.min(Math.max((x - left) / (right - left), 0), 1);
  return view.from + share * (view.to - view.from);
}

// Up to when the run may be seen, played or not.
const sightOf = ({ showsFuture, axis }, { now, ghost = 0 }) => (showsFuture ? axis.end : Math.max(now, ghost));

// What of a span is in the picture, as [from, to]; what is hidden by the future has no length.
function seen(span, frames, moment) {
  const { view } = moment;
  const until = Math.min(sightOf(frames, moment), view.to);
  return [Math.max(span.start, view.from), Math.min(span.end, until)];
}

// The span under the pointer in words, or the whole name of a lane.
export function spotAt(place, frames, moment, x, y) {
  const lane = Math.floor((y - place.top) / place.rowHeight);
  if (lane < 0 || lane >= frames.lanes.length) return null;
  const box = { y: place.top + lane * place.rowHeight, height: place.rowHeight };
  if (x < place.left) return { text: frames.lanes[lane], x: place.left / 2, ...box };
  const time = timeAt(place, moment, x);
  const near = (3 * (moment.view.to - moment.view.from)) / (place.right - place.left); // 3 px: thin spans can be hit, too
  const hits = frames.rows[lane].filter((span) => {
    const [from, to] = seen(span, frames, moment);
    return to > from && from - near <= time && time <= to + near;
  });
  const distance = (span) => Math.max(span.start - time, time - span.end, 0);
  const [span] = hits.sort((one, other) => distance(one) - distance(other));
  return span ? spotOf(place, frames, moment, span) : null;
}

// For the keyboard: the span of a lane at the cursor, or else the last one before it.
export function spotInLane(place, frames, moment, lane) {
  const begun = frames.rows[lane].filter((span) => hasBegun(span, frames, moment));
  const span = begun.at(-1);
  const box = { x: xOf(place, moment.view, moment.now), y: place.top + lane * place.rowHeight, height: place.rowHeight };
  return span ? spotOf(place, frames, moment, span) : { text: `${frames.lanes[lane]}\n${frames.words.nothing}`, ...box };
}

function spotOf(place, frames, moment, span) {
  const [from, to] = seen(span, frames, moment);
  const middle = Math.min(Math.max((from + to) / 2, moment.view.from), moment.view.to);
  return {
    text: inWords(frames, span, sightOf(frames, moment)),
    x: xOf(place, moment.view, middle),
    y: place.top + span.lane * place.rowHeight,
    height: place.rowHeight,
  };
}

// How long a span still takes is not given away before its end may be seen.
function inWords(frames, span, sight) {
  const { lanes, states, timeText } = frames;
  const what = [lanes[span.lane], span.owner, states[span.state].label, span.label].filter(Boolean);
  const digits = Math.min(Math.max(decimalsFor((span.end - span.start || frames.end) / 100, unitOf(frames.axis.end)), 1), 3);
  const [start, end, length] = [span.start, span.end, span.end - span.start].map((time) => timeText(time, digits));
  const when = span.end <= sight + slack(frames) ? `${start} – ${end} (${length})` : `${start} – …`;
  return `${[...new Set(what)].join(" · ")}\n${when}`;
}

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns(frames) {
  return [frames.title || frames.words.column_spans];
}

// What was going on since the moment before.
export function cells(frames, step) {
  const now = frames.positions[step];
  const before = step > 0 ? frames.positions[step - 1] : -1;
  const spans = frames.rows.flat().filter((span) => span.start < now && span.end > before);
  return [spans.map((span) => inWords(frames, span, frames.showsFuture ? frames.axis.end : now).replaceAll("\n", " · ")).join("\n") || frames.words.nothing];
}

// --- the picture ---------------------------------------------------------------------------------------------------

export function paint(c, frames, { now, at = stay, ...given }, place, look) {
  const moment = { ...given, now: at("now", { now }).now };
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  if (frames.title) paintTitle(c, frames, place, look);
  const ticks = ticksOf(frames, moment, place, look);
  paintGrid(c, ticks, place, look);
  frames.lanes.forEach((name, lane) => {
    paintName(c, name, lane, place, look);
    paintTrack(c, lane, moment, place, look);
  });
  paintGhost(c, frames, moment, place, look);
  paintEnded(c, frames, moment, place, look);
  frames.rows.forEach((spans) => paintCurrent(c, frames, spans, moment, place, look));
  for (const [time, text] of frames.marks) paintMark(c, Math.min(time, frames.axis.end), text, moment, place, look);
  paintAxis(c, frames, ticks, moment, place, look);
}

// What the reader has guessed, on the axis.
function paintMark(c, time, text, { view }, place, look) {
  if (time < view.from || time > view.to) return;
  const x = xOf(place, view, time);
  c.strokeStyle = look.text;
  c.lineWidth = 2;
  c.setLineDash([6, 4]);
  c.beginPath();
  c.moveTo(x, place.top);
  c.lineTo(x, place.axis);
  c.stroke();
  c.setLineDash([]);
  const width = look.widthOfBold(text) + 10;
  const left = Math.min(Math.max(x - width / 2, place.left), place.right - width);
  const height = Math.round(place.size * 1.5);
  c.fillStyle = look.background;
  c.beginPath();
  c.roundRect(left, place.axis - height - 2, width, height, 4);
  c.fill();
  c.stroke();
  c.textAlign = "left";
  c.font = look.bold;
  c.fillStyle = look.text;
  c.fillText(text, left + 5, place.axis - height / 2 - 1.5);
}

function paintTitle(c, frames, place, look) {
  c.textAlign = "left";
  c.fillStyle = look.text;
  c.font = look.bold;
  c.fillText(frames.title, 0, place.top / 2 - 1);
}

function ticksOf(frames, { view }, place, look) {
  const room = look.widthOf(`${(view.to / unitOf(frames.axis.end).seconds).toFixed(0)}.00`) * 2.6;
  const ticks = timeTicks(view, place.right - place.left, room, unitOf(frames.axis.end));
  return ticks.map((tick) => ({ ...tick, x: xOf(place, view, tick.seconds) }));
}

function paintGrid(c, ticks, place, look) {
  c.fillStyle = look.track;
  for (const { x } of ticks) c.fillRect(Math.round(x), place.top, 1, place.axis - place.top);
}

function paintName(c, name, lane, place, look) {
  const every = Math.ceil((place.size + 1) / place.rowHeight); // low rows: only every n-th name fits
  if (lane % every) return;
  c.textAlign = "right";
  c.font = look.font;
  c.fillStyle = look.muted;
  const y = place.top + lane * place.rowHeight + (every === 1 ? (place.rowHeight - 1) / 2 : place.rowHeight / 2);
  c.fillText(cut(name, place.left - 8, look.widthOf), place.left - 8, y);
}

// A text that does not fit ends in an ellipsis.
export function cut(text, room, widthOf) {
  if (widthOf(text) <= room) return text;
  let end = text.length - 1;
  while (end > 1 && widthOf(`${text.slice(0, end)}…`) > room) end--;
  return `${text.slice(0, end).trimEnd()}…`;
}

function paintTrack(c, lane, { now, view }, place, look) {
  const y = place.top + lane * place.rowHeight;
  const cursor = Math.min(Math.max(xOf(place, view, now), place.left), place.right);
  c.fillStyle = look.track;
  c.fillRect(place.left, y, cursor - place.left, heightOf(place));
  c.fillStyle = place.rowHeight < 10 ? look.track : look.faint;
  c.fillRect(cursor, y + Math.floor(place.rowHeight / 2), place.right - cursor, 1);
}

const heightOf = ({ rowHeight }) => rowHeight - (rowHeight >= 10 ? 3 : 1);

// What is over never changes.  It is kept in a picture of its own, to which a step only adds, until the window moves.
function paintEnded(c, frames, moment, place, look) {
  if (!look.newCanvas) return addEnded(c, frames, -Infinity, moment, place, look);
  const { now, view } = moment;
  const kept = place.ended;
  const edge = now - slack(frames);
  const isGood = kept && kept.edge <= edge && kept.from === view.from && kept.to === view.to;
  const [canvas, context] = layer(kept?.canvas, place, look);
  if (!isGood) context.clearRect(0, 0, place.width, place.height);
  addEnded(context, frames, isGood ? kept.edge : -Infinity, moment, place, look);
  place.ended = { canvas, edge, from: view.from, to: view.to };
  c.drawImage(canvas, 0, 0, place.width, place.height);
}

function layer(kept, place, look) {
  const canvas = kept ?? look.newCanvas(place.width * look.ratio, place.height * look.ratio);
  const context = canvas.getContext("2d");
  context.setTransform(look.ratio, 0, 0, look.ratio, 0, 0);
  context.textBaseline = "middle";
  return [canvas, context];
}

// The spans that ended from `since` on, and before now.
function addEnded(c, frames, since, moment, place, look) {
  for (const spans of frames.rows) {
    let painted = -Infinity; // how far this lane is covered, in px: what is narrower than the screen can show is skipped
    for (let i = firstInView(spans, moment.view.from); i < spans.length && spans[i].start < moment.view.to; i++) {
      const span = spans[i];
      if (!hasBegun(span, frames, moment)) break;
      if (span.end < since || !isOver(span, frames, moment)) continue;
      const box = boxOf(span, moment, place, look);
      if (box.x + box.width <= painted + 0.25) continue;
      painted = box.x + box.width;
      paintOne(c, span, box, place, look);
    }
  }
}

// What the cursor has just walked along, with a ring, and what is still to come, where the page shows it.
function paintCurrent(c, frames, spans, moment, place, look) {
  for (let i = firstInView(spans, moment.now - slack(frames)); i < spans.length && spans[i].start < moment.view.to; i++) {
    const span = spans[i];
    if (!hasBegun(span, frames, moment)) break;
    if (isOver(span, frames, moment)) continue;
    const box = boxOf(span, moment, place, look);
    paintOne(c, span, box, place, look);
    paintRing(c, span, box, place, look);
  }
}

// Spans of one lane come by their starts; a long one may begin far before the window.
function firstInView(spans, from) {
  const first = spans.findIndex((span) => span.end >= from);
  return first < 0 ? spans.length : first;
}

function boxOf(span, { now, view }, place, look) {
  const crisp = (time) => Math.round(xOf(place, view, time) * look.ratio) / look.ratio;
  const x = crisp(Math.max(span.start, view.from));
  const end = crisp(Math.min(span.end, now, view.to));
  const air = end - x >= 4 && span.end <= Math.min(now, view.to) ? 1 : 0; // before the next span
  return { x, width: Math.max(end - x - air, 0.5), opens: span.start >= view.from, closes: span.end <= Math.min(now, view.to) };
}

function paintOne(c, span, box, place, look) {
  const y = place.top + span.lane * place.rowHeight;
  const height = heightOf(place);
  const state = look.states[span.state];
  const round = height >= 12 && box.width >= 6 ? 3 : 0;
  paintSpan(c, state, box.x, y, box.width, height, [box.opens ? round : 0, box.closes ? round : 0], look);
  if (height < place.size * 0.85) return;
  const [owner, label] = fitting(span, box.width - LABEL_ROOM, look);
  const middle = y + height / 2 + 0.5;
  if (owner) paintLabel(c, owner, look.bold, state, box.x + 4, middle, look);
  if (label) paintLabel(c, label, look.font, state, box.x + 4 + (owner ? look.widthOfBold(owner) + 5 : 0), middle, look);
}

// Owner and label where both fit, else the owner, else nothing: no half words.
function fitting({ owner, label }, room, look) {
  const ownerWidth = owner ? look.widthOfBold(owner) : 0;
  const labelWidth = label ? look.widthOf(label) : 0;
  if (ownerWidth + labelWidth + (owner && label ? 5 : 0) <= room) return [owner, label];
  return ownerWidth <= room ? [owner, ""] : ["", ""];
}

// What is to come, right of the cursor.  It never changes either: painted once, until the window moves.
function paintGhost(c, frames, moment, place, look) {
  const { now, view } = moment;
  const until = Math.min(sightOf(frames, moment), view.to);
  if (until <= Math.max(now, view.from)) return;
  const [from, to] = [Math.max(xOf(place, view, now), place.left), xOf(place, view, until)];
  c.globalAlpha = GHOST;
  if (!look.newCanvas) addGhost(c, frames, Math.max(now, view.from), until, moment, place, look);
  else {
    const kept = place.ghost;
    if (kept?.from !== view.from || kept.to !== view.to || kept.until !== until) {
      const [canvas, context] = layer(null, place, look);
      addGhost(context, frames, view.from, until, moment, place, look);
      place.ghost = { canvas, until, from: view.from, to: view.to };
    }
    const { canvas } = place.ghost;
    c.drawImage(canvas, from * look.ratio, 0, (to - from) * look.ratio, canvas.height, from, 0, to - from, place.height);
  }
  c.globalAlpha = 1;
}

function addGhost(c, frames, from, until, { view }, place, look) {
  for (const span of frames.rows.flat()) {
    const [start, end] = [Math.max(span.start, from), Math.min(span.end, until)];
    if (end <= start) continue;
    const [x, close] = [start, end].map((time) => xOf(place, view, time));
    const air = close - x >= 4 ? 1 : 0;
    const y = place.top + span.lane * place.rowHeight;
    paintSpan(c, look.states[span.state], x, y, Math.max(close - x - air, 0.5), heightOf(place), [0, 0], look);
  }
}

function paintRing(c, { lane }, { x, width }, place, look) {
  if (width < 3 || place.rowHeight < 10) return;
  const y = place.top + lane * place.rowHeight;
  c.strokeStyle = look.text;
  c.lineWidth = 1.5;
  c.beginPath();
  c.roundRect(x + 0.75, y + 0.75, Math.max(width - 1.5, 1), heightOf(place) - 1.5, 2);
  c.stroke();
}

function paintAxis(c, frames, ticks, { now, view }, place, look) {
  const { left, right, axis, axisHeight } = place;
  const y = axis + axisHeight / 2 + 3;
  c.fillStyle = look.faint;
  c.fillRect(left, axis, right - left, 1);
  c.textAlign = "right";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(axisTitle(frames), left - 8, y, left - 8);
  c.textAlign = "center";
  const inside = (x, width) => Math.min(Math.max(x, left + width / 2), right - width / 2);
  const cursor = Math.min(Math.max(xOf(place, view, now), left), right);
  const time = frames.timeText(now).split(" ")[0];
  const timeWidth = look.widthOfBold(time);
  const timeX = inside(cursor, timeWidth);
  for (const { x, text } of ticks) {
    const width = look.widthOf(text);
    c.fillRect(Math.round(x), axis, 1, 4);
    if (Math.abs(inside(x, width) - timeX) > (width + timeWidth) / 2 + 6) c.fillText(text, inside(x, width), y);
  }
  c.font = look.bold;
  c.fillStyle = look.accent;
  c.fillText(time, timeX, y);
  c.fillRect(Math.min(Math.max(cursor - 1, left), right - 2), place.top - 3, 2, axis - place.top + 6);
}
