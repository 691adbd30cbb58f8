// Layers of a transformer, forward and backward by hand. Each gets rows of features one after the other in one
// Float64Array, and returns [its output, a function that turns the slope of the loss by the output into that by the
// input]. That function adds the slopes by the weights to `slopes`.
((part) => (globalThis.smallParts ||= []).push(part))((small) => {
  const EPS = 1e-5;

  // y = W x + b for each row; W has a row for each output.
  const linear = (x, inputs, weight, bias) => {
    const outputs = weight.values.length / inputs;
    const count = x.length / inputs;
    const y = new Float64Array(count * outputs);
    const W = weight.values;
    for (let n = 0; n < count; n++) {
      for (let o = 0; o < outputs; o++) {
        let sum = bias ? bias.values[o] : 0;
        for (let i = 0, w = o * inputs, at = n * inputs; i < inputs; i++) sum += W[w + i] * x[at + i];
        y[n * outputs + o] = sum;
      }
    }
    return [y, (dy) => linearBack(dy, x, inputs, outputs, weight, bias)];
  };

  const linearBack = (dy, x, inputs, outputs, weight, bias) => {
    const dx = new Float64Array(x.length);
    const W = weight.values, dW = weight.slopes;
    for (let n = 0; n < x.length / inputs; n++) {
      for (let o = 0; o < outputs; o++) {
        const d = dy[n * outputs + o];
        if (d === 0) continue;
        if (bias) bias.slopes[o] += d;
        for (let i = 0, w = o * inputs, at = n * inputs; i < inputs; i++) {
          dx[at + i] += d * W[w + i];
          dW[w + i] += d * x[at + i];
        }
      }
    }
    return dx;
  };

  const relu = (x) => {
    const y = x.map((value) => (value > 0 ? value : 0));
    return [y, (dy) => dy.map((d, i) => (x[i] > 0 ? d : 0))];
  };

  // Mean 0 and variance 1 over the features of each row, then a scale and a shift.
  const layerNorm = (x, scale, shift) => {
    const D = scale.values.length;
    const normed = new Float64Array(x.length), y = new Float64Array(x.length), spread = new Float64Array(x.length / D);
    for (let n = 0; n < spread.length; n++) {
      let mean = 0, variance = 0;
      for (let d = 0; d < D; d++) mean += x[n * D + d] / D;
      for (let d = 0; d < D; d++) variance += (x[n * D + d] - mean) ** 2 / D;
      spread[n] = Math.sqrt(variance + EPS);
      for (let d = 0; d < D; d++) {
        normed[n * D + d] = (x[n * D + d] - mean) / spread[n];
        y[n * D + d] = normed[n * D + d] * scale.values[d] + shift.values[d];
      }
    }
    return [y, (dy) => layerNormBack(dy, normed, spread, scale, shift)];
  };

  const layerNormBack = (dy, normed, spread, scale, shift) => {
    const D = scale.values.length;
    const dx = new Float64Array(dy.length);
    for (let n = 0; n < spread.length; n++) {
      let mean = 0, along = 0; // of the slope, and of its product with the normed row
      for (let d = 0, i = n * D; d < D; d++, i++) {
        scale.slopes[d] += dy[i] * normed[i];
        shift.slopes[d] += dy[i];
        mean += (dy[i] * scale.values[d]) / D;
        along += (dy[i] * scale.values[d] * normed[i]) / D;
      }
      for (let d = 0, i = n * D; d < D; d++, i++) {
        dx[i] = (dy[i] * scale.values[d] - mean - normed[i] * along) / spread[n];
      }
    }
    return dx;
  };

  // The mean surprise over all predicted letters; its slope by the logits is p − 1 at the right one, p elsewhere.
  const surprise = (logits, targets, letters) => {
    const slopes = new Float64Array(logits.length);
    let loss = 0;
    targets.forEach((target, n) => {
      const own = logits.subarray(n * letters, (n + 1) * letters);
      const top = own.reduce((a, b) => Math.max(a, b));
      let total = 0;
      for (let v = 0; v < letters; v++) total += slopes[n * letters + v] = Math.exp(own[v] - top);
      for (let v = 0; v < letters; v++) slopes[n * letters + v] /= total * targets.length;
      slopes[n * letters + target] -= 1 / targets.length;
      loss += (Math.log(total) + top - own[target]) / targets.length;
    });
    return [loss, slopes];
  };

  Object.assign(small, { linear, relu, layerNorm, surprise });
});
