// What moves: one clock for one player, or for several that are linked.  No page, no picture.
//
// A view (a player) has `frames` with sorted `positions`, steps of a run or seconds.  The clock ticks wherever one of its
// views has a position; each view shows its last frame that is not later.  A view answers `draw()`, `settle(delay)` (the
// reader stands still), `say(name, values)` (a passing remark) and `isBefore(other)` on the page.

import { ROUNDING, advance, clampStep, lastUpTo, rateFor, stopsOf, unionOf } from "./clock.js";
import { frameOf } from "./decode.js";
import { clampZoom, follow, zoomLimit } from "./zoom.js";

export class Clock {
  views = [];
  wanted = 0; // the number of the moment that the reader or a link asked for; a shorter run may not have it
  at = 0; // index into `ticks`
  phase = 0;
  playing = false;
  speed = 1;
  autopause = false;
  asTable = false;
  zoom = 1;
  view = null; // the part of the axis in sight

  join(view) {
    if (!this.views.includes(view)) this.views.push(view);
    this.views.sort((one, other) => (one.isBefore(other) ? -1 : 1));
    this.retime();
  }

  leave(view) {
    this.views = this.views.filter((other) => other !== view);
    if (this.views.length) this.retime();
    else this.stop();
  }

  // The moments anew, after a view came, went or got other frames.  The reader stays where they wanted to be.
  retime() {
    const all = this.views.map((view) => view.frames);
    this.end = Math.max(...all.map((frames) => frames.end));
    const gap = Math.min(...all.map((frames) => frames.axis.gap));
    for (const frames of all) Object.assign(frames.axis, { end: this.end, gap });
    if (all.length === 1) {
      const [{ positions, numbers, events, totalSteps }] = all;
      Object.assign(this, { ticks: positions, numbers, events, total: totalSteps });
    } else {
      this.ticks = unionOf(all.map((frames) => frames.positions), this.end * ROUNDING);
      this.numbers = this.ticks.map((_, index) => index);
      const tickOf = (position) => lastUpTo(this.ticks, position + this.end * ROUNDING);
      this.events = unionOf(all.map((frames) => frames.events.map((step) => tickOf(frames.positions[step]))));
      this.total = this.ticks.length;
    }
    this.at = frameOf(this.numbers, this.wanted);
    this.zoomLimit = all.every((frames) => frames.zooms) ? zoomLimit(gap, this.end) : 1;
    this.zoom = clampZoom(this.zoom, this.zoomLimit);
    this.view = null;
  }

  get leader() {
    return this.views[0];
  }
  get last() {
    return this.ticks.length - 1;
  }
  get now() {
    return this.ticks[this.at];
  }
  get number() {
    return this.numbers[this.at];
  }

  stepOf(view) {
    return lastUpTo(view.frames.positions, this.now);
  }

  draw() {
    this.view = follow(this.view, this.now, this.end, this.zoom);
    for (const view of this.views) view.draw();
  }

  say(name, values) {
    this.leader.say(name, values);
  }

  go(at) {
    this.at = clampStep(at, this.last);
    this.wanted = this.number;
    this.phase = 0;
    if (!this.playing) this.say(null);
    this.draw();
  }

  // The reader moved one step or jumped: stand still there and say what happened.
  moveTo(at, delay) {
    this.stop();
    this.go(at);
    for (const view of this.views) view.settle(delay);
  }

  // A link or the lesson moves the reader to a moment.
  order(number) {
    this.stop();
    this.wanted = number;
    this.at = frameOf(this.numbers, number);
  }

  zoomTo(zoom) {
    this.zoom = clampZoom(zoom, this.zoomLimit);
    this.draw();
  }

  play() {
    if (this.playing) return;
    if (this.at >= this.last) this.at = 0;
    this.playing = true;
    this.phase = 0;
    this.before = performance.now();
    this.say(null);
    this.draw();
    this.request = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    if (!this.playing) return;
    const seconds = Math.max(now - this.before, 0) / 1000;
    const from = { step: this.at, phase: this.phase };
    const moved = advance(from, seconds, this.rate, this.last, this.autopause ? stopsOf(this.events, this.last) : []);
    this.before = now;
    this.phase = moved.phase;
    if (moved.step !== this.at) {
      this.at = moved.step;
      this.wanted = this.number;
      this.draw();
    }
    if (moved.stopped) this.pause();
    else this.request = requestAnimationFrame((next) => this.tick(next));
  }

  get rate() {
    return (this.leader.data.rate ?? rateFor(this.last)) * this.speed;
  }

  stop() {
    this.playing = false;
    if (this.request) cancelAnimationFrame(this.request);
  }

  pause() {
    if (!this.playing) return;
    this.stop();
    this.draw();
    for (const view of this.views) view.settle(0);
  }
}
