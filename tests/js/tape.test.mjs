import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as tape from "../../assets/player/painters/tape.js";
import { FakeContext, lookOf, widthOf } from "./fake.mjs";

const [PROPOSE, VERIFY, ACCEPT, REJECT, CORRECT, BONUS] = [0, 1, 2, 3, 4, 5];

// Round 1: A "a" is accepted, B "b" rejected for "x".  Round 2: "c" and "d" are accepted, "e" is the bonus.
function sent(moments) {
  const bars = [[0.5, 0.25], [0.25, 0.5], [0.25, 0.25]];
  const places = [bars, bars, bars];
  const meaning = (name, pattern, colour) => ({ name, label: name, colour, pattern });
  return {
    painter: "tape",
    steps: moments.length,
    total: moments.length,
    at: null,
    events: [],
    picture: { rounds: [{ accepted: 1, places }, { accepted: 2, places }], moments },
    texts: {
      prompt: ["p", "q"],
      rounds: [
        { proposed: ["a", "b"], token: "x", bars: [["a", "z", ""], ["x", "b", ""], ["e", "f", ""]] },
        { proposed: ["c", "d"], token: "e", bars: [["c", "z", ""], ["d", "z", ""], ["e", "f", ""]] },
      ],
    },
    notes: [[0, ""]],
    times: [[0, "round 1"], [moments.length - 1, "the last"]],
    states: [
      meaning("given", "none", "#7c8591"),
      meaning("proposed", "outline", "#a8741a"),
      meaning("accepted", "solid", "#3a8a4a"),
      meaning("rejected", "cross", "#cf4455"),
      meaning("corrected", "diagonal", "#a457b5"),
      meaning("bonus", "dots", "#5c76c9"),
      meaning("target", "solid", "#1f78b4"),
    ],
    alt: "a tape",
    words: { row_text: "text", row_draft: "draft", row_p: "p", row_q: "q", row_residual: "residual", others: "others",
      not_yet: "not yet", no_draft: "no draft", one_pass: "one pass", accepted: "accepted", rejected: "rejected",
      ignored: "dropped", proposed: "proposed", corrected: "correction", bonus: "bonus", column_bars: "bars" },
  };
}

const ALL = [
  [0, PROPOSE, 0], [0, PROPOSE, 1], [0, VERIFY, 0], [0, ACCEPT, 0], [0, REJECT, 1], [0, CORRECT, 1],
  [1, PROPOSE, 0], [1, PROPOSE, 1], [1, VERIFY, 0], [1, ACCEPT, 0], [1, ACCEPT, 1], [1, BONUS, 2],
];
const frames = decodeFrames(sent(ALL), tape);
const at = (moment) => ALL.findIndex((each) => each.join() === moment.join());
const fates = (moment) => tape.proposalsAt(frames, at(moment)).map(({ text, fate }) => `${text} ${fate}`);
const place = (room = 400, width = 560, of = frames) => tape.layout(of, { width, room, size: 13, widthOf });

function paint(step, layout = place(), of = frames) {
  const context = new FakeContext();
  tape.paint(context, of, { step }, layout, lookOf(of.states));
  return context;
}

test("the draft proposes one token after the other, and nothing is judged yet", () => {
  assert.deepEqual(fates([0, PROPOSE, 0]), ["a proposed"]);
  assert.deepEqual(fates([0, PROPOSE, 1]), ["a proposed", "b proposed"]);
  assert.deepEqual(fates([0, VERIFY, 0]), ["a proposed", "b proposed"]);
});

test("what is accepted stays, the first rejected one is struck, its correction stands beside it", () => {
  assert.deepEqual(fates([0, ACCEPT, 0]), ["a accepted", "b proposed"]);
  assert.deepEqual(fates([0, REJECT, 1]), ["a accepted", "b rejected"]);
  assert.deepEqual(fates([0, CORRECT, 1]), ["a accepted", "b rejected", "x corrected"]);
});

test("what follows a rejection is dropped with it", () => {
  const early = sent([[0, REJECT, 0], [0, CORRECT, 0]]);
  early.picture.rounds[0].accepted = 0;
  const told = decodeFrames(early, tape);
  const seen = (step) => tape.proposalsAt(told, step).map(({ text, fate }) => `${text} ${fate}`);
  assert.deepEqual(seen(0), ["a rejected", "b ignored"]);
  assert.deepEqual(seen(1), ["a rejected", "x corrected"]);
});

test("when all are accepted a bonus token follows", () => {
  assert.deepEqual(fates([1, BONUS, 2]), ["c accepted", "d accepted", "e bonus"]);
});

test("the text grows by what was accepted and one token more", () => {
  const text = (step) => tape.cells(frames, step)[0];
  assert.equal(text(0), "p q");
  assert.equal(text(6), "p q a x");
});

test("the target's p is not known before its pass, and the residual only once a token is rejected", () => {
  const known = (moment) => {
    const { knowsP, hasQ, showsResidual } = tape.barsAt(frames, at(moment));
    return [knowsP, hasQ, showsResidual];
  };
  assert.deepEqual(known([0, PROPOSE, 0]), [false, true, false]);
  assert.deepEqual(known([0, ACCEPT, 0]), [true, true, false]);
  assert.deepEqual(known([0, REJECT, 1]), [true, true, true]);
  assert.deepEqual(known([1, BONUS, 2]), [true, false, false]);
  assert.ok(paint(0).texts().includes("not yet"));
  assert.deepEqual(paint(0).areas("fill of target"), []);
  assert.ok(paint(at([1, BONUS, 2])).texts().includes("no draft"));
});

test("the residual is what of p the draft has offered too rarely", () => {
  assert.equal(tape.residualOf({ p: 0.5, q: 0.25 }), 0.25);
  assert.equal(tape.residualOf({ p: 0.25, q: 0.5 }), 0);
});

test("each proposal has its letter, and the rejected one can still be read", () => {
  const texts = paint(at([0, CORRECT, 1])).texts();
  for (const said of ["A", "B", "correction", "b", "x"]) assert.ok(texts.includes(said), said);
});

test("the pass of the target is one bracket below all proposals", () => {
  const layout = place();
  const [bracket] = paint(at([0, VERIFY, 0]), layout).areas("accent").filter(([, y]) => y > layout.proposals);
  assert.ok(bracket[2] > 2 * 13);
  assert.equal(bracket[0], layout.left);
});

test("bars never leave their row, and the picture fits its room", () => {
  for (const room of [140, 165, 230, 300, 400]) {
    const layout = place(room);
    assert.ok(layout.height <= room, `${layout.height} in ${room}`);
    const bars = paint(at([0, REJECT, 1]), layout).areas("#1f78b4").concat(paint(at([0, REJECT, 1]), layout).areas("fill of target"));
    assert.ok(bars.length);
    for (const [, y, , height] of bars) {
      assert.ok(y >= layout.bars - 1 && y + height <= layout.bars + layout.rowHeight + 1);
    }
  }
});

test("where room is short the text goes first, then the row of the residual", () => {
  const forms = [400, 200, 160, 150].map((room) => [place(room).lines, place(room).numRows]);
  assert.deepEqual(forms, [[2, 3], [1, 3], [0, 3], [0, 2]]);
  const texts = paint(at([0, REJECT, 1]), place(150)).texts();
  assert.ok(!texts.includes("text") && !texts.includes("residual") && texts.includes("q"));
});

test("a long text takes new lines, of which the last ones are seen", () => {
  const long = sent(ALL);
  long.texts.prompt = Array.from({ length: 60 }, (_, n) => `word${n}`);
  const told = decodeFrames(long, tape);
  const layout = place(400, 560, told);
  const lines = layout.rows.map(({ line }) => line);
  assert.ok(lines.at(-1) > 3);
  for (const { x, width } of layout.rows) assert.ok(layout.left + x + width <= layout.right + 0.01);
  const texts = paint(0, layout, told).texts();
  assert.ok(!texts.includes("word0") && texts.includes("word59") && texts.includes("… text"));
});

test("a token too wide for the picture ends in an ellipsis", () => {
  const wide = sent(ALL);
  wide.texts.rounds[0].proposed[0] = "w".repeat(200);
  const told = decodeFrames(wide, tape);
  const shown = paint(1, place(400, 560, told), told).texts().filter((text) => text.startsWith("www"));
  assert.ok(shown.length && shown.every((text) => text.endsWith("…") && widthOf(text) < 560));
});

test("the time of a step is its round", () => {
  assert.equal(frames.timeText(0), "round 1");
  assert.equal(frames.timeText(11), "the last");
});

test("pointing at a column tells its numbers", () => {
  const layout = place();
  const moment = { step: at([0, REJECT, 1]) };
  const { text } = tape.spotAt(layout, frames, moment, layout.left + 5, layout.bars + 5);
  assert.equal(text, "x\np 50% · q 25% · residual 25%");
  assert.equal(tape.spotAt(layout, frames, moment, 1, layout.bars + 5), null);
});

test("before the first step the answer to the first proposal shows through, and nothing later", () => {
  const layout = place();
  const { y, height, until } = tape.ghostArea(layout, frames);
  assert.deepEqual(frames.moments[frames.positions.indexOf(until)].slice(0, 2), [0, ACCEPT]);
  assert.ok(y > layout.text);
  assert.ok(y + height <= layout.height);
});
