import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as tree from "../../assets/player/painters/tree.js";
import { FakeContext, lookOf, widthOf } from "./fake.mjs";

// "you are kind" with "today" below it and, in a lane of its own, "here": looked up at step 0, where the whole is one node,
// cut in two at step 1, and at step 2 "today" is gone.
function sentTree() {
  const state = (name, pattern) => ({ name, label: name, colour: "#888888", pattern });
  const moment = (bars, more) => ({ bars, running: [], waiting: [], owners: [], locked: 0, evictable: 4, ...more });
  return {
    painter: "tree", steps: 3, total: 3, at: null, events: [1],
    picture: {
      slots: 8,
      requests: ["A", "B"],
      lengths: [4, 4],
      moments: [
        moment([[0, 0, 4, 1, -1, 0, 1]], { waiting: [1] }),
        moment([[0, 0, 3, 0, -1, 2, 0], [0, 3, 4, 1, 0, 0, 1], [1, 3, 4, 2, 0, 0, 0]], {
          running: [1], owners: [[1, 4, 1]], locked: 4, evictable: 1,
        }),
        moment([[0, 0, 3, 0, -1, 1, 0], [0, 3, 4, 3, 0, 0, 0], [1, 3, 4, 1, 0, 0, 1]]),
      ],
    },
    texts: { lanes: [["you", "are", "kind", "today"], ["you", "are", "kind", "here"]] },
    notes: [[0, "one"]],
    times: [[0, ""]],
    states: [state("locked", "solid"), state("evictable", "outline"), state("missing", "none"), state("evicted", "vertical")],
    alt: "a tree",
    words: {
      running: "Running", waiting: "Waiting", nobody: "nobody", slots: "KV slots {used} / {total}", rank: "evict #{n}",
      tokens: "tokens: {n}", locks: "locks: {n}", column_tree: "Tree", column_queue: "Requests", empty: "empty tree",
    },
  };
}

const frames = decodeFrames(sentTree(), tree);
const place = (more = {}) => tree.layout(frames, { width: 700, room: 300, size: 13, widthOf, ...more });
const moment = (step) => ({ step, now: step, view: null });

function paint(step, layout = place()) {
  const context = new FakeContext();
  tree.paint(context, frames, moment(step), layout, lookOf(frames.states));
  return context;
}

const xOf = (context, word) => context.calls.find((call) => call.name === "fillText" && call.given[0] === word)?.given[1];

test("the words of every node stand in it, and what begins alike stands once", () => {
  assert.deepEqual(paint(0).texts().filter((text) => text === "you"), ["you"]);
  const texts = paint(1).texts();
  for (const word of ["you", "are", "kind", "today", "here"]) assert.ok(texts.includes(word), word);
});

test("cutting a node moves no word", () => {
  for (const word of ["you", "are", "kind", "today"]) assert.equal(xOf(paint(0), word), xOf(paint(1), word));
});

test("a branch goes on below, where the other one parts", () => {
  const { edges } = place();
  assert.equal(edges[0][3], edges[1][3]);
  const layout = place();
  const box = (lane) => tree.spotAt(layout, frames, moment(1), layout.edges[lane][3] + 3, layout.tops[lane] + layout.badge + 3);
  assert.match(box(1).text, /^here/);
  assert.ok(box(1).y > box(0).y);
});

test("a locked node has a padlock with the number of locks", () => {
  assert.ok(paint(1).texts().includes("2"));
  assert.ok(!paint(0).texts().includes("2"));
});

test("leaves have their place in the order of eviction, unless one that just went stands there", () => {
  assert.deepEqual(paint(0).texts().filter((text) => text.startsWith("evict")), ["evict #1"]);
  assert.deepEqual(paint(2).texts().filter((text) => text.startsWith("evict")), ["evict #1"]);
});

test("who runs, who waits and how full the slots are stands above", () => {
  const texts = paint(1).texts();
  assert.ok(texts.includes("KV slots 5 / 8"));
  assert.equal(texts.filter((text) => text === "B").length, 2); // in the header and at its place in the tree
  assert.ok(paint(0).texts().includes("nobody"));
});

test("the gauge is as full as the slots", () => {
  const gauge = paint(1).areas("fill of locked").find(([, y]) => y === place().header);
  assert.ok(Math.abs(gauge[2] - (698 * 4) / 8) < 1);
});

test("a node is told whole, with its locks and its turn", () => {
  const layout = place();
  const at = (step, x) => tree.spotAt(layout, frames, moment(step), x, layout.top + layout.badge + 3);
  assert.equal(at(1, layout.left + 5).text, "you are kind\ntokens: 3 · locked · locks: 2");
  assert.equal(at(0, layout.left + 5).text, "you are kind today\ntokens: 4 · evictable · evict #1");
  assert.equal(at(0, 690), null);
  assert.equal(tree.spotInLane(layout, frames, moment(1), 1).text, "here\ntokens: 1 · missing");
  assert.equal(tree.spotInLane(layout, frames, moment(0), 1).text, "empty tree");
});

test("the table has every node of a step and the queue", () => {
  assert.deepEqual(tree.columns(frames), ["Tree", "Requests"]);
  const [nodes, queue] = tree.cells(frames, 1);
  assert.equal(nodes.split("\n").length, 3);
  assert.equal(queue, "Running: B\nWaiting: nobody\nKV slots 5 / 8");
});

test("on a narrow screen the tree shrinks to fit, and every word stands whole below its node", () => {
  const narrow = place({ width: 160 });
  for (const edges of narrow.edges) assert.ok(edges.at(-1) < 160);
  const context = paint(1, narrow);
  for (const word of ["you", "are", "kind", "today", "here"]) assert.ok(context.texts().includes(word), word);
  assert.ok(narrow.tops[1] >= narrow.tops[0] + narrow.laneHeight + narrow.lineHeight);
  assert.ok(!paint(0, narrow).texts().includes("here")); // nothing of what is to come
});

test("a word that does not fit into its cell is cut", () => {
  assert.equal(tree.cutWord("kind", 100, widthOf), "kind");
  assert.equal(tree.cutWord("kind", 22, widthOf), "ki…");
  assert.equal(tree.cutWord("kind", 5, widthOf), "");
});

test("the picture is no higher than the room, where that is possible", () => {
  for (const room of [160, 90]) assert.ok(place({ room }).height <= room);
  assert.ok(place({ width: 160, room: 90 }).height <= 90); // words go before the page scrolls
  assert.ok(!paint(1, place({ room: 90 })).texts().includes("2")); // no room for padlocks
  assert.ok(place({ room: 2000 }).height < 200);
});
