import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as rounding from "../../assets/player/painters/rounding.js";
import { FakeContext, lookOf, widthOf } from "./fake.mjs";

// Four weights in two spans: the first pair rounds to 0.2 steps, of the second one weight lies beyond the picture.
function sent() {
  const state = (name, pattern) => ({ name, label: name, colour: "#0072b2", pattern });
  return {
    painter: "rounding",
    steps: 5,
    total: 5,
    at: null,
    events: [],
    picture: {
      before: [0.25, -0.35, 0.1, 2],
      after: [0.2, -0.4, 0, 2],
      top: 0.5,
      spans: [[0, 2, [-0.4, -0.2, 0, 0.2, 0.4]], [2, 4, [0]]],
      moments: [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2]],
    },
    texts: { scales: ["0.2", "2"], errors: ["16%", "5%"] },
    notes: [[0, "one"]],
    times: [[0, ""]],
    states: [state("unrounded", "outline"), state("rounded", "solid"), state("round_off", "cross")],
    alt: "weights",
    words: { scale: "scale {n}", weight: "weight {n}", column_span: "Weights", column_scale: "Scale", column_error: "Error" },
  };
}

const frames = decodeFrames(sent(), rounding);
const place = rounding.layout(frames, { width: 420, room: 300, size: 13, widthOf });

function paint(step, where = place) {
  const context = new FakeContext();
  rounding.paint(context, frames, { step }, where, lookOf(frames.states));
  return context;
}

const outlines = (context) => context.calls.filter(({ name }) => name === "strokeRect").length;
const count = (context, name) => context.areas(`fill of ${name}`).length;

test("weights are outlines until their own span is rounded", () => {
  assert.deepEqual([0, 1, 2, 3, 4].map((step) => outlines(paint(step))), [4, 4, 2, 2, 0]);
});

test("what is stored is solid, what was lost or added is hatched", () => {
  const context = paint(2);
  assert.equal(count(context, "rounded"), 2);
  assert.equal(count(context, "round_off"), 2);
  const [[, y, , height]] = context.areas("fill of round_off"); // 0.25 became 0.2
  assert.ok(Math.abs(height - 0.05 * place.unit) < 0.01 && Math.abs(y - (place.middle - 0.25 * place.unit)) < 0.01);
});

test("a weight that became zero is all error", () => {
  const lost = paint(4).areas("fill of round_off").map(([, , , height]) => height / place.unit);
  assert.ok(lost.some((size) => Math.abs(size - 0.1) < 0.001));
});

test("a scale is said and its levels are drawn while its span is in question", () => {
  assert.ok(!paint(0).texts().some((text) => text.startsWith("scale")));
  assert.ok(paint(1).texts().includes("scale 0.2"));
  assert.ok(paint(4).texts().includes("scale 2"));
  assert.equal(paint(0).areas("faint").length, 0);
  assert.equal(paint(1).areas("faint").length, 5);
  assert.equal(paint(3).areas("faint").length, 1);
});

test("levels that lie closer than can be seen are a band without gaps", () => {
  const dense = sent();
  dense.picture.spans[0][2] = Array.from({ length: 201 }, (_, at) => (at - 100) / 250);
  const context = new FakeContext();
  rounding.paint(context, decodeFrames(dense, rounding), { step: 1 }, place, lookOf(frames.states));
  const [, ...bands] = context.areas("faint");
  assert.equal(bands.length, 200);
  const total = bands.reduce((sum, [, , , height]) => sum + height, 0);
  assert.ok(Math.abs(total - 0.8 * place.unit) < 0.5);
});

test("a weight beyond the picture is cut and says its value", () => {
  assert.ok(paint(0).texts().includes("↑ 2"));
});

test("everything stands within the picture, whatever its width", () => {
  for (const width of [320, 700, 1200]) {
    const other = rounding.layout(frames, { width, room: 300, size: 13, widthOf });
    for (let step = 0; step < 5; step++) {
      const drawn = paint(step, other).calls.filter(({ name }) => ["fillRect", "roundRect", "strokeRect"].includes(name));
      for (const { name, given } of drawn) {
        const [x, y, across, down] = given;
        assert.ok(x >= -1 && x + across <= width + 1 && y >= -1 && y + down <= other.height + 1, `${name} ${given}`);
      }
    }
  }
});

test("the pointer is told a weight, and what became of it once it is rounded", () => {
  const at = (step) => rounding.spotAt(place, frames, { step }, place.left + 3, place.middle)?.text;
  assert.equal(at(0), "weight 1\n0.25");
  assert.equal(at(2), "weight 1\n0.25 → 0.2");
  assert.equal(rounding.spotAt(place, frames, { step: 0 }, 2, place.middle), null);
});

test("the table has the span in question, its scale and then its error", () => {
  assert.deepEqual(rounding.columns(frames), ["Weights", "Scale", "Error"]);
  assert.deepEqual(rounding.cells(frames, 1), ["1–2", "0.2", "–"]);
  assert.deepEqual(rounding.cells(frames, 4), ["3–4", "2", "5%"]);
});
