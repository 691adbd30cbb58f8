// Formulas of the drills, as the library writes them: whole numbers, letters, + - * // and brackets; a shape is a list.
(function (place) {
  "use strict";

  const TOKEN = /\s*(\/\/|[A-Za-z_]\w*|\d+|[-+*(),])/y;

  function tokens(text) {
    const found = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.trimEnd().length) {
      const match = TOKEN.exec(text);
      if (!match) throw new Error(`formula: ${text} cannot be read`);
      found.push(match[1]);
    }
    return found;
  }

  // A number, or for a shape a list of numbers. `sizes` are the values of the letters.
  function evaluate(text, sizes) {
    const left = tokens(text);
    const take = (wanted) => {
      if (left[0] !== wanted) throw new Error(`formula: ${wanted} expected in ${text}`);
      left.shift();
    };
    const atom = () => {
      const token = left.shift();
      if (token === "(") {
        const inner = list();
        take(")");
        return inner;
      }
      if (/^\d/.test(token)) return Number(token);
      if (!(token in sizes)) throw new Error(`formula: ${token} has no value in ${text}`);
      return sizes[token];
    };
    const product = () => {
      let value = atom();
      while (left[0] === "*" || left[0] === "//") {
        value = left.shift() === "*" ? value * atom() : Math.floor(value / atom());
      }
      return value;
    };
    const sum = () => {
      let value = product();
      while (left[0] === "+" || left[0] === "-") value = left.shift() === "+" ? value + product() : value - product();
      return value;
    };
    const list = () => {
      const values = [sum()];
      let isList = false;
      while (left[0] === ",") {
        isList = true;
        left.shift();
        if (left[0] !== ")") values.push(sum());
      }
      return isList ? values : values[0];
    };
    const value = list();
    if (left.length) throw new Error(`formula: ${left[0]} is left over in ${text}`);
    return value;
  }

  // Sizes for a question, all different, as the library draws them: `random` gives a number from 0 to 1.
  function draw({ ranges, derived }, random) {
    for (;;) {
      const sizes = {};
      for (const [letter, [start, stop, step]] of Object.entries(ranges)) {
        sizes[letter] = start + step * Math.floor(random() * Math.ceil((stop - start) / step));
      }
      for (const [letter, formula] of Object.entries(derived)) sizes[letter] = evaluate(formula, sizes);
      const values = Object.values(sizes);
      if (new Set(values).size === values.length) return sizes;
    }
  }

  // What a reader has typed: a list of whole numbers for a shape, else one; null where it is neither.
  function read(text, isShape) {
    const isWhole = (part) => /^\d+$/.test(part);
    if (!isShape) {
      const number = text.replace(/[\s_,]/g, ""); // as 1,234 and 1 234
      return isWhole(number) ? Number(number) : null;
    }
    const parts = text.replace(/[()[\]]/g, " ").trim().split(/[\s,×x*]+/i).filter(Boolean);
    return parts.length && parts.every(isWhole) ? parts.map(Number) : null;
  }

  // In words what is wrong with an answer, and not the answer itself; the empty text for a right one.
  function judge(given, right, slips, sizes) {
    if (given === null) return Array.isArray(right) ? "a shape is wanted, such as 2 × 3" : "a whole number is wanted";
    if (!Array.isArray(right)) {
      const slip = Object.entries(slips || {}).find(([formula]) => evaluate(formula, sizes) === given);
      if (given === right) return "";
      return slip ? slip[1].replace(/\.$/, "") : `too ${given > right ? "large" : "small"}`;
    }
    if (given.length !== right.length) return `too ${given.length > right.length ? "many" : "few"} axes`;
    const wrong = right.map((size, axis) => (size === given[axis] ? "" : String(axis))).filter(Boolean);
    const sorted = (sizes) => [...sizes].sort((a, b) => a - b).join();
    if (wrong.length && sorted(given) === sorted(right)) return "the right sizes in the wrong order";
    return wrong.length ? `not right in axis ${wrong.join(" and ")}, counting from 0` : "";
  }

  Object.assign(place, { evaluate, draw, read, judge });
})(typeof window === "undefined" ? module.exports : (clearformer.drills = {}));
