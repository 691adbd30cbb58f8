// A token on its way up through a stack, and a gradient on its way down: with and without the sum and the norm.
(() => {
  const { Explorable, html, svg, figures, arithmetic } = globalThis.clearformer;
  const { dot, range, sum } = arithmetic;
  const [LEAST_GAIN, MOST_GAIN] = [0.1, 2];
  const GAINS = range(20).map((i) => LEAST_GAIN * (i + 1));
  const [LOW, HIGH] = [1 / 4, 4]; // the band in which nothing has vanished or run away
  const DECADES = 7; // drawn above and below 1
  const [LEFT, WIDTH, MIDDLE, HEIGHT] = [38, 300, 100, 92]; // of the picture
  const SUMS = [["on", "x + part(x)"], ["off", "part(x)"]];
  const NORMS = [["none", "none"], ["before", "before each part"], ["after", "after each part"]];
  const ANSWERS = [["under", "under ¼"], ["between", "¼ to 4"], ["over", "over 4"]];

  // LayerNorm without scale and shift: the token, and what it was divided by; and a gradient on its way back through it.
  const mean = (x) => sum(x) / x.length;
  const spread = (x) => Math.sqrt(mean(x.map((value) => (value - mean(x)) ** 2)));
  const layerNorm = (x, epsilon = 1e-5) => {
    const size = Math.sqrt(spread(x) ** 2 + epsilon);
    return { y: x.map((value) => (value - mean(x)) / size), size };
  };
  const layerNormBack = (g, { y, size }) => g.map((value, i) => (value - mean(g) - (y[i] * dot(g, y)) / y.length) / size);

  // A token through parts that multiply it by a matrix, and a gradient back: both after each part, from the bottom.
  const stream = ({ parts, token, gradient, gain, added, norm }) => {
    const steps = [];
    let x = token;
    for (const rows of parts) {
      const before = norm === "before" ? layerNorm(x) : null;
      const read = before ? before.y : x;
      const update = rows.map((row) => gain * dot(row, read));
      const total = added ? update.map((value, i) => value + x[i]) : update;
      const after = norm === "after" ? layerNorm(total) : null;
      steps.push({ rows, before, after });
      x = after ? after.y : total;
      steps.at(-1).tokens = x;
    }
    const gradients = [gradient];
    for (const { rows, before, after } of steps.toReversed()) {
      const g = after ? layerNormBack(gradients[0], after) : gradients[0];
      const through = token.map((_, i) => gain * dot(g, rows.map((row) => row[i])));
      const back = before ? layerNormBack(through, before) : through;
      gradients.unshift(added ? back.map((value, i) => value + g[i]) : back);
    }
    return { tokens: [token, ...steps.map((step) => step.tokens)], gradients };
  };

  const size = (x) => Math.sqrt(dot(x, x));
  const place = (x) => (x < LOW ? "under" : x > HIGH ? "over" : "between");
  const inBand = (x) => place(x) === "between";
  const ends = (numbers) => `${figures(Math.min(...numbers), 2)} to ${figures(Math.max(...numbers), 2)}`;

  class StreamDepth extends Explorable {
    static needs = { parts: "objects", token: "numbers", gradient: "numbers" };

    build(live) {
      this.predicted = new Map(); // by arrangement: whether the reader's guess was right
      this.added = this.choice("sum", "A part gives", SUMS, "off");
      this.norm = this.choice("norm", "LayerNorm", NORMS, "none");
      this.added.chosen = this.norm.chosen = () => (this.verdict = "");
      this.scaled = this.toggle("scaled", `parts divided by √${this.data.parts.length}`);
      this.gain = this.slider("gain", "weights times", {
        min: LEAST_GAIN, max: MOST_GAIN, step: 0.1, value: 1, text: (x) => figures(x, 2), moved: () => (this.verdict = ""),
      });
      this.guesses = ANSWERS.map(([answer, text]) => this.button(`guess-${answer}`, text, () => this.guess(answer)));
      this.question = html("div", { class: "choice", role: "group", "aria-label": "your guess" },
        html("span", {}, "A gradient of length 1 enters at the top. How much arrives at the bottom?"), ...this.guesses);
      this.picture = svg("svg", { viewBox: "0 0 360 234", width: 540, height: 351, "aria-hidden": true });
      live.append(
        html("div", { class: "controls" }, this.added.box, this.norm.box),
        html("div", { class: "controls" }, this.gain.box, this.scaled.box),
        this.question, this.status, this.picture,
        html("p", {}, "spread of the token at the top ", html("strong", {}, this.number("spread")),
          ", gradient at the bottom ", html("strong", {}, this.number("gradient"))),
        html("p", {}, `at weights times ${LEAST_GAIN} to ${MOST_GAIN}: spread `, this.number("spreads"), ", gradient ", this.number("gradients")),
        html("p", {}, "predicted: ", this.number("predicted"), " of ", this.number("asked")),
        html("p", {}, "Goal: find the three arrangements in which both stay between ¼ and 4, however far the slider is moved. One needs the box."));
      this.verdict = "";
    }

    get arrangement() {
      return `${this.added.value} ${this.norm.value}`;
    }

    run(gain) {
      const { parts, token, gradient } = this.data;
      const share = this.scaled.value ? 1 / Math.sqrt(parts.length) : 1;
      const way = stream({
        parts, token, gradient, gain: gain * share, added: this.added.value === "on", norm: this.norm.value,
      });
      return { spreads: way.tokens.map(spread), gradients: way.gradients.map(size) };
    }

    guess(answer) {
      const arriving = this.run(this.gain.value).gradients[0];
      const right = place(arriving) === answer;
      this.predicted.set(this.arrangement, right);
      this.verdict = `${right ? "Right" : "No"}: ${figures(arriving, 2)} of it arrives.`;
    }

    update() {
      const open = this.predicted.has(this.arrangement);
      this.question.hidden = open;
      const { spreads, gradients } = this.run(this.gain.value);
      const all = GAINS.map((gain) => this.run(gain));
      const tops = all.map((way) => way.spreads.at(-1));
      const bottoms = all.map((way) => way.gradients[0]);
      this.put({
        spread: open ? figures(spreads.at(-1), 2) : "?", gradient: open ? figures(gradients[0], 2) : "?",
        spreads: open ? ends(tops) : "?", gradients: open ? ends(bottoms) : "?",
        predicted: [...this.predicted.values()].filter(Boolean).length, asked: this.predicted.size,
      });
      this.draw(open ? spreads : [], open ? gradients : []);
      this.say(open ? `${this.verdict} ${this.judge(tops, bottoms)}`.trim() : "Guess before you see the lines.");
    }

    judge(tops, bottoms) {
      const [token, gradient] = [tops.every(inBand), bottoms.every(inBand)];
      if (token && gradient) return "This is one of the three: neither leaves the band.";
      if (gradient) return "The gradient stays in the band at every gain, the token does not.";
      if (token) return "The token stays in the band at every gain, the gradient does not.";
      return "At some gain both leave the band.";
    }

    draw(spreads, gradients) {
      const x = (part) => LEFT + (part / this.data.parts.length) * WIDTH;
      const y = (value) => MIDDLE - (Math.max(-DECADES, Math.min(DECADES, Math.log10(value))) / DECADES) * HEIGHT;
      const line = (values, style) => values.length &&
        svg("polyline", { points: values.map((value, part) => [x(part), y(value)]).join(" "), class: `thick ${style}` });
      const marks = [-6, -3, 0, 3, 6].map((power) =>
        svg("text", { x: LEFT - 4, y: y(10 ** power) + 4, "text-anchor": "end" }, power ? `1e${power}`.replace("-", "−") : "1"));
      const band = svg("rect", {
        x: LEFT, y: y(HIGH), width: WIDTH, height: y(LOW) - y(HIGH), style: "fill: color-mix(in srgb, var(--cf-accent) 18%, transparent)",
      });
      const frame = svg("path", { d: `M${LEFT} ${MIDDLE - HEIGHT}V${MIDDLE + HEIGHT}H${LEFT + WIDTH}`, class: "line" });
      const sample = (from, style, text) => [
        svg("line", { x1: from, x2: from + 24, y1: 226, y2: 226, class: `thick ${style}` }), svg("text", { x: from + 30, y: 230 }, text),
      ];
      const top = this.data.parts.length;
      this.picture.replaceChildren(...[
        band, frame, ...marks, line(spreads, "accent"), line(gradients, "warm dashed"),
        ...sample(8, "accent", "spread of the token"), ...sample(172, "warm dashed", "length of the gradient"),
        svg("text", { x: LEFT, y: 207 }, "bottom"), svg("text", { x: LEFT + WIDTH, y: 207, "text-anchor": "end" }, `after part ${top}`),
      ].filter(Boolean));
    }
  }
  customElements.define("stream-depth", StreamDepth);
})();
