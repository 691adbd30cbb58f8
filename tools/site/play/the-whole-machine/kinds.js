// What a box of the machine does: of each of its numbers the value, and which numbers it is made of. An address is
// [box, head, row, column], counting from 0; m holds the weights, the ids and the word that comes next; v the values
// so far. An edge leads to a number that is read, with the slope: how fast the result moves with it.
(function (place) {
  "use strict";
  const EPS = 1e-5; // of the norm, as in the library
  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
  const at = (v, [box, h, r, c]) => v[box][h][r][c];
  const dot = (v, edges) => sum(edges.map((edge) => edge.slope * at(v, edge.at)));

  // erf by its series with positive terms alone, which loses nothing; from 6 on it is 1 to all digits.
  function erf(x) {
    if (Math.abs(x) > 6) return Math.sign(x);
    let term = x, total = x;
    for (let n = 1; n < 200; n++) total += term *= (2 * x * x) / (2 * n + 1);
    return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
  }
  const phi = (x) => (1 + erf(x / Math.SQRT2)) / 2; // the share of a normal distribution below x
  const density = (x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

  const lookUp = (rowOf) => ({
    kind: "look-up", from: [],
    edges: () => [],
    value: (m, v, h, r, c) => rowOf(m, c)[r],
  });

  const add = (...from) => ({
    kind: "add", from,
    edges: (m, v, h, r, c) => from.map((box) => ({ at: [box, 0, r, c], slope: 1 })),
    value: (m, v, h, r, c) => sum(from.map((box) => v[box][0][r][c])),
  });

  // A product with a matrix. Of heads side by side the rows are counted through.
  function linear(from, matrix, bias = () => [], width = Infinity) {
    const edges = (m, v, h, r, c) =>
      matrix(m, h)[r].map((slope, i) => ({ at: [from, Math.floor(i / width), i % width, c], slope }));
    return { kind: "linear", from: [from], edges, bias, value: (m, v, h, r, c) => dot(v, edges(m, v, h, r, c)) + (bias(m)[r] || 0) };
  }

  function moments(column) {
    const mean = sum(column) / column.length;
    return { mean, deviation: Math.sqrt(sum(column.map((x) => (x - mean) ** 2)) / column.length + EPS) };
  }

  function norm(from, weights) {
    const column = (v, c) => v[from][0].map((row) => row[c]);
    const normed = (x, { mean, deviation }) => (x - mean) / deviation;
    return {
      kind: "norm", from: [from],
      edges(m, v, h, r, c) {
        const xs = column(v, c), of = moments(xs), D = xs.length;
        return xs.map((x, i) => ({
          at: [from, 0, i, c],
          slope: (weights(m).scale[r] / of.deviation) * ((i === r ? 1 : 0) - 1 / D - (normed(xs[r], of) * normed(x, of)) / D),
        }));
      },
      value(m, v, h, r, c) {
        const xs = column(v, c);
        return weights(m).scale[r] * normed(xs[r], moments(xs)) + weights(m).shift[r];
      },
      scale: (m, r) => weights(m).scale[r], shift: (m, r) => weights(m).shift[r],
    };
  }

  // Row s, column n: the key of the source s with the query of the target n.
  const scores = (queries, keys, K) => ({
    kind: "scores", from: [queries, keys],
    edges: (m, v, h, s, n) => range(K).flatMap((k) => [
      { at: [queries, h, k, n], slope: v[keys][h][k][s] / Math.sqrt(K) },
      { at: [keys, h, k, s], slope: v[queries][h][k][n] / Math.sqrt(K) },
    ]),
    value: (m, v, h, s, n) => sum(range(K).map((k) => v[queries][h][k][n] * v[keys][h][k][s])) / Math.sqrt(K),
  });

  const mask = (from) => ({
    kind: "mask", from: [from],
    edges: (m, v, h, s, n) => (s <= n ? [{ at: [from, h, s, n], slope: 1 }] : []),
    value: (m, v, h, s, n) => (s <= n ? v[from][h][s][n] : -Infinity),
  });

  // Over each column; what is −∞ gets 0, and depends on nothing.
  function softmax(from) {
    function shares(v, h, c) {
      const column = v[from][h].map((row) => row[c]), top = Math.max(...column);
      const powers = column.map((x) => Math.exp(x - top));
      return powers.map((power) => power / sum(powers));
    }
    return {
      kind: "softmax", from: [from],
      edges(m, v, h, r, c) {
        const a = shares(v, h, c), isIn = (i) => v[from][h][i][c] > -Infinity;
        if (!isIn(r)) return [];
        return range(a.length).filter(isIn).map((i) => ({ at: [from, h, i, c], slope: a[r] * ((i === r ? 1 : 0) - a[i]) }));
      },
      value: (m, v, h, r, c) => shares(v, h, c)[r],
    };
  }

  // The values, each with its weight. A weight that the mask has made 0 is multiplied, too, but nothing comes through.
  const average = (weights, values) => ({
    kind: "average", from: [weights, values],
    edges: (m, v, h, k, n) => v[values][h][k].flatMap((value, s) => [
      { at: [weights, h, s, n], slope: value, masked: s > n },
      ...(s <= n ? [{ at: [values, h, k, s], slope: v[weights][h][s][n] }] : []),
    ]),
    value: (m, v, h, k, n) => sum(v[values][h][k].map((value, s) => v[weights][h][s][n] * value)),
  });

  const gelu = (from) => ({
    kind: "gelu", from: [from],
    edges(m, v, h, r, c) {
      const x = v[from][h][r][c];
      return [{ at: [from, h, r, c], slope: phi(x) + x * density(x) }];
    },
    value: (m, v, h, r, c) => v[from][h][r][c] * phi(v[from][h][r][c]),
  });

  // Of the word that comes next, behind the last token.
  const surprisal = (from, last) => ({
    kind: "surprisal", from: [from],
    edges: (m, v) => [{ at: [from, 0, m.next, last], slope: -1 / v[from][0][m.next][last] }],
    value: (m, v) => -Math.log(v[from][0][m.next][last]),
  });

  Object.assign(place, { lookUp, add, linear, norm, scores, mask, softmax, average, gelu, surprisal, moments, phi, at, range, sum });
})(typeof window === "undefined" ? (globalThis.machine ||= {}) : (clearformer.machine ||= {}));
