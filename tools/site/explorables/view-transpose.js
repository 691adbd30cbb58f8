// Cutting features into heads: transpose moves an axis, view only reads on in memory.
(() => {
  const { Explorable, html, tint, arithmetic } = globalThis.clearformer;
  const { headEntry, range } = arithmetic;
  const COLOURS = ["accent", "warm", "right", "line"];
  const WAYS = [["transpose", "split, then transpose"], ["view", "view"]];

  class ViewTranspose extends Explorable {
    static needs = { tokens: "number", heads: "number", width: "number" };

    build(live) {
      const { tokens, heads, width } = this.data;
      this.way = this.choice("way", "Cut by", WAYS, "transpose");
      this.N = this.slider("tokens", "tokens N", { min: 2, max: 4, value: tokens });
      this.H = this.slider("heads", "heads H", { min: 1, max: 3, value: heads });
      this.K = this.slider("width", "features a head K", { min: 1, max: 3, value: width });
      this.entry = this.slider("entry", "follow number", { min: 1, max: 1, value: 1 });
      this.place = html("div", { class: "sides" });
      live.append(html("div", { class: "controls" }, this.way.box, this.entry.box), this.place,
        html("div", { class: "controls" }, this.N.box, this.H.box, this.K.box));
    }

    update() {
      const [N, H, K] = [this.N, this.H, this.K].map((slider) => slider.value);
      const sizes = { N, H, K };
      this.entry.input.max = N * H * K;
      this.entry.set(Math.min(this.entry.value, N * H * K));
      const followed = this.entry.value - 1;
      const at = (h, n, k) => headEntry(this.way.value, h, n, k, sizes);
      const matrix = range(N).map((n) => range(H * K).map((d) => [n, d]));
      const heads = range(H).map((h) => range(N).map((n) => range(K).map((k) => at(h, n, k))));
      const marked = ([n, d]) => n * H * K + d === followed;
      this.place.replaceChildren(this.cut(matrix, "q, a token a row", "q", marked),
        ...heads.map((rows, h) => this.cut(rows, `head ${h}`, `head-${h}`, marked)));
      this.say(this.sentence(heads, sizes, followed));
    }

    cut(rows, title, name, marked) {
      const cell = (entry, i, j) => html("td", {
        "data-value": `${name}-${i}-${j}`,
        style: `${tint(0.9, COLOURS[entry[0]])}; ${marked(entry) ? "outline: 3px solid; outline-offset: -3px; font-weight: 700" : ""}`,
      }, 10 * (entry[0] + 1) + entry[1]);
      const table = html("table", {}, html("caption", {}, title),
        html("tbody", {}, ...rows.map((row, i) => html("tr", {}, ...row.map((entry, j) => cell(entry, i, j))))));
      table.style.cssText = `flex: 0 1 auto; width: ${2.6 * rows[0].length}rem`;
      return table;
    }

    sentence(heads, { N, H, K }, followed) {
      const where = heads.findIndex((rows) => rows.flat().some(([n, d]) => n * H * K + d === followed));
      const follow = `The framed number is in head ${where}.`;
      if (H === 1) return "With a single head the two agree: nothing has to move.";
      if (this.way.value === "transpose") return `Every head holds its own features of all ${N} tokens. ${follow}`;
      const held = range(N).map((n) => heads[0].flat().filter(([token]) => token === n).length);
      const tokens = (share, test) => {
        const found = range(N).filter((n) => test(held[n])).map((n) => n + 1);
        return found.length ? [`${share} of token${found.length > 1 ? "s" : ""} ${found.join(", ")}`] : [];
      };
      const parts = [...tokens("all features", (count) => count === H * K),
        ...tokens("some features", (count) => count && count < H * K), ...tokens("nothing", (count) => !count)];
      return `Head 0 holds ${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}. ${follow}`;
    }
  }
  customElements.define("view-transpose", ViewTranspose);
})();
