// <you-against-the-model>: a held-out page of Austen, uncovered token by token, on which a reader, a trigram and a model bet.
(() => {
  const { Play, html, fixed, tint } = clearformer;
  const duel = window.ClearformerDuel, live = window.ClearformerLive;
  const GUESSES = [0.5, 1, 1.5, 2, 2.5, 3];
  const LEAST = 10; // tokens, after which a round can be ended
  const DEAR = 10; // bits that tint a token fully

  class YouAgainstTheModel extends Play {
    static hasData = true;

    build(box) {
      const { pages, counts, merges, n_vocab: nVocab } = this.data;
      this.tokenizer = new live.BytePairs(merges);
      this.piece = (id) => (id === nVocab - 1 ? "¶" : this.tokenizer.piece(id));
      this.trigram = new duel.Trigram(counts);
      this.turns = pages.map((page) => this.turnsOf(page));
      this.memory = this.recall(duel.fresh(pages.length), (found) => duel.isGood(found, this.data));
      this.table = new duel.Table({
        piece: this.piece, find: (text, newWord) => duel.firstToken(this.tokenizer, text, newWord), onChange: (words) => this.say(words),
      });
      this.scores = new duel.Scores();
      this.verdict = new duel.Verdict(this);
      box.append(...this.parts());
      this.addEventListener("keydown", (event) => this.press(event));
      this.deal();
    }

    parts() {
      const { pages } = this.data;
      this.which = this.choice("page", "page", pages.map(({ title }, i) => [i, title]), this.memory.page);
      this.which.chosen = (i) => this.open(i);
      this.guess = this.choice("guess", "bits a character", GUESSES.map((bits) => [bits, fixed(bits, 1)]), null);
      this.guess.chosen = (bits) => this.begin(bits);
      const alike = Math.log2(this.data.n_vocab);
      this.question = html("div", { class: "question" },
        html("p", { class: "step" }, "Predict first: what will you need, in bits a character?"),
        html("p", {}, "A bet of one half on the token that comes costs 1 bit, a quarter 2 bits, a tenth 3.3 bits: −log2 of the bet."),
        html("p", {}, `A player who knows nothing bets alike on all ${this.data.n_vocab.toLocaleString("en-US")} tokens and needs `
          + `${fixed(alike, 1)} bits a token: on this page `, this.number("alike"), " a character."),
        this.guess.box);
      this.page = html("p", { class: "page" });
      this.source = html("p", { class: "source" });
      this.uncover = this.button("uncover", "Uncover the next token", () => this.turn());
      this.stop = this.button("stop", "End the round here", () => this.end());
      this.forget = this.button("forget", "Forget this page", () => this.again());
      const clear = this.button("clear", "Take all chips back", () => this.table.clear());
      this.play = html("div", {}, this.table.box, html("div", { class: "controls" }, this.uncover, clear, this.stop),
        this.table.rules(this.hits()), this.table.more());
      return [html("p", { class: "step" }, "Goal: beat the trigram on a whole page."), this.which.box, this.source, this.page,
        this.status, this.question, this.play, this.scores.box, this.verdict.box, html("div", { class: "controls" }, this.forget)];
    }

    // What is known of each token to guess before and after it is uncovered.
    turnsOf({ given, guessed, offers }) {
      const ids = given.concat(guessed);
      return guessed.map((came, i) => {
        const p = this.trigram.distribution(ids.slice(0, given.length + i));
        return { offers: duel.inOrder(offers[i], this.piece), p, came };
      });
    }

    // How many tokens are among the six on offer, over all pages, so that it tells little of one.
    hits() {
      const turns = this.turns.flat();
      return `${turns.filter(({ offers, came }) => offers.includes(came)).length} of ${turns.length}`;
    }

    get round() { return this.memory.rounds[this.memory.page]; }
    get text() { return this.data.pages[this.memory.page]; }
    get now() { return this.turns[this.memory.page]; }

    open(i) {
      this.memory.page = i;
      this.remember();
      this.deal();
      this.say(`The page from ${this.text.title}.`);
    }

    begin(guess) {
      this.round.guess = guess;
      this.remember();
      this.say("Now bet on the token that comes next: press its number, or its button.");
      this.update();
      this.uncover.focus();
    }

    // A fresh bet on the next token, if there is one.
    deal() {
      const { bets } = this.round, next = this.now[bets.length];
      const ids = this.text.given.concat(this.text.guessed.slice(0, bets.length));
      if (next) this.table.deal(next.offers, this.piece(ids[ids.length - 1]));
    }

    turn() {
      const { round, now, text } = this, i = round.bets.length;
      round.bets.push(this.table.bet);
      const told = this.cameOut(this.table.bet, now[i], text.bits[i], text.likeliest[i]);
      this.remember();
      this.deal();
      if (round.bets.length === now.length) this.end();
      else this.say(told);
    }

    cameOut(bet, turn, modelBits, likeliest) {
      const percent = (bits) => (Number.isFinite(bits) ? `${fixed(100 * 2 ** -bits, bits > 6.7 ? 2 : 0)} %` : "nothing");
      const own = duel.bits(bet, turn), counted = -Math.log2(turn.p[turn.came]);
      const first = likeliest[0][0] === turn.came ? ", its first choice" : `; its first choice was ${duel.told(this.piece(likeliest[0][0]))}`;
      return `${duel.told(this.piece(turn.came))} came. You gave it ${percent(own)}: ${duel.infinite(own, (x) => fixed(x, 1))} bits. `
        + `The trigram gave ${percent(counted)}, the model ${percent(modelBits)}${first}.`;
    }

    end() {
      this.round.ended = true;
      this.remember();
      this.update();
      this.say(`The round is over. ${duel.sentence(this.result()).split(":")[0]}.`);
      if (!this.contains(document.activeElement) || !document.activeElement.checkVisibility()) this.verdict.best.focus({ preventScroll: true });
    }

    again() {
      this.memory.rounds[this.memory.page] = duel.fresh(1).rounds[0];
      this.remember();
      this.deal();
      this.say("Forgotten. If you still know the page, choose another one.");
    }

    remember() {
      this.keep(this.memory);
    }

    tell(words) {
      this.say(words);
    }

    result() {
      const { bets, guess } = this.round, { guessed, bits } = this.text, turns = this.now.slice(0, bets.length);
      const characters = guessed.slice(0, bets.length).reduce((sum, id) => sum + this.piece(id).length, 0);
      const each = {
        you: bets.map((bet, i) => duel.bits(bet, turns[i])),
        trigram: turns.map(({ p, came }) => -Math.log2(p[came])),
        model: bits.slice(0, bets.length),
      };
      const rates = Object.fromEntries(Object.entries(each).map(([player, its]) => [player, duel.rates(its, characters)]));
      return { bets, turns, characters, rates, each, guess, whole: bets.length === guessed.length };
    }

    update() {
      const { round, text } = this, result = this.result(), count = round.bets.length;
      this.which.set(this.memory.page);
      this.guess.set(round.guess);
      this.question.hidden = round.guess !== null;
      this.play.hidden = round.guess === null || round.ended;
      this.stop.hidden = count < LEAST;
      this.forget.hidden = round.guess === null;
      this.scores.box.hidden = round.guess === null;
      this.verdict.box.hidden = !round.ended;
      this.source.textContent = `From the last tenth of ${text.title}. Neither the model nor the trigram was trained on it.`
        + `${count ? " The stronger the colour of a token, the more bits it cost you." : ""}`;
      const characters = text.guessed.reduce((sum, id) => sum + this.piece(id).length, 0);
      this.put({ alike: fixed(text.guessed.length * Math.log2(this.data.n_vocab) / characters, 1) });
      this.scores.show(count ? result.rates : null, count, result.characters);
      this.showPage(result);
      if (round.ended && this.shownFor !== round) this.verdict.show(result, this.everything());
      this.shownFor = round.ended ? round : null;
    }

    everything() {
      const rounds = this.memory.rounds;
      return { bets: rounds.flatMap(({ bets }) => bets), turns: rounds.flatMap(({ bets }, i) => this.turns[i].slice(0, bets.length)) };
    }

    // What was given, what is uncovered, and how much is still covered.
    showPage({ bets, each }) {
      const { given, guessed } = this.text, covered = guessed.length - bets.length;
      const came = guessed.slice(0, bets.length).map((id, i) => html("span", {
        class: "came", style: tint(Math.min(1, each.you[i] / DEAR), "warm"), title: `you: ${duel.infinite(each.you[i], (x) => fixed(x, 1))} bits`,
      }, this.piece(id)));
      this.page.replaceChildren(given.slice(1).map(this.piece).join("").replace(/\n+/g, "\n"), ...came,
        html("span", { class: "covered" }, this.round.ended ? "" : ` ▒▒▒ ${covered} tokens are covered`));
    }

    press(event) {
      if (this.play.hidden || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input[type=text], input[type=range]")) return;
      if (this.table.press(event.key)) event.preventDefault();
    }
  }

  customElements.define("you-against-the-model", YouAgainstTheModel);
})();
