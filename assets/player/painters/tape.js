// The tape: the text so far as token cells, below it what the draft proposes and what became of it, and for the place in
// question three rows of bars: the target's p, the draft's q, and the residual max(0, p - q).
//
// A moment is [round, phase, place]; what the picture shows follows from these three.

import { CELL_AIR, CELL_GAP, cut, flow, paintCell, paintName, paintOtherwise, percent } from "../cells.js";
import { lastUpTo } from "../clock.js";
import { expandChanges } from "../decode.js";
import { stay } from "../motion.js";
import { paintSpan } from "../patterns.js";

const PROPOSE = 0; // `place` is the newest proposal
const VERIFY = 1;
const ACCEPT = 2; // `place` is the proposal that was accepted
const REJECT = 3;
const CORRECT = 4;
const BONUS = 5;

const FORMS = [ // lines of text, rows of bars, least height of a bar: the first that fits its room
  { lines: 2, numRows: 3, least: 16 },
  { lines: 1, numRows: 3, least: 12 },
  { lines: 0, numRows: 3, least: 12 },
  { lines: 0, numRows: 2, least: 4 },
];
const LARGEST_COLUMN = 8; // times the size of text
const LARGEST_BARS = 84; // px, the height of one row of bars
const DASHES = [4, 3];

export function decode({ picture, texts, times }, { numSteps, states, numbers }) {
  const stateOf = Object.fromEntries(states.map(({ name }, index) => [name, index]));
  const prompt = texts.prompt.map((text) => ({ text, state: stateOf.given }));
  const tokens = [...prompt];
  const rounds = picture.rounds.map((round, index) => {
    const { proposed, token } = texts.rounds[index];
    const start = tokens.length;
    const places = round.places.map((bars, place) => bars.map(([p, q], at) => ({ p, q, text: texts.rounds[index].bars[place][at] })));
    const isWhole = round.accepted === proposed.length;
    const last = { text: token, state: isWhole ? stateOf.bonus : stateOf.corrected };
    tokens.push(...proposed.slice(0, round.accepted).map((text) => ({ text, state: stateOf.accepted })), last);
    return { ...round, places, proposed, last, start };
  });
  const end = Math.max(numbers.at(-1), 1);
  const said = expandChanges(times, numSteps);
  const timeText = (number) => said[lastUpTo(numbers, number)];
  return { tokens, rounds, moments: picture.moments.slice(0, numSteps), stateOf, positions: numbers, end, axis: { end, gap: 1 }, timeText };
}

export function numRows() {
  return 1;
}

export function statesThatOccur({ tokens, rounds, stateOf }) {
  const seen = new Set(tokens.map(({ state }) => state));
  seen.add(stateOf.proposed);
  if (rounds.some((round) => round.accepted < round.proposed.length)) seen.add(stateOf.rejected);
  return [...seen].sort((a, b) => a - b);
}

// What has become of each proposal, and the token that follows: pure, and the heart of the picture.
export function proposalsAt(frames, step) {
  const [index, phase, place] = frames.moments[step];
  const round = frames.rounds[index];
  const { stateOf } = frames;
  const judged = { [ACCEPT]: place + 1, [REJECT]: place, [CORRECT]: place, [BONUS]: round.proposed.length }[phase] ?? 0;
  const isRefused = phase === REJECT || phase === CORRECT;
  const shown = phase === PROPOSE ? place + 1 : phase === CORRECT ? place + 1 : round.proposed.length;
  const cells = round.proposed.slice(0, shown).map((text, at) => {
    const fate = at < judged ? "accepted" : isRefused && at === place ? "rejected" : isRefused ? "ignored" : "proposed";
    return { text, letter: letterOf(at), fate, state: stateOf[fate] ?? stateOf.proposed, now: at === place && phase !== VERIFY && phase !== BONUS };
  });
  if (phase === CORRECT || phase === BONUS) cells.push({ ...round.last, letter: "", fate: phase === BONUS ? "bonus" : "corrected", now: true });
  return cells;
}

export const letterOf = (at) => String.fromCharCode(65 + at);

// The bars of the place in question; what is not known yet is not there.
export function barsAt(frames, step) {
  const [index, phase, place] = frames.moments[step];
  const round = frames.rounds[index];
  return {
    bars: round.places[place],
    proposed: round.proposed[place],
    drawn: phase === CORRECT || phase === BONUS ? round.last.text : null,
    knowsP: phase !== PROPOSE,
    hasQ: place < round.proposed.length,
    showsResidual: phase === REJECT || phase === CORRECT,
  };
}

export const residualOf = ({ p, q }) => Math.max(0, p - q);

// --- places --------------------------------------------------------------------------------------------------------

export function layout(frames, { width, room, size, widthOf }) {
  const { words } = frames;
  const names = [words.row_text, words.row_draft, words.row_p, words.row_q, words.row_residual];
  const left = Math.ceil(Math.min(Math.max(...names.map(widthOf)) + 12, width * 0.3));
  const right = width - 2;
  const cell = Math.round(size * 1.75);
  const letters = Math.round(size * 1.3);
  const label = Math.round(size * 1.7);
  const number = Math.round(size * 1.3); // the number above a bar
  const places = FORMS.map(({ lines, numRows, least }) => {
    const text = 2;
    const proposals = text + lines * (cell + CELL_GAP) + letters + (lines ? 4 : 0);
    const bars = proposals + cell + Math.round(size * (lines ? 1.1 : 0.5));
    const fits = Math.floor((room - bars - label) / numRows);
    return { lines, numRows, text, proposals, bars, fits, least: number + least };
  });
  const form = places.find(({ fits, least }) => fits >= least) ?? places.at(-1);
  const rowHeight = Math.min(Math.max(form.fits, form.least), number + LARGEST_BARS);
  const height = form.bars + form.numRows * rowHeight + label;
  const rows = flow(frames.tokens.map(({ text }) => text), right - left, widthOf);
  return { ...form, width, height, left, right, size, cell, letters, label, rowHeight, rows };
}

// A column of bars under the pointer, in words.
export function spotAt(place, frames, { step }, x, y) {
  if (y < place.bars || y >= place.height || x < place.left) return null;
  const shown = barsAt(frames, step);
  const column = columnWidth(place, shown.bars);
  const at = Math.floor((x - place.left) / column);
  const bar = shown.bars[at];
  if (!bar) return null;
  const box = { x: place.left + (at + 0.5) * column, y: place.bars, height: place.height - place.bars };
  return { text: `${bar.text || frames.words.others}\n${inWords(frames, bar, shown)}`, ...box };
}

function inWords({ words }, bar, { knowsP, hasQ, showsResidual }) {
  const parts = [];
  if (knowsP) parts.push(`p ${percent(bar.p)}`);
  if (hasQ) parts.push(`q ${percent(bar.q)}`);
  if (showsResidual) parts.push(`${words.row_residual} ${percent(residualOf(bar))}`);
  return parts.join(" · ");
}

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns({ words }) {
  return [words.row_text, words.row_draft, words.column_bars];
}

export function cells(frames, step) {
  const { tokens, rounds, moments, words } = frames;
  const text = tokens.slice(0, rounds[moments[step][0]].start).map((token) => token.text);
  const proposals = proposalsAt(frames, step).map(({ text: said, letter, fate }) => `${letter ? `${letter} ` : ""}${said}: ${words[fate]}`);
  const shown = barsAt(frames, step);
  const bars = shown.bars.map((bar) => `${bar.text || words.others}: ${inWords(frames, bar, shown)}`);
  return [text.join(" "), proposals.join("\n"), bars.join("\n")];
}

// --- the picture ---------------------------------------------------------------------------------------------------

// What the target will say to the first proposal: the first round as it is when all of it is there.
export function ghostArea({ proposals, letters, width, height }, { moments, positions }) {
  const y = proposals - letters;
  return { x: 0, y, width, height: height - y, isUnder: true, until: positions[moments.findIndex(([, phase]) => phase >= ACCEPT)] };
}

// A token that was accepted moves from the draft's row into the text.
export function paint(c, frames, { step, at = stay }, place, look) {
  const moved = (number, { x, y, width }, origin) => at(`token ${number}`, { x, y, width }, origin);
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  paintText(c, frames, step, moved, place, look);
  paintProposals(c, frames, step, moved, place, look);
  paintBars(c, frames, step, at, place, look);
}

function paintText(c, frames, step, moved, place, look) {
  const { rounds, moments, tokens, words } = frames;
  if (!place.lines) return;
  const count = rounds[moments[step][0]].start;
  const last = place.rows[count - 1].line;
  const first = Math.max(0, last - place.lines + 1); // older lines are rolled up
  paintName(c, first ? `… ${words.row_text}` : words.row_text, place.text + place.cell / 2, place, look);
  tokens.slice(0, count).forEach((token, at) => {
    const { line, x, width } = place.rows[at];
    if (line < first) return;
    const y = place.text + (line - first) * (place.cell + CELL_GAP);
    paintCell(c, token.text, look.states[token.state], { ...moved(at, { x: place.left + x, y, width }), height: place.cell }, look);
  });
}

function paintProposals(c, frames, step, moved, place, look) {
  const cellsNow = proposalsAt(frames, step);
  const [index, phase] = frames.moments[step];
  const most = frames.rounds[index].proposed.length + 1; // with the token that follows
  const share = (place.right - place.left) / most - 2 * CELL_GAP;
  paintName(c, frames.words.row_draft, place.proposals + place.cell / 2, place, look);
  let x = place.left;
  cellsNow.forEach((cell, at) => {
    const width = Math.min(Math.max(look.widthOf(cell.text) + 2 * CELL_AIR + 10, place.size * 2.6), share);
    const there = { x, y: place.proposals, width };
    const box = { ...moved(numberOf(cell, at, frames.rounds[index]), there, originOf(cell, there, place)), height: place.cell };
    paintLetter(c, cell, box, frames, place, look);
    paintProposal(c, cell, box, look);
    x += width + 2 * CELL_GAP;
  });
  if (phase === VERIFY) paintPass(c, frames, place, x, look);
}

// Which token of the text a cell is, or becomes; what is refused never becomes one.
function numberOf({ fate }, at, { start, accepted }) {
  if (fate === "corrected" || fate === "bonus") return start + accepted;
  return fate === "rejected" || fate === "ignored" ? `refused ${start + at}` : start + at;
}

// A proposal comes from the left, the target's own token out of the bars.
function originOf({ fate }, there, place) {
  if (fate === "proposed") return { ...there, x: place.left };
  return fate === "corrected" || fate === "bonus" ? { ...there, y: place.bars } : undefined;
}

// Its letter above a proposal; above the token that the target adds, what it is.
function paintLetter(c, cell, box, frames, place, look) {
  c.textAlign = "left";
  c.font = cell.now ? look.bold : look.font;
  c.fillStyle = cell.now ? look.text : look.muted;
  const said = cell.letter ? cell.letter : frames.words[cell.fate];
  c.fillText(said, box.x + 2, box.y - place.letters / 2);
}

function paintProposal(c, { text, fate, state, now }, box, look) {
  const { x, y, width, height } = box;
  const shown = cut(text, width - 2 * CELL_AIR + 2, look.widthOf);
  const at = x + (width - look.widthOf(shown)) / 2;
  if (fate === "proposed" || fate === "ignored") {
    c.globalAlpha = fate === "ignored" ? 0.45 : 1;
    c.strokeStyle = look.states[state].colour;
    c.lineWidth = 1.5;
    c.setLineDash(DASHES);
    c.beginPath();
    c.roundRect(x + 0.75, y + 0.75, width - 1.5, height - 1.5, 4);
    c.stroke();
    c.setLineDash([]);
    c.textAlign = "left";
    c.font = look.font;
    c.fillStyle = look.text;
    c.fillText(shown, at, y + height / 2 + 0.5);
    c.globalAlpha = 1;
  } else if (fate === "rejected") paintRejected(c, shown, at, look.states[state], box, look);
  else paintCell(c, text, look.states[state], box, look);
  if (now) {
    c.fillStyle = look.accent;
    c.fillRect(x, y + height + 3, width, 3);
  }
}

// Struck out, but still to be read: its pattern shows around the text.
function paintRejected(c, shown, at, state, { x, y, width, height }, look) {
  paintSpan(c, state, x, y, width, height, [4, 4], look);
  const ground = look.widthOf(shown) + 6;
  c.fillStyle = look.background;
  c.fillRect(at - 3, y + 3, ground, height - 6);
  c.textAlign = "left";
  c.font = look.font;
  c.fillStyle = look.text;
  c.fillText(shown, at, y + height / 2 + 0.5);
  c.strokeStyle = state.colour;
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(x, y + height - 2);
  c.lineTo(x + width, y + 2);
  c.stroke();
}

// One bracket below all proposals: the target looks at all of them at once.
function paintPass(c, frames, place, end, look) {
  const y = place.proposals + place.cell + 4;
  c.fillStyle = look.accent;
  c.fillRect(place.left, y, end - place.left - 2 * CELL_GAP, 3);
  const said = frames.words.one_pass;
  if (end + look.widthOf(said) + 8 > place.right) return;
  c.textAlign = "left";
  c.font = look.bold;
  c.fillText(said, end + 4, place.proposals + place.cell / 2);
}

const columnWidth = ({ left, right, size }, bars) => Math.min((right - left) / bars.length, LARGEST_COLUMN * size);

function paintBars(c, frames, step, at, place, look) {
  const { words, stateOf } = frames;
  const shown = barsAt(frames, step);
  const column = columnWidth(place, shown.bars);
  const rows = [
    [words.row_p, shown.knowsP && (({ p }) => p), look.states[stateOf.target], words.not_yet],
    [words.row_q, shown.hasQ && (({ q }) => q), look.states[stateOf.proposed], words.no_draft],
    [words.row_residual, shown.showsResidual && residualOf, look.states[stateOf.corrected], ""],
  ];
  const high = Math.max(...shown.bars.flatMap(({ p, q }) => [shown.knowsP ? p : 0, shown.hasQ ? q : 0]), 0.01);
  rows.slice(0, place.numRows).forEach(([name, valueOf, state, otherwise], row) => {
    const bottom = place.bars + (row + 1) * place.rowHeight - 1;
    paintName(c, name, bottom - place.size * 0.7, place, look);
    c.fillStyle = look.faint;
    c.fillRect(place.left, bottom, column * shown.bars.length, 1);
    const rise = (height, index) => at(`row ${row} ${index}`, { height }, { height: 0 }).height;
    if (valueOf) paintRow(c, shown.bars, valueOf, high, { state, bottom, column, rise }, place, look);
    else paintOtherwise(c, otherwise, bottom, place, look);
  });
  shown.bars.forEach((bar, at) => paintColumnName(c, bar, at, column, shown, frames, place, look));
}

function paintRow(c, bars, valueOf, high, { state, bottom, column, rise }, place, look) {
  const most = place.rowHeight - place.size * 1.3;
  bars.forEach((bar, at) => {
    const value = valueOf(bar);
    const height = rise((value / high) * most, at);
    const x = place.left + at * column + column * 0.18;
    c.fillStyle = bar.text ? (state.fill ?? state.colour) : look.faint; // all others together say less
    c.fillRect(x, bottom - height, column * 0.64, height);
    if (look.wordless) return; // its number would stand across what is said there now
    c.textAlign = "center";
    c.font = look.font;
    c.fillStyle = value ? look.text : look.muted;
    c.fillText(percent(value), x + column * 0.32, bottom - height - place.size * 0.62);
  });
}

function paintColumnName(c, bar, at, column, { proposed, drawn }, frames, place, look) {
  const middle = place.left + (at + 0.5) * column;
  const y = place.height - place.label / 2;
  const isNamed = bar.text && (bar.text === proposed || bar.text === drawn);
  const name = cut(bar.text || frames.words.others, column - 6, look.widthOf);
  c.textAlign = "center";
  c.font = isNamed ? look.bold : look.font;
  c.fillStyle = isNamed ? look.text : look.muted;
  c.fillText(name, middle, y);
  if (!isNamed) return;
  const width = Math.min(look.widthOfBold(name) + 10, column - 2);
  c.strokeStyle = bar.text === drawn ? look.accent : look.muted;
  c.lineWidth = 1.5;
  c.setLineDash(bar.text === drawn ? [] : DASHES);
  c.beginPath();
  c.roundRect(middle - width / 2, y - place.label / 2 + 2, width, place.label - 4, 4);
  c.stroke();
  c.setLineDash([]);
}
