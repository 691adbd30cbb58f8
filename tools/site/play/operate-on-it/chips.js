// The tokens of a text with their bits before and after an operation, as ground colour and as numbers.
(() => {
  const { html, tint, fixed, operating } = clearformer;
  const MANY_BITS = 10; // from which the ground is darkest
  const SEEN = 0.05; // a smaller difference is not written
  const seen = (piece) => (piece.trim() ? piece.trim() : "␣");

  class Chips {
    constructor(choose) {
      this.choose = choose;
      this.box = html("div", { class: "chips", role: "group", "aria-label": "The text, with the bits of each token" });
      this.ready = operating.rove(this.box, 1);
    }

    // Bits of the start token there are none.
    show(pieces, joined, before, after, chosen) {
      if (this.shown !== pieces) {
        this.box.replaceChildren(...pieces.map((piece, n) =>
          html("button", { type: "button", "data-token": n, class: joined[n] && "joined", click: () => this.choose(n) },
            html("span", {}, piece), " ", html("span", { class: "bits", "data-value": `bits-${n}` }))));
        this.ready();
      }
      this.shown = pieces;
      this.box.querySelectorAll("button").forEach((button, n) => this.showOne(button, pieces[n], n ? [before[n - 1], after[n - 1]] : null, n === chosen));
    }

    showOne(button, piece, bits, chosen) {
      button.setAttribute("aria-pressed", chosen);
      const moved = bits && Math.abs(bits[1] - bits[0]) >= SEEN;
      button.classList.toggle("dearer", Boolean(moved && bits[1] > bits[0]));
      const told = !bits ? "" : moved ? `${fixed(bits[0], 1)} → ${fixed(bits[1], 1)}` : fixed(bits[1], 1);
      button.querySelector(".bits").textContent = told;
      button.style.cssText = bits ? tint(bits[1] / MANY_BITS, "warm") : "";
      button.setAttribute("aria-label", bits ? `${piece} ${told} bits` : `${piece} start of the text`);
    }
  }

  Object.assign(operating, { Chips, seen });
})();
