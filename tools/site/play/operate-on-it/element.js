// <operate-on-it>: to the heads that are changed come the columns that are exchanged, and the loss of each head in turn.
(() => {
  const { html, fixed, operating } = clearformer;
  const { Patient, Transplant, TASKS, nameOf, seen } = operating;
  const live = window.ClearformerLive;
  const DEAREST = 3;

  class OperateOnIt extends Patient {
    disconnectedCallback() {
      this.stop();
    }

    prepare(step) {
      if (step === "transplant" && !this.columns) this.layCells();
      if (step === "page" && !this.sweep.childElementCount) this.laySweep();
    }

    layCells() {
      const ids = (this.patientIds = this.ids.find.slice(0, -1)), donor = this.ids.donor.slice(0, -1);
      const n = ids.findIndex((id, at) => id !== donor[at]), spell = (id) => seen(this.model.piece(id));
      Object.assign(this, { donorIds: donor, wanted: [], busy: false });
      this.columns = new Transplant(ids.map(spell), { n, piece: spell(donor[n]) }, this.model.config.n_layers + 1, (m, at) => this.probe([[m, at]]));
      this.bar = html("progress", { max: 1, value: 0, "aria-label": "cells tried", hidden: true });
      this.cells.replaceChildren(this.columns.box,
        html("div", { class: "controls" }, html("button", { type: "button", "data-control": "all-cells", click: () => this.probeAll() }, "Try all cells"), this.bar));
    }

    // One after the other: a press that comes meanwhile is waited for, and does not undo the one before.
    async probe(places) {
      this.wanted.push(...places);
      this.one = places.length === 1;
      if (this.busy) return;
      this.busy = true;
      for (let tried = 1; this.wanted.length; tried++) {
        const [m, n] = this.wanted[0], found = await this.long.run(this.exchange(m, n));
        if (!found) break; // the reader has gone to another task
        this.wanted.shift();
        this.columns.put(m, n, found);
        this.latest = this.one ? [n, m, found] : null;
        this.bar.value = tried / (tried + this.wanted.length);
      }
      this.wanted = [];
      this.busy = false;
      this.bar.hidden = true;
      this.told = "";
      if (this.step === "transplant") this.showCells();
    }

    * exchange(m, n) {
      this.donor ||= yield* live.readAll(this.model, this.donorIds);
      return yield* live.transplant(this.model, this.patientIds, this.donor, [m, n], this.words);
    }

    probeAll() {
      const { pieces, depths, differs } = this.columns, all = [];
      for (let n = 1; n < pieces.length; n++) for (let m = 0; m < depths; m++) all.push([m, n]);
      const last = all.filter(([, n]) => n === differs.n); // its curve is shown in the end
      this.bar.hidden = false;
      this.probe([...all.filter(([, n]) => n !== differs.n), ...last]);
    }

    showCells() {
      const { columns: found, last, depths } = this.columns, reached = found === depths;
      if (reached && last !== null) return this.tellCells(last);
      const count = `${found} of ${depths} depths found.`;
      const rest = reached ? "All depths found. Try the rest of Emma’s row, and see how your guess was." : count;
      this.say([this.told, this.latest ? this.outcomeOfCell() : "", rest].filter(Boolean).join(" "));
    }

    outcomeOfCell() {
      const [n, m, [she, he]] = this.latest, share = operating.percent;
      return `“${this.columns.pieces[n]}”, ${m ? `after layer ${m}` : "embedding"}: “she” ${share(she, 1)}, “he” ${share(he, 1)}.`;
    }

    tellCells(last) {
      this.solve("transplant", TASKS.transplant.told(last));
      this.say(this.told);
    }

    laySweep() {
      this.progress = html("progress", { max: 1, value: 0, "aria-label": "heads switched off", hidden: true });
      this.result = html("div", {});
      this.sweep.append(html("div", { class: "controls" },
        html("button", { type: "button", "data-control": "sweep", click: () => this.loseEach() }, "Switch off each head in turn"), this.progress), this.result);
    }

    // The dearest heads, all others folded.
    async loseEach() {
      this.progress.hidden = false;
      this.say("Each head is switched off in turn …");
      this.costs = await this.long.run(live.costs(this.model, this.ids.page), (share) => (this.progress.value = share));
      this.progress.hidden = true;
      if (!this.costs) return;
      const table = (costs) => html("table", {},
        html("thead", {}, html("tr", {}, ...["head", "known for", "bits that its loss costs"].map((text) => html("th", { scope: "col" }, text)))),
        html("tbody", {}, ...costs.map(({ head, cost }) => html("tr", {}, html("th", { scope: "row" }, nameOf(head)),
          html("td", {}, this.board.job(head)), html("td", { "data-value": `cost-${nameOf(head)}` }, fixed(cost, 1))))));
      this.result.replaceChildren(table(this.costs.slice(0, DEAREST)),
        html("details", {}, html("summary", {}, "the others"), table(this.costs.slice(DEAREST))));
      this.say(`${nameOf(this.costs[0].head)} costs most, ${fixed(this.costs[0].cost, 1)} bits. ${this.verdict()} `
        + "2.1 and 3.1, which look at names, are hardly missed here.");
    }
  }

  customElements.define("operate-on-it", OperateOnIt);
})();
