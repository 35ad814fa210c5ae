import assert from "node:assert/strict";
import test from "node:test";
import { clampZoom, closest, follow, zoomLimit } from "../../assets/player/zoom.js";

const WHOLE = { from: 0, to: 100 };

test("unzoomed, all of the axis is in view, wherever the cursor stands", () => {
  for (const now of [0, 50, 100]) assert.deepEqual(follow(null, now, 100, 1), WHOLE);
});

test("zooming in keeps the cursor where it is on the screen", () => {
  assert.deepEqual(follow(WHOLE, 50, 100, 2), { from: 25, to: 75 });
  assert.deepEqual(follow(WHOLE, 80, 100, 2), { from: 40, to: 90 });
});

test("the window stands still while the cursor walks inside it", () => {
  const before = { from: 40, to: 60 };
  for (const now of [44, 50, 56]) assert.deepEqual(follow(before, now, 100, 5), before);
});

test("the window follows a cursor that comes near its edge, in either direction", () => {
  const before = { from: 40, to: 60 };
  assert.deepEqual(follow(before, 60, 100, 5), { from: 43, to: 63 });
  assert.deepEqual(follow(before, 41, 100, 5), { from: 38, to: 58 });
});

test("a jump takes the window along", () => {
  const { from, to } = follow({ from: 40, to: 60 }, 90, 100, 5);
  assert.ok(from < 90 && 90 < to && to - from === 20);
});

test("the window never leaves the axis", () => {
  assert.deepEqual(follow({ from: 40, to: 60 }, 0, 100, 5), { from: 0, to: 20 });
  assert.deepEqual(follow({ from: 40, to: 60 }, 100, 100, 5), { from: 80, to: 100 });
});

test("zoom goes from all of it to where the closest moments stand apart", () => {
  const limit = zoomLimit(closest([0, 50, 51, 100], 100), 100);
  assert.equal(limit, 32); // 100 / (1 * 4) = 25, rounded up to a power of two
  assert.deepEqual([0.5, 1, 20, 99].map((zoom) => clampZoom(zoom, limit)), [1, 1, 20, 32]);
  assert.equal(zoomLimit(closest([100], 100), 100), 1);
});
