// Colours, fonts and fills of the reader's theme, for whoever paints.

import { inkOn, makeFill } from "./patterns.js";

function parseColour(text) {
  const [red, green, blue] = text.match(/[\d.]+/g).map(Number);
  return [red, green, blue];
}

const mix = (one, other, share) =>
  `rgb(${one.map((value, i) => Math.round(value * share + other[i] * (1 - share))).join(", ")})`;

export function newCanvas(width, height) {
  return Object.assign(document.createElement("canvas"), { width, height });
}

export function measure(font) {
  const context = newCanvas(1, 1).getContext("2d");
  context.font = font;
  const known = new Map();
  return (string) => {
    if (!known.has(string)) known.set(string, context.measureText(string).width);
    return known.get(string);
  };
}

// Once per theme, size and screen density.  The colours of the theme are those of the element `root`.
export function makeLook(root, data, ratio) {
  const probe = (name) => {
    root.style.color = `var(${name})`;
    const colour = getComputedStyle(root).color;
    root.style.color = "";
    return parseColour(colour);
  };
  const [text, background, accent] = ["--text", "--background", "--accent"].map(probe);
  const style = getComputedStyle(root);
  const family = style.fontFamily;
  const size = Number(style.getPropertyValue("--drawn"));
  const look = { ratio, size, newCanvas, font: `400 ${size}px ${family}`, bold: `600 ${size}px ${family}` };
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
