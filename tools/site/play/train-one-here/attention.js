// Attention with one head, forward and backward by hand; the mask may come too late, or not at all.
((part) => (globalThis.smallParts ||= []).push(part))((small) => {
  // Softmax over the first `seen` of the scores of each target; returns the weights of all.
  const weigh = (scores, N, mask) => {
    for (let at = 0; at < scores.length; at += N) {
      const seen = mask === "before" ? ((at / N) % N) + 1 : N;
      let top = -Infinity, total = 0;
      for (let s = 0; s < seen; s++) top = Math.max(top, scores[at + s]);
      for (let s = 0; s < seen; s++) total += scores[at + s] = Math.exp(scores[at + s] - top);
      for (let s = 0; s < N; s++) scores[at + s] = s < seen ? scores[at + s] / total : 0;
    }
    return scores;
  };

  // With the mask after the softmax the weights of the future are struck out, and those that stay do not add up to 1.
  const visible = (mask, n, N) => (mask === "none" ? N : n + 1);

  // qkv holds query, key and value of each token, 3 D numbers; N tokens make a row. Returns [outputs, back, weights].
  const attend = (qkv, D, N, { mask, scaled }) => {
    const divisor = scaled ? Math.sqrt(D) : 1;
    const count = qkv.length / (3 * D);
    const scores = new Float64Array(count * N);
    for (let n = 0; n < count; n++) {
      const first = n - (n % N);
      for (let s = 0; s < N; s++) {
        let sum = 0;
        for (let d = 0, q = n * 3 * D, k = (first + s) * 3 * D + D; d < D; d++) sum += qkv[q + d] * qkv[k + d];
        scores[n * N + s] = sum / divisor;
      }
    }
    const weights = weigh(scores, N, mask);
    const y = new Float64Array(count * D);
    for (let n = 0; n < count; n++) {
      for (let s = 0, seen = visible(mask, n % N, N); s < seen; s++) {
        const a = weights[n * N + s];
        for (let d = 0, v = (n - (n % N) + s) * 3 * D + 2 * D; d < D; d++) y[n * D + d] += a * qkv[v + d];
      }
    }
    return [y, (dy) => attendBack(dy, qkv, weights, D, N, mask, divisor), shown(weights, N, mask)];
  };

  const attendBack = (dy, qkv, weights, D, N, mask, divisor) => {
    const dqkv = new Float64Array(qkv.length);
    const da = new Float64Array(N);
    for (let n = 0; n < weights.length / N; n++) {
      const first = n - (n % N), seen = visible(mask, n % N, N);
      da.fill(0);
      let mean = 0; // of the slopes by the weights, by the weights
      for (let s = 0; s < seen; s++) {
        const a = weights[n * N + s];
        for (let d = 0, v = (first + s) * 3 * D + 2 * D; d < D; d++) {
          da[s] += dy[n * D + d] * qkv[v + d];
          dqkv[v + d] += a * dy[n * D + d];
        }
        mean += a * da[s];
      }
      for (let s = 0; s < N; s++) {
        const dc = (weights[n * N + s] * (da[s] - mean)) / divisor;
        for (let d = 0, q = n * 3 * D, k = (first + s) * 3 * D + D; d < D; d++) {
          dqkv[q + d] += dc * qkv[k + d];
          dqkv[k + d] += dc * qkv[q + d];
        }
      }
    }
    return dqkv;
  };

  // The weights with which values are really added.
  const shown = (weights, N, mask) => weights.map((a, i) => (i % N < visible(mask, Math.floor(i / N) % N, N) ? a : 0));

  Object.assign(small, { attend });
});
