// While a hand is on a live slider, says where it is: one request at a time, the newest place wins, the last one arrives.
//
// The sliders are Streamlit's own.  Streamlit tells the server where one stands when it is let go; until then this does,
// with a sequence number that comes back when the run is done.  The number and not the place: a run may clamp the place,
// or change nothing.
//
// The answer is text in the page, { answered, moving, sliders }, and not data of the component: Streamlit hands those
// over only after the chart has been drawn, and by then the server can have computed the next one.

const LOST_MS = 1000; // without an answer: say it again
const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];

let page = null; // what Streamlit handed over: { parentElement, setStateValue }
let life = null; // aborted when the component goes
let answer = { answered: 0, moving: false, sliders: [] };
let number = 0; // of the last request
let waiting = false; // for its answer
let said = null; // what it said: { widget, place, held }
let unsaid = null; // what is to be said next
let patient = false; // Streamlit itself is telling the server that the slider was let go
let timer = 0;
let hand = null; // on which slider: { widget, input, from, by }

export default function liveSlider(component) {
  if (page?.parentElement !== component.parentElement) start(component.parentElement);
  page = component;
  return () => page?.parentElement === component.parentElement && stop();
}

function start(parentElement) {
  stop(); // the component of the page before may go only after this one has come
  life = new AbortController();
  const on = (event, action) => addEventListener(event, action, { capture: true, signal: life.signal });
  on("pointerdown", (event) => takeHold(event.target, "pointer"));
  on("pointerup", () => letGo("pointer"));
  on("pointercancel", () => letGo("pointer"));
  on("keydown", pressed);
  on("keyup", (event) => KEYS.includes(event.key) && letGo("key"));
  on("focusout", (event) => letGo("key", event.relatedTarget));
  const place = parentElement.host.closest(".st-key-live-answer");
  reader.observe(place, { subtree: true, childList: true, characterData: true });
  read(place);
}

function stop() {
  life?.abort();
  reader.disconnect();
  watcher.disconnect();
  clearTimeout(timer);
  [page, life, hand, unsaid, waiting] = [null, null, null, null, false];
}

// --- the hand ------------------------------------------------------------------------------------------------------

const watcher = new MutationObserver(() => {
  if (hand) tell({ widget: hand.widget, place: Number(hand.input.value), held: true });
});

function takeHold(target, by) {
  const slider = target instanceof Element && target.closest('[data-testid="stSlider"]');
  const widget = slider && answer.sliders.find((key) => slider.closest(`.st-key-${key.replace(/[^\w-]/g, "-")}`));
  if (!widget || hand) return;
  const input = slider.querySelector("input");
  hand = { widget, input, from: input.value, by };
  watcher.observe(input, { attributeFilter: ["value", "aria-valuetext"] });
}

// Streamlit would send every press of a key, and each would cut the run before it short.  The browser moves the slider
// just as well; Streamlit hears of it when the key is up.
function pressed(event) {
  if (!KEYS.includes(event.key) || event.ctrlKey || event.altKey || event.metaKey || event.target.type !== "range") return;
  takeHold(event.target, "key");
  if (hand?.by === "key") event.stopPropagation();
}

function letGo(by, next = null) {
  if (hand?.by !== by) return;
  const { widget, input, from } = hand;
  if (by === "key") pressAndRelease(input);
  hand = null;
  next?.focus();
  setTimeout(() => { // after Streamlit's own listeners
    watcher.disconnect();
    if (!life) return;
    unsaid = { widget, place: Number(input.value), held: false };
    patient = input.value !== from;
    if (patient) again();
    else if (!waiting) send();
  });
}

// What makes Streamlit take over the value at which the browser has put the slider.
function pressAndRelease(input) {
  const options = { bubbles: true, pointerId: 1, pointerType: "mouse", button: 0 };
  input.dispatchEvent(new PointerEvent("pointerdown", options));
  window.dispatchEvent(new PointerEvent("pointerup", options));
}

// --- the server ----------------------------------------------------------------------------------------------------

function tell(what) {
  unsaid = what;
  patient = false;
  if (!waiting) send();
}

function send() {
  said = unsaid ?? said;
  unsaid = null;
  waiting = true;
  number += 1;
  page.setStateValue("hand", { number, ...said });
  again();
}

function again() {
  clearTimeout(timer);
  timer = setTimeout(send, LOST_MS);
}

const reader = new MutationObserver(([{ target }]) => {
  read((target.closest ? target : target.parentElement)?.closest(".st-key-live-answer"));
});

function read(place) {
  const text = place?.querySelector('[data-testid="stText"]')?.textContent;
  if (!text) return;
  answer = JSON.parse(text);
  number = Math.max(number, answer.answered);
  if (answer.answered < number) return; // to a request that was taken for lost
  waiting = false;
  if (!answer.moving && !hand) unsaid = null; // the server knows that the hand is gone
  if (!unsaid) clearTimeout(timer);
  else if (!patient) send();
}
