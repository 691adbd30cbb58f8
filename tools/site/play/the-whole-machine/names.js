// Numbers and addresses as a reader sees them.
(function (place) {
  "use strict";
  const { BY_NAME } = place;

  // With the true minus sign; a zero that was only rounded stays "0.00", one that is none of it is "0".
  function show(x, digits = 2) {
    if (x === -Infinity) return "−∞";
    if (x === 0) return "0";
    const text = x.toFixed(digits);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
  }

  // In a sum: three decimals, and of what is small three digits.
  const exact = (x) => (x === 0 || Math.abs(x) >= 0.0995 ? show(x, 3) : x.toPrecision(3).replace(/-/g, "−"));

  // In a cell, which has room for five letters.
  function brief(x) {
    const size = Math.abs(x);
    if (!Number.isFinite(x) || size < 9.995) return show(x);
    return size < 99.95 ? show(x, 1) : size < 9999.5 ? show(x, 0) : x.toExponential(0).replace("e+", "e").replace("-", "−");
  }

  const token = (words, n) => `token ${n + 1} “${words[n]}”`;

  // The name of a row: a token that is looked at, a word that may come next, or its number.
  function rowName({ axes }, r, words, vocabulary) {
    if (axes[0] === "S") return words[r];
    if (axes[0] === "V") return vocabulary[r];
    return String(r + 1);
  }

  // As "Q: queries, head 2, number 1 of token 3 “her”"
  function describe([name, h, r, c], words, vocabulary) {
    const box = BY_NAME[name], head = box.nHeads > 1 ? `, head ${h + 1}` : "";
    const where = {
      S: () => `${token(words, r)} as seen by ${token(words, c)}`,
      V: () => `“${vocabulary[r]}” behind ${token(words, c)}`,
      F: () => `hidden unit ${r + 1} of ${token(words, c)}`,
    }[box.axes[0]] || (() => `number ${r + 1} of ${token(words, c)}`);
    return box.axes.length ? `${full(box)}${head}, ${where()}` : box.title;
  }

  // Three boxes have the same title: which of them it is.
  const PLACES = { norm1: "before attention", norm2: "before the hidden units", norm3: "before the logits" };
  const full = ({ name, title }) => (PLACES[name] ? `${title} ${PLACES[name]}` : title);

  // As "tokens 1 and 3"
  function tokenList(numbers) {
    if (!numbers.length) return "no token";
    const names = numbers.map((n) => n + 1);
    return names.length === 1 ? `token ${names[0]}` : `tokens ${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  }

  Object.assign(place, { show, exact, brief, token, rowName, describe, full, tokenList });
})(typeof window === "undefined" ? (globalThis.machine ||= {}) : (clearformer.machine ||= {}));
