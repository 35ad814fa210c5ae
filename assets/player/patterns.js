// A pattern beside every colour, so that colour is never the only cue.

const TILE = 8; // px, every pattern repeats after this
const INKS = ["#ffffff", "#16191d"];

function channels(colour) {
  const hex = colour.replace("#", "");
  const full = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
  return [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16) / 255);
}

export function luminance(colour) {
  const [red, green, blue] = channels(colour).map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

// White or near-black, whichever reads better on `colour`.
export function inkOn(colour) {
  return contrast(INKS[0], colour) >= contrast(INKS[1], colour) ? INKS[0] : INKS[1];
}

const MARKS = {
  diagonal: (c) => lines(c, [[-2, 10, 10, -2], [-2, 2, 2, -2], [6, 10, 10, 6]]),
  cross: (c) => lines(c, [[0, 0, 8, 8], [0, 8, 8, 0]]),
  horizontal: (c) => lines(c, [[0, 2, 8, 2], [0, 6, 8, 6]]),
  vertical: (c) => lines(c, [[2, 0, 2, 8], [6, 0, 6, 8]]),
  backslash: (c) => lines(c, [[-2, -2, 10, 10], [6, -2, 10, 2], [-2, 6, 2, 10]]),
  grid: (c) => lines(c, [[0, 4, 8, 4], [4, 0, 4, 8]]),
  dashes: (c) => lines(c, [[0, 2, 4, 2], [4, 6, 8, 6]]),
  checks: (c) => {
    c.fillRect(0, 0, 4, 4);
    c.fillRect(4, 4, 4, 4);
  },
  dots: (c) => {
    for (const [x, y] of [[2, 2], [6, 6]]) {
      c.beginPath();
      c.arc(x, y, 1.3, 0, 2 * Math.PI);
      c.fill();
    }
  },
};

function lines(c, segments) {
  c.beginPath();
  for (const [x0, y0, x1, y1] of segments) {
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
  }
  c.stroke();
}

// What to give `fillStyle` for one state: a colour, a repeating tile, or null for patterns that are not filled.
// `newCanvas(width, height)` makes a scratch canvas; a painter under test hands in its own.
export function makeFill(state, background, ratio, newCanvas) {
  if (state.pattern === "outline" || state.pattern === "none") return null;
  const mark = MARKS[state.pattern];
  if (!mark) return state.colour;
  const size = Math.round(TILE * ratio);
  const tile = newCanvas(size, size);
  const c = tile.getContext("2d");
  c.scale(size / TILE, size / TILE);
  c.fillStyle = state.colour;
  c.fillRect(0, 0, TILE, TILE);
  c.strokeStyle = c.fillStyle = background;
  c.globalAlpha = 0.62;
  c.lineWidth = 1.4;
  mark(c);
  const fill = c.createPattern(tile, "repeat");
  if (fill.setTransform) fill.setTransform(new DOMMatrix().scale(TILE / size));
  return fill;
}

// One stretch of a row with rounded ends `[left, right]`, in the look of its state.
export function paintSpan(c, state, x, y, width, height, [left, right], look) {
  if (state.pattern === "none") {
    c.fillStyle = look.track;
    c.fillRect(x, y, width, height);
    return;
  }
  if (state.pattern === "outline") {
    c.fillStyle = look.track;
    c.fillRect(x, y, width, height);
    if (width < 2.5 || height < 3) return;
    c.strokeStyle = state.colour;
    c.lineWidth = 1;
    c.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    return;
  }
  c.fillStyle = state.fill;
  if (!left && !right) {
    c.fillRect(x, y, width, height);
    return;
  }
  c.beginPath();
  c.roundRect(x, y, width, height, [left, right, right, left]);
  c.fill();
}

// Text on a span, readable on its pattern, too.
export function paintLabel(c, text, font, state, x, middle, look) {
  const filled = state.fill != null;
  c.textAlign = "left";
  c.font = font;
  if (filled && state.fill !== state.colour) {
    c.strokeStyle = state.colour; // quiet ground below a text on a pattern
    c.lineWidth = 5;
    c.lineJoin = "round";
    c.strokeText(text, x, middle);
  }
  c.fillStyle = filled ? state.ink : look.text;
  c.fillText(text, x, middle);
}
