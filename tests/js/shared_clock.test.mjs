import assert from "node:assert/strict";
import test from "node:test";
import { Clock } from "../../assets/player/shared_clock.js";

globalThis.requestAnimationFrame = () => 1;
globalThis.cancelAnimationFrame = () => {};

// A player without a page: writes down what the clock asks of it.
class View {
  constructor(place, positions, { events = [], zooms = true, numbers, end } = {}) {
    Object.assign(this, { place, drawn: 0, settled: 0, said: [], data: { rate: 4 } });
    numbers ??= positions.map((_, step) => step);
    end ??= positions.at(-1);
    this.frames = { positions, numbers, totalSteps: numbers.at(-1) + 1, events, zooms, end, axis: { end, gap: 0.1 } };
  }
  draw() {
    this.drawn++;
  }
  settle() {
    this.settled++;
  }
  say(name) {
    this.said.push(name);
  }
  isBefore(other) {
    return this.place < other.place;
  }
}

const COARSE = [0.1, 0.5, 1];
const FINE = [0.1, 0.2, 0.3, 0.5, 0.6];

function pair() {
  const clock = new Clock();
  const lower = new View(2, FINE, { events: [2] });
  const upper = new View(1, COARSE, { events: [1] });
  clock.join(lower);
  clock.join(upper);
  return { clock, upper, lower };
}

test("alone, a player's clock ticks at its own steps", () => {
  const clock = new Clock();
  clock.join(new View(1, COARSE, { events: [1] }));
  assert.deepEqual([clock.last, clock.total, clock.events], [2, 3, [1]]);
});

test("two linked players stop wherever one of them has a step, and at the events of both", () => {
  const { clock } = pair();
  assert.deepEqual(clock.ticks, [0.1, 0.2, 0.3, 0.5, 0.6, 1]);
  assert.deepEqual(clock.events, [2, 3]);
});

test("each linked player shows its last step that is not later", () => {
  const { clock, upper, lower } = pair();
  const shown = clock.ticks.map((_, at) => (clock.go(at), [clock.stepOf(upper), clock.stepOf(lower)]));
  assert.deepEqual(shown, [[0, 0], [0, 1], [0, 2], [1, 3], [1, 4], [2, 4]]);
});

test("linked players share one axis, as long as the longest", () => {
  const { upper, lower } = pair();
  assert.deepEqual([upper.frames.axis.end, lower.frames.axis.end, lower.frames.end], [1, 1, 0.6]);
});

test("moving one moves the other: both are drawn and both stand still", () => {
  const { clock, upper, lower } = pair();
  clock.moveTo(3);
  assert.ok(upper.drawn && lower.drawn);
  assert.deepEqual([upper.settled, lower.settled], [1, 1]);
});

test("the upper player leads, whichever came first", () => {
  const { clock, upper, lower } = pair();
  assert.equal(clock.leader, upper);
  clock.leave(upper);
  assert.equal(clock.leader, lower);
  assert.deepEqual(clock.ticks, FINE);
});

test("times that differ by rounding are one moment for both", () => {
  const clock = new Clock();
  const [one, other] = [new View(1, [0.1, 0.2, 1]), new View(2, [0.1 + 1e-10, 0.2 - 1e-10, 1])];
  clock.join(one);
  clock.join(other);
  assert.equal(clock.last, 2);
  clock.go(1);
  assert.deepEqual([clock.stepOf(one), clock.stepOf(other)], [1, 1]);
});

test("grids of slots are linked by step", () => {
  const clock = new Clock();
  const [long, short] = [new View(1, [0, 1, 2, 3], { zooms: false }), new View(2, [0, 1], { zooms: false })];
  clock.join(long);
  clock.join(short);
  clock.go(3);
  assert.deepEqual([clock.stepOf(long), clock.stepOf(short)], [3, 1]);
  assert.equal(clock.zoomLimit, 1);
});

test("a link's moment is reached once both players are there", () => {
  const clock = new Clock();
  clock.join(new View(1, COARSE));
  clock.order(5);
  assert.equal(clock.now, 1); // its last one, for the time being
  clock.join(new View(2, FINE));
  assert.equal(clock.number, 5);
  clock.order(2);
  assert.equal(clock.now, 0.3);
});

test("other frames keep the moment, or the last one there is", () => {
  const clock = new Clock();
  const view = new View(1, FINE);
  clock.join(view);
  clock.go(4);
  view.frames = new View(1, COARSE).frames;
  clock.join(view);
  assert.deepEqual([clock.number, clock.wanted, clock.views.length], [2, 4, 1]);
});

test("thinned frames go by the numbers of their run", () => {
  const clock = new Clock();
  clock.join(new View(1, [0, 4, 8], { numbers: [0, 4, 8] }));
  clock.order(5);
  assert.deepEqual([clock.at, clock.number, clock.total], [1, 4, 9]);
});

test("playing runs to the end, unless the reader wants to pause at events", () => {
  const { clock } = pair();
  clock.play();
  for (let now = clock.before, frame = 0; clock.playing && frame < 100; frame++) clock.tick((now += 200));
  assert.equal(clock.at, clock.last);
});

test("playing walks over the moments of both and pauses at an event of either", () => {
  const { clock, upper, lower } = pair();
  clock.autopause = true;
  clock.play();
  for (let now = clock.before, frame = 0; clock.playing && frame < 20; frame++) clock.tick((now += 200));
  assert.deepEqual([clock.at, clock.playing], [2, false]);
  assert.deepEqual([upper.settled, lower.settled], [1, 1]);
});

test("while zoomed in the window follows the cursor, the same for all", () => {
  const { clock } = pair();
  clock.go(3);
  clock.zoomTo(2);
  assert.deepEqual(clock.view, { from: 0.25, to: 0.75 });
  clock.go(5);
  assert.equal(clock.view.to, 1);
  clock.zoomTo(1000);
  assert.equal(clock.zoom, clock.zoomLimit);
  clock.zoomTo(0);
  assert.deepEqual(clock.view, { from: 0, to: 1 });
});
