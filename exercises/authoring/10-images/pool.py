"""Exercise 10, question pool: which pooling was it?."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.cases import draw_sizes


def pools_reference(x, h):
    """Entry by entry."""
    n_images, n_tokens, D = x.shape

    def pooled(letter, b, d):
        if letter == "A":
            return x[b, 0, d]
        summands = [x[b, n, d] for n in range(0 if letter == "D" else 1, n_tokens)]
        return sum(summands) / (1 if letter == "B" else len(summands))

    def fits(letter):
        return all(abs(pooled(letter, b, d) - h[b, d]) <= 1e-3 for b in range(n_images) for d in range(D))

    return "".join(letter for letter in "ABCD" if fits(letter))


def pooled_by(letter, x):
    made = {"A": x[:, 0], "B": x[:, 1:].sum(1), "C": x[:, 1:].mean(1), "D": x.mean(1)}[letter]
    return made.round(5)


def last_tokens(rng, n_patches=None):
    B, N, D = draw_sizes(rng, 3)
    return rng.normal(size=(B, (n_patches or N) + 1, D)) + rng.normal(size=D)


def one_of_four(rng):
    cases = [(x, pooled_by(letter, x)) for letter in "ABCD" for x in [last_tokens(rng)]]
    x = last_tokens(rng)
    return [*cases, (x, np.median(x, axis=1).round(5)), (x, x.sum(axis=1).round(5))]


def hard_to_tell(rng):
    """One patch, tokens that are all alike, a class token in the middle of the patches, one image of two kinds."""
    single, alike, middle, mixed = last_tokens(rng, 1), last_tokens(rng), last_tokens(rng), last_tokens(rng)
    alike[:, 1:] = alike[:, :1]
    middle[:, 0] = middle[:, 1:].mean(axis=1)
    h = pooled_by("C", mixed)
    h[-1] = pooled_by("A", mixed)[-1]
    odd = pooled_by("B", mixed)
    odd[1, -1] -= 0.5
    cases = [(single, pooled_by("C", single)), (single, pooled_by("D", single)), (single, pooled_by("A", single))]
    return [*cases, (alike, pooled_by("A", alike)), (middle, pooled_by("D", middle)), (mixed, h), (mixed, odd)]


def near_the_limit(rng):
    """Gaps that are small beside the numbers and yet too large, and gaps everywhere that are just small enough."""
    cases = []
    for letter, gap in (("A", -0.02), ("B", 0.02), ("C", 0.0009), ("D", 0.0009)):
        x = 1e4 * last_tokens(rng)
        h = pooled_by(letter, x)
        if gap == 0.0009:
            h += gap * rng.choice([-1, 1], size=h.shape)
        else:
            h[0, 1] += gap
        cases.append((x, h))
    wide, drowned = 1e6 + 1e4 * last_tokens(rng), last_tokens(rng)
    h = pooled_by("A", drowned)
    h[1, -1] += 0.01
    return [*cases, (wide, pooled_by("C", wide) + 0.01), (drowned, h)]


QUESTION = Question(
    id="pool",
    title="Which pooling was it?",
    name="possible_pools",
    minutes=12,
    difficulty=1,
    checks=(
        equals("one of four", 6, one_of_four, pools_reference),
        equals("hard to tell", 3, hard_to_tell, pools_reference),
        equals("near the limit", 3, near_the_limit, pools_reference),
    ),
    hints=(
        "Make all four vectors for the whole batch, each B×D, and compare each of them with h. The letters "
        "do not exclude one another.",
        "Two of the four leave the class token out, and one takes it in. Which axis counts the tokens?",
        "A pooling that fails in one entry of one image is out. And 0.001 means 0.001, above and below, "
        "however large the numbers are: what does your comparison do by default?",
    ),
    section="from-patches-to-an-answer",
    inputs=Inputs(lambda x, h: {"B": len(x), "N": x.shape[1] - 1, "D": x.shape[2]}),
)

right, wrong = answers_to(QUESTION)


@right
def four_candidates(x, h):
    patches = x[:, 1:]
    candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
    return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())


@right
def with_closeness(x, h):
    letters = ""
    everything = x.sum(axis=1)
    rest = everything - x[:, 0]
    n_tokens = x.shape[1]
    for letter, made in zip("ABCD", (x[:, 0], rest, rest / (n_tokens - 1), everything / n_tokens), strict=True):
        if np.allclose(made, h, rtol=0, atol=1e-3):
            letters += letter
    return letters


@right
def as_rows_of_shares(x, h):
    n_tokens = x.shape[1]
    shares = np.zeros((4, n_tokens))
    shares[0, 0] = 1
    shares[1, 1:] = 1
    shares[2, 1:] = 1 / (n_tokens - 1)
    shares[3] = 1 / n_tokens
    gaps = np.abs(shares @ x - h[:, None]).max(axis=(0, 2))
    return "".join(np.array(list("ABCD"))[gaps <= 1e-3])


@wrong("You stop at the first pooling that fits; all that fit are asked for.")
def first_letter_only(x, h):
    pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
    for letter, made in pooled.items():
        if np.abs(made - h).max() <= 1e-3:
            return letter
    return ""


wrong.edits("""
# four_candidates
## sum_with_class_token: Your sum takes the class token in; B sums over the patches alone.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x.sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)
## mean_with_class_token: Your C averages over all tokens, as D does; the mean over the patches leaves the class token
out.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x.mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)
## all_without_class_token: Your D leaves the class token out, as C does.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x[:, 1:].mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)
## divided_by_all_tokens: You sum over the patches and divide by the number of all tokens; there is one patch less than
tokens.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].sum(axis=1) / x.shape[1], "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)
## class_token_last: You look for the class token at the end; it stands first.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, -1], "B": x[:, :-1].sum(axis=1), "C": x[:, :-1].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3)
## any_entry_will_do: A pooling passes with you as soon as one entry agrees; all of them have to.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.abs(made - h).min() <= 1e-3)
## first_image_only: You compare the first image only; the program has pooled all of them in the same way.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.abs(made - h)[0].max() <= 1e-3)
## any_image_will_do: A pooling passes with you if it fits one image; it has to fit every image of the batch.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if (np.abs(made - h).max(axis=1) <= 1e-3).any())
## on_average_near: You average the gaps over all entries, so that one wrong entry drowns among many right ones.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.abs(made - h).mean() <= 1e-3)
## relative_tolerance [common-mistakes]: Your comparison allows a gap that grows with the numbers, as `np.allclose` does
by default.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.allclose(made, h, atol=1e-3))
## no_absolute_value: You look at gaps in one direction only: what is too small by any amount passes.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if (made - h).max() <= 1e-3)
## exactly_equal: You ask for equal numbers, but h is rounded to five decimals.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.array_equal(made, h))
## too_strict: Your limit is tighter than 0.001.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-4)
## rounded_and_compared: You round both to three decimals and compare; two numbers that are close can be rounded to
different sides.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.array_equal(made.round(3), h.round(3)))
## nearest_letter_only: You name the nearest pooling even where none is near, and only one where several are.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return min(pooled, key=lambda letter: np.abs(pooled[letter] - h).max())
## pooled_over_features: You pool over the features of a token; the tokens are the middle axis of x.
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": patches.sum(axis=2), "C": patches.mean(axis=2), "D": x.mean(axis=2)}
+ fitting = [n for n, made in pooled.items() if made.shape == h.shape and np.abs(made - h).max() <= 1e-3]
+ return "".join(fitting)
## a_list_of_letters: You return a list of letters; one text is asked for.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return [letter for letter, made in pooled.items() if np.abs(made - h).max() <= 1e-3]
## allclose_by_default: `np.allclose` by itself allows small numbers hardly any gap and large ones a wide one; 0.001 is
for all.
- patches = x[:, 1:]
- candidates = {"A": x[:, 0], "B": patches.sum(1), "C": patches.mean(1), "D": x.mean(1)}
- return "".join(name for name, made in candidates.items() if (np.abs(made - h) <= 1e-3).all())
+ pooled = {"A": x[:, 0], "B": x[:, 1:].sum(axis=1), "C": x[:, 1:].mean(axis=1), "D": x.mean(axis=1)}
+ return "".join(letter for letter, made in pooled.items() if np.allclose(made, h))
""")
