// What the live transformer shows of a text: its tokens, embedding and attention, what comes next, and what there is to say.
(function (live) {
  "use strict";

  const PICTURES = 250; // milliseconds between two pictures of attention and embedding while the model writes

  class Picture {
    // `part` has the places in the page by name; `choose` hears of a token that is clicked, `take` of one that is wanted next.
    constructor(part, choose, take) {
      this.part = part;
      this.chips = new live.Chips(part.chips, choose);
      this.heads = new live.Heads(part.heads, (layer, head) => this.look(layer, head));
      part.known.addEventListener("click", ({ target }) => target.dataset.head && this.look(...target.dataset.head.split(",").map(Number)));
      this.map = new live.HeadMap(part.map, part.cell, choose);
      this.bars = new live.Bars(part.bars, take);
      this.drawn = 0; // when attention and embedding were drawn last
      this.begin();
    }

    // Another model, whose heads have names or have none. It opens with the head that the page wants, "2,1" for the
    // first of the second layer, or else with the one that does its job most clearly.
    begin(names = null, wanted = null) {
      this.names = names || [];
      this.nearTo = null;
      const known = this.names.flatMap((row, m) => row.map((it, h) => ({ ...it, at: [m, h] }))).filter((it) => it.equal);
      const clearest = known.slice().sort((a, b) => b.share / b.equal - a.share / a.equal)[0];
      const first = names && wanted ? wanted.split(",").map((n) => n - 1) : clearest ? clearest.at : [0, 0];
      [this.layer, this.head] = first;
      this.part.known.replaceChildren(...known.map(({ name, at }) => {
        const button = live.make("button", { type: "button" }, name);
        button.dataset.head = at.join();
        return button;
      }));
    }

    look(layer, head) {
      Object.assign(this, { layer, head });
      this.show(this.writer);
    }

    show(writer) {
      this.writer = writer;
      const { reading, model } = writer, { layer, head } = this;
      this.part.lab.classList.toggle("writing", Boolean(writer.running)); // attention and embedding follow slowly
      if (!reading.length) return;
      const at = writer.at(), pieces = reading.ids.map((id) => model.piece(id)), tokens = live.mapped(reading.length, at);
      const weight = (m, h, n, s) => reading.weight(m, h, n, s), look = getComputedStyle(this.part.box);
      const [accent, warm] = ["--accent", "--warm"].map((name) => look.getPropertyValue(name).trim());
      this.chips.show(reading.ids, pieces, at, Array.from({ length: at + 1 }, (_, s) => weight(layer, head, at, s)));
      this.showNext(at, pieces);
      this.showWords(at, pieces, tokens);
      if (writer.running && performance.now() - this.drawn < PICTURES) return;
      this.drawn = performance.now();
      this.heads.show(model.config.n_layers, model.config.n_heads, tokens, weight, [layer, head], accent, this.names);
      this.part.layers.replaceChildren(...Array.from({ length: model.config.n_layers }, (_, m) => live.make("span", {}, `layer ${m + 1}`)));
      this.map.show(`layer ${layer + 1}, head ${head + 1}`, pieces, tokens, (n, s) => weight(layer, head, n, s), at);
      this.showStrips(at, { above: accent, below: warm });
    }

    showStrips(at, colours) {
      const { model, reading, running } = this.writer, D = model.config.d_model, stream = reading.streams[at], id = reading.ids[at];
      const rows = Array.from({ length: stream.length / D }, (_, m) => stream.subarray(m * D, (m + 1) * D));
      live.showStrips(this.part.strips, rows, rows.map((_, m) => m ? `after layer ${m}` : "embedding"), colours);
      if (running || this.nearTo === id) return;
      this.nearTo = id;
      const near = model.nearest(id, 6).map((other) => `“${live.spell(model.piece(other.id))}”`);
      this.part.near.textContent = `Tokens with nearly the same list at the start: ${near.join(" ")}`;
    }

    showNext(at, pieces) {
      const { part, writer } = this, { reading } = writer, { settings } = writer.page;
      const found = writer.distribution(at), last = at === reading.length - 1;
      const shown = this.bars.show(found, (id) => writer.model.piece(id), reading.ids[at + 1]);
      const possible = found.order.filter((id) => found.after[id] > 0).length;
      const others = found.order.slice(shown.length).reduce((sum, id) => sum + found.after[id], 0);
      const values = {
        temperature: settings.temperature.toFixed(2), "top-k": String(settings.topK ?? "all"), "top-p": settings.topP?.toFixed(2) ?? "all",
      };
      for (const [name, value] of Object.entries(values)) {
        if (part[`${name}-value`].textContent !== value) part[`${name}-value`].textContent = value; // else it is read out again
      }
      part["top-k"].setAttribute("aria-valuetext", part["top-k-value"].textContent);
      for (const name of ["top-k", "top-p"]) part[name].disabled = settings.temperature === 0;
      part.after.textContent = last ? `What comes after “${live.spell(pieces[at])}”?`
        : `What the model expected after “${live.spell(pieces[at])}”, where “${live.spell(pieces[at + 1])}” came (←):`;
      part.rest.textContent = settings.temperature === 0 ? "At temperature 0 the likeliest token is always taken."
        : `${possible.toLocaleString("en")} of ${found.order.length.toLocaleString("en")} tokens can be drawn; `
          + `those below the list have ${live.percent(others)} together.`;
    }

    showWords(at, pieces, tokens) {
      const { part, writer } = this, { reading, dropped } = writer;
      part.note.textContent = this.notes().join(" ");
      part.chosen.textContent = `“${live.spell(pieces[at])}” is token ${at + 1} of ${reading.length} and has the id ${reading.ids[at]}.`
        + (at === 0 && !dropped ? " ¶ stands at the start of every text." : "");
      part["head-name"].textContent = `Layer ${this.layer + 1}, head ${this.head + 1}` + this.job()
        + (tokens.length < reading.length ? ` The map shows the first token, and ${tokens.length - 1} up to the chosen one.` : "");
      part.known.querySelectorAll("button").forEach((button) => {
        button.setAttribute("aria-pressed", String(button.dataset.head === `${this.layer},${this.head}`));
      });
      part.back.disabled = writer.ids.length < 2;
      if (!writer.running) part.speed.textContent = `${live.duration(writer.took)} ${writer.written ? "for this token" : "a token read"}`;
    }

    // What the chosen head is known for.
    job() {
      const it = this.names[this.layer]?.[this.head], whole = (share) => `${Math.round(100 * share)} %`;
      if (!it) return ".";
      return `: ${it.name}` + (it.share ? `, ${whole(it.share)} of its weight in pages of a novel` : "")
        + (it.equal ? `; an equal share would be ${whole(it.equal)}.` : ".");
    }

    notes() {
      const { model, dropped, unknown, ended } = this.writer, found = [];
      if (dropped) {
        found.push(`The text is longer than the ${model.config.n_positions} tokens that the model sees: the first `
          + `${dropped.toLocaleString("en")} are left out.`);
      }
      if (unknown.length) {
        const some = unknown.slice(0, 8).map((character) => `“${live.spell(character)}”`).join(", ");
        found.push(`The model has never seen ${some}${unknown.length > 8 ? " and others" : ""}: it knows `
          + `${model.tokenizer.nVocab} characters, and reads the text without the rest.`);
      }
      if (ended) found.push("The model has ended its text with ¶. Write on, and it begins another.");
      return found;
    }
  }

  Object.assign(live, { Picture });
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
