// Text in cells: tokens side by side in lines, the names of rows left of them, shares in words.  For the painters that
// show text.

import { paintLabel, paintSpan } from "./patterns.js";

export const CELL_AIR = 6; // px left and right of a text in its cell
export const CELL_GAP = 3; // px between two cells

// Which text stands in which line, and where: [{ line, x, width }].
export function flow(texts, width, widthOf, gap = CELL_GAP) {
  let line = 0;
  let x = 0;
  return texts.map((text) => {
    const needed = Math.min(widthOf(text) + 2 * CELL_AIR, width);
    if (x > 0 && x + needed > width) [line, x] = [line + 1, 0];
    const place = { line, x, width: needed };
    x += needed + gap;
    return place;
  });
}

// A text that does not fit ends in an ellipsis.
export function cut(text, room, widthOf) {
  if (widthOf(text) <= room) return text;
  const letters = [...text];
  let end = letters.length - 1;
  while (end > 1 && widthOf(`${letters.slice(0, end).join("")}…`) > room) end--;
  return `${letters.slice(0, end).join("")}…`;
}

export function percent(share) {
  if (share > 0 && share < 0.005) return "<1%";
  return `${Math.round(share * 100)}%`;
}

export function paintCell(c, text, state, { x, y, width, height }, look) {
  paintSpan(c, state, x, y, width, height, [4, 4], look);
  const shown = cut(text, width - 2 * CELL_AIR + 2, look.widthOf);
  paintLabel(c, shown, look.font, state, x + (width - look.widthOf(shown)) / 2, y + height / 2 + 0.5, look);
}

export function paintName(c, name, middle, place, look) {
  c.textAlign = "right";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(name, place.left - 10, middle, place.left - 10);
}

// What is said where a row of bars would stand.
export function paintOtherwise(c, text, bottom, place, look) {
  c.textAlign = "left";
  c.font = look.font;
  c.fillStyle = look.muted;
  c.fillText(text, place.left + 4, bottom - place.size * 0.7);
}
