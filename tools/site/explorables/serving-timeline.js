// A long prompt arrives while other texts are being written: who waits for whom, and for how long.
(() => {
  const { Explorable, html, svg, whole } = globalThis.clearformer;
  const WINDOW = 0.6; // seconds that are drawn

  class ServingTimeline extends Explorable {
    static needs = {
      flops: "number", bytes: "number", network: "number", weights: "number", size: "number", layers: "number",
      width: "number", kept: "number", length: "number", first: "number", gap: "number",
    };

    build(live) {
      const { first, gap } = this.data;
      this.way = this.choice("way", "The prompt is read", [["whole", "at once"], ["chunks", "in chunks"], ["apart", "on other machines"]], "whole");
      this.prompt = this.slider("prompt", "tokens of the prompt:", { min: 1, max: 32, value: 8, text: (n) => whole(1000 * n) });
      this.chunk = this.slider("chunk", "tokens in a chunk:", { min: 5, max: 13, value: 8, text: (n) => whole(2 ** n) });
      this.others = this.slider("others", "texts being written:", { min: 1, max: 128, value: 64 });
      this.picture = svg("svg", { viewBox: "0 0 400 130", width: 520, height: 169, "aria-hidden": true });
      const shown = (label, name) => [label, html("strong", {}, this.number(name)), " ms"];
      live.append(
        this.ask("The prompt is read in chunks instead of at once. When does its own first token come?",
          [["earlier", "earlier"], ["same", "at the same time"], ["later", "later"]], /^(first|gap)$/, (guess) => this.judge(guess)),
        html("div", { class: "controls" }, this.way.box, this.prompt.box), html("div", { class: "controls" }, this.chunk.box, this.others.box),
        this.picture, html("p", {}, "A box is a step. An empty one writes a token for each of the others, a full one reads the prompt, alone or besides; where dashed, the cache is sent."), this.status,
        html("p", {}, ...shown("first token of the new text after ", "first"), ...shown(" · longest wait of the others for a token ", "gap")),
        html("p", {}, `Goal: with one set of machines, 64 texts and a prompt of 8,000 tokens, the first token within ${first} ms and no wait longer than ${gap} ms.`));
    }

    matrices(n) {
      const { flops, bytes, weights, size } = this.data;
      return Math.max((2 * n * weights) / flops, (size * weights) / bytes);
    }

    // One step of writing: all weights, and the cache of every text.
    caches(n) {
      const { flops, bytes, layers, width, kept, size, length } = this.data;
      return n * Math.max((4 * layers * width * length) / flops, (2 * size * layers * kept * length) / bytes);
    }

    // The whole prompt, every token against the tokens before it.
    pairs(n) {
      const { flops, layers, width } = this.data;
      return (2 * layers * width * n * n) / flops;
    }

    // What happens, in seconds: when the first token comes, the longest wait of the others, and what the machines do.
    run(way, n, chunk, others) {
      const { size, layers, kept, network, flops, weights } = this.data;
      const [write, read] = [this.matrices(others) + this.caches(others), (2 * n * weights) / flops + this.pairs(n)];
      if (way === "whole") return { first: read, gap: read + write, rows: [[["read", read], ["write", write]]] };
      if (way === "apart") {
        const sent = (2 * size * layers * kept * n) / network;
        return { first: read + sent, gap: write, rows: [[["read", read], ["send", sent]], [["write", write]]] };
      }
      const steps = Math.ceil(n / chunk);
      const step = this.matrices(others + chunk) + this.caches(others) + this.pairs(n) / steps;
      return { first: steps * step, gap: step, rows: [[...Array(steps).fill(["both", step]), ["write", write]]] };
    }

    judge(guess) {
      const times = ["whole", "chunks"].map((way) => this.run(way, 8000, 256, 64).first);
      const right = times[1] > times[0] ? "later" : "earlier";
      return `${guess === right ? "Right" : "No"}: ${whole(1000 * times[0])} ms become ${whole(1000 * times[1])} ms in chunks of 256, since every chunk shares its step with the others.`;
    }

    update() {
      const n = 1000 * this.prompt.value;
      const { first, gap, rows } = this.run(this.way.value, n, 2 ** this.chunk.value, this.others.value);
      const [ms, wait] = [1000 * first, 1000 * gap];
      this.put({ first: whole(ms), gap: whole(wait) });
      this.chunk.input.disabled = this.way.value !== "chunks";
      this.draw(this.closed ? [] : rows, first);
      const asked = this.way.value !== "apart" && n === 8000 && this.others.value === 64;
      this.say(asked && ms <= this.data.first && wait <= this.data.gap ? "The goal is reached: a chunk that is as long as the arithmetic allows costs the others little."
        : this.way.value === "whole" ? "While the prompt is read, nobody else gets a token."
        : this.way.value === "chunks" ? "Every step writes a token for each of the others, and reads a piece of the prompt."
        : "The others notice nothing. The cache has to be sent, and there are twice as many machines.");
    }

    // A row for each set of machines: narrow boxes are steps that write, wide ones reading.
    draw(rows, first) {
      const x = (t) => 10 + (380 * t) / WINDOW;
      const styles = { read: "warm full", write: "line", both: "accent full", send: "warm dashed" };
      const boxes = rows.flatMap((row, i) => {
        const drawn = [];
        let t = 0;
        for (let k = 0; t < WINDOW; k += 1) {
          const [kind, seconds] = row[Math.min(k, row.length - 1)];
          if (kind === "send" && k >= row.length) break;
          drawn.push(svg("rect", { x: x(t), y: 25 + 45 * i, width: x(Math.min(t + seconds, WINDOW)) - x(t), height: 26, class: styles[kind], "fill-opacity": 0.5 }));
          t += seconds;
        }
        return drawn;
      });
      const flag = rows.length && first <= WINDOW ? [svg("line", { x1: x(first), x2: x(first), y1: 12, y2: 55, class: "warm thick" }), svg("text", { x: x(first), y: 10, "text-anchor": "middle" }, "first token")] : [];
      const ticks = [0, 0.2, 0.4, 0.6].map((t) => svg("text", { x: x(t), y: 127, "text-anchor": t ? "end" : "start" }, `${1000 * t} ms`));
      this.picture.replaceChildren(...boxes, ...flag, ...ticks, svg("line", { x1: 10, x2: 390, y1: 113, y2: 113, class: "line" }));
    }
  }
  customElements.define("serving-timeline", ServingTimeline);
})();
