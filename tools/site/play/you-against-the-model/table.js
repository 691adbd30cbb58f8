// Where the reader lays ten chips: six tokens on offer, something else, and tokens that were typed.
(function (duel) {
  "use strict";

  if (typeof document === "undefined") return;
  const { html } = clearformer;
  const OTHER = "other";

  class Table {
    // piece: the text of an id. onChange(words): the chips lie otherwise. find(text, newWord): the id that is typed.
    constructor({ piece, find, onChange }) {
      Object.assign(this, { piece, find, onChange });
      this.rows = html("div", { class: "piles" });
      this.left = html("strong", { "data-value": "kept" });
      this.typed = html("input", {
        type: "text", "aria-label": "Another token", "data-control": "typed", size: 12, maxlength: 30, autocomplete: "off",
        autocapitalize: "off", spellcheck: "false",
      });
      this.typed.addEventListener("keydown", (event) => event.key === "Enter" && this.add());
      this.newWord = html("input", { type: "checkbox", "aria-label": "begins a new word", "data-control": "new-word" });
      this.allIn = html("input", { type: "checkbox", "aria-label": "All in: no floor under this bet", "data-control": "all-in" });
      this.allIn.addEventListener("input", () => {
        this.bet.allIn = this.allIn.checked;
        this.onChange(this.bet.allIn ? "All in: with ten chips laid, a token without one gets nothing." : "The floor is back under your bet.");
      });
      this.box = html("div", { class: "bets", role: "group", "aria-label": "Your bet on the next token" },
        html("p", {}, "Chips left: ", this.left, " of 10. Chips that you keep bet as the trigram does."),
        this.rows);
    }

    // hits: how many of the tokens to guess are among their six, in words.
    rules(hits) {
      return html("details", {}, html("summary", {}, "What lies on the table"),
        html("p", {}, "Six tokens that the model or the trigram thinks likely, by the alphabet. ␣ is a space: "
          + "such a token begins a new word, and one of letters alone goes on with the word."),
        html("p", {}, `Of the tokens to guess on all pages, ${hits} are among their six. Chips on “something else” go to all tokens `
          + "that are not on the table, as the trigram spreads them."),
        html("p", {}, "A twentieth of every bet is a floor: it goes to all tokens, as the trigram spreads it. "
          + "So no token ever gets nothing, unless you go all in."));
    }

    more() {
      return html("details", {}, html("summary", {}, "Another token, or all in"),
        html("div", { class: "controls" },
          html("label", {}, "Another token: ", this.typed),
          html("label", { class: "check" }, this.newWord, " begins a new word"),
          html("button", { type: "button", "data-control": "add", click: () => this.add() }, "Put it on the table")),
        html("label", { class: "check" }, this.allIn, " All in: no floor under this bet"));
    }

    // A new token: an empty bet. After a space or a line's end no word begins with a space.
    deal(offers, textBefore) {
      this.offers = offers;
      this.bet = duel.newBet();
      this.newWord.checked = !/\s$/.test(textBefore);
      this.allIn.checked = false;
      this.typed.value = "";
      this.draw();
    }

    get places() {
      return [...this.offers, OTHER, ...this.bet.typed];
    }

    name(place, say = duel.told) {
      return place === OTHER ? "something else" : say(this.piece(place));
    }

    count(place) {
      return place === OTHER ? this.bet.other : this.bet.chips[place] || 0;
    }

    draw() {
      this.shown = this.places.map((place, i) => this.row(place, i));
      this.rows.replaceChildren(...this.shown.map((row) => row.box));
      this.show();
    }

    row(place, i) {
      const lay = html("button", {
        type: "button", class: "lay", "data-control": "lay", "data-option": String(place), click: () => this.lay(place, 1),
      }, html("kbd", {}, String(i + 1)), " ",
        place === OTHER ? html("em", {}, "something else") : html("span", { class: "token" }, duel.seen(this.piece(place))));
      const less = html("button", { type: "button", "data-control": "less", "data-option": String(place),
        "aria-label": `Take a chip from ${this.name(place, duel.heard)}`, click: () => this.lay(place, -1) }, "−");
      const dots = html("span", { class: "dots", "aria-hidden": "true" }), number = html("span", { class: "count", "data-value": `chips-${place}` });
      return { place, lay, less, dots, number, box: html("div", { class: "pile" }, lay, dots, number, less) };
    }

    show() {
      const left = duel.kept(this.bet);
      this.left.textContent = left;
      for (const [i, { place, lay, less, dots, number }] of this.shown.entries()) {
        const n = this.count(place);
        lay.setAttribute("aria-label", `${i + 1} ${this.name(place, duel.named)}: lay a chip, ${n} so far`);
        less.setAttribute("aria-disabled", String(n === 0));
        dots.textContent = "●".repeat(n);
        number.textContent = n;
      }
    }

    lay(place, change) {
      const n = this.count(place) + change;
      if (n < 0) return this.onChange(`No chip lies on ${this.name(place)}.`);
      if (change > 0 && !duel.kept(this.bet)) return this.onChange("All ten chips are laid. Take one back, or uncover.");
      if (place === OTHER) this.bet.other = n;
      else if (n) this.bet.chips[place] = n;
      else delete this.bet.chips[place];
      this.show();
      this.onChange(`${n} on ${this.name(place)}, ${duel.kept(this.bet)} left.`);
    }

    clear() {
      this.bet = { ...this.bet, chips: {}, other: 0 };
      this.show();
      this.onChange("All chips are back.");
    }

    // The digits lay chips while the table has the keyboard, and no field is typed in.
    press(key) {
      const place = this.places[Number(key) - 1];
      if (/^[1-9]$/.test(key) && place !== undefined) this.lay(place, 1);
      else if (key === "0") this.clear();
      else return false;
      return true;
    }

    // The first token of what is typed joins the table.
    add() {
      const id = this.find(this.typed.value, this.newWord.checked);
      if (id === null) return this.onChange("Type a word or a sign first.");
      const place = this.places.indexOf(id);
      if (place < 0 && this.bet.typed.length === duel.MOST_TYPED) return this.onChange("The table is full: four typed tokens are the most.");
      if (place < 0) {
        this.bet.typed.push(id);
        this.draw();
      }
      this.typed.value = "";
      const cut = `${this.name(id)} is number ${this.places.indexOf(id) + 1} on the table`;
      this.onChange(place < 0 ? `${cut}: the token that your text begins with.` : `${cut} already.`);
    }
  }

  Object.assign(duel, { Table });
})(typeof window === "undefined" ? module.exports : (window.ClearformerDuel = window.ClearformerDuel || {}));
