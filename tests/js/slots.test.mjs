import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import { Motion } from "../../assets/player/motion.js";
import * as slots from "../../assets/player/painters/slots.js";
import { FakeContext, lookOf, sent, widthOf } from "./fake.mjs";

const { tickSteps } = slots;
const frames = decodeFrames(sent(), slots);
const place = (room = 400, width = 500) => slots.layout(frames, { width, room, size: 13, widthOf });

function paint(step, layout = place()) {
  const context = new FakeContext();
  slots.paint(context, frames, { step }, layout, lookOf(frames.states));
  return context;
}

test("grids stand above each other and share one step axis", () => {
  const { grids, axis, left, right, cell } = place();
  assert.ok(grids[0].bottom < grids[1].top && grids[1].bottom < axis);
  assert.equal(Math.round(cell * 10), Math.round(right - left));
});

test("the picture fits its room, and gets dense before rows get too low to read", () => {
  assert.ok(place(400).height <= 400 && !place(400).dense);
  assert.ok(place(160).height <= 160 && place(160).dense);
});

test("what is to come is faintly there, as far as it may be seen", () => {
  const layout = place();
  const edges = (ghost) => {
    const context = new FakeContext();
    slots.paint(context, frames, { step: 0, now: 0, ghost }, layout, lookOf(frames.states));
    return Math.max(...frames.states.flatMap((state) => context.areas(`fill of ${state.name}`)).map(([x, , width]) => x + width));
  };
  assert.ok(edges(9) > layout.left + 9 * layout.cell);
  assert.ok(edges(4) <= layout.left + 5 * layout.cell && edges(4) > layout.left + 4 * layout.cell);
});

test("where nothing may be seen, nothing of the future is drawn", () => {
  const layout = place();
  for (const step of [0, 3, 5]) {
    const edge = layout.left + (step + 1) * layout.cell + 0.5;
    const spans = frames.states.flatMap((state) => paint(step, layout).areas(`fill of ${state.name}`));
    assert.ok(spans.length > 0);
    for (const [x, , width] of spans) assert.ok(x + width <= edge, `a span reaches beyond step ${step}`);
  }
});

test("letters show who sits in a slot, and not before the request came", () => {
  assert.ok(paint(4).texts().includes("A"));
  const inRows = (step) => paint(step).texts().filter((text) => text === "C").length;
  assert.equal(inRows(2), 2); // waiting under both grids
  assert.equal(inRows(9), 2); // sitting in one slot of each
});

test("a letter keeps its place while its request runs", () => {
  const whereA = (step) => paint(step).calls.find((call) => call.name === "fillText" && call.given[0] === "A")?.given[1];
  const places = [1, 2, 4, 9].map(whereA);
  assert.equal(new Set(places).size, 1);
});

test("the counter and the number of waiting requests are those of the step", () => {
  assert.ok(paint(2).texts().includes("100 %"));
  assert.ok(paint(3).texts().includes("75 %"));
  assert.ok(paint(2).texts().includes("Waiting 1"));
  assert.ok(paint(5).texts().includes("Waiting 0"));
});

test("a shorter grid says that it is done, once it is", () => {
  assert.ok(!paint(5).texts().includes("All done"));
  assert.ok(paint(6).texts().includes("All done"));
});

test("a long queue ends in the number of those left out", () => {
  const crowd = { ...frames, requests: ["A", "B", "C", ...Array.from({ length: 90 }, (_, i) => `R${i}`)] };
  crowd.grids = [{ ...frames.grids[0], waiting: frames.grids[0].waiting.map(() => [...Array(90).keys()].map((i) => i + 3)) }];
  const context = new FakeContext();
  slots.paint(context, crowd, { step: 0 }, slots.layout(crowd, { width: 500, room: 400, size: 13, widthOf }), lookOf(frames.states));
  const rest = context.texts().find((text) => text.startsWith("+"));
  const chips = context.texts().filter((text) => text.startsWith("R")).length;
  assert.equal(Number(rest), 90 - chips);
});

test("the playhead stands at the right edge of the current step in every grid", () => {
  const layout = place();
  const heads = paint(4, layout).areas("accent");
  assert.equal(heads.length, 2);
  for (const [x] of heads) assert.ok(Math.abs(x + 1 - (layout.left + 5 * layout.cell)) < 1e-9);
});

test("ticks are round numbers counted from one", () => {
  const numbers = Array.from({ length: 120 }, (_, i) => i);
  assert.deepEqual(tickSteps(numbers, 4, 21).slice(0, 3).map((step) => numbers[step] + 1), [10, 20, 30]);
});

test("only cells that were played answer the pointer, in words", () => {
  const layout = place();
  const y = layout.grids[1].top + layout.rowHeight + 1;
  const x = layout.left + 2.5 * layout.cell;
  assert.equal(slots.spotAt(layout, frames, { step: 4 }, x, y).text, "step 3 of 10 · slot 2 · B · decode");
  assert.equal(slots.spotAt(layout, frames, { step: 1 }, x, y), null);
  assert.equal(slots.spotAt(layout, frames, { step: 4 }, x, 1), null);
});

test("the table says who sits where and who waits, or that all is done", () => {
  assert.deepEqual(slots.columns(frames), ["static", "continuous"]);
  assert.equal(slots.cells(frames, 0)[0], "slot 1 A prefill; slot 2 B prefill\nWaiting: C");
  assert.equal(slots.cells(frames, 9)[1], "All done");
});

test("the legend lists only states that occur", () => {
  assert.deepEqual(slots.statesThatOccur(frames), [0, 1, 2, 3]);
  const one = { ...frames, grids: [{ rows: [[{ state: 2 }], [{ state: 2 }]] }] };
  assert.deepEqual(slots.statesThatOccur(one), [2]);
});

test("40 rows x 200 steps are drawn in few calls", () => {
  const rows = Array.from({ length: 40 }, (_, row) => [[10 + row, 1, 0], [190 - row, 2, 0]]);
  const names = rows.map((_, row) => String(row + 1));
  const wide = { ...frames, numSteps: 200, numbers: [...Array(200).keys()] };
  wide.grids = [{ ...frames.grids[0], numSteps: 200, slots: names }];
  wide.grids[0].rows = rows.map(([a, b]) => [
    { from: 0, to: a[0], state: 1, owner: 0 },
    { from: a[0], to: 200, state: 2, owner: 0 },
  ]);
  wide.grids[0].waiting = Array.from({ length: 200 }, () => []);
  wide.grids[0].counters = Array.from({ length: 200 }, () => "");
  const context = new FakeContext();
  slots.paint(context, wide, { step: 199 }, slots.layout(wide, { width: 500, room: 400, size: 13, widthOf }), lookOf(frames.states));
  assert.ok(context.calls.length < 300, `${context.calls.length} calls`);
});

test("thinned frames have ticks that do not run into each other", () => {
  const numbers = Array.from({ length: 200 }, (_, i) => i * 32);
  const steps = tickSteps(numbers, 2.5, 28);
  assert.ok(steps.length > 3);
  steps.slice(1).forEach((step, i) => assert.ok((step - steps[i]) * 2.5 >= 28));
});

test("who has just come is named beside the playhead until the letter fits inside", () => {
  const narrow = place(400, 130); // cells too narrow for a letter
  const whereA = (step) => paint(step, narrow).calls.find((call) => call.name === "fillText" && call.given[0] === "A").given[1];
  assert.ok(whereA(0) > narrow.left + narrow.cell);
  assert.ok(whereA(4) < narrow.left + 2.5 * narrow.cell);
});

test("who gets a slot moves there from the queue, and back", () => {
  const layout = place();
  const chips = (step, before, share) => {
    const context = new FakeContext();
    const motion = new Motion();
    const paint = (at, now) => (motion.frame(now), slots.paint(context, frames, { ...at, at: motion.at }, layout, lookOf(frames.states)));
    paint({ step: before }, 0);
    motion.begin(0, 100);
    context.calls.length = 0;
    paint({ step, before }, share * 100);
    return context.calls.filter(({ name, given }) => name === "fillText" && given[0] === "C").map(({ given }) => given[2]);
  };
  const [queue, row] = [layout.grids[0].waiting, layout.grids[0].top];
  const isBetween = (y) => y < queue - 2 && y > row + layout.rowHeight;
  assert.ok(chips(5, 4, 0.3).some(isBetween), "on the way to its slot");
  assert.ok(chips(4, 5, 0.3).some(isBetween), "on the way back");
  assert.ok(!chips(5, 4, 1).some(isBetween));
});
