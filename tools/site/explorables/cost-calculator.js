// What a GPT weighs and costs: parameters, training days, memory, the cache of keys and values, the price.
(() => {
  const { Explorable, html, figures, fixed, whole, arithmetic } = globalThis.clearformer;
  const { range, sum } = arithmetic;
  const DAY = 24 * 60 * 60;
  const TRAINING_BYTES = 16; // a parameter: weight 2, gradient 2, copy 4, two moments of 4
  const FIELDS = {
    V: ["vocabulary", 1, 1e7, 1], tokens: ["training tokens, in billions", 0.001, 1e6, "any"],
    machines: ["GPUs", 1, 1e6, 1], teraflops: ["peak of one, TFLOP/s", 1, 1e5, "any"],
    utilisation: ["reached of it, %", 1, 100, "any"], price: ["price of a GPU-hour", 0, 1000, "any"],
    sequences: ["texts written at once", 1, 1e6, 1],
  };
  const PARTS = ["attention", "feed-forward", "embedding", "positions", "biases and norms"];
  const large = (x) => (x >= 1000 ? whole(x) : figures(x));
  const bytes = (n) => (n >= 1e12 ? `${large(n / 1e12)} TB` : n >= 1e9 ? `${figures(n / 1e9)} GB` : `${figures(n / 1e6)} MB`);

  // A GPT as GPT-2 and GPT-3 are built; G heads of keys and values.
  const parameters = ({ V, N, M, H, K, G }) => {
    const [D, kv] = [H * K, G * K];
    return {
      attention: M * (2 * D * D + 2 * D * kv),
      "feed-forward": M * 8 * D * D,
      embedding: V * D,
      positions: N * D,
      "biases and norms": M * (D + 2 * kv + D + 5 * D + 4 * D) + 2 * D,
    };
  };
  // Products of matrices for one token of training.
  const trainingFlops = ({ V, N, M, H, K, G }) => {
    const [D, kv] = [H * K, G * K];
    return 6 * (M * (10 * D * D + 2 * D * kv) + V * D) + 12 * M * D * N;
  };
  const cacheNumbers = ({ N, M, K, G }) => 2 * M * N * G * K;

  class CostCalculator extends Explorable {
    static needs = { models: "objects", machine: "objects" };

    build(live) {
      const { models } = this.data;
      this.model = this.choice("model", "Start from", models.map((model, i) => [i, model.name]), 0);
      this.model.chosen = (i) => this.load(models[i]);
      this.sliders = {
        N: this.slider("N", "context N", { min: 7, max: 20, step: 1, value: 10, text: (x) => whole(2 ** x) }),
        M: this.slider("M", "blocks M", { min: 1, max: 128, value: 12 }),
        H: this.slider("H", "heads H", { min: 1, max: 128, value: 12 }),
        K: this.slider("K", "width of a head K", { min: 8, max: 256, step: 8, value: 64 }),
        G: this.slider("G", "heads of keys and values", { min: 0, max: 1, value: 0, text: (x) => String(this.divisors().at(-1 - x)) }),
      };
      this.bits = this.choice("bits", "Bits of a number in writing", [16, 8, 4].map((bits) => [bits, bits]), 16);
      this.fields = Object.fromEntries(Object.entries(FIELDS).map(([name, [label, min, max, step]]) => [
        name, html("input", { type: "number", min, max, step, "aria-label": label, "data-control": name, style: "width: 7rem", input: () => this.update() })]));
      for (const [name, value] of Object.entries(this.data.machine[0])) {
        if (this.fields[name]) this.fields[name].value = value;
      }
      this.wrong = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, html("span", { class: "wrong" })]));
      const field = (name) => html("label", {}, `${FIELDS[name][0]} `, this.fields[name], this.wrong[name]);
      const boxes = (...names) => html("div", { class: "controls" }, ...names.map((name) => this.sliders[name]?.box || field(name)));
      const row = (label, name, bar) => html("tr", {}, html("th", { scope: "row" }, label), html("td", { "data-value": name }),
        bar && html("td", {}, html("span", { class: "bar", "data-bar": name }, html("span"))));
      const table = (...rows) => html("table", {}, html("tbody", {}, ...rows));
      const question = this.ask(`${models[0].name} writes one text as long as its context. How large is the cache beside the weights?`,
        [0.003, 0.03, 0.3].map((share) => [share, `${100 * share} %`]), /^(cache|crossover)$/, (guess) => this.judge(guess));
      live.append(question, this.model.box, boxes("N", "sequences"),
        table(row("weights", "weights", true), row("cache", "cache", true)), this.status,
        html("p", {}, "as much room as the weights take: ", html("strong", {}, this.number("crossover")), " tokens in the cache"),
        this.bits.box, html("p", {}, "parameters ", html("strong", {}, this.number("parameters"))),
        html("details", {}, html("summary", {}, "Sizes of the model, and where its parameters are"), boxes("M", "H", "K", "G", "V"),
          table(...PARTS.map((part) => row(part, `part-${part}`, true)))),
        html("details", { open: true }, html("summary", {}, "Training it"), boxes("tokens", "machines", "teraflops", "utilisation", "price"),
          table(row("days", "days"), row("price of the GPU-hours", "cost"), row("operations, 6 a parameter and token", "operations"),
            row("products, counted", "counted"), row("weights, gradients, copy, moments", "training-memory"))),
        html("p", {}, "Goal: find the shortest context on the slider at which the cache of one text is larger than the model."));
      this.load(models[0]);
    }

    judge(guess) {
      const sizes = { ...this.data.models[0], G: this.data.models[0].H };
      const share = cacheNumbers(sizes) / sum(Object.values(parameters(sizes)));
      const off = (x) => Math.abs(Math.log(x / share));
      return `${[0.003, 0.03, 0.3].every((x) => off(x) >= off(guess)) ? "Right" : "No"}: ${fixed(100 * share, 1)} %.`;
    }

    load(model) {
      for (const name of ["N", "M", "H", "K", "V"]) {
        if (!Number.isFinite(model[name])) throw new Error(`“${name}” is missing from the sizes of ${model.name}.`);
      }
      const { N, M, H, K, V } = model;
      this.sliders.N.set(Math.log2(N));
      Object.entries({ M, H, K }).forEach(([name, value]) => this.sliders[name].set(value));
      this.sliders.G.set(0);
      this.fields.V.value = V;
    }

    // Whether the sizes are those of the model that was chosen; another one is nobody's.
    isModel({ N, M, H, K, G, V }) {
      const model = this.data.models[this.model.value];
      return model && Object.entries({ N, M, H, K, V }).every(([name, size]) => model[name] === size) && G === H;
    }

    divisors() {
      const H = this.sliders ? this.sliders.H.value : 1;
      return range(H).map((i) => i + 1).filter((g) => H % g === 0);
    }

    // The sizes on the sliders and in the fields. Raises the sentence for a field that holds no such number.
    read() {
      const { N, M, H, K, G } = this.sliders;
      const divisors = this.divisors();
      G.input.max = divisors.length - 1;
      G.set(Math.min(G.value, divisors.length - 1));
      const numbers = Object.entries(this.fields).map(([name, input]) => {
        const [label, min, max, step] = FIELDS[name];
        const x = input.valueAsNumber;
        const fits = x >= min && x <= max && (step === "any" || Number.isInteger(x));
        const advice = `give a ${step === "any" ? "" : "whole "}number from ${min.toLocaleString("en-US")} to ${max.toLocaleString("en-US")}.`;
        input.setAttribute("aria-invalid", !fits);
        this.wrong[name].textContent = fits ? "" : advice;
        return [name, x, fits ? "" : `${label}: ${advice}`];
      });
      const problem = numbers.find(([, , words]) => words);
      if (problem) throw new Error(problem[2]);
      return { N: 2 ** N.value, M: M.value, H: H.value, K: K.value, G: divisors.at(-1 - G.value), ...Object.fromEntries(numbers) };
    }

    update() {
      try {
        this.show(this.read());
      } catch (error) {
        this.querySelectorAll("td[data-value], strong > [data-value]").forEach((result) => (result.textContent = "–"));
        this.say(error.message, true);
      }
    }

    show(sizes) {
      if (!this.isModel(sizes)) this.model.set(null);
      const parts = parameters(sizes);
      const P = sum(Object.values(parts));
      const numberBytes = this.bits.value / 8;
      // the cache has at least 8 bits a number, as in the chapter
      const cacheBytes = cacheNumbers(sizes) * sizes.sequences * Math.max(numberBytes, 1);
      const weights = P * numberBytes;
      const operations = 6 * P * sizes.tokens * 1e9;
      const seconds = operations / (sizes.machines * sizes.teraflops * 1e12 * (sizes.utilisation / 100));
      const crossover = weights / (Math.max(numberBytes, 1) * (cacheNumbers(sizes) / sizes.N));
      this.put({
        parameters: whole(P), weights: bytes(weights), cache: bytes(cacheBytes), crossover: whole(crossover),
        operations: figures(operations), counted: figures(trainingFlops(sizes) * sizes.tokens * 1e9), "training-memory": bytes(TRAINING_BYTES * P),
        days: seconds / DAY < 10 ? figures(seconds / DAY) : whole(seconds / DAY), cost: whole((seconds / 3600) * sizes.machines * sizes.price),
        ...Object.fromEntries(PARTS.map((part) => [`part-${part}`, whole(parts[part])])),
      });
      const widest = Math.max(weights, cacheBytes);
      const shares = { weights: weights / widest, cache: cacheBytes / widest, ...Object.fromEntries(PARTS.map((part) => [`part-${part}`, parts[part] / P])) };
      Object.entries(shares).forEach(([name, share]) => (this.querySelector(`[data-bar="${name}"] > span`).style.width = `${this.closed ? 0 : 100 * share}%`));
      const goal = sizes.sequences === 1 && cacheBytes <= 2 * weights ? "The goal is reached. " : "";
      this.say(cacheBytes > weights
        ? `${goal}The cache is ${large(cacheBytes / weights)} times as large as the model that writes it.`
        : `The cache takes ${fixed((100 * cacheBytes) / weights, 1)} % of the room of the weights. Make the context longer, or write more texts at once.`);
    }
  }
  customElements.define("cost-calculator", CostCalculator);
})();
