import assert from "node:assert/strict";
import test from "node:test";
import { MOVE_MS, Motion, moveTime } from "../../assets/player/motion.js";

function stood(places) {
  const motion = new Motion();
  motion.frame(0);
  for (const [key, x] of Object.entries(places)) motion.at(key, { x });
  return motion;
}

test("what keeps its identity is on the way from where it was, and then there", () => {
  const motion = stood({ a: 0 });
  motion.begin(1000, 200);
  motion.frame(1000);
  assert.equal(motion.at("a", { x: 100 }).x, 0);
  motion.frame(1100);
  const half = motion.at("a", { x: 100 }).x;
  assert.ok(half > 50 && half < 100, "quick at first, then slow");
  motion.frame(1200);
  assert.equal(motion.at("a", { x: 100 }).x, 100);
  assert.equal(motion.share, 1);
});

test("a motion that is cut short goes on from where it had come to", () => {
  const motion = stood({ a: 0 });
  motion.begin(0, 200);
  motion.frame(50);
  const here = motion.at("a", { x: 100 }).x;
  motion.begin(50, 200);
  motion.frame(50);
  assert.equal(motion.at("a", { x: 0 }).x, here);
});

test("what is new comes from its origin, or is simply there", () => {
  const motion = stood({});
  motion.begin(0, 200);
  motion.frame(0);
  assert.equal(motion.at("b", { x: 10 }, { x: 4 }).x, 4);
  assert.equal(motion.at("c", { x: 10 }).x, 10);
});

test("without time nothing is on the way", () => {
  const motion = stood({ a: 0 });
  motion.begin(0, 0);
  motion.frame(0);
  assert.equal(motion.at("a", { x: 100 }).x, 100);
});

test("things move for 200 ms, for less when steps are faster, and not at all at 30 steps a second", () => {
  assert.deepEqual([moveTime(0), moveTime(2), moveTime(30)], [MOVE_MS, MOVE_MS, 0]);
  assert.ok(moveTime(8) < MOVE_MS && moveTime(8) > 60);
});
