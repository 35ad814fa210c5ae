// Frames and a canvas context for tests: small, readable, and no browser.

export function runsOf(rows) {
  const triples = rows.flat();
  const view = new DataView(new ArrayBuffer(triples.length * 6));
  triples.flat().forEach((value, at) => view.setInt16(at * 2, value, true));
  return Buffer.from(view.buffer).toString("base64");
}

// States: 0 free, 1 prefill, 2 decode, 3 held.  A and B in two slots, then C in the first one; the second grid is shorter.
export function sent() {
  const grid = (steps, rows) => ({ steps, runs: runsOf(rows), waiting: [[0, [2]], [5, []]] });
  const names = (title) => ({ title, slots: ["slot 1", "slot 2"], counters: [[0, "100 %"], [3, "75 %"]] });
  const state = (name, pattern, colour) => ({ name, label: name, colour, pattern });
  return {
    painter: "slots",
    steps: 10,
    total: 10,
    at: null,
    events: [0, 5],
    picture: {
      requests: ["A", "B", "C"],
      grids: [
        grid(10, [[[1, 1, 0], [4, 2, 0], [1, 1, 2], [4, 2, 2]], [[1, 1, 1], [2, 2, 1], [2, 3, 1], [5, 0, -1]]]),
        grid(6, [[[1, 1, 0], [4, 2, 0], [1, 0, -1]], [[3, 2, 1], [3, 2, 2]]]),
      ],
    },
    texts: { grids: [names("static"), names("continuous")] },
    notes: [[0, "A and B join"], [1, ""], [5, "C joins"]],
    times: [[0, "0.1 s"]],
    states: [
      state("free", "none", "#888888"),
      state("prefill", "diagonal", "#b8860b"),
      state("decode", "solid", "#0072b2"),
      state("held", "outline", "#d55e00"),
    ],
    alt: "two slots",
    words: { axis: "Step", waiting: "Waiting", ended: "All done", step_of: "step {n} of {total}" },
  };
}

// Lanes CPU and GPU over 10 ms: launches "a" and "b", the first one for request A, and the kernel of "a" from 2 to 6 ms.
export function sentTimeline(changes = {}) {
  const quanta = (ms) => packed(Uint32Array.from(ms, (each) => Math.round((each / 10) * (2 ** 32 - 1))));
  const packed = (numbers) => Buffer.from(numbers.buffer).toString("base64");
  return {
    painter: "timeline",
    steps: 3,
    total: 3,
    at: null,
    events: [],
    picture: {
      end: 0.01,
      at: quanta([2, 5, 10]),
      owners: ["A", ""],
      lanes: packed(Uint16Array.from([0, 0, 1])), // the lane of each span
      starts: quanta([0, 4, 2]),
      ends: quanta([2, 8, 6]),
      kinds: packed(Uint8Array.from([0, 0, 1])),
      whose: packed(Uint16Array.from([0, 1, 1])),
      future: false,
      ...changes,
    },
    texts: { title: "Two lanes", lanes: ["CPU", "GPU"], labels: ["a", "b"], said: packed(Uint16Array.from([0, 1, 0])) },
    notes: [[0, "a"], [1, ""]],
    times: [[0, ""]],
    states: [
      { name: "launch", label: "launch", colour: "#9a6a4b", pattern: "horizontal" },
      { name: "kernel", label: "kernel", colour: "#7a68c8", pattern: "dashes" },
    ],
    alt: "two lanes",
    words: { axis_time: "Time ({unit})", column_spans: "On the timeline", nothing: "nothing going on" },
  };
}

export class FakeContext {
  constructor() {
    this.calls = [];
    for (const name of ["clearRect", "fillRect", "strokeRect", "fillText", "strokeText", "beginPath", "roundRect",
      "fill", "stroke", "moveTo", "lineTo", "quadraticCurveTo", "arc", "scale", "setLineDash"]) {
      this[name] = (...given) => this.calls.push({ name, given, fillStyle: this.fillStyle });
    }
  }
  texts() {
    return this.calls.filter((call) => call.name === "fillText").map((call) => String(call.given[0]));
  }
  areas(fillStyle) {
    const drawn = ["fillRect", "roundRect"];
    return this.calls.filter((call) => drawn.includes(call.name) && call.fillStyle === fillStyle).map((call) => call.given);
  }
}

export const widthOf = (text) => 7 * String(text).length;

export function lookOf(states) {
  const fill = (state) => (["none", "outline"].includes(state.pattern) ? null : `fill of ${state.name}`);
  return {
    ratio: 1, size: 13, font: "13px", bold: "bold 13px", widthOf, widthOfBold: widthOf, text: "text", muted: "muted",
    faint: "faint", track: "track", background: "background", accent: "accent", queue: "queue",
    states: states.map((state) => ({ ...state, ink: "ink", fill: fill(state) })),
  };
}
