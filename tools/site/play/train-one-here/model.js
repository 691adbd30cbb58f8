// A small GPT whose parts can be switched off: its weights, its logits, its loss and all slopes of the loss.
((part) => (globalThis.smallParts ||= []).push(part))((small) => {
  const { SIZES, normals, linear, relu, layerNorm, attend, surprise } = small;
  const { letters, tokens, width } = SIZES;
  const EMBEDDED = 1, PROJECTED = 0.5; // deviations of the first weights; of a matrix also divided by √inputs

  // [name, rows, columns] of a matrix, [name, length, 0 or 1] of a vector, as the library names them.
  const shapes = ({ positions, norm, blocks, hidden }) => {
    const own = (name) => (norm === "none" ? [] : [[`${name}.weight`, width, 1], [`${name}.bias`, width, 0]]);
    const layer = (name, outputs, inputs) => [[`${name}.weight`, outputs, inputs, true], [`${name}.bias`, outputs, 0]];
    const block = (i) => [
      ...layer(`decoder.blocks.${i}.attention.qkv`, 3 * width, width),
      ...layer(`decoder.blocks.${i}.attention.out`, width, width),
      ...own(`decoder.blocks.${i}.attention_norm`),
      ...layer(`decoder.blocks.${i}.feed_forward.up`, hidden, width),
      ...layer(`decoder.blocks.${i}.feed_forward.down`, width, hidden),
      ...own(`decoder.blocks.${i}.feed_forward_norm`),
    ];
    return [
      ["tokens.weight", letters, width, true],
      ...(positions ? [["positions.weight", tokens, width, true]] : []),
      ...Array.from({ length: blocks }, (_, i) => block(i)).flat(),
      ...(norm === "pre" ? own("decoder.norm") : []),
      ["head.weight", letters, width, true],
    ];
  };

  const count = (options) => shapes(options).reduce((sum, [, rows, columns, drawn]) => sum + rows * (drawn ? columns : 1), 0);

  // A number of its own for each name, so that a weight begins alike whatever else the model has.
  const seedOf = (seed, name) => Array.from(name).reduce((sum, c) => (Math.imul(sum, 31) + c.codePointAt(0)) | 0, seed);

  const first = (seed, name, rows, columns, drawn) => {
    if (!drawn) return new Float64Array(rows).fill(columns);
    const embedded = name === "tokens.weight" || name === "positions.weight";
    return normals(seedOf(seed, name), rows * columns, embedded ? EMBEDDED : PROJECTED / Math.sqrt(columns));
  };

  class SmallGPT {
    constructor(options, seed) {
      this.options = options;
      const all = shapes(options);
      const sizes = all.map(([, rows, columns, drawn]) => rows * (drawn ? columns : 1));
      this.size = sizes.reduce((a, b) => a + b);
      this.values = new Float64Array(this.size);
      this.slopes = new Float64Array(this.size);
      this.named = {};
      let from = 0;
      all.forEach((shape, i) => {
        const to = from + sizes[i];
        this.named[shape[0]] = { values: this.values.subarray(from, to), slopes: this.slopes.subarray(from, to) };
        this.named[shape[0]].values.set(first(seed, ...shape));
        from = to;
      });
    }

    layer(name, x) {
      const bias = this.named[`${name}.bias`], weight = this.named[`${name}.weight`];
      return linear(x, weight.values.length / (bias ? bias.values.length : letters), weight, bias);
    }

    norm(name, x) {
      const weight = this.named[`${name}.weight`];
      return weight ? layerNorm(x, weight, this.named[`${name}.bias`]) : [x, (dy) => dy];
    }

    attention(name, x) {
      const [qkv, backQkv] = this.layer(`${name}.qkv`, x);
      const [y, back, weights] = attend(qkv, width, tokens, this.options);
      this.maps.push(weights);
      const [out, backOut] = this.layer(`${name}.out`, y);
      return [out, (d) => backQkv(back(backOut(d)))];
    }

    feedForward(name, x) {
      const [up, backUp] = this.layer(`${name}.up`, x);
      const [bent, backBent] = relu(up);
      const [down, backDown] = this.layer(`${name}.down`, bent);
      return [down, (d) => backUp(backBent(backDown(d)))];
    }

    // What a part writes, added to what was there or in its place, with the norm before, after or nowhere.
    joined(x, part, normName) {
      const { norm, residual } = this.options;
      const [input, backIn] = norm === "post" ? [x, (d) => d] : this.norm(normName, x);
      const [written, backPart] = part(input);
      const sum = residual ? written.map((value, i) => value + x[i]) : written;
      const [y, backOut] = norm === "post" ? this.norm(normName, sum) : [sum, (d) => d];
      const back = (dy) => {
        const d = backOut(dy);
        const dx = backIn(backPart(d));
        return residual ? dx.map((value, i) => value + d[i]) : dx;
      };
      return [y, back];
    }

    embed(ids) {
      const { "tokens.weight": word, "positions.weight": place } = this.named;
      const x = new Float64Array(ids.length * width);
      const each = (visit) => ids.forEach((id, n) => {
        for (let d = 0; d < width; d++) visit(n * width + d, id * width + d, (n % tokens) * width + d);
      });
      each((at, w, p) => (x[at] = word.values[w] + (place ? place.values[p] : 0)));
      const back = (dx) => each((at, w, p) => {
        word.slopes[w] += dx[at];
        if (place) place.slopes[p] += dx[at];
      });
      return [x, back];
    }

    // The logits of the next letter after each of ids, rows of 12 one after the other; the maps of attention stay.
    logits(ids) {
      this.maps = [];
      const backs = [];
      let x = this.step(backs, this.embed(ids));
      for (let i = 0; i < this.options.blocks; i++) {
        const name = `decoder.blocks.${i}`;
        x = this.step(backs, this.joined(x, (y) => this.attention(`${name}.attention`, y), `${name}.attention_norm`));
        x = this.step(backs, this.joined(x, (y) => this.feedForward(`${name}.feed_forward`, y), `${name}.feed_forward_norm`));
      }
      x = this.step(backs, this.norm("decoder.norm", x));
      const y = this.step(backs, this.layer("head", x));
      return [y, (dy) => backs.reduceRight((d, back) => back(d), dy)];
    }

    step(backs, [y, back]) {
      backs.push(back);
      return y;
    }

    // The loss on ids and targets; its slopes by all weights stand in `slopes` then.
    learn(ids, targets) {
      const [logits, back] = this.logits(ids);
      const [loss, dlogits] = surprise(logits, targets, letters);
      this.slopes.fill(0);
      back(dlogits);
      return { loss, logits };
    }
  }

  Object.assign(small, { SmallGPT, shapes, count });
});
