// The two curves with the line that nobody honest can pass, and a map of attention. Drawn in pixels of the page, so that
// letters do not shrink with it.
(() => {
  const { html, svg, fixed } = clearformer;
  const { STEPS, SIDES } = clearformer.race;
  const { SIZES, PROBE, entropyLine } = clearformer.small;
  const TOP = 2.9, HEIGHT = 270, LEFT = 30, RIGHT = 46, BELOW = 24;
  const line = entropyLine(), chance = Math.log(SIZES.letters);
  const letter = (id) => String.fromCharCode(65 + id);

  class Curves {
    constructor(pick) {
      this.picture = svg("svg", { role: "img", "aria-label": "Loss by step" });
      this.box = html("div", { class: "curves" }, this.picture);
      const point = (event) => {
        const { left, width } = this.picture.getBoundingClientRect();
        pick(Math.min(1, Math.max(0, (event.clientX - left - LEFT) / (width - LEFT - RIGHT))));
      };
      this.picture.addEventListener("pointerdown", point);
      this.picture.addEventListener("pointermove", (event) => event.buttons && point(event));
      new ResizeObserver(() => this.last && this.draw(...this.last)).observe(this.box);
    }

    // The history up to its end, with a mark at report number `at`.
    draw(history, at) {
      this.last = [history, at];
      const width = Math.max(240, this.box.clientWidth || 600);
      const x = (step) => LEFT + (step / STEPS) * (width - LEFT - RIGHT);
      const y = (loss) => HEIGHT - BELOW - (Math.min(loss, TOP) / TOP) * (HEIGHT - BELOW - 8);
      this.picture.setAttribute("width", width);
      this.picture.setAttribute("height", HEIGHT);
      this.picture.replaceChildren(...this.frame(width, x, y), ...(history.length ? this.mark(history[at].step, x, y) : []),
        ...SIDES.flatMap((side, i) => this.curve(history, i, x, y)));
    }

    frame(width, x, y) {
      const level = (loss, kind) => svg("line", { class: kind, x1: LEFT, x2: width - RIGHT, y1: y(loss), y2: y(loss) });
      const text = (x, y, words, anchor = "start") => svg("text", { x, y, "text-anchor": anchor }, words);
      return [
        svg("rect", { class: "below", x: LEFT, width: width - LEFT - RIGHT, y: y(line), height: y(0) - y(line) }),
        level(0, "line"), level(chance, "line dashed"), level(line, "honest"),
        text(width - RIGHT - 6, y(chance) - 6, `guessing: ${fixed(chance, 2)}`, "end"),
        text(LEFT + 6, y(line) + 16, `the line, ${fixed(line, 2)}: nobody can know more`),
        text(LEFT + 6, y(line) + 33, "below it a model cheats"),
        ...[0, 1, 2].map((loss) => text(LEFT - 6, y(loss) + 4, String(loss), "end")),
        ...[0, STEPS / 2, STEPS].map((step) => text(x(step), HEIGHT - 6, step === STEPS ? `${step} steps` : String(step), "middle")),
      ];
    }

    mark(step, x, y) {
      return [svg("line", { class: "mark", x1: x(step), x2: x(step), y1: y(TOP), y2: y(0) })];
    }

    curve(history, side, x, y) {
      const points = history.slice(1).map(({ step, sides }) => [x(step), sides[side].loss]).filter(([, loss]) => Number.isFinite(loss));
      if (!points.length) return [];
      const [endX, endLoss] = points.at(-1);
      const other = history.at(-1).sides[1 - side].loss;
      const apart = Math.abs(other - endLoss) < 0.17 ? (endLoss > other || (endLoss === other && side === 0) ? -7 : 9) : 0;
      return [
        svg("polyline", { class: `curve ${SIDES[side].toLowerCase()}`, points: points.map(([at, loss]) => `${at},${y(loss)}`).join(" ") }),
        svg("text", { class: SIDES[side].toLowerCase(), x: endX + 5, y: y(endLoss) + 4 + apart }, SIDES[side]),
      ];
    }
  }

  const CELL = 13;

  // The weight on the next letter, a mean over all that have one in the row.
  const ahead = (map) => {
    const N = SIZES.tokens;
    let sum = 0;
    for (let n = 0; n < N - 1; n++) sum += map[n * N + n + 1];
    return sum / (N - 1);
  };

  // A map: a row for each letter that looks, a column for each that it looks at; framed where a copying head looks.
  class AttentionMap {
    constructor(title) {
      const N = SIZES.tokens, side = (N + 1) * CELL;
      const rect = (n, s, more) => svg("rect", { x: (s + 1) * CELL, y: (n + 1) * CELL, width: CELL - 1, height: CELL - 1, ...more });
      this.cells = Array.from({ length: N * N }, (_, i) => rect(Math.floor(i / N), i % N, { class: "cell" }));
      const copies = Array.from({ length: N - 1 - PROBE }, (_, i) => rect(PROBE + i, i + 1, { class: "copy" }));
      const names = (across) => Array.from({ length: N }, (_, n) =>
        svg("text", { x: across ? (n + 1.46) * CELL : CELL / 2, y: across ? CELL - 2 : (n + 1.85) * CELL, "text-anchor": "middle" }));
      this.rows = names(false);
      this.columns = names(true);
      this.title = title;
      this.picture = svg("svg", { role: "img", viewBox: `0 0 ${side} ${side}`, width: side * 1.3 }, ...this.cells, ...copies, ...this.rows, ...this.columns);
      this.words = html("figcaption");
      this.box = html("figure", { class: "map" }, html("p", {}, title), this.picture, this.words);
    }

    draw(map, probe, { before, copy }) {
      probe.forEach((id, n) => [this.rows, this.columns].forEach((texts) => (texts[n].textContent = letter(id))));
      this.cells.forEach((cell, i) => cell.setAttribute("fill-opacity", Number.isFinite(map[i]) ? Math.min(1, map[i]).toFixed(3) : 0));
      const next = ahead(map);
      const cheat = next > 0.005 ? `, ${fixed(next, 2)} on the letter that it should predict` : "";
      this.words.textContent = `${fixed(before, 2)} on the letter before, ${fixed(copy, 2)} in the frames${cheat}`;
      this.picture.setAttribute("aria-label", `${this.title}: of its weight ${this.words.textContent}`);
    }
  }

  Object.assign(clearformer, { Curves, AttentionMap, line, letter });
})();
