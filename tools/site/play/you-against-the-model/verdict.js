// After a round: who has won, how well the chips were laid, and what flatter or sharper ones would have cost.
(function (duel) {
  "use strict";

  if (typeof document === "undefined") return;
  const { html, fixed } = clearformer;
  const SAME = 1e-9; // bits
  const PLAYERS = ["you", "trigram", "model"];
  const ONE = duel.TEMPERATURES.indexOf(1);

  class Verdict {
    // host: the element, whose slider and button are used.
    constructor(host) {
      this.host = host;
      this.won = html("p", { class: "won" });
      this.means = html("p", {});
      this.zero = html("p", { hidden: true });
      this.rows = html("tbody", {});
      this.heat = host.slider("temperature", "temperature of your chips", {
        min: 0, max: duel.TEMPERATURES.length - 1, value: ONE, text: (i) => fixed(duel.TEMPERATURES[i], 2), moved: () => this.warm(),
      });
      this.best = host.button("best", "Find the best temperature", () => this.findBest());
      this.advice = html("p", { "data-value": "advice", hidden: true });
      this.cost = html("p", {}, "Bits a character at this temperature: ", html("strong", { "data-value": "tempered" }), ". As you laid them: ",
        html("strong", { "data-value": "as-laid" }), ". The trigram: ", html("strong", { "data-value": "beside" }), ".");
      this.box = html("section", { class: "verdict", hidden: true }, html("h2", {}, "The round is over"), this.won, this.zero, this.means, this.calibration(),
        html("h3", {}, "Temperature"),
        html("p", {}, "Above 1 your chips lie flatter, below 1 sharper. Were you too sure, or not sure enough?"),
        this.heat.box, this.best, this.advice, this.cost, this.tokens());
    }

    calibration() {
      return html("div", {}, html("h3", {}, "Calibration"),
        html("p", {}, "A player who says 70 % should be right 7 times in 10. Your piles of chips, on all pages so far:"),
        html("table", { class: "calibration" },
          html("thead", {}, html("tr", {}, ...["chips", "piles", "should come", "came"].map((head) => html("th", { scope: "col" }, head)))), this.rows));
    }

    tokens() {
      this.each = html("tbody", {});
      return html("details", {}, html("summary", {}, "Token by token, in bits"), html("table", { class: "each" },
        html("thead", {}, html("tr", {}, ...["token", "you", "trigram", "model"].map((head) => html("th", { scope: "col" }, head)))), this.each));
    }

    // round: { bets, turns, characters, rates, guess, whole, each }; all: the bets and turns of every page.
    show(round, all) {
      this.round = round;
      this.found = duel.temperatures(round.bets, round.turns);
      this.won.textContent = sentence(round);
      const { token, perplexity } = round.rates.you;
      this.means.textContent = "Bits a token are your cross-entropy on this page, and the perplexity is 2 to that power."
        + (Number.isFinite(token) ? ` You were as unsure as between ${inBits(perplexity, 1)} tokens that are equally likely.` : "");
      this.zero.hidden = Number.isFinite(token);
      this.zero.textContent = "Once you gave nothing to the token that came, and −log2 0 is infinite. With the floor under every "
        + `bet it would have been ${fixed(floored(round), 2)} bits a character.`;
      this.rows.replaceChildren(...duel.calibration(all.bets, all.turns).map(({ low, high, piles, came, said }) =>
        row(`${low}–${high}`, `calibration-${low}`, [String(piles), fixed(said, 1), String(came)])));
      this.each.replaceChildren(...round.turns.map((turn, i) =>
        row(duel.seen(this.host.piece(turn.came)), `bits-${i}`, PLAYERS.map((player) => inBits(round.each[player][i], 1)))));
      this.advice.hidden = true;
      this.heat.set(ONE);
      this.warm();
    }

    warm() {
      const { characters, rates } = this.round, put = (name, x) => {
        this.box.querySelector(`[data-value="${name}"]`).textContent = inBits(x, 2);
      };
      put("tempered", this.found.all[this.heat.value] / characters);
      put("as-laid", rates.you.character);
      put("beside", rates.trigram.character);
    }

    findBest() {
      const { best } = this.found;
      this.heat.set(best === null ? ONE : duel.TEMPERATURES.indexOf(best));
      this.warm();
      const why = best > 1 ? "you were too sure" : best < 1 ? "you could have been surer" : "you were as sure as you should be";
      this.advice.textContent = best === null ? "No temperature mends a zero: 0 to any power is 0." : `Best temperature ${fixed(best, 2)}: ${why}.`;
      this.advice.hidden = false;
      this.host.tell(this.advice.textContent);
    }
  }

  const floored = ({ bets, turns, characters }) =>
    bets.reduce((sum, bet, i) => sum + duel.bits({ ...bet, allIn: false }, turns[i]), 0) / characters;

  function row(head, name, cells) {
    return html("tr", {}, html("th", { scope: "row" }, head), ...cells.map((cell) => html("td", { "data-value": name }, cell)));
  }

  const inBits = (x, digits) => duel.infinite(x, (bits) => fixed(bits, digits));

  // Who has won, with as many digits as it takes to tell them apart.
  function sentence({ rates, guess, whole }) {
    const [you, trigram, model] = PLAYERS.map((player) => rates[player].character);
    const alike = [trigram, model].some((x) => inBits(x, 2) === inBits(you, 2));
    const [own, counted, read] = [you, trigram, model].map((x) => inBits(x, alike ? 4 : 2));
    const beaten = [["the trigram", trigram], ["the model", model]].filter(([, x]) => you < x - SAME).map(([name]) => name);
    const won = beaten.length ? `You beat ${beaten.join(" and ")}` : Math.abs(you - trigram) <= SAME ? "You bet as the trigram" : "The trigram was better";
    const goal = you < trigram - SAME ? ` ${whole ? "The goal is reached." : "The goal wants a whole page."}` : "";
    return `${won}: you ${own} bits a character, the trigram ${counted}, the model ${read}. You had said ${fixed(guess, 1)}.${goal}`;
  }

  Object.assign(duel, { Verdict, sentence });
})(typeof window === "undefined" ? module.exports : (window.ClearformerDuel = window.ClearformerDuel || {}));
