// The race on the home page: the same requests under two policies, on one clock, in a loop.
//
// Everything is known from the start; a frame is a pure function of the moment `t`, in steps.  Ahead of the clock the run
// stands there faintly, so the figure is never empty.  A tap, a click or Space (on the button) holds it.  Where the
// reader's system asks for little motion it opens finished and still.

import { inkOn, makeFill } from "../player/patterns.js";

const BEFORE = 9; // steps before the first one: everybody waits
const HOLD_SECONDS = 4; // at the end
const FADE_SECONDS = 0.5;
const FLIGHT_SECONDS = 0.4; // from the queue to a slot
const PULSE_SECONDS = 0.6;
const GHOST = 0.17;
const NARROW = 620; // px
const LABELS_EVERY = 50; // steps
const ICONS = { pause: "M1 0h3.6v12H1zM7.4 0H11v12H7.4z", play: "M1.5 0 11.5 6 1.5 12z" };

const races = new WeakMap(); // parentElement -> its race

export default function race({ parentElement, data }) {
  let one = races.get(parentElement);
  if (!one) races.set(parentElement, (one = start(parentElement)));
  one.show(data);
  return one.stop;
}

function start(parentElement) {
  const root = parentElement.querySelector(".race");
  const [canvas, button, legend] = ["canvas", "button", ".legend"].map((name) => root.querySelector(name));
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const life = new AbortController();
  let data = null, place = null, t = -BEFORE, running = !calm, inSight = true, last = 0, frame = 0;

  const end = () => Math.max(...data.lanes.map((lane) => lane.ticks));
  const draw = () => {
    paint(canvas, place, data, t, fading());
    root.dataset.tick = Math.max(0, Math.min(Math.floor(t), end()));
  };
  const fading = () => Math.max(0, Math.min(1, (end() + HOLD_SECONDS * data.rate - t) / (FADE_SECONDS * data.rate)));

  function turn(now) {
    frame = 0;
    if (!running || !inSight) return;
    t += (Math.min(now - last, 60) / 1000) * data.rate;
    last = now;
    if (t > end() + HOLD_SECONDS * data.rate) t = -BEFORE;
    draw();
    frame = requestAnimationFrame(turn);
  }

  function go() {
    root.dataset.running = running;
    const [icon, word] = running ? ["pause", data.words.pause] : ["play", data.words.play];
    button.innerHTML = `<svg viewBox="0 0 12 12" aria-hidden="true"><path d="${ICONS[icon]}"/></svg>`;
    button.append(word);
    if (!running || frame) return;
    last = performance.now();
    frame = requestAnimationFrame(turn);
  }

  function hold() {
    if (!running && t >= end()) t = -BEFORE;
    running = !running;
    go();
    draw();
  }

  function lay() {
    place = layOut(root, canvas, data);
    draw();
  }

  function show(given) {
    const isFirst = data === null;
    data = given;
    if (isFirst && calm) t = end() + data.rate; // a second later, when all is at rest
    canvas.setAttribute("aria-label", data.alt);
    place = layOut(root, canvas, data);
    key(legend, place, data);
    draw();
    go();
  }

  for (const place of [canvas, button]) place.addEventListener("click", hold, { signal: life.signal });
  const sizes = new ResizeObserver(() => data && root.clientWidth && lay());
  sizes.observe(root);
  addEventListener("resize", () => data && lay(), { signal: life.signal });
  matchMedia("(prefers-color-scheme: dark)").addEventListener(
    "change", () => setTimeout(() => { lay(); key(legend, place, data); }, 300), { signal: life.signal },
  );
  const sight = new IntersectionObserver(([{ isIntersecting }]) => {
    inSight = isIntersecting;
    if (data && inSight) go();
  });
  sight.observe(canvas);

  function stop() {
    life.abort();
    sizes.disconnect();
    sight.disconnect();
    cancelAnimationFrame(frame);
    races.delete(parentElement);
  }
  return { show, stop };
}

// --- where things are --------------------------------------------------------------------------------------------------

function layOut(root, canvas, data) {
  const ratio = window.devicePixelRatio || 1;
  const width = root.clientWidth;
  const narrow = width < NARROW;
  const row = Math.max(24, Math.min(44, Math.round(window.innerHeight * 0.04)));
  const step = row + (narrow ? 4 : 6);
  const head = narrow ? 54 : 32; // the title; on a phone the queue stands below it
  const numSlots = data.lanes[0].slots.length;
  const left = narrow ? 0 : 186;
  const ticks = Math.max(...data.lanes.map((lane) => lane.ticks));
  const band = head + numSlots * step;
  const height = data.lanes.length * band + 22 + 26;
  Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  canvas.style.height = `${height}px`;

  const style = getComputedStyle(root);
  const [text, background] = ["--text", "--background"].map((name) => resolved(root, name));
  const family = style.fontFamily;
  return {
    ratio, width, height, narrow, row, step, head, left, ticks, text, background, family,
    chip: narrow ? 9 : 11,
    muted: mixed(text, background, 0.76), faint: mixed(text, background, 0.2), track: mixed(text, background, 0.06),
    top: (lane) => lane * (band + 22),
    middle: (lane, slot) => lane * (band + 22) + head + slot * step + row / 2,
    x: (tick) => left + ((width - left - 2) * tick) / ticks,
    states: data.states.map((state) => ({
      ...state, ink: inkOn(state.colour), fill: makeFill(state, background, ratio, newCanvas),
    })),
  };
}

function newCanvas(width, height) {
  return Object.assign(document.createElement("canvas"), { width, height });
}

function resolved(root, name) {
  root.style.color = `var(${name})`;
  const colour = getComputedStyle(root).color;
  root.style.color = "";
  const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
  return `rgb(${red}, ${green}, ${blue})`;
}

function mixed(one, other, share) {
  const [here, there] = [one, other].map((colour) => colour.match(/[\d.]+/g).map(Number));
  return `rgb(${here.map((value, i) => Math.round(value * share + there[i] * (1 - share))).join(", ")})`;
}

// --- a moment ------------------------------------------------------------------------------------------------------------

const eased = (share) => 1 - (1 - Math.max(0, Math.min(1, share))) ** 3;
const filled = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function paint(canvas, place, data, t, brightness) {
  const c = canvas.getContext("2d");
  c.setTransform(place.ratio, 0, 0, place.ratio, 0, 0);
  c.clearRect(0, 0, place.width, place.height);
  c.textBaseline = "middle";
  paintAxis(c, place, data);
  data.lanes.forEach((lane, at) => paintLane(c, place, data, lane, at, t, brightness));
  paintClock(c, place, t, brightness);
}

function paintAxis(c, place, data) {
  const bottom = place.height - 12;
  c.font = `400 13px ${place.family}`;
  c.textAlign = "center";
  for (let tick = LABELS_EVERY; tick < place.ticks; tick += LABELS_EVERY) {
    const x = place.x(tick);
    c.fillStyle = place.faint;
    data.lanes.forEach((lane, at) => c.fillRect(x, place.top(at) + place.head, 1, lane.slots.length * place.step));
    c.fillStyle = place.muted;
    c.fillText(tick, x, bottom);
  }
  c.textAlign = "left";
  c.fillText(data.words.axis, place.x(0), bottom);
}

function paintLane(c, place, data, lane, at, t, brightness) {
  const top = place.top(at), done = lane.done.filter(([tick]) => tick <= t).length;
  paintTitle(c, place, data, lane, top, done);
  lane.slots.forEach((slot, number) => {
    const y = place.middle(at, number) - place.row / 2;
    c.fillStyle = place.track;
    c.beginPath();
    c.roundRect(place.x(0), y, place.x(lane.ticks) - place.x(0), place.row, 5);
    c.fill();
    for (const stretch of slot) {
      paintStretch(c, place, stretch, y, stretch[1], GHOST);
      paintStretch(c, place, stretch, y, Math.min(stretch[1], t), brightness);
    }
    paintLetters(c, place, data, slot, y, t, brightness);
    if (!place.narrow) {
      c.font = `400 13px ${place.family}`;
      c.textAlign = "right";
      c.fillStyle = place.muted;
      c.fillText(filled(data.words.slot, { n: number + 1 }), place.left - 10, y + place.row / 2);
    }
  });
  paintQueue(c, place, data, lane, at, t, brightness);
  paintPulses(c, place, data, lane, at, t);
  if (t >= lane.ticks) paintEnd(c, place, data, lane, at, t, brightness);
}

function paintTitle(c, place, data, lane, top, done) {
  const middle = top + 12;
  c.textAlign = "left";
  c.font = `650 16px ${place.family}`;
  c.fillStyle = place.text;
  c.fillText(lane.title, 0, middle);
  const after = c.measureText(lane.title).width + 14;
  c.fillStyle = place.muted;
  c.font = `400 15px ${place.family}`;
  if (!place.narrow) c.fillText(lane.says, Math.max(after, place.left), middle);
  c.textAlign = "right";
  c.font = `600 15px ${place.family}`;
  c.fillStyle = place.text;
  c.fillText(filled(data.words.done, { done, all: data.letters.length }), place.width - 2, middle);
}

function paintStretch(c, place, [start, , state], y, until, alpha) {
  const look = place.states[state];
  if (until <= start || look.fill === null || alpha === 0) return;
  c.globalAlpha = alpha;
  c.fillStyle = look.fill;
  const x = place.x(start);
  c.fillRect(x, y, Math.max(place.x(until) - x - 0.5, 0.8), place.row);
  c.globalAlpha = 1;
}

// A request's letter stands where it sat down.
function paintLetters(c, place, data, slot, y, t, brightness) {
  let before = -1;
  for (const [start, end, state, who] of slot) {
    if (who >= 0 && who !== before) {
      const until = Math.max(...slot.filter((other) => other[3] === who).map((other) => other[1]));
      const x = place.x(start) + 6;
      c.fillStyle = place.background; // a seam between two who follow each other
      c.fillRect(place.x(start) - 1, y, 1.5, place.row);
      c.font = `600 ${place.narrow ? 12 : 14}px ${place.family}`;
      if (place.x(until) - x > c.measureText(data.letters[who]).width + 2) {
        const sat = t > start + 0.5;
        c.textAlign = "left";
        c.fillStyle = sat ? "#ffffff" : place.muted;
        c.globalAlpha = sat ? brightness : 0.55;
        c.fillText(data.letters[who], x, y + place.row / 2 + 0.5);
        c.globalAlpha = 1;
      }
    }
    before = who;
  }
}

// --- the queue -----------------------------------------------------------------------------------------------------------

// Who waits stands in a row (on a phone) or in a block as high as the slots; who is let in flies to their slot.
function paintQueue(c, place, data, lane, at, t, brightness) {
  const everybody = data.letters.map((_, who) => who);
  let [now, before, since] = [everybody, everybody, -BEFORE];
  for (const [tick, waiting] of lane.waiting) {
    if (tick > t) break;
    [before, now, since] = [now, waiting, tick];
  }
  const flown = eased((t - since) / (FLIGHT_SECONDS * data.rate));
  for (const who of before) {
    const from = seat(place, at, before.indexOf(who));
    const waits = now.includes(who);
    if (!waits && flown === 1) continue;
    const to = waits ? seat(place, at, now.indexOf(who)) : slotOf(place, lane, at, who);
    const [x, y] = from.map((value, i) => value + (to[i] - value) * flown);
    c.globalAlpha = (waits ? 1 : 1 - 0.7 * flown) * Math.max(brightness, GHOST);
    paintChip(c, place, data, who, x, y);
    c.globalAlpha = 1;
  }
}

function seat(place, at, number) {
  const wide = 2 * place.chip + 5;
  if (place.narrow) return [place.chip + 1 + number * wide, place.top(at) + 38];
  const column = Math.floor(number / 3);
  return [place.chip + 2 + column * wide, place.middle(at, number % 3)];
}

function slotOf(place, lane, at, who) {
  const number = lane.slots.findIndex((slot) => slot.some((stretch) => stretch[3] === who));
  const first = lane.slots[number].find((stretch) => stretch[3] === who);
  return [place.x(first[0]) + place.chip, place.middle(at, number)];
}

function paintChip(c, place, data, who, x, y) {
  c.beginPath();
  c.arc(x, y, place.chip, 0, 2 * Math.PI);
  c.fillStyle = data.queue;
  c.fill();
  c.fillStyle = inkOn(data.queue);
  c.font = `600 ${place.chip + 1}px ${place.family}`;
  c.textAlign = "center";
  c.fillText(data.letters[who], x, y + 0.5);
}

// --- ends ----------------------------------------------------------------------------------------------------------------

function paintPulses(c, place, data, lane, at, t) {
  for (const [tick, who] of lane.done) {
    const share = (t - tick) / (PULSE_SECONDS * data.rate);
    if (share < 0 || share > 1) continue;
    const number = lane.slots.findIndex((slot) => slot.some((stretch) => stretch[3] === who));
    c.beginPath();
    c.arc(place.x(tick), place.middle(at, number), 4 + 14 * eased(share), 0, 2 * Math.PI);
    c.strokeStyle = place.text;
    c.globalAlpha = 1 - share;
    c.lineWidth = 2;
    c.stroke();
    c.globalAlpha = 1;
  }
}

// Beyond the end of the run that is over first: how far it is ahead.
function paintEnd(c, place, data, lane, at, t, brightness) {
  const x = place.x(lane.ticks), ahead = Math.floor(Math.min(t, place.ticks)) - lane.ticks;
  const middle = place.middle(at, Math.floor(lane.slots.length / 2));
  const right = place.x(Math.min(t, place.ticks));
  c.globalAlpha = brightness;
  const says = filled(data.words.end, { n: lane.ticks });
  if (lane.ticks < place.ticks) {
    c.fillStyle = c.strokeStyle = place.text;
    c.lineWidth = 1.5;
    c.beginPath();
    for (const [x0, y0, x1, y1] of [[x + 8, middle, right, middle], [x + 8, middle - 6, x + 8, middle + 6], [right, middle - 6, right, middle + 6]]) {
      c.moveTo(x0, y0);
      c.lineTo(x1, y1);
    }
    if (right - x > 16) c.stroke();
    c.textAlign = "left";
    c.font = `600 15px ${place.family}`;
    c.fillText(says, x + 8, middle - place.step * 0.62);
    c.font = `650 ${place.narrow ? 18 : 24}px ${place.family}`;
    if (ahead > 3) c.fillText(filled(data.words.ahead, { n: ahead }), x + 8, middle + place.step * 0.72);
  }
  c.globalAlpha = 1;
}

function paintClock(c, place, t, brightness) {
  if (t < 0 || t >= place.ticks) return;
  c.globalAlpha = brightness;
  c.fillStyle = place.text;
  c.fillRect(place.x(t) - 0.75, place.head - 4, 1.5, place.height - place.head - 20);
  c.globalAlpha = 1;
}

function key(legend, place, data) {
  legend.replaceChildren(...data.states.map((state, at) => {
    const item = document.createElement("li"), swatch = newCanvas(22 * place.ratio, 14 * place.ratio);
    const c = swatch.getContext("2d");
    c.scale(place.ratio, place.ratio);
    c.fillStyle = place.states[at].fill ?? place.track;
    c.fillRect(0, 0, 22, 14);
    if (place.states[at].fill === null) {
      c.strokeStyle = state.colour;
      c.strokeRect(0.5, 0.5, 21, 13);
    }
    item.append(swatch, state.label);
    return item;
  }));
}
