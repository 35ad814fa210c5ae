// What every page needs from the browser: its language said aloud, a beginning at the top, a Back that works, a list that
// shows where one is, names without the names of icons, and a note of which acts were opened.

const KEPT = "llm-serving-visited";
const MAX_KEPT = 200;

let place = null; // the page and act on the screen

export default function frame({ data }) {
  document.documentElement.lang = data.code;
  languageIsNoStep();
  watch();
  remember(data);
  if (data.place !== place) arrive(data.place);
}

// Streamlit keeps the place of the scroll bar when an act follows another.
function arrive(at) {
  const isFirst = place === null;
  place = at;
  if (!isFirst) document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
}

// What Streamlit draws, it draws at its own time.
function watch() {
  if (document.documentElement.dataset.watched) return;
  document.documentElement.dataset.watched = "yes";
  const look = () => {
    iconsAreNoWords();
    showInList();
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
  look();
}

function showInList() {
  for (const link of document.querySelectorAll(".st-key-chapter-list a")) {
    const name = link.getAttribute("href").split("?")[0]; // of home it is empty
    const isHere = name !== "" && location.pathname.endsWith(`/${name}`);
    if (isHere === link.hasAttribute("aria-current")) continue;
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (isHere) link.scrollIntoView({ block: "center" });
  }
}

// Another language is the same place: it takes over the entry in the browser's history instead of adding one, at which
// Back would stand still.
function languageIsNoStep() {
  const push = history.pushState;
  if (push.languageIsNoStep) return;
  history.pushState = function (state, title, url) {
    const isSame = url != null && unspoken(new URL(url, location.href)) === unspoken(location);
    return (isSame ? history.replaceState : push).call(history, state, title, url);
  };
  history.pushState.languageIsNoStep = true;
}

function unspoken({ pathname, search }) {
  const query = new URLSearchParams(search);
  query.delete("lang");
  query.sort();
  return `${pathname}?${query}`;
}

// An icon is a word in a font of icons; read out, it is noise.
function iconsAreNoWords() {
  for (const icon of document.querySelectorAll("[data-testid=stIconMaterial]:not([aria-hidden])")) {
    icon.setAttribute("aria-hidden", "true");
  }
}

function remember({ visited, forgets }) {
  try {
    const earlier = forgets ? [] : JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    const kept = [...new Set([...earlier.filter((key) => !visited.includes(key)), ...visited])].slice(-MAX_KEPT);
    if (kept.length) localStorage.setItem(KEPT, JSON.stringify(kept));
    else localStorage.removeItem(KEPT);
  } catch {
    // storage is switched off, or holds what we did not write: the session still knows
  }
}
