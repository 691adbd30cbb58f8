// Rotary positions: every pair of features is a clock with two hands, a query's and a key's.
(() => {
  const { Explorable, html, svg, fixed, figures, whole, arithmetic } = globalThis.clearformer;
  const { dot, range, sum } = arithmetic;
  const FARTHEST = 20;

  // Radians a position, one for each pair of features; first = 1 starts one pair late.
  const frequencies = (width, base, first = 0) => range(width / 2).map((i) => base ** ((-2 * (i + first)) / width));
  const hand = (length, angle) => [length * Math.cos(angle), length * Math.sin(angle)];

  class RotaryClock extends Explorable {
    static needs = { widths: "numbers", width: "number", log_base: "number", query: "number", key: "number" };

    build(live) {
      const { widths, width, log_base, query, key } = this.data;
      this.both = this.slider("both", "move both tokens by", { min: 0, max: 60, value: 0 });
      this.query = this.slider("query", "position of the query, n", { min: 0, max: FARTHEST, value: query });
      this.key = this.slider("key", "position of the key, s", { min: 0, max: FARTHEST, value: key });
      this.base = this.slider("base", "base", { min: 0.5, max: 6, step: 0.5, value: log_base, text: (x) => (x < 2 ? figures : whole)(10 ** x) });
      this.width = this.choice("width", "features K", widths.map((w) => [w, w]), width);
      this.late = this.toggle("late", "exponents one pair late");
      this.clocks = html("div", { style: "display: flex; flex-wrap: wrap; gap: .5rem; justify-content: center" });
      this.kernel = svg("svg", { viewBox: "-150 -62 300 124", width: 360, height: 149, "aria-hidden": true });
      live.append(
        html("div", { class: "controls" }, this.both.box),
        html("div", { class: "controls" }, this.query.box, this.key.box),
        this.clocks, this.status,
        html("p", {}, "positions ", this.number("places"), " · distance n − s = ", this.number("distance"), " · score ",
          html("strong", {}, this.number("score")), ", divided by the number of pairs ", html("strong", {}, this.number("mean"))),
        this.kernel,
        html("div", { class: "controls" }, this.width.box, this.late.box, this.base.box));
    }

    // The product of the turned hands, pair by pair; before, query and key are (1, 0) in every pair.
    products(n, s) {
      return this.speeds().map((speed) => dot(hand(1, speed * n), hand(1, speed * s)));
    }

    speeds() {
      return frequencies(this.width.value, 10 ** this.base.value, this.late.value ? 1 : 0);
    }

    update() {
      const [n, s] = [this.query, this.key].map((slider) => slider.value + this.both.value);
      const products = this.products(n, s);
      const mean = sum(products) / products.length;
      this.clocks.replaceChildren(...this.speeds().map((speed, i) => this.clock(speed, n, s, i)));
      this.put({
        places: `${n} and ${s}`, distance: fixed(n - s, 0), score: fixed(sum(products)), mean: fixed(mean),
        ...Object.fromEntries(products.map((x, i) => [`pair-${i}`, fixed(x)])),
      });
      this.draw(n - s, mean);
      const turned = this.both.value ? `Every hand has turned, each by its own angle. The score has not changed: it knows only the distance, ${fixed(n - s, 0)}.` : "Move both tokens: every hand turns. Watch the score.";
      this.say(`Score ${fixed(sum(products))}. ${turned}`);
    }

    clock(speed, n, s, i) {
      const drawn = (place, style, length) => {
        const [x, y] = hand(length, speed * place);
        return svg("line", { x2: x, y2: -y, class: `thick ${style}` });
      };
      const face = svg("svg", { viewBox: "-40 -40 80 80", width: 80, height: 80, "aria-hidden": true },
        svg("circle", { r: 38, class: "line" }), drawn(s, "accent dashed", 34), drawn(n, "warm", 28));
      return html("div", { style: "text-align: center; font-size: .85em" }, face, `pair ${i + 1}: `, this.number(`pair-${i}`));
    }

    draw(distance, mean) {
      const point = (d, y) => [d * 6.6, -50 * y];
      const steps = range(8 * FARTHEST + 1).map((i) => i / 4 - FARTHEST);
      const curve = steps.map((d) => point(d, sum(this.products(d, 0)) / this.speeds().length));
      const [x, y] = point(distance, mean);
      this.kernel.replaceChildren(
        svg("line", { x1: -140, x2: 140, class: "line" }), svg("line", { y1: -52, y2: 52, class: "line" }),
        svg("polyline", { points: curve.join(" "), class: "accent", "stroke-width": 2 }),
        svg("line", { x1: x, x2: x, y2: y, class: "warm dashed" }), svg("circle", { cx: x, cy: y, r: 5, class: "warm full" }),
        svg("text", { x: -148, y: 14 }, "distance −20"), svg("text", { x: 140, y: 14, "text-anchor": "end" }, "20"),
        svg("text", { x: -148, y: -48 }, "score / pairs"));
    }
  }
  customElements.define("rotary-clock", RotaryClock);
})();
