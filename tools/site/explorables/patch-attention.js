// The patches of a picture, and what one head of a token looks at; patches can be hidden from it.
(() => {
  const { Explorable, html, svg, fixed, tint, arithmetic } = globalThis.clearformer;
  const { attend, range } = arithmetic;
  const SIDE = 168;
  const ANSWERS = [0.1, 0.3, 0.9];

  class PatchAttention extends Explorable {
    static needs = { ink: "rows", heads: "number", queries: "rows", keys: "rows", goal: "number" };
    static together = ["queries", "keys"];

    build(live) {
      const { heads, queries } = this.data;
      this.tokens = queries.length / heads;
      this.across = Math.round(Math.sqrt(this.tokens - 1));
      this.covered = range(this.tokens).map(() => false);
      this.head = this.choice("head", "Head", range(heads).map((h) => [h, `${h + 1}`]), 0);
      this.target = this.slider("target", "who looks:", { min: 0, max: this.tokens - 1, value: 0, text: (n) => this.name(n) });
      this.cells = range(this.tokens).map((s) => this.cell(s));
      const rows = range(this.across).map((r) => html("tr", {}, ...range(this.across).map((c) => html("td", {}, this.cells[1 + r * this.across + c]))));
      const table = html("table", { "aria-label": "weights of the patches" }, html("tbody", {}, ...rows));
      this.picture = svg("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, width: SIDE, height: SIDE, "aria-hidden": true });
      live.append(
        this.ask("Head 1 of the class token: how much weight does the patch get that gets most?",
          ANSWERS.map((share) => [share, `about ${share}`]), /^(weight|most)/, (guess) => this.judge(guess)),
        html("div", { class: "controls" }, this.head.box, this.target.box),
        html("div", { class: "sides" }, this.picture, html("div", {}, table, html("p", {}, "class token ", this.cells[0]))),
        html("div", { class: "controls" }, this.button("show-all", "Hide nothing", () => this.covered.fill(false))), this.status,
        html("p", {}, `Goal: with nothing hidden, find a head and a patch that gives one patch ${fixed(this.data.goal, 2)} or more.`));
    }

    name(n) {
      return n === 0 ? "the class token" : `patch ${n}`;
    }

    cell(s) {
      const button = this.button(`hide-${s}`, "", () => (this.covered[s] = !this.covered[s] && this.covered.filter((it) => !it).length > 1));
      button.dataset.value = `weight-${s}`;
      return button;
    }

    // The weights of target n in head h, with what is hidden left out.
    weights(h, n, hidden) {
      const { queries, keys } = this.data;
      const own = keys.slice(h * this.tokens, (h + 1) * this.tokens);
      const query = queries[h * this.tokens + n];
      return attend(query, own, own, { divisor: Math.sqrt(query.length), mask: hidden.map((it) => !it) }).weights;
    }

    judge(guess) {
      const most = Math.max(...this.weights(0, 0, range(this.tokens).map(() => false)).slice(1));
      const off = (share) => Math.abs(Math.log(share / most));
      return `${ANSWERS.every((share) => off(share) >= off(guess)) ? "Right" : "No"}: ${fixed(most, 2)}.`;
    }

    update() {
      const weights = this.weights(this.head.value, this.target.value, this.covered);
      weights.forEach((weight, s) => this.paint(s, weight));
      this.draw(weights);
      this.say(this.sentence(weights));
    }

    paint(s, weight) {
      const button = this.cells[s];
      const told = this.closed ? "?" : this.covered[s] ? "×" : fixed(weight, 2);
      button.textContent = told;
      button.setAttribute("aria-label", `${this.name(s)}: ${told === "×" ? "hidden" : told}`);
      button.setAttribute("aria-pressed", this.covered[s]);
      button.style.cssText = `width: 100%; padding: 0; color: inherit; text-decoration: none; ${tint(this.closed ? 0 : weight)}`;
    }

    // The ink, and over each patch a square that is the fuller, the more weight it has.
    draw(weights) {
      const { ink } = this.data;
      const dot = SIDE / ink.length;
      const patch = SIDE / this.across;
      const square = (x, y, side, more) => svg("rect", { x, y, width: side, height: side, ...more });
      const pixels = ink.flatMap((row, r) => row.map((share, c) => share > 0.05 && square(c * dot, r * dot, dot, { fill: "currentColor", "fill-opacity": share })));
      const squares = range(this.tokens - 1).map((i) => square((i % this.across) * patch, Math.floor(i / this.across) * patch, patch,
        { class: `accent ${i + 1 === this.target.value ? "thick" : ""}`, fill: "var(--cf-accent)", "fill-opacity": this.closed ? 0 : 0.75 * weights[i + 1] }));
      this.picture.replaceChildren(...pixels.filter(Boolean), ...squares);
    }

    sentence(weights) {
      const target = this.name(this.target.value);
      const patches = weights.slice(1);
      const most = Math.max(...patches);
      const where = `patch ${1 + patches.indexOf(most)}`;
      const told = `Head ${this.head.value + 1}: ${target} gives ${fixed(most, 2)} to ${where}, ${fixed(weights[0], 2)} to the class token.`;
      if (this.covered.some(Boolean)) return `${told} The weights of the rest still sum to 1: what was hidden went to the others.`;
      return this.target.value > 0 && most >= this.data.goal ? `The goal is reached. ${told}` : told;
    }
  }
  customElements.define("patch-attention", PatchAttention);
})();
