// What an operation does to a model, and what it costs. No DOM; whatever takes long is a generator that rests at each token.
(function (live) {
  "use strict";

  // How much a token looks at each token up to itself, instead of what the head would have given.
  const KINDS = {
    off: (row) => row.fill(0),
    even: (row) => row.fill(1 / row.length),
    first: (row) => row.fill(0).fill(1, 0, 1),
    previous: (row) => row.fill(0).fill(1, Math.max(0, row.length - 2), Math.max(1, row.length - 1)),
  };

  // `heads` has the kind of each head that is changed, "m,h" -> kind; `rows` what is painted: "m,h" -> n -> a number of
  // parts for each token. Rows that are not painted stay the model's own.
  function changing(heads, rows = {}) {
    return {
      weights(m, h, n, row) {
        const kind = heads[`${m},${h}`], parts = rows[`${m},${h}`]?.[n];
        if (KINDS[kind]) KINDS[kind](row);
        else if (kind === "painted" && parts) row.set(shares(parts, n + 1));
      },
    };
  }

  function shares(parts, length) {
    const own = Array.from({ length }, (_, s) => parts[s] || 0), all = own.reduce((sum, part) => sum + part, 0);
    return own.map((part) => part / (all || 1));
  }

  // Token n, before layer m, has another column.
  function transplanting(m, n, column) {
    return { column: (layer, at, x) => layer === m && at === n && x.set(column) };
  }

  function* readAll(model, ids, hooks = {}) {
    const reading = new live.Reading(model, hooks);
    for (const id of ids) {
      reading.read(id);
      yield;
    }
    return reading;
  }

  // log₂ p of each token after token n.
  function logs(reading, n) {
    const scores = reading.logits(n), top = scores.reduce((a, b) => Math.max(a, b));
    let sum = 0;
    for (const score of scores) sum += Math.exp(score - top);
    return Array.from(scores, (score) => (score - top - Math.log(sum)) / Math.LN2);
  }

  const probability = (reading, n, id) => 2 ** logs(reading, n)[id];

  // The bits of every token but the first.
  function* bitsOf(reading) {
    const bits = [];
    for (let n = 1; n < reading.length; n++) {
      bits.push(-logs(reading, n - 1)[reading.ids[n]]);
      yield;
    }
    return bits;
  }

  const total = (bits) => bits.reduce((sum, x) => sum + x, 0);

  // What the loss of each head costs on a text, the dearest first.
  function* costs(model, ids) {
    const { n_layers: M, n_heads: H } = model.config, before = total(yield* bitsOf(yield* readAll(model, ids))), found = [];
    for (let at = 0; at < M * H; at++) {
      const head = `${Math.floor(at / H)},${at % H}`;
      const after = yield* bitsOf(yield* readAll(model, ids, changing({ [head]: "off" })));
      found.push({ head, cost: total(after) - before });
      yield (at + 1) / (M * H);
    }
    return found.sort((a, b) => b.cost - a.cost);
  }

  // The last reading and two probabilities of what comes after its last token, when one column comes from a donor.
  function* transplant(model, ids, donor, [m, n], wanted) {
    const D = model.config.d_model, column = donor.streams[n].subarray(m * D, (m + 1) * D);
    const reading = yield* readAll(model, ids, transplanting(m, n, column));
    return wanted.map((id) => probability(reading, ids.length - 1, id));
  }

  function finish(work) {
    let step = work.next();
    while (!step.done) step = work.next();
    return step.value;
  }

  Object.assign(live, { changing, shares, transplanting, readAll, probability, bitsOf, total, costs, transplant, finish, KINDS });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
