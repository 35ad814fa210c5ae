// One step player on the page: a view of its clock, drawn by its painter.
//
// Streamlit has `place.js` call `mount` again whenever the data or the theme changes, with the same parentElement.  What the
// reader has done lives in the clock; the server hears of a step when the reader stands still.
//
// LOOKS holds `player.css` and `player.html`; PAINTERS what the modules in `painters/` export, by file name.  Each answers the same verbs:
//   decode(data, frames)                     its own part of the frames, see decode.js
//   statesThatOccur(frames)  numRows(frames)  for the legend, and for the share of the height among linked players
//   layout(frames, room)                     everything's place and its `height`; with an axis, where the thumb of the scrubber
//                                            runs, as `scrub`
//   paint(context, frames, moment, layout, look)
//   spotAt(layout, frames, moment, x, y)     what is under the pointer, in words and with its place, or null
//   columns(frames)  cells(frames, step)     the same as a table
// and, if it has lanes, spotInLane(layout, frames, moment, lane); if the reader can choose one of its things by name,
// choices(frames, step) and choiceAt(layout, frames, moment, x, y).  With an axis it paints what is to come faintly, up to the
// position `ghost`; without one it tells with ghostArea(layout, frames) where the finished run, or what it has come to at
// `until`, is to be seen before the first step, and whether `isUnder` what is there.
//
// A moment is { step, before, now, ghost, view, chosen, at }: the frame, the one before it, the position of the clock, the part
// of the axis in sight, the name that is chosen; `at` is told of things that move, see motion.js.

import { lastUpTo, SPEEDS } from "./clock.js";
import { decodeFrames } from "./decode.js";
import { CALM, NOTIFY_MS, SHARED, onKey, wire } from "./hands.js";
import { makeLook, measure, newCanvas } from "./look.js";
import { GHOST, Motion, moveTime, stay } from "./motion.js";
import { paintSpan } from "./patterns.js";
import { Clock } from "./shared_clock.js";
import { showTableRows } from "./table.js";
import { showTip } from "./tip.js";
import { fill } from "./words.js";

const PLAYERS = new WeakMap(); // parentElement -> player
const NOTICE_MS = 6000;
const MOST_NOTE_LINES = 4;
const AXISLESS_EDGE = 11; // px, half the thumb of the scrubber
const SETTLE_MS = [150, 500, 1500]; // what stands above and below the player may come later than the player
const TWO_COLUMNS = 900; // px of a window with the figure beside its text
const HEADER = 144; // px above the figure, and some air below
const CAVEAT = 56; // px of the line below a figure that tells what it leaves out
const SHARE = 0.62; // of the window: no picture is higher
const LEAST_PICTURE = 280; // px, else the page scrolls
const LEAST_ROOM = 140; // px that a picture needs in the lecture view
const LEAST_MORE = 90; // and each linked one below it
const BETWEEN_FIGURES = 16; // px
const BETWEEN = 28; // px between two linked players

// This code travels once; `place.js` stands where a player is and hands its data on.
export default function bring() {
  globalThis.stepPlayer = mount;
  dispatchEvent(new Event("step-player"));
}

function mount({ parentElement, data, setStateValue }) {
  const fresh = !PLAYERS.has(parentElement);
  if (fresh) {
    parentElement.querySelector(".place").innerHTML = LOOKS;
    PLAYERS.set(parentElement, new Player(parentElement));
  }
  const player = PLAYERS.get(parentElement);
  player.tell = (stands) => setStateValue("stands", stands);
  player.take(data, fresh);
  player.clock.views.forEach((view) => view.sayWords());
  wire(player);
  player.fit();
  if (player.watches) player.watch();
  for (const delay of SETTLE_MS) setTimeout(() => player.fitAgain(), delay);
  SHARED.all.add(player);
  SHARED.onKey = onKey; // the newest load answers the keys
  return () => {
    player.unmount();
    PLAYERS.delete(parentElement);
  };
}

class Player {
  constructor(parentElement) {
    this.root = parentElement.querySelector(".player");
    this.find = (selector) => this.root.querySelector(selector);
    this.canvas = this.find(".stage canvas");
    this.scrub = this.find(".scrub");
    this.table = this.find(".table");
    this.tip = this.find(".tip");
    this.lane = 0; // which one the keyboard points at
    this.motion = new Motion();
    this.root.addEventListener("focusin", () => (SHARED.touched = this));
    this.observer = new ResizeObserver(() => {
      if (this.find(".stage").clientWidth !== this.layout?.width) this.fit();
    });
    this.observer.observe(this.find(".stage"));
    this.onWindow = () => this.fit();
    addEventListener("resize", this.onWindow);
    this.onCalm = () => {
      this.clock.pause();
      this.sayWords();
      this.draw();
    };
    CALM.addEventListener("change", this.onCalm);
    if (!SHARED.listening) document.addEventListener("keydown", (event) => SHARED.onKey(event));
    SHARED.listening = true;
  }

  unmount() {
    this.observer.disconnect();
    removeEventListener("resize", this.onWindow);
    CALM.removeEventListener("change", this.onCalm);
    clearTimeout(this.notifying);
    cancelAnimationFrame(this.moving);
    this.leaveClock();
    SHARED.all.delete(this);
    if (SHARED.touched === this) SHARED.touched = null;
  }

  // --- data --------------------------------------------------------------------------------------------------------

  take(data, fresh) {
    const before = this.data;
    this.data = data;
    this.painter = PAINTERS[data.painter];
    this.frames = decodeFrames(data, this.painter);
    this.look = null;
    this.root.classList.toggle("large", data.large);
    const isNewHere = this.joinClock();
    const stood = SHARED.stood.get(data.key)?.serial === data.start.serial;
    const ordered = !fresh && data.start.serial !== before.start.serial;
    if (isNewHere) this.clock.order(startOf(data));
    else if (ordered) this.clock.order(data.start.step);
    this.watches = data.start.plays && (fresh ? !stood : ordered);
    if (fresh || ordered) this.hear(data);
    else if (data.id !== before.id) this.sayChanged();
  }

  // The server knows the moment it has ordered; which step that is for one of several linked players it must be told.
  hear({ clock, start }) {
    this.told = clock && start.step ? null : start.step;
    if (this.told === null) this.notifying = setTimeout(() => this.tellServer(), NOTIFY_MS);
  }

  // A guess was made: play to the answer.
  watch() {
    this.watches = false;
    if (CALM.matches) this.clock.moveTo(this.clock.last, NOTIFY_MS);
    else this.clock.play();
  }

  // Other frames came under the reader's hands.
  sayChanged() {
    const { clock } = this;
    const clamped = clock.wanted > clock.number;
    clock.say(clamped ? "clamped" : "kept", { n: clock.number + 1 });
    if (clamped) clock.pause();
  }

  // True if nobody else tells the time there.
  joinClock() {
    const name = this.data.clock;
    const isMine = this.clock && this.clock.name === name;
    if (!isMine) {
      this.leaveClock();
      this.clock = (name && SHARED.clocks.get(name)) || Object.assign(new Clock(), { name });
      if (name) SHARED.clocks.set(name, this.clock);
    }
    this.clock.join(this);
    return !isMine && this.clock.views.length === 1;
  }

  leaveClock() {
    if (!this.clock) return;
    this.clock.leave(this);
    if (this.clock.views.length) this.clock.leader.refresh();
    else if (this.clock.name) SHARED.clocks.delete(this.clock.name);
  }

  refresh() {
    for (const view of this.clock.views) view.sayWords();
    this.fit();
  }

  // --- a view of the clock -----------------------------------------------------------------------------------------

  isBefore(other) {
    const [here, there] = [this, other].map(({ root }) => root.getRootNode().host ?? root);
    return Boolean(here.compareDocumentPosition(there) & Node.DOCUMENT_POSITION_FOLLOWING);
  }

  get leads() {
    return this.clock.leader === this;
  }

  get moment() {
    const { clock, before, chosen } = this;
    return { step: clock.stepOf(this), before, now: clock.now, ghost: this.ghost, view: clock.view, chosen, at: this.motion.at };
  }

  // How far a run is seen before it is played: to its end, or only so far that an open question is not answered.
  get ghost() {
    return this.clock.end * this.data.ghost;
  }

  // What the reader wished for, as long as it is there; else the first thing that is.
  get chosen() {
    const open = this.choices;
    return open.includes(this.wish) ? this.wish : open[0];
  }

  get choices() {
    return this.painter.choices?.(this.frames, this.clock.stepOf(this)) ?? [];
  }

  choose(name) {
    this.wish = name ?? this.wish;
    this.draw();
    this.clock.leader.find(".spoken").textContent = this.chosen ?? "";
  }

  word(name, values = {}) {
    return fill(this.frames.words[name], values);
  }

  // The reader stands still: say where, and tell the server after `delay` ms.
  settle(delay) {
    if (this.leads) {
      const notes = this.clock.views.map((view) => view.frames.notes[this.clock.stepOf(view)]);
      this.find(".spoken").textContent = [`${this.find(".step").textContent}.`, ...notes].join(" ");
    }
    clearTimeout(this.notifying);
    this.notifying = setTimeout(() => this.tellServer(), delay);
  }

  tellServer() {
    const at = this.clock.number;
    if (at === this.told) return;
    this.told = at;
    this.tell({ step: this.frames.numbers[this.clock.stepOf(this)], at, serial: this.data.start.serial });
  }

  say(name, values = {}) {
    clearTimeout(this.noticing);
    this.noticed = name && { name, values }; // kept, so that it follows a change of language
    this.find(".notice").textContent = name ? this.word(name, values) : "";
    if (name) this.noticing = setTimeout(() => this.say(null), NOTICE_MS);
    else if (this.clock.playing) this.find(".spoken").textContent = "";
  }

  // A remark that stays until the next one.
  keep(add) {
    clearTimeout(this.noticing);
    add();
  }

  sayWords() {
    const { root, find, clock } = this;
    const { words } = this.frames;
    for (const element of [root, ...root.querySelectorAll("[data-word]")]) {
      const label = words[element.dataset.word];
      element.setAttribute("aria-label", label);
      if (element !== root && element.tagName !== "DIV") element.title = label;
    }
    root.classList.toggle("follows", !this.leads);
    find('[data-act="play"]').setAttribute("aria-disabled", CALM.matches);
    find(".switch-word").textContent = words.pause_at_events;
    find(".switch").setAttribute("aria-checked", clock.autopause);
    find('[data-act="table"]').setAttribute("aria-pressed", clock.asTable);
    find(".speed").innerHTML = SPEEDS.map((speed) => `<option value="${speed}">${speed}×</option>`).join("");
    find(".speed").value = clock.speed;
    const zooms = clock.zoomLimit > 1;
    find(".zoom").hidden = !zooms;
    root.classList.toggle("zooms", zooms);
    if (this.noticed) find(".notice").textContent = this.word(this.noticed.name, this.noticed.values);
    this.canvas.setAttribute("aria-label", this.frames.alt);
    this.table.setAttribute("aria-label", words.table_label);
    find(".thinned").hidden = !this.data.at;
    find(".thinned").textContent = this.data.at
      ? this.word("thinned", { total: this.frames.totalSteps, shown: this.frames.numSteps })
      : "";
  }

  draw() {
    const { root, find, frames, clock, scrub, data } = this;
    const { step } = this.moment;
    if (this.layout) {
      this.move(step);
      this.paint();
      if (clock.asTable) showTableRows(this, step);
    }
    const position = this.word(clock.views.length > 1 ? "moment_of" : "step_of", { n: clock.number + 1, total: clock.total });
    const time = frames.timeText(clock.now);
    find(".step").textContent = time ? `${position} · ${time}` : position;
    find(".note").textContent = frames.notes[step];
    this.drawScrub(scrub, position);
    const button = find('[data-act="play"]');
    const label = frames.words[CALM.matches ? "calm" : clock.playing ? "pause" : "play"];
    if (button.title !== label) {
      button.title = label;
      button.setAttribute("aria-label", label);
    }
    find('[data-act="zoom_out"]').disabled = find('[data-act="zoom_whole"]').disabled = clock.zoom === 1;
    find('[data-act="zoom_in"]').disabled = clock.zoom === clock.zoomLimit;
    Object.assign(root.dataset, {
      painter: data.painter,
      step: frames.numbers[step],
      steps: frames.totalSteps,
      moment: clock.number,
      moments: clock.total,
      time: clock.now,
      zoom: clock.zoom,
      playing: clock.playing,
      rate: clock.rate,
      chosen: this.chosen ?? "",
    });
    SHARED.stood.set(data.key, { step: clock.number, serial: data.start.serial });
  }

  // On a time axis the scrubber runs in time, so that its thumb stands above the cursor; else in steps.
  drawScrub(scrub, position) {
    const { clock, frames } = this;
    const [value, most] = frames.zooms ? [clock.now, clock.end] : [clock.at, clock.last];
    Object.assign(scrub, { max: most, step: frames.zooms ? "any" : 1 });
    scrub.value = value;
    scrub.setAttribute("aria-valuetext", position);
    const share = (part) => `${most ? (100 * part) / most : 0}%`;
    const { from, to } = clock.view;
    const isZoomed = clock.zoom > 1;
    scrub.style.setProperty("--played", share(value));
    scrub.style.setProperty("--view-from", isZoomed ? share(from) : "0%");
    scrub.style.setProperty("--view-to", isZoomed ? share(to) : "0%");
  }

  // --- the picture -------------------------------------------------------------------------------------------------

  // Another moment: what keeps its identity begins to move there.
  move(step) {
    const { now, playing, rate } = this.clock;
    if (now === this.stood) return;
    this.before = this.shown ?? step;
    Object.assign(this, { stood: now, shown: step });
    this.motion.begin(performance.now(), CALM.matches ? 0 : moveTime(playing ? rate : 0));
    if (this.root.getRootNode().activeElement === this.canvas) this.pointAtLane();
    else showTip(this, null);
  }

  paint() {
    const { canvas, layout, look, motion } = this;
    cancelAnimationFrame(this.moving);
    motion.frame(performance.now());
    this.paintMoment(canvas, this.moment);
    const area = this.painter.ghostArea?.(layout, this.frames);
    if (area && this.clock.at === 0) this.paintGhost(canvas.getContext("2d"), area, look);
    if (motion.share < 1) this.moving = requestAnimationFrame(() => this.paint());
    this.root.dataset.moving = motion.share < 1;
  }

  paintMoment(canvas, moment, look = this.look) {
    const { frames, layout } = this;
    const context = canvas.getContext("2d");
    context.setTransform(look.ratio, 0, 0, look.ratio, 0, 0);
    this.painter.paint(context, frames, moment, layout, look);
  }

  // What will have become of it, over what is there or under it.
  paintGhost(context, { x, y, width, height, isUnder, until = Infinity }, { ratio }) {
    const { canvas, frames } = this;
    const last = newCanvas(canvas.width, canvas.height);
    const now = Math.min(this.ghost, until);
    this.paintMoment(last, { ...this.moment, step: lastUpTo(frames.positions, now), before: undefined, now, at: stay }, { ...this.look, wordless: true });
    const box = [x, y, width, height];
    context.globalAlpha = GHOST;
    context.globalCompositeOperation = isUnder ? "destination-over" : "source-over";
    context.drawImage(last, ...box.map((each) => each * ratio), ...box);
    context.globalAlpha = 1;
    context.globalCompositeOperation = "source-over";
  }

  // The span at the cursor of the lane that the keyboard points at; `aloud` for those who only hear.
  pointAtLane(aloud = false) {
    if (!this.painter.spotInLane) return;
    this.lane = Math.min(this.lane, this.frames.lanes.length - 1);
    const spot = this.painter.spotInLane(this.layout, this.frames, this.moment, this.lane);
    showTip(this, spot);
    if (aloud) this.clock.leader.find(".spoken").textContent = spot.text;
  }

  // Called when the size, the theme or the data changed: measure all players of the clock again, then draw.
  fit() {
    const views = this.clock.views.filter((view) => view.find(".stage").clientWidth);
    const ratio = devicePixelRatio || 1;
    for (const view of views) {
      view.look = makeLook(view.root, view.data, ratio);
      reserveNote(view);
      drawLegend(view, ratio);
    }
    const room = roomFor(this.clock);
    const rows = views.reduce((sum, view) => sum + view.painter.numRows(view.frames), 0);
    for (const view of views) view.place((room * view.painter.numRows(view.frames)) / rows, ratio);
    this.clock.room = room;
    this.clock.draw();
  }

  fitAgain() {
    if (!this.clock.views.includes(this)) return; // unmounted meanwhile
    if (this.root.isConnected && Math.abs(roomFor(this.clock) - this.clock.room) > 1) this.fit();
  }

  place(room, ratio) {
    const { canvas, clock } = this;
    const width = this.find(".stage").clientWidth;
    const { widthOf, size } = this.look;
    const linked = clock.views.map((view) => view.frames);
    this.layout = this.painter.layout(this.frames, { width, room, size, widthOf, linked });
    const { height, scrub = { from: AXISLESS_EDGE, span: width - 2 * AXISLESS_EDGE } } = this.layout;
    this.motion.end();
    this.before = this.shown = undefined;
    canvas.hidden = clock.asTable;
    this.table.hidden = !clock.asTable;
    this.table.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    this.scrub.style.setProperty("--from", `${scrub.from}px`);
    this.scrub.style.setProperty("--span", `${scrub.span}px`);
  }
}

// A player that is only moved to another place of the page goes on where it stood; the server may know less.
function startOf(data) {
  const stood = SHARED.stood.get(data.key);
  return stood && stood.serial === data.start.serial ? stood.step : data.start.step;
}

// How high the pictures of a clock may get together: down to the lower edge of the screen; but for the lecture view, with
// what stands above and below them in the column of the figure.
function roomFor({ views, leader }) {
  const between = BETWEEN * (views.length - 1);
  const chrome = () =>
    views.reduce((sum, view) => sum + view.root.offsetHeight - view.find(".stage").offsetHeight, between);
  if (!leader.data.large) {
    const left = innerHeight - HEADER - CAVEAT - besides(leader, views.at(-1)) - chrome();
    return Math.min(Math.max(left, LEAST_PICTURE), innerHeight * SHARE);
  }
  const top = Math.max(leader.root.getBoundingClientRect().top, 0);
  const left = () => innerHeight - top - chrome() - leader.data.below;
  const tighten = (tight) => views.forEach((view) => view.root.classList.toggle("tight", tight));
  tighten(false);
  const least = LEAST_ROOM + LEAST_MORE * (views.length - 1);
  if (left() < least) tighten(true); // the legend goes before the picture does
  return Math.max(left(), views.length > 1 ? LEAST_MORE * views.length : LEAST_ROOM);
}

// What of the column of the figure is above the first player, and charts below the last one.
function besides({ root: first }, { root: last }) {
  const column = first.getRootNode().host?.closest('[data-testid="stColumn"]');
  if (!column || innerWidth < TWO_COLUMNS) return 0;
  const above = first.getBoundingClientRect().top - column.getBoundingClientRect().top;
  const end = last.getBoundingClientRect().bottom;
  const charts = [...column.querySelectorAll('[data-testid="stPlotlyChart"]')].map((chart) => chart.getBoundingClientRect());
  return above + charts.reduce((sum, { top, height }) => sum + (top >= end ? height + BETWEEN_FIGURES : 0), 0);
}

// As many lines as the longest note needs, so that nothing below it jumps while playing.
function reserveNote({ frames, find }) {
  const note = find(".note");
  const width = note.clientWidth;
  const widthOf = measure(`${getComputedStyle(note).fontSize} ${getComputedStyle(note).fontFamily}`);
  const linesOf = (text) => text.split("\n").reduce((sum, line) => sum + Math.max(Math.ceil(widthOf(line) / width), 1), 0);
  const lines = Math.max(...[...new Set(frames.notes)].map(linesOf));
  note.style.setProperty("--lines", Math.min(lines, MOST_NOTE_LINES));
}

// Below the last player of the clock, for all of them.
function drawLegend(player, ratio) {
  const { views } = player.clock;
  const states = new Map();
  for (const view of player === views.at(-1) ? views : []) {
    const look = view.look ?? makeLook(view.root, view.data, ratio);
    for (const state of view.painter.statesThatOccur(view.frames)) states.set(look.states[state].name, [state, look]);
  }
  const items = [...states.values()].map(([state, look]) => legendItem(look.states[state], 1, look.states[state].label, look, ratio));
  if (items.length && views.some(showsFaintly)) {
    const [state, look] = [...states.values()].at(-1);
    items.push(legendItem(look.states[state], GHOST, player.word("to_come"), look, ratio));
  }
  player.find(".legend").replaceChildren(...items);
}

// In the lecture view room is short, and there is somebody who explains.
const showsFaintly = ({ frames, painter, data }) => frames.foretells || (painter.ghostArea && !data.large);

function legendItem(state, strength, label, look, ratio) {
  const item = document.createElement("li");
  const swatch = newCanvas(22 * ratio, 14 * ratio);
  const context = swatch.getContext("2d");
  context.scale(ratio, ratio);
  context.globalAlpha = strength;
  paintSpan(context, state, 0, 0, 22, 14, [3, 3], look);
  swatch.setAttribute("aria-hidden", "true");
  item.append(swatch, label);
  return item;
}
