// A soft look-up table on a map: any word asks, the temperature decides how sharply it is answered.
(() => {
  const { Explorable, html, svg, fixed, figures, arithmetic } = globalThis.clearformer;
  const { attend, dot, range } = arithmetic;
  const SIZE = [360, 250];
  const LONGEST = 40;
  const [NINE_TENTHS, HALF, COLD] = [0.9, 0.45, 0.11];
  const ANSWERS = [0.5, 0.25, 0.05];

  // The neighbouring letters of a word, blanks at its ends included, counted and scaled to length 1.
  const letterPairs = (word, known) => {
    const text = ` ${word.toLowerCase()} `;
    const pairs = range(text.length - 1).map((i) => text.slice(i, i + 2));
    const counts = known.map((pair) => pairs.filter((p) => p === pair).length);
    const norm = Math.max(Math.sqrt(dot(counts, counts)), 1);
    return counts.map((n) => n / norm);
  };

  class SoftLookup extends Explorable {
    static needs = { names: "texts", pairs: "texts", keys: "rows", values: "rows", words: "texts", log_temperature: "number" };
    static together = ["names", "keys", "values"];

    build(live) {
      const { names, words, log_temperature } = this.data;
      this.tau = this.slider("temperature", "temperature τ", { min: -2, max: 1, step: 0.05, value: log_temperature, text: (x) => figures(10 ** x) });
      this.word = html("input", { type: "text", value: words[0], maxlength: LONGEST, size: 12, "aria-label": "or type a word", "data-control": "word" });
      this.samples = this.choice("sample", "Ask for", words.map((word) => [word, word]), words[0]);
      this.samples.chosen = (word) => (this.word.value = word);
      this.word.addEventListener("input", () => (this.samples.set(this.word.value), this.update()));
      const table = html("table", {},
        html("thead", {}, html("tr", {}, ...["key", "score", "weight", ""].map((text) => text ? html("th", { scope: "col" }, text) : html("td")))),
        html("tbody", {}, ...names.map((name, s) => html("tr", {}, html("th", { scope: "row" }, name),
          html("td", { "data-value": `score-${s}` }), html("td", { "data-value": `weight-${s}` }),
          html("td", {}, html("span", { class: "bar" }, html("span")))))));
      const answer = html("p", {}, "answer: ", html("strong", {}, this.number("answer-0"), "° north, ", this.number("answer-1"), "° east"));
      this.map = svg("svg", { viewBox: `0 0 ${SIZE.join(" ")}`, width: SIZE[0], height: SIZE[1], "aria-hidden": true });
      live.append(
        this.ask(`“${words[0]}”: from which temperature down does one city get nine tenths of the weight?`,
          ANSWERS.map((tau) => [tau, `about ${tau}`]), /^(weight|answer)-/, (guess) => this.judge(words[0], guess)),
        html("div", { class: "controls" }, this.tau.box),
        html("div", { class: "controls" }, this.samples.box, html("label", {}, "or type a word ", this.word)),
        html("div", { class: "sides" }, this.map, html("div", {}, table, answer)), this.status,
        html("p", {}, `Goal: find a word that two cities share, with ${HALF} or more each, at a temperature of 0.1 or lower.`));
      this.place = this.projection();
    }

    // Latitude and longitude to the picture, with the same scale everywhere and room for the names.
    projection() {
      const { values } = this.data;
      const [[south, north], [west, east]] = [0, 1].map((i) => [Math.min(...values.map((v) => v[i])), Math.max(...values.map((v) => v[i]))]);
      return ([lat, lon]) => [
        34 + ((lon - west) / (east - west || 1)) * (SIZE[0] - 84), 34 + ((north - lat) / (north - south || 1)) * (SIZE[1] - 68)];
    }

    // The guess beside the highest temperature at which one city gets nine tenths.
    judge(word, guess) {
      const { pairs, keys, values } = this.data;
      const share = (tau) => Math.max(...attend(letterPairs(word, pairs), keys, values, { divisor: tau }).weights);
      const found = range(300).map((i) => 10 ** (1 - i / 100)).find((tau) => share(tau) > NINE_TENTHS);
      const off = (tau) => Math.abs(Math.log(tau / found));
      return `${ANSWERS.every((tau) => off(tau) >= off(guess)) ? "Right" : "No"}: from ${figures(found, 2)} down.`;
    }

    update() {
      const { names, pairs, keys, values } = this.data;
      const word = this.word.value;
      const { scores, weights, output } = attend(letterPairs(word, pairs), keys, values, { divisor: 10 ** this.tau.value });
      names.forEach((_, s) => {
        this.put({ [`score-${s}`]: fixed(scores[s] * 10 ** this.tau.value), [`weight-${s}`]: fixed(weights[s]) });
        this.querySelectorAll(".bar > span")[s].style.width = `${this.closed ? 0 : 100 * weights[s]}%`;
      });
      this.put({ "answer-0": fixed(output[0], 1), "answer-1": fixed(output[1], 1) });
      if (this.closed) this.draw(weights.map(() => 0));
      else this.draw(weights, this.place(output));
      this.say(this.sentence(word, weights));
    }

    sentence(word, weights) {
      const largest = Math.max(...weights);
      const name = this.data.names[weights.indexOf(largest)];
      if (!word.trim()) return "Type a word: the table asks every key how well it fits.";
      if (Math.max(...weights) - Math.min(...weights) < 1e-9) return `“${word}” fits no key better than another: a bit of each, and no way to say “not found”.`;
      const shared = this.data.names.filter((_, s) => weights[s] >= HALF);
      if (shared.length === 2 && 10 ** this.tau.value < COLD) return `The goal is reached: “${word}” is shared by ${shared.join(" and ")}.`;
      if (largest > 0.99) return `“${word}” is answered with ${name}, and hardly anything else: nearly a dictionary.`;
      return `“${word}” is answered with a mixture: ${fixed(largest, 2)} of ${name}, the rest from the others.`;
    }

    draw(weights, answer) {
      const { names, values } = this.data;
      const at = values.map(this.place);
      const line = (a, b, more) => svg("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], ...more });
      const hull = range(at.length).flatMap((i) => range(i).map((j) => line(at[i], at[j], { class: "line dashed", opacity: 0.4 })));
      const strings = !answer ? [] : at.map((city, s) => line(city, answer, { class: "accent", "stroke-width": 0.5 + 10 * weights[s] }));
      const cities = at.flatMap(([x, y], s) => [
        svg("circle", { cx: x, cy: y, r: 4 + 12 * weights[s], class: "accent full", "fill-opacity": 0.35 }),
        svg("text", { x, y: y - 20, "text-anchor": "middle" }, names[s])]);
      const cross = !answer ? [] : [svg("path", { d: `M${answer[0] - 8} ${answer[1] - 8}l16 16m0 -16l-16 16`, class: "warm thick" })];
      this.map.replaceChildren(...hull, ...strings, ...cities, ...cross);
    }
  }
  customElements.define("soft-lookup", SoftLookup);
})();
