// The sum of some ReLU units over the plane of two switches: a surface with a fold for each unit.
(() => {
  const { Explorable, html, svg, short, arithmetic } = globalThis.clearformer;
  const { range, sum } = arithmetic;
  const [HALF, LOW, HIGH, STEPS, FLOOR, TOP] = [0.5, -0.5, 1.5, 16, -1, 2];
  const [SIZE, RISE, COS, SIN] = [100, 42, Math.cos(0.5), Math.sin(0.5)];
  const SLIDERS = [["w1", "weight of switch 1"], ["w2", "weight of switch 2"], ["bias", "bias"], ["out", "weight in the sum"]];

  const before = ([x, y], [w1, w2, bias]) => w1 * x + w2 * y + bias;
  const height = (point, units) => sum(units.map((unit) => unit[3] * Math.max(before(point, unit), 0)));
  // One straight cut parts the lamps that are on from the others, unless these sit at opposite corners.
  const fewest = ([a, b, c, d]) => (a === d && b === c && a !== b ? 2 : 1);

  class LampFolds extends Explorable {
    static needs = { names: "texts", inputs: "rows", lamps: "texts", wanted: "rows", units: "rows" };
    static together = ["names", "inputs"];

    build(live) {
      const { names, lamps, units } = this.data;
      const numbers = units.map((_, f) => [f, String(f + 1)]);
      this.all = units.map((unit) => [...unit]);
      this.lamp = this.choice("lamp", "It should be on when", lamps.map((text, i) => [i, text]), 0);
      this.lamp.chosen = () => this.guess.set(null);
      this.guess = this.choice("guess", "Predict: how few units will light it?", numbers, null);
      this.count = this.choice("count", "Units", numbers, 0);
      this.unit = this.choice("unit", "Move unit", numbers, 0);
      this.count.chosen = (last) => this.unit.set(last);
      this.view = this.choice("view", "Look", [["aslant", "at an angle"], ["above", "from above"]], "aslant");
      this.sliders = SLIDERS.map(([name, label], i) => this.slider(name, label, {
        min: -3, max: 3, step: 0.5, value: units[0][i], text: short, moved: (x) => (this.all[this.unit.value][i] = x),
      }));
      this.picture = svg("svg", { viewBox: "-150 -160 300 275", width: 330, height: 302, "aria-hidden": true });
      const table = this.grid(names, [["this unit before its ReLU", "before"], ["sum of all units", "sum"],
        ["lamp", "lamp"], ["should be", "wanted"]], "switches");
      const controls = (...parts) => html("div", { class: "controls" }, ...parts.map(({ box }) => box));
      live.append(controls(this.lamp), controls(this.guess),
        html("p", {}, "The lamp is on where the sum is above one half. Two goals: switch the first lamp on with as few units as possible, then with every bias at 0."),
        controls(this.count, this.unit),
        html("div", { class: "sides" }, html("div", {}, this.picture, this.view.box, this.status),
          html("div", {}, ...this.sliders.map(({ box }) => box), table)));
    }

    update() {
      const { inputs, wanted } = this.data;
      const [f, units] = [this.unit.value, this.all.slice(0, this.count.value + 1)];
      this.unit.buttons.forEach((button, i) => (button.disabled = i >= units.length));
      this.sliders.forEach((slider, i) => slider.set(units[f][i]));
      const sums = inputs.map((y) => height(y, units));
      const lit = wanted[this.lamp.value];
      inputs.forEach((y, i) => this.put({
        [`before-${i}`]: short(before(y, units[f])), [`sum-${i}`]: short(sums[i]),
        [`lamp-${i}`]: sums[i] > HALF ? "on" : "off", [`wanted-${i}`]: lit[i] ? "on" : "off",
      }));
      this.draw(units, f, lit);
      this.say(this.sentence(units, lit, sums.filter((x, i) => x > HALF === lit[i] > 0).length));
    }

    sentence(units, lit, right) {
      const [guess, best] = [this.guess.value, fewest(lit)];
      const predicted = guess === null ? "" : guess + 1 === best ? " As you predicted." : ` You predicted ${guess + 1}.`;
      if (right === lit.length) {
        const done = units.length > best ? "Lit, and fewer units can do it." : `Lit with as few units as possible: ${best}.${predicted}`;
        return best > 1 && units.every((unit) => !unit[2]) ? `${done} And without a bias.` : done;
      }
      const dead = units.findIndex((unit) => this.data.inputs.every((y) => before(y, unit) <= 0));
      const said = `${right} of ${lit.length} are right.`;
      if (dead >= 0) return `${said} Unit ${dead + 1} is off for all of them: it is dead.`;
      return guess === null ? `${said} Predict first, then move.` : said;
    }

    // A point over the plane, in the picture.
    place([x, y], z) {
      const [a, b] = [x - HALF, y - HALF];
      if (this.view.value === "above") return [SIZE * a, -SIZE * b];
      return [SIZE * (COS * a + SIN * b), -SIZE * HALF * (COS * b - SIN * a) - RISE * Math.min(Math.max(z, FLOOR), TOP)];
    }

    draw(units, chosen, lit) {
      const { names, inputs } = this.data;
      const on = (point) => this.place(point, height(point, units));
      const tick = (i) => LOW + (i * (HIGH - LOW)) / STEPS;
      const tiles = range(STEPS).reverse().flatMap((j) => range(STEPS).map((i) => {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map((at) => on(at.map(tick)));
        const isOn = height([tick(i + HALF), tick(j + HALF)], units) > HALF;
        return svg("polygon", {
          points: corners.join(" "), class: `${isOn ? "warm" : "accent"} full`, "fill-opacity": isOn ? 0.55 : 0.2, "stroke-opacity": 0.4, "stroke-width": 0.5,
        });
      }));
      const fold = ([w1, w2, bias], f) => {
        const along = range(STEPS + 1).map(tick)
          .map((t) => (Math.abs(w2) < Math.abs(w1) ? [-(w2 * t + bias) / w1, t] : [t, -(w1 * t + bias) / w2]))
          .filter((point) => point.every((x) => x >= LOW && x <= HIGH));
        return svg("polyline", { points: along.map(on).join(" "), class: `line${f === chosen ? " thick" : ""} dashed` });
      };
      const corners = inputs.flatMap((point, i) => {
        const [[x, y], [, floor]] = [on(point), this.place(point, 0)];
        const fill = `fill: var(--pst-color-${lit[i] ? "text-base" : "background"})`;
        return [svg("line", { x1: x, x2: x, y1: y, y2: floor, class: "line" }), svg("circle", { cx: x, cy: y, r: 6, class: "line", style: fill }),
          svg("text", { x, y: y - 11, "text-anchor": "middle" }, names[i])];
      });
      this.picture.replaceChildren(...tiles, ...units.map(fold), ...corners);
    }
  }
  customElements.define("lamp-folds", LampFolds);
})();
