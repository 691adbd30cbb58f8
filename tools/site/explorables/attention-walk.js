// One token through self-attention: choose the target, move a query, a key or a value, divide by √K or not.
(() => {
  const { Explorable, html, svg, fixed, figures, short, tint, arithmetic } = globalThis.clearformer;
  const { attend, range, sum } = arithmetic;
  const STEPS = [[1, "1 parts"], [2, "2 compare"], [3, "3 share out"], [4, "4 collect"]];
  const [LIMIT, ALONE] = [4, 0.99];
  const vector = (numbers) => `(${numbers.map(short).join(", ")})`;

  class AttentionWalk extends Explorable {
    static needs = { words: "texts", features: "texts", queries: "rows", keys: "rows", values: "numbers", target: "number" };
    static together = ["words", "queries", "keys", "values"];

    build(live) {
      const { words, target } = this.data;
      this.reset();
      this.target = this.choice("target", "Target", words.map((word, i) => [i, word]), target);
      this.target.chosen = () => this.take();
      this.steps = this.choice("step", "Look at", STEPS, 4);
      this.root = this.toggle("root", "divide the scores by √K");
      this.arcs = svg("svg", { viewBox: `0 0 ${100 * words.length} 100`, preserveAspectRatio: "none", class: "arcs", "aria-hidden": true, height: 64 });
      this.arcs.style.cssText = "width: 100%; height: 4rem";
      this.table = this.grid(this.target.buttons, [
        ["key", "key", { "data-step": 1 }], ["value", "token-value", { "data-step": 1 }],
        ["score", "score", { "data-step": 2 }],
        ["exp", "exp", { "data-step": 3 }], ["weight", "weight", { "data-step": 3 }],
        ["weight × value", "product", { "data-step": 4 }],
      ], "choose a target");
      this.table.tBodies[0].prepend(html("tr", {}, html("th", { scope: "row" }, "who is heard"),
        html("td", { colspan: words.length, style: "padding: 0 !important" }, this.arcs)));
      const sums = html("p", {}, "query ", this.number("query"), " · sum of exp ", this.number("exp-sum"),
        " · sum of weights ", this.number("weight-sum"), " · output ", html("strong", {}, this.number("output")));
      const question = this.ask(`${words[0]} asks: to which word will it give the most?`, words.map((word, i) => [i, word]),
        /^(exp|weight|product|output)/, (guess) => this.judge(guess));
      live.append(question, this.table, this.status, html("div", { class: "controls" }, this.root.box, this.steps.box), sums, this.mover(),
        html("p", {}, `Goal: move the query of ${words[target]} until it hears itself alone, with ${ALONE} of the weight or more.`));
    }

    judge(guess) {
      const { words, queries, keys, values } = this.data;
      const { weights } = attend(queries[0], keys, values.map((v) => [v]));
      const best = weights.indexOf(Math.max(...weights));
      return `${guess === best ? "Right" : "No"}: it gives ${fixed(weights[best], 2)} to ${words[best]}.`;
    }

    reset() {
      const { queries, keys, values } = this.data;
      this.parts = { query: queries.map((q) => [...q]), key: keys.map((k) => [...k]), value: values.map((v) => [v]) };
    }

    // The plane of queries and keys, and the sliders that move the same arrows.
    mover() {
      const { words, features } = this.data;
      const option = (part, i) => html("option", { value: `${part} ${i}` }, `the ${part} of ${words[i]}`);
      this.picked = html("select", { "aria-label": "Move", "data-control": "part", input: () => (this.take(), this.update()) },
        html("option", { value: "query" }, "the query of the target"),
        ...["key", "value"].flatMap((part) => range(words.length).map((i) => option(part, i))));
      const part = (i) => this.slider(`part-${i}`, features[i], { min: -LIMIT, max: LIMIT, step: 0.1, value: 0, text: short, moved: (x) => (this.vector()[i] = x) });
      this.sliders = [part(0), part(1)];
      this.plane = svg("svg", { viewBox: "-115 -115 230 230", width: 230, height: 230, "aria-hidden": true });
      this.plane.style.cssText = "touch-action: none; cursor: move; max-width: 230px";
      const drag = (event) => this.drag(event);
      this.plane.addEventListener("pointerdown", (event) => (this.plane.setPointerCapture(event.pointerId), drag(event)));
      this.plane.addEventListener("pointermove", (event) => event.buttons && drag(event));
      const back = this.button("reset", "All as at the start", () => {
        this.reset();
        this.target.set(this.data.target);
        this.steps.set(STEPS.length);
        this.root.set(false);
        this.take();
      });
      this.take();
      return html("div", { class: "sides" },
        html("div", {}, html("p", {}, html("label", {}, "Move ", this.picked)), ...this.sliders.map((s) => s.box), html("p", {}, back)),
        this.plane);
    }

    vector() {
      const [part, i] = this.picked.value.split(" ");
      return part === "query" ? this.parts.query[this.target.value] : this.parts[part][i];
    }

    take() {
      const numbers = this.vector();
      this.sliders.forEach((slider, i) => {
        slider.input.disabled = i >= numbers.length;
        slider.set(numbers[i] ?? 0);
      });
    }

    drag(event) {
      const box = this.plane.getBoundingClientRect();
      const at = [event.clientX - box.x - box.width / 2, box.y + box.height / 2 - event.clientY];
      const numbers = this.vector();
      if (numbers.length < 2) return;
      at.forEach((pixels, i) => {
        const x = (pixels / box.width) * (230 / 25);
        numbers[i] = Math.round(Math.min(Math.max(x, -LIMIT), LIMIT) * 10) / 10;
      });
      this.take();
      this.update();
    }

    update() {
      const { words } = this.data;
      const n = this.target.value;
      const { query, key, value } = this.parts;
      const divisor = this.root.value ? Math.sqrt(query[n].length) : 1;
      const { scores, weights, output } = attend(query[n], key, value, { divisor });
      const exponentials = scores.map(Math.exp);
      words.forEach((_, s) => this.put({
        [`key-${s}`]: vector(key[s]), [`token-value-${s}`]: short(value[s][0]), [`score-${s}`]: fixed(scores[s], 2),
        [`exp-${s}`]: figures(exponentials[s]), [`weight-${s}`]: figures(weights[s]),
        [`product-${s}`]: figures(weights[s] * value[s][0]),
      }));
      this.put({
        query: vector(query[n]), "exp-sum": figures(sum(exponentials)), "weight-sum": fixed(sum(weights), 2),
        output: fixed(output[0]),
      });
      const seen = this.closed ? words.map(() => 0) : weights;
      seen.forEach((weight, s) => this.querySelector(`[data-value="weight-${s}"]`).setAttribute("style", tint(weight)));
      this.table.querySelectorAll("tr[data-step]").forEach((row) =>
        row.classList.toggle("lit", Number(row.dataset.step) === this.steps.value));
      this.table.querySelector('tr[data-step="2"] th').textContent = this.root.value ? "score / √K" : "score";
      this.drawArcs(seen);
      this.drawPlane(n);
      this.say(this.sentence(n, scores, exponentials, weights, output));
    }

    sentence(n, scores, exponentials, weights, output) {
      const { words } = this.data;
      const best = weights.indexOf(Math.max(...weights));
      if (n === this.data.target && weights[n] >= ALONE) return `The goal is reached: ${words[n]} hears itself alone.`;
      return {
        1: `${words[n]} makes a query, ${vector(this.parts.query[n])}. Every token makes a key and a value.`,
        2: `The query meets every key. With the key of ${words[best]} the score is ${fixed(scores[best], 2)}.`,
        3: `Every exponential is divided by their sum, ${figures(sum(exponentials))}. ${words[best]} gets ${figures(weights[best])}.`,
        4: `${words[n]} takes ${words.map((word, s) => `${fixed(weights[s], 2)} of ${word}`).join(", ")}: ${fixed(output[0])}.`,
      }[this.steps.value];
    }

    drawArcs(weights) {
      const to = 100 * this.target.value + 50;
      this.arcs.replaceChildren(...weights.map((weight, s) => {
        const from = 100 * s + 50;
        const path = from === to ? `M${to - 14} 0C${to - 30} 45 ${to + 30} 45 ${to + 14} 0` : `M${from} 0C${from} 110 ${to} 110 ${to} 0`;
        return svg("path", { d: path, class: "accent", "stroke-width": 0.5 + 12 * weight, "vector-effect": "non-scaling-stroke" });
      }));
    }

    drawPlane(n) {
      const { words } = this.data;
      const arrow = ([x, y], style, label, away) => [
        svg("line", { x2: 25 * x, y2: -25 * y, class: `thick ${style}` }),
        svg("circle", { cx: 25 * x, cy: -25 * y, r: 5, class: `full ${style}` }),
        svg("text", { x: Math.max(Math.min(25 * x, 60), -60), y: -25 * y + away, "text-anchor": "middle" }, label),
      ];
      const places = new Map();
      this.parts.key.forEach((key, s) => places.set(String(key), [...(places.get(String(key)) || []), words[s]]));
      this.plane.replaceChildren(
        svg("line", { x1: -112, x2: 112, class: "line" }), svg("line", { y1: -112, y2: 112, class: "line" }),
        ...[...places].flatMap(([key, names]) => arrow(key.split(",").map(Number), "accent dashed", names.join(", "), key.endsWith(",0") ? 20 : -10)),
        ...arrow(this.parts.query[n], "warm", "query", places.has(String(this.parts.query[n])) ? 20 : -10));
    }
  }
  customElements.define("attention-walk", AttentionWalk);
})();
