// Tokens as a reader sees and hears them, and the token that a typed text begins with. No DOM.
(function (duel) {
  "use strict";

  const SEEN = { " ": "␣", "\n": "↵" };
  const HEARD = { " ": " space ", "\n": " new line ", ",": " comma ", ".": " full stop ", ";": " semicolon ", ":": " colon ",
    "-": " hyphen ", "\"": " quotation mark ", "'": " apostrophe ", "!": " exclamation mark ", "?": " question mark " };

  const seen = (text) => Array.from(text, (letter) => SEEN[letter] || letter).join("");
  const heard = (text) => Array.from(text, (letter) => HEARD[letter] || letter).join("").replace(/ +/g, " ").trim();

  // For who sees and who hears it: a sign alone gets its name.
  const told = (text) => (/[a-z0-9]/i.test(text) ? `“${seen(text)}”` : `“${seen(text)}” (${heard(text)})`);

  // The name of a button on which it stands: as it is seen, for whoever speaks to the page, and as it is heard.
  const named = (text) => (seen(text) === heard(text) ? seen(text) : `${seen(text)}, ${heard(text)}`);

  // By letters, whatever stands before them, so that the order does not tell whose favourite a token is.
  const inOrder = (ids, piece) => ids.slice().sort((a, b) => {
    const [x, y] = [a, b].map((id) => piece(id).trim().toLowerCase());
    return x < y ? -1 : x > y ? 1 : a - b;
  });

  // The first token of what is typed, as the tokenizer cuts it: with a space before it if it begins a word. null for nothing.
  function firstToken(tokenizer, typed, newWord) {
    const text = typed.trim();
    return text ? tokenizer.encode((newWord ? " " : "") + text).ids[0] : null;
  }

  const infinite = (x, show) => (Number.isFinite(x) ? show(x) : "∞");

  Object.assign(duel, { seen, heard, told, named, inOrder, firstToken, infinite });
})(typeof window === "undefined" ? module.exports : (window.ClearformerDuel = window.ClearformerDuel || {}));
