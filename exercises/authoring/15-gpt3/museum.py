"""Exercise 15, question museum: repair the step of several workers."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import close, draw_sizes


def shared_step(W, shards, rate, limit, decay):
    X, Y = (np.concatenate(arrays, axis=1) for arrays in zip(*shards, strict=True))
    gradient = 2 * (W @ X - Y) @ X.T / X.shape[1]
    gradient = gradient * min(1.0, limit / max(np.linalg.norm(gradient), 1e-300))
    return W - rate * (gradient + decay * W)


def draw_shards(rng, counts):
    D, E = draw_sizes(rng, 2)
    W = rng.normal(size=(E, D))
    shards = [(rng.normal(size=(D, n)), 3 * rng.normal(size=(E, n))) for n in counts]
    return W, shards


def unequal_shares(rng):
    return [
        (*draw_shards(rng, counts), rate, 1e3, 0.0) for counts, rate in (([2, 9, 5], 0.1), ([1, 7], 0.3), ([11], 0.2))
    ]


def short_limits(rng):
    """Gradients that are far too long, a limit between, one that is just not reached, one of 0, and a short one."""
    W, shards = draw_shards(rng, [4, 4, 4])
    X, Y = (np.concatenate(arrays, axis=1) for arrays in zip(*shards, strict=True))
    length = np.linalg.norm(2 * (W @ X - Y) @ X.T / 12)
    nearly = [(X, W @ X + 1e-3 * Y) for X, Y in shards]
    return [*((W, shards, 0.1, part * length, 0.0) for part in (0.01, 0.9, 1.1, 0.0)), (W, nearly, 90.0, 1e-3, 0.0)]


def with_decay(rng):
    plans = ([5, 5], 0.1, 1e3, 0.7), ([3, 3, 3], 0.05, 0.02, 0.4), ([2, 6, 11], 0.1, 0.5, 0.9)
    return [(*draw_shards(rng, counts), *rest) for counts, *rest in plans]


def idle_workers(rng):
    """Workers without tokens, and one token for everybody; data that fit, so that the gradient is 0."""
    W, shards = draw_shards(rng, [0, 5, 0, 2])
    D, E = W.shape[1], W.shape[0]
    X = rng.normal(size=(D, 6))
    whole, *parts = (np.rint(3 * array) for array in (W, X[:, :2], X[:, 2:]))  # exact products: the gradient is 0
    fitted = [(part, whole @ part) for part in parts]
    lonely = [(np.zeros((D, 0)), np.zeros((E, 0))), (X[:, :1], rng.normal(size=(E, 1)))]
    return [(W, shards, 0.1, 0.3, 0.2), (whole, fitted, 0.1, 0.3, 0.2), (W, lonely, 0.1, 9.0, 0.0)]


def who_has_what(ask, rng):
    """The same tokens in other hands give the same step, also where no limit hides how long the gradient is."""
    W, [(X, Y)] = draw_shards(rng, [13])
    order = rng.permutation(13)
    for limit in (2.0, 1e3):
        before = None
        for ends in ((3,), (1, 12), (4, 4, 9)):
            shards = [(X[:, part], Y[:, part]) for part in np.split(order, ends)]
            after = ask(W, shards, 0.1, limit, 0.5)
            if not isinstance(after, np.ndarray) or after.shape != W.shape:
                return f"The result should be an array of shape {W.shape}."
            if before is not None and not close(after, before, 1e-8):
                return "The same tokens, shared out otherwise, give another W in yours."
            before = after
        if close(before, W):
            return "A step must change W, but yours does not."
    return None


QUESTION = Question(
    id="museum",
    title="Repair the step of several GPUs",
    name="shared_step",
    minutes=18,
    difficulty=2,
    checks=with_battery(
        equals("unequal shares", 4, unequal_shares, shared_step),
        equals("limits", 4, short_limits, shared_step),
        equals("decay", 4, with_decay, shared_step),
        holds("who has what", 3, who_has_what),
        equals("workers without tokens", 3, idle_workers, shared_step),
        more={"boundary": in_cases_of("limits")},
        off={"one of each": "the shards are pairs in a list, whose sizes belong together"},
    ),
    hints=(
        "Go through the three sentences one after the other, and find for each the line of the museum piece "
        "that should do it. Which of the three experiments does it spoil?",
        "What has to be summed over the GPUs, so that one division at the end gives the mean over all "
        "tokens? And by what is it divided?",
        "The limit holds for the gradient of the whole batch, so nobody can apply it before the sum. The decay "
        "comes after it, once.",
    ),
    section="by-rows-data-parallelism",
    inputs=Inputs(lambda W, *rest: {"E": W.shape[0], "D": W.shape[1]}),
)

right, wrong = answers_to(QUESTION)


@right
def one_batch(W, shards, rate, limit, decay):
    X = np.hstack([X for X, _ in shards])
    Y = np.hstack([Y for _, Y in shards])
    apart = W @ X - Y
    G = apart @ X.T * (2 / len(X.T))
    norm = np.linalg.norm(G)
    if norm > limit:
        G = G * (limit / norm)
    return W - rate * (G + decay * W)


@right
def weighted_means(W, shards, rate, limit, decay):
    n = np.array([X.shape[1] for X, _ in shards], dtype=float)
    total = np.zeros_like(W)
    for (X, Y), count in zip(shards, n, strict=True):
        if count:
            total += count / n.sum() * (2 * (W @ X - Y) @ X.T / count)
    length = float(np.sqrt((total * total).sum()))
    factor = 1.0 if length <= limit else limit / length
    return (1 - rate * decay) * W - rate * factor * total


@right
def token_by_token(W, shards, rate, limit, decay):
    G, seen = np.zeros(W.shape), 0
    for X, Y in shards:
        for t in range(X.shape[1]):
            G = G + 2 * np.outer(W @ X[:, t] - Y[:, t], X[:, t])
            seen += 1
    G = G / seen
    G = G / max(1.0, np.linalg.norm(G) / limit)
    return W - rate * G - rate * decay * W


@right
def as_often_written(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@right
def worker_by_worker(W, shards, rate, limit, decay):
    n_tokens, total = sum(X.shape[1] for X, _ in shards), 0 * W
    for X, Y in shards:
        G = 2 * (W @ X - Y) @ X.T / n_tokens
        total = total + G
    return W - rate * (total * min(1, limit / max(np.linalg.norm(total), 1e-300)) + decay * W)


wrong.edits("""
# worker_by_worker
## the_museum_piece: This is the museum piece, with all three mistakes.
-     G = 2 * (W @ X - Y) @ X.T / n_tokens
-     total = total + G
- return W - rate * (total * min(1, limit / max(np.linalg.norm(total), 1e-300)) + decay * W)
+     G = 2 * (W @ X - Y) @ X.T / X.shape[1] + decay * W
+     total = total + G * min(1, limit / np.sqrt(np.square(G).sum())) / len(shards)
+ return W - rate * total
## shares_repaired: Shares are right; the limit and the decay still stand where they stood in the museum piece.
+     G = 2 * (W @ X - Y) @ X.T / max(X.shape[1], 1) + decay * W
+     total = total + X.shape[1] / n_tokens * G * min(1, limit / max(np.linalg.norm(G), 1e-300))
+ return W - rate * total
## limit_repaired: The limit is right; shares are still averaged without weights, and the decay is inside the gradient.
+     G = 2 * (W @ X - Y) @ X.T / X.shape[1] + decay * W
+     total = total + G / len(shards)
+ return W - rate * (total * min(1, limit / np.linalg.norm(total)))
## decay_repaired: The decay is right; shares are still averaged without weights, and each GPU has a limit of its own.
+     G = 2 * (W @ X - Y) @ X.T / X.shape[1]
+     total = total + G * min(1, limit / max(np.linalg.norm(G), 1e-300)) / len(shards)
+ return W - rate * (total + decay * W)
## one_worker_after_another: Your GPUs take turns, each from the W that the last one left; start all from the same W.
- G = 2 * (W @ X - Y) @ X.T / n_tokens
- total = total + G
+ G = 2 * (W @ X - Y) @ X.T / max(X.shape[1], 1)
+ W = W - rate * G * min(1, limit / max(np.linalg.norm(G), 1e-300))
## limit_and_decay_repaired: Limit and decay are right; the means of the GPUs are still averaged without weights.
- G = 2 * (W @ X - Y) @ X.T / n_tokens
+ G = 2 * (W @ X - Y) @ X.T / X.shape[1] / len(shards)
## limit_for_each_part: You shorten what each GPU adds to the gradient; the limit is for the sum.
-     total = total + G
- return W - rate * (total * min(1, limit / max(np.linalg.norm(total), 1e-300)) + decay * W)
+     total = total + G * min(1, limit / max(np.linalg.norm(G), 1e-300))
+ return W - rate * (total + decay * W)

# as_often_written
## means_averaged: You average the means of the GPUs; the tokens of a small share count too much.
- n_tokens = sum(X.shape[1] for X, _ in shards)
- G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
+ sum(X.shape[1] for X, _ in shards)
+ G = 2 * sum((W @ X - Y) @ X.T / max(X.shape[1], 1) for X, Y in shards) / len(shards)
## means_summed: You sum the means of the GPUs; each stands for its own tokens only.
+ sum(X.shape[1] for X, _ in shards)
+ G = 2 * sum((W @ X - Y) @ X.T / max(X.shape[1], 1) for X, Y in shards)
## nothing_averaged: You sum over all tokens and divide by nothing; the loss is a mean.
+ G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards)
## divided_by_workers: You sum over all tokens and divide by the number of GPUs, not of tokens.
+ G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / len(shards)
## divided_by_entries: You divide by the number of entries of Y; the loss is a mean over tokens, of whole columns.
- G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
+ G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / (n_tokens * len(W))
## no_factor_2: The 2 that comes from the square is missing.
+ G = sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
## uphill: You go up the gradient: W grows where the loss grows.
- return W - rate * (G + decay * W)
+ return W - rate * (decay * W - G)
## limit_for_each_worker: Your GPUs shorten their own gradients; the limit is for that of all tokens.
- G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
- G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
+ parts = [(X.shape[1] / n_tokens, 2 * (W @ X - Y) @ X.T / max(X.shape[1], 1)) for X, Y in shards]
+ G = sum(part * g * min(1, limit / max(np.linalg.norm(g), 1e-300)) for part, g in parts)
## decay_in_the_limit: Your decay is part of the gradient when that is shortened; it comes afterwards.
- G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
+ G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens + decay * W
- return W - rate * (G + decay * W)
+ return W - rate * G
## always_scaled: You bring every gradient to the length of the limit, short ones as well.
- G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
+ G = G * limit / max(np.linalg.norm(G), 1e-300)
## never_scaled: There is no limit in your step.
- G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
## entries_clipped: You clip every entry by itself, which turns the gradient; the limit is for its length.
+ G = np.clip(G, -limit, limit)
## length_without_a_root: You compare the sum of the squares with the limit: the root is missing.
+ G = G * min(1, limit / max(np.square(G).sum(), 1e-300))
## length_of_the_largest_entry: You take the largest entry for the length of the gradient.
+ G = G * min(1, limit / max(np.abs(G).max(), 1e-300))
## mean_square_length: You take the root of the mean square for the length; take that of the sum.
+ G = G * min(1, limit / max(np.sqrt(np.square(G).mean()), 1e-300))
## limit_after_the_rate: You shorten the gradient times the rate; the limit is for the gradient alone.
+ G = G * min(1, limit / max(rate * np.linalg.norm(G), 1e-300))
## decay_without_the_rate: You take the decay off as it is; multiply it by the rate, as you do with the gradient.
- return W - rate * (G + decay * W)
+ return W - rate * G - decay * W
## decay_after_the_step: You let the new W decay; it is the old one that does.
+ return (W - rate * G) * (1 - rate * decay)
## decay_before_the_gradient: You shrink W before you take the gradient; take it at the W that came.
  def as_often_written(W, shards, rate, limit, decay):
+     W = (1 - rate * decay) * W
- return W - rate * (G + decay * W)
+ return W - rate * G
## no_decay: There is no decay in your step.
- return W - rate * (G + decay * W)
+ return W - rate * G
## decay_for_each_worker: Your GPUs each let W decay; do it once.
+ return W - rate * (G + len(shards) * decay * W)
## decay_lost_at_the_limit: Where the gradient is shortened your step leaves out the decay.
+ return W - rate * (G + (np.linalg.norm(G) < limit * (1 - 1e-9)) * decay * W)
## decay_upwards: Your decay lets W grow.
+ return W - rate * (G - decay * W)
## empty_shards_are_nan: Your mean over a GPU without tokens is 0 / 0, and spoils the rest.
- n_tokens = sum(X.shape[1] for X, _ in shards)
- G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
+ n = np.array([X.shape[1] for X, _ in shards])
+ with np.errstate(all="ignore"):
+     G = sum(k * (2 * (W @ X - Y) @ X.T / np.float64(k)) for k, (X, Y) in zip(n, shards, strict=True)) / n.sum()
## zero_gradient_is_nan: Where W fits already the gradient is 0, and you divide by its length.
- G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
+ with np.errstate(all="ignore"):
+     G = G / np.linalg.norm(G) * min(np.linalg.norm(G), limit)
## written_into_w: You write into W, and the caller's weights are gone.
- return W - rate * (G + decay * W)
+ W -= rate * (G + decay * W)
+ return W
## first_worker_only: Only the first GPU's tokens enter your step.
- n_tokens = sum(X.shape[1] for X, _ in shards)
- G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
+ X, Y = next((X, Y) for X, Y in shards if X.shape[1])
+ G = 2 * (W @ X - Y) @ X.T / X.shape[1]
## multiplied_by_the_limit: You multiply a gradient that is too long by the limit, and do not divide it by its length.
- G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
+ G = G * (limit if np.linalg.norm(G) > limit else 1)
## largest_singular_value: `np.linalg.norm(G, 2)` is the largest singular value; the length is √ΣG².
+ G = G * min(1, limit / max(np.linalg.norm(G, 2), 1e-300))
## weighted_twice: You weight sums by the GPUs' shares; a sum holds the number of its tokens already.
- G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
+ G = 2 * sum(X.shape[1] / n_tokens * (W @ X - Y) @ X.T for X, Y in shards)
## a_little_below_the_limit: You add 0.000001 to the length, as PyTorch does; scale to the limit itself here.
- G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
+ G = G * min(1, limit / (np.linalg.norm(G) + 1e-6))
## columns_clipped: You limit every column of the gradient by itself, which turns it; the limit is for the whole.
+ G = G * np.minimum(1, limit / np.maximum(np.linalg.norm(G, axis=0), 1e-300))
## divided_by_features: You divide by the number of features, `len(X)`; tokens are the columns of X.
- n_tokens = sum(X.shape[1] for X, _ in shards)
- G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
+ X, Y = (np.concatenate(arrays, axis=1) for arrays in zip(*shards, strict=True))
+ G = 2 * (W @ X - Y) @ X.T / len(X)
## divided_twice: You divide twice, by all tokens and by the number of GPUs.
- G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
+ G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens / len(shards)
""")
