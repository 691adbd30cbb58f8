"""Check of the display equation of the closer look at beam search."""

from clearformer.generation import beam_search

from tests.equations.chapter_11 import END, pairs, translator
from tests.equations.registry import equation, table


@equation("eq-beam-score", "4e54586c05")
def beam_score(rng):
    model, (z, w) = translator(), pairs()
    model.head.bias[END] -= 3.0  # else the best sentence is the empty one
    found = []
    for alpha in (0.0, 2.0):
        rows, score = beam_search(model.conditioned_on(z), w[:, :1].tolist(), 6, 3, length_penalty=alpha, stop=END)
        for b, row in enumerate(rows):
            given = model.conditioned_on(z[b : b + 1])
            log_p = given.head(given.hidden_states(row[None, :-1])).log_softmax(-1)[0].detach().numpy()
            L, words = len(row) - 1, row.numpy()
            printed = table(
                lambda i, L=L, log_p=log_p, words=words, alpha=alpha: (
                    1 / L**alpha * sum(log_p[n - 1, words[n]] for n in range(1, L + 1))
                ),
                1,
            )
            found.append((printed, [score[b].item()]))
    return found
