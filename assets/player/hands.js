// What the reader's hands do: buttons, the scrubber, the pointer on the picture, keys.

import { firstFrom, nextEvent, previousEvent } from "./clock.js";
import { copyText, linkTo, offerText } from "./link.js";
import { showTip } from "./tip.js";
import { ZOOM_STEP } from "./zoom.js";

export const NOTIFY_MS = 300; // stepping fast tells the server once
export const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const WHEEL_PER_ZOOM = 120; // px of a wheel or pinch that double the zoom

// Shared by all players of the page, however often this file is loaded: who was touched last, where each one stood, which
// clocks are linked.
export const SHARED = (globalThis[Symbol.for("step-player")] ??= {
  touched: null,
  all: new Set(),
  stood: new Map(),
  clocks: new Map(),
});

const ACTIONS = {
  reset: ({ clock }) => clock.moveTo(0, NOTIFY_MS),
  previous: ({ clock }) => clock.moveTo(previousEvent(clock.events, clock.at), NOTIFY_MS),
  back: ({ clock }) => clock.moveTo(clock.at - 1, NOTIFY_MS),
  play: ({ clock }) => (clock.playing ? clock.pause() : CALM.matches ? clock.moveTo(clock.at + 1, NOTIFY_MS) : clock.play()),
  forward: ({ clock }) => clock.moveTo(clock.at + 1, NOTIFY_MS),
  next: ({ clock }) => clock.moveTo(nextEvent(clock.events, clock.at, clock.last), NOTIFY_MS),
  end: ({ clock }) => clock.moveTo(clock.last, NOTIFY_MS),
  zoom_in: ({ clock }) => clock.zoomTo(clock.zoom * ZOOM_STEP),
  zoom_out: ({ clock }) => clock.zoomTo(clock.zoom / ZOOM_STEP),
  zoom_whole: ({ clock }) => clock.zoomTo(1),
  autopause: ({ clock }) => ((clock.autopause = !clock.autopause), clock.leader.sayWords()),
  table: ({ clock }) => ((clock.asTable = !clock.asTable), clock.views.forEach((view) => view.sayWords()), clock.leader.fit()),
  copy: ({ clock }) => copyLink(clock),
};

async function copyLink(clock) {
  const { leader } = clock;
  const href = linkTo(clock.number);
  const place = leader.find(".notice");
  const copied = await copyText(href, place, leader.frames.words.copy);
  leader.say(copied ? "copied" : "copy_failed");
  leader.find(".spoken").textContent = leader.frames.words[copied ? "copied" : "copy_failed"];
  if (!copied) leader.keep(() => offerText(href, place, leader.frames.words.copy));
}

export function wire(player) {
  const { root, scrub, find } = player;
  root.onpointerdown = () => (SHARED.touched = player);
  root.onclick = (event) => {
    const button = event.target.closest("[data-act]");
    if (button) ACTIONS[button.dataset.act](player);
  };
  // A mouse click leaves no focus on a button, so that Space goes on meaning play; the Tab key still reaches it.
  root.onmousedown = (event) => {
    if (!event.target.closest("button, canvas")) return;
    event.preventDefault();
    root.focus({ preventScroll: true });
  };
  find(".speed").onchange = (event) => {
    player.clock.speed = Number(event.target.value);
    root.focus({ preventScroll: true });
    player.clock.draw();
  };
  wireScrub(player, scrub);
  wirePicture(player, player.canvas);
}

// --- the scrubber --------------------------------------------------------------------------------------------------

const SCRUB_KEYS = { ArrowLeft: "back", ArrowDown: "back", ArrowRight: "forward", ArrowUp: "forward", Home: "reset", End: "end" };

function wireScrub(player, scrub) {
  let paging = false;
  scrub.onkeydown = (event) => {
    paging = event.key === "PageUp" || event.key === "PageDown"; // these two keys belong to the lecture
    if (!(event.key in SCRUB_KEYS)) return;
    event.preventDefault();
    ACTIONS[SCRUB_KEYS[event.key]](player);
  };
  scrub.oninput = () => {
    const { clock } = player;
    const value = Number(scrub.value);
    if (paging) clock.draw();
    else slideTo(clock, player.frames.zooms ? firstFrom(clock.ticks, value) : value);
  };
  scrub.onchange = () => {
    if (!paging) settle(player.clock);
  };
  scrub.onpointerup = () => player.root.focus({ preventScroll: true });
}

function slideTo(clock, at) {
  clock.stop();
  clock.go(at);
}

function settle(clock) {
  for (const view of clock.views) view.settle(0);
}

// --- the pointer on the picture ------------------------------------------------------------------------------------

// The picture tells what it shows; only the scrubber moves in time.
function wirePicture(player, canvas) {
  const fingers = new Map(); // pointer -> x
  const here = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const tip = (event) => {
    const [x, y] = here(event);
    showTip(player, player.painter.spotAt(player.layout, player.frames, player.moment, x, y));
  };
  const choose = (event) => {
    const { painter, layout, frames, moment } = player;
    if (painter.choiceAt) player.choose(painter.choiceAt(layout, frames, moment, ...here(event)));
  };
  canvas.onpointerdown = (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event.clientX);
    if (fingers.size > 1) return;
    choose(event);
    tip(event);
  };
  canvas.onpointermove = (event) => {
    if (!fingers.has(event.pointerId)) return tip(event);
    const before = spread(fingers);
    fingers.set(event.pointerId, event.clientX);
    if (fingers.size > 1) player.clock.zoomTo((player.clock.zoom * Math.max(spread(fingers), 1)) / Math.max(before, 1));
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => fingers.delete(event.pointerId);
  canvas.onpointerleave = (event) => {
    if (event.pointerType === "mouse") showTip(player, null);
  };
  // Ctrl with the wheel, which is also what pinching a touchpad sends; without Ctrl the page scrolls as ever.
  canvas.onwheel = (event) => {
    if (!event.ctrlKey || player.clock.zoomLimit === 1) return;
    event.preventDefault();
    player.clock.zoomTo(player.clock.zoom * 2 ** (-event.deltaY / WHEEL_PER_ZOOM));
  };
  wirePictureKeys(player, canvas);
}

const spread = (fingers) => Math.max(...fingers.values()) - Math.min(...fingers.values());

// With the picture in focus the arrows up and down walk over the lanes, and the span at the cursor is told whole.
function wirePictureKeys(player, canvas) {
  canvas.onkeydown = (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Escape") showTip(player, null);
    if (by && player.painter.choices) {
      event.preventDefault();
      const { choices, chosen } = player;
      return player.choose(choices.at((choices.indexOf(chosen) + by) % choices.length));
    }
    if (!by || !player.painter.spotInLane) return;
    event.preventDefault();
    player.lane = Math.min(Math.max(player.lane + by, 0), player.frames.lanes.length - 1);
    player.pointAtLane(true);
  };
  canvas.onfocus = () => player.pointAtLane(true);
  canvas.onblur = () => showTip(player, null);
}

// --- keys ----------------------------------------------------------------------------------------------------------

const KEYS = {
  " ": "play",
  ArrowLeft: "back",
  ArrowRight: "forward",
  Home: "reset",
  End: "end",
};
const ZOOM_KEYS = { "+": "zoom_in", "=": "zoom_in", "-": "zoom_out", 0: "zoom_whole" };
const TYPES = "input:not([type=button],[type=checkbox],[type=radio],[type=range]), textarea, [contenteditable='true']";
const OWNS_ARROWS = `${TYPES}, select, input[type=radio], input[type=range], [role=slider], [role=combobox], [role=listbox],
  [role=radiogroup], [role=tablist], [role=menu], [role=dialog], [data-baseweb=popover]`;
const OWNS_SPACE = `${TYPES}, select, button, a, summary, input, [role=button], [role=combobox], [role=dialog]`;
const OWNS_SIGNS = `${TYPES}, select, [role=combobox], [role=dialog]`;

export function onKey(event) {
  const player = keyPlayer();
  const target = event.composedPath()[0];
  if (!player || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
  if (!(target instanceof Element)) return;
  const zooms = player.clock.zoomLimit > 1 ? ZOOM_KEYS[event.key] : undefined;
  const act = zooms ?? KEYS[event.key];
  if (!act) return;
  const owner = zooms ? OWNS_SIGNS : event.key === " " ? OWNS_SPACE : OWNS_ARROWS;
  if (target.closest(owner)) return;
  event.preventDefault();
  if (event.key === " " && event.repeat) return;
  const jumps = event.shiftKey && { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
  ACTIONS[jumps || act](player);
}

// The last-touched player; in the lecture view the only one needs no touch.
function keyPlayer() {
  if (SHARED.touched?.root.isConnected) return SHARED.touched;
  const players = [...SHARED.all].filter((player) => player.root.isConnected);
  return new Set(players.map((player) => player.clock)).size === 1 && players[0].data.large ? players[0] : null;
}


