// Two small GPTs that learn side by side to copy: switches, predictions, a race, and the maps of every step.
(() => {
  const { Play, html, fixed, whole, Curves, AttentionMap, Trainer, line, letter } = clearformer;
  const { STEPS, CHUNK, SWITCHES, SEEDS, SIDES, TASKS, REACHED, differing, recent, verdict, lower, below, isGood, fresh } = clearformer.race;
  const { count, habits } = clearformer.small;
  const LIMIT = count(TASKS.smallest.start[1]); // weights of the model with one block
  const percent = (share) => `${Math.round(100 * share)} %`;

  class TrainOneHere extends Play {
    build(live) {
      this.memory = this.recall(fresh(), isGood);
      this.history = [];
      this.at = 0;
      this.task = this.choice("task", "Task", Object.entries(TASKS).map(([key, { name }]) => [key, name]), this.memory.task);
      this.task.chosen = (task) => this.change({ task, sides: structuredClone(TASKS[task].start) });
      this.goal = html("p", {});
      this.lower = this.question("lower", `After ${whole(STEPS)} steps, whose loss is lower?`,
        [["left", "Left’s"], ["right", "Right’s"], ["alike", "about alike"]]);
      this.below = this.question("below", "Whose loss ends below the line?",
        [["nobody", "nobody’s"], ["left", "Left’s"], ["right", "Right’s"], ["both", "both"]]);
      this.go = this.button("race", "Race", () => this.press());
      this.progress = html("span", { class: "progress" });
      this.curves = new Curves((share) => this.look(Math.round(share * (STEPS / CHUNK))));
      this.step = this.slider("step", "Look at step", { min: 0, max: STEPS / CHUNK, value: 0, text: (i) => whole(i * CHUNK), moved: (i) => this.look(i) });
      this.maps = SIDES.map((side) => [0, 1].map((block) => new AttentionMap(`${side}, block ${block + 1}`)));
      const step = (words) => html("p", { class: "step" }, words);
      live.append(
        html("p", {}, "Two models read rows like D A F C D A F C D A F C: 4 to 7 different letters, then the same again and again. Each predicts every next letter. The first letters are drawn by lot; the repeated ones can be known."),
        html("div", { class: "controls" }, this.task.box), this.goal,
        step("1. Set the switches"), this.switches(),
        step("2. Predict"), this.lower.box, this.below.box,
        step("3. Race"), html("div", { class: "controls" }, this.go, this.progress), this.status,
        this.curves.box, html("div", { class: "controls" }, this.step.box), this.results(),
        step("Where each letter looks"), this.legend = html("p", {}),
        html("div", { class: "maps" }, ...this.maps.flat().map((map) => map.box)), this.score = html("p", {}));
      this.hide = () => document.hidden && this.racing && this.pause();
      document.addEventListener("visibilitychange", this.hide);
    }

    question(name, words, options) {
      const asked = this.choice(name, words, options, null);
      asked.chosen = () => this.say("");
      return asked;
    }

    // A row for each switch, a column for each model.
    switches() {
      this.selects = SIDES.map((side, i) => SWITCHES.map(([name, label, options]) => this.select(
        `${side.toLowerCase()}-${name}`, `${side}: ${label}`, options, this.memory.sides[i][name],
        (value) => this.change({ sides: this.memory.sides.map((it, j) => (j === i ? { ...it, [name]: value } : it)) }))));
      this.rows = SWITCHES.map(([, label], row) => html("tr", {}, html("th", { scope: "row" }, label),
        ...SIDES.map((_, i) => html("td", {}, this.selects[i][row]))));
      const seed = this.select("seed", "Start", SEEDS.map((seed) => [seed, `start ${seed}`]), this.memory.seed, (seed) => this.change({ seed }));
      this.seed = seed;
      const weights = html("tr", {}, html("th", { scope: "row" }, "Weights"), ...SIDES.map((_, i) => html("td", {}, this.number(`count-${i}`))));
      const same = html("tr", {}, html("th", { scope: "row" }, "First weights and letters, the same for both"), html("td", { colspan: 2 }, seed));
      const head = html("tr", {}, html("td"), ...SIDES.map((side) => html("th", { scope: "col" }, side)));
      return html("table", { class: "switches" }, html("thead", {}, head), html("tbody", {}, ...this.rows, same, weights));
    }

    select(name, label, options, value, chosen) {
      const field = html("select", { "data-control": name, "aria-label": label },
        ...options.map(([, text]) => html("option", {}, text)));
      field.selectedIndex = options.findIndex(([it]) => it === value);
      field.addEventListener("change", () => (chosen(options[field.selectedIndex][0]), this.update()));
      return field;
    }

    results() {
      const row = (label, name) => html("tr", {}, html("th", { scope: "row" }, label), ...SIDES.map((_, i) => html("td", { "data-value": `${name}-${i}` })));
      const head = html("tr", {}, html("td", {}, "over 50 steps"), ...SIDES.map((side) => html("th", { scope: "col" }, side)));
      return html("table", { class: "results" }, html("thead", {}, head), html("tbody", {},
        row("loss", "loss"), row("repeated letters guessed right", "repeated"), row("new letters guessed right", "fresh")));
    }

    // Other settings: what was run and predicted belongs to the old ones.
    change(what) {
      this.end();
      this.keep(this.memory = { ...this.memory, ...what });
      this.history = [];
      this.at = 0;
      this.lower.set(null);
      this.below.set(null);
      this.judgedBefore = false;
      this.message = "";
    }

    end() {
      this.trainer?.end();
      this.trainer = null;
      this.racing = this.paused = false;
    }

    press() {
      if (this.racing) return this.pause();
      if (this.paused) return this.resume();
      const open = [this.lower, this.below].find(({ value }) => value === null);
      if (open) {
        open.buttons[0].focus();
        this.message = "Predict first: answer both questions.";
        return;
      }
      this.start();
    }

    start() {
      this.end();
      this.racing = true;
      this.following = true;
      this.message = "They learn.";
      this.history = [];
      this.at = 0;
      this.trainer = new Trainer(this.memory.sides, this.memory.seed);
      this.run(this.trainer, 0);
    }

    pause() {
      this.racing = false;
      this.paused = true;
      this.message = "Stopped. Look around, or go on.";
      this.update();
    }

    resume() {
      this.racing = true;
      this.paused = false;
      this.message = "They learn on.";
      if (!this.busy) this.run(this.trainer, CHUNK);
    }

    // Chunk by chunk, while nobody stops it; what is under way when someone does is kept.
    async run(trainer, first) {
      for (let next = first; trainer === this.trainer && this.racing; next = CHUNK) {
        this.busy = true;
        const report = await trainer.chunk(next);
        if (trainer !== this.trainer) return;
        this.busy = false;
        this.history.push(report);
        if (this.following) this.at = this.history.length - 1;
        if (report.step >= STEPS) this.finish();
        if (report.step >= STEPS || !matchMedia("(prefers-reduced-motion: reduce)").matches) this.update();
        else this.tell();
      }
    }

    finish() {
      this.end();
      const ends = SIDES.map((_, i) => {
        const end = recent(this.history, this.history.length - 1, i);
        return { ...end, verdict: verdict(end, line), count: count(this.memory.sides[i]) };
      });
      const right = [this.lower.value === lower(ends.map(({ loss }) => loss)), this.below.value === below(ends.map((end) => end.verdict))];
      const judged = ["Both predictions were wrong.", "One of your predictions was right.", "Both predictions were right."][right.filter(Boolean).length];
      this.message = [judged, ...ends.map((end, i) => this.sentence(SIDES[i], end)), this.reach(ends, right)].filter(Boolean).join(" ");
    }

    sentence(side, { verdict, loss, repeated }) {
      return {
        broken: `${side} is broken: its numbers have become too large to count.`,
        cheats: `${side} cheats: a loss of ${fixed(loss, 2)} is below the line, so it sees what it should predict.`,
        copies: `${side} has learned to copy: ${percent(repeated)} of the repeated letters, and not below the line.`,
        part: `${side} has learned a part: ${percent(repeated)} of the repeated letters.`,
        nothing: `${side} has learned nothing: ${fixed(loss, 2)} is about what guessing costs.`,
      }[verdict];
    }

    // Remembers what the race has reached, and says it.
    reach(ends, right) {
      const { task, sides, guesses } = this.memory;
      const done = REACHED[task](sides, ends, LIMIT);
      const found = ends.filter((end) => end.verdict === "copies").map((end) => end.count);
      const smallest = Math.min(...found, this.memory.smallest ?? Infinity);
      const next = { smallest: Number.isFinite(smallest) ? smallest : null };
      if (!this.judgedBefore) next.guesses = [guesses[0] + right.filter(Boolean).length, guesses[1] + 2];
      this.judgedBefore = true;
      if (done) next.reached = [...new Set([...this.memory.reached, task])];
      this.keep(this.memory = { ...this.memory, ...next });
      return done ? "The goal is reached." : this.memory.reached.includes(task) ? "" : "That is not the goal yet.";
    }

    look(i) {
      if (!this.history.length) return;
      this.following = false;
      this.at = Math.min(i, this.history.length - 1);
      this.update();
    }

    update() {
      const { task, sides, seed } = this.memory;
      this.goal.textContent = TASKS[task].goal.replace("LIMIT", whole(LIMIT));
      this.selects.forEach((fields, i) => fields.forEach((field, row) => {
        const [name, , options] = SWITCHES[row];
        field.selectedIndex = options.findIndex(([value]) => value === sides[i][name]);
      }));
      this.seed.selectedIndex = SEEDS.indexOf(seed);
      const differ = differing(...sides);
      this.rows.forEach((row, i) => row.classList.toggle("lit", differ.includes(SWITCHES[i][0])));
      this.put(Object.fromEntries(SIDES.map((_, i) => [`count-${i}`, whole(count(sides[i]))])));
      this.tell();
      this.curves.draw(this.history, this.at);
      this.step.set(this.at);
      this.step.input.disabled = !this.history.length;
      this.showNumbers();
      this.showMaps();
      this.say(this.message || "");
    }

    tell() {
      this.go.textContent = this.racing ? "Stop" : this.paused ? "Go on" : "Race";
      const done = this.history.at(-1)?.step;
      this.progress.textContent = done === undefined ? "" : `${whole(done)} of ${whole(STEPS)} steps`;
    }

    showNumbers() {
      SIDES.forEach((_, i) => {
        const { loss, repeated, fresh } = recent(this.history, this.at, i);
        const shown = this.at > 0;
        this.put({
          [`loss-${i}`]: shown ? fixed(loss, 2) : "–",
          [`repeated-${i}`]: shown ? percent(repeated) : "–",
          [`fresh-${i}`]: shown ? percent(fresh) : "–",
        });
      });
    }

    showMaps() {
      const report = this.history[this.at];
      this.legend.textContent = report
        ? `The row ${report.probe.map(letter).join(" ")}, in step ${whole(report.step)}: down the letter that looks, across what it looks at. Framed: what followed the same letter the last time.`
        : "After the start of a race a map stands here for each block, and moves.";
      this.maps.forEach((maps, i) => maps.forEach((map, block) => {
        const found = report?.sides[i].maps[block];
        map.box.hidden = !found;
        if (found) map.draw(found, report.probe, habits(found));
      }));
      const { reached, smallest, guesses } = this.memory;
      this.score.textContent = [
        `Goals reached: ${reached.length} of ${Object.keys(TASKS).length}.`,
        guesses[1] ? `Predictions right: ${guesses[0]} of ${guesses[1]}.` : "",
        smallest ? `Your smallest model that copies: ${whole(smallest)} weights.` : "",
      ].filter(Boolean).join(" ");
    }
  }
  customElements.define("train-one-here", TrainOneHere);
})();
