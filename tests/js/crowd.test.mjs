import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as crowd from "../../assets/player/painters/crowd.js";
import { FakeContext, lookOf, widthOf } from "./fake.mjs";

const KINDS = ["queue", "prefill", "decode", "stored", "tokenize", "sample", "detokenize", "answer"];
const letters = (text, rows = 0) => [...text].map((letter) => [letter, rows]);

// A is prefilled while B waits, then decodes beside B's prefill, then both are done.
const SCENES = [
  [[letters("B"), letters("A", 9), [], []], 1, 1],
  [[[], letters("B", 5), letters("A", 1), []], 2, 2],
  [[[], [], [], letters("AB")], 0, 0],
];

function sent(scenes = SCENES) {
  return {
    painter: "crowd", steps: scenes.length, total: scenes.length, at: null, events: [],
    picture: { kinds: [7, 4, 0, 1, 2, 5, 6, 7], stored: 3, rows: [2, 3, 4, 7], lively: [3, 4, 5, 6], blocks: 4, scenes },
    texts: {
      stations: ["text", "tokenize", "queue", "prefill", "decode", "sample", "detokenize", "screen"],
      rows: ["in the queue", "prefilled", "decoding", "done"],
    },
    notes: [[0, ""]], times: [[0, ""]],
    states: KINDS.map((name) => ({ name, label: name, colour: `#${name}`, pattern: "diagonal" })),
    alt: "many", words: { loop: "once per token", pool: "KV blocks", of: "{n} of {total}" },
  };
}

const paint = (step, frames = decodeFrames(sent(), crowd), width = 600) => {
  const context = new FakeContext();
  const layout = crowd.layout(frames, { width, room: 330, size: 13, widthOf });
  crowd.paint(context, frames, { step, now: step }, layout, lookOf(frames.states));
  return context;
};

test("every request stands at its station with its rows of the pass", () => {
  const texts = paint(1).texts();
  for (const word of ["A", "1", "B", "5", "2 of 4"]) assert.ok(texts.includes(word), word);
  assert.deepEqual(crowd.cells(decodeFrames(sent(), crowd), 1), ["–", "B 5", "A 1", "–", "2 / 4"]);
});

test("stations where somebody is are lit, and no others", () => {
  const lit = (step) => KINDS.filter((name) => paint(step).areas(`#${name}`).length);
  assert.deepEqual(lit(0), ["queue", "prefill", "sample", "detokenize", "answer"]);
  assert.deepEqual(lit(1), ["prefill", "decode", "sample", "detokenize", "answer"]);
  assert.deepEqual(lit(2), []);
});

test("the pool is as long as its share", () => {
  const bar = (step) => paint(step).areas("fill of stored")[0]?.[2];
  assert.ok(Math.abs(bar(1) - 2 * bar(0)) < 1e-9);
  assert.equal(bar(2), undefined);
});

test("who does not fit in a row is counted", () => {
  const many = decodeFrames(sent([[[letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), [], [], []], 0, 0]]), crowd);
  const texts = paint(0, many, 340).texts();
  const shown = texts.filter((text) => /^[A-Z]$/.test(text)).length;
  assert.ok(shown < 26 && texts.includes(`+${26 - shown}`));
});

test("where there is little room the rows stay and the stations go", () => {
  const frames = decodeFrames(sent(), crowd);
  const layout = crowd.layout(frames, { width: 800, room: 150, size: 18, widthOf });
  assert.ok(layout.height <= 150);
  const context = new FakeContext();
  crowd.paint(context, frames, { step: 1, now: 1 }, layout, lookOf(frames.states));
  assert.ok(context.texts().includes("A") && !context.texts().includes("tokenize"));
  assert.equal(crowd.spotAt(layout, frames, { step: 1 }, 5, 5), null);
});
