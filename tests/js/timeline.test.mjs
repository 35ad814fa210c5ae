import assert from "node:assert/strict";
import test from "node:test";
import { decodeFrames } from "../../assets/player/decode.js";
import * as timeline from "../../assets/player/painters/timeline.js";
import { FakeContext, lookOf, sentTimeline, widthOf } from "./fake.mjs";

const frames = decodeFrames(sentTimeline(), timeline);
const foreseen = decodeFrames(sentTimeline({ future: true }), timeline);
const WHOLE = { from: 0, to: 0.01 };
const place = (shown = frames, more = {}) =>
  timeline.layout(shown, { width: 600, room: 300, size: 13, widthOf, ...more });
const moment = (step, view = WHOLE) => ({ step, now: frames.positions[step], view });

function paint(at, shown = frames, layout = place(shown)) {
  const context = new FakeContext();
  timeline.paint(context, shown, at, layout, lookOf(shown.states));
  return context;
}

const spansOf = (context) => ["fill of launch", "fill of kernel"].flatMap((look) => context.areas(look));
const xOf = (layout, ms, view = WHOLE) =>
  layout.left + ((ms / 1000 - view.from) / (view.to - view.from)) * (layout.right - layout.left);
const near = (one, other, by = 1.01) => assert.ok(Math.abs(one - other) <= by, `${one} is not ${other}`);

test("moments and spans come back in seconds", () => {
  frames.positions.forEach((position, step) => near(position, [0.002, 0.005, 0.01][step], 1e-9));
  const [first, second] = frames.rows[0];
  assert.deepEqual([first.owner, first.label, second.owner, second.label], ["A", "a", "", "b"]);
  near(second.start, 0.004, 1e-9);
  near(second.end, 0.008, 1e-9);
});

test("times have the unit of the whole, and decimals that tell the moments apart", () => {
  assert.deepEqual(frames.positions.map((position) => frames.timeText(position)), ["2.0 ms", "5.0 ms", "10.0 ms"]);
  const linked = decodeFrames(sentTimeline(), timeline);
  linked.axis.end = 3; // seconds, of a player it is linked with
  assert.equal(linked.timeText(0.005), "0.005 s");
});

test("a span stands where its time is, as far as the cursor has come", () => {
  const layout = place();
  const [launch, growing, kernel] = spansOf(paint(moment(1)));
  near(launch[0], xOf(layout, 0));
  near(launch[0] + launch[2], xOf(layout, 2), 2);
  near(growing[0], xOf(layout, 4));
  near(growing[0] + growing[2], xOf(layout, 5));
  near(kernel[0] + kernel[2], xOf(layout, 5));
});

test("what is to come is faintly there, as far as it may be seen", () => {
  const layout = place();
  const ends = (more) => spansOf(paint({ ...moment(0), ...more })).map(([x, , width]) => Math.round(x + width - layout.left));
  const far = (ms) => Math.round(xOf(layout, ms) - layout.left);
  assert.ok(Math.max(...ends({ ghost: 0.01 })) > far(7));
  assert.ok(Math.max(...ends({ ghost: 0.005 })) <= far(5) && Math.max(...ends({ ghost: 0.005 })) > far(4));
});

test("a guess is marked on the axis, also beyond the cursor, and at the end if it lies further", () => {
  const at = (seconds) => {
    const guessed = decodeFrames(sentTimeline(), timeline);
    guessed.marks = [[seconds, "your guess"]];
    const context = paint(moment(0), guessed);
    assert.ok(context.texts().includes("your guess"));
    const layout = place();
    return context.calls.some(({ name, given }) => name === "moveTo" && Math.abs(given[0] - xOf(layout, Math.min(seconds, 0.01) * 1000)) < 1);
  };
  assert.ok(at(0.007) && at(3));
  assert.ok(!paint(moment(0)).texts().includes("your guess"));
});

test("nothing of the future is drawn, unless the page shows it", () => {
  const layout = place();
  for (const step of [0, 1, 2]) {
    const cursor = xOf(layout, frames.positions[step] * 1000) + 0.5;
    for (const [x, , width] of spansOf(paint(moment(step)))) assert.ok(x + width <= cursor);
  }
  assert.equal(spansOf(paint(moment(0))).length, 1);
  assert.ok(spansOf(paint(moment(0), foreseen)).some(([x, , width]) => x + width > xOf(layout, 7)));
});

test("while zoomed in only the window is drawn", () => {
  const view = { from: 0.003, to: 0.005 };
  const layout = place();
  const spans = spansOf(paint(moment(1, view)));
  assert.equal(spans.length, 2); // the first launch was over before
  for (const [x, , width] of spans) assert.ok(x >= layout.left && x + width <= layout.right + 0.5);
  near(spans[0][0], xOf(layout, 4, view));
});

test("owner and label stand in a span that has room for them, the owner alone in a narrower one", () => {
  const inSpans = (context) => context.texts().filter((text) => ["A", "a", "b"].includes(text));
  assert.deepEqual(inSpans(paint(moment(2))), ["A", "a", "b", "a"]);
  const narrow = place(frames, { width: 180 });
  assert.deepEqual(inSpans(paint(moment(2), frames, narrow)), ["A", "b", "a"]);
  const tiny = place(frames, { room: 40 });
  assert.deepEqual(inSpans(paint(moment(2), frames, tiny)), []);
});

test("what the cursor has just walked along has a ring, and what ended before has none", () => {
  const rings = (step) => paint(moment(step)).calls.filter((call) => call.name === "stroke").length;
  assert.deepEqual([0, 1, 2].map(rings), [1, 2, 0]);
});

test("a span that ends now by the rounding of another player is still the current one", () => {
  const nearly = { ...moment(0), now: frames.positions[0] + 1e-11 };
  assert.equal(paint(nearly).calls.filter((call) => call.name === "stroke").length, 1);
  const next = paint({ ...moment(0), now: frames.rows[0][1].start + 1e-11 });
  assert.equal(spansOf(next).length, 2); // a launch that is over, the kernel; the next launch has not begun
});

test("the cursor stands at its time, and its time stands on the axis", () => {
  const context = paint(moment(1));
  const cursor = context.areas("accent").at(-1);
  near(cursor[0] + 1, xOf(place(), 5));
  assert.ok(context.texts().includes("5.0"));
  assert.ok(context.texts().includes("Time (ms)"));
});

test("the pointer is told what a span is, but not how long it still takes", () => {
  const layout = place();
  const y = layout.top + 1;
  const text = (step, ms, shown = frames) => timeline.spotAt(layout, shown, moment(step), xOf(layout, ms), y)?.text;
  assert.equal(text(1, 1), "CPU · A · launch · a\n0.00 ms – 2.00 ms (2.00 ms)");
  assert.equal(text(1, 4.5), "CPU · launch · b\n4.00 ms – …");
  assert.equal(text(2, 4.5), "CPU · launch · b\n4.00 ms – 8.00 ms (4.00 ms)");
  assert.equal(text(1, 7), undefined);
  assert.match(text(1, 7, foreseen), /4.00 ms – 8.00 ms/);
  assert.equal(timeline.spotAt(layout, frames, moment(1), layout.left - 5, y).text, "CPU");
});

test("the keyboard is told the span of a lane at the cursor, or that there is none yet", () => {
  const text = (step, lane) => timeline.spotInLane(place(), frames, moment(step), lane).text;
  assert.match(text(1, 0), /launch · b/);
  assert.match(text(1, 1), /kernel · a/);
  assert.match(text(0, 1), /nothing going on/);
});

test("the table has every span, in the row of the moment at which it was going on", () => {
  assert.deepEqual(timeline.columns(frames), ["Two lanes"]);
  assert.match(timeline.cells(frames, 0)[0], /^CPU · A · launch · a · 0.00 ms – 2.00 ms \(2.00 ms\)$/);
  assert.match(timeline.cells(frames, 1)[0], /launch · b.*\n.*kernel · a/);
});

test("linked timelines have their axes exactly above each other", () => {
  const other = { ...frames, lanes: ["a much longer name of a lane", "GPU"] };
  const linked = [frames, other];
  assert.deepEqual(
    linked.map((each) => place(each, { linked }).left),
    [place(other).left, place(other).left],
  );
  assert.ok(place(frames).left < place(other).left);
});

test("lanes get low before they get lost, and never higher than a few lines", () => {
  const lanes = Array.from({ length: 40 }, (_, lane) => `lane ${lane}`);
  assert.ok(place({ ...frames, lanes }).height <= 320);
  assert.ok(place(frames, { room: 2000 }).height < 200);
});

test("a name that does not fit ends in an ellipsis", () => {
  assert.equal(timeline.cut("CPU", 21, widthOf), "CPU");
  assert.equal(timeline.cut("tokenizer", 40, widthOf), "toke…");
});

test("spans narrower than the screen can show are drawn once, not one by one", () => {
  const row = Array.from({ length: 20_000 }, (_, i) => ({
    lane: 0, start: i * 5e-7, end: (i + 1) * 5e-7, state: 0, owner: "", label: "",
  }));
  const many = { ...frames, rows: [row, []] };
  assert.ok(paint(moment(2), many).calls.length < 5000);
});

test("what is over is painted once, and anew after a step back or when the window moves", () => {
  const layers = [];
  let cleared = 0;
  const newCanvas = () => {
    const context = Object.assign(new FakeContext(), { setTransform() {}, clearRect: () => cleared++ });
    layers.push(context);
    return { getContext: () => context };
  };
  const look = { ...lookOf(frames.states), newCanvas };
  const layout = place();
  const context = Object.assign(new FakeContext(), { drawImage() {} });
  const show = (at) => (timeline.paint(context, frames, at, layout, look), [cleared, spansOf(layers[0]).length]);
  for (const step of [0, 1, 2]) show(moment(step));
  assert.deepEqual(show(moment(2)), [1, 3]);
  assert.equal(show(moment(1))[0], 2);
  assert.deepEqual(show(moment(2)), [2, 6]); // all three anew
  assert.deepEqual(show(moment(2, { from: 0.003, to: 0.01 })), [3, 8]);
  assert.equal(layers.length, 1);
});
