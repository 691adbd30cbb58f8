"""Exercise 10, question pairs: the loss that brings pictures and captions into one space."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, draw_sizes


def log_share_of_own(row, own):
    return row[own] - row.max() - np.log(np.exp(row - row.max()).sum())


def pairs_reference(pictures, captions, tau):
    """Pair by pair, as the formula is written."""
    e = [v / np.sqrt(sum(v**2)) for v in pictures]
    f = [v / np.sqrt(sum(v**2)) for v in captions]
    B, total = len(e), 0.0
    for i in range(B):
        total += log_share_of_own(np.array([e[i] @ f[j] / tau for j in range(B)]), i)
        total += log_share_of_own(np.array([e[j] @ f[i] / tau for j in range(B)]), i)
    return -total / (2 * B)


def draw_args(rng, sizes=None, tau=None):
    """Pairs that lie near one another, vectors of very different lengths."""
    B, D = sizes or draw_sizes(rng, 2)
    pictures = rng.normal(size=(B, D))
    captions = pictures + rng.normal(size=(B, D))
    lengths = rng.uniform(0.2, 5.0, size=(2, B, 1))
    return pictures * lengths[0], captions * lengths[1], float(rng.uniform(0.1, 0.9) if tau is None else tau)


def ordinary_pairs(rng):
    return [draw_args(rng), draw_args(rng, tau=1.0), draw_args(rng, tau=0.07)]


def special_pairs(rng):
    """One pair alone, one feature, as many pairs as features, and scores in the tens of thousands."""
    return [draw_args(rng, sizes) for sizes in ((1, 5), (4, 1), (5, 5))] + [draw_args(rng, tau=1e-4)]


def what_does_not_matter(ask, rng):
    pictures, captions, tau = draw_args(rng)
    came = ask(pictures, captions, tau)
    if np.ndim(came) or not np.isfinite(came):
        return f"The result should be one number, and is {came!r:.60}."
    order = rng.permutation(len(pictures))
    for others, said in (
        ((3 * pictures, captions), "Pictures with vectors three times as long point in the same directions"),
        ((pictures, captions / 7), "Captions with vectors a seventh as long point in the same directions"),
        ((captions, pictures), "When pictures and captions change places, rows and columns do"),
        ((pictures[order], captions[order]), "Pairs in another order are the same pairs"),
    ):
        then = ask(*others, tau)
        if not np.isclose(then, came, rtol=CLOSE, atol=CLOSE):
            return f"{said}, so the loss should stay {came:.6g}; yours becomes {then:.6g}."
    return None


QUESTION = Question(
    id="pairs",
    title="Which caption, which picture",
    name="pairs_loss",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("values", 3, ordinary_pairs, pairs_reference),
        equals("one pair, one feature, sharp scores", 3, special_pairs, pairs_reference),
        holds("what does not matter", 2, what_does_not_matter),
    ),
    hints=(
        "First bring every vector to length 1. Then one product gives the whole B×B table of scores.",
        "The right ones stand on the diagonal. Take the log-softmax of the table twice, once along its rows and once "
        "along its columns, and read the diagonal of both.",
        "Subtract the largest score of the row, or of the column, before np.exp; or let np.logaddexp.reduce do it "
        "with its `axis`.",
    ),
    section="a-picture-and-its-caption",
    inputs=Inputs(
        lambda pictures, captions, tau: dict(zip("BD", pictures.shape, strict=True)),
        alike=("one pair, one feature, sharp scores",),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def as_often_written(pictures, captions, tau):
    e = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
    f = captions / np.linalg.norm(captions, axis=1, keepdims=True)
    scores = e @ f.T / tau
    own = np.diag(scores)
    by_rows = np.logaddexp.reduce(scores, axis=1) - own
    by_columns = np.logaddexp.reduce(scores, axis=0) - own
    return (by_rows.mean() + by_columns.mean()) / 2


@right
def two_cross_entropies(pictures, captions, tau):
    def cross_entropy(table):
        table = table - table.max(axis=1, keepdims=True)
        log_shares = table - np.log(np.exp(table).sum(axis=1, keepdims=True))
        return -np.mean(log_shares[np.arange(len(table)), np.arange(len(table))])

    lengths = np.outer(np.sqrt((pictures**2).sum(axis=1)), np.sqrt((captions**2).sum(axis=1)))
    table = np.einsum("id,jd->ij", pictures, captions) / lengths / tau
    return 0.5 * (cross_entropy(table) + cross_entropy(table.T))


@right
def pair_after_pair(pictures, captions, tau):
    total = 0.0
    for one, others in ((pictures, captions), (captions, pictures)):
        for i, vector in enumerate(one):
            scores = others @ vector / np.sqrt(np.sum(others**2, axis=1)) / np.sqrt(np.sum(vector**2)) / tau
            gaps = scores - scores[i]
            total += gaps.max() + np.log(np.sum(np.exp(gaps - gaps.max())))
    return total / len(pictures) / 2


wrong.edits("""
# as_often_written
## only_rows [common-mistakes]: You ask only which caption fits a picture; the loss also asks which picture fits a
caption.
- return (by_rows.mean() + by_columns.mean()) / 2
+ return by_rows.mean()
## only_columns: You ask only which picture fits a caption; the loss also asks which caption fits a picture.
+ return by_columns.mean()
## not_halved: Your loss is twice as large: it is the mean of two cross-entropies, not their sum.
+ return by_rows.mean() + by_columns.mean()
## summed_over_pairs: You sum over the pairs; the loss is their mean.
+ return (by_rows.sum() + by_columns.sum()) / 2
## sign_lost: Your loss has the wrong sign: it should be small where each picture finds its own caption, and never below
0.
+ return -(by_rows.mean() + by_columns.mean()) / 2
## lengths_kept [common-mistakes]: You take the vectors as they are; each is to be scaled to length 1 first.
- e = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
- f = captions / np.linalg.norm(captions, axis=1, keepdims=True)
+ e, f = pictures, captions
## captions_keep_their_length: You scale the pictures to length 1, but not the captions.
- f = captions / np.linalg.norm(captions, axis=1, keepdims=True)
+ f = captions
## pictures_keep_their_length: You scale the captions to length 1, but not the pictures.
- e = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
+ e = pictures
## one_length_for_all: You divide by the length of the whole array; each vector has its own.
- e = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
- f = captions / np.linalg.norm(captions, axis=1, keepdims=True)
+ e = pictures / np.linalg.norm(pictures)
+ f = captions / np.linalg.norm(captions)
## scaled_along_the_batch: You scale each feature over the batch; each vector is to have length 1.
- e = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
- f = captions / np.linalg.norm(captions, axis=1, keepdims=True)
+ e = pictures / np.linalg.norm(pictures, axis=0, keepdims=True)
+ f = captions / np.linalg.norm(captions, axis=0, keepdims=True)
## divided_by_the_square: You divide a vector by the sum of its squares: the root is missing.
- e = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
- f = captions / np.linalg.norm(captions, axis=1, keepdims=True)
+ e = pictures / (pictures**2).sum(axis=1, keepdims=True)
+ f = captions / (captions**2).sum(axis=1, keepdims=True)
## absolute_lengths: You divide by the sum of the absolute values; the length is the root of the sum of squares.
- e = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
- f = captions / np.linalg.norm(captions, axis=1, keepdims=True)
+ e = pictures / np.abs(pictures).sum(axis=1, keepdims=True)
+ f = captions / np.abs(captions).sum(axis=1, keepdims=True)
## times_tau: You multiply the scores by τ; they are divided by it, so that a small τ makes them sharp.
- scores = e @ f.T / tau
+ scores = e @ f.T * tau
## no_tau: You do not use τ.
+ scores = e @ f.T
## root_of_tau: You divide by the root of τ.
+ scores = e @ f.T / np.sqrt(tau)
## scaled_by_features: You divide by √D besides, as attention does; vectors of length 1 need no such factor.
+ scores = e @ f.T / tau / np.sqrt(e.shape[1])
## pictures_with_pictures: Your table holds pictures against pictures; its columns should be captions.
+ scores = e @ e.T / tau
## overflows [common-mistakes]: With a small τ np.exp overflows; subtract the largest score first.
- by_rows = np.logaddexp.reduce(scores, axis=1) - own
- by_columns = np.logaddexp.reduce(scores, axis=0) - own
+ by_rows = np.log(np.exp(scores).sum(axis=1)) - own
+ by_columns = np.log(np.exp(scores).sum(axis=0)) - own
## share_not_its_log: You average the softmax's shares; the loss is minus their logarithm.
- return (by_rows.mean() + by_columns.mean()) / 2
+ return (np.exp(-by_rows).mean() + np.exp(-by_columns).mean()) / 2
## mean_before_the_log: You take the logarithm of the mean share; the loss is the mean of the logarithms.
+ return -(np.log(np.exp(-by_rows).mean()) + np.log(np.exp(-by_columns).mean())) / 2
## softmax_of_the_whole_table: You take one softmax over the whole table; each row, and each column, has its own.
- by_rows = np.logaddexp.reduce(scores, axis=1) - own
- by_columns = np.logaddexp.reduce(scores, axis=0) - own
+ by_rows = by_columns = np.logaddexp.reduce(scores, axis=None) - own
## own_pair_left_out: You leave the right caption out of the sum below the fraction; it belongs there, too.
- by_rows = np.logaddexp.reduce(scores, axis=1) - own
- by_columns = np.logaddexp.reduce(scores, axis=0) - own
+ others = np.where(np.eye(len(own), dtype=bool), -np.inf, scores)
+ by_rows = np.logaddexp.reduce(others, axis=1) - own
+ by_columns = np.logaddexp.reduce(others, axis=0) - own
## every_score_counts: You average over the whole table of log-shares; only the right pairs, on the diagonal, count.
- by_rows = np.logaddexp.reduce(scores, axis=1) - own
- by_columns = np.logaddexp.reduce(scores, axis=0) - own
+ by_rows = (np.logaddexp.reduce(scores, axis=1)[:, None] - scores)
+ by_columns = (np.logaddexp.reduce(scores, axis=0) - scores)
""")
