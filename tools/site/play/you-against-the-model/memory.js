// What is remembered of the rounds, and whether what was found in the memory is such a thing. No DOM.
(function (duel) {
  "use strict";

  const MOST_TYPED = 4;
  const MOST_GUESS = 11; // bits: what all tokens alike would cost

  const fresh = (nPages) => ({
    page: 0, // the one that is played
    rounds: Array.from({ length: nPages }, () => ({ guess: null, bets: [], ended: false })),
  });

  const isObject = (it) => it !== null && typeof it === "object" && !Array.isArray(it);
  const isCount = (most) => (n) => Number.isInteger(n) && n >= 0 && n <= most;
  const isId = (nVocab) => isCount(nVocab - 1);

  function isBet(bet, nVocab) {
    return isObject(bet) && typeof bet.allIn === "boolean" && isCount(duel.CHIPS)(bet.other) && isObject(bet.chips)
      && Array.isArray(bet.typed) && bet.typed.length <= MOST_TYPED && bet.typed.every(isId(nVocab))
      && Object.entries(bet.chips).every(([id, n]) => /^\d+$/.test(id) && isId(nVocab)(Number(id)) && isCount(duel.CHIPS)(n))
      && duel.laid(bet) <= duel.CHIPS;
  }

  // Chips lie only on what stood on the table.
  function fits(bet, offers) {
    return Object.keys(bet.chips).every((id) => offers.includes(Number(id)) || bet.typed.includes(Number(id)));
  }

  function isRound(round, page, nVocab) {
    return isObject(round) && typeof round.ended === "boolean" && Array.isArray(round.bets)
      && (round.guess === null ? round.bets.length === 0 && !round.ended
        : Number.isFinite(round.guess) && round.guess > 0 && round.guess <= MOST_GUESS)
      && round.bets.length <= page.guessed.length && (!round.ended || round.bets.length > 0)
      && round.bets.every((bet, i) => isBet(bet, nVocab) && fits(bet, page.offers[i]));
  }

  function isGood(kept, { pages, n_vocab: nVocab }) {
    return isObject(kept) && isCount(pages.length - 1)(kept.page) && Array.isArray(kept.rounds)
      && kept.rounds.length === pages.length && kept.rounds.every((round, i) => isRound(round, pages[i], nVocab));
  }

  Object.assign(duel, { MOST_TYPED, fresh, isGood });
})(typeof window === "undefined" ? module.exports : (window.ClearformerDuel = window.ClearformerDuel || {}));
