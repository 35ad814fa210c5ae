// The stations of a server in a row, with the loop below: prefill above, decode under it, from the sampler and back to it.

export const [PREFILL, DECODE, SAMPLE] = [3, 4, 5]; // places in the list of stations
const BEFORE_PREFILL = 2; // the store stands below it
const LEAST_GAP = 10; // px for an arrow
const HEAD = 4; // px of an arrow's head

// Boxes in px from `top` down; `height` of all.  `second`: the widest text of the second line, "" for none.  `store`: the
// widest text of a box beside decode, for what prefill and decode write and decode reads; "" for none.
export function placeStops(names, { width, top, size, widthOf, second, store = "" }) {
  const row = names.map((_, stop) => stop).filter((stop) => stop !== DECODE);
  const pad = Math.round(size * 0.9);
  const needed = (stop) => Math.max(widthOf(names[stop]), widthOf(second), stop === PREFILL ? widthOf(names[DECODE]) : 0) + pad;
  const wanted = row.map(needed);
  const sum = wanted.reduce((all, each) => all + each, 0);
  const gap = Math.max((width - 2 - sum) / (row.length - 1), LEAST_GAP);
  const shrink = Math.min(1, (width - 2 - gap * (row.length - 1)) / sum);
  const height = Math.round(size * (second ? 2.75 : 1.6));
  const boxes = [];
  let x = 1;
  row.forEach((stop, at) => {
    boxes[stop] = { x, y: top, width: wanted[at] * shrink, height };
    x += wanted[at] * shrink + gap;
  });
  const below = top + height + Math.round(size * (second ? 0.85 : 0.6));
  boxes[DECODE] = { ...boxes[PREFILL], y: below };
  const beside = boxes[BEFORE_PREFILL];
  const right = beside.x + beside.width;
  const wide = Math.min(widthOf(store) + pad, right - 1);
  return { boxes, store: store && { x: right - wide, y: below, width: wide, height }, height: below + height - top };
}

// A token on its way from one station to the next, along the arrows; `share` of the way is behind it.
export function paintTraveller(c, boxes, from, to, share, colour, look) {
  const [x, y] = pointOn(wayBetween(boxes, from, to), share);
  c.fillStyle = colour;
  c.strokeStyle = look.background;
  c.lineWidth = 2;
  c.beginPath();
  c.arc(x, y, look.size * 0.42, 0, 2 * Math.PI);
  c.fill();
  c.stroke();
}

// What is decoded comes from the sampler, whatever was lit meanwhile.
export function wayBetween(boxes, from, to) {
  if (to === DECODE && from !== DECODE) return loopWays(boxes, 0)[1];
  if (from === DECODE && to === SAMPLE) return loopWays(boxes, 0)[0];
  const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
  return [middle(boxes[from]), middle(boxes[to])];
}

function pointOn(corners, share) {
  const parts = corners.slice(1).map(([x, y], at) => Math.hypot(x - corners[at][0], y - corners[at][1]));
  let left = share * parts.reduce((sum, part) => sum + part, 0);
  const at = parts.findIndex((part, index) => left <= part || index === parts.length - 1 || ((left -= part), false));
  const [[x0, y0], [x1, y1]] = [corners[at], corners[at + 1]];
  const along = parts[at] ? Math.min(left / parts[at], 1) : 0;
  return [x0 + (x1 - x0) * along, y0 + (y1 - y0) * along];
}

export function stopUnder({ boxes }, x, y) {
  return boxes.findIndex((box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);
}

// `lit`: the stations where something is now; `seen`: those it has passed; `lines[stop]`: a second line, or nothing.
// `kept`: the two lines of the store, if there is one.
export function paintStops(c, names, kinds, { boxes, store }, { lit, seen, lines, loop, kept }, look) {
  paintWays(c, boxes, look);
  paintLoopWord(c, boxes, !!store, loop, look);
  if (store) paintStore(c, boxes, store, kept, [PREFILL, DECODE].find((stop) => lit.includes(stop)), kinds, look);
  names.forEach((name, stop) => {
    const { x, y, width, height } = boxes[stop];
    const state = look.states[kinds[stop]];
    const isLit = lit.includes(stop);
    if (isLit) fillStop(c, boxes[stop], state.colour);
    else outlineStop(c, boxes[stop], seen.includes(stop) ? state.colour : look.faint, seen.includes(stop) ? 2 : 1);
    const second = lines[stop];
    const middle = y + height / 2;
    const lineHeight = look.size * 1.2;
    const rows = second ? [[name, look.bold, middle - lineHeight / 2], [second, look.font, middle + lineHeight / 2]] : [[name, look.bold, middle]];
    for (const [text, font, at] of rows) {
      const room = width - 4;
      const wide = Math.min(font === look.bold ? look.widthOfBold(text) : look.widthOf(text), room);
      c.textAlign = "left";
      c.font = font;
      c.fillStyle = isLit ? state.ink : seen.includes(stop) ? look.text : look.muted;
      c.fillText(text, x + (width - wide) / 2, at, room);
    }
  });
}

// Plain, so that its words can be read from the back row.
function fillStop(c, { x, y, width, height }, colour) {
  c.fillStyle = colour;
  c.beginPath();
  c.roundRect(x, y, width, height, 5);
  c.fill();
}

function outlineStop(c, { x, y, width, height }, colour, line) {
  c.strokeStyle = colour;
  c.lineWidth = line;
  c.beginPath();
  c.roundRect(x + line / 2, y + line / 2, width - line, height - line, 5);
  c.stroke();
}

function paintWays(c, boxes, look) {
  const row = boxes.map((_, stop) => stop).filter((stop) => stop !== DECODE);
  for (let at = 1; at < row.length; at++) {
    const [from, to] = [boxes[row[at - 1]], boxes[row[at]]];
    const y = from.y + from.height / 2;
    paintWay(c, [[from.x + from.width + 1, y], [to.x - 1, y]], look);
  }
  for (const way of loopWays(boxes, look.size * 0.45)) paintWay(c, way, look);
}

// From decode to the sampler, and back; the two are `apart` px off the middle.
function loopWays(boxes, apart) {
  const [decode, sample] = [boxes[DECODE], boxes[SAMPLE]];
  const [right, middle, bottom] = [decode.x + decode.width + 1, decode.y + decode.height / 2, sample.y + sample.height + 1];
  const [out, back] = [sample.x + sample.width * 0.3, sample.x + sample.width * 0.7];
  return [
    [[right, middle - apart], [out, middle - apart], [out, bottom]],
    [[back, bottom], [back, middle + apart], [right, middle + apart]],
  ];
}

// A line through corners, with a head at its end.
function paintWay(c, corners, look) {
  c.strokeStyle = c.fillStyle = look.muted;
  c.lineWidth = 1.5;
  c.beginPath();
  corners.forEach(([x, y], at) => (at ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.stroke();
  const [[x0, y0], [x1, y1]] = corners.slice(-2);
  const [dx, dy] = [Math.sign(x1 - x0), Math.sign(y1 - y0)];
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x1 - dx * HEAD * 1.6 - dy * HEAD, y1 - dy * HEAD * 1.6 - dx * HEAD);
  c.lineTo(x1 - dx * HEAD * 1.6 + dy * HEAD, y1 - dy * HEAD * 1.6 + dx * HEAD);
  c.fill();
}

// On the left of the loop, or on its right where the store stands on the left; not where it finds no room.
function paintLoopWord(c, boxes, onRight, word, look) {
  const [decode, sample, last] = [boxes[DECODE], boxes[SAMPLE], boxes.at(-1)];
  const x = onRight ? sample.x + sample.width * 0.7 + 10 : decode.x - 10;
  if (!word || look.widthOf(word) > (onRight ? last.x + last.width - x : x - 2)) return;
  c.textAlign = onRight ? "left" : "right";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(word, x, decode.y + decode.height / 2);
}

// Prefill writes it; decode reads it and writes to it.
function paintStore(c, boxes, store, lines, busy, kinds, look) {
  const [prefill, decode] = [boxes[PREFILL], boxes[DECODE]];
  const [left, right, middle, apart] = [store.x + store.width + 1, decode.x - 1, store.y + store.height / 2, look.size * 0.45];
  const between = (prefill.y + prefill.height + store.y) / 2;
  const [from, to] = [prefill.x + prefill.width * 0.15, store.x + store.width / 2];
  paintWay(c, [[from, prefill.y + prefill.height + 1], [from, between], [to, between], [to, store.y - 1]], look);
  paintWay(c, [[left, middle - apart], [right, middle - apart]], look);
  paintWay(c, [[right, middle + apart], [left, middle + apart]], look);
  outlineStop(c, store, busy === undefined ? look.faint : look.states[kinds[busy]].colour, busy === undefined ? 1 : 2);
  lines.forEach((text, row) => {
    const isBold = row === 0;
    c.textAlign = "center";
    c.font = isBold ? look.bold : look.font;
    c.fillStyle = isBold ? look.text : look.muted;
    c.fillText(text, store.x + store.width / 2, middle + (row - (lines.length - 1) / 2) * look.size * 1.2, store.width - 4);
  });
}

// Which process each stretch of the row belongs to: [first station, last station, name], above the boxes.
export function paintBorders(c, { boxes }, borders, look) {
  for (const [first, last, name] of borders) {
    const [x, right, y] = [boxes[first].x, boxes[last].x + boxes[last].width, boxes[first].y - look.size * 0.3];
    c.fillStyle = look.muted;
    c.fillRect(x, y, right - x, 1.5);
    c.textAlign = "center";
    c.font = look.font;
    c.fillText(name, (x + right) / 2, y - look.size * 0.7, right - x + LEAST_GAP - 4);
  }
}
