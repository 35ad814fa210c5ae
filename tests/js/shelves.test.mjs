import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as shelves from "../../assets/player/painters/shelves.js";
import { FakeContext, lookOf, widthOf } from "./fake.mjs";

// Two steps.  Shelf "pool": a box "1 ×0", then it is "1 ×1" with a ring and holds the tokens a, b and c; shelf "queue": two
// boxes, then one.
const SENT = {
  painter: "shelves",
  steps: 2,
  total: 2,
  at: null,
  events: [1],
  picture: {
    shelves: [
      { chained: false, kinds: [[0, [0]], [1, [1]]], rings: [[0, []], [1, [0]]] },
      { chained: true, kinds: [[0, [0, 0]], [1, [0]]], rings: [[0, []]] },
    ],
  },
  texts: {
    words: ["1 ×0", "", "1 ×1", "aa\nbb\ncc", "4", "5"],
    shelves: [
      { title: "pool", counters: [[0, "0 in use"], [1, "1 in use"]], heads: [[0, [0]], [1, [2]]], bodies: [[0, [1]], [1, [3]]] },
      { title: "queue", counters: [[0, ""]], heads: [[0, [4, 5]], [1, [5]]], bodies: [[0, [1, 1]], [1, [1]]] },
    ],
  },
  notes: [[0, "nobody"], [1, "A comes"]],
  times: [[0, ""]],
  states: [
    { name: "free", label: "empty", colour: "#848b94", pattern: "outline" },
    { name: "prefill", label: "prefill", colour: "#b87a00", pattern: "diagonal" },
  ],
  alt: "shelves",
  words: {},
};
const frames = decodeFrames(SENT, shelves);
const place = (more = {}) => shelves.layout(frames, { width: 600, room: 300, size: 13, widthOf, ...more });

function paint(step, layout = place()) {
  const context = new FakeContext();
  shelves.paint(context, frames, { step }, layout, lookOf(frames.states));
  return context;
}

test("every step has its own boxes", () => {
  assert.deepEqual(frames.shelves.map(({ steps }) => steps.map((row) => row.map(({ head }) => head))), [
    [["1 ×0"], ["1 ×1"]],
    [["4", "5"], ["5"]],
  ]);
  assert.deepEqual(frames.shelves[0].steps.map(([box]) => box.body), [[], ["aa", "bb", "cc"]]);
});

test("titles, counters, heads and tokens of the step are written", () => {
  assert.deepEqual(paint(0).texts(), ["pool", "0 in use", "1 ×0", "queue", "", "4", "5"]);
  assert.deepEqual(paint(1).texts(), ["pool", "1 in use", "1 ×1", "aa", "bb", "cc", "queue", "", "5"]);
});

test("a box looks like its state and has a ring while the step is about it", () => {
  assert.equal(paint(1).areas("fill of prefill").length, 1);
  assert.equal(paint(0).areas("fill of prefill").length, 0);
  const rings = (step) => {
    const widths = [];
    const context = new FakeContext();
    context.stroke = () => widths.push(context.lineWidth);
    shelves.paint(context, frames, { step }, place(), lookOf(frames.states));
    return widths.filter((width) => width === 3).length;
  };
  assert.deepEqual([rings(0), rings(1)], [0, 1]);
});

test("only a chained shelf has arrows, one between every two boxes", () => {
  const arrows = (step) => paint(step).calls.filter(({ name }) => name === "moveTo").length / 2;
  assert.deepEqual([arrows(0), arrows(1)], [1, 0]);
});

test("boxes stand in the order of reading, inside the picture, however narrow it is", () => {
  const many = { ...frames, shelves: [{ ...frames.shelves[0], steps: [Array(11).fill(frames.shelves[0].steps[1][0])] }] };
  for (const width of [600, 300, 90]) {
    const layout = shelves.layout(many, { width, room: 300, size: 13, widthOf });
    const context = new FakeContext();
    shelves.paint(context, many, { step: 0 }, layout, lookOf(frames.states));
    const boxes = context.areas("fill of prefill");
    assert.equal(boxes.length, 11);
    boxes.forEach(([x, y, wide, high], at) => {
      assert.ok(x >= 0 && x + wide <= width + 1 && y + high <= layout.height);
      const before = boxes[at - 1];
      if (before) assert.ok(y > before[1] || (y === before[1] && x >= before[0] + before[2]));
    });
  }
});

test("tokens that do not fit in a line go on in the next, none is cut in two", () => {
  const lines = shelves.wrap(["aaaa", "bb", "cccc"], 50, widthOf);
  assert.deepEqual(lines.map((line) => line.map(({ text }) => text)), [["aaaa", "bb"], ["cccc"]]);
  for (const line of lines) for (const { x, width } of line) assert.ok(x + width <= 50);
});

test("with little room every box is one line, and what does not fit ends in an ellipsis", () => {
  const flat = place({ room: 90, width: 120 });
  assert.ok(flat.height < place({ width: 120 }).height);
  assert.ok(flat.shelves.every(({ isFlat }) => isFlat));
  assert.deepEqual(paint(1, flat).texts(), ["pool", "1 in use", "1 ×1 aabbcc", "queue", "", "5"]);
  assert.deepEqual(paint(1, place({ room: 90, width: 70 })).texts()[2], "1 ×1 aa…");
});

test("where there is room to spare the boxes are higher, never beyond it", () => {
  const heights = [120, 140, 300].map((room) => place({ room }).height);
  assert.ok(heights[0] < heights[2]);
  assert.ok(heights.every((height, at) => height <= [120, 140, 300][at]));
});

test("the box under the pointer is told in words", () => {
  const layout = place();
  const { x, y } = { x: 5, y: layout.shelves[0].top + 3 };
  assert.equal(shelves.spotAt(layout, frames, { step: 1 }, x, y).text, "1 ×1 · aa bb cc · prefill");
  assert.equal(shelves.spotAt(layout, frames, { step: 1 }, 590, y), null);
});

test("the table tells every box of a step", () => {
  assert.deepEqual(shelves.columns(frames), ["pool", "queue"]);
  assert.deepEqual(shelves.cells(frames, 0), ["1 ×0 · empty", "4 · empty\n5 · empty"]);
});

test("the run to come shows through as colours alone", () => {
  const layout = place();
  const context = new FakeContext();
  shelves.paint(context, frames, { step: frames.numSteps - 1 }, layout, { ...lookOf(frames.states), wordless: true });
  assert.deepEqual(context.texts(), []);
  assert.ok(context.calls.some(({ name }) => name === "fill" || name === "fillRect"));
  const { y, height } = shelves.ghostArea(layout);
  assert.equal(y, layout.shelves[0].top); // what is counted stays as it is
  assert.equal(y + height, layout.height);
});
