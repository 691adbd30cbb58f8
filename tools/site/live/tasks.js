// What there is to find out with a live model: a question, a guess, and then the model, which shows what it does.
(function (live) {
  "use strict";

  const LONG_ENOUGH = 80; // tokens that a task lets the model write
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

  // By kind of task: do it with the writer, and give the value of the answer that is right, with a sentence.
  const KINDS = {
    // Which of the choices does the last token look at most, in one head?
    async look(task, { writer, picture, part }) {
      await writer.write(task.text);
      await writer.settled();
      picture.look(...task.head);
      const { reading, model } = writer, last = reading.length - 1, named = (n) => model.piece(reading.ids[n]).trim();
      const given = {};
      for (let n = 0; n <= last; n++) {
        given[named(n)] = (given[named(n)] || 0) + reading.weight(...task.head, last, n);
      }
      const values = task.choices.map(({ value }) => given[value] || 0), most = values.indexOf(Math.max(...values));
      part.map.scrollIntoView?.({ block: "nearest" });
      return [task.choices[most].value, `“${named(last)}” gives `
        + task.choices.map(({ value }, i) => `“${value}” ${live.percent(values[i])}`).join(", ") + " of its weight."];
    },

    // How does a text go on whose likeliest token is always taken?
    async loop(task, page) {
      const { writer, part } = page;
      part.temperature.value = 0;
      await writer.write(task.text);
      await writer.settled();
      for (let n = 0; n < LONG_ENOUGH && !writer.ended; n++) await writer.step();
      page.render();
      const length = roundOf(writer.ids);
      if (length) return ["loops", `It ends in a round of ${length} tokens: “${writer.model.decode(writer.ids.slice(-length)).trim()}”.`];
      return writer.ended ? ["ends", `It ended after ${writer.ids.length} tokens.`]
        : ["goes on", `It wrote ${LONG_ENOUGH} tokens and did not repeat itself.`];
    },

    // Does the second text take fewer, about as many or more tokens for a letter than the first?
    async pieces(task, { writer }) {
      const [ours, theirs] = [task.beside, task.text].map((text) => writer.model.encode(text).ids.length - 1);
      await writer.write(task.text);
      const times = (theirs / task.text.length) / (ours / task.beside.length);
      return [times > 1.25 ? "more" : times < 0.8 ? "fewer" : "as many",
        `“${task.beside}” takes ${ours} tokens, “${task.text}” takes ${theirs}.`];
    },
  };

  class Tasks {
    // `page` has writer, picture, part and render once a model is there.
    constructor(place, tasks, page) {
      this.page = page;
      this.waiting = null; // a guess that was made before the model was there
      this.cards = tasks.map((task) => this.card(task));
      place.replaceChildren(...this.cards);
    }

    card(task) {
      const told = live.make("p", { class: "answer", role: "status" });
      const buttons = task.choices.map((choice) => {
        const button = live.make("button", { type: "button", "aria-pressed": "false" }, choice.text);
        button.addEventListener("click", () => this.guess({ task, choice, told, button, buttons }));
        return button;
      });
      return live.make("div", { class: "task" }, live.make("p", {}, live.make("b", {}, task.title), " " + task.ask),
        live.make("div", { class: "choices" }, ...buttons), told);
    }

    async guess(made) {
      made.buttons.forEach((button) => button.setAttribute("aria-pressed", String(button === made.button)));
      if (!this.page.writer) {
        this.waiting = made;
        made.told.textContent = "Your guess is kept. Start the model, and see.";
        return;
      }
      made.told.textContent = "…";
      const [right, words] = await KINDS[made.task.kind](made.task, this.page);
      const verdict = made.choice.value === right ? "You were right." : "You guessed otherwise.";
      made.told.textContent = `${verdict} ${words} ${made.task.then}`;
    }

    // A model is there: answer what was guessed before.
    async begin() {
      const { waiting } = this;
      this.waiting = null;
      if (waiting) await this.guess(waiting);
    }
  }

  Object.assign(live, { Tasks, roundOf });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
