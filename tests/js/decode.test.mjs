import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames, decodeRuns, expandChanges, frameOf, spanAt } from "../../assets/player/decode.js";
import * as slots from "../../assets/player/painters/slots.js";
import { runsOf, sent } from "./fake.mjs";

test("runs come back row by row, with nobody as owner -1", () => {
  const rows = decodeRuns(runsOf([[[2, 1, 0], [3, 0, -1]], [[5, 2, 300]]]), 2, 5);
  assert.deepEqual(rows[0], [{ from: 0, to: 2, state: 1, owner: 0 }, { from: 2, to: 5, state: 0, owner: -1 }]);
  assert.deepEqual(rows[1], [{ from: 0, to: 5, state: 2, owner: 300 }]);
});

test("runs that do not add up are refused", () => {
  assert.throws(() => decodeRuns(runsOf([[[2, 1, 0]]]), 1, 5), /end early/);
  assert.throws(() => decodeRuns(runsOf([[[9, 1, 0]]]), 1, 5), /bad run length/);
});

test("changes expand to one value per step", () => {
  assert.deepEqual(expandChanges([[0, "a"], [2, "b"], [3, ""]], 5), ["a", "a", "b", "", ""]);
});

test("the span at a step is found at its first and last step", () => {
  const spans = decodeRuns(runsOf([[[2, 1, 0], [3, 0, -1]]]), 1, 5)[0];
  assert.deepEqual([0, 1, 2, 4].map((step) => spanAt(spans, step).state), [1, 1, 0, 0]);
});

test("frames know their steps, and grids may be shorter than the axis", () => {
  const frames = decodeFrames(sent(), slots);
  assert.equal(frames.numSteps, 10);
  assert.deepEqual(frames.grids.map((grid) => grid.numSteps), [10, 6]);
  assert.deepEqual(frames.notes.slice(4, 6), ["", "C joins"]);
  assert.deepEqual(frames.grids[0].waiting[4], [2]);
});

test("thinned frames keep the numbers of their run", () => {
  const frames = decodeFrames({ ...sent(), at: [0, 4, 8, 12, 16, 20, 24, 28, 32, 36], total: 37 }, slots);
  assert.deepEqual([0, 4, 5, 36, 99].map((number) => frameOf(frames.numbers, number)), [0, 1, 1, 9, 9]);
});
