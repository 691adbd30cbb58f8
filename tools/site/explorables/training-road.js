// The road from pretraining to rewards: at which step is a piece of data used, and what of it counts?
(() => {
  const { Explorable, html, arithmetic } = globalThis.clearformer;
  const { range } = arithmetic;

  class TrainingRoad extends Explorable {
    static needs = { steps: "texts", counts: "texts", cards: "texts", homes: "numbers", why: "texts" };
    static together = ["cards", "homes", "why"];

    build(live) {
      const { steps, cards } = this.data;
      this.placed = cards.map(() => null); // the first answer to each
      this.text = html("strong");
      this.steps = this.choice("step", "It is used at", steps.map((name, i) => [i, name]), null);
      this.steps.chosen = (i) => this.place(i);
      this.at = this.slider("card", "card", { min: 1, max: cards.length, value: 1, moved: () => this.turn() });
      this.next = this.button("next", "Next card", () => (this.at.set((this.at.value % cards.length) + 1), this.turn()));
      this.again = this.button("again", "All again", () => ((this.placed = cards.map(() => null)), this.at.set(1), this.turn()));
      const columns = steps.map((name, i) => html("tr", {}, html("th", { scope: "row" }, name), html("td", { "data-value": `counts-${i}` }), html("td", { "data-value": `placed-${i}` })));
      live.append(
        this.ask("Of which is there least in the world?", [["text", "text"], ["pairs", "pairs of answers that somebody has compared"], ["checks", "answers of a program that checks sums"]],
          /^counts/, (guess) => this.judge(guess)),
        html("p", {}, this.text), html("div", { class: "controls" }, this.steps.box), this.status, html("div", { class: "controls" }, this.next, this.again, this.at.box),
        html("table", {}, html("thead", {}, html("tr", {}, ...["step", "what counts", "cards placed right"].map((name) => html("th", { scope: "col" }, name)))), html("tbody", {}, ...columns)),
        html("p", {}, `Goal: all ${cards.length} cards right at the first try.`));
    }

    judge(guess) {
      return `${guess === "pairs" ? "Right" : "No"}: text fills the web, and a program can be asked for ever. Somebody has to read a pair.`;
    }

    get card() {
      return this.at.value - 1;
    }

    place(step) {
      this.placed[this.card] ??= step;
    }

    turn() {
      this.steps.set(this.placed[this.card]);
    }

    update() {
      const { steps, counts, cards, homes } = this.data;
      const right = this.placed.map((step, i) => step === homes[i]);
      this.text.textContent = `Card ${this.card + 1} of ${cards.length}: ${cards[this.card]}`;
      steps.forEach((_, i) => this.put({ [`counts-${i}`]: counts[i], [`placed-${i}`]: String(range(cards.length).filter((k) => right[k] && homes[k] === i).length) }));
      this.say(this.sentence(right));
    }

    sentence(right) {
      const { steps, homes, why, cards } = this.data;
      const done = this.placed.filter((step) => step !== null).length;
      if (this.placed[this.card] === null) return "Where on the road is this used?";
      const told = `${right[this.card] ? "Right" : `No, at ${steps[homes[this.card]]}`}: ${why[this.card]}`;
      if (done < cards.length) return told;
      const n = right.filter(Boolean).length;
      return n === cards.length ? `The goal is reached: all ${n} at the first try. ${told}` : `${told} At the first try ${n} of ${cards.length} were right.`;
    }
  }
  customElements.define("training-road", TrainingRoad);
})();
