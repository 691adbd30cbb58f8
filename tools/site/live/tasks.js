// What there is to find out with a live model: a question, a guess, and then the model, which shows what it does.
(function (live) {
  "use strict";

  const LONG_ENOUGH = 160; // tokens that a task lets the model write
  const LONGEST_ROUND = 40; // tokens that are looked at as one repetition

  // The round in which the last tokens go, 0 for none: the shortest after which they repeat themselves twice.
  function roundOf(ids) {
    for (let length = 1; length <= LONGEST_ROUND; length++) {
      const seen = Math.max(2 * length, 12);
      if (ids.length < seen + length) return 0;
      if (ids.slice(-seen).every((id, i) => id === ids[ids.length - seen + i - length])) return length;
    }
    return 0;
  }

  // Write the task's text, and wait until it is read; false if the reader has written another meanwhile.
  async function settle(writer, text) {
    await writer.write(text);
    await writer.settled();
    return writer.typed === text && writer.added.length === 0;
  }

  // By kind of task: do it with the writer, and give the value of the answer that is right, with a sentence; null if it
  // was interrupted.
  const ANSWERS = {
    // Which of the choices does the last token look at most, in one head?
    async look(task, { writer, picture }) {
      if (!await settle(writer, task.text)) return null;
      picture.look(...task.head);
      const { reading, model } = writer, last = reading.length - 1, named = (n) => model.piece(reading.ids[n]).trim();
      const given = {};
      for (let n = 0; n <= last; n++) {
        given[named(n)] = (given[named(n)] || 0) + reading.weight(...task.head, last, n);
      }
      const values = task.choices.map(({ value }) => given[value] || 0), most = values.indexOf(Math.max(...values));
      return [task.choices[most].value, `“${named(last)}” gives `
        + task.choices.map(({ value }, i) => `“${value}” ${live.percent(values[i])}`).join(", ") + " of its weight."];
    },

    // How does a text go on whose likeliest token is always taken? What the reader has set stays as it is.
    async loop(task, { writer }) {
      if (!await settle(writer, task.text)) return null;
      const enough = () => roundOf(writer.ids) > 0 || writer.added.length >= LONG_ENOUGH;
      if (!await writer.run({ write: () => writer.takeLikeliest(), enough })) return null;
      const length = roundOf(writer.ids);
      if (length) return ["loops", `It ends in a round of ${length} tokens: “${writer.model.decode(writer.ids.slice(-length)).trim()}”.`];
      return writer.ended ? ["ends", `It ended after ${writer.ids.length} tokens.`]
        : ["goes on", `It wrote ${LONG_ENOUGH} tokens and did not repeat itself.`];
    },

    // Does the second text take fewer, about as many or more tokens for a letter than the first?
    async pieces(task, { writer }) {
      if (!await settle(writer, task.text)) return null;
      const [ours, theirs] = [task.beside, task.text].map((text) => writer.model.encode(text).ids.length - 1);
      const times = (theirs / task.text.length) / (ours / task.beside.length);
      return [times > 1.25 ? "more" : times < 0.8 ? "fewer" : "as many",
        `“${task.beside}” takes ${ours} tokens, “${task.text}” takes ${theirs}.`];
    },
  };
  const SEEN_IN = { look: "map", loop: "run", pieces: "chips" }; // the part of the page that shows it

  class Tasks {
    // `page` has part, and writer and picture once a model is there. Where there is room all tasks are unfolded, and else
    // one at a time.
    constructor(place, tasks, page, roomy) {
      this.page = page;
      this.waiting = null; // a guess that was made before the model was there
      this.latest = null; // the guess that the model answers, or has answered
      this.cards = tasks.map((task) => this.card(task, roomy));
      place.replaceChildren(...this.cards);
    }

    card(task, roomy) {
      const told = live.make("p", { class: "answer", role: "status" });
      const show = live.make("button", { type: "button", class: "show" }, "Show me where");
      show.hidden = true;
      show.addEventListener("click", () => live.goTo(this.page.part[SEEN_IN[task.kind]]));
      const buttons = task.choices.map((choice) => {
        const button = live.make("button", { type: "button", "aria-pressed": "false" }, choice.text);
        button.addEventListener("click", () => this.guess({ task, choice, told, show, button, buttons }));
        return button;
      });
      return live.make("details", { class: "task", ...(roomy ? { open: "" } : { name: "task" }) },
        live.make("summary", {}, task.title), live.make("p", {}, task.ask),
        live.make("div", { class: "choices" }, ...buttons), told, show);
    }

    async guess(made) {
      made.buttons.forEach((button) => button.setAttribute("aria-pressed", String(button === made.button)));
      if (!this.page.writer) return this.keep(made);
      this.latest = made;
      made.show.hidden = true;
      made.told.textContent = "The model is at work …";
      const found = await ANSWERS[made.task.kind](made.task, this.page);
      if (this.latest !== made && this.latest.told === made.told) return; // another guess at the same question
      made.told.textContent = found ? sentence(made, ...found) : "The model was interrupted. Guess again, and it begins anew.";
      made.show.hidden = !found;
    }

    // Until there is a model, for which only the last guess waits.
    keep(made) {
      const { waiting } = this;
      this.waiting = made;
      if (waiting) waiting.told.textContent = "Your guess is kept. Press it once more when the model is there.";
      made.told.textContent = "Your guess is kept. Start the model, and see.";
    }

    // A model is there: answer what was guessed before; an answer of the model before does not come any more.
    async begin() {
      const { waiting, latest } = this;
      this.waiting = null;
      if (latest && latest.show.hidden) latest.told.textContent = "";
      if (waiting) await this.guess(waiting);
    }
  }

  function sentence({ task, choice }, right, words) {
    return `${choice.value === right ? "You were right." : "You guessed otherwise."} ${words} ${task.then}`;
  }

  Object.assign(live, { ANSWERS, Tasks, roundOf });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
