// <live-transformer model="…">: loads a model on a click, reads what is typed, shows what the model does with it.
(function (live) {
  "use strict";

  if (typeof document === "undefined") return;
  const SLICE = 12; // milliseconds of computing between two chances for the page to answer
  const PACE = { usual: 16, reduced: 120 }; // milliseconds that a token takes at least, so that it can be seen
  const PICTURES = 250; // milliseconds between two pictures of attention and embedding while the model writes
  const LONG = 2000; // characters
  const MOST_AT_ONCE = 1000; // tokens that one press of the button writes
  const TOP_K = [1, 2, 3, 5, 10, 20, 40, 100, null];
  const TOO_OLD = "This browser is too old for the live model. The picture stays, and everything else on the page works.";
  const NEEDED = ["customElements", "TextDecoder", "Promise", "MutationObserver"];

  if (NEEDED.some((name) => !window[name]) || !Element.prototype.attachShadow || !Element.prototype.replaceChildren) {
    document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("live-transformer").forEach((element) => {
      element.appendChild(document.createElement("p")).textContent = TOO_OLD;
    }));
    return;
  }

  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  class LiveTransformer extends HTMLElement {
    constructor() {
      super();
      this.attachShadow({ mode: "open" }).innerHTML = `<style>${live.style}</style>${live.markup}`;
      this.part = {};
      this.shadowRoot.querySelectorAll("[id]").forEach((element) => { this.part[element.id] = element; });
      this.random = Math.random; // tests replace it
      this.model = this.reading = null;
      this.running = false;
      this.pictured = 0; // when attention and embedding were drawn last
      this.job = 0; // a newer number ends the computing that is under way
      this.work = Promise.resolve();
      const { chips, heads, map, cell, bars } = this.part;
      this.chips = new live.Chips(chips, (n) => this.choose(n));
      this.heads = new live.Heads(heads, (layer, head) => this.look(layer, head));
      this.map = new live.HeadMap(map, cell, (n) => this.choose(n));
      this.bars = new live.Bars(bars, (id) => this.take(id));
      this.listen();
    }

    connectedCallback() {
      const { part } = this, weight = this.getAttribute("megabytes");
      part.load.hidden = !this.hasAttribute("src");
      part.mine.open ||= part.load.hidden;
      part.weighs.textContent = this.hasAttribute("src")
        ? `${weight} MB, once. It runs in this page, and nothing that you type leaves it.`
        : "The model's weights are not in this copy of the page. You can open a model of your own.";
      this.theme = new MutationObserver(() => this.render());
      this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class"] });
    }

    disconnectedCallback() {
      this.theme.disconnect();
      this.stop();
      this.job++;
    }

    listen() {
      const { part } = this, on = (name, event, act) => part[name].addEventListener(event, act);
      on("load", "click", async ({ detail }) => {
        await this.load();
        if (detail === 0 && !part.lab.hidden) part.text.focus(); // pressed by key; a finger would get a keyboard that it did not ask for
      });
      on("again", "click", async () => {
        await this.load();
        part.text.focus(); // the button is gone
      });
      on("text", "input", () => this.hear());
      on("text", "paste", (event) => {
        const text = event.clipboardData.getData("text/plain");
        if (text.length < LONG) return;
        event.preventDefault(); // line by line, as browsers insert it, ten thousand characters would take minutes
        part.text.setRangeText(text, part.text.selectionStart, part.text.selectionEnd, "end");
        this.hear();
      });
      on("text", "keydown", (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        this.step();
      });
      on("step", "click", () => this.step());
      on("run", "click", () => this.running ? this.stop() : this.run());
      on("back", "click", () => this.takeBack());
      on("clear", "click", () => this.write(""));
      on("files", "change", () => {
        const files = Array.from(part.files.files);
        part.files.value = ""; // the same files may be chosen again
        this.open(files);
      });
      ["temperature", "top-k", "top-p"].forEach((name) => on(name, "input", () => this.render()));
      this.listenToDrops();
      part.temperature.value = 0.8;
      part["top-k"].max = part["top-k"].value = TOP_K.length - 1;
      part["top-p"].value = 0.95;
    }

    listenToDrops() {
      const { box } = this.part;
      box.addEventListener("dragover", (event) => {
        event.preventDefault();
        box.classList.add("over");
      });
      box.addEventListener("dragleave", () => box.classList.remove("over"));
      box.addEventListener("drop", async (event) => {
        event.preventDefault();
        box.classList.remove("over");
        this.open(await live.droppedFiles(event.dataTransfer));
      });
    }

    // Where the reader looks: at the top, or beside the files that were chosen.
    tell(words, { problem = false, place = "told" } = {}) {
      for (const name of ["told", "told-own"]) {
        this.part[name].textContent = name === place ? words : "";
        this.part[name].classList.toggle("problem", problem);
      }
    }

    // The book's own model, from its script.
    async load() {
      const name = this.getAttribute("model");
      this.part.load.disabled = true;
      this.tell("Loading the weights …");
      try {
        const { config, weights, about } = await live.weightsOf(name, this.getAttribute("src"));
        this.tell("Unpacking …");
        await pause(0);
        this.start(live.openModel(config, live.bytesOf(weights)), about || `The book's model “${name}”`, this.getAttribute("prompt"));
        this.part.again.hidden = true;
      } catch (error) {
        this.refuse(error);
      }
      this.part.load.disabled = false;
    }

    // A reader's own model, from its files.
    async open(files) {
      try {
        const [config, weights] = live.twoFiles(files);
        this.tell(`Reading ${weights.name}, ${live.megabytes(weights.size)} …`, { place: "told-own" });
        const model = live.openModel(await config.text(), await weights.arrayBuffer());
        this.start(model, "Your own model", "");
        this.part.again.hidden = !this.hasAttribute("src");
        this.part.who.scrollIntoView({ block: "nearest" });
      } catch (error) {
        this.refuse(error, "told-own");
      }
    }

    // What stood here stays, and the reader hears why.
    refuse(error, place) {
      const words = error instanceof live.Problem ? error.message : `The model could not be read: ${error.message}`;
      this.tell(words, { problem: true, place });
    }

    start(model, about, prompt) {
      const { n_layers: M, n_heads: H, d_model: D, n_vocab: V, n_positions: N } = model.config;
      this.stop();
      this.model = model;
      this.reading = new live.Reading(model);
      this.layer = this.head = 0;
      this.times = [];
      this.pace = "";
      this.nearTo = null;
      for (const name of ["frame", "door"]) this.part[name].hidden = true;
      this.part.lab.hidden = false;
      this.tell("");
      this.part.who.textContent = `${about}: ${model.nWeights.toLocaleString("en")} weights, ${M} layers of ${H} heads, `
        + `${V.toLocaleString("en")} tokens; it sees the last ${N} of them.`;
      this.part.width.textContent = D;
      this.write(prompt || "");
    }

    // The text has changed. Many changes at once, such as the lines of a long one, are read together.
    hear() {
      this.stop();
      if (this.hearing) return;
      this.hearing = true;
      this.job++;
      this.work = pause(SLICE).then(() => {
        this.hearing = false;
        return this.write(this.part.text.value);
      });
    }

    // Take a text as the reader gives it: all its tokens are made anew.
    write(text) {
      if (!this.model) return this.work;
      this.stop();
      if (this.part.text.value !== text) this.part.text.value = text;
      const { ids, unknown } = this.model.encode(text);
      Object.assign(this, { ids, unknown, typed: text, added: [], chosen: null, ended: false });
      return this.read();
    }

    // Read what is new, in slices; a later call ends this one.
    read(written = false) {
      this.work = this.readOn(++this.job, written);
      return this.work;
    }

    async readOn(job, written) {
      const { reading } = this, started = performance.now();
      this.dropped = this.model.dropped(this.ids.length);
      const ids = this.ids.slice(this.dropped);
      reading.keepPrefix(this.part.cache.checked ? ids : []); // without the cache everything is read again
      while (reading.length < ids.length) {
        const until = performance.now() + SLICE;
        do {
          const began = performance.now();
          reading.read(ids[reading.length]);
          this.times = [performance.now() - began].concat(this.times).slice(0, 16);
        } while (reading.length < ids.length && performance.now() < until);
        if (reading.length === ids.length) break;
        this.part.note.textContent = `Reading: ${reading.length} of ${ids.length} tokens …`;
        await pause(0);
        if (job !== this.job) return;
      }
      const mean = this.times.reduce((sum, time) => sum + time, 0) / this.times.length;
      this.pace = written ? `${live.duration(performance.now() - started)} for this token` : `${live.duration(mean)} a token read`;
      this.render();
    }

    get settings() {
      const { part } = this, p = Number(part["top-p"].value);
      return {
        temperature: Number(part.temperature.value), topK: TOP_K[part["top-k"].value], topP: p === 1 ? null : p,
      };
    }

    distribution(n) {
      return live.distribution(this.reading.logits(n), this.settings);
    }

    // Draw one token and append it.
    async step() {
      if (!this.model) return;
      await this.settled();
      const id = live.draw(this.distribution(this.reading.length - 1), this.random);
      this.chosen = null;
      await this.append(id);
    }

    append(id) {
      this.ids.push(id);
      this.added.push(id);
      this.ended = id === this.model.end;
      this.part.text.value = this.typed + this.model.decode(this.added);
      this.part.text.scrollTop = this.part.text.scrollHeight;
      return this.read(true);
    }

    async run() {
      if (!this.model) return;
      this.running = true;
      this.part.run.textContent = "Stop";
      const began = performance.now(), calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
      for (let count = 1; this.running && count <= MOST_AT_ONCE; count++) {
        const next = pause(calm ? PACE.reduced : PACE.usual);
        await this.settled();
        if (!this.running) break; // the reader has typed meanwhile
        await this.step();
        const each = (performance.now() - began) / count;
        this.part.speed.textContent = each > 500 ? `${live.duration(each)} a token` : `${(1000 / each).toFixed(0)} tokens a second`;
        if (this.ended) break;
        await next;
      }
      this.stop();
    }

    stop() {
      if (!this.running) return;
      this.running = false;
      this.part.run.textContent = "Write on";
      this.render();
    }

    // The token that the reader wants, in place of all that came after the chosen one.
    take(id) {
      this.stop();
      const kept = this.ids.slice(0, this.dropped + this.at() + 1);
      if (kept.length < this.ids.length) this.restart(kept);
      this.chosen = null;
      return this.append(id);
    }

    takeBack() {
      this.stop();
      if (this.model && this.ids.length > 1) this.restart(this.ids.slice(0, -1));
      this.chosen = null;
      return this.model ? this.read() : this.work;
    }

    // The same ids as text: what was typed and what was drawn are no longer told apart.
    restart(ids) {
      this.typed = this.model.decode(ids[0] === this.model.end ? ids.slice(1) : ids);
      Object.assign(this, { ids, added: [], ended: false, unknown: [] });
      this.part.text.value = this.typed;
    }

    // The chosen token, the last one unless the reader chose another.
    at() {
      return this.chosen === null ? this.reading.length - 1 : Math.min(this.chosen, this.reading.length - 1);
    }

    choose(n) {
      this.chosen = n === this.reading.length - 1 ? null : n;
      this.render();
    }

    look(layer, head) {
      Object.assign(this, { layer, head });
      this.render();
    }

    // How much token n looks at token s.
    weight(layer, head, n, s) {
      return this.reading.attention[n][layer][head * (n + 1) + s];
    }

    render() {
      if (!this.model || !this.reading.length) return;
      const { reading, model, layer, head } = this, at = this.at(), pieces = reading.ids.map((id) => model.piece(id));
      const row = Array.from({ length: at + 1 }, (_, s) => this.weight(layer, head, at, s));
      const colour = (name) => getComputedStyle(this).getPropertyValue(name).trim();
      const tokens = live.mapped(reading.length, at), weight = (m, h, n, s) => this.weight(m, h, n, s);
      this.chips.show(reading.ids, pieces, at, row);
      this.renderNext(at, pieces);
      this.renderWords(at, pieces, tokens);
      if (this.running && performance.now() - this.pictured < PICTURES) return;
      this.pictured = performance.now();
      this.heads.show(model.config.n_layers, model.config.n_heads, tokens, weight, [layer, head], colour("--accent"));
      this.map.show(`layer ${layer + 1}, head ${head + 1}`, pieces, tokens, (n, s) => this.weight(layer, head, n, s), at);
      this.renderStrips(at, { above: colour("--accent"), below: colour("--warm") });
    }

    renderStrips(at, colours) {
      const D = this.model.config.d_model, stream = this.reading.streams[at], id = this.reading.ids[at];
      const rows = Array.from({ length: stream.length / D }, (_, m) => stream.subarray(m * D, (m + 1) * D));
      live.showStrips(this.part.strips, rows, rows.map((_, m) => m ? `after layer ${m}` : "embedding"), colours);
      if (this.running || this.nearTo === this.model.piece(id) + id) return;
      this.nearTo = this.model.piece(id) + id;
      const near = this.model.nearest(id, 6).map((other) => `“${live.spell(this.model.piece(other.id))}”`);
      this.part.near.textContent = `Tokens with nearly the same list at the start: ${near.join(" ")}`;
    }

    renderNext(at, pieces) {
      const { part, settings } = this, found = this.distribution(at), last = at === this.reading.length - 1;
      const shown = this.bars.show(found, (id) => this.model.piece(id), this.reading.ids[at + 1]);
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

    renderWords(at, pieces, tokens) {
      const { part, reading, dropped } = this, notes = [];
      if (dropped) {
        notes.push(`The text is longer than the ${this.model.config.n_positions} tokens that the model sees: the first `
          + `${dropped.toLocaleString("en")} are left out.`);
      }
      if (this.unknown.length) {
        const some = this.unknown.slice(0, 8).map((character) => `“${live.spell(character)}”`).join(", ");
        notes.push(`The model has never seen ${some}${this.unknown.length > 8 ? " and others" : ""}: it knows `
          + `${this.model.tokenizer.nVocab} characters, and reads the text without the rest.`);
      }
      if (this.ended) notes.push("The model has ended its text with ¶. Write on, and it begins another.");
      part.note.textContent = notes.join(" ");
      part.chosen.textContent = `“${live.spell(pieces[at])}” is token ${at + 1} of ${reading.length} and has the id ${reading.ids[at]}.`
        + (at === 0 && !dropped ? " ¶ stands at the start of every text." : "");
      part["head-name"].textContent = `Layer ${this.layer + 1}, head ${this.head + 1}`
        + (tokens.length < reading.length ? `: the first token, and ${tokens.length - 1} up to the chosen one` : "");
      part.back.disabled = this.ids.length < 2;
      if (!this.running) part.speed.textContent = this.pace;
    }

    // Resolves when everything typed has been read.
    async settled() {
      for (let job = -1; job !== this.job;) {
        job = this.job;
        await this.work;
      }
    }

    // All that is shown, as numbers.
    state() {
      const told = this.part.told.textContent || this.part["told-own"].textContent;
      if (!this.model) return { model: null, told };
      const { reading, model } = this, { n_layers: M, n_heads: H } = model.config, at = this.at(), found = this.distribution(at);
      const range = (length) => Array.from({ length }, (_, i) => i);
      return {
        model: model.config, told, note: this.part.note.textContent, text: this.part.text.value,
        ids: reading.ids.slice(), tokens: reading.ids.map((id) => model.piece(id)), dropped: this.dropped, chosen: at,
        layer: this.layer, head: this.head, settings: this.settings, running: Boolean(this.running),
        logits: Array.from(reading.logits(at)), probabilities: Array.from(found.after), before: Array.from(found.before),
        embedding: Array.from(reading.streams[at].subarray(0, model.config.d_model)),
        attention: range(M).map((m) => range(H).map((h) => range(reading.length).map((n) => range(n + 1).map((s) => this.weight(m, h, n, s))))),
      };
    }
  }

  window.customElements.define("live-transformer", LiveTransformer);
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
