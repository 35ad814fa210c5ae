import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as passes from "../../assets/player/painters/passes.js";
import { FakeContext, lookOf, widthOf } from "./fake.mjs";

const packed = (Kind, numbers) => Buffer.from(Kind.from(numbers).buffer).toString("base64");

// A with a prompt of 3 tokens, B with one of 2, which comes a step later; three steps.
function sent() {
  const state = (name, pattern) => ({ name, label: name, colour: "#0072b2", pattern });
  return {
    painter: "passes",
    steps: 3,
    total: 3,
    at: null,
    events: [],
    picture: {
      requests: ["A", "B"],
      rows: packed(Int16Array, [3, 1, 1, 0, 2, 1]),
      context: packed(Int16Array, [3, 4, 5, 0, 2, 3]),
      prefill: packed(Uint8Array, [1, 0, 0, 0, 1, 0]),
    },
    texts: { weights: "14.0 GiB" },
    notes: [[0, "one"]],
    times: [[0, "1 ms"], [1, "2 ms"]],
    states: [state("prefill", "diagonal"), state("decode", "solid"), state("stored", "dots"), state("weights", "solid")],
    alt: "passes",
    words: {
      rows_in: "rows in: {n}", weights_read: "weights: reading {n}", kv_rows: "KV: {read} read, {new} new",
      column_rows: "Rows in", column_weights: "Read so far", column_kv: "KV",
    },
  };
}

const frames = decodeFrames(sent(), passes);
const place = passes.layout(frames, { width: 600, room: 300, size: 13, widthOf });
const moment = (step) => ({ step });

function paint(step) {
  const context = new FakeContext();
  passes.paint(context, frames, moment(step), place, lookOf(frames.states));
  return context;
}

const count = (context, name) => context.areas(`fill of ${name}`).length;

test("every row that goes in is drawn, and again as a new row of KV", () => {
  assert.equal(count(paint(0), "prefill"), 3 + 3);
  assert.equal(count(paint(0), "decode"), 0);
});

test("in a shared step each row has the look of its own phase", () => {
  const context = paint(1);
  assert.equal(count(context, "prefill"), 2 + 2); // B's prompt
  assert.equal(count(context, "decode"), 1 + 1); // A's token
});

test("what lay in KV before is read, and nothing of the future is", () => {
  assert.deepEqual([0, 1, 2].map((step) => count(paint(step), "stored")), [0, 3, 4 + 2]);
});

test("the titles say how many rows, the how-manieth reading, and what happens to KV", () => {
  const texts = paint(2).texts();
  for (const text of ["rows in: 2", "weights: reading 3", "KV: 6 read, 2 new", "A 5", "B 3"]) {
    assert.ok(texts.includes(text), `${text} is not among ${texts}`);
  }
});

test("the weights are one block, with a mark for each reading so far", () => {
  assert.deepEqual([0, 1, 2].map((step) => count(paint(step), "weights")), [1, 1, 1]);
  assert.deepEqual([0, 1, 2].map((step) => paint(step).areas("ink").length), [1, 2, 3]);
});

test("everything stands within the picture, whatever its width", () => {
  for (const width of [320, 600, 1200]) {
    const narrow = passes.layout(frames, { width, room: 300, size: 13, widthOf });
    const context = new FakeContext();
    passes.paint(context, frames, moment(2), narrow, lookOf(frames.states));
    for (const { name, given } of context.calls.filter((call) => ["fillRect", "roundRect"].includes(call.name))) {
      const [x, y, across, down] = given;
      assert.ok(x >= 0 && x + across <= width + 0.01 && y >= 0 && y + down <= narrow.height + 0.01, `${name} ${given}`);
    }
  }
});

test("rows get thin before they get lost, and never higher than a line of text", () => {
  const heightIn = (room) => passes.layout(frames, { width: 600, room, size: 13, widthOf });
  assert.ok(heightIn(80).height <= 81);
  assert.ok(heightIn(80).cell > 0);
  assert.ok(heightIn(2000).cell <= 13 * 1.25);
});

test("the pointer is told what a column is", () => {
  const y = place.top + 5;
  const at = (x) => passes.spotAt(place, frames, moment(1), x, y)?.text;
  assert.equal(at(place.rows.x + 5), "rows in: 3");
  assert.match(at(place.weights.x + 5), /reading 2\n14.0 GiB/);
  assert.match(at(place.kv.x + 5), /A 3 \/ 1$/);
  assert.match(at(place.kv.x + place.own + 5), /B 0 \/ 2$/);
  assert.equal(at(place.rows.width + 1), undefined);
});

test("the table has the rows, the readings so far, and each request's KV", () => {
  assert.deepEqual(passes.columns(frames), ["Rows in", "Read so far", "KV"]);
  assert.deepEqual(passes.cells(frames, 1), ["3", "2×", "A 3 / 1; B 0 / 2"]);
});
