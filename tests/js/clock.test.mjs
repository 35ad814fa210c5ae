import assert from "node:assert/strict";
import test from "node:test";
import { advance, carryOver, clampStep, nextEvent, previousEvent, rateFor, stopsOf } from "../../assets/player/clock.js";

const EVENTS = [3, 7, 12];
const from = (step, phase = 0) => ({ step, phase });

test("a step stays inside the frames", () => {
  assert.deepEqual([-5, 0, 4.4, 99, NaN].map((step) => clampStep(step, 10)), [0, 0, 4, 10, 0]);
});

test("the next event lies ahead, and after the last one comes the end", () => {
  assert.deepEqual([0, 3, 7, 12, 20].map((step) => nextEvent(EVENTS, step, 20)), [3, 7, 12, 20, 20]);
  assert.equal(nextEvent([], 5, 20), 20);
});

test("the previous event lies behind, and before the first one comes the beginning", () => {
  assert.deepEqual([20, 12, 7, 3, 0].map((step) => previousEvent(EVENTS, step)), [12, 7, 3, 0, 0]);
});

test("time that is less than a step is kept for the next frame", () => {
  let at = from(0);
  for (let frame = 0; frame < 10; frame++) at = advance(at, 0.05, 4, 100);
  assert.equal(at.step, 2); // half a second at 4 steps per second
});

test("double speed goes twice as far", () => {
  assert.equal(advance(from(0), 0.2, 10, 100).step, 2);
  assert.equal(advance(from(0), 0.2, 20, 100).step, 4);
});

test("playing never runs over an event, however fast", () => {
  assert.deepEqual(advance(from(1), 0.25, 32, 100, EVENTS), { step: 3, phase: 0, stopped: "event" });
});

test("playing goes on from an event it stands on", () => {
  assert.equal(advance(from(3), 0.25, 4, 100, EVENTS).step, 4);
  assert.equal(advance(from(3), 0.25, 4, 100, EVENTS).stopped, null);
});

test("with auto-pause off events are passed", () => {
  assert.equal(advance(from(1), 0.25, 32, 100).step, 9);
});

test("an event at the end still counts as an event", () => {
  assert.equal(advance(from(10), 0.25, 32, 12, EVENTS).stopped, "event");
});

test("playing stops at the end", () => {
  assert.deepEqual(advance(from(19), 0.25, 32, 20), { step: 20, phase: 0, stopped: "end" });
});

test("a hidden tab does not make the player leap", () => {
  assert.equal(advance(from(0), 60, 4, 1000).step, 1);
});

test("other frames keep the step, or clamp it to the end and say so", () => {
  assert.deepEqual(carryOver(5, 10), { step: 5, clamped: false });
  assert.deepEqual(carryOver(50, 10), { step: 10, clamped: true });
});

test("a run takes 15 to 20 s whatever its length, and a short one gives time to read", () => {
  for (const last of [40, 200, 5000]) assert.ok(last / rateFor(last) >= 15 && last / rateFor(last) <= 20);
  assert.equal(1 / rateFor(3), 2.5);
});

test("events close upon each other are one stop, at the first of them", () => {
  assert.deepEqual(stopsOf([3, 4, 5, 30, 60, 62], 60), [3, 30, 60]);
  assert.deepEqual(stopsOf([1, 3], 5), [1, 3]);
});
