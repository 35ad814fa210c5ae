import assert from "node:assert/strict";
import test from "node:test";
import { decimalsFor, timeTicks, unitOf } from "../../assets/player/time_axis.js";

const [S, MS, US] = [12, 0.3, 4e-5].map(unitOf);
const texts = (view, width, room, unit) => timeTicks(view, width, room, unit).map((tick) => tick.text);

test("an axis has the largest unit that it fills", () => {
  assert.deepEqual([S, MS, US].map((unit) => unit.name), ["s", "ms", "µs"]);
  assert.equal(unitOf(1).name, "s");
  assert.equal(unitOf(0.999).name, "ms");
  assert.equal(unitOf(1e-9).name, "µs");
});

test("ticks are round, in their unit, and have room for their labels", () => {
  assert.deepEqual(texts({ from: 0, to: 12 }, 600, 60, S), ["0", "2", "4", "6", "8", "10", "12"]);
  assert.deepEqual(texts({ from: 0, to: 0.3 }, 600, 60, MS), ["0", "50", "100", "150", "200", "250", "300"]);
  assert.deepEqual(texts({ from: 0, to: 1 }, 400, 90, S), ["0.0", "0.5", "1.0"]);
});

test("a zoomed axis has as many decimals as its ticks need", () => {
  assert.deepEqual(texts({ from: 1.2, to: 1.21 }, 500, 100, S), ["1.200", "1.202", "1.204", "1.206", "1.208", "1.210"]);
});

test("ticks stand at the times they name", () => {
  for (const { seconds, text } of timeTicks({ from: 0.0123, to: 0.0456 }, 700, 70, MS)) {
    assert.ok(Math.abs(seconds * 1000 - Number(text)) < 1e-9);
    assert.ok(seconds >= 0.0123 && seconds <= 0.0456);
  }
});

test("decimals tell two times apart", () => {
  assert.deepEqual([1, 0.5, 0.016, 0.001].map((gap) => decimalsFor(gap, S)), [0, 1, 2, 3]);
  assert.equal(decimalsFor(1e-9, S), 4); // and no more than a reader can take in
  assert.equal(decimalsFor(0.016, MS), 0);
});
