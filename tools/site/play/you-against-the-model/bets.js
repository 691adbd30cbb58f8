// What ten chips say of every token, what a bet costs, and how well the chips were laid. No DOM.
(function (duel) {
  "use strict";

  const CHIPS = 10;
  const FLOOR = 0.05; // of every bet lies on all tokens as the trigram spreads it, unless the reader goes all in
  const GROUPS = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]; // chips, for the calibration
  const TEMPERATURES = Array.from({ length: 41 }, (_, i) => 2 ** ((i - 16) / 8)); // a quarter to eight

  const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
  const newBet = () => ({ chips: {}, typed: [], other: 0, allIn: false });
  const laid = (bet) => sum(Object.values(bet.chips)) + bet.other;
  const kept = (bet) => CHIPS - laid(bet);

  // The parts of a bet: the probability of each token on the table, and of all others together, which they share as the
  // trigram spreads it. p: the trigram's probability of every token.
  function parts(bet, offers, p) {
    const table = offers.concat(bet.typed.filter((id) => !offers.includes(id)));
    const floor = bet.allIn ? 0 : FLOOR, chip = (1 - floor) / CHIPS;
    const asTrigram = floor + chip * kept(bet);
    const off = 1 - sum(table.map((id) => p[id]));
    return {
      table, off,
      on: table.map((id) => asTrigram * p[id] + chip * (bet.chips[id] || 0)),
      rest: asTrigram * off + chip * bet.other,
    };
  }

  // Each part to the power of 1 / T, and all made to sum to 1: above 1 flatter, below 1 sharper.
  function temper({ table, off, on, rest }, T) {
    const top = Math.max(...on, rest), power = (q) => (q / top) ** (1 / T);
    const total = sum(on.map(power)) + power(rest);
    return { table, off, on: on.map((q) => power(q) / total), rest: power(rest) / total };
  }

  function probability({ table, off, on, rest }, p, id) {
    const place = table.indexOf(id);
    return place < 0 ? rest * p[id] / off : on[place];
  }

  // −log2 of what a reader's bet gave the token that came. `turn`: { offers, p, came }.
  function bits(bet, turn, T = 1) {
    const found = -Math.log2(probability(temper(parts(bet, turn.offers, turn.p), T), turn.p, turn.came));
    return found === 0 ? 0 : found; // never −0
  }

  // The bits of all bets of a round at each temperature, and the temperature with the fewest: null if a zero came.
  function temperatures(bets, turns) {
    const all = TEMPERATURES.map((T) => sum(bets.map((bet, i) => bits(bet, turns[i], T))));
    const least = Math.min(...all);
    return { all, best: Number.isFinite(least) ? TEMPERATURES[all.indexOf(least)] : null };
  }

  // Of the piles with so many chips: how many there were, how many of their tokens came, how many should have.
  function calibration(bets, turns) {
    const piles = bets.flatMap((bet, i) => {
      const { came, offers } = turns[i], table = offers.concat(bet.typed);
      const tokens = Object.entries(bet.chips).map(([id, n]) => ({ n, came: Number(id) === came }));
      return tokens.concat({ n: bet.other, came: !table.includes(came) });
    });
    return GROUPS.map(([low, high]) => {
      const some = piles.filter(({ n }) => n >= low && n <= high);
      return { low, high, piles: some.length, came: some.filter((it) => it.came).length, said: sum(some.map((it) => it.n)) / CHIPS };
    });
  }

  // Bits of some tokens: for each token, for each character, and the perplexity of a token.
  function rates(bitsOfEach, characters) {
    const total = sum(bitsOfEach), token = total / bitsOfEach.length;
    return { token, character: total / characters, perplexity: 2 ** token };
  }

  Object.assign(duel, {
    CHIPS, FLOOR, TEMPERATURES, newBet, laid, kept, parts, temper, probability, bits, temperatures, calibration, rates,
  });
})(typeof window === "undefined" ? module.exports : (window.ClearformerDuel = window.ClearformerDuel || {}));
