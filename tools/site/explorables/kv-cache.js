// Writing token by token: what is made in a step, what was kept, and what was never needed again.
(() => {
  const { Explorable, html, fixed, whole, tint, arithmetic } = globalThis.clearformer;
  const { attend, range } = arithmetic;
  const PARTS = ["query", "key", "value"];

  class KvCache extends Explorable {
    static needs = { queries: "rows", keys: "rows", values: "rows" };
    static together = ["queries", "keys", "values"];

    build(live) {
      const { queries } = this.data;
      this.all = range(queries.length);
      this.step = this.slider("step", "step: token", { min: 1, max: queries.length, value: 1 });
      this.next = this.button("next", "Next token", () => this.step.set(Math.min(this.step.value + 1, queries.length)));
      this.cache = this.choice("cache", "Keys and values", [[true, "are kept"], [false, "are made again"]], true);
      this.table = this.grid(this.all.map((n) => `token ${n + 1}`), [...PARTS.map((part) => [part, part]), ["weight", "weight"]]);
      const n = queries.length;
      const [once, again] = [3 * n, (3 * n * (n + 1)) / 2];
      live.append(
        this.ask(`${n} tokens are written and nothing is kept: how many queries, keys and values are made in all?`,
          [once, again, 3 * n * n].map((count) => [count, whole(count)]), /^(now|so-far)$/,
          (guess) => `${guess === again ? "Right" : "No"}: each step makes three for every token so far, ${again} in all.`),
        html("div", { class: "controls" }, this.next, this.step.box), html("div", { class: "controls" }, this.cache.box), this.table, this.status,
        html("p", {}, "output ", this.number("output")),
        html("p", {}, "projections in this step ", html("strong", {}, this.number("now")), ", so far ",
          html("strong", {}, this.number("so-far")), " · numbers in the cache ", html("strong", {}, this.number("kept"))),
        html("p", {}, "Goal: find the first step up to which the cache has spared half of the work."));
    }

    update() {
      const { queries, keys, values } = this.data;
      const [count, cached] = [this.step.value, this.cache.value];
      const { weights, output } = attend(queries[count - 1], keys.slice(0, count), values.slice(0, count), { divisor: Math.sqrt(keys[0].length) });
      this.all.forEach((s) => {
        PARTS.forEach((part) => this.mark(part, s, count - 1, cached));
        this.put({ [`weight-${s}`]: s < count ? fixed(weights[s]) : "" });
      });
      this.put({
        output: `(${output.map((x) => fixed(x, 2)).join(", ")})`, now: whole(cached ? 3 : 3 * count),
        "so-far": whole(cached ? 3 * count : (3 * count * (count + 1)) / 2),
        kept: whole(cached ? count * (keys[0].length + values[0].length) : 0),
      });
      this.next.disabled = count === this.all.length;
      const spared = (steps) => 2 * 3 * steps <= (3 * steps * (steps + 1)) / 2;
      const goal = cached && spared(count) && !spared(count - 1) ? "The goal is reached. " : "";
      this.say(cached
        ? `${goal}Token ${count} makes its query, its key and its value, and ${count === 1 ? "keeps the last two" : `reads those kept of ${count - 1} before it`}. No old query is needed.`
        : `Without a cache step ${count} makes everything for ${count} tokens again, for the same weights and the same output.`);
    }

    mark(part, s, now, cached) {
      const state = s > now ? "" : s === now ? "made" : !cached ? "made again" : part === "query" ? "gone" : "kept";
      this.put({ [`${part}-${s}`]: state });
      const colour = { made: tint(1, "warm"), "made again": tint(1, "warm"), kept: tint(0.7) }[state] || "";
      this.querySelector(`[data-value="${part}-${s}"]`).setAttribute("style", colour);
    }
  }
  customElements.define("kv-cache", KvCache);
})();
