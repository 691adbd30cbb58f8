"""Exercise 02, question waiting: rounds that wait, and work."""

import torch
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from torch import nn


def rounds_and_products(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 3 * n_tokens * width**2 + 2 * n_tokens**2 * width),
    }


def sequences(rng):
    """Lengths that the reach of the kernel divides and that it does not, and products past what a float counts."""
    cases = []
    for remainder in (0, 1, None):
        kernel = int(rng.integers(4, 10))
        layers = int(rng.integers(5, 30))
        extra = int(rng.integers(2, kernel - 1)) if remainder is None else remainder
        cases.append((layers * (kernel - 1) + 1 + extra, int(rng.integers(50, 90)), kernel))
    return [*cases, (int(rng.integers(20, 60)), int(rng.integers(3, 19)), 2), (23, 100_000_007, 6)]


def short_sequences(rng):
    width, kernel = int(rng.integers(5, 90)), int(rng.integers(6, 12))
    lengths = (1, 2, kernel - 2, kernel, kernel + 1)
    return [*((n_tokens, width, kernel) for n_tokens in lengths), (2, width, 2), (3, 1, 2), (2003, 3, 2002)]


def rounds_alone(ask, rng):
    for n_tokens, width, kernel in sequences(rng):
        came = ask(n_tokens, width, kernel)
        for network, (rounds, _) in rounds_and_products(n_tokens, width, kernel).items():
            entry = came.get(network) if isinstance(came, dict) else None
            if not isinstance(entry, tuple | list) or len(entry) != 2:
                return f"A dict with a pair of numbers under {network!r} is expected."
            if type(entry[0]) in (bool, float) or entry[0] != rounds:
                return f"For {n_tokens} tokens and a kernel of {kernel} weights your rounds of {network} are not right."
    return None


QUESTION = Question(
    id="waiting",
    title="Rounds that wait, and work",
    name="rounds_and_products",
    minutes=10,
    difficulty=2,
    checks=with_battery(
        equals("both counts", 5, sequences, rounds_and_products),
        equals("short sequences", 2, short_sequences, rounds_and_products),
        holds("the rounds alone", 3, rounds_alone),
        more={"boundary": in_cases_of("both counts")},
    ),
    hints=(
        "Draw 5 tokens and a kernel of 3 weights. Mark what the last output of one layer knows, then of two.",
        "How many tokens *further back* does one more layer take you? The token itself is one of the weights.",
        "A layer cannot be half used. And even a single token has to go through one layer to get in.",
    ),
    section="where-the-recurrent-network-fails",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def by_formula(n_tokens, width, kernel):
    layers = max(1, int(torch.tensor((n_tokens - 1) / (kernel - 1)).ceil()))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width * width),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, n_tokens * width * (3 * width + 2 * n_tokens)),
    }


@right
def by_walking_back(n_tokens, width, kernel):
    layers, known = 1, n_tokens - 1 - (kernel - 1)
    while known > 0:
        layers, known = layers + 1, known - (kernel - 1)
    per_layer, per_matrix = kernel * width * n_tokens, n_tokens * width**2
    return dict(
        attention=(1, 3 * per_matrix + n_tokens**2 * width + n_tokens**2 * width),
        convolution=(layers, layers * per_layer),
        recurrence=(n_tokens, per_matrix + per_matrix),
    )


@right
def by_spreading(n_tokens, width, kernel):
    knows = torch.zeros(n_tokens, dtype=torch.bool)
    knows[0], layers = True, 0
    while layers == 0 or not knows[-1]:
        seen = nn.functional.pad(knows, (kernel - 1, 0)).unfold(0, kernel, 1)
        knows, layers = seen.any(dim=1), layers + 1
    result = {"recurrence": [n_tokens, 0], "convolution": [layers, 0], "attention": [1, 0]}
    result["recurrence"][1] = sum(2 * width**2 for _ in range(n_tokens))
    result["convolution"][1] = sum(n_tokens * kernel * width for _ in range(layers))
    result["attention"][1] = sum(3 * width**2 + 2 * n_tokens * width for _ in range(n_tokens))
    return result


@right
def as_often_written(n_tokens, width, kernel):
    layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
    return {
        "recurrence": (n_tokens, 2 * n_tokens * width**2),
        "convolution": (layers, layers * n_tokens * kernel * width),
        "attention": (1, 3 * n_tokens * width**2 + 2 * n_tokens**2 * width),
    }


wrong.edits("""
# as_often_written
## half_of_the_pairs [attention-plays-the-game]: You let a token look only at those before it and at itself; here each
of them looks at all.
- "attention": (1, 3 * n_tokens * width**2 + 2 * n_tokens**2 * width),
+ "attention": (1, 3 * n_tokens * width**2 + n_tokens * (n_tokens + 1) * width),
## tokens_by_kernel [two-averages-and-a-sign]: You divide all tokens by the width of the kernel; ask how many new ones a
further layer brings into sight.
- layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
+ layers = max(1, -(-n_tokens // kernel))
## recurrence_in_one_round: You let the recurrent network read all tokens in one round, but each state waits for the one
before it.
- "recurrence": (n_tokens, 2 * n_tokens * width**2),
+ "recurrence": (1, 2 * n_tokens * width**2),
## steps_between_states [where-the-recurrent-network-fails]: You count the steps from state to state; before the first
of them the first token has to enter a state.
+ "recurrence": (n_tokens - 1, 2 * n_tokens * width**2),
## reach_of_the_full_width [two-averages-and-a-sign]: You let every layer reach back by the full
width of the kernel, but one of its weights is for the token itself.
- layers = max(1, -(-(n_tokens - 1) // (kernel - 1)))
+ layers = max(1, -(-(n_tokens - 1) // kernel))
## rounded_down [where-the-recurrent-network-fails]: You round the number of layers down, so the last few tokens are not
reached.
+ layers = max(1, (n_tokens - 1) // (kernel - 1))
## one_layer_too_many [where-the-recurrent-network-fails]: You add a layer even where the layers before it have just
reached the last token.
+ layers = (n_tokens - 1) // (kernel - 1) + 1
## kernel_in_the_middle [two-averages-and-a-sign]: You put the token in the middle of the kernel,
but this kernel looks back only.
+ layers = max(1, -(-(n_tokens - 1) // max(1, (kernel - 1) // 2)))
## reach_multiplies [where-the-recurrent-network-fails]: You let the reach multiply from layer to layer; with the same
kernel in every layer it adds up.
+ layers = next(count for count in range(1, n_tokens + 1) if kernel**count >= n_tokens)
## one_layer_of_convolution [where-the-recurrent-network-fails]: You count one layer of convolution however long the
sequence is, but one layer reaches only as far as its kernel.
+ layers = 1
## no_layer_for_one_token [where-the-recurrent-network-fails]: You count no layer for a single token, but it has to go
through one to reach an output.
+ layers = -(-(n_tokens - 1) // (kernel - 1))
## attention_in_turn: You make the outputs of attention wait for one another; none of them needs another one.
- "attention": (1, 3 * n_tokens * width**2 + 2 * n_tokens**2 * width),
+ "attention": (n_tokens, 3 * n_tokens * width**2 + 2 * n_tokens**2 * width),
## maps_forgotten [attention-plays-the-game]: You count the pairs of attention and leave out the three matrices that
make queries, keys and values.
+ "attention": (1, 2 * n_tokens**2 * width),
## values_for_nothing [attention-plays-the-game]: You count two matrices of attention, but queries, keys and values have
one each.
+ "attention": (1, 2 * n_tokens * width**2 + 2 * n_tokens**2 * width),
## attention_by_token: You count the matrices of attention alone; it also does something for every pair of tokens.
+ "attention": (1, 3 * n_tokens * width**2),
## scores_only [the-weighted-average]: You count the scores of attention and forget the averages.
+ "attention": (1, 3 * n_tokens * width**2 + n_tokens**2 * width),
## one_for_each_pair [a-soft-lookup-table]: You count one multiplication for each pair, but a score is a dot product of
many numbers.
+ "attention": (1, 3 * n_tokens * width**2 + 2 * n_tokens**2),
## one_matrix_only [the-recall-game]: You count one of the two matrices of the recurrence.
- "recurrence": (n_tokens, 2 * n_tokens * width**2),
+ "recurrence": (n_tokens, n_tokens * width**2),
## diagonal_matrices [the-recall-game]: You count the recurrence as if its matrices were diagonal: a matrix–vector
product takes a multiplication for every entry.
+ "recurrence": (n_tokens, 2 * n_tokens * width),
## features_mixed [two-averages-and-a-sign]: You give the convolution a matrix for every weight,
but here each weight is one number, the same for all features.
- "convolution": (layers, layers * n_tokens * kernel * width),
+ "convolution": (layers, layers * n_tokens * kernel * width**2),
## work_of_one_layer [where-the-recurrent-network-fails]: You count the multiplications of one layer of convolution and
leave out the other layers.
+ "convolution": (layers, n_tokens * kernel * width),
## additions_too: You count the additions as well, as in many books; this question asks for the multiplications alone.
- "recurrence": (n_tokens, 2 * n_tokens * width**2),
- "convolution": (layers, layers * n_tokens * kernel * width),
- "attention": (1, 3 * n_tokens * width**2 + 2 * n_tokens**2 * width),
+ "recurrence": (n_tokens, 4 * n_tokens * width**2),
+ "convolution": (layers, 2 * layers * n_tokens * kernel * width),
+ "attention": (1, 6 * n_tokens * width**2 + 4 * n_tokens**2 * width),
""")
