// Keeps what a session knows while the server is away, and says in one line that it is.
//
// Every run leaves a note in the page (`ui.practice.kept.tab`).  When the connection is lost, the newest note is taken; when a
// server answers again it is handed over, whichever server that is.  A page that is left puts it into the tab's own
// storage, for the case that it is loaded anew; a connection that Streamlit has given up for good is begun anew by that.
// Files that were brought are kept as they are, and brought once more to a server that has never seen them.  A slider that
// was under the hand, which Streamlit takes out of it, is put back to where the hand had moved it.

const KEPT = "llm-serving-tab", RELOADED = "llm-serving-reloaded";
const SETTLED_MS = 300; // a run that has ended has moved every slider by then
const SILENT_MS = 4000; // asked for so long without an answer
const SAID_MS = 8000; // how long the line stays after all is well
const RELOAD_MS = 20_000; // not again sooner than after this

let page = null; // what Streamlit handed over: { data, setStateValue }
let number = 0; // of the last note that was handed over
let held = null; // the note that was taken when the connection was lost
let life = null; // the session that answered last
let timer = 0;
const brought = new Map(); // name of an uploader -> the files it was given
const owed = new Set(); // names of those that the session has not seen

export default function tab(component) {
  const isFirst = page === null;
  const isNew = life !== null && life !== component.data.life;
  page = component;
  life = page.data.life;
  if (isFirst) start();
  if (isNew) for (const name of brought.keys()) owed.add(name);
  if (held !== null && page.data.taken === number) welcome();
}

function start() {
  number = page.data.taken;
  listen();
  addEventListener("offline", lost);
  addEventListener("online", () => socket?.close()); // it may be dead without knowing; Streamlit opens another
  addEventListener("pagehide", () => keep(newest()));
  addEventListener("change", ({ target }) => target.type === "file" && noteFiles(target, target.files), true);
  addEventListener("drop", ({ target, dataTransfer }) => noteFiles(target, dataTransfer.files), true);
  addEventListener("pointerdown", ({ target }) => grasp(target), true);
  addEventListener("pointerup", letGo, true);
  new MutationObserver(look).observe(document.body, {
    subtree: true, childList: true, attributeFilter: ["data-test-connection-state", "data-test-script-state", "disabled"],
  });
  const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
  const kept = isReload ? stored(KEPT) : null;
  if (kept) hand(kept, false);
}

// --- the connection ------------------------------------------------------------------------------------------------

let before = "CONNECTED";

function look() {
  const app = document.querySelector("[data-testid=stApp]")?.dataset;
  if (!app || !page) return;
  const now = app.testConnectionState;
  if (now !== before) {
    before = now;
    if (now === "DISCONNECTED_FOREVER") beginAnew();
    else if (now !== "CONNECTED") lost();
    else if (held !== null) hand(held);
  }
  if (now === "CONNECTED") {
    bring();
    clearTimeout(settling);
    if (torn && held === null && app.testScriptState === "notRunning") settling = setTimeout(putBack, SETTLED_MS);
  }
}

function lost() {
  answered();
  held ??= newest();
  torn ??= grasped;
  letGo();
  say("away", page.data.away);
}

// `lives`: what moves on the page has gone on meanwhile.
function hand(note, lives = true) {
  held = note;
  number += 1;
  page.setStateValue("note", { number, text: note, lives });
}

function welcome() {
  held = null;
  if (line()?.dataset.says === "away") say("back", page.data.back);
}

// The server has been asked for something, and says nothing.
function listen() {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...message) {
    if (socket !== this) this.addEventListener("message", answered);
    socket = this;
    silence ||= setTimeout(() => say("silent", page.data.silent), SILENT_MS);
    return send.apply(this, message);
  };
}

let socket = null; // the one in use
let silence = 0;

function answered() {
  clearTimeout(silence);
  silence = 0;
  if (line()?.dataset.says === "silent") say("back", page.data.back);
}

function beginAnew() {
  const last = Number(stored(RELOADED));
  keep(held ?? newest());
  if (Date.now() - last < RELOAD_MS) return; // once did not help: Streamlit's own message stays
  keep(String(Date.now()), RELOADED);
  location.reload();
}

// --- the note ------------------------------------------------------------------------------------------------------

// A fragment leaves its own beside the page's: the one with the highest count is the newest.
function newest() {
  const all = [...document.querySelectorAll("[class*=st-key-tab-note] [data-testid=stText]")].map((text) => text.textContent);
  return all.sort((one, other) => count(other) - count(one))[0] ?? "";
}

function count(text) {
  try {
    return JSON.parse(text).count;
  } catch {
    return -1;
  }
}

function stored(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null; // storage is switched off
  }
}

function keep(text, name = KEPT) {
  try {
    sessionStorage.setItem(name, text);
  } catch {
    // switched off, or full: a reload then begins at the address
  }
}

// --- files ---------------------------------------------------------------------------------------------------------

// The class by which an element is known in every session.
function keyOf(element) {
  return [...(element?.closest("[class*=st-key-]")?.classList ?? [])].find((name) => name.startsWith("st-key-"));
}

function noteFiles(element, files) {
  const name = keyOf(element.closest?.("[data-testid=stFileUploader]"));
  if (name && files.length) brought.set(name, [...files]);
}

function bring() {
  for (const name of owed) {
    const input = document.querySelector(`.${CSS.escape(name)} input[type=file]`);
    if (!input || input.disabled) continue;
    owed.delete(name);
    const again = new DataTransfer();
    for (const file of brought.get(name)) again.items.add(file);
    input.files = again.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

// --- sliders -------------------------------------------------------------------------------------------------------

let grasped = null, torn = null, settling = 0; // { input, name, place }

function grasp(target) {
  const slider = target.closest?.("[data-testid=stSlider]");
  const input = slider?.querySelector("input[type=range]");
  if (!input || input.disabled) return;
  grasped = { name: keyOf(slider), place: input.value };
  watcher.observe(input, { attributeFilter: ["value", "aria-valuetext"] });
}

const watcher = new MutationObserver(([{ target }]) => {
  if (grasped && !target.disabled) grasped.place = target.value;
});

function letGo() {
  watcher.disconnect();
  grasped = null;
}

function putBack() {
  const input = torn && document.querySelector(`.${CSS.escape(torn.name)} input[type=range]`);
  if (!input || input.disabled) return;
  const { place } = torn;
  torn = null;
  const pointer = { bubbles: true, pointerId: 1, pointerType: "mouse", button: 0 };
  move(input, place === input.min ? input.max : input.min); // it may still show the place, and nobody knows
  input.dispatchEvent(new PointerEvent("pointerdown", pointer));
  move(input, place);
  window.dispatchEvent(new PointerEvent("pointerup", pointer));
}

function move(input, place) {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, place); // past React's own
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

// --- the line ------------------------------------------------------------------------------------------------------

function line() {
  return document.getElementById("tab-line");
}

function later(ms, action) {
  clearTimeout(timer);
  timer = setTimeout(action, ms);
}

function say(what, words) {
  const place = line() ?? document.body.appendChild(Object.assign(document.createElement("div"), { id: "tab-line", role: "status" }));
  place.dataset.says = what;
  place.textContent = words;
  if (what === "back") later(SAID_MS, () => place.remove());
  else clearTimeout(timer);
}
