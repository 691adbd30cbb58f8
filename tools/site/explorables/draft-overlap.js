// A draft's distribution beside the model's: what is accepted, what replaces a rejected token, and what is written.
(() => {
  const { Explorable, html, svg, fixed, arithmetic } = globalThis.clearformer;
  const { range, sum } = arithmetic;

  // What a rejected token is replaced from, as a distribution; where nothing is left out, zeros.
  const leftOut = (p, draft) => {
    const rest = p.map((x, w) => Math.max(x - draft[w], 0));
    const total = sum(rest);
    return rest.map((x) => (total ? x / total : 0));
  };

  class DraftOverlap extends Explorable {
    static needs = { p: "numbers", draft: "numbers", goal: "number" };
    static together = ["p", "draft"];

    build(live) {
      const { p, draft, goal } = this.data;
      const words = p.map((_, w) => `token ${w + 1}`);
      this.parts = words.map((word, w) => this.slider(`part-${w}`, `draft: ${word}, parts`, { min: 0, max: 10, value: Math.round(10 * draft[w]) }));
      this.from = this.choice("from", "A rejected token is replaced from", [["rest", "p′"], ["model", "p itself"]], "rest");
      this.drafted = this.slider("drafted", "draft tokens in a pass", { min: 1, max: 8, value: 4 });
      this.picture = svg("svg", { viewBox: "0 0 360 150", width: 440, height: 183, "aria-hidden": true });
      const shown = (label, name) => [label, html("strong", {}, this.number(name))];
      live.append(
        this.ask(`The model writes token 1 with probability ${p[0]}. A draft that never proposes it: how often is token 1 written?`,
          [["never", "never"], ["half", "half as often"], ["same", "as often as without a draft"]], /^(accepted|rest|written|a|tokens)/, (guess) => this.judge(guess)),
        html("div", { class: "controls" }, ...this.parts.map((part) => part.box)), this.picture, this.status,
        this.grid(words, [["model: p", "p"], ["draft: p̃", "draft"], ["accepted", "accepted"], ["replaced from", "rest"], ["written", "written"]]),
        html("p", {}, ...shown("acceptance rate a = ", "a"), ...shown(" · tokens a pass, if each is accepted with a: ", "tokens")),
        html("div", { class: "controls" }, this.from.box, this.drafted.box),
        html("p", {}, `Goal: a draft, not the model's own distribution, with which a pass writes ${fixed(goal, 1)} tokens or more, and no probability changes.`));
    }

    judge(guess) {
      return `${guess === "same" ? "Right" : "No"}: what the draft leaves out comes as a replacement, just often enough.`;
    }

    update() {
      const { p } = this.data;
      const parts = this.parts.map((part) => part.value);
      p.forEach((x, w) => this.put({ [`p-${w}`]: fixed(x, 2) }));
      if (!sum(parts)) {
        p.forEach((_, w) => this.put({ [`draft-${w}`]: "–", [`accepted-${w}`]: "–", [`rest-${w}`]: "–", [`written-${w}`]: "–" }));
        this.put({ a: "–", tokens: "–" });
        this.picture.replaceChildren();
        return this.say("A draft has to propose something: give one token a part.");
      }
      const draft = parts.map((part) => part / sum(parts));
      const accepted = p.map((x, w) => Math.min(x, draft[w]));
      const a = sum(accepted);
      const rest = this.from.value === "rest" ? leftOut(p, draft) : p;
      const written = accepted.map((x, w) => x + (1 - a) * rest[w]);
      const tokens = sum(range(this.drafted.value + 1).map((i) => a ** i));
      p.forEach((_, w) => this.put({
        [`draft-${w}`]: fixed(draft[w], 2), [`accepted-${w}`]: fixed(accepted[w], 2), [`rest-${w}`]: fixed(rest[w], 2), [`written-${w}`]: fixed(written[w], 3),
      }));
      this.put({ a: fixed(a, 2), tokens: fixed(tokens, 2) });
      this.draw(draft, accepted);
      this.say(this.sentence(draft, written, tokens));
    }

    sentence(draft, written, tokens) {
      const { p, goal } = this.data;
      const off = Math.max(...p.map((x, w) => Math.abs(x - written[w])));
      const own = p.every((x, w) => Math.abs(x - draft[w]) < 1e-9);
      if (off > 1e-9) return `The law is broken: a probability is off by ${fixed(off, 3)}. Tokens that the draft likes come too often.`;
      const told = `A pass writes ${fixed(tokens, 2)} tokens on average, and each has the model's own probability.`;
      if (own) return `${told} Here the draft is the model, and everything is accepted.`;
      return tokens >= goal ? `The goal is reached. ${told}` : told;
    }

    // Both bars of a token share a foot: full up to the smaller, then a frame, dashed where the draft has too much.
    draw(draft, accepted) {
      const { p } = this.data;
      const width = 340 / p.length;
      this.picture.replaceChildren(
        svg("line", { x1: 8, x2: 352, y1: 130, y2: 130, class: "line" }),
        ...p.flatMap((x, w) => {
          const at = { x: 10 + w * width + width / 5, width: 0.6 * width };
          const [low, high] = [120 * accepted[w], 120 * Math.max(x, draft[w])];
          const much = draft[w] > x;
          const told = this.closed || high - low < 1 ? [] : [svg("text", { x: at.x + at.width / 2, y: 125 - high, "text-anchor": "middle" }, much ? "rejected" : "missing")];
          return [svg("rect", { ...at, y: 130 - low, height: low, class: "accent full", "fill-opacity": 0.6 }),
            svg("rect", { ...at, y: 130 - high, height: high - low, class: much ? "warm thick dashed" : "accent thick" }), ...told,
            svg("text", { x: at.x + at.width / 2, y: 147, "text-anchor": "middle" }, `token ${w + 1}`)];
        }));
    }
  }
  customElements.define("draft-overlap", DraftOverlap);
})();
