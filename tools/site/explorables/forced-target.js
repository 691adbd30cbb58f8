// A translation of which a part is given: what the model writes after it, and where one head looks for each piece.
(() => {
  const { Explorable, html, svg, fixed, arithmetic } = globalThis.clearformer;
  const { attend, range } = arithmetic;
  const [WIDTH, HEIGHT, TOP, BOTTOM, EDGE] = [360, 150, 22, 130, 26];
  const ANSWERS = [["nothing", "nothing"], ["first", "its first word"], ["all", "all of it"]];
  const END = "end";

  const same = (a, b) => a.length === b.length && a.every((piece, n) => piece === b[n]);
  // How many pieces must be given at least, so that the model writes the rest as it should be.
  const fewest = ({ wanted, runs, of }) => of.findIndex((run) => same(runs[run].written, wanted));
  const kind = (example, given) => (given === 0 ? "nothing" : given <= example.first ? "first" : "all");
  const text = (pieces) => pieces.filter((piece) => piece !== END).join("");

  class ForcedTarget extends Explorable {
    static needs = { names: "texts", examples: "objects" };
    static together = ["names", "examples"];

    build(live) {
      const { names, examples } = this.data;
      const longest = Math.max(...examples.flatMap(({ runs }) => runs.map((run) => run.written.length)));
      this.which = this.choice("which", "Translate", names.map((name, i) => [i, name]), 0);
      this.given = this.slider("given", "pieces given:", { min: 0, max: examples[0].wanted.length, value: 0 });
      this.which.chosen = (i) => {
        this.given.input.max = examples[i].wanted.length;
        this.given.set(0);
        this.asked.set(null);
      };
      this.picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, "aria-hidden": true });
      this.rows = range(longest).map((n) => html("tr", {}, html("th", { scope: "row", "data-value": `piece-${n}` }),
        ...["by", "at", "weight"].map((name) => html("td", { "data-value": `${name}-${n}` }))));
      const head = ["piece", "who wrote it", "looks most at", "weight"].map((word) => html("th", { scope: "col" }, word));
      live.append(html("div", { class: "controls" }, this.which.box),
        this.ask("How much must be given until the model writes the rest as it should be?", ANSWERS, /^(piece|by|at|weight)-/,
          (guess) => this.judge(guess)),
        html("div", { class: "controls" }, this.given.box),
        html("div", { class: "sides" }, this.picture, html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {}, ...this.rows))),
        this.status, html("p", {}, "Goal: give as few pieces as possible, for each of the numbers."));
    }

    get example() {
      return this.data.examples[this.which.value];
    }

    judge(guess) {
      const least = fewest(this.example);
      const right = kind(this.example, least);
      return `${guess === right ? "Right" : "No"}: ${ANSWERS.find(([answer]) => answer === right)[1]}.`;
    }

    update() {
      const { source, keys, runs, of } = this.example;
      const given = this.given.value;
      const { written, queries } = runs[of[given]];
      const weights = queries.map((query) => attend(query, keys, keys, { divisor: Math.sqrt(query.length) }).weights);
      const shown = this.closed ? this.example.wanted.length : written.length; // how much is written is part of the answer
      this.rows.forEach((row, n) => {
        row.toggleAttribute("hidden", n >= shown);
        const largest = n < written.length ? Math.max(...weights[n]) : 0;
        const [piece, by, at, weight] = n < written.length
          ? [written[n], n < given ? "given" : "model", source[weights[n].indexOf(largest)], fixed(largest, 2)] : ["", "", "", ""];
        this.put({ [`piece-${n}`]: piece, [`by-${n}`]: by, [`at-${n}`]: at, [`weight-${n}`]: weight });
      });
      if (this.closed) this.draw([], []);
      else this.draw(written, weights);
      this.say(this.sentence(written, given));
    }

    sentence(written, given) {
      const { wanted } = this.example;
      if (!same(written, wanted)) return `With ${given} given it writes “${text(written)}”, and should write “${text(wanted)}”.`;
      if (given > fewest(this.example)) return `“${text(wanted)}” is right, and fewer pieces can do it.`;
      return `The goal is reached: “${text(wanted)}” with ${given} given.`;
    }

    draw(written, weights) {
      const { source } = this.example;
      const x = (i, n) => EDGE + (n > 1 ? (i * (WIDTH - 2 * EDGE)) / (n - 1) : 0);
      const word = (y, anchor) => (piece, i, all) =>
        svg("text", { x: x(i, all.length), y: y + (all.length > 5 && i % 2 ? anchor * 14 : 0), "text-anchor": "middle" }, piece);
      const lines = weights.flatMap((row, n) => row.map((weight, s) => svg("line", {
        x1: x(s, source.length), y1: TOP + 6, x2: x(n, written.length), y2: BOTTOM - 14, "stroke-width": 6 * weight, opacity: weight,
        class: n < this.given.value ? "accent" : "warm",
      })));
      this.picture.replaceChildren(...lines, ...source.map(word(TOP, -1)), ...written.map(word(BOTTOM, 1)));
    }
  }
  customElements.define("forced-target", ForcedTarget);
})();
