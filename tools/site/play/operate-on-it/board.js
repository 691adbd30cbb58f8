// The board of heads, each with its map in small, and the row with which one token looks in one head.
(() => {
  const { html } = clearformer;
  const KINDS = [["model", "as it does"], ["off", "nowhere: off"], ["even", "evenly"], ["first", "at the first token"], ["previous", "at the token before"], ["painted", "as painted"]];
  const WORDS = { off: "off", even: "evenly", first: "first", previous: "before", painted: "painted" };
  const INK = [60, 135, 210];
  const MOST_PARTS = 3;
  const nameOf = (head) => head.split(",").map((x) => Number(x) + 1).join(".");
  const percent = (p, digits = 0) => (p > 0 && p < 0.005 && !digits ? "< 1 %" : `${(100 * p).toFixed(digits)} %`);

  // Arrow keys move among the buttons of a box, `across` in a row; one of them is a stop of Tab.
  function rove(box, across) {
    const all = () => Array.from(box.querySelectorAll("button"));
    const stop = (to) => all().forEach((button) => (button.tabIndex = button === to ? 0 : -1));
    box.addEventListener("focusin", ({ target }) => target.closest("button") && stop(target.closest("button")));
    box.addEventListener("keydown", (event) => {
      const buttons = all(), at = buttons.indexOf(event.target.closest("button"));
      const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across, Home: -at, End: buttons.length - 1 - at };
      if (at < 0 || !(event.key in moves)) return;
      event.preventDefault();
      buttons[at + moves[event.key]]?.focus();
    });
    return () => all().some((button) => button.tabIndex === 0) || stop(all()[0]);
  }

  // Weights as ink: row n of the picture is token n, which looks back.
  function draw(canvas, reading, [m, h]) {
    const N = reading.length, context = canvas.getContext("2d");
    canvas.width = canvas.height = N;
    const image = context.createImageData(N, N);
    for (let n = 0; n < N; n++) {
      for (let s = 0; s <= n; s++) image.data.set([...INK, 25 + 230 * Math.sqrt(reading.weight(m, h, n, s))], 4 * (n * N + s));
    }
    context.putImageData(image, 0, 0);
  }

  class Board {
    constructor({ n_layers: M, n_heads: H }, names, choose) {
      this.names = names;
      this.buttons = new Map();
      for (let at = 0; at < M * H; at++) {
        const head = `${Math.floor(at / H)},${at % H}`;
        const button = html("button", { type: "button", "data-head": head, click: () => choose(head) },
          html("b", {}, nameOf(head)), " ", html("canvas", { "aria-hidden": "true" }), html("span", { class: "state" }));
        this.buttons.set(head, button);
      }
      this.box = html("div", { class: "board", role: "group", "aria-label": "The heads, layer by layer" }, ...this.buttons.values());
      rove(this.box, H)();
    }

    job(head) {
      const [m, h] = head.split(",");
      return this.names[m]?.[h]?.name || "nothing that we know";
    }

    show(heads, chosen, reading) {
      for (const [head, button] of this.buttons) {
        const kind = heads[head] || "model";
        button.setAttribute("aria-pressed", head === chosen);
        button.setAttribute("aria-label", `${nameOf(head)} ${kind === "model" ? "" : WORDS[kind]}, head for: ${this.job(head)}`);
        button.classList.toggle("changed", kind !== "model");
        button.querySelector(".state").textContent = kind === "model" ? "" : WORDS[kind];
        draw(button.querySelector("canvas"), reading, head.split(","));
      }
    }
  }

  // With how much of its weight token n looks at each token; a press gives a token one part more, or, after three, none.
  class Row {
    constructor(paint) {
      this.paint = paint;
      this.title = html("p", { class: "step" });
      this.list = html("div", { class: "sources", role: "group", "aria-label": "Tokens to look at" });
      this.ready = rove(this.list, 1);
      this.box = html("div", { class: "row" }, this.title, this.list);
    }

    show({ head, n, pieces, reading, parts, paintable }) {
      const weights = pieces.slice(0, n + 1).map((_, s) => reading.weight(...head.split(","), n, s));
      this.title.textContent = `In head ${nameOf(head)} “${pieces[n]}” looks at` + (paintable ? " (press to paint):" : ":");
      if (!paintable) return this.list.replaceChildren(mostOf(pieces, weights));
      const key = [head, n, pieces].join();
      if (this.key !== key || !this.list.querySelector("button")) {
        this.list.replaceChildren(...weights.map((_, s) =>
          html("button", { type: "button", "data-source": s, click: () => this.paint(s) })));
        this.ready();
      }
      this.key = key;
      this.list.querySelectorAll("button").forEach((button, s) => {
        const given = parts?.[s] || 0;
        button.replaceChildren(html("span", {}, pieces[s]), " ", html("b", {}, percent(weights[s])),
          html("span", { class: "parts", "aria-hidden": "true" }, parts ? "▮".repeat(given) || "–" : ""));
        button.style.cssText = clearformer.tint(weights[s]);
        button.setAttribute("aria-label", `${pieces[s]} ${percent(weights[s])}` + (parts ? ` ${given} of ${MOST_PARTS} parts` : ""));
      });
    }
  }

  function mostOf(pieces, weights) {
    const most = weights.map((weight, s) => [weight, s]).sort((a, b) => b[0] - a[0]).slice(0, 5).filter(([weight]) => weight > 0);
    const told = most.map(([weight, s]) => `“${pieces[s]}” ${percent(weight)}`).join(", ");
    return html("span", {}, told ? `${told}.` : "nothing: the head is off.");
  }

  const nextPart = (part) => ((part || 0) + 1) % (MOST_PARTS + 1);

  Object.assign(clearformer, { operating: { Board, Row, KINDS, WORDS, MOST_PARTS, nextPart, nameOf, percent, rove } });
})();
