// The machine at work: forward, back by the chain rule, measured, and traced from a number to what it depends on.
(function (place) {
  "use strict";
  const { BOXES, BY_NAME, at, range } = place;
  const LOSS = ["loss", 0, 0, 0];
  const EPSILON = 1e-4;
  const key = (address) => address.join("/");

  function eachOf(box, visit) {
    for (const h of range(box.nHeads)) for (const r of range(box.rows)) for (const c of range(box.columns)) visit([box.name, h, r, c]);
  }

  const filled = (box, number) => range(box.nHeads).map((h) => range(box.rows).map((r) => range(box.columns).map((c) => number(h, r, c))));

  // All values. A nudge { at, by } adds to one number as soon as it is there, and the rest follows.
  function forward(m, nudge) {
    const v = {};
    for (const box of BOXES) {
      v[box.name] = filled(box, (h, r, c) => box.value(m, v, h, r, c));
      if (nudge?.at[0] === box.name) v[box.name][nudge.at[1]][nudge.at[2]][nudge.at[3]] += nudge.by;
    }
    return v;
  }

  // For each number what it is made of, and what is made of it.
  function wiring(m, v) {
    const madeOf = new Map(), goesInto = new Map();
    for (const box of BOXES) eachOf(box, (address) => goesInto.set(key(address), []));
    for (const box of BOXES) {
      eachOf(box, (address) => {
        const edges = box.edges(m, v, ...address.slice(1));
        madeOf.set(key(address), edges);
        for (const edge of edges) goesInto.get(key(edge.at)).push({ at: address, slope: edge.slope, masked: edge.masked });
      });
    }
    return { madeOf, goesInto };
  }

  // dL/d of every number: the loss has 1; each other gets, of all that is made of it, slope times what that has.
  function backward(goesInto) {
    const g = {};
    for (const box of [...BOXES].reverse()) {
      g[box.name] = filled(box, (h, r, c) => {
        const address = [box.name, h, r, c];
        if (key(address) === key(LOSS)) return 1;
        return goesInto.get(key(address)).reduce((total, edge) => total + edge.slope * at(g, edge.at), 0);
      });
    }
    return g;
  }

  // (L(x + ε) − L(x − ε)) / 2ε; of a probability ε is a part, for the logarithm bends fast near 0.
  function measure(m, address) {
    const epsilon = EPSILON * (address[0] === "shares" ? at(forward(m), address) : 1);
    const [up, down] = [1, -1].map((sign) => at(forward(m, { at: address, by: sign * epsilon }), LOSS));
    return { up, down, epsilon, slope: (up - down) / (2 * epsilon) };
  }

  // All numbers that can be reached along the edges; what comes through a weight that is masked does not count.
  function reached(from, edges, throughMask = false) {
    const found = new Set(), left = [from];
    while (left.length) {
      for (const edge of edges.get(key(left.pop()))) {
        if ((edge.masked && !throughMask) || found.has(key(edge.at))) continue;
        found.add(key(edge.at));
        left.push(edge.at);
      }
    }
    return found;
  }

  // What lights up for a number: directly, further on, and which of the three tokens it depends on.
  function trace({ madeOf, goesInto }, address) {
    const far = reached(address, madeOf);
    const direct = madeOf.get(key(address)).filter((edge) => !edge.masked).map((edge) => edge.at);
    return { direct, far, tokens: tokensOf(address, far) };
  }

  function tokensOf(address, far) {
    const of = (n) => [...far, key(address)].some((one) => /^embed\//.test(one) && one.endsWith(`/${n}`));
    return range(3).map(of);
  }

  // The way back: which numbers it goes into, and all between it and the loss.
  function traceBack({ madeOf, goesInto }, address) {
    const toLoss = reached(LOSS, madeOf, true).add(key(LOSS));
    const far = new Set([...reached(address, goesInto, true)].filter((one) => toLoss.has(one)));
    const direct = goesInto.get(key(address)).map((edge) => edge.at).filter((one) => far.has(key(one)));
    return { direct, far, counts: toLoss.has(key(address)) };
  }

  // Everything about three words and the one that comes next.
  function run(m) {
    const values = forward(m), wires = wiring(m, values);
    return { m, values, wires, gradients: backward(wires.goesInto) };
  }

  Object.assign(place, { LOSS, EPSILON, key, eachOf, forward, wiring, backward, measure, trace, traceBack, run });
})(typeof window === "undefined" ? (globalThis.machine ||= {}) : (clearformer.machine ||= {}));
