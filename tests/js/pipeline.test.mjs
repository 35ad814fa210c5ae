import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as pipeline from "../../assets/player/painters/pipeline.js";
import { wayBetween } from "../../assets/player/stops.js";
import { FakeContext, lookOf, widthOf } from "./fake.mjs";

const KINDS = ["queue", "prefill", "decode", "tokenize", "sample", "detokenize", "answer"];

// "Hi" as two tokens, two layers; the first token is sampled, then one decode step, whose token waits for a byte.
function sent() {
  return {
    painter: "pipeline", steps: 7, total: 7, at: null, events: [1, 4],
    picture: {
      kinds: [6, 3, 0, 1, 2, 4, 5, 6],
      text: "Hi", tokens: [["H", 72], ["i", 105], ["a", 97], ["E5", 229]], prompt: 2,
      bars: [[["a", 0.5, "50.0%", true], ["b", 0.25, "25.0%", false]], [["E5", 1, "100%", true]]],
      stations: [0, 1, 3, 3, 5, 4, 6],
      num: [0, 2, 2, 2, 3, 3, 4],
      kv: [[0, [0, 0]], [2, [2, 0]], [3, [2, 2]], [5, [3, 3]]],
      shown: [-1, -1, -1, -1, 0, -1, 1],
      waiting: [[0, []], [6, ["E5"]]],
      screen: [[0, ""], [5, "a"]],
    },
    texts: { stations: ["text", "tokenize", "queue", "prefill", "decode", "sample", "detokenize", "screen"], tasks: Array(8).fill("does something"), borders: [[1, 1, "server"], [3, 5, "gpu"]] },
    notes: [[0, ""]],
    times: [[0, ""], [1, "40 µs"], [2, ""], [3, "2 ms"], [4, "9 µs"], [5, "1 ms"], [6, "3 µs"]],
    states: KINDS.map((name) => ({ name, label: name, colour: `#${name}`, pattern: "diagonal" })),
    alt: "a text", words: {
      loop: "once per token", token: "token", kv: "KV cache", kept: "on the GPU", sampler: "what may come", waits: "waiting bytes",
      nothing: "none", screen: "on the screen", column_station: "Station", column_tokens: "Tokens", column_kv: "KV",
      column_screen: "Screen", held: "KV in {n} layers",
    },
  };
}

const frames = decodeFrames(sent(), pipeline);
const place = (more = {}) => pipeline.layout(frames, { width: 600, room: 400, size: 13, widthOf, ...more });
const moment = (step) => ({ step, now: step, view: { from: 0, to: 6 } });

function paint(step, layout = place()) {
  const context = new FakeContext();
  pipeline.paint(context, frames, moment(step), layout, lookOf(frames.states));
  return context;
}

test("before it is cut the text stands whole, afterwards its tokens with their ids", () => {
  assert.ok(paint(0).texts().includes("Hi"));
  const cut = paint(1).texts();
  for (const word of ["H", "72", "i", "105"]) assert.ok(cut.includes(word), word);
  assert.ok(!cut.includes("Hi"));
});

test("a token is not there before it was sampled", () => {
  assert.ok(!paint(3).texts().includes("97"));
  assert.ok(paint(4).texts().includes("97"));
});

test("prefill fills a layer for all tokens at once, decode all layers of one token", () => {
  const cells = (step, kind) => paint(step).areas(`fill of ${kind}`).filter(([, , , height]) => height < 10).length;
  assert.deepEqual([1, 2, 3].map((step) => cells(step, "prefill")), [0, 2, 4]);
  assert.deepEqual([4, 5].map((step) => cells(step, "decode")), [0, 2]);
});

test("KV is a station: written by prefill, read and written by decode, and it stands beside decode", () => {
  const { stops } = place();
  assert.equal(stops.store.y, stops.boxes[4].y);
  assert.ok(stops.store.x + stops.store.width < stops.boxes[4].x);
  assert.ok(paint(2).texts().includes("on the GPU"));
});

test("the row is divided among processes, where there is room for their names", () => {
  for (const name of ["server", "gpu"]) assert.ok(paint(0).texts().includes(name));
  const tight = pipeline.layout(frames, { width: 600, room: 150, size: 13, widthOf });
  assert.ok(tight.dense && !paint(0, tight).texts().includes("server"));
});

test("a station keeps the time of its last visit", () => {
  assert.ok(!paint(0).texts().includes("40 µs"));
  for (const step of [1, 3, 6]) assert.ok(paint(step).texts().includes("40 µs"));
  assert.equal(frames.timeText(3), "2 ms");
});

test("the distribution shows while its token is sampled and written, the longest bar first", () => {
  assert.ok(!paint(3).texts().includes("50.0%"));
  const context = paint(4);
  assert.ok(context.texts().includes("50.0%") && context.texts().includes("25.0%"));
  const [chosen] = context.areas("fill of sample").filter(([, , , height]) => height === 14);
  const [other] = context.areas("faint").filter(([, , , height]) => height === 14);
  assert.ok(Math.abs(chosen[2] - 2 * other[2]) < 1);
});

test("bytes that are no character wait, and are not on the screen", () => {
  assert.ok(paint(4).texts().includes("none"));
  const waits = paint(6).texts();
  assert.ok(!waits.includes("none"));
  assert.equal(waits.filter((text) => text === "E5").length, 3); // its token, its bar and its byte
  assert.deepEqual(pipeline.cells(frames, 6), ["detokenize", "H (72) i (105) a (97) E5 (229)", "3, 3", "a"]);
});

test("everything lies within the picture, on a phone and in a lecture hall, too", () => {
  for (const [width, size, room] of [[340, 13, 300], [600, 13, 330], [1216, 18, 430]]) {
    const layout = place({ width, size, room });
    for (const { x, y, width: wide, height } of layout.stops.boxes) {
      assert.ok(x >= 0 && x + wide <= width && y >= 0 && y + height <= layout.top);
    }
    for (const { x, width: wide } of layout.chips) assert.ok(x + wide <= width);
    assert.ok(layout.height > layout.below);
  }
});

test("where there is little room the screen stays and the bars go", () => {
  const layout = place({ room: 185, size: 18, width: 815 });
  assert.ok(layout.dense && layout.height <= 185, layout.height);
  const texts = paint(6, layout).texts();
  assert.ok(texts.includes("on the screen") && texts.includes("a") && !texts.includes("100%"));
  assert.equal(texts.filter((text) => text === "E5").length, 2); // the token and its byte
});

test("more tokens than fit scroll so that the newest is in sight", () => {
  const many = decodeFrames(
    { ...sent(), picture: { ...sent().picture, tokens: Array.from({ length: 90 }, (_, at) => ["tok", at]), num: [0, 90, 90, 90, 90, 90, 90] } },
    pipeline,
  );
  const layout = pipeline.layout(many, { width: 600, room: 330, size: 13, widthOf });
  const context = new FakeContext();
  pipeline.paint(context, many, moment(1), layout, lookOf(many.states));
  assert.ok(context.texts().includes("89") && !context.texts().includes("0"));
});

test("what is under the pointer is said: a station with its time, a token with its layers", () => {
  const layout = place();
  const box = layout.stops.boxes[3];
  assert.equal(pipeline.spotAt(layout, frames, moment(3), box.x + 5, box.y + 5).text, "prefill · 2 ms\ndoes something");
  const chip = layout.chips[0];
  assert.equal(pipeline.spotAt(layout, frames, moment(2), chip.x + 2, layout.top + 2).text, "H · id 72 · KV in 1 layers");
  assert.equal(pipeline.spotAt(layout, frames, moment(3), layout.chips[3].x + 2, layout.top + 2), null);
});

test("a token travels along the arrows, and from the sampler back to the decode station, also in a step back", () => {
  const { boxes } = place().stops;
  const middle = boxes[1].y + boxes[1].height / 2;
  assert.deepEqual(wayBetween(boxes, 1, 2).map(([, y]) => y), [middle, middle]);
  const loop = wayBetween(boxes, 6, 4);
  assert.ok(loop[0][0] > boxes[5].x && loop[0][0] < boxes[5].x + boxes[5].width && loop.at(-1)[1] > boxes[4].y);
  const dots = (step, before, way) => {
    const context = new FakeContext();
    const at = (key, there, origin) => (key.startsWith("way") ? { way } : there);
    pipeline.paint(context, frames, { ...moment(step), before, at }, place(), lookOf(frames.states));
    return context.calls.filter(({ name }) => name === "arc").map(({ given }) => given[0]);
  };
  const [half] = dots(2, 1, 0.5);
  assert.ok(half > boxes[1].x && half < boxes[3].x);
  assert.equal(dots(1, 2, 0.5).length, 1);
  assert.deepEqual(dots(2, 1, 1), []);
});
