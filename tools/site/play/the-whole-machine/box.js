// One box: shut until its shape is typed, then a grid of numbers of which one can be chosen.
(() => {
  const { html, tint, machine } = clearformer;
  const { at, key, range, brief, rowName, full, judge, hint, letters, BY_NAME } = machine;
  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  const TRIES = 2; // before the hint

  class Box {
    // `page` hears opened(box), tried(text) and chosen(address).
    constructor(box, page) {
      Object.assign(this, { box, page, tries: 0 });
      this.head = html("p", { class: "title" }, html("b", {}, box.title), " ", html("span", { class: "shape" }));
      this.root = html("section", { class: `box ${this.isNamed ? "named" : ""} ${box.rows === 1 ? "single" : ""}`, "aria-label": full(box), "data-box": box.name }, this.head);
      if (box.from.length) this.head.append(html("span", { class: "from" }, ` ← ${box.from.map((name) => BY_NAME[name].title.split(":")[0]).join(", ")}`));
      this.makeLock();
    }

    // Rows have names of their own where they are words.
    get isNamed() {
      return ["S", "V"].includes(this.box.axes[0]);
    }

    makeLock() {
      const { box } = this, each = box.nHeads > 1 ? " of each head" : "";
      this.input = html("input", { type: "text", "data-control": `shape-${box.name}`, "aria-label": `Shape of ${full(box)}${each}`, placeholder: each ? "one head" : "shape", autocomplete: "off", spellcheck: "false" });
      this.hint = html("p", { class: "hint", "data-value": `hint-${box.name}`, hidden: true });
      const submit = (event) => (event.preventDefault(), this.guess());
      this.lock = html("form", { class: "lock", submit },
        html("p", { class: "holds" }, box.holds), this.input,
        html("button", { type: "submit", "data-control": `open-${box.name}`, "aria-label": `Open ${full(box)}` }, "Open"), this.hint);
      this.root.append(this.lock);
    }

    guess() {
      const problem = judge(this.box, this.input.value);
      this.input.setAttribute("aria-invalid", problem ? "true" : "false");
      if (!problem) return this.page.opened(this.box);
      this.tries += 1;
      const isHelped = this.tries >= TRIES, help = isHelped ? `${hint(this.box)}.` : "";
      this.hint.textContent = `✗ ${problem}. ${isHelped ? letters(this.box) : ""}`;
      this.hint.hidden = false;
      this.input.select();
      this.page.tried(`${full(this.box)}: ${problem}. ${help}`);
    }

    get isOpen() {
      return Boolean(this.grids);
    }

    open() {
      this.lock.remove();
      const { box } = this;
      this.root.querySelector(".shape").textContent = box.shape.length ? `${box.shape.join(" × ")}${box.nHeads > 1 ? ", twice" : ""}` : "1";
      this.cells = new Map();
      this.heads = [];
      this.grids = range(box.nHeads).map((h) => this.makeGrid(h));
      this.root.append(...this.grids);
    }

    makeGrid(h) {
      const { box } = this, head = box.nHeads > 1 ? `head ${h + 1}` : "";
      const words = range(box.columns).map((c) => html("th", { scope: "col", "data-column": c }));
      const rows = range(box.rows).map((r) =>
        html("tr", {}, this.isNamed ? html("th", { scope: "row", "data-row": r }) : null, ...range(box.columns).map((c) => this.makeCell([box.name, h, r, c]))));
      this.heads.push(...words);
      return html("table", { role: "grid", "aria-label": `${full(box)}${head ? `, ${head}` : ""}`, keydown: (event) => this.move(event), click: (event) => this.choose(event.target.closest("[data-value]")) },
        head ? html("caption", {}, head) : null,
        box.columns > 1 ? html("thead", {}, html("tr", {}, this.isNamed ? html("td", {}) : null, ...words)) : null, html("tbody", {}, ...rows));
    }

    makeCell(address) {
      const isFirst = address[2] + address[3] === 0;
      const cell = html("td", { tabindex: isFirst ? 0 : -1, "data-value": key(address) });
      this.cells.set(key(address), { cell, address });
      return cell;
    }

    choose(cell) {
      if (!cell) return;
      this.focus(cell);
      this.page.chosen(this.cells.get(cell.dataset.value).address);
    }

    focus(cell) {
      cell.closest("table").querySelectorAll("td[tabindex]").forEach((one) => (one.tabIndex = one === cell ? 0 : -1));
      cell.focus({ preventScroll: true });
    }

    // Arrows go from number to number, Enter and the space bar choose one.
    move(event) {
      const cell = event.target.closest("[data-value]"), step = STEPS[event.key];
      if (!cell || !(step || [" ", "Enter"].includes(event.key))) return;
      event.preventDefault();
      if (!step) return this.choose(cell);
      const [name, h, r, c] = this.cells.get(cell.dataset.value).address;
      const next = this.cells.get(key([name, h, r + step[0], c + step[1]]));
      if (next) this.focus(next.cell);
      next?.cell.scrollIntoView({ block: "nearest" });
    }

    // What it shows: values or slopes, and what lights up.
    render({ numbers, words, vocabulary, lit, isBack }) {
      const mine = lit ? [...lit.all].some((one) => one.startsWith(`${this.box.name}/`)) : false;
      this.root.classList.toggle("lit", mine);
      if (!this.isOpen) return;
      this.root.querySelectorAll("[data-column]").forEach((th) => (th.textContent = words[th.dataset.column]));
      this.root.querySelectorAll("[data-row]").forEach((th) => (th.textContent = rowName(this.box, Number(th.dataset.row), words, vocabulary)));
      const sizes = [...this.cells.values()].map(({ address }) => Math.abs(at(numbers, address))).filter(Number.isFinite);
      const top = Math.max(...sizes, 1e-9);
      for (const [name, { cell, address }] of this.cells) {
        const x = at(numbers, address), isShown = !lit || lit.all.has(name);
        cell.textContent = brief(x);
        cell.className = !lit ? "" : name === lit.chosen ? "chosen" : lit.direct.has(name) ? "direct" : lit.all.has(name) ? "further" : "";
        if (!this.isNamed) cell.setAttribute("aria-label", `${cell.textContent}, number ${address[2] + 1}`);
        cell.setAttribute("aria-selected", name === lit?.chosen ? "true" : "false");
        cell.style = isShown && Number.isFinite(x) ? tint(Math.abs(x) / top, isBack ? "warm" : "accent") : "";
      }
    }
  }

  Object.assign(machine, { Box });
})();
