// One pass over blocks of scores: what is kept, and how a larger score shrinks what came before.
(() => {
  const { Explorable, html, svg, fixed, figures, short, arithmetic } = globalThis.clearformer;
  const { dot, range, softmax, sum } = arithmetic;
  const [LARGE, LITTLE] = [1000, 0.05];
  const WIDTH = 3.6; // rem, room for a number such as 1001.60

  // Online softmax: what is kept of some sources, and what is kept of two groups together.
  const partial = (scores, values) => {
    const m = Math.max(...scores);
    const e = scores.map((c) => Math.exp(c - m));
    return { m, l: sum(e), o: dot(e, values) };
  };
  const merge = (one, two) => {
    const m = Math.max(one.m, two.m);
    const [a, b] = [Math.exp(one.m - m), Math.exp(two.m - m)];
    return { m, l: a * one.l + b * two.l, o: a * one.o + b * two.o, shrink: a };
  };

  class OnlineSoftmax extends Explorable {
    static needs = { names: "texts", scores: "rows", values: "rows" };
    static together = ["names", "scores", "values"];

    build(live) {
      const { names } = this.data;
      this.example = this.choice("example", "Scores", names.map((name, i) => [i, name]), 0);
      this.example.chosen = (i) => (this.load(i), this.refresh());
      this.step = this.slider("step", "blocks read", { min: 0, max: 3, value: 0 });
      this.next = this.button("next", "Next block", () => this.step.set(this.step.value + 1));
      this.size = this.slider("size", "scores in a block", { min: 1, max: 4, value: 1, moved: () => (this.step.set(0), this.refresh()) });
      this.large = this.toggle("large", `add ${LARGE} to every score`);
      this.token = html("select", { "aria-label": "Change the score of", "data-control": "token", input: () => (this.refresh(), this.update()) });
      this.score = this.slider("changed", "its score", { min: -5, max: 5, step: 0.1, value: 0, text: (x) => fixed(x, 1), moved: (x) => (this.scores[this.token.value] = x) });
      this.picture = svg("svg", { viewBox: "0 0 360 120", width: 460, height: 153, "aria-hidden": true });
      this.place = html("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "the scores so far" });
      const shown = (label, name) => [label, html("strong", {}, this.number(name))];
      live.append(
        this.ask("A block comes with a larger score than all before. What becomes of ℓ and o, which were kept?",
          [["less", "they are made smaller"], ["same", "they stay"], ["more", "they are made larger"]], /^(l|o|y|shrink|e-\d+|weight-\d+)$/,
          (guess) => this.judge(guess)),
        html("div", { class: "controls" }, this.next, this.step.box, this.size.box), this.picture, this.status, this.place,
        html("p", {}, ...shown("kept: m = ", "m"), ...shown(", ℓ = ", "l"), ...shown(", o = ", "o"), ...shown(" · in this step the old ℓ and o were multiplied by ", "shrink")),
        html("p", {}, ...shown("so far y = o / ℓ = ", "y"), ...shown(" · all at once, largest score subtracted: ", "whole"), ...shown(" · nothing subtracted: ", "naive")),
        html("div", { class: "controls" }, this.example.box, this.large.box),
        html("div", { class: "controls" }, html("label", {}, "Change the score of ", this.token), this.score.box),
        html("p", {}, `Goal: change one score so that less than ${LITTLE} is left of what was kept before the last block.`));
      this.load(0);
      this.refresh();
    }

    judge(guess) {
      const { shrink } = merge(partial([0], [1]), partial([1], [1]));
      const right = shrink < 1 ? "less" : shrink > 1 ? "more" : "same";
      return `${guess === right ? "Right" : "No"}: after a score that is larger by 1 they are multiplied by ${figures(shrink)}.`;
    }

    load(i) {
      this.scores = [...this.data.scores[i]];
      this.values = this.data.values[i];
      if (this.values.length !== this.scores.length) throw new Error(`example ${i + 1} has ${this.scores.length} scores and ${this.values.length} values.`);
      this.token.replaceChildren(...this.scores.map((_, s) => html("option", { value: s }, `token ${s + 1}`)));
      this.step.set(0);
      const table = this.grid(this.scores.map((_, s) => s + 1), [["score", "score"], ["value", "token-value"], ["e^(c − m)", "e"], ["weight so far", "weight"]]);
      table.style.minWidth = `${WIDTH * (this.scores.length + 1.5)}rem`; // on a phone it is scrolled
      this.place.replaceChildren(table);
    }

    refresh() {
      this.step.input.max = Math.ceil(this.scores.length / this.size.value);
      this.score.set(this.scores[this.token.value]);
    }

    // After each block: m, l, o of all that was read, and the factor that shrank what was there before.
    states(scores) {
      const size = this.size.value;
      const states = [];
      for (let start = 0; start < scores.length; start += size) {
        const block = partial(scores.slice(start, start + size), this.values.slice(start, start + size));
        states.push(states.length ? merge(states.at(-1), block) : block);
      }
      return states;
    }

    update() {
      const scores = this.scores.map((c) => c + (this.large.value ? LARGE : 0));
      const read = Math.min(this.step.value * this.size.value, scores.length);
      const states = this.states(scores);
      const state = states[this.step.value - 1];
      const naive = scores.map(Math.exp);
      const e = scores.map((c, s) => (s < read ? Math.exp(c - state.m) : null));
      scores.forEach((c, s) => this.put({
        [`score-${s}`]: fixed(c, 2), [`token-value-${s}`]: short(this.values[s]),
        [`e-${s}`]: e[s] === null ? "" : figures(e[s]), [`weight-${s}`]: e[s] === null ? "" : fixed(e[s] / state.l),
      }));
      this.put({
        m: state ? fixed(state.m, 2) : "–", l: state ? fixed(state.l) : "–", o: state ? fixed(state.o) : "–",
        y: state ? fixed(state.o / state.l) : "–", shrink: state && "shrink" in state ? figures(state.shrink) : "–",
        whole: fixed(dot(softmax(scores), this.values)), naive: fixed(dot(naive, this.values) / sum(naive)),
      });
      this.next.disabled = this.step.value === states.length;
      this.draw(this.closed ? e.map(() => null) : e, read);
      this.say(this.sentence(state, states.length));
    }

    sentence(state, blocks) {
      if (!state) return "Read the first block: of all its scores, three numbers will be kept.";
      const end = this.step.value === blocks ? " Nothing is left to read: y is what the softmax over all scores gives." : "";
      if (!("shrink" in state)) return `The first block: its largest score becomes m.${end}`;
      if (end && state.shrink < LITTLE) return `The goal is reached: of what was kept, ${figures(state.shrink)} is left.${end}`;
      if (state.shrink < 1) return `A larger score came: m rises, and what was kept is multiplied by ${figures(state.shrink)}.${end}`;
      return `No larger score came: what was kept stays, and the new terms are measured against the old m.${end}`;
    }

    draw(e, read) {
      const width = 340 / e.length;
      const fresh = read - ((read - 1) % this.size.value) - 1;
      this.picture.replaceChildren(
        svg("line", { x1: 8, x2: 352, y1: 100, y2: 100, class: "line" }),
        ...e.flatMap((x, s) => {
          const at = { x: 10 + s * width + 2, width: width - 4 };
          const label = svg("text", { x: 10 + (s + 0.5) * width, y: 115, "text-anchor": "middle" }, s + 1);
          if (x === null) return [svg("rect", { ...at, y: 40, height: 60, class: "line dashed" }), label];
          const style = s >= fresh ? "warm full" : "accent full";
          return [svg("rect", { ...at, y: 100 - 90 * x, height: 90 * x, class: style, "fill-opacity": s >= fresh ? 0.8 : 0.45 }), label];
        }));
    }
  }
  customElements.define("online-softmax", OnlineSoftmax);
})();
