// Every number written out: forward from what it is made of, and back from what it goes into.
(function (place) {
  "use strict";
  const { BY_NAME, at, key, moments, phi, range, show, exact, describe, LOSS } = place;
  const inBrackets = (x) => (x < 0 ? `(${exact(x)})` : exact(x));

  // "0.31·1.200 − 0.40·(−0.220)", of pairs [factor, number]
  function weighted(pairs, factor = exact) {
    const signed = pairs.map(([w, x], i) => {
      const isMinus = w < 0, sign = i ? (isMinus ? " − " : " + ") : isMinus ? "−" : "";
      return `${sign}${factor(Math.abs(w))}·${inBrackets(x)}`;
    });
    return signed.join("");
  }

  const plus = (x, digits = 2) => (x ? ` ${x < 0 ? "−" : "+"} ${show(Math.abs(x), digits)}` : "");

  const FORWARD = {
    "look-up": ({ box, value, words, c }) =>
      box.name === "embed" ? `learned in training for the word “${words[c]}”: ${show(value, 2)}` : `learned in training for place ${c + 1}: ${show(value, 2)}`,
    add: ({ edges, v }) => edges.map((edge, i) => (i ? inBrackets(at(v, edge.at)) : exact(at(v, edge.at)))).join(" + "),
    linear: ({ box, edges, v, m, r }) => weighted(edges.map((edge) => [edge.slope, at(v, edge.at)]), show) + plus(box.bias(m)[r]),
    norm({ box, edges, v, m, r }) {
      const xs = edges.map((edge) => at(v, edge.at)), { mean, deviation } = moments(xs);
      return `γ·(x − μ)/σ + β = ${show(box.scale(m, r))}·(${exact(xs[r])} − ${inBrackets(mean)})/${exact(deviation)}${plus(box.shift(m, r))}`;
    },
    scores: ({ edges, v }) =>
      `(${weighted(range(edges.length / 2).map((k) => [at(v, edges[2 * k].at), at(v, edges[2 * k + 1].at)]))})/√2`,
    mask: ({ edges, v, r, c }) => (edges.length ? `${exact(at(v, edges[0].at))}, let through` : `token ${r + 1} lies ahead of token ${c + 1}, so it is hidden`),
    softmax({ edges, v, h, r, c, box }) {
      if (!edges.length) return "e to the −∞ is 0";
      const powers = edges.map((edge) => `e^${inBrackets(at(v, edge.at))}`);
      return `e^${inBrackets(v[box.from[0]][h][r][c])} / (${powers.join(" + ")})`;
    },
    average: ({ v, h, r, c }) => weighted(v.v[h][r].map((value, s) => [v.weights[h][s][c], value])),
    gelu({ edges, v }) {
      const x = at(v, edges[0].at);
      return `x·Φ(x) = ${exact(x)}·${exact(phi(x))}`;
    },
    surprisal: ({ edges, v }) => `−ln ${exact(at(v, edges[0].at))}`,
  };

  // What a number is, from the numbers that it is made of.
  function forwardSum({ m, values, wires }, address, words) {
    const [name, h, r, c] = address, box = BY_NAME[name], value = at(values, address);
    const text = FORWARD[box.kind]({ box, value, words, m, v: values, h, r, c, edges: wires.madeOf.get(key(address)) });
    return ["look-up", "mask"].includes(box.kind) ? text : `${text} = ${exact(value)}`;
  }

  // Why a number goes into nothing.
  const ENDS = { scores: "the mask lets it through to nobody", masked: "e to the −∞ is 0, whatever is added", shares: "the loss asks for another word, or behind another token" };

  // dL/d of a number, from those of the numbers that it goes into: each times the slope between the two.
  function backwardSum({ wires, gradients }, address) {
    if (key(address) === key(LOSS)) return "dL/dL = 1: here the way back begins";
    const edges = wires.goesInto.get(key(address)), terms = edges.filter((edge) => edge.slope && at(gradients, edge.at));
    if (!edges.length) return `0: ${ENDS[address[0]]}`;
    if (!terms.length) return "0: the loss asks what follows the last token, and nothing of this reaches it";
    const goal = [...new Set(terms.map((edge) => BY_NAME[edge.at[0]].title.split(":")[0]))].join(" and ");
    const pairs = terms.map((edge) => [at(gradients, edge.at), edge.slope]);
    return `dL/d(${goal}) · slope: ${weighted(pairs)} = ${exact(at(gradients, address))}`;
  }

  // A measured slope, written out.
  const measuredSum = ({ up, down, slope, epsilon }) =>
    `(L(x + ε) − L(x − ε)) / 2ε = (${up.toFixed(7)} − ${down.toFixed(7)}) / ${Number((2 * epsilon).toPrecision(3))} = ${show(slope, 5)}`;

  Object.assign(place, { forwardSum, backwardSum, measuredSum, weighted, describe });
})(typeof window === "undefined" ? (globalThis.machine ||= {}) : (clearformer.machine ||= {}));
