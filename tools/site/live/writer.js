// A text on which a reader and a model write: its ids, what is read of them, and who may change them when. No DOM.
(function (live) {
  "use strict";

  const SLICE = 12; // milliseconds of computing between two chances for the page to answer
  const MOST_AT_ONCE = 1000; // tokens that one press of the button writes
  const MEAN_OF = 16; // readings

  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  // `page` has what the reader has set (settings, cached, pace) and hears of changes (showText, showProgress, showRun, render).
  class Writer {
    constructor(model, page) {
      Object.assign(this, { model, page, reading: new live.Reading(model), ids: [], times: [], took: 0, written: false });
      this.random = Math.random; // tests replace it
      this.running = this.runs = 0; // the number of the run under way, and how many there have been
      this.job = 0; // a newer number ends the computing that is under way
      this.work = Promise.resolve();
    }

    // The text has changed. Many changes at once, such as the lines of a long one, are read together.
    hear(text) {
      this.stop();
      const job = ++this.job;
      this.work = pause(SLICE).then(() => job === this.job && this.write(text));
    }

    // Take a text as the reader gives it: all its tokens are made anew.
    write(text) {
      this.stop();
      this.page.showText(text);
      const { ids, unknown } = this.model.encode(text);
      Object.assign(this, { ids, unknown, typed: text, added: [], chosen: null, ended: false });
      return this.read();
    }

    // Read what is new, in slices; a later call ends this one.
    read(written = false) {
      this.work = this.readOn(++this.job, written);
      return this.work;
    }

    async readOn(job, written) {
      const { reading } = this, started = performance.now();
      this.dropped = this.model.dropped(this.ids.length);
      const ids = this.ids.slice(this.dropped);
      reading.keepPrefix(this.page.cached ? ids : []); // without the cache everything is read again
      while (reading.length < ids.length) {
        const until = performance.now() + SLICE;
        do {
          const began = performance.now();
          reading.read(ids[reading.length]);
          this.times = [performance.now() - began].concat(this.times).slice(0, MEAN_OF);
        } while (reading.length < ids.length && performance.now() < until);
        if (reading.length === ids.length) break;
        this.page.showProgress(reading.length, ids.length);
        await pause(0);
        if (job !== this.job) return;
      }
      const mean = this.times.reduce((sum, time) => sum + time, 0) / this.times.length;
      Object.assign(this, { written, took: written ? performance.now() - started : mean }); // for this token, or a token
      this.page.render();
    }

    // When everything typed has been read, `act`, before anything else does.
    async settled(act = () => {}) {
      for (let job = -1; job !== this.job;) {
        job = this.job;
        await this.work;
      }
      await act();
    }

    distribution(n) {
      return live.distribution(this.reading.logits(n), this.page.settings);
    }

    // Draw one token and append it.
    step() {
      return this.settled(() => this.draw());
    }

    draw() {
      return this.append(live.draw(this.distribution(this.reading.length - 1), this.random));
    }

    // Append the token that has the highest probability, whatever the settings.
    takeLikeliest() {
      return this.append(this.distribution(this.reading.length - 1).order[0]);
    }

    append(id) {
      this.chosen = null;
      this.ids.push(id);
      this.added.push(id);
      this.ended = id === this.model.end;
      this.page.showText(this.typed + this.model.decode(this.added));
      return this.read(true);
    }

    // Write until the text ends, `enough` is seen or somebody stops it, which the answer tells: true if nobody did.
    async run({ write = () => this.draw(), enough = () => false } = {}) {
      const mine = this.running = ++this.runs, began = performance.now();
      this.from = this.added.length;
      this.page.showRun();
      for (let count = 1; this.running === mine && count <= MOST_AT_ONCE; count++) {
        const next = pause(this.page.pace);
        await this.settled(() => this.running === mine && write());
        if (this.running !== mine || this.ended || enough()) break;
        this.page.showRun((performance.now() - began) / count);
        await next;
      }
      const whole = this.running === mine;
      if (whole) this.stop();
      return whole;
    }

    stop() {
      if (!this.running) return;
      this.running = 0;
      this.page.showRun();
      this.page.render();
    }

    // What the last run has written, for a reader who hears it.
    newText() {
      const written = this.added.slice(this.from);
      return `${written.length} tokens written: ${this.model.decode(written)}`;
    }

    // The page shows something else: what is under way ends, and what waits for its turn never has it.
    leave() {
      this.stop();
      this.job++;
      this.work = new Promise(() => {});
    }

    // The token that the reader wants, in place of all that came after the chosen one.
    take(id) {
      this.stop();
      return this.settled(() => {
        const kept = this.ids.slice(0, this.dropped + this.at() + 1);
        if (kept.length < this.ids.length) this.restart(kept);
        return this.append(id);
      });
    }

    takeBack() {
      this.stop();
      if (this.ids.length > 1) this.restart(this.ids.slice(0, -1));
      this.chosen = null;
      return this.read();
    }

    // The same ids as text: what was typed and what was drawn are no longer told apart.
    restart(ids) {
      this.typed = this.model.decode(ids[0] === this.model.end ? ids.slice(1) : ids);
      Object.assign(this, { ids, added: [], ended: false, unknown: [] });
      this.page.showText(this.typed);
    }

    // The chosen token, the last one unless the reader chose another.
    at() {
      return this.chosen === null ? this.reading.length - 1 : Math.min(this.chosen, this.reading.length - 1);
    }

    choose(n) {
      this.chosen = n === this.reading.length - 1 ? null : n;
      this.page.render();
    }
  }

  Object.assign(live, { Writer });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
