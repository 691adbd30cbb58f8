// The boxes of the machine in the order in which they are computed, and the shapes that open them.
(function (place) {
  "use strict";
  const { lookUp, add, linear, norm, scores, mask, softmax, average, gelu, surprisal } = place;
  const SIZES = { D: 4, N: 3, S: 3, H: 2, K: 2, F: 8, V: 8 };
  const WHICH = {
    D: "a row for each of the D = 4 numbers of a token",
    N: "a column for each of the N = 3 tokens",
    K: "a row for each of the K = D / H = 4 / 2 = 2 numbers that one head has of a token",
    S: "a row for each of the S = 3 tokens that can be looked at",
    F: "a row for each of the F = 8 hidden units",
    V: "a row for each of the V = 8 words that may come next",
  };

  // [name, title, letters of the shape, how often, what it holds, what it does]
  const ROWS = [
    ["embed", "Embeddings", "D N", 1, "what was learned of each word", lookUp((m, c) => m.weights.embed[m.ids[c]])],
    ["place", "Positions", "D N", 1, "what was learned of each place", lookUp((m, c) => m.weights.place[c])],
    ["x", "X: tokens", "D N", 1, "embedding + position", add("embed", "place")],
    ["norm1", "Norm", "D N", 1, "each token to mean 0, variance 1", norm("x", (m) => m.weights.norm1)],
    ["q", "Q: queries", "K N", 2, "what a token looks for, by head", linear("norm1", (m, h) => m.weights.q[h])],
    ["k", "K: keys", "K N", 2, "what it is found by, by head", linear("norm1", (m, h) => m.weights.k[h])],
    ["v", "V: values", "K N", 2, "what it hands on, by head", linear("norm1", (m, h) => m.weights.v[h])],
    ["scores", "Scores", "S N", 2, "each key with each query, by head", scores("q", "k", SIZES.K)],
    ["masked", "Masked", "S N", 2, "−∞ for what lies ahead", mask("scores")],
    ["weights", "A: weights", "S N", 2, "softmax of each column", softmax("masked")],
    ["heads", "Head outputs", "K N", 2, "values, averaged by the weights", average("weights", "v")],
    ["joined", "Y: output", "D N", 1, "the heads side by side, times W_O", linear("heads", (m) => m.weights.joined, undefined, SIZES.K)],
    ["x1", "X + Y", "D N", 1, "residual: what was there + Y", add("x", "joined")],
    ["norm2", "Norm", "D N", 1, "each token to mean 0, variance 1", norm("x1", (m) => m.weights.norm2)],
    ["hidden", "Hidden", "F N", 1, "W₁ times the token, + b₁", linear("norm2", (m) => m.weights.hidden, (m) => m.weights.bias1)],
    ["gelu", "GELU", "F N", 1, "each number bent on its own", gelu("hidden")],
    ["out", "Out", "D N", 1, "W₂ times the hidden units, + b₂", linear("gelu", (m) => m.weights.out, (m) => m.weights.bias2)],
    ["x2", "+ Out", "D N", 1, "residual: what was there + out", add("x1", "out")],
    ["norm3", "Norm", "D N", 1, "each token to mean 0, variance 1", norm("x2", (m) => m.weights.norm3)],
    ["logits", "Logits", "V N", 1, "a score for each word to come", linear("norm3", (m) => m.weights.logits)],
    ["shares", "Probabilities", "V N", 1, "softmax of each column", softmax("logits")],
    ["loss", "Loss L", "", 1, "−log of the next word’s probability", surprisal("shares", SIZES.N - 1)],
  ];
  const BOXES = ROWS.map(([name, title, letters, nHeads, holds, does]) => {
    const axes = letters ? letters.split(" ") : [], shape = axes.map((letter) => SIZES[letter]);
    return { name, title, axes, shape, nHeads, holds, ...does, rows: shape[0] || 1, columns: shape[1] || 1 };
  });
  const BY_NAME = Object.fromEntries(BOXES.map((box) => [box.name, box]));

  // The weights of the library's GPT, under the names of the boxes that use them.
  function unpack(state) {
    const inner = (name) => state[`decoder.blocks.0.${name}`], qkv = inner("attention.qkv.weight");
    const heads = (part) => [0, 1].map((h) => qkv.slice(4 * part + 2 * h, 4 * part + 2 * h + 2));
    const ofNorm = (name) => ({ scale: state[`${name}.weight`], shift: state[`${name}.bias`] });
    return {
      embed: state["tokens.weight"], place: state["positions.weight"],
      q: heads(0), k: heads(1), v: heads(2), joined: inner("attention.out.weight"),
      hidden: inner("feed_forward.up.weight"), bias1: inner("feed_forward.up.bias"),
      out: inner("feed_forward.down.weight"), bias2: inner("feed_forward.down.bias"),
      norm1: ofNorm("decoder.blocks.0.attention_norm"), norm2: ofNorm("decoder.blocks.0.feed_forward_norm"),
      norm3: ofNorm("decoder.norm"), logits: state["head.weight"],
    };
  }

  // "4 × 3", "4x3", "(4, 3)", "4 by 3", "D × N" as numbers; null where it is none of them.
  function readShape(text) {
    const parts = text.replace(/[()[\]]/g, " ").replace(/\bby\b/gi, " ").trim().split(/[\s,×x*·]+/i).filter(Boolean);
    const numbers = parts.map((part) => (/^\d{1,4}$/.test(part) ? Number(part) : SIZES[part]));
    return parts.length && numbers.every(Number.isInteger) ? numbers : null;
  }

  // What is wrong with a shape, without the shape itself; the empty text for a right one.
  function judge({ shape, axes }, text) {
    const given = readShape(text);
    if (!axes.length) {
      if (/^(\(\)|\[\]|scalar|a number|one number)$/i.test(text.trim()) || given?.every((size) => size === 1)) return "";
      return given ? "it is smaller than that" : "a whole number is wanted";
    }
    if (!given) return "two whole numbers are wanted, rows × columns, such as 5 × 7";
    if (given.length === 3 && given[0] === SIZES.H) return "the shape of one head is wanted";
    if (given.length !== 2) return `two numbers are wanted, rows × columns, not ${given.length}`;
    const [rows, columns] = shape.map((size, axis) => size === given[axis]);
    if (rows && columns) return "";
    if (given[0] === shape[1] && given[1] === shape[0]) return "turned round: here a token is a column";
    if (!rows && !columns) return "neither rows nor columns are right";
    return rows ? "the rows are right, the columns are not" : "the columns are right, the rows are not";
  }

  const hint = ({ axes, nHeads }) =>
    axes.length ? `It has ${WHICH[axes[0]]}, and ${WHICH[axes[1]]}${nHeads > 1 ? "; the same again for the other head" : ""}` : "All of it ends in one single number: 1";

  // The same for the box, which is narrow: the letters alone.
  const LETTERS = { K: "K = D / H", S: "N (sources)" };
  const letters = ({ axes }) => (axes.length ? `Rows: ${LETTERS[axes[0]] || axes[0]}; columns: ${axes[1]}.` : "1.");

  Object.assign(place, { BOXES, BY_NAME, SIZES, unpack, readShape, judge, hint, letters });
})(typeof window === "undefined" ? (globalThis.machine ||= {}) : (clearformer.machine ||= {}));
