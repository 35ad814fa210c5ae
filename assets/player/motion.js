// What moves from one step to the next.  A painter says of every thing that keeps its identity where it belongs, and is told
// where it is: while a motion lasts, on the way there from where it was last seen.  So it holds for steps back and for jumps,
// and a motion that is cut short goes on from where it had come to.

export const MOVE_MS = 200;
export const GHOST = 0.28; // how strong a run is that has not been played
const SHORTEST_MS = 60; // a player that is faster than that does not move things, it shows them
const OF_A_STEP = 0.7; // of the time of a step things may move

// How long things move at so many steps a second.
export function moveTime(rate) {
  const ms = Math.min(MOVE_MS, (OF_A_STEP * 1000) / rate);
  return ms < SHORTEST_MS ? 0 : ms;
}

// For whoever draws a single picture.
export const stay = (key, there) => there;

export class Motion {
  was = new Map(); // key -> where a thing stood when the motion began
  is = new Map(); // and where it was drawn last
  share = 1;

  begin(now, ms) {
    Object.assign(this, { was: this.is, started: now, ms, share: ms ? 0 : 1 });
  }

  end() {
    this.begin(0, 0);
  }

  // Before each picture.
  frame(now) {
    const passed = this.share < 1 ? Math.min(Math.max(now - this.started, 0) / this.ms, 1) : 1;
    this.share = 1 - (1 - passed) ** 3;
    this.is = new Map();
  }

  // `there`: an object of numbers.  What is new comes from `origin`, or is simply there.
  at = (key, there, origin) => {
    const start = this.was.get(key) ?? origin;
    const here = start && this.share < 1 ? between(start, there, this.share) : there;
    this.is.set(key, here);
    return here;
  };
}

export function between(start, there, share) {
  const here = {};
  for (const name in there) here[name] = (start[name] ?? there[name]) * (1 - share) + there[name] * share;
  return here;
}
