// The whole machine, in numbers: a GPT with four numbers a token, both ways.
(() => {
  const { Play, html, machine } = clearformer;
  const { BOXES, BY_NAME, SIZES, Box, Panel, Wires, at, key, full, told, choices, judgeGuess } = machine;
  // Bands of the machine; boxes in brackets stand one above the other.
  const BANDS = [
    ["The words become vectors, and each asks, offers and hands on", ["embed", "place", "x", "norm1", "q", "k", "v"]],
    ["Attention: tokens look at those before them", ["scores", "masked", "weights", "heads", ["joined", "x1"], "norm2"]],
    ["Feed-forward, each token on its own; then the next word", ["hidden", "gelu", ["out", "x2"], "norm3", "logits", "shares", "loss"]],
  ];
  const FRESH = { open: {}, guess: null, words: [0, 2, 4], next: 6 };
  const isId = (id) => Number.isInteger(id) && id >= 0 && id < SIZES.V;
  const isPlain = (it) => it !== null && typeof it === "object" && !Array.isArray(it);
  const isGood = ({ open, guess, words, next }) =>
    isPlain(open) && Object.entries(open).every(([name, how]) => Object.hasOwn(BY_NAME, name) && [1, 2].includes(how)) &&
    [null, 0, 1, 2].includes(guess) && Array.isArray(words) && words.length === SIZES.N && words.every(isId) && isId(next);

  class TheWholeMachine extends Play {
    static hasData = true;

    build(live) {
      this.vocabulary = this.data.words;
      this.weights = machine.unpack(this.data.weights);
      this.kept = this.recall(FRESH, isGood);
      this.address = null;
      this.boxes = Object.fromEntries(BOXES.map((box) => [box.name, new Box(box, this)]));
      this.makeLever();
      this.panel = new Panel(this, this.status);
      live.append(this.makeWords(), this.legend(), this.makeCount(), this.makeMachine(), this.panel.root);
      for (const name of Object.keys(this.kept.open)) this.boxes[name].open();
      this.renew();
      this.say("Start at a box whose shape you know. Rows × columns, and a token is a column.");
    }

    legend() {
      const { D, N, H, K, F, V } = SIZES;
      return html("p", { class: "sizes" }, `D = ${D} numbers a token, N = ${N} tokens, H = ${H} heads of K = ${K} numbers, F = ${F} hidden units, V = ${V} words. A token is a column.`);
    }

    makeWords() {
      const options = () => this.vocabulary.map((word, id) => html("option", { value: id }, word));
      const select = (name, value, chosen) => {
        const node = html("select", { "data-control": name, change: () => (chosen(Number(node.value)), this.renew(true)) }, ...options());
        node.value = value;
        return node;
      };
      this.selects = this.kept.words.map((id, n) => select(`word-${n}`, id, (to) => this.keep({ ...this.kept, words: this.kept.words.map((id, i) => (i === n ? to : id)) })));
      this.nextSelect = select("next", this.kept.next, (next) => this.keep({ ...this.kept, next }));
      return html("div", { class: "controls words" },
        ...this.selects.map((node, n) => html("label", { "data-token": n }, `Token ${n + 1} `, html("span", { class: "seen", "data-value": `seen-${n}` }), node)),
        html("label", {}, "Then comes (for the loss) ", this.nextSelect));
    }

    makeMachine() {
      const column = (names) => (Array.isArray(names) ? html("div", { class: "stack" }, ...names.map((name) => this.boxes[name].root)) : this.boxes[names].root);
      this.machineNode = html("div", { class: "machine" },
        ...BANDS.map(([title, names], i) => html("div", { class: "band", "data-band": i }, html("p", { class: "band-title" }, title), html("div", { class: "line-up" }, ...names.map(column)))));
      this.wires = new Wires(this.machineNode, this.boxes);
      this.machineNode.prepend(this.wires.drawing);
      return this.machineNode;
    }

    makeLever() {
      this.flow = this.choice("flow", "Flow", [["forward", "→ values"], ["back", "← slopes dL/d…"]], "forward");
      this.flow.chosen = () => this.turned();
      this.question = html("fieldset", { class: "guess", hidden: true });
    }

    makeCount() {
      this.count = html("span", { class: "count", "data-value": "count" });
      return html("div", { class: "controls begin" }, this.count,
        this.button("rest", "Open the rest for me", () => this.openRest()), this.button("again", "Shut all boxes", () => this.startAgain()));
    }

    // Three words and a next one: everything is computed again.
    renew(isSaid = false) {
      this.run = machine.run({ weights: this.weights, ids: this.kept.words, next: this.kept.next });
      this.words = this.kept.words.map((id) => this.vocabulary[id]);
      this.question.hidden = true;
      if (this.kept.guess === null) this.flow.set("forward");
      this.update();
      if (isSaid) this.say(`“${this.words.join(" ")}”, then “${this.vocabulary[this.kept.next]}”: its probability is ${machine.exact(this.run.values.shares[0][this.kept.next][2])}.`);
    }

    opened({ name }) {
      this.keep({ ...this.kept, open: { ...this.kept.open, [name]: 1 } });
      this.boxes[name].open();
      this.update();
      const shut = BOXES.filter((box) => !this.boxes[box.name].isOpen), after = BOXES.indexOf(BY_NAME[name]);
      const next = shut.find((box) => BOXES.indexOf(box) > after) || shut[0];
      (next ? this.boxes[next.name].input : this.flow.buttons[1]).focus();
      this.say(next ? `Right. Choose one of the numbers of ${full(BY_NAME[name])}, or go on: ${shut.length} to go.` : "Right, and that was the last: the whole machine is open. Now turn the flow round.");
    }

    tried(text) {
      this.say(text);
    }

    openRest() {
      const shut = BOXES.filter((box) => !this.boxes[box.name].isOpen);
      this.keep({ ...this.kept, open: { ...this.kept.open, ...Object.fromEntries(shut.map((box) => [box.name, 2])) } });
      for (const box of shut) this.boxes[box.name].open();
      this.say(shut.length ? "All boxes are open. Choose a number." : "They are all open already.");
    }

    startAgain() {
      this.keep({ ...structuredClone(FRESH), words: this.kept.words, next: this.kept.next });
      for (const name of Object.keys(this.boxes)) {
        const fresh = new Box(BY_NAME[name], this);
        this.boxes[name].root.replaceWith(fresh.root);
        this.boxes[name] = fresh;
      }
      this.address = null;
      this.flow.set("forward");
      this.question.hidden = true;
      this.say("All boxes are shut.");
    }

    chosen(address) {
      this.address = this.address && key(this.address) === key(address) ? null : address;
      this.update();
      this.say(this.address ? told(this.run, address, this.words, this.vocabulary, this.isBack) : "No number is chosen.");
    }

    get isBack() {
      return this.flow.value === "back" && this.kept.guess !== null;
    }

    // The first time a guess comes before the numbers.
    turned() {
      if (this.flow.value === "back" && this.kept.guess === null) return this.askGuess();
      this.question.hidden = true;
      this.say(this.flow.value === "back" ? "Each number now shows dL/d of it: how fast the loss moves with it. Choose one." : "Each number shows its value again.");
    }

    askGuess() {
      const asked = choices(this.kept.next, this.words, this.vocabulary);
      this.question.hidden = false;
      this.question.replaceChildren(html("legend", {}, "First guess: moved by the same tiny bit, which of these numbers moves the loss most?"),
        ...asked.map(({ text }, i) => html("button", { type: "button", "data-control": "guess", "data-option": i, click: () => this.guessed(asked, i) }, text)));
      this.question.querySelector("button").focus();
      this.say("Guess first; then the flow turns.");
    }

    guessed(asked, guess) {
      this.keep({ ...this.kept, guess });
      this.question.hidden = true;
      this.flow.buttons[1].focus();
      this.update();
      this.say(judgeGuess(this.run.gradients, asked, guess).text);
    }

    lit() {
      if (!this.address) return null;
      const { direct, far, tokens } = this.isBack ? machine.traceBack(this.run.wires, this.address) : machine.trace(this.run.wires, this.address);
      const chosen = key(this.address);
      return { chosen, direct: new Set(direct.map(key)), all: new Set([...far, chosen]), tokens };
    }

    update() {
      if (!this.run) return;
      const lit = this.lit(), { isBack, words, vocabulary } = this, numbers = isBack ? this.run.gradients : this.run.values;
      this.classList.toggle("back", isBack);
      for (const box of Object.values(this.boxes)) box.render({ numbers, words, vocabulary, lit, isBack });
      if (this.measuring !== this.addressAndWay()) this.panel.show(this.address, this.run, words, isBack);
      this.measuring = this.addressAndWay();
      this.wires.show((name) => this.boxes[name].isOpen, (name) => Boolean(lit) && [...lit.all].some((one) => one.startsWith(`${name}/`)), isBack);
      this.wires.lay();
      this.tell(lit);
    }

    // So that a measured slope stays until another number, other words or the other way are chosen.
    addressAndWay() {
      return JSON.stringify([this.address, this.isBack, this.kept.words, this.kept.next]);
    }

    tell(lit) {
      const nOpen = Object.keys(this.kept.open).length, nHelped = Object.values(this.kept.open).filter((how) => how === 2).length;
      this.count.textContent = `${nOpen} of ${BOXES.length} boxes open${nHelped ? `, ${nHelped} of them for you` : ""}.`;
      this.selects.forEach((_, n) => {
        const seen = lit?.tokens;
        this.querySelectorAll(`[data-value="seen-${n}"]`).forEach((node) => (node.textContent = !seen ? "" : seen[n] ? "● lit " : "○ dark "));
        this.querySelectorAll(`[data-token="${n}"]`).forEach((node) => node.classList.toggle("lit", Boolean(seen?.[n])));
      });
    }
  }
  customElements.define("the-whole-machine", TheWholeMachine);
})();
