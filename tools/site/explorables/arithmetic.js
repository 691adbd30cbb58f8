// What several explorables compute: pure functions, without a page. A matrix is a list of its tokens' vectors.
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

  globalThis.clearformer = { arithmetic: { sum, dot, range, softmax, attend } };
})();
