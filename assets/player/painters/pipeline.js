// The pipeline: stations in a row, and below them what one text has become: tokens with their KV cells, the distribution
// that was drawn from, bytes that wait, the text on the screen.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { lastUpTo } from "../clock.js";
import { expandChanges } from "../decode.js";
import { stay } from "../motion.js";
import { paintSpan } from "../patterns.js";
import { SAMPLE, paintBorders, paintStops, paintTraveller, placeStops, stopUnder } from "../stops.js";
import { fill } from "../words.js";

const SCREEN = 7; // the last station
const MOST_TIME = "00.0 ms"; // the widest time at a station
const [FEWEST_BARS, BARS] = [3, 5];

// --- data ----------------------------------------------------------------------------------------------------------

export function decode({ picture, texts, times }, { numSteps, numbers }) {
  const said = expandChanges(times, numSteps);
  const { stations, num, shown } = picture;
  const [kv, waiting, screen] = [picture.kv, picture.waiting, picture.screen].map((each) => expandChanges(each, numSteps));
  const moments = stations.map((station, step) => ({
    station,
    num: num[step],
    kv: kv[step],
    bars: picture.bars[shown[step]] ?? null,
    waiting: waiting[step],
    screen: screen[step],
  }));
  const tokens = picture.tokens.map(([piece, id], at) => ({ piece, id: String(id), isPrompt: at < picture.prompt }));
  const end = Math.max(numbers.at(-1), 1);
  const timeText = (number) => said[lastUpTo(numbers, number)];
  const { kinds, text } = picture;
  return { names: texts.stations, tasks: texts.tasks, borders: texts.borders, kinds, text, tokens, moments, said, layers: kv[0].length, positions: numbers, end, axis: { end, gap: 1 }, timeText };
}

export function numRows(frames) {
  return frames.layers + 8;
}

// Only what wrote the KV cells needs a legend; the stations carry their names.
export function statesThatOccur(frames) {
  const seen = frames.moments.at(-1).kv[0] > frames.tokens.filter((token) => token.isPrompt).length;
  return seen ? [frames.kinds[3], frames.kinds[4]] : [frames.kinds[3]];
}

// --- places --------------------------------------------------------------------------------------------------------

export function layout(frames, given) {
  const roomy = arrange(frames, given, false);
  return roomy.height <= given.room ? roomy : arrange(frames, given, true);
}

// `dense`: no times at the stations, no ids, no bars, only what is on the screen.
function arrange(frames, { width, room, size, widthOf }, dense) {
  const { words } = frames;
  const borders = dense ? 0 : Math.round(size * 1.5);
  const store = widthOf(words.kv) > widthOf(words.kept) ? words.kv : words.kept;
  const stops = placeStops(frames.names, { width, top: 2 + borders, size, widthOf, second: dense ? "" : MOST_TIME, store });
  const left = Math.ceil(Math.min(Math.max(...["token", "kv"].map((name) => widthOf(words[name])), widthOf("id")) + 10, width * 0.2));
  const chips = chipsOf(frames.tokens, { left, right: width - 2, size, widthOf });
  const cell = dense ? 4 : Math.max(Math.round(size * 0.36), 4);
  const [chip, id] = [Math.round(size * 1.6), dense ? 0 : Math.round(size * 1.35)];
  const line = chip + id + frames.layers * (cell + 1) + Math.round(size * (dense ? 0.3 : 0.6));
  const bottom = (bars) => Math.round(size * (1.9 + 1.55 * bars));
  const fewest = dense ? 0 : FEWEST_BARS;
  const top = 2 + borders + stops.height + Math.round(size * (dense ? 0.4 : 0.8));
  const fit = Math.floor((room - top - bottom(fewest)) / line);
  const lines = Math.min(chips.at(-1).line + 1, Math.max(1, fit)); // tokens first, then bars
  const below = top + lines * line;
  const bars = dense ? 0 : ([BARS, BARS - 1].find((each) => below + bottom(each) <= room) ?? FEWEST_BARS);
  return { width, height: below + bottom(bars), left, size, stops, chips, chip, id, cell, line, lines, top, below, bars, dense };
}

// Chips wrap like text.
function chipsOf(tokens, { left, right, size, widthOf }) {
  const chips = [];
  let [x, line] = [left, 0];
  for (const { piece, id } of tokens) {
    const width = Math.min(Math.max(widthOf(piece), widthOf(id), size) + Math.round(size * 0.55), right - left);
    if (x + width > right && x > left) [x, line] = [left, line + 1];
    chips.push({ x, width, line });
    x += width + 3;
  }
  return chips;
}

// The first line in sight, so that the newest token is.
function firstLine(place, { num }) {
  return Math.max(0, place.chips[Math.max(num - 1, 0)].line - place.lines + 1);
}

// A station or a token under the pointer, in words.
export function spotAt(place, frames, { step }, x, y) {
  const stop = stopUnder(place.stops, x, y);
  if (stop >= 0) {
    const box = place.stops.boxes[stop];
    const time = timesAt(frames, step)[stop];
    return { text: `${[frames.names[stop], time].filter(Boolean).join(" · ")}\n${frames.tasks[stop]}`, x: box.x + box.width / 2, y: box.y, height: box.height };
  }
  const now = frames.moments[step];
  const line = Math.floor((y - place.top) / place.line) + firstLine(place, now);
  const at = place.chips.findIndex((chip) => chip.line === line && x >= chip.x && x <= chip.x + chip.width);
  if (y < place.top || y >= place.below || at < 0 || at >= now.num) return null;
  const chip = place.chips[at];
  const top = place.top + (chip.line - firstLine(place, now)) * place.line;
  return { text: inWords(frames, now, at), x: chip.x + chip.width / 2, y: top, height: place.line };
}

function inWords(frames, now, at) {
  const held = now.kv.filter((num) => num > at).length;
  const { piece, id } = frames.tokens[at];
  return [piece, `id ${id}`, fill(frames.words.held, { n: held })].join(" · ");
}

// What the last visit of each station took.
function timesAt({ moments, said }, step) {
  const times = [];
  for (let at = 0; at <= step; at++) if (said[at]) times[moments[at].station] = said[at];
  return times;
}

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns({ words }) {
  return [words.column_station, words.column_tokens, words.column_kv, words.column_screen];
}

export function cells(frames, step) {
  const now = frames.moments[step];
  const tokens = frames.tokens.slice(0, now.num).map(({ piece, id }) => `${piece} (${id})`);
  return [frames.names[now.station], tokens.join(" ") || frames.text, now.kv.join(", "), now.screen || "–"];
}

// --- the picture ---------------------------------------------------------------------------------------------------

// Everything below the stations.
export function ghostArea({ top, width, height }) {
  return { x: 0, y: top, width, height: height - top, isUnder: true };
}

export function paint(c, frames, { step, before, at = stay }, place, look) {
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  const now = frames.moments[step];
  const seen = frames.moments.slice(0, step).map(({ station }) => station);
  const lit = [now.station, ...(now.station === SCREEN - 1 && now.screen !== (frames.moments[step - 1]?.screen ?? "") ? [SCREEN] : [])];
  const lines = place.dense ? [] : timesAt(frames, step);
  const kept = place.dense ? [frames.words.kv] : [frames.words.kv, frames.words.kept];
  paintStops(c, frames.names, frames.kinds, place.stops, { lit, seen, lines, loop: frames.words.loop, kept }, look);
  if (!place.dense) paintBorders(c, place.stops, frames.borders, look);
  if (now.num) paintTape(c, frames, now, frames.moments[step - 1]?.num ?? 0, at, place, look);
  else paintText(c, frames, place, look);
  const came = frames.moments[before]?.station ?? now.station;
  const { way } = at(`way ${before} ${step}`, { way: 1 }, { way: 0 });
  if (came !== now.station && way < 1) paintTraveller(c, place.stops.boxes, came, now.station, way, look.states[frames.kinds[now.station]].colour, look);
  const middle = place.below + place.size * 0.85;
  if (place.dense) {
    paintTitle(c, frames.words.screen, 0, middle, look);
    paintBytes(c, frames, now, place.width * 0.5, middle, look);
    paintLine(c, now.screen, look.widthOf(frames.words.screen) + 8, middle, place.width * 0.48, look);
    return;
  }
  paintBars(c, frames, now, at, place, look);
  paintBytes(c, frames, now, Math.round(place.width * 0.56), middle, look);
  paintScreen(c, frames, now, place, look);
}

// Before it is cut into tokens.
function paintText(c, { text }, place, look) {
  c.textAlign = "left";
  c.font = look.bold;
  c.fillStyle = look.text;
  const room = place.width - place.left - 2;
  linesOf(text || "–", room, look.widthOfBold).slice(0, 3).forEach((line, at) => {
    const middle = place.top + place.size * (1 + 1.5 * at);
    c.fillStyle = look.background; // its tokens are to be seen around it
    c.fillRect(place.left - 4, middle - place.size * 0.85, look.widthOfBold(line) + 8, place.size * 1.6);
    c.fillStyle = look.text;
    c.fillText(line, place.left, middle);
  });
}

function paintTape(c, frames, now, before, at, place, look) {
  const first = firstLine(place, now);
  for (let line = 0; line < place.lines; line++) {
    const y = place.top + line * place.line;
    if (!place.chips.some((chip, at) => chip.line === line + first && at < now.num)) continue;
    const rows = [[frames.words.token, place.chip / 2], ["id", place.chip + place.id / 2], [frames.words.kv, place.chip + place.id + (frames.layers * (place.cell + 1)) / 2]];
    for (const [word, down] of rows) {
      if (word === "id" && !place.id) continue;
      c.textAlign = "right";
      c.font = look.font;
      c.fillStyle = look.muted;
      c.fillText(word, place.left - 8, y + down, place.left - 8);
    }
  }
  const sampler = place.stops.boxes[SAMPLE];
  frames.tokens.slice(0, now.num).forEach((token, index) => {
    const { x, width, line } = place.chips[index];
    if (line < first || line >= first + place.lines) return;
    const origin = token.isPrompt ? { x: place.left, top: place.top } : { x: sampler.x, top: sampler.y };
    const here = at(`token ${index}`, { x, top: place.top + (line - first) * place.line }, origin);
    paintChip(c, frames, token, { ...here, width }, now, index, index >= before, at, place, look);
  });
}

function paintChip(c, frames, token, { x, top, width }, now, index, isNew, at, place, look) {
  c.fillStyle = look.track;
  c.beginPath();
  c.roundRect(x, top, width, place.chip - 2, 3);
  c.fill();
  const state = look.states[frames.kinds[token.isPrompt ? 1 : 5]];
  c.strokeStyle = state.colour;
  c.lineWidth = isNew ? 2.5 : 1;
  c.stroke();
  c.textAlign = "center";
  c.font = isNew ? look.bold : look.font;
  c.fillStyle = look.text;
  c.fillText(token.piece, x + width / 2, top + place.chip / 2 - 0.5, width - 4);
  c.font = look.font;
  c.fillStyle = look.muted;
  if (place.id) c.fillText(token.id, x + width / 2, top + place.chip + place.id / 2 - 1, width);
  const kind = look.states[frames.kinds[token.isPrompt ? 3 : 4]];
  now.kv.forEach((num, layer) => {
    const y = top + place.chip + place.id + layer * (place.cell + 1);
    c.fillStyle = look.track;
    c.fillRect(x, y, width, place.cell);
    if (num <= index) return;
    const { filled } = at(`kv ${index} ${layer}`, { filled: width }, { filled: 0 });
    paintSpan(c, kind, x, y, filled, place.cell, [0, 0], look);
  });
}

function paintTitle(c, text, x, y, look) {
  c.textAlign = "left";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(text, x, y);
}

function paintBars(c, frames, now, at, place, look) {
  const { size, below, width } = place;
  paintTitle(c, frames.words.sampler, 0, below + size * 0.8, look);
  if (!now.bars) return;
  const half = width * 0.52;
  const names = Math.min(Math.max(...now.bars.map(([piece]) => look.widthOfBold(piece))) + 10, half * 0.4);
  const percents = look.widthOf("00.0%") + 8;
  const state = look.states[frames.kinds[5]];
  shownBars(now.bars, place.bars).forEach(([piece, probability, said, chosen], row) => {
    const middle = below + size * (1.9 + 1.55 * row + 0.75);
    const thick = Math.round(size * 1.1);
    c.textAlign = "right";
    c.font = chosen ? look.bold : look.font;
    c.fillStyle = chosen ? look.text : look.muted;
    c.fillText(piece, names - 6, middle, names - 6);
    const { long } = at(`bar ${row}`, { long: Math.max((half - names - percents) * probability, 1) }, { long: 0 });
    if (chosen) paintSpan(c, state, names, middle - thick / 2, long, thick, [0, 2], look);
    else {
      c.fillStyle = look.faint;
      c.fillRect(names, middle - thick / 2, long, thick);
    }
    c.textAlign = "left";
    c.font = chosen ? look.bold : look.font;
    c.fillStyle = chosen ? look.text : look.muted;
    c.fillText(said, names + long + 6, middle);
  });
}

// The most probable ones; the chosen one is always there.
function shownBars(bars, number) {
  const first = bars.slice(0, number);
  return first.some(([, , , chosen]) => chosen) ? first : [...first.slice(0, -1), bars.find(([, , , chosen]) => chosen)];
}

// Those that wait for the rest of their character.
function paintBytes(c, frames, now, left, middle, look) {
  const high = Math.round(look.size * 1.5);
  paintTitle(c, frames.words.waits, left, middle, look);
  let x = left + look.widthOf(frames.words.waits) + 8;
  for (const byte of now.waiting) {
    const wide = look.widthOfBold(byte) + 10;
    c.strokeStyle = look.states[frames.kinds[6]].colour;
    c.lineWidth = 2;
    c.beginPath();
    c.roundRect(x + 1, middle - high / 2, wide - 2, high, 3);
    c.stroke();
    paintLine(c, byte, x + 5, middle, x + wide, look);
    x += wide + 3;
  }
  if (!now.waiting.length) paintTitle(c, frames.words.nothing, x, middle, look);
}

function paintScreen(c, frames, now, place, look) {
  const { size, below, width } = place;
  const left = Math.round(width * 0.56);
  const screen = below + size * 1.9;
  paintTitle(c, frames.words.screen, left, screen + size * 0.6, look);
  const room = width - left - 14;
  const box = { top: screen + size * 1.4, height: place.height - screen - size * 1.4 - 2 };
  c.strokeStyle = look.states[frames.kinds[SCREEN]].colour;
  c.lineWidth = 1.5;
  c.beginPath();
  c.roundRect(left + 0.75, box.top, width - left - 2, box.height, 4);
  c.stroke();
  const fit = Math.max(1, Math.floor((box.height - 4) / (size * 1.4)));
  const lines = linesOf(now.screen, room, look.widthOfBold).slice(-fit);
  lines.forEach((line, at) => paintLine(c, line, left + 7, box.top + size * (0.95 + 1.4 * at), width, look));
}

// Its last part, if it is too long.
function paintLine(c, text, x, y, until, look) {
  c.textAlign = "left";
  c.font = look.bold;
  c.fillStyle = look.text;
  c.fillText(linesOf(text, until - x, look.widthOfBold).at(-1), x, y);
}

// Broken between any two letters: Chinese has no spaces, and an answer need not have any.
export function linesOf(text, room, widthOf) {
  const lines = [""];
  for (const letter of text) {
    if (letter === "\n") lines.push("");
    else if (lines.at(-1) && widthOf(lines.at(-1) + letter) > room) lines.push(letter);
    else lines[lines.length - 1] += letter;
  }
  return lines;
}
