// What a lecture needs from the browser: a light page, and a remote control that always works.

// Light, whatever the reader's system prefers: a projector washes a dark page out.  Streamlit picks
// one of its two themes by the system's preference, and looks again after printing.  So while the
// lecture view lasts the system seems to prefer light.
const DARK = "(prefers-color-scheme: dark)";
const LIGHT = {
  matches: false,
  media: DARK,
  addEventListener() {},
  removeEventListener() {},
  addListener() {},
  removeListener() {},
};
const PATIENCE_MS = 3000;
let ask = null; // the browser's own matchMedia while ours stands in for it

function lookAgain() {
  window.dispatchEvent(new Event("afterprint"));
}

// A remote control sends PageDown and PageUp.  A slider or a field that was touched last would take
// them for itself, and the lecture would stay where it is.
function turn(event) {
  if (event.key !== "PageDown" && event.key !== "PageUp") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!event.repeat) press(event.key, performance.now() + PATIENCE_MS);
}

// While an act is drawn anew its bar may be gone for a moment: a press waits for it.
function press(key, until) {
  const button = document.querySelector(`.st-key-lecture-${key} button`);
  if (button) button.click();
  else if (performance.now() < until) setTimeout(press, 20, key, until);
}

function leave() {
  if (!ask) return;
  window.matchMedia = ask;
  ask = null;
  lookAgain();
  window.removeEventListener("keydown", turn, true);
}

export default function () {
  if (!ask) {
    ask = window.matchMedia;
    window.matchMedia = query => (query === DARK ? LIGHT : ask.call(window, query));
    lookAgain();
    window.addEventListener("keydown", turn, true);
  }
  return leave;
}
