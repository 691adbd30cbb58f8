// Three bars: what each player has needed so far.
(function (duel) {
  "use strict";

  if (typeof document === "undefined") return;
  const { html, fixed } = clearformer;
  const PLAYERS = [["you", "You"], ["trigram", "Trigram"], ["model", "Model"]];
  const FULL = 3; // bits a character fill a bar
  const HEADS = ["bits a token", "bits a character", "perplexity"];

  class Scores {
    constructor() {
      this.bars = {};
      const rows = PLAYERS.map(([player, label]) => {
        this.bars[player] = html("span", {});
        return html("tr", {},
          html("th", { scope: "row" }, label, html("span", { class: "bar", "aria-hidden": "true" }, this.bars[player])),
          ...["token", "character", "perplexity"].map((rate) => html("td", { "data-value": `${player}-${rate}` })));
      });
      this.caption = html("caption", {});
      this.box = html("table", { class: "scores" }, this.caption,
        html("thead", {}, html("tr", {}, html("td", {}), ...HEADS.map((head) => html("th", { scope: "col" }, head)))),
        html("tbody", {}, ...rows));
    }

    // rates: for each player those of duel.rates, or null before the first token.
    show(rates, count, characters) {
      this.caption.textContent = count
        ? `After ${count} ${count === 1 ? "token" : "tokens"} of ${characters} characters. Fewer bits are better.`
        : "No token is uncovered yet. Fewer bits are better.";
      for (const [player] of PLAYERS) {
        const found = rates && rates[player];
        this.bars[player].style.width = found ? `${100 * Math.min(1, found.character / FULL)}%` : "0";
        this.bars[player].classList.toggle("endless", Boolean(found) && !Number.isFinite(found.character));
        const texts = found
          ? { token: duel.infinite(found.token, (x) => fixed(x, 2)), character: duel.infinite(found.character, (x) => fixed(x, 2)),
            perplexity: duel.infinite(found.perplexity, (x) => fixed(x, 1)) }
          : { token: "–", character: "–", perplexity: "–" };
        for (const [rate, text] of Object.entries(texts)) this.box.querySelector(`[data-value="${player}-${rate}"]`).textContent = text;
      }
    }
  }

  Object.assign(duel, { Scores });
})(typeof window === "undefined" ? module.exports : (window.ClearformerDuel = window.ClearformerDuel || {}));
