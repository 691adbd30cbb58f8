// A model that is loaded on a click, tasks that ask for a guess first, and heads that the reader changes.
(() => {
  const { Play, Work, html, fixed, operating } = clearformer;
  const { Board, Chips, Row, TASKS, STEPS, FRESH, KINDS, isGood, nameOf, nextPart, percent, seen } = operating;
  const live = window.ClearformerLive;
  const NAME_TO_LOOK_AT = "Emma", MISLED = "2,0";

  class Patient extends Play {
    static hasData = true;

    build(box) {
      this.kept = this.recall(FRESH, isGood);
      this.work = new Work(); // what shows the operated text
      this.long = new Work(); // what a press has asked for
      this.told = "";
      this.starter = html("div", { class: "controls" },
        html("button", { type: "button", "data-control": "start", click: (event) => this.load(event.detail === 0) }, "Start the model"),
        html("span", {}, `${this.data.megabytes} MB, once. It runs in this page.`));
      this.table = html("div", { class: "table" });
      box.append(this.starter, this.table, this.status);
    }

    async load(byKey) {
      const button = this.starter.querySelector("button");
      button.disabled = true;
      this.say("Loading the model …");
      try {
        const { config, weights, heads } = await live.weightsOf(this.getAttribute("model"), this.getAttribute("src"), () => {});
        this.model = live.openModel(config, live.bytesOf(weights));
        this.ids = Object.fromEntries(["find", "paint", "donor", "page"].map((name) => [name, this.model.encode(this.data[name]).ids]));
        this.ids.transplant = this.ids.find;
        this.words = [" she", " he"].map((word) => this.model.encode(word).ids[1]);
        this.before = {};
        this.lay(heads);
        this.starter.remove();
        this.update();
        if (byKey) this.table.querySelector("button").focus();
      } catch (error) {
        button.disabled = false;
        this.say(error.message, true);
      }
    }

    lay(names) {
      this.board = new Board(this.model.config, names, (head) => this.choose({ head }));
      this.chips = new Chips((n) => this.choose({ n }));
      this.row = new Row((s) => this.paint(s));
      this.steps = this.choice("step", "Task", STEPS.map((step) => [step, TASKS[step].title]), this.kept.step);
      this.steps.chosen = (step) => this.go(step);
      this.kinds = this.choice("kind", "Head", KINDS, "model");
      this.kinds.chosen = (kind) => this.change(kind);
      this.texts = html("div", { class: "texts" });
      this.lead = html("p", { class: "briefing" });
      this.question = html("div", { class: "controls" });
      this.goal = html("p", { class: "step" });
      this.answer = html("div", { class: "answer" });
      this.sweep = html("div", { class: "sweep" });
      this.heal = html("div", { class: "controls" }, this.button("heal", "All heads as they are", () => this.healAll()));
      const hint = (text) => html("p", { class: "hint" }, text);
      this.tools = html("div", { class: "sides" }, html("div", {}, hint("The heads, a layer in a row. Choose one, and say below where it is to look."), this.board.box, this.kinds.box, this.heal, this.sweep),
        html("div", {}, hint("Below each token: the bits that it costs the model. Press one to see where it looks."), this.chips.box, this.answer, this.row.box));
      this.cells = html("div", { class: "cells" });
      this.lesson = html("p", { class: "lesson" });
      this.table.append(html("div", { class: "controls" }, this.steps.box), this.texts, this.lead, this.question, this.goal, this.tools, this.cells, this.lesson);
      this.go(this.kept.step);
    }

    get step() {
      return this.kept.step;
    }

    get guess() {
      return this.kept.guesses[this.step];
    }

    get heads() {
      return this.kept.heads[this.step] || {};
    }

    get rows() {
      return this.kept.rows[this.step] || {};
    }

    go(step) {
      this.kept.step = step;
      this.keep(this.kept);
      this.told = "";
      this.stop();
      this.head = Object.keys(this.heads)[0] || "2,0";
      const pieces = this.ids[step].map((id) => seen(this.model.piece(id)));
      this.pieces = pieces;
      this.n = step === "page" ? pieces.length - 1 : pieces.lastIndexOf("because");
      this.joined = this.ids[step].map((id, n) => n > 1 && !/^\s/.test(this.model.piece(id)));
      this.texts.replaceChildren(...TASKS[step].text(this.data).map((text) => html("blockquote", {}, step === "page" ? text : `${text.slice(0, text.lastIndexOf(" "))} …`)));
      this.questionOf(step);
      this.prepare(step);
    }

    stop() {
      this.work?.stop();
      this.long?.stop();
    }

    questionOf(step) {
      const asked = this.choice("guess", TASKS[step].ask, TASKS[step].options, this.guess ?? null);
      asked.chosen = (guess) => {
        this.kept.guesses[step] = guess;
        this.keep(this.kept);
        this.told = "Your guess is kept.";
        if (this.kept.solved[step]) this.told = this.verdict(); // a second thought
      };
      this.question.replaceChildren(asked.box);
    }

    choose({ head = this.head, n = this.n }) {
      Object.assign(this, { head, n });
      this.told = "";
      this.update();
    }

    change(kind) {
      const { heads } = this;
      if (kind === "model") delete heads[this.head];
      else heads[this.head] = kind;
      this.keep(this.kept);
      this.told = kind === "painted" && !this.rows[this.head] ? "Press tokens in the row to paint it." : "";
    }

    // A token more in the row; when the row is empty again the model's own comes back.
    paint(s) {
      const rows = (this.rows[this.head] ||= {}), parts = (rows[this.n] ||= Array(this.n + 1).fill(0));
      parts[s] = nextPart(parts[s]);
      this.heads[this.head] = "painted";
      if (parts.every((part) => part === 0)) delete rows[this.n];
      if (!Object.keys(rows).length) {
        delete this.rows[this.head];
        delete this.heads[this.head];
      }
      this.told = "";
      this.keep(this.kept);
      this.update();
    }

    healAll() {
      for (const changed of [this.heads, this.rows]) for (const head of Object.keys(changed)) delete changed[head];
      this.told = "All heads are as they were.";
      this.keep(this.kept);
    }

    update() {
      if (this.model) this.show();
    }

    async show() {
      const task = TASKS[this.step], { step } = this, open = this.guess !== undefined, operates = step !== "transplant";
      this.before[step] ||= await this.work.run(this.measure({}));
      if (!this.before[step]) return; // another job has begun
      this.lead.textContent = task.lead(this.before[step]);
      this.goal.textContent = open ? `Goal: ${task.goal}` : "";
      this.tools.hidden = !open || !operates;
      this.cells.hidden = !open || operates;
      this.mark();
      if (!open) return this.say("Guess first; then you may operate.");
      if (operates) await this.showOperation();
      else this.showCells();
    }

    // All that is shown of a text, read with changed heads.
    * measure(heads, rows, ids = this.ids[this.step]) {
      const reading = yield* live.readAll(this.model, ids, live.changing(heads, rows));
      const bits = yield* live.bitsOf(reading), at = reading.length - 2;
      const [she, he] = this.words.map((id) => live.probability(reading, at, id));
      return { reading, list: bits, bits: live.total(bits), she, he };
    }

    async showOperation() {
      const { step, heads, rows, n, head, pieces } = this, before = this.before[step], paintable = step !== "page";
      const after = await this.work.run(this.measure(heads, rows));
      if (!after) return;
      this.after = after;
      this.board.show(heads, head, after.reading);
      this.chips.show(pieces, this.joined, before.list, after.list, n);
      this.kinds.set(heads[head] || "model");
      this.kinds.buttons[KINDS.length - 1].hidden = !paintable;
      this.kinds.box.querySelector("span").textContent = `Head ${nameOf(head)}, “${this.board.job(head)}”, looks`;
      this.row.show({ head, n, pieces, reading: after.reading, paintable, parts: heads[head] === "painted" ? rows[head]?.[n] : null });
      this.sweep.hidden = paintable;
      this.answer.replaceChildren(paintable ? this.answers(before, after) : this.sums(before, after));
      await this.judge(before, after);
    }

    answers(before, after) {
      const line = (name, tell) => html("tr", {}, html("th", { scope: "row" }, name),
        html("td", { "data-value": `before-${name}` }, tell(before)), html("td", { "data-value": `after-${name}` }, tell(after)));
      const head = ["after “because”", "as it is", "operated"].map((text) => html("th", { scope: "col" }, text));
      return html("table", {}, html("thead", {}, html("tr", {}, ...head)), html("tbody", {},
        line("she", ({ she }) => percent(she, 1)), line("he", ({ he }) => percent(he, 1)),
        line("she : he", ({ she, he }) => fixed(she / he, 2))));
    }

    sums(before, after) {
      const more = after.bits - before.bits;
      return html("p", {}, "Bits in all: ", html("b", { "data-value": "sum-before" }, fixed(before.bits, 1)), ", operated ",
        html("b", { "data-value": "sum-after" }, fixed(after.bits, 1)), ` (${more < 0 ? "" : "+"}${fixed(more, 1)})`);
    }

    async judge(before, after) {
      const { step, heads, rows } = this, task = TASKS[step];
      if (task.reached({ heads, rows, before, after })) {
        const looked = step === "paint" ? await this.work.run(this.measure({ [MISLED]: "painted" }, this.lookingAtTheName())) : null;
        this.solve(step, task.told({ heads, before, after, looked }));
      }
      this.say(this.told || this.outcome(before, after));
    }

    lookingAtTheName() {
      return { [MISLED]: { [this.pieces.lastIndexOf("because")]: this.pieces.map((piece) => Number(piece === NAME_TO_LOOK_AT)) } };
    }

    outcome(before, after) {
      const changed = Object.keys(this.heads).length, also = changed > 1 ? ` ${changed} heads are changed; the goal asks for one.` : "";
      if (!changed) return "No head is changed.";
      if (this.step === "page") return `The page costs ${fixed(after.bits - before.bits, 1)} bits more than with all heads.${also}`;
      return `“she” ${percent(after.she, 1)}, “he” ${percent(after.he, 1)}: “she” is ${fixed(after.she / after.he, 2)} times as likely.${also}`;
    }

    solve(step, words) {
      this.kept.solved[step] = true;
      this.keep(this.kept);
      this.mark();
      this.told = `Reached: ${words}` + (step === "page" ? "" : ` ${this.verdict()}`); // the page has judged before
    }

    // Which tasks are done stands on their buttons.
    mark() {
      STEPS.forEach((step, i) => (this.steps.buttons[i].textContent = TASKS[step].title + (this.kept.solved[step] ? " ✓" : "")));
      this.lesson.hidden = !this.kept.solved[this.step] || this.guess === undefined;
      this.lesson.replaceChildren(html("b", {}, "What it shows. "), TASKS[this.step].lesson);
    }

    verdict() {
      return this.guess === TASKS[this.step].right ? "You guessed right." : "You guessed otherwise.";
    }
  }

  Object.assign(operating, { Patient });
})();
