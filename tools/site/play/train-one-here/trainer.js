// Runs a race beside the page: in a worker made of the parts' own text, so that a page opened as a file has one, too;
// or where there is none on the page itself, a step at a time.
(() => {
  const listen = `onmessage = ({ data }) => {
    if (data.sides) race = new small.Race(data.sides, data.seed);
    postMessage(race.chunk(data.count));
  };`;
  const source = () => `const small = {}; let race; [${smallParts.join(",\n")}].forEach((part) => part(small)); ${listen}`;

  class Trainer {
    constructor(sides, seed, makeWorker = (url) => new Worker(url)) {
      this.given = { sides, seed };
      try {
        this.url = URL.createObjectURL(new Blob([source()], { type: "text/javascript" }));
        this.worker = makeWorker(this.url);
        this.worker.onmessage = ({ data }) => this.answer(data);
        this.worker.onerror = (event) => (event.preventDefault(), this.stayHere());
      } catch {
        this.stayHere();
      }
    }

    // A promise of what `count` more steps reach. Ask for one at a time.
    chunk(count) {
      return new Promise((resolve) => {
        this.wanted = { count, resolve };
        if (this.worker) this.worker.postMessage({ count, ...this.given });
        else this.slice(count);
      });
    }

    answer(report) {
      this.given = null;
      this.wanted?.resolve(report);
    }

    stayHere() {
      this.worker?.terminate();
      this.worker = null;
      if (this.given) this.race = new clearformer.small.Race(this.given.sides, this.given.seed);
      if (this.wanted) this.slice(this.wanted.count);
    }

    slice(left) {
      if (this.ended) return;
      if (!left) return this.answer(this.race.report());
      this.race.step();
      setTimeout(() => this.slice(left - 1));
    }

    end() {
      this.ended = true;
      this.worker?.terminate();
      if (this.url) URL.revokeObjectURL(this.url);
    }
  }

  const small = {};
  smallParts.forEach((part) => part(small));
  Object.assign(clearformer, { small, Trainer });
})();
