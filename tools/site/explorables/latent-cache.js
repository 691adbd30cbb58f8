// What attention keeps of a token: keys and values of every head, or one latent; and what a new token multiplies.
(() => {
  const { Explorable, html, svg, fixed, whole } = globalThis.clearformer;
  const LOSS = 0.05; // bits a character

  class LatentCache extends Explorable {
    static needs = { width: "number", heads: "number", ranks: "numbers", bits: "numbers", full: "number" };
    static together = ["ranks", "bits"];

    build(live) {
      const { heads, width, ranks } = this.data;
      this.all = 2 * heads * width; // numbers of a key and a value of every head
      this.way = this.choice("way", "Kept and read", [["heads", "keys and values"], ["unpacked", "a latent, unpacked"], ["absorbed", "a latent, absorbed"]], "heads");
      this.rank = this.slider("rank", "numbers in the latent: R =", { min: 0, max: ranks.length - 1, value: 0, text: (i) => String(ranks[i]) });
      this.picture = svg("svg", { viewBox: "0 0 420 122", width: 440, height: 128, "aria-hidden": true });
      const line = (label, name) => html("tr", {}, html("th", { scope: "row" }, label), html("td", { "data-value": name }));
      live.append(
        this.ask("A latent keeps half of the numbers, and all heads read it as it is (absorbed). Does a new token multiply more than with keys and values, or less?",
          [["less", "less"], ["same", "as much"], ["more", "more"]], /^(products|bits)$/, (guess) => this.judge(guess)),
        html("div", { class: "controls" }, this.way.box, this.rank.box), this.picture, this.status,
        html("table", {}, html("tbody", {}, line("numbers kept for a token in a block", "kept"), line("multiplications of a new token for each token before", "products"),
          line("measured with the shipped model: bits a character", "bits"))),
        html("p", {}, `Goal: a quarter of the numbers or less, at most ${LOSS} bits lost, and no more multiplications than with keys and values.`));
    }

    // For each head a product for the score and one for the average, each as wide as what is read.
    products(way, rank) {
      const { heads } = this.data;
      return way === "heads" ? this.all : way === "absorbed" ? 2 * heads * rank : this.all * (rank + 1);
    }

    judge(guess) {
      const times = this.products("absorbed", this.all / 2) / this.all;
      const right = times > 1 ? "more" : times < 1 ? "less" : "same";
      return `${guess === right ? "Right" : "No"}: ${times} times as much, since every head reads the whole latent.`;
    }

    update() {
      const { ranks, bits, full } = this.data;
      const latent = this.way.value !== "heads";
      const rank = ranks[this.rank.value];
      const [kept, found] = latent ? [rank, bits[this.rank.value]] : [this.all, full];
      const products = this.products(this.way.value, rank);
      this.put({ kept: whole(kept), products: whole(products), bits: fixed(found, 2) });
      this.draw(kept, this.way.value === "absorbed" ? rank : this.all);
      const told = `${fixed((100 * kept) / this.all, 1)} % of the numbers, ${fixed(products / this.all, 2)} times the multiplications, ${fixed(found - full, 2)} bits lost.`;
      this.say(4 * kept <= this.all && found - full <= LOSS && products <= this.all ? `The goal is reached: ${told}` : told);
    }

    // The sandwich: as wide as a token, as what is kept, as what the heads read; what each is stands beside it.
    draw(kept, read) {
      const sizes = [this.all / 2, kept, read];
      const half = sizes.map((size) => (130 * size) / this.all);
      this.picture.replaceChildren(...["token", "kept", "read by heads"].flatMap((name, i) => {
        const y = 10 + 50 * i;
        const [a, b] = [half[i], half[i + 1] ?? 0];
        return [i < 2 && svg("path", { d: `M${285 - a},${y}h${2 * a}L${285 + b},${y + 50}h${-2 * b}Z`, class: "accent full", "fill-opacity": 0.18 }),
          svg("line", { x1: 285 - a, x2: 285 + a, y1: y, y2: y, class: i === 1 ? "warm thick" : "accent" }),
          svg("text", { x: 2, y: y + 5 }, `${name}: ${whole(sizes[i])}`)].filter(Boolean);
      }));
    }
  }
  customElements.define("latent-cache", LatentCache);
})();
