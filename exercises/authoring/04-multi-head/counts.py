"""Exercise 04, question counts: what do heads cost?."""

import torch
from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.battery import with_battery


def count(what, D, N, H, K, G):
    width, shared = H * K, 2 * G * K
    sizes = {"queries": (width, D), "keys and values": (shared, D), "output": (D, width)}
    if what == "parameters":
        return sum(rows * columns + rows for rows, columns in sizes.values())
    if what == "flops":
        return sum(2 * rows * columns * N for rows, columns in sizes.values()) + 2 * (2 * N * N * width)
    return H * N * N if what == "scores" else shared


def layers_to_count(what):
    def cases(rng):
        found = []
        for _ in range(2):
            K, m, N = (int(rng.choice(options)) for options in ((7, 9, 11), (2, 3), (13, 17, 19)))
            G, D = int(rng.choice((4, 5))), int(rng.choice((23, 29, 31)))
            found += [
                (what, G * K, N, G, K, G),
                (what, D, N, G, K, G),
                (what, D, N, m * G, K, G),
                (what, D, N, m * G, K, 1),
            ]
        large = what, 509, 1031, 15, 37, 5  # more FLOPs than float32 can count
        return [*found, large, (what, 23, 1, 10, 7, 5)]

    return cases


QUESTION = Question(
    id="counts",
    title="What do heads cost?",
    name="count",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("parameters", 5, layers_to_count("parameters"), count),
        equals("FLOPs", 5, layers_to_count("flops"), count),
        equals("scores", 2, layers_to_count("scores"), count),
        equals("cache", 2, layers_to_count("cached"), count),
    ),
    hints=(
        "Draw the four maps as rectangles and write height and width at each: queries, keys, values, output. "
        "Which of them does G change?",
        "A map has as many biases as it has outputs. And a product of an a × b and a b × c matrix takes 2abc FLOPs.",
        "Besides the four maps there are two products for every head that has queries, whether or not it "
        "shares its keys; both have the number of tokens in them twice.",
    ),
    section="what-heads-cost",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def term_by_term(what, D, N, H, K, G):
    if what == "parameters":
        return D * H * K + 2 * D * G * K + H * K * D + H * K + 2 * G * K + D
    if what == "flops":
        projections = 2 * H * K * D * N + 4 * G * K * D * N + 2 * D * H * K * N
        return projections + 2 * H * K * N**2 + 2 * H * K * N**2
    if what == "scores":
        return H * N**2
    return 2 * G * K


@right
def with_collected_terms(what, D, N, H, K, G):
    return {
        "parameters": 2 * (H + G) * K * D + (H + 2 * G) * K + D,
        "flops": 4 * N * K * (D * (H + G) + H * N),
        "scores": N * N * H,
        "cached": K * (G + G),
    }[what]


@right
def measured_on_tables(what, D, N, H, K, G):
    maps = [torch.zeros(shape) for shape in ((H * K, D), (G * K, D), (G * K, D), (D, H * K))]
    if what == "parameters":
        return sum(W.numel() + len(W) for W in maps)
    if what == "scores":
        return torch.zeros(H, N, N).numel()
    if what == "cached":
        return sum(len(W) for W in maps[1:3])
    heads = sum(2 * (N * K * N) + 2 * (K * N * N) for _ in range(H))
    return sum(2 * W.numel() * N for W in maps) + heads


@right
def as_often_written(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + D
    if what == "flops":
        return 4 * (H + G) * K * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


wrong.edits("""
# as_often_written
## full_width_in_every_head: You count matrices of size D × D for every head; a head's are as narrow as the head.
- return 2 * (H + G) * K * D + (H + 2 * G) * K + D
+ return 2 * (H + G) * D * D + (H + 2 * G) * D + D
-     return 4 * (H + G) * K * D * N + 4 * H * K * N * N
- return H * N * N if what == "scores" else 2 * G * K
+     return 4 * (H + G) * D * D * N + 4 * H * D * N * N
+ return H * N * N if what == "scores" else 2 * G * D
## output_from_all_widths: Your output matrix takes H · D inputs; the joined heads are H · K wide.
- return 2 * (H + G) * K * D + (H + 2 * G) * K + D
+ return (H + 2 * G) * K * D + (H + 2 * G) * K + H * D * D + D
- return 4 * (H + G) * K * D * N + 4 * H * K * N * N
+ return 2 * (H + 2 * G) * K * D * N + 2 * H * D * D * N + 4 * H * K * N * N
## without_biases: The biases are missing.
- return 2 * (H + G) * K * D + (H + 2 * G) * K + D
+ return 2 * (H + G) * K * D
## four_equal_biases: You give every map D biases; a map has as many as it has outputs.
+ return 2 * (H + G) * K * D + 4 * D
## output_bias_in_every_head: You count the biases of the output map once for every head, but there is one
output map.
+ return 2 * (H + G) * K * D + (H + 2 * G) * K + H * D
## without_output [concatenate-then-project]: The output matrix is missing.
- return 2 * (H + G) * K * D + (H + 2 * G) * K + D
+ return (H + 2 * G) * K * (D + 1)
- return 4 * (H + G) * K * D * N + 4 * H * K * N * N
+ return 2 * (H + 2 * G) * K * D * N + 4 * H * K * N * N
## usual_width_assumed: You take it for granted that the heads together are as wide as a token; here H · K
and D are free.
- return 2 * (H + G) * K * D + (H + 2 * G) * K + D
+ return 2 * D * D + 2 * D * D * G // H + 2 * D + 2 * D * G // H
-     return 4 * (H + G) * K * D * N + 4 * H * K * N * N
- return H * N * N if what == "scores" else 2 * G * K
+     return 4 * D * D * N + 4 * D * D * N * G // H + 4 * D * N * N
+ return H * N * N if what == "scores" else 2 * D * G // H
## nothing_shared [sharing-keys-and-values]: You give each of the H heads its own keys and values, but there are only G
of them.
- return 2 * (H + G) * K * D + (H + 2 * G) * K + D
+ return 4 * H * K * D + 3 * H * K + D
-     return 4 * (H + G) * K * D * N + 4 * H * K * N * N
- return H * N * N if what == "scores" else 2 * G * K
+     return 8 * H * K * D * N + 4 * H * K * N * N
+ return H * N * N if what == "scores" else 2 * H * K
## everything_shared [sharing-keys-and-values]: You share too much: queries, weights and output still have H heads.
- return 2 * (H + G) * K * D + (H + 2 * G) * K + D
+ return 4 * G * K * D + 3 * G * K + D
-     return 4 * (H + G) * K * D * N + 4 * H * K * N * N
- return H * N * N if what == "scores" else 2 * G * K
+     return 8 * G * K * D * N + 4 * G * K * N * N
+ return G * N * N if what == "scores" else 2 * G * K
## tables_of_the_groups [sharing-keys-and-values]: Your scores and averages are those of G heads; queries are not
shared, so there are H tables of N × N.
- return 4 * (H + G) * K * D * N + 4 * H * K * N * N
+ return 4 * (H + G) * K * D * N + 4 * G * K * N * N
## flops_in_float32: You count in float32, which holds seven digits, and so the last ones of a large count are lost.
+ return int(torch.tensor(4.0 * (H + G) * K * D * N + 4 * H * K * N * N))
## multiplications_only: You count multiplications only; each term of a product has an addition as well.
+ return 2 * (H + G) * K * D * N + 2 * H * K * N * N
## averages_of_full_tokens: Your averages are over full tokens in every head, as in the form with full matrices V_h.
+ return 4 * (H + G) * K * D * N + 2 * H * K * N * N + 2 * H * D * N * N
## projections_only: You count the four maps only; the products with a table of N × N are missing.
+ return 4 * (H + G) * K * D * N
## squares_only: You count the scores and averages only; the four maps take FLOPs too.
+ return 4 * H * K * N * N
## scores_of_one_head: Your scores are those of one head; count a table for every head.
- return H * N * N if what == "scores" else 2 * G * K
+ return N * N if what == "scores" else 2 * G * K
## half_a_cache [sharing-keys-and-values]: You cache keys and forget the values, or the other way round.
+ return H * N * N if what == "scores" else G * K
## cache_of_all_tokens [sharing-keys-and-values]: Your cache is that of the whole sequence; the question asks for one
token.
+ return H * N * N if what == "scores" else 2 * G * K * N
## formulas_of_the_usual_layer: These are the formulas of the usual layer; they hold only for H · K = D, with nothing
shared.
- return 2 * (H + G) * K * D + (H + 2 * G) * K + D
+ return 4 * D * D + 4 * D
-     return 4 * (H + G) * K * D * N + 4 * H * K * N * N
- return H * N * N if what == "scores" else 2 * G * K
+     return 8 * D * D * N + 4 * D * N * N
+ return H * N * N if what == "scores" else 2 * D
## output_without_bias: Your output map has no biases; it has one for each of its D outputs.
- return 2 * (H + G) * K * D + (H + 2 * G) * K + D
+ return 2 * (H + G) * K * D + (H + 2 * G) * K
""")
