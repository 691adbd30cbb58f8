// Text to ids and back, as clearformer.tokenizers does it: by characters, and by byte pairs. No DOM.
(function (live) {
  "use strict";

  const N_BYTES = 256;
  // Python's \s for text: JavaScript's \s lacks U+001C to U+001F and U+0085, and counts U+FEFF.
  const SPACE = "\\t-\\r\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
  const LETTER = "\\p{L}\\p{N}";
  const SIGN = "[^" + SPACE + LETTER + "]";
  const WORD = new RegExp("[" + SPACE + "]?(?:[" + LETTER + "]+|" + SIGN + "+)|[" + SPACE + "]+", "gu");
  const KEPT_WORDS = 20000;

  // Half a surrogate pair is no Unicode text: it becomes U+FFFD, as in a file that is decoded with replacement.
  function wellFormed(text) {
    const half = (character) => character.length === 1 && character >= "\ud800" && character <= "\udfff";
    return Array.from(text, (character) => half(character) ? "\ufffd" : character).join("");
  }

  class Characters {
    constructor(text) {
      this.characters = Array.from(new Set(Array.from(text))).sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
      this.ids = new Map(this.characters.map((character, id) => [character, id]));
      this.nVocab = this.characters.length;
    }

    // The ids of what the model knows, and the characters that it has never seen.
    encode(text) {
      const ids = [], unknown = new Set();
      for (const character of text) {
        if (this.ids.has(character)) ids.push(this.ids.get(character));
        else unknown.add(character);
      }
      return { ids, unknown: Array.from(unknown) };
    }

    decode(ids) {
      return ids.map((id) => this.characters[id]).join("");
    }

    piece(id) {
      return this.characters[id];
    }
  }

  class BytePairs {
    // Merge k of `merges` makes the id 256 + k. Throws for a pair that is not yet there when it is merged.
    constructor(merges) {
      this.nVocab = N_BYTES + merges.length;
      this.pieces = Array.from({ length: N_BYTES }, (_, byte) => [byte]);
      this.ranks = new Map();
      merges.forEach((pair, k) => {
        const fits = Array.isArray(pair) && pair.length === 2
          && pair.every((id) => Number.isInteger(id) && id >= 0 && id < this.pieces.length);
        if (!fits) {
          throw new live.Problem(`Merge ${k} of the tokenizer is ${JSON.stringify(pair)}, expected two ids below `
            + `${N_BYTES + k}. Save the model once more from the notebook.`);
        }
        this.ranks.set(this.key(pair[0], pair[1]), N_BYTES + k);
        this.pieces.push(this.pieces[pair[0]].concat(this.pieces[pair[1]]));
      });
      this.known = new Map();
      this.utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
    }

    key(first, second) {
      return first * this.nVocab + second;
    }

    encode(text) {
      const ids = [];
      for (const word of wellFormed(text).match(WORD) || []) for (const id of this.encodeWord(word)) ids.push(id);
      return { ids, unknown: [] };
    }

    encodeWord(word) {
      if (this.known.has(word)) return this.known.get(word);
      let ids = Array.from(new TextEncoder().encode(word));
      for (let made = this.firstMerge(ids); made < Infinity; made = this.firstMerge(ids)) ids = this.merge(ids, made);
      if (this.known.size < KEPT_WORDS) this.known.set(word, ids);
      return ids;
    }

    // The id that the earliest merge among these neighbours makes; Infinity if none is left.
    firstMerge(ids) {
      let first = Infinity;
      for (let i = 1; i < ids.length; i++) {
        const made = this.ranks.get(this.key(ids[i - 1], ids[i]));
        if (made < first) first = made;
      }
      return first;
    }

    merge(ids, made) {
      const merged = [];
      for (let i = 0; i < ids.length; i++) {
        const found = i + 1 < ids.length && this.ranks.get(this.key(ids[i], ids[i + 1])) === made;
        merged.push(found ? made : ids[i]);
        if (found) i++;
      }
      return merged;
    }

    decode(ids) {
      const bytes = [];
      for (const id of ids) for (const byte of this.pieces[id]) bytes.push(byte);
      return this.utf8.decode(new Uint8Array(bytes));
    }

    // The text of one token; bytes that are no whole character are spelled as \xE2.
    piece(id) {
      const text = this.decode([id]);
      if (!text.includes("\ufffd")) return text;
      const spelled = (byte) => byte < 0x80 ? String.fromCharCode(byte) : "\\x" + byte.toString(16).toUpperCase();
      return this.pieces[id].map(spelled).join("");
    }
  }

  // The tokenizer that config.json describes.
  function tokenizerOf(config) {
    const told = config.tokenizer || config;
    if (typeof told.characters === "string") return new Characters(told.characters);
    if (Array.isArray(told.merges)) return new BytePairs(told.merges);
    throw new live.Problem("config.json holds no tokenizer: expected its \"characters\" or its \"merges\", as chapter 9's "
      + "notebook saves them.");
  }

  Object.assign(live, { Characters, BytePairs, tokenizerOf, wellFormed });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
