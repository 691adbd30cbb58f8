// Tokens, a router and its experts: who is chosen, what the choice weighs, and what a bias moves.
(() => {
  const { Explorable, html, svg, fixed, arithmetic } = globalThis.clearformer;
  const { range, sum } = arithmetic;
  const MOST = 0.5; // of a bias, either way
  const FALL = 0.15;

  // The k experts with the largest r + b, the first of equals first; equal is what the last bits alone tell apart.
  const choose = (r, b, k) => {
    const score = (e) => Math.round(1e6 * (r[e] + b[e]));
    return range(r.length).sort((one, other) => score(other) - score(one) || one - other).slice(0, k);
  };

  class ExpertRouting extends Explorable {
    static needs = { scores: "rows", step: "number" };

    build(live) {
      this.experts = this.data.scores[0].length;
      const names = range(this.experts).map((e) => `b${e + 1}`);
      this.k = this.choice("k", "experts for a token", [[1, "1"], [2, "2"]], 1);
      this.biases = names.map((name, e) => this.slider(`bias-${e}`, name, { min: -MOST, max: MOST, step: 0.01, value: 0, text: (x) => fixed(x, 2) }));
      this.picture = svg("svg", { viewBox: "0 0 420 190", width: 420, height: 190, "aria-hidden": true });
      this.token = this.slider("token", "weights of token", { min: 1, max: this.data.scores.length, value: 1 });
      live.append(
        this.ask(`Every token goes to one expert, and the bias of expert 1 falls by ${FALL}. How many tokens leave expert 1?`,
          [[0, "none"], [this.leaving(), `${this.leaving()} of them`], [this.data.scores.length, "all"]], /^(load|fair|weight|most)/, (guess) => this.judge(guess)),
        html("div", { class: "controls" }, this.k.box, this.button("balance", "One step of the rule", () => this.balance()),
          this.button("reset", "All biases 0", () => this.biases.forEach((b) => b.set(0)))),
        ...[this.biases.slice(0, 2), this.biases.slice(2)].map((pair) => html("div", { class: "controls" }, ...pair.map((b) => b.box))),
        this.picture, this.status, this.grid(range(this.experts).map((e) => `f${e + 1}`), [["tokens", "load"], ["weight in the output", "weight"]]),
        html("div", { class: "controls" }, this.token.box),
        html("p", {}, "Goal: with one expert for a token, no expert without work and none with more than two tokens."));
    }

    leaving() {
      const { scores } = this.data;
      const moved = range(this.experts).map((e) => (e === 0 ? -FALL : 0));
      const stay = (b) => scores.filter((r) => choose(r, b, 1)[0] === 0).length;
      return stay(moved.map(() => 0)) - stay(moved);
    }

    judge(guess) {
      return `${guess === this.leaving() ? "Right" : "No"}: ${this.leaving()} leave, those whose second choice was less than ${FALL} behind.`;
    }

    get chosen() {
      return this.data.scores.map((r) => choose(r, this.biases.map((b) => b.value), this.k.value));
    }

    get loads() {
      return range(this.experts).map((e) => this.chosen.filter((set) => set.includes(e)).length);
    }

    // b ← b + η sign(kN / E − n): up for who has too few, down for who has too many.
    balance() {
      const fair = (this.k.value * this.data.scores.length) / this.experts;
      const { loads } = this;
      this.biases.forEach((b, e) => b.set(Math.round(100 * (b.value + this.data.step * Math.sign(fair - loads[e]))) / 100));
    }

    update() {
      const { loads } = this;
      const n = this.token.value - 1;
      const set = this.chosen[n];
      const all = sum(set.map((e) => this.data.scores[n][e]));
      loads.forEach((load, e) => this.put({
        [`load-${e}`]: load, [`weight-${e}`]: set.includes(e) ? fixed(this.data.scores[n][e] / all, 2) : "–",
      }));
      this.draw(loads);
      this.say(this.sentence(loads));
    }

    sentence(loads) {
      const most = Math.max(...loads);
      const idle = loads.filter((load) => !load).length;
      const told = `The busiest expert has ${most} of ${this.data.scores.length} tokens; without any: ${idle || "none"}.`;
      return this.k.value === 1 && !idle && most <= 2 ? `The goal is reached. ${told} The weights still come from r alone.` : told;
    }

    draw(loads) {
      const { scores } = this.data;
      const [left, across] = [400 / scores.length, 400 / this.experts];
      const text = (x, y, told) => svg("text", { x, y, "text-anchor": "middle" }, told);
      const tokens = scores.flatMap((_, n) => [
        text(10 + left * (n + 0.5), 14, `x${n + 1}`),
        ...(this.closed ? [] : this.chosen[n].map((e) => svg("line", { x1: 10 + left * (n + 0.5), y1: 20, x2: 10 + across * (e + 0.5), y2: 90, class: `line ${n === this.token.value - 1 ? "accent thick" : ""}` }))),
      ]);
      const experts = loads.flatMap((load, e) => {
        const x = 10 + across * (e + 0.5);
        const height = this.closed ? 0 : 11 * load;
        return [svg("rect", { x: x - 22, y: 90, width: 44, height: 20, class: "line" }), text(x, 105, `f${e + 1}`),
          svg("rect", { x: x - 14, y: 112, width: 28, height, class: "accent full", "fill-opacity": 0.6 })];
      });
      this.picture.replaceChildren(...tokens, ...experts);
    }
  }
  customElements.define("expert-routing", ExpertRouting);
})();
