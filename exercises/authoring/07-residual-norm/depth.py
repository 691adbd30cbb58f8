"""Exercise 07, question depth: a gradient on its way down."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes


def gradient_sizes(parts, top):
    D = len(top)
    with_, without = [top], [top]
    for J in parts[::-1]:
        with_.append(with_[-1] + J.T @ with_[-1])
        without.append(J.T @ without[-1])
    gains = (parts**2).sum(axis=(1, 2))[::-1] / D
    sizes = {
        "measured with": [np.linalg.norm(g) for g in with_] / np.linalg.norm(top),
        "measured without": [np.linalg.norm(g) for g in without] / np.linalg.norm(top),
        "predicted with": np.sqrt(np.cumprod([1.0, *(1 + gains)])),
        "predicted without": np.sqrt(np.cumprod([1.0, *gains])),
    }
    return {name: np.asarray(lengths)[::-1].copy() for name, lengths in sizes.items()}


def draw_parts(rng, n_parts=None):
    """Parts of different gains, so that their order shows, and a gradient that is not of length 1."""
    M, D = draw_sizes(rng, 2)
    M = n_parts or M
    gains = rng.permutation(np.linspace(0.4, 1.4, M + 1))[:M]
    parts = gains[:, None, None] * rng.normal(size=(M, D, D)) / np.sqrt(D)
    return parts, rng.uniform(2, 4) * rng.normal(size=D)


def draw_stacks(rng):
    parts, top = draw_parts(rng)
    parts[1] = 0  # it sends nothing back
    cases = [draw_parts(rng), draw_parts(rng, 1), (parts, top)]
    deep, top = draw_parts(rng, 17)
    return [*cases, (2 * deep, top)]  # a gradient that explodes


def two_entries(kind):
    """A check of two entries, so that they earn their points whatever the others are."""

    def test(ask, rng):
        for n_parts in (None, 3):
            parts, top = draw_parts(rng, n_parts)
            found, expected = ask(parts, top), gradient_sizes(parts, top)
            for name in (f"{kind} with", f"{kind} without"):
                if not isinstance(found, dict) or name not in found:
                    return f"The result should be a dict with the key {name!r}."
                if not isinstance(found[name], np.ndarray) or found[name].shape != (len(parts) + 1,):
                    return f"For {len(parts)} parts the entry {name!r} should be an array of {len(parts) + 1} lengths."
                if not close(found[name][-1:], [1.0]):
                    return (
                        f"Your last entry of {name!r} is {found[name][-1]:.4g}; it belongs to the top and should be 1."
                    )
                if not close(found[name], expected[name], 1e-8 * max(1.0, expected[name].max())):
                    return f"For {len(parts)} parts of width {len(top)} your entry {name!r} is not right."
        return None

    return test


QUESTION = Question(
    id="depth",
    title="A gradient on its way down",
    name="gradient_sizes",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        holds("measured", 4, two_entries("measured")),
        holds("predicted", 4, two_entries("predicted")),
        equals("all four", 4, draw_stacks, gradient_sizes),
    ),
    hints=(
        "Which part does a gradient meet first on its way down, and what stands between the gradient above a "
        "part and the one below it? Shapes do not tell, since J is square.",
        "The loss grows by g·dx above the part, and dx is J times something there. Move J to the other side of "
        "the product. With a residual connection, what else arrives?",
        "For the prediction with residuals draw a right triangle: one side is what came from above, the other "
        "is s_m times as long. How long is the third, and what does the next part make of it?",
    ),
    section="identity-plus-a-bit-the-residual-connection",
    inputs=Inputs(axes("MDD", "D")),
)

right, wrong = answers_to(QUESTION)


@right
def step_by_step(parts, top):
    M, D, _ = parts.shape
    found = {}
    for name, own in (("with", 1.0), ("without", 0.0)):
        measured, predicted = np.ones(M + 1), np.ones(M + 1)
        g = top
        for m in range(M, 0, -1):
            J = parts[m - 1]
            g = own * g + J.T @ g
            measured[m - 1] = np.linalg.norm(g) / np.linalg.norm(top)
            predicted[m - 1] = predicted[m] * np.sqrt(own + (J**2).sum() / D)
        found[f"measured {name}"], found[f"predicted {name}"] = measured, predicted
    return found


@right
def products_of_matrices(parts, top):
    M, D = len(parts), len(top)
    unit, whole, bare = top / np.sqrt(top @ top), np.eye(D), np.eye(D)
    lengths = [(1.0, 1.0, 1.0, 1.0)]
    square_with, square_without = 1.0, 1.0
    for m in reversed(range(M)):
        whole, bare = whole @ (np.eye(D) + parts[m]), bare @ parts[m]
        s_squared = np.trace(parts[m] @ parts[m].T) / D
        square_with, square_without = square_with * (1 + s_squared), square_without * s_squared
        row = (np.linalg.norm(unit @ whole), np.linalg.norm(unit @ bare), square_with**0.5, square_without**0.5)
        lengths.insert(0, row)
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(lengths).T, strict=True))


@right
def cumulated(parts, top):
    D = len(top)
    s = np.sqrt((parts**2).mean(axis=(1, 2)) * D)
    ends = [np.prod(np.sqrt(1 + s[m:] ** 2)) for m in range(len(s) + 1)]
    bare_ends = [np.prod(s[m:]) for m in range(len(s) + 1)]

    def below(m, residual):
        g = top.copy()
        for J in parts[m:][::-1]:
            g = g @ (J + residual * np.eye(D))
        return np.sqrt((g**2).sum() / (top**2).sum())

    return {
        "measured with": np.array([below(m, 1) for m in range(len(s) + 1)]),
        "measured without": np.array([below(m, 0) for m in range(len(s) + 1)]),
        "predicted with": np.array(ends),
        "predicted without": np.array(bare_ends),
    }


@right
def as_often_written(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


wrong.edits("""
# as_often_written
## not_transposed: You send the gradient through J as if it were a token on its way up; on the way down its transpose
acts.
- g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
+ g_with, g_without = g_with + J @ g_with, J @ g_without
## first_part_first: You begin with the part at the bottom; coming from the top the gradient meets the last part first.
- for J in parts[::-1]:
+ for J in parts:
## counted_from_the_top [a-stack-that-forgets-its-input]: Your lengths are in the order of the journey: the last one
should belong to the top.
- return dict(zip(names, np.array(rows)[::-1].T, strict=True))
+ return dict(zip(names, np.array(rows).T, strict=True))
## not_relative [a-stack-that-forgets-its-input]: Your lengths are absolute; they should be relative to the gradient at
the top.
- lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
+ lengths = [np.linalg.norm(g) for g in (g_with, g_without)]
## squared_lengths [a-stack-that-forgets-its-input]: Your measured numbers are squares of lengths: a root is missing.
+ lengths = [g @ g / (top @ top) for g in (g_with, g_without)]
## residual_forgotten: Your stack with residuals has lost the identity: both measured rows are the same.
- g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
+ g_with, g_without = J.T @ g_with, J.T @ g_without
## measured_exchanged: The measured lengths with and without residuals have changed places.
- lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
+ lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_without, g_with)]
## residual_in_both: Your stack without residuals has them, too.
- g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
+ g_with, g_without = g_with + J.T @ g_with, g_without + J.T @ g_without
## gradient_is_one: You count on a gradient of 1 through the residual, and forget what the part itself sends back.
- g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
+ g_with, g_without = g_with, J.T @ g_without
- rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
+ rows.append((*lengths, 1.0, rows[-1][3] * np.sqrt(gain)))
## one_added_everywhere: You add 1 to every entry of J; the identity has its ones on the diagonal only.
- g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
+ g_with, g_without = (1 + J).T @ g_with, J.T @ g_without
## top_gradient_again: At every part you add the gradient from the top; what belongs there is the one that arrived at
this part.
+ g_with, g_without = top + J.T @ g_with, J.T @ g_without
## lengths_added: Your prediction adds lengths, as if both gradients pointed the same way; at a right angle their
squares add.
- rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
+ rows.append((*lengths, rows[-1][2] * (1 + np.sqrt(gain)), rows[-1][3] * np.sqrt(gain)))
## predicted_squares: Your predictions are those of squared lengths: the roots are missing.
+ rows.append((*lengths, rows[-1][2] * (1 + gain), rows[-1][3] * gain))
## squares_without_root: Your prediction with residuals multiplies squared lengths, and never takes the root.
+ rows.append((*lengths, rows[-1][2] * (1 + gain), rows[-1][3] * np.sqrt(gain)))
## gain_by_all_entries [a-stack-that-forgets-its-input]: You divide the sum of the squares by the number of entries, D²;
the task divides by D.
- gain = (J**2).sum() / D
+ gain = (J**2).mean()
## gain_not_divided [a-stack-that-forgets-its-input]: Your s² is the whole sum of the squares: it is not divided by D.
+ gain = (J**2).sum()
## largest_gain [a-stack-that-forgets-its-input]: You predict with the largest factor by which J stretches a vector; the
average over directions is smaller.
+ gain = np.linalg.norm(J, 2) ** 2
## sum_before_the_square [a-stack-that-forgets-its-input]: You square the sum of the entries; sum their squares.
+ gain = J.sum() ** 2 / D
## one_path_each: Your prediction has two paths only, around all parts and through all of them; others lead through some
parts and around the rest.
- rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
+ rows.append((*lengths, np.sqrt(1 + (rows[-1][3] * np.sqrt(gain)) ** 2), rows[-1][3] * np.sqrt(gain)))
## paths_through_one: Your prediction leaves out the paths through more than one part.
+ rows.append((*lengths, np.sqrt(rows[-1][2] ** 2 + gain), rows[-1][3] * np.sqrt(gain)))
## mean_gain [a-stack-that-forgets-its-input]: You predict with one gain, the mean of all parts; use each part's own.
- gain = (J**2).sum() / D
+ gain = (parts**2).sum() / (len(parts) * D)
## top_left_out [a-stack-that-forgets-its-input]: Your rows have one length a part; they leave out the top, whose length
is 1.
- return dict(zip(names, np.array(rows)[::-1].T, strict=True))
+ return dict(zip(names, np.array(rows)[:0:-1].T, strict=True))
## absolute_sums [a-stack-that-forgets-its-input]: You measure with sums of absolute values; a length is the root of a
sum of squares.
- lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
+ lengths = [np.abs(g).sum() / np.abs(top).sum() for g in (g_with, g_without)]
## gain_squared_twice [a-stack-that-forgets-its-input]: Your s² is squared a second time.
- gain = (J**2).sum() / D
+ gain = ((J**2).sum() / D) ** 2
## gain_from_a_length [a-stack-that-forgets-its-input]: Your s² is the root of the sum of the squares, divided by D: the
root comes later.
+ gain = np.linalg.norm(J) / D
## prediction_without_the_identity: Your prediction for the stack with residuals leaves the identity out.
- rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
+ rows.append((*lengths, rows[-1][2] * np.sqrt(gain), rows[-1][3] * np.sqrt(gain)))
## relative_to_the_part_above [a-stack-that-forgets-its-input]: You divide by the entry before; divide every length by
that of the top.
- lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
+ lengths = [np.linalg.norm(g) / rows[-1][i] for i, g in enumerate((g_with, g_without))]
## nothing_past_a_part_of_zeros: You let a part of zeros stop the gradient; with residuals all of it goes past.
- g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
+ g_with, g_without = J.any() * g_with + J.T @ g_with, J.T @ g_without
""")
