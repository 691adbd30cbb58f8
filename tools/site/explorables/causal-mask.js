// A mask to paint, before or after the softmax, and a future token to change: does a past output move?
(() => {
  const { Explorable, html, fixed, tint, arithmetic } = globalThis.clearformer;
  const { dot, range, softmax, sum } = arithmetic;
  const WHERE = [["before", "before the softmax"], ["after", "after it"], ["none", "nowhere"]];

  class CausalMask extends Explorable {
    static needs = { scores: "rows", values: "numbers" };
    static together = ["scores", "values"];

    build(live) {
      const all = (this.all = range(this.data.scores.length));
      this.causal();
      this.nudge = this.slider("nudge", `change token ${all.length}: add to its scores`, { min: -4, max: 4, step: 0.5, value: 0, text: (x) => fixed(x, 1) });
      this.where = this.choice("where", "Mask", WHERE, "before");
      this.cells = all.map((s) => all.map((n) => this.cell(s, n)));
      const names = all.map((n) => `to ${n + 1}`);
      this.table = this.grid(names, [["sum", "sum"], ["output", "output"], ["moved by", "moved"]]);
      this.table.tBodies[0].prepend(...all.map((s) => html("tr", {}, html("th", { scope: "row" }, `from ${s + 1}`),
        ...this.cells[s].map((button) => html("td", {}, button)))));
      const last = all.length;
      live.append(
        this.ask(`The causal mask comes after the softmax, and token ${last} changes. Which outputs move?`,
          [["last", `output ${last} alone`], ["some", "some earlier ones, too"], ["all", "all of them"]], /^(sum|output|moved)-/, (guess) => this.judge(guess)),
        html("div", { class: "controls" }, this.nudge.box),
        html("div", { class: "controls" }, this.where.box, this.button("causal", "Causal mask again", () => this.causal())), this.table, this.status,
        html("p", {}, `Goal: with the mask before the softmax, open one cell so that of the earlier outputs number 2 alone notices the change of token ${last}.`));
    }

    // How many outputs move when the last token's scores grow, with a causal mask that comes late.
    judge(guess) {
      const { scores, values } = this.data;
      const late = (n, nudge) => {
        const weights = softmax(this.all.map((s) => scores[s][n] + (s === this.all.length - 1 ? nudge : 0)));
        return dot(weights.map((weight, s) => (s <= n ? weight : 0)), values);
      };
      const count = this.all.filter((n) => Math.abs(late(n, 2) - late(n, 0)) > 1e-9).length;
      const right = count === this.all.length ? "all" : count > 1 ? "some" : "last";
      return `${guess === right ? "Right" : "No"}: ${count} of ${this.all.length} move.`;
    }

    causal() {
      this.mask = this.all.map((s) => this.all.map((n) => s <= n));
    }

    cell(s, n) {
      const button = this.button(`cell-${s}-${n}`, "", () => (this.mask[s][n] = !this.mask[s][n]));
      button.dataset.value = `weight-${s}-${n}`;
      button.style.cssText = "width: 100%; padding: 0";
      return button;
    }

    // The weights of target n when the last token's scores are larger by nudge.
    weights(n, nudge) {
      const scores = this.all.map((s) => this.data.scores[s][n] + (s === this.all.length - 1 ? nudge : 0));
      const mask = this.all.map((s) => this.mask[s][n]);
      if (this.where.value === "before") return softmax(scores, mask);
      const weights = softmax(scores);
      return this.where.value === "none" ? weights : weights.map((weight, s) => (mask[s] ? weight : 0));
    }

    update() {
      const { values } = this.data;
      const columns = this.all.map((n) => this.weights(n, this.nudge.value));
      const outputs = columns.map((weights) => dot(weights, values));
      const moved = outputs.map((y, n) => y - dot(this.weights(n, 0), values));
      columns.forEach((weights, n) => {
        this.put({ [`sum-${n}`]: fixed(sum(weights)), [`output-${n}`]: fixed(outputs[n]), [`moved-${n}`]: fixed(moved[n]) });
        // Red and bold is what must not move; what may is grey.
        const shift = Math.abs(moved[n]) > 1e-9 && !this.closed, leak = shift && this.where.value !== "none" && !this.mask[this.all.length - 1][n];
        const paint = leak ? tint(1, "warm") : shift ? "background: color-mix(in srgb, var(--pst-color-text-muted) 18%, transparent)" : "";
        this.querySelector(`[data-value="moved-${n}"]`).setAttribute("style", `${paint}; font-weight: ${leak ? 700 : 400}`);
        weights.forEach((weight, s) => this.paint(s, n, weight));
      });
      this.say(this.sentence(moved));
    }

    paint(s, n, weight) {
      const button = this.cells[s][n];
      const open = this.mask[s][n] || this.where.value === "none";
      button.textContent = open ? fixed(weight) : "×";
      button.setAttribute("aria-label", `target ${n + 1} looks at source ${s + 1}: ${open ? fixed(weight) : "hidden"}`);
      button.style.cssText = `width: 100%; padding: 0; color: inherit; text-decoration: none; ${tint(weight)}; border-style: ${open ? "solid" : "dotted"}`;
    }

    sentence(moved) {
      const last = this.all.length - 1;
      const blind = this.all.filter((n) => !this.mask[last][n]);
      const leaks = blind.filter((n) => Math.abs(moved[n]) > 1e-9).map((n) => n + 1);
      if (!this.nudge.value) return `Move the slider: token ${last + 1} becomes another token. Outputs that may not see it must stay where they are.`;
      const heard = this.all.filter((n) => Math.abs(moved[n]) > 1e-9);
      const alone = this.where.value === "before" && heard.includes(1) && heard.every((n) => n === 1 || n === last);
      if (this.where.value === "none") return "Without a mask every output sees every token, and all of them move.";
      if (leaks.length) return `A leak: outputs ${leaks.join(", ")} may not see token ${last + 1}, and moved all the same.`;
      return `${alone ? "The goal is reached. " : ""}No leak: outputs ${blind.map((n) => n + 1).join(", ") || "(none)"} may not see token ${last + 1}, and have not moved.`;
    }
  }
  customElements.define("causal-mask", CausalMask);
})();
