import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as grammar from "../../assets/player/painters/grammar.js";
import { FakeContext, lookOf, widthOf } from "./fake.mjs";

const [DRAWN, JUMPED, BREAKS, ASTRAY] = [0, 1, 2, 3];

// "x" is drawn, ":" jumped over, "?" breaks the format, "!" follows.
function sent(masked = true) {
  const meaning = (name, pattern, colour) => ({ name, label: name, colour, pattern });
  const bars = [[0.7, 0, 0], [0.2, 0.9, 1], [0.1, 0.1, 1]];
  return {
    painter: "grammar",
    steps: 4,
    total: 4,
    at: null,
    events: [2],
    picture: {
      masked,
      allowed: [2, 1, 1],
      moments: [
        { fate: DRAWN, state: 0, after: 1, ways: [[1, 1], [2, 0]], more: 3, bars },
        { fate: JUMPED, state: 1, after: 2, ways: [[2, 1]], more: 0, bars: [] },
        { fate: BREAKS, state: 2, after: -1, ways: [[-1, 0]], more: 0, bars },
        { fate: ASTRAY, state: -1, after: -1, ways: [], more: 0, bars },
      ],
    },
    texts: {
      prompt: ["p", "q"],
      moments: [
        { token: "x", ways: ["x", "a–z"], bars: ["y", "x", ""] },
        { token: ":", ways: [":"], bars: [] },
        { token: "?", ways: ["end"], bars: ["?", "x", ""] },
        { token: "!", ways: [], bars: ["!", "x", ""] },
      ],
    },
    notes: [[0, ""]],
    times: [[0, "passes: 1"], [2, "passes: 2"]],
    states: [
      meaning("given", "none", "#7c8591"),
      meaning("drawn", "solid", "#2d7f9d"),
      meaning("jumped", "outline", "#8f7d2c"),
      meaning("breaks", "cross", "#c8504a"),
    ],
    alt: "a grammar",
    words: { row_text: "text", row_state: "automaton", row_index: "index", allows: "allows {n}", row_free: "p", row_used: "after", state: "state", broken: "broken", no_pass: "no pass",
      no_mask: "mask off", others: "others", forbidden: "forbidden", column_state: "State", column_ways: "May follow", column_bars: "bars" },
  };
}

const frames = decodeFrames(sent(), grammar);
const place = (room = 400, width = 560, of = frames) => grammar.layout(of, { width, room, size: 13, widthOf });

function paint(step, of = frames, layout = place()) {
  const context = new FakeContext();
  grammar.paint(context, of, { step }, layout, lookOf(of.states));
  return context;
}

test("a way is written with the state it leads to, the one taken first, the rest counted", () => {
  assert.deepEqual(grammar.chipsAt(frames, 0), [
    { text: "x → 1", taken: true },
    { text: "a–z → 2", taken: false },
    { text: "+3", taken: false },
  ]);
  assert.deepEqual(grammar.chipsAt(frames, 2), [{ text: "end", taken: false }]);
});

test("a state has a number until the format is broken", () => {
  assert.equal(grammar.stateName(frames, 1), "state 1");
  assert.equal(grammar.stateName(frames, 3), "broken");
});

test("only fates that occur are in the legend", () => {
  assert.deepEqual(grammar.statesThatOccur(frames), [0, 1, 2, 3]);
});

test("what is forbidden is said, not drawn, below the mask", () => {
  const said = paint(0).texts();
  assert.equal(said.filter((text) => text === "forbidden").length, 1);
  assert.ok(said.includes("70%") && said.includes("90%"));
});

test("a token that was jumped over has no bars, and says why", () => {
  const said = paint(1).texts();
  assert.ok(said.includes("no pass"));
  assert.ok(!said.some((text) => text.endsWith("%")));
});

test("with the mask off the second row says so", () => {
  const said = paint(0, decodeFrames(sent(false), grammar)).texts();
  assert.ok(said.includes("mask off"));
  assert.ok(!said.includes("forbidden"));
});

test("the picture keeps to its room, and the text to its lines", () => {
  for (const room of [220, 300, 400, 700]) for (const width of [300, 560, 1200]) {
    const layout = place(room, width);
    assert.ok(layout.bars + 2 * layout.rowHeight + layout.label === layout.height);
    for (const { x, width: wide } of layout.rows) assert.ok(layout.left + x + wide <= layout.right + 0.5);
  }
});

test("the table twin tells state, ways and both probabilities", () => {
  assert.deepEqual(grammar.cells(frames, 0), ["x", "state 0", "x → 1\na–z → 2\n+3", "y: 70% → forbidden\nx: 20% → 90%\nothers: 10% → 10%"]);
  assert.equal(grammar.columns(frames).length, grammar.cells(frames, 3).length);
});

test("a column under the pointer is told in words", () => {
  const layout = place();
  const spot = grammar.spotAt(layout, frames, { step: 0 }, layout.left + 5, layout.bars + 5);
  assert.equal(spot.text, "y: 70% → forbidden");
  assert.equal(grammar.spotAt(layout, frames, { step: 0 }, 2, layout.bars + 5), null);
});

test("the index has a bar for each state, tells how many tokens the present one allows, and where the next one is", () => {
  const layout = place();
  const drawn = paint(0);
  assert.ok(drawn.texts().includes("allows 2"));
  assert.equal(drawn.areas("accent").filter(([, y]) => y > layout.strip && y < layout.bars).length, 1); // where the text stands
  assert.equal(paint(0).calls.filter(({ name }) => name === "quadraticCurveTo").length, 1);
  assert.equal(paint(2).calls.filter(({ name }) => name === "quadraticCurveTo").length, 0); // nowhere: the format breaks
  assert.equal(grammar.spotAt(layout, frames, { step: 0 }, layout.left + 1, layout.strip + 5).text, "state 0: allows 2");
  assert.equal(grammar.spotAt(layout, frames, { step: 0 }, layout.right - 1, layout.strip + 5), null);
});

test("in a small lecture hall the index gives way, so that the rest is seen whole", () => {
  const small = place(150);
  assert.ok(small.height < place(220).height);
  assert.ok(!paint(0, frames, small).texts().includes("allows 2"));
  assert.ok(paint(0, frames, place(220)).texts().includes("allows 2"));
});
