// What stands below the machine: the chosen number, written out, and its slope measured.
(() => {
  const { html, machine } = clearformer;
  const { at, show, exact, describe, tokenList, forwardSum, backwardSum, measuredSum, measure } = machine;

  class Panel {
    constructor(page, status) {
      this.page = page;
      this.sum = html("p", { class: "sum", "data-value": "sum" });
      this.measured = html("p", { class: "sum", "data-value": "measured" });
      this.button = page.button("measure", "Nudge it and measure", () => this.measure());
      this.levers = html("div", { class: "controls" }, page.flow.box, this.button);
      this.root = html("div", { class: "panel", role: "region", "aria-label": "The chosen number", tabindex: 0 }, status, this.sum, this.measured, page.question, this.levers);
      this.show(null);
    }

    // The sum of a number, or of its slope.
    show(address, run, words, isBack) {
      this.address = address;
      this.run = run;
      this.button.hidden = !address || !isBack;
      this.measured.textContent = "";
      this.sum.textContent = !address ? "" : isBack ? backwardSum(run, address) : forwardSum(run, address, words);
    }

    measure() {
      const found = measure(this.run.m, this.address);
      this.measured.textContent = measuredSum(found);
      const right = at(this.run.gradients, this.address);
      const isSame = Math.abs(found.slope - right) <= 1e-5 * Math.max(1, Math.abs(right));
      this.page.say(`Measured ${show(found.slope, 5)}, computed backward ${show(right, 5)}: ${isSame ? "both say the same" : "the nudge was too coarse here"}.`);
    }
  }

  // One sentence on the chosen number.
  function told(run, address, words, vocabulary, isBack) {
    const name = describe(address, words, vocabulary);
    if (isBack) return `${name}: dL/d of it is ${exact(at(run.gradients, address))}.`;
    const value = at(run.values, address);
    const { tokens } = machine.trace(run.wires, address), seen = [0, 1, 2].filter((n) => tokens[n]), unseen = [0, 1, 2].filter((n) => !tokens[n]);
    const dark = unseen.length ? `, not on ${tokenList(unseen).replace(" and ", " or ")}` : "";
    return `${name}: ${value === -Infinity ? "−∞" : exact(value)}. It depends on ${tokenList(seen)}${seen.length ? dark : ""}.`;
  }

  Object.assign(machine, { Panel, told });
})();
