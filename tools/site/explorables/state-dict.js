// A tower to fill: which row of a file of weights lands in which row of the queries, keys and values of a model.
(() => {
  const { Explorable, html, tint, arithmetic } = globalThis.clearformer;
  const { range } = arithmetic;
  const PARTS = ["queries", "keys", "values"];
  const COLOURS = ["accent", "warm", "right"];
  const FILES = [["stacked", "GPT-2"], ["halves", "Llama"], ["pairs", "Llama, as GGUF"]];
  const NAMES = { halves: ["q_proj", "k_proj", "v_proj"], pairs: ["attn_q", "attn_k", "attn_v"] };
  const ANSWERS = [["stays", "head 0, row 1"], ["half", "head 0, first row of the second half"], ["next", "head 1, row 0"]];

  // Where row r of the file (from 0, through queries, keys and values) belongs: part, head, row of the head.
  const landing = (file, r, { H, K }) => {
    const part = Math.floor(r / (H * K));
    const [head, k] = [Math.floor((r % (H * K)) / K), r % K];
    if (file !== "pairs" || part === 2) return [part, head, k];
    return [part, head, k % 2 ? K / 2 + (k - 1) / 2 : k / 2];
  };

  class StateDict extends Explorable {
    static needs = { heads: "number", width: "number" };

    build(live) {
      const { heads, width } = this.data;
      this.file = this.choice("file", "The file", FILES, "pairs");
      this.way = this.choice("way", "Put each row", [["sorted", "where it belongs"], ["lying", "where it lay"]], "sorted");
      this.H = this.slider("heads", "heads H", { min: 1, max: 3, value: heads });
      this.K = this.slider("width", "features a head K", { min: 2, max: 6, step: 2, value: width });
      this.row = this.slider("row", "follow", { min: 0, max: 1, value: 1, text: (r) => this.named(r) });
      this.tower = html("div", { class: "sides" });
      live.append(
        this.ask(`A GGUF file, ${heads} heads of ${width} features. Where does row 1 of attn_q belong?`, ANSWERS, /^row/, (guess) => this.judge(guess)),
        html("div", { class: "controls" }, this.file.box, this.way.box, this.row.box), this.tower, this.status,
        html("div", { class: "controls" }, this.H.box, this.K.box),
        html("p", {}, "The numbers are rows of the file; at a ✗ another row belongs. Two goals: put the rows of the GGUF file where they lay, and follow one of the queries or keys that is right all the same; then find a size at which all rows are."));
    }

    get sizes() {
      return { H: this.H.value, K: this.K.value };
    }

    named(r) {
      if (!this.file) return String(r);
      const D = this.H.value * this.K.value;
      if (this.file.value === "stacked") return `column ${r} of c_attn`;
      return `row ${r % D} of ${NAMES[this.file.value][Math.floor(r / D)]}`;
    }

    judge(guess) {
      const { heads: H, width: K } = this.data;
      const [, head, k] = landing("pairs", 1, { H, K });
      return guess === (head ? "next" : k === 1 ? "stays" : "half") ? "Right: follow it." : "No: follow it and see.";
    }

    // The row of the file that each row of the model gets, in the order of the model.
    placed() {
      const rows = range(3 * this.H.value * this.K.value);
      if (this.way.value === "lying") return rows;
      const { H, K } = this.sizes;
      const found = [];
      for (const r of rows) {
        const [part, head, k] = landing(this.file.value, r, this.sizes);
        found[(part * H + head) * K + k] = r;
      }
      return found;
    }

    wrong(placed) {
      const { H, K } = this.sizes;
      return placed.map((r, place) => {
        const [part, head, k] = landing(this.file.value, r, this.sizes);
        return (part * H + head) * K + k !== place;
      });
    }

    update() {
      const { H, K } = this.sizes;
      const last = 3 * H * K - 1;
      this.row.input.max = last;
      this.row.set(Math.min(this.row.value, last));
      const [placed, followed] = [this.placed(), this.row.value];
      const wrong = this.wrong(placed);
      this.tower.replaceChildren(...PARTS.map((part, p) => this.part(part, p, placed, wrong, followed)));
      this.say(this.sentence(placed, wrong, followed));
    }

    part(title, p, placed, wrong, followed) {
      const { H, K } = this.sizes;
      const cell = (h, k) => {
        const place = (p * H + h) * K + k;
        if (this.closed) return html("td", {}, "?");
        const r = placed[place];
        const frame = r === followed ? "; outline: 3px solid; outline-offset: -3px; font-weight: 700" : "";
        return html("td", { "data-value": `row-${place}`, style: `${tint(0.9, COLOURS[p])}${frame}` },
          wrong[place] ? `${r % (H * K)} ✗` : String(r % (H * K)));
      };
      const head = html("tr", {}, html("td", {}, ""), ...range(H).map((h) => html("th", { scope: "col" }, `head ${h}`)));
      const table = html("table", {}, html("caption", {}, title), html("thead", {}, head),
        html("tbody", {}, ...range(K).map((k) => html("tr", {}, html("th", { scope: "row" }, `row ${k}`), ...range(H).map((h) => cell(h, k))))));
      table.style.cssText = `flex: 0 1 auto; width: ${3 + 3.4 * H}rem`;
      return table;
    }

    sentence(placed, wrong, followed) {
      const { H, K } = this.sizes;
      const place = placed.indexOf(followed);
      const [part, head, k] = [Math.floor(place / (H * K)), Math.floor((place % (H * K)) / K), place % K];
      const count = wrong.filter(Boolean).length;
      const lying = this.way.value === "lying" && this.file.value === "pairs";
      const goal = !lying ? "" : count === 0 ? "The second goal is reached: a head of two has a single pair. "
        : part < 2 && !wrong[place] ? "The first goal is reached. " : "";
      const name = this.named(followed);
      const told = `${name[0].toUpperCase()}${name.slice(1)} is in the ${PARTS[part]}, head ${head}, row ${k}.`;
      const all = count ? ` ${count} of ${placed.length} rows are in another's place, and every shape fits.` : " All rows are right.";
      return goal + told + all;
    }
  }
  customElements.define("state-dict", StateDict);
})();
