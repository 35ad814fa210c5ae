import assert from "node:assert/strict";
import test from "node:test";
import { contrast, inkOn, makeFill } from "../../assets/player/patterns.js";
import { FakeContext } from "./fake.mjs";

function scratch() {
  const context = new FakeContext();
  context.createPattern = () => ({ context });
  return { getContext: () => context };
}

test("black on white is the strongest contrast", () => {
  assert.equal(Math.round(contrast("#000", "#ffffff")), 21);
});

test("letters take the ink that reads better", () => {
  assert.equal(inkOn("#0072b2"), "#ffffff");
  assert.notEqual(inkOn("#e69f00"), "#ffffff");
});

test("each pattern is drawn differently, so colour is not the only cue", () => {
  const drawn = ["diagonal", "cross", "horizontal", "vertical", "dots"].map((pattern) => {
    const fill = makeFill({ pattern, colour: "#0072b2" }, "#ffffff", 2, scratch);
    return JSON.stringify(fill.context.calls);
  });
  assert.equal(new Set(drawn).size, drawn.length);
});

test("solid is a plain colour, outlines and nothing are not filled", () => {
  assert.equal(makeFill({ pattern: "solid", colour: "#0072b2" }, "#fff", 1, scratch), "#0072b2");
  assert.equal(makeFill({ pattern: "outline", colour: "#0072b2" }, "#fff", 1, scratch), null);
  assert.equal(makeFill({ pattern: "none", colour: "#0072b2" }, "#fff", 1, scratch), null);
});
