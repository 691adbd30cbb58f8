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
      this.map = new live.HeadMap(part.map, part.cell, choose);
      this.bars = new live.Bars(part.bars, take);
      this.drawn = 0; // when attention and embedding were drawn last
      this.begin();
    }

    // Another model: nothing is chosen.
    begin() {
      this.layer = this.head = 0;
      this.nearTo = null;
    }

    look(layer, head) {
      Object.assign(this, { layer, head });
      this.show(this.writer);
    }

    show(writer) {
      this.writer = writer;
      const { reading, model } = writer, { layer, head } = this;
      if (!reading.length) return;
      const at = writer.at(), pieces = reading.ids.map((id) => model.piece(id)), tokens = live.mapped(reading.length, at);
      const weight = (m, h, n, s) => reading.weight(m, h, n, s), look = getComputedStyle(this.part.box);
      const [accent, warm] = ["--accent", "--warm"].map((name) => look.getPropertyValue(name).trim());
      this.chips.show(reading.ids, pieces, at, Array.from({ length: at + 1 }, (_, s) => weight(layer, head, at, s)));
      this.showNext(at, pieces);
      this.showWords(at, pieces, tokens);
      if (writer.running && performance.now() - this.drawn < PICTURES) return;
      this.drawn = performance.now();
      this.heads.show(model.config.n_layers, model.config.n_heads, tokens, weight, [layer, head], accent);
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
      part["temperature-value"].textContent = settings.temperature.toFixed(2);
      part["top-k-value"].textContent = settings.topK === null ? "all" : settings.topK;
      part["top-p-value"].textContent = settings.topP === null ? "all" : settings.topP.toFixed(2);
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
      part["head-name"].textContent = `Layer ${this.layer + 1}, head ${this.head + 1}`
        + (tokens.length < reading.length ? `: the first token, and ${tokens.length - 1} up to the chosen one` : "");
      part.back.disabled = writer.ids.length < 2;
      if (!writer.running) part.speed.textContent = `${live.duration(writer.took)} ${writer.written ? "for this token" : "a token read"}`;
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
