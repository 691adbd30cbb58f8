// What is asked before the flow turns round for the first time: on which of three numbers does the loss depend most?
(function (place) {
  "use strict";
  const { at, show, token } = place;

  const choices = (next, words, vocabulary) => [
    { at: ["logits", 0, next, 2], text: `the logit of “${vocabulary[next]}” behind ${token(words, 2)}, two boxes before the loss` },
    { at: ["x", 0, 1, 2], text: `number 2 of ${token(words, 2)} in X, at the very beginning` },
    { at: ["q", 1, 0, 0], text: `number 1 of the query of ${token(words, 0)}, in head 2` },
  ];

  // In words what the guess was worth, and why; of numbers that are computed.
  function judgeGuess(gradients, asked, guess) {
    const slopes = asked.map((one) => Math.abs(at(gradients, one.at))), largest = slopes.indexOf(Math.max(...slopes));
    const told = asked.map((one) => show(at(gradients, one.at))).join(", ");
    const why = [
      "Its slope is p − 1, and that is large where the word was not expected.",
      "A logit’s slope is p − 1 or p, never more than 1; matrices and norms on the way can make that of an early number larger.",
      "The query counts when its token looks, and only the last token is asked here.",
    ];
    const reason = largest === 0 ? `${why[0]} ${why[2]}` : `${why[1]} ${why[2]}`;
    return { isRight: guess === largest, text: `${guess === largest ? "Right" : `Not that one: it is the ${["first", "second", "third"][largest]}`}. The slopes are ${told}. ${reason}` };
  }

  Object.assign(place, { choices, judgeGuess });
})(typeof window === "undefined" ? (globalThis.machine ||= {}) : (clearformer.machine ||= {}));
