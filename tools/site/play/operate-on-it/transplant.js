// Which column, taken from a text with another name, turns the answer? A cell for each token and each depth.
(() => {
  const { html, svg, operating } = clearformer;
  const { percent, rove } = operating;
  const ROOM = { width: 320, height: 150, left: 40, right: 44, top: 12, bottom: 30 };

  class Transplant {
    // `pieces` of the patient, `differs` the token that is another in the donor, `depths` how many places each column has.
    constructor(pieces, differs, depths, probe) {
      Object.assign(this, { pieces, differs, depths, cells: new Map() });
      const head = Array.from({ length: depths }, (_, m) => html("th", { scope: "col" }, m ? `after layer ${m}` : "embed\u00adding"));
      this.rows = pieces.map((piece, n) => n === 0 ? null : html("tr", {}, // the start is the same in both
        html("th", { scope: "row" }, n === differs.n ? `${piece} ← ${differs.piece}` : piece),
        ...head.map((_, m) => html("td", {}, html("button", { type: "button", "data-cell": `${m},${n}`, click: () => probe(m, n) })))));
      this.table = html("table", {}, html("caption", {}, "Each cell: what the model says after the last token, once this one column comes from the donor."),
        html("thead", {}, html("tr", {}, html("td", {}, "column of"), ...head)), html("tbody", {}, ...this.rows.filter(Boolean)));
      this.curve = html("div", { class: "curve" });
      this.box = html("div", { class: "transplant" }, this.table, this.curve);
      rove(this.table, depths)();
      this.show();
    }

    put(m, n, [she, he]) {
      this.cells.set(`${m},${n}`, { she, he, turned: he > she });
      this.latest = n;
      this.show();
    }

    show() {
      this.table.querySelectorAll("button").forEach((button) => {
        const [m, n] = button.dataset.cell.split(","), it = this.cells.get(button.dataset.cell);
        const place = `column of ${this.pieces[n]}, ${Number(m) ? `after layer ${m}` : "embedding"}`;
        button.classList.toggle("turned", Boolean(it?.turned));
        button.replaceChildren(...(it ? [html("b", {}, it.turned ? "he" : "she"), " ", html("span", {}, percent(it.turned ? it.he : it.she))] : ["?"]));
        button.setAttribute("aria-label", it ? `${it.turned ? "he" : "she"} ${percent(it.turned ? it.he : it.she)}, ${place}` : `? ${place}, not tried`);
      });
      const known = this.row(this.latest);
      this.curve.replaceChildren(...(known ? [picture(this.pieces[this.latest], known)] : []));
    }

    // The cells of one token, if all have been tried.
    row(n) {
      const found = Array.from({ length: this.depths }, (_, m) => this.cells.get(`${m},${n}`));
      return found.every(Boolean) ? found : null;
    }

    // At how many depths has a column been found that turns the answer?
    get columns() {
      return new Set(Array.from(this.cells).filter(([, it]) => it.turned).map(([key]) => key.split(",")[0])).size;
    }

    // Behind which layer the differing column turned the answer for the last time; null until its row is known.
    get last() {
      return this.row(this.differs.n)?.reduce((last, it, m) => (it.turned ? m : last), -1) ?? null;
    }
  }

  // she and he over the depth at which the column was exchanged.
  function picture(piece, cells) {
    const { width, height, left, right, top, bottom } = ROOM, most = Math.max(...cells.flatMap(({ she, he }) => [she, he]), 0.3);
    const x = (m) => left + m * (width - left - right) / (cells.length - 1), y = (p) => height - bottom - p / most * (height - top - bottom);
    const line = (name, style) => svg("polyline", { class: style, points: cells.map((it, m) => `${x(m)},${y(it[name])}`).join(" ") });
    const end = cells[cells.length - 1], told = cells.map(({ she, he }, m) => `${m}: she ${percent(she)}, he ${percent(he)}`).join("; ");
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Column of ${piece} exchanged after layer ${told}` },
      svg("line", { class: "line", x1: left, y1: y(0), x2: width - right, y2: y(0) }),
      svg("text", { x: 0, y: y(most) + 10 }, percent(most)), svg("text", { x: 0, y: y(0) }, "0 %"),
      line("she", "accent thick"), line("he", "warm thick dashed"),
      svg("text", { x: width - right + 5, y: y(end.she) + 4 }, "she"), svg("text", { x: width - right + 5, y: y(end.he) + 4 }, "he"),
      ...cells.map((_, m) => svg("text", { x: x(m), y: height - 14, "text-anchor": "middle" }, String(m))),
      svg("text", { x: (left + width - right) / 2, y: height - 1, "text-anchor": "middle" }, `“${piece}” exchanged after layer`));
  }

  Object.assign(operating, { Transplant });
})();
