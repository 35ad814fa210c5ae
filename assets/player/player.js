// One step player on the page: wires the buttons, the keys and the canvas to the clock and the painter.
//
// Streamlit calls the default export again whenever the data or the theme changes, with the same parentElement.  What the
// reader has done lives in PLAYERS under that element; the server hears of a step when the reader stands still.

import { SPEEDS, advance, carryOver, clampStep, nextEvent, previousEvent } from "./clock.js";
import { decodeFrames, frameOf, spanAt, statesThatOccur } from "./decode.js";
import { inkOn, makeFill } from "./patterns.js";
import { cellAt, layoutSlots, paintSlots, paintSpan, stepAtX } from "./paint_slots.js";

const PAINTERS = { slots: { layout: layoutSlots, paint: paintSlots, cellAt } };
const PLAYERS = new WeakMap(); // parentElement -> what the reader has done there
const NOTIFY_MS = 300; // stepping fast tells the server once
const NOTICE_MS = 6000;
const MOST_NOTE_LINES = 4;
const SETTLE_MS = [150, 500, 1500]; // what stands above the player may come later than the player
const CALM = matchMedia("(prefers-reduced-motion: reduce)");

// Shared by all players of the page, however often this file is loaded: who was touched last, where each one stood.
const SHARED = (globalThis[Symbol.for("step-player")] ??= { touched: null, all: new Set(), stood: new Map() });

export default function mount({ parentElement, data, setStateValue }) {
  const fresh = !PLAYERS.has(parentElement);
  if (fresh) PLAYERS.set(parentElement, newPlayer(parentElement));
  const player = PLAYERS.get(parentElement);
  player.tell = (step) => setStateValue("stands", { step, serial: data.start.serial });
  takeData(player, data, fresh);
  sayWords(player);
  wire(player);
  drawLegend(player);
  fit(player);
  if (data.large) for (const delay of SETTLE_MS) setTimeout(() => fitAgain(player), delay);
  SHARED.all.add(player);
  SHARED.onKey = onKey; // the newest load answers the keys
  return () => unmount(player, parentElement);
}

function newPlayer(parentElement) {
  const root = parentElement.querySelector(".player");
  const find = (selector) => root.querySelector(selector);
  const player = { root, find, canvas: find(".stage canvas"), scrub: find(".scrub"), table: find(".table") };
  Object.assign(player, { step: 0, phase: 0, playing: false, speed: 1, autopause: true, asTable: false });
  player.observer = new ResizeObserver(() => {
    if (find(".stage").clientWidth !== player.layout?.width) fit(player);
  });
  player.observer.observe(find(".stage"));
  player.onWindow = () => fit(player);
  addEventListener("resize", player.onWindow);
  player.onCalm = () => {
    pause(player);
    sayWords(player);
    draw(player);
  };
  CALM.addEventListener("change", player.onCalm);
  if (!SHARED.listening) document.addEventListener("keydown", (event) => SHARED.onKey(event));
  SHARED.listening = true;
  return player;
}

function unmount(player, parentElement) {
  player.observer.disconnect();
  removeEventListener("resize", player.onWindow);
  CALM.removeEventListener("change", player.onCalm);
  cancelAnimationFrame(player.request);
  clearTimeout(player.notifying);
  SHARED.all.delete(player);
  if (SHARED.touched === player) SHARED.touched = null;
  PLAYERS.delete(parentElement);
}

// --- data ----------------------------------------------------------------------------------------------------------

function takeData(player, data, fresh) {
  const changed = !fresh && data.id !== player.data.id;
  const ordered = !fresh && data.start.serial !== player.data.start.serial;
  player.data = data;
  player.words = data.words;
  player.frames = { ...decodeFrames(data), words: data.words };
  player.last = player.frames.numSteps - 1;
  player.painter = PAINTERS[data.painter];
  player.look = null;
  player.tableOf = null;
  player.root.classList.toggle("large", data.large);
  player.root.dataset.grids = player.frames.grids.length;
  if (ordered) stop(player);
  if (fresh || ordered) {
    player.step = frameOf(player.frames.numbers, startOf(data));
    player.told = player.frames.numbers[player.step];
  } else {
    const { step, clamped } = carryOver(player.step, player.last);
    player.step = step;
    if (changed) notice(player, clamped ? "clamped" : "kept", { n: number(player) });
    if (clamped) pause(player);
  }
}

// A player that is only moved to another place of the page goes on where it stood; the server may know less.
function startOf(data) {
  const stood = SHARED.stood.get(data.key);
  return stood && stood.serial === data.start.serial ? stood.step : data.start.step;
}

const word = (player, name, values = {}) =>
  player.words[name].replace(/\{(\w+)\}/g, (_, blank) => values[blank] ?? "");

const number = (player) => player.frames.numbers[player.step] + 1;

// --- moving --------------------------------------------------------------------------------------------------------

function go(player, step) {
  player.step = clampStep(step, player.last);
  player.phase = 0;
  if (!player.playing) notice(player, null);
  draw(player);
}

// The reader moved one step or jumped: stand still there and say what happened.
function moveTo(player, step) {
  stop(player);
  go(player, step);
  speak(player);
  tellServer(player, NOTIFY_MS);
}

function play(player) {
  if (CALM.matches) return moveTo(player, player.step + 1);
  if (player.step >= player.last) player.step = 0;
  player.playing = true;
  player.phase = 0;
  player.before = performance.now();
  notice(player, null);
  player.find(".spoken").textContent = "";
  draw(player);
  player.request = requestAnimationFrame((now) => tick(player, now));
}

function tick(player, now) {
  if (!player.playing) return;
  const stops = player.autopause ? player.frames.events : [];
  const rate = player.data.rate * player.speed;
  const moved = advance(player, Math.max(now - player.before, 0) / 1000, rate, player.last, stops);
  player.before = now;
  player.phase = moved.phase;
  if (moved.step !== player.step) {
    player.step = moved.step;
    draw(player);
  }
  if (moved.stopped) pause(player);
  else player.request = requestAnimationFrame((next) => tick(player, next));
}

function stop(player) {
  player.playing = false;
  cancelAnimationFrame(player.request);
}

function pause(player) {
  if (!player.playing) return;
  stop(player);
  draw(player);
  speak(player);
  tellServer(player, 0);
}

function tellServer(player, delay) {
  clearTimeout(player.notifying);
  player.notifying = setTimeout(() => {
    const step = player.frames.numbers[player.step];
    if (step === player.told) return;
    player.told = step;
    player.tell(step);
  }, delay);
}

const ACTIONS = {
  reset: (player) => moveTo(player, 0),
  previous: (player) => moveTo(player, previousEvent(player.frames.events, player.step)),
  back: (player) => moveTo(player, player.step - 1),
  play: (player) => (player.playing ? pause(player) : play(player)),
  forward: (player) => moveTo(player, player.step + 1),
  next: (player) => moveTo(player, nextEvent(player.frames.events, player.step, player.last)),
  end: (player) => moveTo(player, player.last),
  autopause: (player) => ((player.autopause = !player.autopause), sayWords(player)),
  table: (player) => ((player.asTable = !player.asTable), sayWords(player), fit(player)),
  copy: (player) => copyLink(player),
};

// --- what the reader sees and hears --------------------------------------------------------------------------------

function sayWords(player) {
  const { root, find, words } = player;
  for (const element of [root, ...root.querySelectorAll("[data-word]")]) {
    const label = words[element.dataset.word];
    element.setAttribute("aria-label", label);
    if (element !== root) element.title = label;
  }
  const button = find('[data-act="play"]');
  button.setAttribute("aria-disabled", CALM.matches);
  find(".switch-word").textContent = words.pause_at_events;
  find(".switch").setAttribute("aria-checked", player.autopause);
  const table = find('[data-act="table"]');
  table.setAttribute("aria-pressed", player.asTable);
  find(".speed").innerHTML = SPEEDS.map((speed) => `<option value="${speed}">${speed}×</option>`).join("");
  find(".speed").value = player.speed;
  if (player.noticed) find(".notice").textContent = word(player, player.noticed.name, player.noticed.values);
  player.canvas.setAttribute("aria-label", player.frames.alt);
  player.table.setAttribute("aria-label", words.table_label);
  find(".thinned").hidden = !player.data.at;
  find(".thinned").textContent = player.data.at
    ? word(player, "thinned", { total: player.frames.totalSteps, shown: player.frames.numSteps })
    : "";
}

function draw(player) {
  const { root, find, frames, step, words } = player;
  if (player.layout) {
    paintPicture(player);
    if (player.asTable) showTableRows(player);
  }
  const position = word(player, "step_of", { n: number(player), total: frames.totalSteps });
  const time = frames.times[step] ? ` · ${frames.times[step]}` : "";
  find(".step").textContent = position + time;
  find(".note").textContent = frames.notes[step];
  player.scrub.max = player.last;
  player.scrub.value = step;
  player.scrub.setAttribute("aria-valuetext", position);
  player.scrub.style.setProperty("--played", `${player.last ? (100 * step) / player.last : 0}%`);
  const button = find('[data-act="play"]');
  const label = CALM.matches ? words.calm : player.playing ? words.pause : words.play;
  if (button.title !== label) {
    button.title = label;
    button.setAttribute("aria-label", label);
  }
  const { dataset } = root;
  dataset.step = frames.numbers[step];
  dataset.steps = frames.totalSteps;
  dataset.playing = player.playing;
  dataset.rate = player.data.rate * player.speed;
  SHARED.stood.set(player.data.key, { step: frames.numbers[step], serial: player.data.start.serial });
}

function speak(player) {
  player.find(".spoken").textContent = `${player.find(".step").textContent}. ${player.frames.notes[player.step]}`;
}

function notice(player, name, values = {}) {
  clearTimeout(player.noticing);
  player.noticed = name && { name, values }; // kept, so that it follows a change of language
  player.find(".notice").textContent = name ? word(player, name, values) : "";
  if (name) player.noticing = setTimeout(() => notice(player, null), NOTICE_MS);
}

async function copyLink(player) {
  const link = new URL(location.href);
  link.searchParams.set("step", player.frames.numbers[player.step]);
  const outcome = (await copyText(player, link.href)) ? "copied" : "copy_failed";
  notice(player, outcome);
  player.find(".spoken").textContent = player.words[outcome];
  if (outcome === "copy_failed") offerText(player, link.href);
}

// Outside https and localhost the clipboard is closed to us; the old command still works in most browsers.
async function copyText(player, text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = offerText(player, text);
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  }
}

function offerText(player, text) {
  const field = Object.assign(document.createElement("input"), { value: text, readOnly: true });
  field.setAttribute("aria-label", player.words.copy);
  clearTimeout(player.noticing);
  player.find(".notice").append(" ", field);
  field.select();
  return field;
}

// --- the picture ---------------------------------------------------------------------------------------------------

function parseColour(text) {
  const [red, green, blue] = text.match(/[\d.]+/g).map(Number);
  return [red, green, blue];
}

const mix = (one, other, share) =>
  `rgb(${one.map((value, i) => Math.round(value * share + other[i] * (1 - share))).join(", ")})`;

function newCanvas(width, height) {
  return Object.assign(document.createElement("canvas"), { width, height });
}

function measure(font) {
  const context = newCanvas(1, 1).getContext("2d");
  context.font = font;
  const known = new Map();
  return (string) => {
    if (!known.has(string)) known.set(string, context.measureText(string).width);
    return known.get(string);
  };
}

// Theme colours, fonts and fills, once per theme, size and screen density.
function makeLook(player, ratio) {
  const { root, data } = player;
  const probe = (name) => {
    root.style.color = `var(${name})`;
    const colour = getComputedStyle(root).color;
    root.style.color = "";
    return parseColour(colour);
  };
  const [text, background, accent] = ["--text", "--background", "--accent"].map(probe);
  const family = getComputedStyle(root).fontFamily;
  const size = data.large ? 18 : 13;
  const look = { ratio, size, font: `400 ${size}px ${family}`, bold: `600 ${size}px ${family}` };
  Object.assign(look, {
    text: mix(text, text, 1),
    background: mix(background, background, 1),
    accent: mix(accent, accent, 1),
    muted: mix(text, background, 0.72),
    faint: mix(text, background, 0.22),
    track: mix(text, background, 0.06),
    queue: data.queue.colour,
  });
  look.states = data.states.map((state) => ({
    ...state,
    ink: inkOn(state.colour),
    fill: makeFill(state, look.background, ratio, newCanvas),
  }));
  look.widthOf = measure(look.font);
  look.widthOfBold = measure(look.bold);
  return look;
}

const LEAST_ROOM = 140; // px that a picture needs in the lecture view

// How high the picture may get: in the lecture view down to the lower edge of the screen, else a calm share of it.
function roomFor(player) {
  const chrome = () => player.root.offsetHeight - player.find(".stage").offsetHeight;
  if (!player.data.large) return Math.min(Math.max(innerHeight - 190 - chrome(), 220), 520);
  const top = Math.max(player.root.getBoundingClientRect().top, 0);
  const left = () => innerHeight - top - chrome() - player.data.below;
  player.root.classList.remove("tight");
  if (left() < LEAST_ROOM) player.root.classList.add("tight"); // the legend goes before the picture does
  return Math.max(left(), LEAST_ROOM);
}

// Called when the size, the theme or the data changed: measure again, then draw.
function fit(player) {
  const stage = player.find(".stage");
  const width = stage.clientWidth;
  if (!width) return;
  const ratio = devicePixelRatio || 1;
  player.look = makeLook(player, ratio);
  reserveNote(player, width);
  const room = (player.room = roomFor(player));
  const { widthOf, size } = player.look;
  player.layout = player.painter.layout(player.frames, { width, room, size, widthOf });
  const { left, cell, height } = player.layout;
  player.canvas.hidden = player.asTable;
  player.table.hidden = !player.asTable;
  player.table.style.height = `${height}px`;
  player.canvas.width = Math.round(width * ratio);
  player.canvas.height = Math.round(height * ratio);
  player.canvas.style.height = `${height}px`;
  player.scrub.style.setProperty("--from", `${left + cell}px`);
  player.scrub.style.setProperty("--span", `${player.last * cell}px`);
  draw(player);
}

function fitAgain(player) {
  if (player.root.isConnected && Math.abs(roomFor(player) - player.room) > 1) fit(player);
}

// As many lines as the longest note needs, so that nothing below it jumps while playing.
function reserveNote(player, width) {
  const note = player.find(".note");
  const widthOf = measure(`${getComputedStyle(note).fontSize} ${getComputedStyle(note).fontFamily}`);
  const linesOf = (text) => text.split("\n").reduce((sum, line) => sum + Math.max(Math.ceil(widthOf(line) / width), 1), 0);
  const lines = Math.max(...[...new Set(player.frames.notes)].map(linesOf));
  note.style.setProperty("--lines", Math.min(lines, MOST_NOTE_LINES));
}

function paintPicture(player) {
  const context = player.canvas.getContext("2d");
  context.setTransform(player.look.ratio, 0, 0, player.look.ratio, 0, 0);
  player.painter.paint(context, player.frames, player.step, player.layout, player.look);
}

function drawLegend(player) {
  const legend = player.find(".legend");
  const ratio = devicePixelRatio || 1;
  const look = makeLook(player, ratio);
  legend.replaceChildren(
    ...statesThatOccur(player.frames).map((state) => {
      const item = document.createElement("li");
      const swatch = newCanvas(22 * ratio, 14 * ratio);
      const context = swatch.getContext("2d");
      context.scale(ratio, ratio);
      paintSpan(context, look.states[state], 0, 0, 22, 14, [3, 3], look);
      swatch.setAttribute("aria-hidden", "true");
      item.append(swatch, look.states[state].label);
      return item;
    }),
  );
}

// --- the same frames as a table ------------------------------------------------------------------------------------

function textElement(tag, text, attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function slotsInWords(frames, grid, step) {
  if (step >= grid.numSteps) return frames.words.ended;
  const parts = grid.rows.map((spans, row) => {
    const { state, owner } = spanAt(spans, step);
    return [grid.slots[row], frames.requests[owner], frames.states[state].label].filter(Boolean).join(" ");
  });
  const waiting = grid.waiting[step].map((request) => frames.requests[request]).join(" ");
  return `${parts.join("; ")}\n${frames.words.waiting}: ${waiting || "–"}`;
}

function buildTable(player) {
  const { frames, words } = player;
  const titles = [words.axis, ...frames.grids.map((grid) => grid.title), words.column_note];
  const head = document.createElement("tr");
  head.append(...titles.map((title) => textElement("th", title, { scope: "col" })));
  const body = document.createElement("tbody");
  for (let step = 0; step <= player.last; step++) {
    const row = document.createElement("tr");
    row.append(textElement("th", `${frames.numbers[step] + 1}\n${frames.times[step]}`, { scope: "row" }));
    for (const grid of frames.grids) row.append(textElement("td", slotsInWords(frames, grid, step)));
    row.append(textElement("td", frames.notes[step]));
    body.append(row);
  }
  const table = document.createElement("table");
  const header = document.createElement("thead");
  header.append(head);
  table.append(textElement("caption", words.table_caption), header, body);
  player.table.replaceChildren(table);
  player.tableOf = frames;
}

// As in the picture: what has been played, and nothing of the future.
function showTableRows(player) {
  if (player.tableOf !== player.frames) buildTable(player);
  const rows = player.table.querySelectorAll("tbody tr");
  rows.forEach((row, step) => {
    row.hidden = step > player.step;
    if (step === player.step) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  });
  player.table.scrollTop = rows[player.step].offsetTop + rows[player.step].offsetHeight - player.table.clientHeight;
}

// --- hands ---------------------------------------------------------------------------------------------------------

function wire(player) {
  const { root, scrub, canvas } = player;
  root.onpointerdown = root.onfocusin = () => (SHARED.touched = player);
  root.onclick = (event) => {
    const button = event.target.closest("[data-act]");
    if (button) ACTIONS[button.dataset.act](player);
  };
  // A mouse click leaves no focus on a button, so that Space goes on meaning play; the Tab key still reaches it.
  root.onmousedown = (event) => {
    if (!event.target.closest("button")) return;
    event.preventDefault();
    root.focus({ preventScroll: true });
  };
  player.find(".speed").onchange = (event) => {
    player.speed = Number(event.target.value);
    root.focus({ preventScroll: true });
    draw(player);
  };
  scrub.onkeydown = (event) => {
    player.paging = event.key === "PageUp" || event.key === "PageDown";
  };
  scrub.oninput = () => {
    if (player.paging) scrub.value = player.step; // these two keys belong to the lecture
    else slideTo(player, Number(scrub.value));
  };
  scrub.onchange = () => {
    if (!player.paging) settle(player);
  };
  scrub.onpointerup = () => root.focus({ preventScroll: true });
  canvas.onpointerdown = (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    player.dragging = true;
    slideTo(player, pointedStep(player, event));
  };
  canvas.onpointermove = (event) => {
    if (player.dragging) slideTo(player, pointedStep(player, event));
    else canvas.title = cellInWords(player, event);
  };
  canvas.onpointerup = canvas.onpointercancel = () => {
    if (player.dragging) settle(player);
    player.dragging = false;
  };
}

function pointedStep(player, event) {
  return stepAtX(player.layout, event.clientX - player.canvas.getBoundingClientRect().left, player.last);
}

function slideTo(player, step) {
  stop(player);
  go(player, step);
}

function settle(player) {
  speak(player);
  tellServer(player, 0);
}

function cellInWords(player, event) {
  const { frames, layout, step } = player;
  const box = player.canvas.getBoundingClientRect();
  const cell = player.painter.cellAt(layout, frames, step, event.clientX - box.left, event.clientY - box.top);
  if (!cell) return "";
  const grid = frames.grids[cell.grid];
  const { state, owner } = spanAt(grid.rows[cell.row], cell.step);
  const where = word(player, "step_of", { n: frames.numbers[cell.step] + 1, total: frames.totalSteps });
  return [where, grid.slots[cell.row], frames.requests[owner], frames.states[state].label].filter(Boolean).join(" · ");
}

// --- keys ----------------------------------------------------------------------------------------------------------

const KEYS = {
  " ": "play",
  ArrowLeft: "back",
  ArrowRight: "forward",
  Home: "reset",
  End: "end",
};
const TYPES = "input:not([type=button],[type=checkbox],[type=radio],[type=range]), textarea, [contenteditable='true']";
const OWNS_ARROWS = `${TYPES}, select, input[type=radio], input[type=range], [role=slider], [role=combobox], [role=listbox],
  [role=radiogroup], [role=tablist], [role=menu], [role=dialog], [data-baseweb=popover]`;
const OWNS_SPACE = `${TYPES}, select, button, a, summary, input, [role=button], [role=combobox], [role=dialog]`;

function onKey(event) {
  const player = keyPlayer();
  const target = event.composedPath()[0];
  if (!player || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
  if (!(event.key in KEYS) || !(target instanceof Element)) return;
  const owner = event.key === " " ? OWNS_SPACE : OWNS_ARROWS;
  if (target.closest(owner)) return;
  event.preventDefault();
  if (event.key === " " && event.repeat) return;
  const jumps = event.shiftKey && { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
  ACTIONS[jumps || KEYS[event.key]](player);
}

// The last-touched player; in the lecture view the only one needs no touch.
function keyPlayer() {
  if (SHARED.touched?.root.isConnected) return SHARED.touched;
  const players = [...SHARED.all].filter((player) => player.root.isConnected);
  return players.length === 1 && players[0].data.large ? players[0] : null;
}
