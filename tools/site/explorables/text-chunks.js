// A triangle of pairs cut into chunks: what is still compared pair by pair, and what comes through a state.
(() => {
  const { Explorable, html, svg, whole, arithmetic } = globalThis.clearformer;
  const { range, sum } = arithmetic;
  const CELL = 18;
  const FREE = 26; // room for what stands beside the triangle

  class TextChunks extends Explorable {
    static needs = { tokens: "number", width: "number" };

    build(live) {
      const { tokens, width } = this.data;
      this.all = range(tokens);
      this.size = this.slider("size", "tokens in a chunk", { min: 1, max: tokens, value: tokens / 2 });
      this.target = this.slider("target", "target", { min: 1, max: tokens, value: tokens - 2 });
      this.picture = this.draw();
      const [right, every] = [this.count(4).pairs, this.count(tokens).pairs];
      live.append(
        this.ask(`${tokens} tokens are read in chunks of 4. Of ${every} pairs, how many are still compared one by one?`,
          [tokens, right, every / 2].map((count) => [count, whole(count)]), /^(pairs|rounds|products)$/,
          (guess) => `${guess === right ? "Right" : "No"}: ${tokens / 4} small triangles of 10 pairs, ${right} in all.`),
        html("div", { class: "controls" }, this.size.box, this.target.box), this.picture, this.status,
        html("p", {}, "pairs ", html("strong", {}, this.number("pairs")), " · rounds, one after the other ",
          html("strong", {}, this.number("rounds")), ` · multiplications, with keys and values of width ${width}, `,
          html("strong", {}, this.number("products"))),
        html("p", {}, "Goal: find the largest chunk that spares a third of the multiplications of all pairs."));
    }

    // A score and a value for each pair; a state of width × width is written by all chunks but the last, read by all but the first.
    count(size) {
      const { tokens, width } = this.data;
      const pairs = sum(this.all.map((n) => (n % size) + 1));
      const [written, read] = [size * Math.floor((tokens - 1) / size), tokens - size];
      return { pairs, rounds: Math.ceil(tokens / size), products: 2 * width * pairs + width ** 2 * (written + read) };
    }

    draw() {
      const side = this.all.length * CELL;
      this.cells = this.all.map((n) => range(n + 1).map((s) =>
        svg("rect", { x: FREE + s * CELL + 1, y: FREE + n * CELL + 1, width: CELL - 2, height: CELL - 2 })));
      this.row = svg("rect", { class: "line thick", x: FREE - 2, width: side + 4, height: CELL });
      const size = side + 2 * FREE;
      return svg("svg", { viewBox: `0 0 ${size} ${size - FREE + 6}`, role: "img", style: `width: ${size}px` },
        svg("text", { x: FREE, y: FREE - 9 }, "source →"),
        svg("text", { transform: `translate(${FREE - 9} ${FREE + 62}) rotate(-90)` }, "← target"),
        ...this.cells.flat(), this.row);
    }

    update() {
      const { tokens } = this.data;
      const [size, n] = [this.size.value, this.target.value - 1];
      const [counted, every] = [this.count(size), this.count(tokens)];
      this.cells.forEach((row, m) => row.forEach((cell, s) => {
        const pair = Math.floor(s / size) === Math.floor(m / size);
        cell.setAttribute("class", pair ? "accent full" : "warm dashed");
      }));
      this.row.setAttribute("y", FREE + n * CELL);
      this.put({ pairs: whole(counted.pairs), rounds: whole(counted.rounds), products: whole(counted.products) });
      const before = n - (n % size);
      const through = before ? `${whole(before)} tokens through one state` : "no state";
      const told = `Target ${n + 1} reads ${through}, and ${whole(n - before + 1)} one by one.`;
      this.picture.setAttribute("aria-label", `A triangle of ${tokens} targets and sources, in chunks of ${size}. ${told}`);
      const spares = (it) => 3 * this.count(it).products <= 2 * every.products;
      const reached = spares(size) && !this.all.some((m) => m + 1 > size && spares(m + 1));
      this.say(`${reached ? "The goal is reached. " : ""}${told}`);
    }
  }
  customElements.define("text-chunks", TextChunks);
})();
