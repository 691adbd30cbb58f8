// Byte pairs over a text of the reader's own: which pair will be merged next, and what becomes of the tokens?
(() => {
  const { Explorable, html, fixed, whole, tint, arithmetic } = globalThis.clearformer;
  const { range, sum } = arithmetic;
  const [BYTES, MOST_MERGES, LONGEST] = [256, 60, 10000];
  const [CHOICES, SHOWN, IN_A_ROW, FEW_MERGES, LONG] = [4, 240, 5, 8, 40];
  const BASE = 1024; // more than there are ids, so that a pair of them is one number
  // The library's pattern: letters and digits, or signs, with the one space before them.
  const SPACE = String.raw`\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
  const WORD = new RegExp(String.raw`[${SPACE}]?[\p{L}\p{N}]+|[${SPACE}]?[^\p{L}\p{N}${SPACE}]+|[${SPACE}]+`, "gu");
  const RIGHT_TO_LEFT = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

  // The words of a text, how often each occurs, and its bytes; the first state, before any merge.
  const begin = (text) => {
    const words = text.match(WORD) || [];
    const times = new Map();
    words.forEach((word) => times.set(word, (times.get(word) || 0) + 1));
    const spelled = new Map([...times.keys()].map((word) => [word, [...new TextEncoder().encode(word)]]));
    return { words, times, spelled, pieces: range(BYTES).map((byte) => [byte]) };
  };

  // All pairs of neighbours, the most frequent first; of equally frequent ones the smaller ids.
  const ranked = ({ times, spelled }) => {
    const counts = new Map();
    for (const [word, ids] of spelled) {
      for (let i = 1; i < ids.length; i++) {
        const pair = ids[i - 1] * BASE + ids[i];
        counts.set(pair, (counts.get(pair) || 0) + times.get(word));
      }
    }
    return [...counts].sort(([p, m], [q, n]) => n - m || p - q)
      .map(([pair, count]) => ({ first: Math.floor(pair / BASE), second: pair % BASE, count }));
  };

  const replace = (ids, { first, second }, id) => {
    const merged = [];
    for (let i = 0; i < ids.length; i++) {
      const found = ids[i] === first && ids[i + 1] === second;
      merged.push(found ? id : ids[i]);
      if (found) i++;
    }
    return merged;
  };

  const merged = (state, pair) => ({
    ...state,
    spelled: new Map([...state.spelled].map(([word, ids]) => [word, replace(ids, pair, state.pieces.length)])),
    pieces: [...state.pieces, [...state.pieces[pair.first], ...state.pieces[pair.second]]],
  });

  // A piece as a reader sees it: its characters, or its bytes in hexadecimal where they are no whole character.
  const spell = (bytes) => {
    try {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
      if (!/[^\P{C}\n]/u.test(text)) return text.replace(/ /g, "␣").replace(/\n/g, "⏎");
    } catch {} // no whole character
    return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  };

  class BytePairs extends Explorable {
    static needs = { names: "texts", texts: "texts" };
    static together = ["names", "texts"];

    build(live) {
      const { names, texts } = this.data;
      this.row = 0;
      this.text = html("textarea", { rows: 3, maxlength: LONGEST, dir: "auto", "aria-label": "your text", "data-control": "text" });
      this.text.value = texts[0];
      this.text.addEventListener("input", () => (this.samples.set(null), this.restart(), this.update()));
      this.samples = this.choice("sample", "Text", names.map((name, i) => [i, name]), 0);
      this.samples.chosen = (i) => ((this.text.value = texts[i]), this.restart());
      this.merges = this.slider("merges", "merges", { min: 0, max: MOST_MERGES, value: 0, moved: () => (this.verdict = "") });
      this.guesses = range(CHOICES).map((i) => this.button(`guess-${i}`, "", () => this.guess(i)));
      this.strip = html("p", { class: "pieces" });
      live.append(
        html("div", { class: "controls" }, this.samples.box), this.text,
        html("div", { class: "choice", role: "group", "aria-label": "Which pair is merged next?" },
          html("span", {}, "Which pair is merged next?"), ...this.guesses),
        this.status, this.strip,
        html("p", {}, this.number("bytes"), " bytes, ", html("strong", {}, this.number("tokens"), " tokens"), " of ",
          this.number("ids"), " ids: ", this.number("rate"), " bytes a token"),
        html("p", {}, "merged so far: ", this.number("merged")),
        html("div", { class: "controls" }, this.merges.box),
        html("p", {}, `Two goals: predict ${IN_A_ROW} merges in a row; then write a text of ${LONG} bytes or more that ${FEW_MERGES} merges make a single token.`));
      this.restart();
    }

    restart() {
      this.states = [begin(this.text.value.slice(0, LONGEST))];
      this.pairs = [ranked(this.states[0])];
      [this.row, this.verdict] = [0, ""];
      this.merges.input.max = MOST_MERGES;
      this.merges.set(0);
    }

    // The states up to n merges, or to the last for which a pair is left.
    advance(n) {
      while (this.states.length <= n && this.pairs.at(-1).length) {
        this.states.push(merged(this.states.at(-1), this.pairs.at(-1)[0]));
        this.pairs.push(ranked(this.states.at(-1)));
      }
      return Math.min(n, this.states.length - 1);
    }

    // Some pairs to choose from, in the order of their ids, which tells nothing about their counts.
    choices(n) {
      return this.pairs[n].slice(0, CHOICES).sort((p, q) => p.first - q.first || p.second - q.second);
    }

    guess(i) {
      const n = this.merges.value;
      const [guessed, best] = [this.choices(n)[i], this.pairs[n][0]];
      const name = (pair) => this.pairName(n, pair);
      const right = guessed.count === best.count;
      this.row = right ? this.row + 1 : 0;
      const times = `${whole(best.count)} ${best.count === 1 ? "time" : "times"}`;
      this.verdict = right
        ? `Right: ${name(guessed)} stood together ${times}${guessed === best ? "" : `, as often as ${name(best)}, which has the smaller ids`}. In a row: ${this.row}.`
        : `No: ${name(best)} stood together ${times}, ${name(guessed)} ${whole(guessed.count)}.`;
      if (this.row === IN_A_ROW) this.verdict += " The first goal is reached.";
      this.merges.set(n + 1);
    }

    pairName(n, { first, second }) {
      const { pieces } = this.states[n];
      return `${spell(pieces[first])}+${spell(pieces[second])}`;
    }

    update() {
      const n = this.advance(this.merges.value);
      this.advance(n + 1);
      if (this.states.length === n + 1) this.merges.input.max = n;
      this.merges.set(n);
      const { words, times, spelled } = this.states[n];
      const size = (lists) => sum([...times].map(([word, often]) => often * lists.get(word).length));
      const [bytes, tokens] = [size(this.states[0].spelled), size(spelled)];
      this.put({
        bytes: whole(bytes), tokens: whole(tokens), ids: whole(BYTES + n), rate: tokens ? fixed(bytes / tokens, 2) : "–",
        merged: range(n).map((k) => `${this.pairName(k, this.pairs[k][0])} (${this.pairs[k][0].count})`).join(", ") || "nothing",
      });
      this.guesses.forEach((button, i) => {
        const pair = n < MOST_MERGES ? this.choices(n)[i] : undefined;
        button.hidden = !pair;
        button.textContent = pair ? this.pairName(n, pair) : "";
      });
      this.draw(words, spelled, this.states[n].pieces);
      this.say(this.sentence(n, bytes, tokens));
    }

    draw(words, spelled, pieces) {
      const labels = new Map();
      const label = (id) => labels.get(id) ?? labels.set(id, spell(pieces[id])).get(id);
      const shown = [];
      for (let i = 0; i < words.length && shown.length <= SHOWN; i++) shown.push(...spelled.get(words[i]));
      const chips = shown.slice(0, SHOWN).map((id, i) =>
        html("bdi", { class: "piece", style: tint(0.5, i % 2 ? "accent" : "warm") }, label(id)));
      this.strip.dir = RIGHT_TO_LEFT.test(this.text.value) ? "rtl" : "ltr";
      this.strip.replaceChildren(...chips, ...(shown.length > SHOWN ? [" … and so on"] : []));
    }

    sentence(n, bytes, tokens) {
      if (!bytes) return "Write something: where there is no text, there is no pair to merge.";
      if (tokens === 1 && bytes >= LONG && n <= FEW_MERGES) return `${this.verdict} The second goal is reached: ${n} merges, one token.`.trim();
      if (!this.pairs[n].length) return `${this.verdict} No pair is left: each word is one token.`.trim();
      if (n >= MOST_MERGES) return `${this.verdict} ${MOST_MERGES} merges are enough here.`.trim();
      return this.verdict || "Guess before you count: which two neighbours stand together most often?";
    }
  }
  customElements.define("byte-pairs", BytePairs);
})();
