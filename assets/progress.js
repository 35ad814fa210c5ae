// Keeps a reader's progress in their own browser, under one key of localStorage.
//
// The server sends what this session knows: { known, reset, marks, guesses }, the last two as dictionaries.  Until it says `known`, it is
// told what lies in store.  What it sends is laid over the store, so two tabs add to each other; after a reset its own
// word is the whole truth.  An exam at hand is a text of its own: null leaves it as it is, empty takes it away.  Whatever
// lies in store may have been tampered with: the server reads it as it reads a file.

const KEY = "llm-serving-progress", EXAM = "llm-serving-exam", GUESSES = "llm-serving-guesses";
const VISITED = "llm-serving-visited"; // see frame.js
const MAX_LETTERS = 200_000;

export default function progress({ parentElement, data, setStateValue }) {
  const state = parentElement.querySelector("[data-progress]");
  let text = "", exam = "", guesses = "", visited = "", works = true;
  try {
    text = localStorage.getItem(KEY) ?? "";
    exam = localStorage.getItem(EXAM) ?? "";
    guesses = localStorage.getItem(GUESSES) ?? "";
    visited = localStorage.getItem(VISITED) ?? "";
    if (data.known) text = save(KEY, "marks", text, data);
    if (data.known) save(GUESSES, "guesses", guesses, data);
    if (data.exam) localStorage.setItem(EXAM, data.exam);
    else if (data.exam === "") localStorage.removeItem(EXAM);
  } catch {
    works = false; // storage is switched off, or full
  }
  state.dataset.progress = works ? "kept" : "unavailable";
  state.dataset.letters = text.length;
  if (!data.known) {
    const [kept, guessed, place] = [exam, guesses, visited].map((one) => one.slice(0, MAX_LETTERS));
    setStateValue("stored", { text: text.slice(0, MAX_LETTERS + 1), exam: kept, guesses: guessed, visited: place, works });
  }
}

function save(key, name, text, data) {
  const together = JSON.stringify({ version: 1, [name]: { ...(data.reset ? {} : partOf(text, name)), ...data[name] } });
  if (together !== text) localStorage.setItem(key, together);
  return together;
}

function partOf(text, name) {
  if (text.length > MAX_LETTERS) return {};
  try {
    const part = JSON.parse(text)[name];
    return part !== null && typeof part === "object" && !Array.isArray(part) ? part : {};
  } catch {
    return {};
  }
}
