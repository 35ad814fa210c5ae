import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as tables from "../../assets/player/painters/block_tables.js";
import * as map from "../../assets/player/painters/memory_map.js";
import { ownersOf, stretches } from "../../assets/player/strip.js";
import { FakeContext, lookOf, runsOf, widthOf } from "./fake.mjs";

const state = (name, pattern) => ({ name, label: name, colour: "#888888", pattern });
const common = {
  total: 2,
  at: null,
  events: [],
  notes: [[0, "one"], [1, "two"]],
  times: [[0, ""]],
  states: [state("free", "outline"), state("external", "horizontal"), state("filled", "solid"), state("later", "diagonal")],
  alt: "memory",
  words: { waiting: "Waiting", block: "block", logical: "{who}'s blocks", table: "{who}'s table" },
};
const requests = { letters: ["A", "B"], colours: ["#0072b2", "#d55e00"] };

// Ten slots, 10 to a GB.  Step 0: A has 2 of its 4, nothing else.  Step 1: what is free is too small for B, which wants 8.
function holes() {
  const rows = [[[2, 2, 0], [2, 3, 0], [6, 0, -1]], [[3, 2, 0], [1, 3, 0], [6, 1, -1]]];
  const strip = { slots: 10, size: 1, first: 0, perUnit: 10, runs: runsOf(rows), waiting: [[0, []], [1, [[1, 8]]]] };
  const texts = { strips: [{ title: "holes", unit: "GB", counters: [[0, "free"]] }] };
  const data = { ...common, painter: "memory_map", steps: 2, picture: { at: [1, 2], requests, strips: [strip] }, texts };
  return decodeFrames(data, map);
}

// Four blocks of 2, called 1 to 4.  Step 0: A owns blocks 0 and 2.  Step 1: B shares block 0.
function blocks() {
  const rows = [[[2, 2, 0], [2, 0, -1], [1, 2, 0], [1, 3, 0], [2, 0, -1]], [[2, 2, -1], [2, 0, -1], [2, 2, 0], [2, 0, -1]]];
  const strip = { slots: 8, size: 2, first: 1, perUnit: 1, runs: runsOf(rows), waiting: [[0, []]] };
  const lists = [[0, [[0, [0, 2]]]], [1, [[0, [0, 2]], [1, [0]]]]];
  const texts = { strip: { title: "pool", unit: "", counters: [[0, "two"]] } };
  const data = { ...common, painter: "block_tables", steps: 2, picture: { at: [1, 2], requests, strip, tables: lists }, texts };
  return decodeFrames(data, tables);
}

const place = (painter, frames, room = 300) => painter.layout(frames, { width: 402, room, size: 13, widthOf });

function painted(painter, frames, moment) {
  const context = new FakeContext();
  painter.paint(context, frames, moment, place(painter, frames), { ...lookOf(frames.states), newCanvas: null });
  return context;
}

test("runs of one owner are one stretch, whatever their state", () => {
  assert.deepEqual(stretches(holes().strips[0].rows[0]), [
    { from: 0, to: 4, owner: 0 },
    { from: 4, to: 10, owner: -1 },
  ]);
});

test("a request and a hole carry their size, and whoever waits is there with its own", () => {
  assert.ok(painted(map, holes(), { step: 0 }).texts().includes("0.4 GB"));
  const later = painted(map, holes(), { step: 1 }).texts();
  assert.ok(later.includes("0.6 GB") && later.includes("0.8 GB") && later.includes("B"));
  assert.ok(!painted(map, holes(), { step: 0 }).texts().includes("B"));
});

test("whoever waits is drawn to the scale of the memory", () => {
  const frames = holes();
  const { places } = place(map, frames);
  const boxes = painted(map, frames, { step: 1 }).calls.filter(({ name }) => name === "strokeRect");
  assert.ok(boxes.some(({ given: [, , width] }) => Math.abs(width - 8 * places[0].cell) < 0.01));
});

test("the map fits its room", () => {
  const frames = holes();
  assert.ok(place(map, frames, 200).height <= 200);
});

test("where room is short both pictures get dense and still fit", () => {
  const [mapRoom, tableRoom] = [56, 80];
  assert.ok(place(map, holes(), mapRoom).height <= mapRoom);
  assert.ok(place(tables, blocks(), tableRoom).height <= tableRoom);
  const context = new FakeContext();
  const frames = blocks();
  tables.paint(context, frames, { step: 0, chosen: "A" }, place(tables, frames, tableRoom), lookOf(frames.states));
  assert.ok(context.texts().includes("A's table") && !context.texts().includes("A's blocks"));
});

test("the thing under the pointer is told with its owner, state and size", () => {
  const frames = holes();
  const layout = place(map, frames);
  const y = layout.places[0].top + 3;
  assert.equal(map.spotAt(layout, frames, { step: 0 }, 10, y).text, "A · filled · 0.2 GB");
  assert.equal(map.spotAt(layout, frames, { step: 1 }, 390, y).text, "external · 0.6 GB");
  assert.equal(map.spotAt(layout, frames, { step: 0 }, 10, layout.height + 5), null);
});

test("a block in several tables belongs to all of them", () => {
  const frames = blocks();
  assert.deepEqual(ownersOf(frames, frames.strip, 0), [[0], [], [0], []]);
  assert.deepEqual(ownersOf(frames, frames.strip, 1), [[0, 1], [], [0], []]);
  assert.ok(painted(tables, frames, { step: 1, chosen: "A" }).texts().includes("AB"));
});

test("the chosen request's table is shown with physical numbers, and an arrow for each entry", () => {
  const frames = blocks();
  const context = painted(tables, frames, { step: 0, chosen: "A" });
  for (const text of ["A's blocks", "A's table", "0", "1", "3"]) assert.ok(context.texts().includes(text), text);
  assert.equal(context.calls.filter(({ name }) => name === "stroke").length, 2);
  const other = painted(tables, frames, { step: 1, chosen: "B" });
  assert.equal(other.calls.filter(({ name }) => name === "stroke").length, 1);
});

test("a click on a block chooses its request, and the next one of those that share it", () => {
  const frames = blocks();
  const layout = place(tables, frames);
  const at = (block) => [layout.place.left + (block + 0.5) * 2 * layout.place.cell, layout.place.top + 2];
  assert.equal(tables.choiceAt(layout, frames, { step: 0, chosen: "A" }, ...at(2)), "A");
  assert.equal(tables.choiceAt(layout, frames, { step: 1, chosen: "A" }, ...at(0)), "B");
  assert.equal(tables.choiceAt(layout, frames, { step: 1, chosen: "B" }, ...at(0)), "A");
  assert.equal(tables.choiceAt(layout, frames, { step: 0, chosen: "A" }, ...at(1)), null);
  assert.equal(tables.choiceAt(layout, frames, { step: 0, chosen: "A" }, at(0)[0], 3), null);
  assert.deepEqual(tables.choices(frames, 1), ["A", "B"]);
});

test("the table twin lists every request's blocks by the numbers in the picture", () => {
  assert.match(tables.cells(blocks(), 1)[0], /^A → 1 3; B → 1\n/);
  assert.match(map.cells(holes(), 1)[0], /Waiting: B$/);
});
