// What all explorables share: reading their data, controls that a keyboard and a screen reader can use, numbers.
(() => {
  const make = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") node.addEventListener(name, value);
      else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child != null));
    return node;
  };
  const html = (tag, attributes = {}, ...children) => make(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  const signed = (text) => (Number(text) === 0 ? text.replace("-", "") : text.replace("e+", "e").replace(/-/g, "−"));
  const fixed = (x, digits = 3) => signed(x.toFixed(digits));
  const figures = (x, digits = 3) => signed(x.toPrecision(digits));
  const short = (x) => signed(String(Math.round(x * 100) / 100));
  const whole = (x) => Math.round(x).toLocaleString("en-US");
  const tint = (share, colour = "accent") =>
    `background: color-mix(in srgb, var(--cf-${colour}) ${Math.round(34 * Math.min(share, 1))}%, transparent)`;

  const isNumber = (x) => Number.isFinite(x);
  const all = (test) => (x) => Array.isArray(x) && x.length > 0 && x.every(test);
  const KINDS = {
    number: ["a number", isNumber],
    numbers: ["a list of numbers", all(isNumber)],
    rows: ["a list of lists of numbers", all(all(isNumber))],
    texts: ["a list of words", all((x) => typeof x === "string")],
    objects: ["a list of named values", all((x) => x !== null && typeof x === "object")],
  };

  class Explorable extends HTMLElement {
    connectedCallback() {
      if (this.begun) return;
      this.begun = true;
      const live = html("div", { class: "live" });
      try {
        this.data = this.readData();
        this.status = html("p", { class: "says", role: "status" });
        this.build(live);
        if (!live.contains(this.status)) live.append(this.status);
        this.append(live);
        this.update();
        this.classList.add("alive");
      } catch (error) {
        live.remove();
        this.prepend(html("p", { class: "trouble" }, `This cannot be moved: ${error.message} The still picture stays.`));
      }
    }

    // Raises what a reader can tell the authors: which datum is missing, or is not of its kind.
    readData() {
      const script = this.querySelector('script[type="application/json"]');
      if (!script) throw new Error("its data are not in the page.");
      let data;
      try {
        data = JSON.parse(script.textContent);
      } catch {
        throw new Error("its data are not readable.");
      }
      for (const [name, kind] of Object.entries(this.constructor.needs)) {
        const [words, test] = KINDS[kind];
        if (!(name in data)) throw new Error(`“${name}” is missing from its data.`);
        if (!test(data[name])) throw new Error(`“${name}” in its data should be ${words}.`);
      }
      const lengths = (this.constructor.together || []).map((name) => data[name].length);
      if (new Set(lengths).size > 1) {
        throw new Error(`${this.constructor.together.join(", ")} have the lengths ${lengths.join(", ")}.`);
      }
      return data;
    }

    say(text, trouble = false) {
      const told = trouble ? text : this.closed ? "Guess first; then the numbers show." : [this.judged, text].filter(Boolean).join(" ");
      this.judged = "";
      if (this.status.textContent !== told) this.status.textContent = told;
    }

    // A question that is answered before the numbers show whose names are secret; judge says what the guess was worth.
    ask(question, answers, secret, judge) {
      this.asked = this.choice("guess", question, answers, null);
      this.asked.chosen = (answer) => (this.judged = judge(answer));
      this.secret = secret;
      return html("div", { class: "controls" }, this.asked.box);
    }

    get closed() {
      return this.asked?.value === null;
    }

    number(name) {
      return html("span", { "data-value": name });
    }

    put(values) {
      for (const [name, value] of Object.entries(values)) {
        const text = this.closed && this.secret.test(name) ? "?" : value;
        this.querySelectorAll(`[data-value="${name}"]`).forEach((node) => (node.textContent = text));
      }
    }

    slider(name, label, { min, max, step = 1, value, text = String, moved }) {
      const input = html("input", { type: "range", min, max, step, "aria-label": label, "data-control": name });
      input.value = value;
      const shown = this.number(name);
      const tell = () => {
        shown.textContent = text(Number(input.value));
        input.setAttribute("aria-valuetext", shown.textContent);
      };
      input.addEventListener("input", () => {
        tell();
        moved?.(Number(input.value));
        this.update();
      });
      tell();
      const box = html("label", { class: "slider" }, html("span", {}, label, " ", shown), input);
      const set = (x) => ((input.value = x), tell());
      return { box, input, set, get value() { return Number(input.value); } };
    }

    // Buttons of which one is pressed.
    choice(name, label, options, value) {
      const state = { value };
      const press = (option) => {
        state.value = option;
        state.buttons.forEach((button, i) => button.setAttribute("aria-pressed", options[i][0] === option));
      };
      state.buttons = options.map(([option, text]) =>
        html("button", {
          type: "button", "data-control": name, "data-option": String(option),
          click: () => (press(option), state.chosen?.(option), this.update()),
        }, text));
      state.set = press;
      press(value);
      state.box = html("div", { class: "choice", role: "group", "aria-label": label },
        html("span", {}, label), ...state.buttons);
      return state;
    }

    button(name, text, action) {
      return html("button", { type: "button", "data-control": name, click: () => (action(), this.update()) }, text);
    }

    toggle(name, label, on = false) {
      const input = html("input", { type: "checkbox", "aria-label": label, "data-control": name });
      input.checked = on;
      input.addEventListener("input", () => this.update());
      const set = (x) => { input.checked = x; };
      return { box: html("label", { class: "check" }, input, ` ${label}`), set, get value() { return input.checked; } };
    }

    // A table whose cells are [data-value="NAME-i"]: rows are [label, name, attributes].
    grid(head, rows, corner = "") {
      const line = ([label, name, more]) =>
        html("tr", more || {}, html("th", { scope: "row" }, label),
          ...head.map((_, i) => html("td", { "data-value": `${name}-${i}` })));
      return html("table", {},
        html("thead", {}, html("tr", {}, html("td", {}, corner), ...head.map((cell) => html("th", { scope: "col" }, cell)))),
        html("tbody", {}, ...rows.map(line)));
    }
  }

  Object.assign(globalThis.clearformer, { Explorable, html, svg, fixed, figures, short, whole, tint });
})();
