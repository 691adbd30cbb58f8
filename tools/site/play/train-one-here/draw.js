// Everything drawn by lot: the same seed draws the same rows and the same first weights, here and in Python.
// A part gets what the parts before it have made. Its own text goes to the worker, so it may use nothing else.
((part) => (globalThis.smallParts ||= []).push(part))((small) => {
  // Rows of 13 letters out of 12: 4 to 7 different ones, and then the same again. The model reads 12 and predicts 12.
  const SIZES = { letters: 12, tokens: 12, width: 16, batch: 16, shortest: 4, longest: 7 };

  // mulberry32: numbers from 0 up to 1, each a multiple of 2⁻³².
  const uniform = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  // Box and Muller: two uniform numbers make a normal one.
  const normals = (seed, count, deviation) => {
    const draw = uniform(seed);
    return Float64Array.from({ length: count }, () => {
      const radius = Math.sqrt(-2 * Math.log(1 - draw()));
      return deviation * radius * Math.cos(2 * Math.PI * draw());
    });
  };

  // `length` different letters, then the same again until the row is full.
  const row = (draw, length) => {
    const letters = Array.from({ length: SIZES.letters }, (_, i) => i);
    for (let i = 0; i < length; i++) {
      const j = i + Math.floor(draw() * (SIZES.letters - i));
      [letters[i], letters[j]] = [letters[j], letters[i]];
    }
    return Array.from({ length: SIZES.tokens + 1 }, (_, n) => letters[n % length]);
  };

  // Every length equally often, so that what nobody can know is the same number in every batch.
  const lengthOf = (i) => SIZES.shortest + (i % (SIZES.longest - SIZES.shortest + 1));
  const rows = (draw) => Array.from({ length: SIZES.batch }, (_, i) => ({ ids: row(draw, lengthOf(i)), length: lengthOf(i) }));

  // What the best guesser who sees no future pays for a letter, in nats: for a new letter one of those that are left,
  // for the first repeated one that the row may begin again, for the rest nothing.
  const entropyLine = () => {
    let sum = 0;
    const lengths = SIZES.longest - SIZES.shortest + 1;
    for (let length = SIZES.shortest; length <= SIZES.longest; length++) {
      for (let t = 1; t <= length; t++) {
        const again = t < SIZES.shortest ? 0 : 1 / (SIZES.longest - t + 1);
        sum -= Math.log(t === length ? again : (1 - again) / (SIZES.letters - t));
      }
    }
    return sum / lengths / SIZES.tokens;
  };

  Object.assign(small, { SIZES, uniform, normals, row, rows, entropyLine });
});
