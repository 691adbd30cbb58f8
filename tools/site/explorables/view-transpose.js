// Cutting features into heads: transpose moves an axis, view only reads on in memory.
(() => {
  const { Explorable, html, tint, arithmetic } = globalThis.clearformer;
  const { range } = arithmetic;
  const COLOURS = ["accent", "warm", "right", "line"];
  const ANSWERS = [["own", "its features of every token"], ["whole", "whole tokens"], ["torn", "a stretch that ends inside a token"]];
  const WAYS = [["transpose", "split, then transpose"], ["view", "view"]];

  // Which token and feature (both from 0) entry [n, k] of head h holds.
  const headEntry = (way, h, n, k, { N, H, K }) => {
    if (way === "transpose") return [n, h * K + k];
    const piece = h * N + n;
    return [Math.floor(piece / H), (piece % H) * K + k];
  };

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
      live.append(
        this.ask(`Cut by view: what will head 0 hold of ${tokens} tokens and ${heads} heads?`, ANSWERS, /^head/, (guess) => this.judge(guess)),
        html("div", { class: "controls" }, this.way.box, this.entry.box), this.place, this.status,
        html("div", { class: "controls" }, this.N.box, this.H.box, this.K.box),
        html("p", {}, "Two goals: find a size at which the two cuts agree; then, with two heads or more, sizes at which head 0, cut by view, holds whole tokens."));
    }

    // How many numbers of each token head 0 holds.
    held(way, { N, H, K }) {
      const tokens = range(N).flatMap((n) => range(K).map((k) => headEntry(way, 0, n, k, { N, H, K })[0]));
      return range(N).map((n) => tokens.filter((token) => token === n).length);
    }

    judge(guess) {
      const { tokens, heads, width } = this.data;
      const held = this.held("view", { N: tokens, H: heads, K: width });
      const [own, whole] = [held.every((count) => count === width), held.every((count) => count % (heads * width) === 0)];
      return guess === (own ? "own" : whole ? "whole" : "torn") ? "Right: cut by view and see." : "No: cut by view and see.";
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
      const hidden = this.closed && this.secret.test(name);
      const cell = (entry, i, j) => hidden ? html("td", {}, "?") : html("td", {
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
      if (H === 1) return "The first goal is reached: with a single head the two agree, for nothing has to move.";
      if (this.way.value === "transpose") return `Every head holds its own features of all ${N} tokens. ${follow}`;
      const held = this.held("view", { N, H, K });
      const goal = held.every((count) => count % (H * K) === 0) ? "The second goal is reached. " : "";
      const tokens = (share, test) => {
        const found = range(N).filter((n) => test(held[n])).map((n) => n + 1);
        return found.length ? [`${share} of token${found.length > 1 ? "s" : ""} ${found.join(", ")}`] : [];
      };
      const parts = [...tokens("all features", (count) => count === H * K),
        ...tokens("some features", (count) => count && count < H * K), ...tokens("nothing", (count) => !count)];
      return `${goal}Head 0 holds ${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}. ${follow}`;
    }
  }
  customElements.define("view-transpose", ViewTranspose);
})();
