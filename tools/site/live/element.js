// <live-transformer model="…">: loads a model on a click and hears what the reader does; writer.js writes, picture.js shows.
(function (live) {
  "use strict";

  if (typeof document === "undefined") return;
  const PACE = { usual: 16, reduced: 120 }; // milliseconds that a token takes at least, so that it can be seen
  const LONG = 2000; // characters
  const WIDE = 620; // pixels, from which the tasks stand side by side, as in the style sheet
  const TOP_K = [1, 2, 3, 5, 10, 20, 40, 100, null];
  const TOO_OLD = "This browser is too old for the live model. The picture stays, and everything else on the page works.";
  const NEEDED = ["customElements", "TextDecoder", "Promise", "MutationObserver"];

  if (NEEDED.some((name) => !window[name]) || !Element.prototype.attachShadow || !Element.prototype.replaceChildren) {
    document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("live-transformer").forEach((element) => {
      element.appendChild(document.createElement("p")).textContent = TOO_OLD;
    }));
    return;
  }

  class LiveTransformer extends HTMLElement {
    constructor() {
      super();
      this.attachShadow({ mode: "open" }).innerHTML = `<style>${live.style}</style>${live.markup}`;
      this.part = {};
      this.shadowRoot.querySelectorAll("[id]").forEach((element) => { this.part[element.id] = element; });
      this.writer = null; // from when a model is there
      this.picture = new live.Picture(this.part, (n) => this.writer.choose(n), (id) => this.writer.take(id));
      this.tasks = null; // what the page asks its readers, if anything
      this.listen();
    }

    connectedCallback() {
      const { part } = this, weight = this.getAttribute("megabytes");
      part.load.hidden = !this.hasAttribute("src");
      part.mine.open ||= part.load.hidden;
      part.weighs.textContent = this.hasAttribute("src")
        ? `${weight} MB, once. It runs in this page, and nothing that you type leaves it.`
        : "The model's weights are not in this copy of the page. You can open a model of your own.";
      part["own-text"].href = `${(this.getAttribute("src") || "live/").split("live/")[0]}chapters/closer/09-your-own-text.html`;
      const tasks = JSON.parse(this.getAttribute("tasks") || "[]");
      this.tasks ||= new live.Tasks(part.tasks, tasks, this, this.clientWidth >= WIDE);
      part["to-do"].hidden = !tasks.length || part.load.hidden;
      this.away = () => document.hidden && this.writer?.stop(); // nobody would see what it writes
      document.addEventListener("visibilitychange", this.away);
      window.addEventListener("pagehide", this.leave ||= () => this.keepText());
      this.theme = new MutationObserver(() => this.render());
      this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class"] });
      this.writer?.read(); // when the element was moved
    }

    disconnectedCallback() {
      this.theme.disconnect();
      document.removeEventListener("visibilitychange", this.away);
      window.removeEventListener("pagehide", this.leave);
      this.writer?.leave();
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
      on("text", "input", () => this.writer.hear(part.text.value));
      on("text", "paste", (event) => {
        const text = event.clipboardData.getData("text/plain");
        if (text.length < LONG) return;
        event.preventDefault(); // line by line, as browsers insert it, ten thousand characters would take minutes
        part.text.setRangeText(text, part.text.selectionStart, part.text.selectionEnd, "end");
        this.writer.hear(part.text.value);
      });
      on("text", "keydown", (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        this.writer.step();
      });
      on("step", "click", () => this.writer.step());
      on("run", "click", () => this.writer.running ? this.writer.stop() : this.writer.run());
      on("back", "click", () => this.writer.takeBack());
      on("clear", "click", () => this.writer.write(""));
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
      const name = this.getAttribute("model"), { progress } = this.part;
      this.part.load.disabled = true;
      this.tell("Loading the weights …");
      progress.hidden = false;
      progress.max = 1e6 * this.getAttribute("megabytes");
      progress.removeAttribute("value"); // until bytes are counted
      try {
        const { config, weights, heads, difference } = await live.weightsOf(name, this.getAttribute("src"), (bytes) => {
          progress.value = bytes;
        });
        this.tell("Unpacking …");
        await new Promise((done) => setTimeout(done)); // so that it can be seen
        const model = live.openModel(config, live.bytesOf(weights));
        this.start(model, "This model", this.keptText() ?? this.getAttribute("prompt"), heads);
        this.part.who.append(` Its weights are rounded to 8 bits for the way here. Over ${Math.min(256, model.config.n_positions) - 1} tokens of its own writing, this moves no logit by more than ${difference}.`);
        this.shown = name; // the book's model, not one of the reader's
        this.part.again.hidden = true;
        this.tasks.begin();
      } catch (error) {
        this.refuse(error);
      }
      progress.hidden = true;
      this.part.load.disabled = false;
    }

    // A reader's own model, from its files.
    async open(files) {
      try {
        const [config, weights] = live.twoFiles(files);
        this.tell(`Reading ${weights.name}, ${live.megabytes(weights.size)} …`, { place: "told-own" });
        const model = live.openModel(await config.text(), await weights.arrayBuffer());
        this.start(model, "Your own model", "");
        this.shown = null;
        this.part.again.hidden = !this.hasAttribute("src");
        this.part.who.scrollIntoView({ block: "nearest" });
      } catch (error) {
        this.refuse(error, "told-own");
      }
    }

    // What the reader has written is there again after a look at another page, as long as the tab is open.
    keepText() {
      if (!this.writer || this.getAttribute("model") !== this.shown) return;
      try {
        sessionStorage.setItem(`clearformer-live-${this.shown}`, this.part.text.value);
      } catch { /* blocked or full: the text lasts as long as the page */ }
    }

    keptText() {
      try {
        return sessionStorage.getItem(`clearformer-live-${this.getAttribute("model")}`);
      } catch {
        return null;
      }
    }

    // What stood here stays, and the reader hears why.
    refuse(error, place) {
      const words = error instanceof live.Problem ? error.message : `The model could not be read: ${error.message}`;
      this.tell(words, { problem: true, place });
    }

    start(model, about, prompt, heads = null) {
      const { n_layers: M, n_heads: H, d_model: D, n_vocab: V, n_positions: N } = model.config;
      this.writer?.leave();
      this.writer = new live.Writer(model, this);
      this.picture.begin(heads, this.getAttribute("head"));
      this.part["to-do"].hidden = !heads || !this.tasks.cards.length; // the questions are about the book's model
      for (const name of ["frame", "door"]) this.part[name].hidden = true;
      this.part.lab.hidden = false;
      this.tell("");
      this.part.who.textContent = `${about} has ${model.nWeights.toLocaleString("en")} weights, in ${M} layers of ${H} heads. It `
        + `knows ${V.toLocaleString("en")} tokens, and sees the last ${N} of a text.`;
      this.part.width.textContent = D;
      this.writer.write(prompt || "");
    }

    // What the reader has set, for the writer

    get settings() {
      const { part } = this, p = Number(part["top-p"].value);
      return {
        temperature: Number(part.temperature.value), topK: TOP_K[part["top-k"].value], topP: p === 1 ? null : p,
      };
    }

    get cached() {
      return this.part.cache.checked;
    }

    get pace() {
      return window.matchMedia("(prefers-reduced-motion: reduce)").matches ? PACE.reduced : PACE.usual;
    }

    // What the writer tells

    showText(text) {
      const field = this.part.text;
      if (field.value === text) return; // the reader's own, with the place where they type
      field.value = text;
      field.scrollTop = field.scrollHeight;
    }

    showProgress(read, of) {
      this.part.note.textContent = `Reading: ${read} of ${of} tokens …`;
    }

    // The model writes on, or has stopped; `each` is the time that a token takes, when it is known.
    showRun(each) {
      this.part.run.textContent = this.writer.running ? "Stop" : "Write on";
      if (!this.writer.running) this.part.spoken.textContent = this.writer.newText();
      if (each) this.part.speed.textContent = each > 500 ? `${live.duration(each)} a token` : `${(1000 / each).toFixed(0)} tokens a second`;
    }

    render() {
      if (this.writer) this.picture.show(this.writer);
    }

    // All that is shown, as numbers.
    state() {
      const told = this.part.told.textContent || this.part["told-own"].textContent;
      if (!this.writer) return { model: null, told };
      const { writer, picture } = this, { reading, model } = writer, at = writer.at(), found = writer.distribution(at);
      const { n_layers: M, n_heads: H } = model.config, range = (length) => Array.from({ length }, (_, i) => i);
      return {
        model: model.config, told, note: this.part.note.textContent, text: this.part.text.value,
        ids: reading.ids.slice(), tokens: reading.ids.map((id) => model.piece(id)), dropped: writer.dropped, chosen: at,
        layer: picture.layer, head: picture.head, settings: this.settings, running: Boolean(writer.running),
        logits: Array.from(reading.logits(at)), probabilities: Array.from(found.after), before: Array.from(found.before),
        embedding: Array.from(reading.streams[at].subarray(0, model.config.d_model)),
        attention: range(M).map((m) => range(H).map((h) => range(reading.length).map((n) => range(n + 1).map((s) => reading.weight(m, h, n, s))))),
      };
    }
  }

  window.customElements.define("live-transformer", LiveTransformer);
})(typeof window === "undefined" ? module.exports : (window.ClearformerLive = window.ClearformerLive || {}));
