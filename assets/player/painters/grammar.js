// Constrained decoding: the text as token cells, the state with its ways on, the whole index, and two rows of bars: what
// the model would draw from, and what is left of it after the mask.
//
// The index is a bar for each state, as high as the logarithm of the tokens it allows; an arc leads to the next state.
//
// A moment is one more token; the state shown is the one before it, and the way it takes stands first.

import { CELL_AIR, CELL_GAP, cut, flow, paintCell, paintName, paintOtherwise, percent } from "../cells.js";
import { lastUpTo } from "../clock.js";
import { expandChanges } from "../decode.js";

const [DRAWN, JUMPED, BREAKS, ASTRAY] = [0, 1, 2, 3]; // fates

const LINES = 2; // of text, and of ways
const LARGEST_COLUMN = 9; // times the size of text
const LARGEST_BARS = 6; // times the size of text, the height of one row of bars
const LEAST_BARS = 10;
const STRIP = 1.5; // times the size of text, the height of the index's bars
const ARC = 0.7; // likewise, the depth of the arc below them
const LARGEST_STATE = 2; // likewise, the width of one
const DASHES = [4, 3];

export function decode({ picture, texts, times }, { numSteps, states, numbers }) {
  const stateOf = Object.fromEntries(states.map(({ name }, index) => [name, index]));
  const cellState = { [DRAWN]: stateOf.drawn, [JUMPED]: stateOf.jumped, [BREAKS]: stateOf.breaks, [ASTRAY]: stateOf.breaks };
  const moments = picture.moments.slice(0, numSteps).map((moment, step) => {
    const { token, ways, bars } = texts.moments[step];
    return {
      ...moment,
      token,
      ways: moment.ways.map(([target, taken], at) => ({ label: ways[at], target, taken: Boolean(taken) })),
      bars: moment.bars.map(([free, used, allowed], at) => ({ text: bars[at], free, used, allowed: Boolean(allowed) })),
    };
  });
  const prompt = texts.prompt.map((text) => ({ text, state: stateOf.given }));
  const tokens = [...prompt, ...moments.map(({ token, fate }) => ({ text: token, state: cellState[fate] }))];
  const end = Math.max(numbers.at(-1), 1);
  const said = expandChanges(times, numSteps);
  const timeText = (number) => said[lastUpTo(numbers, number)];
  const { masked, allowed } = picture;
  return { tokens, numGiven: prompt.length, moments, masked, allowed, positions: numbers, end, axis: { end, gap: 1 }, timeText };
}

export function numRows() {
  return 1;
}

export function statesThatOccur({ tokens }) {
  return [...new Set(tokens.map(({ state }) => state))].sort((a, b) => a - b);
}

// The ways on from the state, as they are written: pure, and the heart of the picture.
export function chipsAt({ moments, words }, step) {
  const { ways, more } = moments[step];
  const chips = ways.map(({ label, target, taken }) => ({ text: target < 0 ? label : `${label} → ${target}`, taken }));
  return more ? [...chips, { text: `+${more}`, taken: false }] : chips;
}

export function stateName({ moments, words }, step) {
  const { state } = moments[step];
  return state < 0 ? words.broken : `${words.state} ${state}`;
}

// --- places --------------------------------------------------------------------------------------------------------

export function layout(frames, { width, room, size, widthOf }) {
  const { words } = frames;
  const names = [words.row_text, words.row_state, words.row_index, words.row_free, words.row_used];
  const left = Math.ceil(Math.min(Math.max(...names.map(widthOf)) + 14, width * 0.3));
  const right = width - 2;
  const cell = Math.round(size * 1.75);
  const label = Math.round(size * 1.7);
  const place = (lines, hasIndex = true) => {
    const text = 2;
    const air = Math.round(size * (lines > 1 ? 0.9 : 0.4));
    const automaton = text + lines * (cell + CELL_GAP) + air;
    const strip = automaton + lines * (cell + CELL_GAP) + air;
    const bars = strip + (hasIndex ? Math.round((1.2 + STRIP + ARC) * size) + air : 0);
    return { lines, text, automaton, strip, bars, rowHeight: Math.floor((room - bars - label) / 2) };
  };
  const least = size * 1.6 + LEAST_BARS;
  const tight = [place(LINES), place(1)].find(({ rowHeight }) => rowHeight >= least) ?? place(1, false); // a small lecture hall
  const rowHeight = Math.round(Math.min(Math.max(tight.rowHeight, least), size * (1.6 + LARGEST_BARS)));
  const height = tight.bars + 2 * rowHeight + label;
  const rows = flow(frames.tokens.map(({ text }) => text), right - left, widthOf);
  return { ...tight, width, height, left, right, size, cell, label, rowHeight, rows, widthOf };
}

// A state of the index or a column of bars under the pointer, in words.
export function spotAt(place, frames, { step }, x, y) {
  if (y >= place.strip && y < place.bars) return stateAt(place, frames, x);
  if (y < place.bars || y >= place.height || x < place.left) return null;
  const { bars } = frames.moments[step];
  const column = columnWidth(place, bars);
  const at = Math.floor((x - place.left) / column);
  if (!bars[at]) return null;
  const box = { x: place.left + (at + 0.5) * column, y: place.bars, height: place.height - place.bars };
  return { text: inWords(frames, bars[at]), ...box };
}

function stateAt(place, { allowed, words }, x) {
  const wide = stateWidth(place, allowed);
  const state = Math.floor((x - place.left) / wide);
  if (!(state in allowed)) return null;
  const box = { x: place.left + (state + 0.5) * wide, y: place.strip, height: place.bars - place.strip };
  return { text: `${words.state} ${state}: ${saidOf(words, allowed[state])}`, ...box };
}

function inWords({ words, masked }, { text, free, used, allowed }) {
  const after = masked ? ` → ${allowed ? percent(used) : words.forbidden}` : "";
  return `${text || words.others}: ${percent(free)}${after}`;
}

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns({ words }) {
  return [words.row_text, words.column_state, words.column_ways, words.column_bars];
}

export function cells(frames, step) {
  const { tokens, numGiven, moments } = frames;
  const text = tokens.slice(numGiven, numGiven + step + 1).map((token) => token.text);
  const ways = chipsAt(frames, step).map((chip) => chip.text);
  return [text.join(" "), stateName(frames, step), ways.join("\n"), moments[step].bars.map((bar) => inWords(frames, bar)).join("\n")];
}

// --- the picture ---------------------------------------------------------------------------------------------------

// The states that the text will have come through.
export function ghostArea({ left, strip, bars, right }) {
  return { x: left, y: strip, width: right - left, height: bars - strip };
}

export function paint(c, frames, { step }, place, look) {
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  paintText(c, frames, step, place, look);
  paintState(c, frames, step, place, look);
  if (place.bars > place.strip) paintIndex(c, frames, step, place, look);
  paintBars(c, frames, step, place, look);
}

function paintText(c, frames, step, place, look) {
  const count = frames.numGiven + step + 1;
  const last = place.rows[count - 1].line;
  const first = Math.max(0, last - place.lines + 1); // older lines are rolled up
  paintName(c, first ? `… ${frames.words.row_text}` : frames.words.row_text, place.text + place.cell / 2, place, look);
  frames.tokens.slice(0, count).forEach((token, at) => {
    const { line, x, width } = place.rows[at];
    if (line < first) return;
    const box = { x: place.left + x, y: place.text + (line - first) * (place.cell + CELL_GAP), width, height: place.cell };
    paintCell(c, token.text, look.states[token.state], box, look);
    if (at < count - 1) return;
    c.fillStyle = look.accent;
    c.fillRect(box.x, box.y + box.height, width, 3);
  });
}

// The state in a rounded box, then a chip for each way on; the one taken is filled.
function paintState(c, frames, step, place, look) {
  paintName(c, frames.words.row_state, place.automaton + place.cell / 2, place, look);
  const name = stateName(frames, step);
  const width = look.widthOfBold(name) + 2 * CELL_AIR + 8;
  const isBroken = frames.moments[step].state < 0;
  paintChip(c, name, { x: place.left, y: place.automaton, width, height: place.cell }, { bold: true, round: true, dashed: isBroken }, look);
  const chips = chipsAt(frames, step);
  const start = width + 12;
  const rows = flow(chips.map(({ text }) => text), place.right - place.left - start, look.widthOf, CELL_GAP + 3);
  chips.forEach(({ text, taken }, at) => {
    const { line, x, width: wide } = rows[at];
    if (line >= place.lines) return;
    const box = { x: place.left + start + x, y: place.automaton + line * (place.cell + CELL_GAP), width: wide, height: place.cell };
    paintChip(c, cut(text, wide - 2 * CELL_AIR + 2, look.widthOf), box, { taken }, look);
  });
}

const stateWidth = ({ left, right, size }, allowed) => Math.min((right - left) / allowed.length, LARGEST_STATE * size);

const saidOf = ({ allows }, number) => allows.replace("{n}", number);

// Where the text stands in the index, and where its next token leads.
function paintIndex(c, { allowed, moments, words }, step, place, look) {
  const wide = stateWidth(place, allowed);
  const middle = (state) => place.left + (state + 0.5) * wide;
  const bottom = place.strip + (1.2 + STRIP) * place.size;
  const most = Math.log(1 + Math.max(...allowed));
  const seen = new Set(moments.slice(0, step).map(({ state }) => state));
  const { state, after } = moments[step];
  paintName(c, words.row_index, bottom - 0.7 * place.size, place, look);
  allowed.forEach((count, at) => {
    const high = Math.max(2, (Math.log(1 + count) / most) * STRIP * place.size);
    const air = wide > 4 ? 1 : 0;
    c.fillStyle = at === state ? look.accent : seen.has(at) ? look.muted : look.faint;
    c.fillRect(place.left + at * wide + air, bottom - high, Math.max(wide - 2 * air, 0.5), high);
  });
  if (state < 0 || look.wordless) return;
  const said = saidOf(words, allowed[state]);
  c.font = look.bold;
  c.fillStyle = look.text;
  const half = look.widthOfBold(said) / 2;
  c.textAlign = "center";
  c.fillText(said, Math.min(Math.max(middle(state), place.left + half), place.right - half), place.strip + 0.5 * place.size);
  if (after < 0 || after === state) return;
  c.strokeStyle = look.accent;
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(middle(state), bottom + 2);
  c.quadraticCurveTo((middle(state) + middle(after)) / 2, bottom + 2 * ARC * place.size, middle(after), bottom + 3);
  c.stroke();
  c.fillStyle = look.accent;
  c.beginPath();
  c.arc(middle(after), bottom + 3, 3, 0, 2 * Math.PI);
  c.fill();
}

function paintChip(c, text, { x, y, width, height }, { bold, round, dashed, taken }, look) {
  c.strokeStyle = taken || bold ? look.accent : look.muted;
  c.lineWidth = taken || bold ? 2.5 : 1;
  c.setLineDash(dashed ? DASHES : []);
  c.beginPath();
  c.roundRect(x + 1.25, y + 1.25, width - 2.5, height - 2.5, round ? height / 2 : 4);
  c.stroke();
  c.setLineDash([]);
  c.textAlign = "center";
  c.font = bold || taken ? look.bold : look.font;
  c.fillStyle = bold || taken ? look.text : look.muted;
  c.fillText(text, x + width / 2, y + height / 2 + 0.5, width - 4);
}

const columnWidth = ({ left, right, size }, bars) => Math.min((right - left) / Math.max(bars.length, 1), LARGEST_COLUMN * size);

function paintBars(c, frames, step, place, look) {
  const { words, moments, masked } = frames;
  const { bars } = moments[step];
  const column = columnWidth(place, bars);
  const rows = [
    [words.row_free, ({ free }) => free, bars.length ? "" : words.no_pass],
    [words.row_used, ({ used }) => used, masked ? "" : words.no_mask],
  ];
  rows.forEach(([name, valueOf, otherwise], row) => {
    const bottom = place.bars + (row + 1) * place.rowHeight - 1;
    paintName(c, name, bottom - place.size * 0.7, place, look);
    c.fillStyle = look.faint;
    c.fillRect(place.left, bottom, bars.length ? column * bars.length : place.right - place.left, 1);
    if (otherwise) paintOtherwise(c, otherwise, bottom, place, look);
    else if (bars.length) paintRow(c, bars, valueOf, { bottom, column, masks: row === 1 }, frames, place, look);
  });
  bars.forEach((bar, at) => paintColumnName(c, bar, at, column, moments[step], frames, place, look));
}

function paintRow(c, bars, valueOf, { bottom, column, masks }, { words }, place, look) {
  const most = place.rowHeight - place.size * 1.6;
  bars.forEach((bar, at) => {
    const x = place.left + at * column + column * 0.18;
    const width = column * 0.64;
    c.textAlign = "center";
    c.font = look.font;
    if (masks && !bar.allowed) {
      c.fillStyle = look.muted;
      c.fillText(words.forbidden, x + width / 2, bottom - place.size * 0.7, column - 4);
      return;
    }
    const value = valueOf(bar);
    const state = look.states[bar.allowed ? 1 : 3]; // drawn, breaks
    c.fillStyle = bar.text ? (state.fill ?? state.colour) : look.faint; // all others together say less
    c.fillRect(x, bottom - value * most, width, value * most);
    c.fillStyle = value ? look.text : look.muted;
    c.fillText(percent(value), x + width / 2, bottom - value * most - place.size * 0.62);
  });
}

function paintColumnName(c, bar, at, column, { token }, frames, place, look) {
  const middle = place.left + (at + 0.5) * column;
  const y = place.height - place.label / 2;
  const isDrawn = bar.text && bar.text === token;
  const name = cut(bar.text || frames.words.others, column - 6, look.widthOf);
  c.textAlign = "center";
  c.font = isDrawn ? look.bold : look.font;
  c.fillStyle = isDrawn ? look.text : look.muted;
  c.fillText(name, middle, y);
  if (!isDrawn) return;
  const width = Math.min(look.widthOfBold(name) + 10, column - 2);
  c.strokeStyle = look.accent;
  c.lineWidth = 1.5;
  c.beginPath();
  c.roundRect(middle - width / 2, y - place.label / 2 + 2, width, place.label - 4, 4);
  c.stroke();
}
