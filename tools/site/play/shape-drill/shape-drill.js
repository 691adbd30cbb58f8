// Drills with fields: a question of the kind that the reader chooses, with new sizes without end.
(() => {
  const { Play, html, drills } = clearformer;
  const shown = (answer) => (Array.isArray(answer) ? answer.join(" × ") : answer.toLocaleString("en-US"));
  const isGood = ({ tried, right }) => [tried, right].every((n) => Number.isInteger(n) && n >= 0);

  class ShapeDrill extends Play {
    static hasData = true;

    build(live) {
      this.kinds = this.data.kinds;
      this.chosen = html("select", { "data-control": "kind", "aria-label": "Kind of question", change: () => this.renew() },
        ...this.kinds.map(({ name }, i) => html("option", { value: i }, name)));
      this.question = html("p", { class: "question" });
      this.fields = html("div", { class: "fields" });
      this.count = html("p", { "data-value": "count" });
      const form = html("form", { submit: (event) => (event.preventDefault(), this.check()) }, this.question, this.fields,
        html("div", { class: "controls" },
          html("button", { type: "submit", "data-control": "check" }, "Check"),
          html("button", { type: "button", "data-control": "new", click: () => this.renew(true) }, "New numbers"),
          html("button", { type: "button", "data-control": "show", click: () => this.show() }, "Show the answers")));
      live.append(html("label", { class: "kind" }, "Kind ", this.chosen), form, this.status, this.count);
      this.kept = this.recall({ tried: 0, right: 0 }, isGood);
      this.tell();
      this.renew();
    }

    update() {}

    renew(focus = false) {
      this.kind = this.kinds[Number(this.chosen.value)];
      this.sizes = drills.draw(this.kind, Math.random);
      this.isCounted = false;
      const words = this.kind.question.replace(/\{(\w+)\}/g, (_, letter) => this.sizes[letter].toLocaleString("en-US"));
      this.question.replaceChildren(...words.split("`").map((part, i) => (i % 2 ? html("code", {}, part) : part)));
      this.rows = Object.entries(this.kind.formulas).map(([name, formula]) => {
        const right = drills.evaluate(formula, this.sizes), isShape = Array.isArray(right);
        const input = html("input", { type: "text", "data-control": name, autocomplete: "off", spellcheck: "false", placeholder: isShape ? "such as 2 × 3" : "" });
        const told = html("span", { class: "told", "data-value": `told-${name}` });
        return { name, formula, right, isShape, input, told };
      });
      this.fields.replaceChildren(...this.rows.map(({ name, input, told }) => html("label", {}, html("code", {}, name), input, told)));
      this.say("");
      if (focus) this.rows[0].input.focus();
    }

    check() {
      const filled = this.rows.filter(({ input }) => input.value.trim());
      if (!filled.length) return this.say("Type an answer into at least one of the fields.");
      const problems = filled.map(({ input, right, isShape, name, told }) => {
        const problem = drills.judge(drills.read(input.value, isShape), right, this.kind.slips[name], this.sizes);
        told.textContent = problem ? `✗ ${problem}` : "✓ right";
        input.setAttribute("aria-invalid", problem ? "true" : "false");
        return problem;
      });
      const nRight = problems.filter((problem) => !problem).length, open = this.rows.length - filled.length;
      if (!this.isCounted && !open) {
        this.isCounted = true; // what counts is the first time that all is filled in
        this.keep({ tried: this.kept.tried + 1, right: this.kept.right + (nRight === this.rows.length ? 1 : 0) });
        this.tell();
      }
      this.say(`${nRight} of ${filled.length} right${open ? `, ${open} still open` : ""}.${nRight === this.rows.length ? " New numbers?" : ""}`);
    }

    show() {
      this.isCounted = true;
      for (const { told, right, formula } of this.rows) told.textContent = `${shown(right)}, from ${formula.replaceAll(" * ", "·").replaceAll(" // ", "/")}`;
      this.say("These are the answers, each with its formula. New numbers for another try.");
    }

    tell() {
      const { tried, right } = this.kept;
      this.count.textContent = tried ? `All right at the first check: ${right} of ${tried} questions.` : "";
    }
  }
  customElements.define("shape-drill", ShapeDrill);
})();
