import assert from "node:assert/strict";
import test from "node:test";
import { CELL_AIR, CELL_GAP, cut, flow, percent } from "../../assets/player/cells.js";

const widthOf = (text) => 10 * [...text].length;

test("small shares are not called nothing", () => {
  assert.deepEqual([0, 0.0001, 0.2, 1].map(percent), ["0%", "<1%", "20%", "100%"]);
});

test("texts stand in a line until it is full, and none is wider than the line", () => {
  const one = 20 + 2 * CELL_AIR;
  const places = flow(["ab", "cd", "ef", "x".repeat(90)], 2 * one + CELL_GAP, widthOf);
  assert.deepEqual(places.map(({ line }) => line), [0, 0, 1, 2]);
  assert.equal(places[1].x, one + CELL_GAP);
  assert.equal(places[3].width, 2 * one + CELL_GAP);
});

test("a text that does not fit ends in an ellipsis", () => {
  assert.equal(cut("abc", 30, widthOf), "abc");
  assert.equal(cut("abcdef", 40, widthOf), "abc…");
});
