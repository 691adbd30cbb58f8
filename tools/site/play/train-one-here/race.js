// Adam, and two models that learn from the same rows: what they have reached, chunk by chunk.
((part) => (globalThis.smallParts ||= []).push(part))((small) => {
  const { SIZES, SmallGPT, uniform, row, rows } = small;
  const { letters, tokens } = SIZES;
  const PROBE = 6; // letters of the row whose maps are shown

  // Kingma and Ba 2015, as torch.optim.Adam counts it.
  class Adam {
    constructor(size, rate, [beta1, beta2] = [0.9, 0.999], eps = 1e-8) {
      Object.assign(this, { rate, beta1, beta2, eps, steps: 0, mean: new Float64Array(size), square: new Float64Array(size) });
    }

    step(values, slopes) {
      const { mean, square, beta1, beta2, eps } = this;
      this.steps++;
      const size = this.rate / (1 - beta1 ** this.steps), root = Math.sqrt(1 - beta2 ** this.steps);
      for (let i = 0; i < values.length; i++) {
        const g = slopes[i];
        mean[i] += (1 - beta1) * (g - mean[i]);
        square[i] = beta2 * square[i] + (1 - beta2) * g * g;
        values[i] -= (size * mean[i]) / (Math.sqrt(square[i]) / root + eps);
      }
    }
  }

  const likeliest = (logits, n) => {
    let best = 0;
    for (let v = 1; v < letters; v++) if (logits[n * letters + v] > logits[n * letters + best]) best = v;
    return best;
  };

  class Learner {
    constructor(options, seed) {
      this.model = new SmallGPT(options, seed);
      this.adam = new Adam(this.model.size, options.rate);
      this.forget();
    }

    forget() {
      this.tally = { losses: [], repeated: [0, 0], fresh: [0, 0] };
    }

    // A step on rows; letters after the first repeated one can be known, those before it cannot.
    learn(batch) {
      const ids = batch.flatMap((it) => it.ids.slice(0, -1));
      const targets = batch.flatMap((it) => it.ids.slice(1));
      const { loss, logits } = this.model.learn(ids, targets);
      this.adam.step(this.model.values, this.model.slopes);
      this.tally.losses.push(loss);
      batch.forEach((it, b) => {
        for (let t = 1; t <= tokens; t++) {
          if (t === it.length) continue;
          const n = b * tokens + t - 1;
          const kind = t > it.length ? this.tally.repeated : this.tally.fresh;
          kind[0] += likeliest(logits, n) === targets[n];
          kind[1]++;
        }
      });
      return loss;
    }

    // What was reached since the last time, and the maps of one row now.
    report(probe) {
      const { losses, repeated, fresh } = this.tally;
      this.forget();
      this.model.logits(probe);
      return {
        loss: losses.length ? losses.reduce((a, b) => a + b) / losses.length : null,
        repeated: repeated[1] ? repeated[0] / repeated[1] : 0,
        fresh: fresh[1] ? fresh[0] / fresh[1] : 0,
        maps: this.model.maps.map((map) => Float32Array.from(map)),
      };
    }
  }

  class Race {
    constructor(sides, seed) {
      this.draw = uniform(seed + 1000);
      this.probe = row(uniform(seed + 2000), PROBE).slice(0, tokens);
      this.learners = sides.map((options) => new Learner(options, seed));
      this.steps = 0;
    }

    step() {
      const batch = rows(this.draw);
      this.learners.forEach((learner) => learner.learn(batch));
      this.steps++;
    }

    report() {
      return { step: this.steps, probe: this.probe, sides: this.learners.map((learner) => learner.report(this.probe)) };
    }

    // `count` more steps of both, and what they have reached in these.
    chunk(count) {
      for (let i = 0; i < count; i++) this.step();
      return this.report();
    }
  }

  // How much of its weight a map puts on the token before, and on what followed the same letter the last time.
  // The last letter of the row is left out: what followed it stands at two places.
  const habits = (map) => {
    const mean = (from, end, back) => {
      let sum = 0;
      for (let n = from; n < end; n++) sum += map[n * tokens + n - back];
      return sum / (end - from);
    };
    return { before: mean(1, tokens, 1), copy: mean(PROBE, tokens - 1, PROBE - 1) };
  };

  Object.assign(small, { Adam, Learner, Race, habits, PROBE });
});
