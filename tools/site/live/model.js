// The book's GPT, token by token with a cache of keys and values, and what is drawn from its logits. No DOM.
(function (live) {
  "use strict";

  const EPS = 1e-5;
  const BASE = 10000;

  // y = W x + b, or y = y + W x + b with `add`; W lies row by row from `at` on.
  function linear(y, W, b, x, add) {
    const inputs = x.length, outputs = y.length, whole = inputs - (inputs % 4);
    for (let o = 0, w = 0; o < outputs; o++) {
      let s0 = 0, s1 = 0, s2 = 0, s3 = 0, i = 0;
      for (; i < whole; i += 4, w += 4) {
        s0 += W[w] * x[i];
        s1 += W[w + 1] * x[i + 1];
        s2 += W[w + 2] * x[i + 2];
        s3 += W[w + 3] * x[i + 3];
      }
      for (; i < inputs; i++, w++) s0 += W[w] * x[i];
      const sum = s0 + s1 + (s2 + s3) + (b ? b[o] : 0);
      y[o] = add ? y[o] + sum : sum;
    }
  }

  function layerNorm(y, x, weight, bias) {
    const D = x.length;
    let mean = 0, variance = 0;
    for (let d = 0; d < D; d++) mean += x[d];
    mean /= D;
    for (let d = 0; d < D; d++) variance += (x[d] - mean) * (x[d] - mean);
    const scale = 1 / Math.sqrt(variance / D + EPS);
    for (let d = 0; d < D; d++) y[d] = (x[d] - mean) * scale * weight[d] + bias[d];
  }

  // z Φ(z), with the error function to 1.5e-7: Abramowitz and Stegun 1964, 7.1.26.
  function gelu(x) {
    for (let i = 0; i < x.length; i++) {
      const z = Math.abs(x[i]) * Math.SQRT1_2, t = 1 / (1 + 0.3275911 * z);
      const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
      const erf = 1 - series * Math.exp(-z * z);
      x[i] *= 0.5 * (1 + (x[i] < 0 ? -erf : erf));
    }
  }

  class GPT {
    constructor(config, tokenizer, weights) {
      this.config = config;
      this.tokenizer = tokenizer;
      this.end = config.n_vocab - 1; // stands at the start of a text, and ends it
      this.embedding = weights["tokens.weight"];
      this.positions = weights["positions.weight"] || null; // or the heads turn queries and keys
      this.head = weights["head.weight"] || this.embedding;
      this.norm = part(weights, "decoder.norm");
      this.blocks = Array.from({ length: config.n_layers }, (_, m) => ({
        attentionNorm: part(weights, `decoder.blocks.${m}.attention_norm`),
        qkv: part(weights, `decoder.blocks.${m}.attention.qkv`),
        out: part(weights, `decoder.blocks.${m}.attention.out`),
        feedForwardNorm: part(weights, `decoder.blocks.${m}.feed_forward_norm`),
        up: part(weights, `decoder.blocks.${m}.feed_forward.up`),
        down: part(weights, `decoder.blocks.${m}.feed_forward.down`),
      }));
      this.nWeights = Object.values(weights).reduce((sum, weight) => sum + weight.length, 0);
    }

    // The start token and the ids of a text, and the characters that the model does not know.
    encode(text) {
      const { ids, unknown } = this.tokenizer.encode(text);
      return { ids: [this.end].concat(ids), unknown };
    }

    // The text of ids; an end begins a new paragraph.
    decode(ids) {
      const parts = [[]];
      for (const id of ids) {
        if (id === this.end) parts.push([]);
        else parts[parts.length - 1].push(id);
      }
      return parts.map((part) => this.tokenizer.decode(part)).join("\n\n");
    }

    piece(id) {
      return id === this.end ? "¶" : this.tokenizer.piece(id);
    }

    // How many ids at the front are left out, so that the rest fits; a quarter at a time, for each time costs a reading.
    dropped(length) {
      const room = this.config.n_positions, step = Math.max(1, Math.floor(room / 4));
      return length <= room ? 0 : Math.min(length - 1, Math.ceil((length - room) / step) * step);
    }

    // The tokens with the embeddings most like that of `id`, by the cosine of the angle.
    nearest(id, count) {
      const { n_vocab: V, d_model: D } = this.config, E = this.embedding, found = [];
      for (let v = 0; v < V; v++) {
        let product = 0, own = 0, other = 0;
        for (let d = 0; d < D; d++) {
          const a = E[id * D + d], b = E[v * D + d];
          product += a * b;
          own += a * a;
          other += b * b;
        }
        if (v !== id) found.push({ id: v, cosine: product / Math.sqrt(own * other || 1) });
      }
      return found.sort((a, b) => b.cosine - a.cosine).slice(0, count);
    }
  }

  function part(weights, name) {
    return { weight: weights[name + ".weight"], bias: weights[name + ".bias"] };
  }

  // What the model has read: ids, keys and values, attention, and what every layer made of every token.
  // `hooks` may change in place what is read: weights(m, h, n, row) with how much token n looks at each token in head h
  // of layer m, and column(m, n, x) with the column of token n before layer m, or behind the last.
  class Reading {
    constructor(model, hooks = {}) {
      const { n_positions: N, d_model: D, n_heads: H, n_layers: M, n_vocab: V } = model.config;
      this.model = model;
      this.hooks = hooks;
      this.ids = [];
      this.keys = model.blocks.map(() => new Float32Array(N * D));
      this.values = model.blocks.map(() => new Float32Array(N * D));
      this.attention = []; // [n][layer]: Float32Array of H rows of n + 1 weights
      this.streams = []; // [n]: Float32Array of M + 1 rows of D, the embedding first
      const half = model.positions ? 0 : D / H / 2; // pairs of features that are turned
      this.cos = new Float32Array(N * half);
      this.sin = new Float32Array(N * half);
      for (let n = 0; n < N; n++) {
        for (let i = 0; i < half; i++) {
          const angle = n * BASE ** (-i / half);
          this.cos[n * half + i] = Math.cos(angle);
          this.sin[n * half + i] = Math.sin(angle);
        }
      }
      this.x = new Float32Array(D);
      this.normed = new Float32Array(D);
      this.qkv = new Float32Array(3 * D);
      this.mixed = new Float32Array(D);
      this.hidden = new Float32Array(4 * D);
      this.scores = new Float32Array(V);
    }

    get length() {
      return this.ids.length;
    }

    // Forget what comes after the first `length` tokens.
    cut(length) {
      this.ids.length = this.attention.length = this.streams.length = Math.min(length, this.length);
    }

    // Forget what does not begin like `ids`.
    keepPrefix(ids) {
      let same = 0;
      while (same < this.length && same < ids.length && this.ids[same] === ids[same]) same++;
      this.cut(same);
    }

    // Read one token more: its keys and values go into the cache, everything before it stays.
    read(id) {
      const { n_positions: N, d_model: D, n_vocab: V } = this.model.config, n = this.length;
      if (n >= N || !(id >= 0 && id < V)) throw new Error(`Reading.read: id ${id} at position ${n} of ${N}.`);
      const x = this.x, stream = new Float32Array((this.model.blocks.length + 1) * D), attention = [];
      const keep = (m) => {
        this.hooks.column?.(m, n, x);
        stream.set(x, m * D);
      };
      x.set(this.model.embedding.subarray(id * D, (id + 1) * D));
      if (this.model.positions) for (let d = 0; d < D; d++) x[d] += this.model.positions[n * D + d];
      keep(0);
      this.model.blocks.forEach((block, m) => {
        layerNorm(this.normed, x, block.attentionNorm.weight, block.attentionNorm.bias);
        linear(this.qkv, block.qkv.weight, block.qkv.bias, this.normed, false);
        attention.push(this.attend(m, n));
        linear(x, block.out.weight, block.out.bias, this.mixed, true);
        layerNorm(this.normed, x, block.feedForwardNorm.weight, block.feedForwardNorm.bias);
        linear(this.hidden, block.up.weight, block.up.bias, this.normed, false);
        gelu(this.hidden);
        linear(x, block.down.weight, block.down.bias, this.hidden, true);
        keep(m + 1);
      });
      this.ids.push(id);
      this.attention.push(attention);
      this.streams.push(stream);
    }

    // Token n looks back in every head of layer m; returns the weights, head by head.
    attend(m, n) {
      const { d_model: D, n_heads: H } = this.model.config, K = D / H, keys = this.keys[m], values = this.values[m];
      const weights = new Float32Array(H * (n + 1)), qkv = this.qkv, scale = 1 / Math.sqrt(K);
      if (!this.model.positions) for (let h = 0; h < 2 * H; h++) this.turn(h * K, n); // queries, then keys
      keys.set(qkv.subarray(D, 2 * D), n * D);
      values.set(qkv.subarray(2 * D), n * D);
      this.mixed.fill(0);
      for (let h = 0; h < H; h++) {
        const row = h * (n + 1), from = h * K;
        let largest = -Infinity, sum = 0;
        for (let s = 0; s <= n; s++) {
          let score = 0;
          for (let k = 0, at = s * D + from; k < K; k++, at++) score += qkv[from + k] * keys[at];
          weights[row + s] = score * scale;
          if (weights[row + s] > largest) largest = weights[row + s];
        }
        for (let s = 0; s <= n; s++) sum += weights[row + s] = Math.exp(weights[row + s] - largest);
        for (let s = 0; s <= n; s++) weights[row + s] /= sum;
        this.hooks.weights?.(m, h, n, weights.subarray(row, row + n + 1));
        for (let s = 0; s <= n; s++) {
          const weight = weights[row + s];
          for (let k = 0, at = s * D + from; k < K; k++, at++) this.mixed[from + k] += weight * values[at];
        }
      }
      return weights;
    }

    // Rotary position n, on the head that begins at `from` in qkv.
    turn(from, n) {
      const half = this.model.config.d_model / this.model.config.n_heads / 2, x = this.qkv;
      for (let i = 0; i < half; i++) {
        const c = this.cos[n * half + i], s = this.sin[n * half + i], a = x[from + i], b = x[from + i + half];
        x[from + i] = a * c - b * s;
        x[from + i + half] = b * c + a * s;
      }
    }

    // How much token n looks at token s.
    weight(layer, head, n, s) {
      return this.attention[n][layer][head * (n + 1) + s];
    }

    // The logits of what comes after token n, in an array that the next call overwrites.
    logits(n) {
      const { d_model: D, n_layers: M } = this.model.config, { norm, head } = this.model;
      layerNorm(this.normed, this.streams[n].subarray(M * D), norm.weight, norm.bias);
      linear(this.scores, head, null, this.normed, false);
      return this.scores;
    }
  }

  // What may be drawn, as clearformer.generation does it: temperature, then top-k, then top-p; null cuts nothing.
  // `before` are the probabilities at this temperature, `after` those that the cuts leave, `order` the ids by size.
  function distribution(logits, { temperature, topK, topP }) {
    const order = Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);
    const before = new Float64Array(logits.length), after = new Float64Array(logits.length);
    if (temperature === 0) {
      before[order[0]] = after[order[0]] = 1;
      return { before, after, order };
    }
    let sum = 0, kept = 0, reached = 0;
    for (const id of order) sum += before[id] = Math.exp((logits[id] - logits[order[0]]) / temperature);
    for (const id of order) before[id] /= sum;
    const least = topK === null ? -Infinity : logits[order[Math.min(topK, order.length) - 1]];
    const likely = order.filter((id) => logits[id] >= least);
    for (const id of likely) kept += before[id];
    sum = 0;
    for (const id of likely) {
      if (topP !== null && reached / kept >= topP) break;
      reached += before[id];
      sum += after[id] = before[id];
    }
    for (const id of likely) after[id] /= sum;
    return { before, after, order };
  }

  // One id by its probability; `random` gives a number from 0 to 1.
  function draw({ after, order }, random) {
    let left = random();
    for (const id of order) {
      left -= after[id];
      if (left < 0) return id;
    }
    return order[0];
  }

  Object.assign(live, { GPT, Reading, distribution, draw });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
