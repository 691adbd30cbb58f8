// Find the slip: choose a deck, tap the wrong line of each card, say what the grader will tell, and see.
(() => {
  const { Play, html, slip } = globalThis.clearformer;
  const TRIES = 2;
  const SPOILER = "Each card shows a nearly right answer to a question of the graded exercises. "
    + "If you have not solved the question yet, the card gives most of its answer away.";

  class FindTheSlip extends Play {
    static hasData = true;

    build(live) {
      this.cards = slip.cardsOf(this.data);
      this.byKey = new Map(this.cards.map((card) => [card.key, card]));
      this.root = new URL(document.documentElement.dataset.content_root || "./", location.href);
      this.stage = html("div", { class: "slip-stage" });
      live.append(this.stage);
      this.start();
    }

    update() {}

    get day() {
      return slip.dayOf(new Date());
    }

    get memory() {
      return slip.cleaned(this.recall(slip.FRESH, slip.isMemory), this.byKey, this.day, slip.HAND);
    }

    // The chapters that the site says are read, else the first ones.
    get chapters() {
      let text = null;
      try {
        text = localStorage.getItem("clearformer");
      } catch { /* blocked */ }
      this.read = slip.chaptersRead(text, this.data);
      return this.read.length ? this.read : slip.FIRST;
    }

    // Choosing a deck

    start() {
      const chapters = this.chapters;
      const waiting = slip.due(this.memory, this.day).length;
      const mine = slip.inWords(chapters);
      this.deck = this.choice("deck", "Deal five cards from", [
        ["mine", this.read.length ? `what you have read: ${mine}` : mine], ["today", "the whole course: today’s five"],
        ["one", "one chapter"], ["due", `those you missed (${waiting} due now)`],
      ], waiting ? "due" : "mine");
      this.which = html("select", { "data-control": "chapter", "aria-label": "Chapter", change: () => this.announce() },
        ...this.data.map(({ number, title }) => html("option", { value: number }, `${number}. ${title}`)));
      this.which.value = chapters.at(-1);
      this.note = html("p", {});
      this.deck.chosen = () => this.announce();
      this.begin = this.button("start", "Deal", () => this.play());
      this.begin.classList.add("slip-go");
      this.stage.replaceChildren(
        html("p", { class: "step" }, "One line of each card is wrong. Which one, and what will the grader say?"),
        html("div", { class: "controls" }, this.deck.box, html("label", { class: "slip-which" }, "Chapter ", this.which)),
        this.note, html("div", { class: "controls" }, this.begin), this.lastDays(), this.status);
      this.announce();
      this.say("");
    }

    hand() {
      const { memory, day, cards } = this;
      if (this.deck.value === "today") return slip.today(cards, day);
      if (this.deck.value === "due") return slip.due(memory, day).slice(0, slip.HAND).map((key) => this.byKey.get(key));
      return slip.handOf(cards, this.deck.value === "one" ? [Number(this.which.value)] : this.chapters, memory.seen, day);
    }

    // What the deck holds, and what it gives away, before it is dealt.
    announce() {
      const hand = this.hand();
      this.which.parentElement.hidden = this.deck.value !== "one";
      this.begin.disabled = !hand.length;
      if (!hand.length) {
        this.note.textContent = "No card is due now. A card that you miss comes back after a day, and once more after a week.";
        return;
      }
      const numbers = hand.map(({ chapter }) => chapter.number);
      const unread = numbers.filter((number) => !this.read.includes(number));
      const marked = this.read.length && unread.length ? ` You have not marked ${slip.inWords(unread)} as read.` : "";
      const count = ["One card", "Two cards", "Three cards", "Four cards", "Five cards"][hand.length - 1];
      this.note.textContent = `${count} from ${slip.inWords(numbers)}. ${SPOILER}${marked}`;
    }

    lastDays() {
      const { days, box } = this.memory;
      const kept = Object.keys(box).length;
      const most = slip.HAND * slip.MOST;
      const today = days[this.day] === undefined ? "Today’s five: not played yet." : `Today’s five: ${days[this.day]} of ${most} points.`;
      const missed = kept ? ` Missed and coming back: ${kept}.` : "";
      return html("p", { class: "slip-kept" }, `${today}${missed} This is kept in this browser only.`);
    }

    // Playing

    play() {
      this.played = [];
      this.dealt = this.hand();
      this.kind = this.deck.value;
      this.dealtOn = this.day;
      this.show();
    }

    show() {
      const card = this.card = this.dealt[this.played.length];
      this.turn = { misses: 0, told: false, found: false };
      const { chapter, question } = card;
      const wrong = slip.countWrong(card);
      this.lines = slip.lines(card, (i) => this.tap(i));
      this.second = html("div", {});
      const head = html("p", { class: "step", tabindex: -1 },
        `Card ${this.played.length + 1} of ${this.dealt.length} · Chapter ${chapter.number}, ${chapter.title}: ${question.title}`);
      this.stage.replaceChildren(...[head, question.task ? html("p", {}, ...slip.told(question.task)) : null,
        html("div", { class: "slip-sides" }, slip.results(card), html("div", { class: "slip-work" },
          html("p", { class: "step" }, wrong > 1 ? "1. Two lines are wrong. Tap one of them." : "1. Tap the line that is wrong."),
          this.lines.list, this.status, this.second))].filter(Boolean));
      this.say("");
      head.focus({ preventScroll: true });
      head.scrollIntoView({ block: "nearest" });
    }

    tap(i) {
      const { turn, card } = this;
      if (turn.found) return;
      if (slip.isWrong(card, i)) return this.found(i, turn.misses ? "Yes, at the second try." : "Yes, at the first try.");
      if (this.lines.buttons[i].classList.contains("stays")) return;
      turn.misses++;
      this.lines.mark(i, "stays", "stays as it is");
      if (turn.misses < TRIES) {
        this.say(`Line ${i + 1} is the same in the right answer. You have one more try.`);
        return;
      }
      const first = card.changes[0][0];
      this.found(first, `Line ${i + 1} is right, too. It is line ${first + 1}.`);
    }

    // The line is known; what does the grader say?
    found(i, words) {
      this.turn.found = true;
      this.lines.mark(i, "slip-wrong", "wrong");
      this.lines.close();
      this.say(`${words} Now the grader’s message.`);
      const answers = slip.offered(this.card).map((answer) => {
        const mark = html("span", { class: "slip-mark" });
        const button = html("button", { type: "button", "data-control": "message", click: () => this.choose(answer) },
          html("span", {}, ...slip.told(answer.text)), mark);
        return Object.assign(answer, { button, mark });
      });
      this.answers = answers;
      const begins = this.card.fails ? "Your function fails as a known mistake does: …" : "Your result equals a known mistake: …";
      this.second.append(html("p", { class: "step" }, "2. How will the grader finish its sentence?"), html("p", {}, begins),
        html("div", { class: "slip-messages", role: "group", "aria-label": `How will the grader finish its sentence? ${begins}` }, ...answers.map(({ button }) => button)));
      answers[0].button.focus({ preventScroll: true });
      this.second.scrollIntoView({ block: "nearest" });
    }

    choose(chosen) {
      const { turn, card } = this;
      if (turn.done) return;
      Object.assign(turn, { done: true, told: chosen.own });
      for (const answer of this.answers) {
        answer.button.setAttribute("aria-disabled", true);
        if (answer.own) answer.button.classList.add("own");
        answer.button.hidden = !answer.own && answer !== chosen;
        answer.mark.textContent = answer.own ? "✓ the grader’s message" : answer === chosen ? "✗ your choice" : "";
      }
      this.played.push(turn);
      this.keep(slip.noted(this.memory, card.key, turn, this.dealtOn));
      this.reveal(chosen);
    }

    reveal(chosen) {
      const { card, turn } = this;
      const sum = slip.points(turn);
      const back = slip.isKnown(turn) ? "" : " This card comes back tomorrow.";
      this.say(`${chosen.own ? "Right." : "No, that message is for another mistake."} ${sum} of ${slip.MOST} points.${back}`);
      const last = this.played.length === this.dealt.length;
      const next = this.button("next", last ? "See the score" : "Next card", () => (last ? this.finish() : this.show()));
      next.classList.add("slip-go");
      this.second.append(...slip.mended(card), slip.links(card, this.root), html("div", { class: "controls" }, next));
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest" });
    }

    finish() {
      const sum = this.played.reduce((points, turn) => points + slip.points(turn), 0);
      const most = this.played.length * slip.MOST;
      if (this.kind === "today") this.keep(slip.scored(this.memory, this.dealtOn, sum));
      const line = (card, i) => html("li", {}, `${slip.isKnown(this.played[i]) ? "✓" : "✗ comes back tomorrow:"} `,
        html("a", { href: new URL(card.read[1], this.root).href }, `${card.chapter.number}, ${card.question.title}`),
        ` (${slip.points(this.played[i])} of ${slip.MOST})`);
      const head = html("p", { class: "step", tabindex: -1 }, "The score");
      this.stage.replaceChildren(head, this.status, html("ul", {}, ...this.dealt.map(line)),
        html("div", { class: "controls" }, this.button("again", "More cards", () => {
          this.start();
          this.begin.focus();
        })));
      this.say(`${sum} of ${most} points.`);
      head.focus({ preventScroll: true });
      head.scrollIntoView({ block: "nearest" });
    }
  }

  customElements.define("find-the-slip", FindTheSlip);
})();
