// The counts of clearformer.ngrams for the contexts of the pages: how probable each token is after two others. No DOM.
(function (duel) {
  "use strict";

  class Trigram {
    // counts.all[id]; counts.one["a"] and counts.two["a,b"] = [tokens that followed, how often].
    constructor({ all, one, two }) {
      Object.assign(this, { one, two, nVocab: all.length });
      const ids = all.map((_, id) => id).filter((id) => all[id] > 0);
      const flat = new Float64Array(all.length).fill(1 / all.length);
      this.unigram = this.interpolate([ids, ids.map((id) => all[id])], flat);
    }

    // Witten and Bell: the counts, and as many tokens more as different ones followed, spread as the shorter context says.
    interpolate([ids, times], shorter) {
      const total = times.reduce((sum, n) => sum + n, 0), kinds = ids.length;
      if (!total) return shorter;
      const p = shorter.map((q) => kinds * q / (total + kinds));
      ids.forEach((id, i) => { p[id] += times[i] / (total + kinds); });
      return p;
    }

    // The probability of every token after the last two of a text.
    distribution(ids) {
      const [a, b] = ids.slice(-2);
      return this.interpolate(this.two[`${a},${b}`], this.interpolate(this.one[b], this.unigram));
    }
  }

  Object.assign(duel, { Trigram });
})(typeof window === "undefined" ? module.exports : (window.ClearformerDuel = window.ClearformerDuel || {}));
