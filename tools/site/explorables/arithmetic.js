// What the explorables compute: pure functions, without a page. A matrix is a list of its tokens' vectors.
(() => {
  const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
  const dot = (a, b) => sum(a.map((x, i) => x * b[i]));
  const range = (n) => Array.from({ length: n }, (_, i) => i);

  // The weights of one target; where its mask has no true at all, zeros.
  const softmax = (scores, mask = scores.map(() => true)) => {
    const top = Math.max(...scores.filter((_, s) => mask[s]));
    const exponentials = scores.map((c, s) => (mask[s] ? Math.exp(c - top) : 0));
    const total = sum(exponentials);
    return exponentials.map((e) => (total ? e / total : 0));
  };

  // Attention of one target: the scores divided by divisor, their weights, and the average of the values.
  const attend = (query, keys, values, { divisor = 1, mask } = {}) => {
    const scores = keys.map((key) => dot(key, query) / divisor);
    const weights = softmax(scores, mask);
    const output = range(values[0].length).map((i) => dot(weights, values.map((value) => value[i])));
    return { scores, weights, output };
  };

  // The neighbouring letters of a word, blanks at its ends included, counted and scaled to length 1.
  const letterPairs = (word, known) => {
    const text = ` ${word.toLowerCase()} `;
    const pairs = range(text.length - 1).map((i) => text.slice(i, i + 2));
    const counts = known.map((pair) => pairs.filter((p) => p === pair).length);
    const norm = Math.max(Math.sqrt(dot(counts, counts)), 1);
    return counts.map((n) => n / norm);
  };

  // Radians a position, one for each pair of features; first = 1 starts one pair late.
  const frequencies = (width, base, first = 0) => range(width / 2).map((i) => base ** ((-2 * (i + first)) / width));
  const hand = (length, angle) => [length * Math.cos(angle), length * Math.sin(angle)];

  // Online softmax: what is kept of some sources, and what is kept of two groups together.
  const partial = (scores, values) => {
    const m = Math.max(...scores);
    const e = scores.map((c) => Math.exp(c - m));
    return { m, l: sum(e), o: dot(e, values) };
  };
  const merge = (one, two) => {
    const m = Math.max(one.m, two.m);
    const [a, b] = [Math.exp(one.m - m), Math.exp(two.m - m)];
    return { m, l: a * one.l + b * two.l, o: a * one.o + b * two.o, shrink: a };
  };

  // Which token and feature (both from 0) entry [n, k] of head h holds.
  const headEntry = (way, h, n, k, { N, H, K }) => {
    if (way === "transpose") return [n, h * K + k];
    const piece = h * N + n;
    return [Math.floor(piece / H), (piece % H) * K + k];
  };

  // A GPT as GPT-2 and GPT-3 are built; G heads of keys and values.
  const parameters = ({ V, N, M, H, K, G }) => {
    const [D, kv] = [H * K, G * K];
    return {
      attention: M * (2 * D * D + 2 * D * kv),
      "feed-forward": M * 8 * D * D,
      embedding: V * D,
      positions: N * D,
      "biases and norms": M * (D + 2 * kv + D + 5 * D + 4 * D) + 2 * D,
    };
  };
  // Products of matrices for one token of training.
  const trainingFlops = ({ V, N, M, H, K, G }) => {
    const [D, kv] = [H * K, G * K];
    return 6 * (M * (10 * D * D + 2 * D * kv) + V * D) + 12 * M * D * N;
  };
  const cacheNumbers = ({ N, M, K, G }) => 2 * M * N * G * K;

  globalThis.clearformer = {
    arithmetic: {
      sum, dot, range, softmax, attend, letterPairs, frequencies, hand, partial, merge, headEntry, parameters,
      trainingFlops, cacheNumbers,
    },
  };
})();
