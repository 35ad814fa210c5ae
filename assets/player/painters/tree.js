// The radix tree: bars of tokens from the root rightwards, a lane for each way through it.  A bar stands where its tokens
// stand, so a node that is split stays where it is.  Where a screen is too narrow for its words, they stand below it.
//
// `layout` is arithmetic, `paint` draws; neither knows the page, so both run in node with a fake context.

import { flow } from "../cells.js";
import { lastUpTo } from "../clock.js";
import { expandChanges } from "../decode.js";
import { stay } from "../motion.js";
import { paintSpan } from "../patterns.js";
import { fill } from "../words.js";

const MOST_AIR = 10; // px beside a word
const LEAST_AIR = 4;
const BOTTOM = 4; // px below the last lane
const TRUNK = 16; // px left of the tree, for the root
const LEAST_WORD = 9; // px; a narrower cell shows no letter of its word
const LEAST_LANE = 1.3; // times the size of text
const TIGHT = 0.8; // of the width that the words need

// --- data ----------------------------------------------------------------------------------------------------------

export function decode({ picture, texts, times }, { numSteps, numbers }) {
  const moments = picture.moments.map((moment) => ({ ...moment, bars: moment.bars.map(barOf) }));
  const end = Math.max(numbers.at(-1), 1);
  const said = expandChanges(times, numSteps);
  return {
    moments,
    lanes: texts.lanes,
    requests: picture.requests,
    slots: picture.slots,
    positions: numbers,
    end,
    axis: { end, gap: 1 },
    timeText: (number) => said[lastUpTo(numbers, number)],
  };
}

function barOf([lane, start, end, state, parentLane, locks, rank]) {
  return { lane, start, end, state, parentLane, locks, rank };
}

export function numRows(frames) {
  return 2 * frames.lanes.length + 2;
}

export function statesThatOccur(frames) {
  const seen = new Set(frames.moments.flatMap((moment) => moment.bars.map((bar) => bar.state)));
  return [...seen].sort((a, b) => a - b);
}

// --- places --------------------------------------------------------------------------------------------------------

// Everything's place in CSS pixels.  `edges[lane][i]`: where token i of a lane begins; equal beginnings stand at equal places.
export function layout(frames, { width, room, size, widthOf }) {
  const header = Math.round(size * 1.7);
  const gauge = Math.round(size * 0.85);
  const top = header + gauge + Math.round(size * 0.7);
  const left = TRUNK;
  const reserve = widthOf(fill(frames.words.rank, { n: 9 })) + 14; // right of the leaves
  const wide = width - left - reserve;
  const spare = frames.lanes.map((words) => (wide - words.reduce((sum, word) => sum + widthOf(word), 0)) / words.length);
  const air = Math.min(Math.max(Math.min(...spare), LEAST_AIR), MOST_AIR);
  const wanted = frames.lanes.map((words) => sums(words.map((word) => widthOf(word) + air)));
  const scale = Math.min(1, wide / Math.max(...wanted.map((edges) => edges.at(-1))));
  const edges = wanted.map((each) => each.map((edge) => left + edge * scale));
  const lineHeight = Math.round(size * 1.45);
  const words = scale < TIGHT ? frames.lanes.map((_, lane) => wordsBelow(frames, lane, width - left, widthOf)) : [];
  const linesOf = (each) => (each?.at(-1)?.line ?? -1) + 1;
  const fitsWith = (lines) => Math.floor((room - top - BOTTOM - lines * lineHeight) / frames.lanes.length);
  const numLines = words.reduce((sum, each) => sum + linesOf(each), 0);
  const below = fitsWith(numLines) >= size * LEAST_LANE ? words : []; // a small lecture hall has no room for them
  const fits = fitsWith(below.length ? numLines : 0);
  const isRoomy = fits >= size * 2.3; // else the locks are told, not drawn
  const badge = isRoomy ? Math.round(size * 1.1) : 0; // above a bar
  const laneHeight = Math.min(Math.max(fits, Math.round(size * LEAST_LANE)), Math.round(size * 4));
  const barHeight = Math.min(laneHeight - badge - 3, Math.round(size * 1.9));
  const heights = frames.lanes.map((_, lane) => laneHeight + linesOf(below[lane]) * lineHeight);
  const tops = sums(heights).map((sum) => top + sum);
  const height = tops.at(-1) + BOTTOM;
  return { width, height, left, top, tops, below, lineHeight, header, gauge, edges, laneHeight, badge, barHeight, size };
}

// Where the words stand that a lane does not share with the lanes above it.
function wordsBelow({ lanes, moments }, lane, width, widthOf) {
  const own = Math.min(...moments.flatMap(({ bars }) => bars.filter((bar) => bar.lane === lane).map(({ start }) => start)));
  return flow(lanes[lane].slice(own), width, widthOf, 0).map((place, nth) => ({ ...place, token: own + nth }));
}

function sums(widths) {
  const ends = [0];
  for (const width of widths) ends.push(ends.at(-1) + width);
  return ends;
}

const yOf = ({ tops, badge }, lane) => tops[lane] + badge;

function boxOf(place, { lane, start, end }) {
  const x = place.edges[lane][start];
  return { x, y: yOf(place, lane), width: place.edges[lane][end] - x - 2, height: place.barHeight };
}

export function spotAt(place, frames, { step }, x, y) {
  const inside = (bar) => {
    const box = boxOf(place, bar);
    return x >= box.x && x < box.x + box.width + 2 && y >= box.y - place.badge && y < box.y + box.height;
  };
  const bar = frames.moments[step].bars.find(inside);
  return bar ? { text: inWords(frames, bar), ...boxOf(place, bar) } : null;
}

// For the keyboard: all of a lane.
export function spotInLane(place, frames, { step }, lane) {
  const bars = frames.moments[step].bars.filter((bar) => bar.lane === lane);
  const text = bars.map((bar) => inWords(frames, bar)).join("\n") || frames.words.empty;
  return { text, x: place.left, y: yOf(place, lane), height: place.barHeight };
}

function inWords(frames, bar) {
  const { words, lanes, states } = frames;
  const parts = [fill(words.tokens, { n: bar.end - bar.start }), states[bar.state].label];
  if (bar.locks) parts.push(fill(words.locks, { n: bar.locks }));
  if (bar.rank) parts.push(fill(words.rank, { n: bar.rank }));
  return `${lanes[bar.lane].slice(bar.start, bar.end).join(" ")}\n${parts.join(" · ")}`;
}

// --- as a table ----------------------------------------------------------------------------------------------------

export function columns({ words }) {
  return [words.column_tree, words.column_queue];
}

export function cells(frames, step) {
  const { words, requests } = frames;
  const moment = frames.moments[step];
  const tree = moment.bars.map((bar) => inWords(frames, bar).replace("\n", " · ")).join("\n") || words.empty;
  const named = (who) => who.map((number) => requests[number]).join(" ") || words.nobody;
  const used = fill(words.slots, { used: moment.locked + moment.evictable, total: frames.slots });
  return [tree, `${words.running}: ${named(moment.running)}\n${words.waiting}: ${named(moment.waiting)}\n${used}`];
}

// --- the picture ---------------------------------------------------------------------------------------------------

// The tree without its header.
export function ghostArea({ top, width, height }) {
  return { x: 0, y: top, width, height: height - top };
}

export function paint(c, frames, { step, at = stay }, place, look) {
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  const moment = frames.moments[step];
  paintHeader(c, frames, moment, at, place, look);
  paintGauge(c, frames, moment, place, look);
  paintBranches(c, moment, place, look);
  const follows = (bar) => moment.bars.some((other) => other.lane === bar.lane && other.start === bar.end);
  for (const bar of moment.bars.toReversed()) paintBar(c, frames, bar, boxNow(place, bar, at), follows(bar), place, look);
  for (const bar of moment.bars) {
    paintLocks(c, bar, place, look);
    paintBelow(c, frames, bar, place, look);
  }
  for (const [lane, end, who] of moment.owners) {
    const { x, y } = at(`request ${who}`, { x: place.edges[lane][end] + 3, y: yOf(place, lane) + place.barHeight / 2 });
    paintChip(c, frames.requests[who], x, y, place.size, look);
  }
}

// A node grows out of the end of its parent; one that is split gives its tail away.
function boxNow(place, bar, at) {
  const there = boxOf(place, bar);
  const parent = bar.parentLane < 0 ? there.y : yOf(place, bar.parentLane);
  const origin = bar.parentLane === bar.lane ? there : { ...there, y: parent, width: 0 };
  return at(`bar ${bar.lane} ${bar.start}`, there, origin);
}

function paintHeader(c, frames, moment, at, place, look) {
  const { words, requests, slots } = frames;
  const y = place.header / 2;
  const used = fill(words.slots, { used: moment.locked + moment.evictable, total: slots });
  const right = place.width - look.widthOf(used) - 16;
  write(c, used, place.width - 2, y, look, { align: "right" });
  let x = 0;
  for (const name of ["running", "waiting"]) {
    write(c, words[name], x, y, look, { ink: look.muted });
    x += look.widthOf(words[name]) + 6;
    const who = moment[name];
    for (let index = 0; index < who.length; index++) {
      const step = chipWidth(requests[who[index]], place.size, look) + 4;
      if (x + step > right) {
        write(c, `+${who.length - index}`, x, y, look, { ink: look.muted });
        x += look.widthOf("+0");
        break;
      }
      const here = at(`${name} ${who[index]}`, { x, y });
      paintChip(c, requests[who[index]], here.x, here.y, place.size, look);
      x += step;
    }
    if (!who.length) {
      write(c, words.nobody, x, y, look, { ink: look.muted });
      x += look.widthOf(words.nobody);
    }
    x += 14;
  }
}

function paintGauge(c, frames, moment, place, look) {
  const y = place.header;
  const scale = (place.width - 2) / frames.slots;
  const locked = moment.locked * scale;
  const evictable = moment.evictable * scale;
  c.fillStyle = look.track;
  c.fillRect(0, y, place.width - 2, place.gauge);
  const [lockedState, evictableState] = ["locked", "evictable"].map((name) => look.states.find((state) => state.name === name));
  if (locked) paintSpan(c, lockedState, 0, y, locked, place.gauge, [0, 0], look);
  if (evictable) paintSpan(c, evictableState, locked, y, evictable, place.gauge, [0, 0], look);
  c.fillStyle = look.muted;
  c.fillRect(place.width - 2, y - 2, 2, place.gauge + 4); // the end of the slots
}

// From the root, and from the end of a parent down (or up) to a child in a lane of its own.
function paintBranches(c, { bars }, place, look) {
  c.fillStyle = look.muted;
  const middle = (lane) => yOf(place, lane) + place.barHeight / 2;
  const firstRoot = middle(Math.min(...bars.filter((bar) => bar.parentLane < 0).map((bar) => bar.lane), place.edges.length - 1));
  for (const bar of bars) {
    if (bar.parentLane === bar.lane) continue;
    const fromRoot = bar.parentLane < 0;
    const [start, y] = [place.edges[bar.lane][bar.start], middle(bar.lane)];
    const x = fromRoot ? 4 : start - 8;
    const edge = yOf(place, bar.parentLane) + (bar.lane > bar.parentLane ? place.barHeight : 0);
    const from = fromRoot ? firstRoot : edge;
    c.fillRect(x, Math.min(from, y), 1.5, Math.abs(y - from) + 1.5);
    c.fillRect(x, y, start - x - 1, 1.5);
  }
  c.beginPath();
  c.arc(4.75, bars.length ? firstRoot : middle(0), 4.5, 0, 2 * Math.PI);
  c.fill();
}

// Where another bar goes on (one that was just evicted), there is no room for the rank.
function paintBar(c, frames, bar, box, isFollowed, place, look) {
  const state = look.states[bar.state];
  paintSpan(c, state, box.x, box.y, box.width, box.height, [4, 4], look);
  if (state.fill && state.fill !== state.colour) {
    const band = place.size * 1.15; // words are easier to read beside a pattern than on it
    c.fillStyle = state.colour;
    c.fillRect(box.x, box.y + (box.height - band) / 2, box.width, band);
  }
  const edges = place.edges[bar.lane];
  const middle = box.y + box.height / 2 + 0.5;
  for (let token = bar.start; token < bar.end; token++) {
    const room = edges[token + 1] - edges[token];
    if (token > bar.start) paintSeam(c, state, edges[token] - 1, box, look);
    if (place.below.length || room < LEAST_WORD || edges[token + 1] > box.x + box.width + 3) continue;
    const word = cutWord(frames.lanes[bar.lane][token], room - 2, look.widthOf);
    const x = edges[token] + (room - 2 - look.widthOf(word)) / 2;
    write(c, word, x, middle, look, { ink: state.fill ? state.ink : look.text });
  }
  if (bar.rank && !isFollowed) write(c, fill(frames.words.rank, { n: bar.rank }), box.x + box.width + 7, middle, look, { ink: look.muted });
}

function paintSeam(c, state, x, box, look) {
  c.fillStyle = state.fill ? look.background : look.faint;
  c.globalAlpha = state.fill ? 0.45 : 1;
  c.fillRect(x, box.y + 2, 1, box.height - 4);
  c.globalAlpha = 1;
}

// Its words below the lane, a stroke where the next node begins.
function paintBelow(c, { lanes }, bar, place, look) {
  for (const { token, line, x, width } of place.below[bar.lane] ?? []) {
    if (token < bar.start || token >= bar.end) continue;
    const [left, y] = [place.left + x, yOf(place, bar.lane) + place.barHeight + (line + 0.5) * place.lineHeight + 1];
    c.fillStyle = look.background; // a branch goes past behind them
    c.fillRect(left, y - place.size * 0.6, width, place.size * 1.2);
    write(c, lanes[bar.lane][token], left + width / 2, y, look, { align: "center" });
    c.fillStyle = look.muted;
    if (token === bar.end - 1) c.fillRect(left + width - 1, y - place.size * 0.55, 1.5, place.size * 1.1);
  }
}

export function cutWord(word, room, widthOf) {
  if (widthOf(word) <= room) return word;
  let end = word.length - 1;
  while (end > 0 && widthOf(`${word.slice(0, end)}…`) > room) end--;
  return end ? `${word.slice(0, end)}…` : "";
}

// A padlock and how many hold it, above the beginning of the node.
function paintLocks(c, bar, place, look) {
  if (!bar.locks || !place.badge) return;
  const box = boxOf(place, bar);
  const unit = place.size / 13;
  const [x, y] = [box.x + 3, box.y - place.badge / 2];
  c.strokeStyle = look.text;
  c.lineWidth = 1.5 * unit;
  c.beginPath();
  c.arc(x + 4 * unit, y - 1 * unit, 2.6 * unit, Math.PI, 2 * Math.PI);
  c.stroke();
  c.fillStyle = look.text;
  c.fillRect(x, y - 1 * unit, 8 * unit, 6 * unit);
  if (box.width > 20 * unit) write(c, String(bar.locks), x + 11 * unit, y + 0.5, look, { font: look.bold });
}

function chipWidth(letter, size, look) {
  return Math.max(look.widthOfBold(letter) + 8, Math.round(size * 1.45));
}

function paintChip(c, letter, x, middle, size, look) {
  const [width, height] = [chipWidth(letter, size, look), Math.round(size * 1.4)];
  c.fillStyle = look.background;
  c.fillRect(x, middle - height / 2, width, height);
  c.strokeStyle = look.text;
  c.lineWidth = 1.5;
  c.beginPath();
  c.roundRect(x + 0.75, middle - height / 2 + 0.25, width - 1.5, height - 1.5, 4);
  c.stroke();
  c.textAlign = "center";
  c.font = look.bold;
  c.fillStyle = look.text;
  c.fillText(letter, x + width / 2, middle + 0.5);
}

function write(c, text, x, y, look, { align = "left", ink = look.text, font = look.font } = {}) {
  c.textAlign = align;
  c.font = font;
  c.fillStyle = ink;
  c.fillText(text, x, y);
}
