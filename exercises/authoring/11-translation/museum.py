"""Exercise 11, question museum: repair the museum piece: its loss falls."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, draw_sizes, shape_slip, varied
from clearformer.reference import attention

from .shared import is_near, padded_ids


def scores_reference(p, source, read, padding):
    """One sentence at a time, with the attention of the book's library, tokens in columns."""

    def looked(x, z, maps, mask):
        Q, K, V = ((rows @ W).T for rows, W in zip((x, z, z), maps, strict=False))
        return attention.attend(Q, K, V, mask.T)[0].T @ maps[3]

    rows = []
    for z_ids, x_ids in zip(source, read, strict=True):
        z = p["E"][z_ids] + p["positions"][: len(z_ids)]
        x = p["E"][x_ids] + p["positions"][: len(x_ids)]
        n, m = np.indices((len(x_ids), len(x_ids)))
        x = x + looked(x, x, p["self"], (m <= n) & (x_ids != padding)[None])
        x = x + looked(x, z, p["cross"], np.repeat((z_ids != padding)[None], len(x_ids), axis=0))
        rows.append(x @ p["head"])
    return np.stack(rows)


def translator(rng, D, V, L=17, sharp=1.0):
    def maps():
        W_q, W_k, W_v, W_o = (rng.normal(size=(D, D)) / np.sqrt(D) for _ in range(4))
        return sharp * W_q, W_k, W_v, W_o

    E, positions, head = rng.normal(size=(V, D)), rng.normal(size=(L, D)), rng.normal(size=(D, V)) / np.sqrt(D)
    p = {"E": E, "positions": positions, "head": head}
    return p | {"self": maps(), "cross": maps()}


def draw_translator(rng, sharp=1.0, n_targets=None, n_sources=None, aloof=False):
    """`aloof`: a token scores itself far below 0, so that the first one has nothing better to look at; S is N."""
    B, S, N, D = draw_sizes(rng, 4)
    V, padding = 22, int(rng.integers(21))
    S, N = n_sources or (N if aloof else S), n_targets or N
    p = translator(rng, D, V, sharp=sharp)
    if aloof:
        W_q, _, *rest = p["self"]
        p["self"] = (W_q, -W_q / sharp, *rest)
    return p, padded_ids(rng, B, S, padding), padded_ids(rng, B, N, padding), padding


def scores_slip(came, p, read):
    return shape_slip(came, (*read.shape, p["head"].shape[1]))


def another_word(rng, ids, padding, V=22):
    """The same array with a different word, no padding, in the last real position of row 0."""
    edited = ids.copy()
    choices = [w for w in range(V) if w not in (padding, int(ids[0, -1]))]
    edited[0, -1] = int(rng.choice(choices))
    return edited


def blind_to_the_future(ask, rng):
    p, source, read, padding = draw_translator(rng)
    before = ask(p, source, read, padding)
    if slip := scores_slip(before, p, read):
        return slip
    after = ask(p, source, another_word(rng, read, padding), padding)
    moved = np.abs(after - before).max(axis=(0, 2)) > CLOSE
    if moved[:-1].any():
        n = int(np.flatnonzero(moved)[0])
        return f"After an edit of the last word that is read, your scores change at position {n}, before it."
    if not moved[-1]:
        return "After an edit of the last word that is read, the scores at its position should change; yours do not."
    return None


def reads_the_source(ask, rng):
    p, source, read, padding = draw_translator(rng, sharp=0.1)  # so that no source token is looked at by nobody
    before = ask(p, source, read, padding)
    if slip := scores_slip(before, p, read):
        return slip
    moved = np.abs(ask(p, another_word(rng, source, padding), read, padding) - before).max(axis=2) > CLOSE
    if not moved[0].all():
        n = int(np.flatnonzero(~moved[0])[0])
        return f"After an edit of a source word each score of its sentence should change; yours at position {n} do not."
    if moved[1:].any():
        return "After an edit of one source, scores of another sentence of the batch change."
    return None


def alone_and_in_company(ask, rng):
    p, source, read, padding = draw_translator(rng)
    before = ask(p, source, read, padding)
    if slip := scores_slip(before, p, read):
        return slip
    wider = [np.pad(rows, ((0, 0), (0, 2)), constant_values=padding) for rows in (source, read)]
    if not is_near(ask(p, *wider, padding)[:, : read.shape[1]], before):
        return "With two columns of padding more the old scores must stay as they are; yours change."
    for b in range(3):
        z, w = source[b : b + 1, source[b] != padding], read[b : b + 1, read[b] != padding]
        if not is_near(ask(p, z, w, padding), before[b : b + 1, : w.shape[1]]):
            return f"Sentence {b} alone, without padding, must get the scores that it gets in its batch; yours differ."
    return None


QUESTION = Question(
    id="museum",
    title="Repair the museum piece: its loss falls",
    name="translator_scores",
    minutes=35,
    difficulty=3,
    checks=with_battery(
        equals("values", 4, varied(draw_translator, {}, {}, {"n_targets": 1}, {"n_sources": 1}), scores_reference),
        equals(
            "large scores",
            2,
            varied(draw_translator, {"sharp": 30.0}, {"sharp": 3e4}, {"sharp": 2e4, "aloof": True}),
            scores_reference,
        ),
        holds("blind to the future", 3, blind_to_the_future),
        holds("reads the source", 3, reads_the_source),
        holds("alone and in company", 3, alone_and_in_company),
    ),
    hints=(
        "How can a model predict the next word without translating? Look for it among what it is allowed to look at.",
        "Follow the source through the code. Where does it go in, and does anything that comes out depend on it?",
        "A hidden score has to vanish from the sum of the softmax. What does the exponential make of the "
        "number that is put in its place here?",
    ),
    section="the-translator",
    inputs=Inputs(
        lambda p, z, x, _: dict(zip("BSND", (*z.shape, x.shape[1], p["E"].shape[1]), strict=True)),
        alike=("large scores",),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def three_repairs(p, source, read, padding):
    def look(x, z, maps, seen):
        C = np.einsum("bnd,bsd->bns", x @ maps[0], z @ maps[1]) / np.sqrt(x.shape[2])
        C = np.where(seen, C, -1e300)
        A = np.exp(C - C.max(axis=-1, keepdims=True))
        return (A / A.sum(axis=-1, keepdims=True)) @ (z @ maps[2]) @ maps[3]

    z = p["positions"][: source.shape[1]] + p["E"][source]
    x = p["positions"][: read.shape[1]] + p["E"][read]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + look(x, x, p["self"], past & (read != padding)[:, None])
    return (x + look(x, z, p["cross"], (source != padding)[:, None])) @ p["head"]


@right
def a_sentence_at_a_time(p, source, read, padding):
    def look(x, z, maps, seen):
        scores = (x @ maps[0]) @ (z @ maps[1]).T / len(maps[0]) ** 0.5
        scores = np.where(seen, scores, -np.inf)
        scores = scores - scores.max(axis=1)[:, None]
        weights = np.exp(scores)
        return weights / weights.sum(axis=1)[:, None] @ (z @ maps[2]) @ maps[3]

    texts = []
    for z_ids, x_ids in zip(source, read, strict=True):
        kept = z_ids[z_ids != padding]  # padding is behind, so the positions stay
        z, x = p["E"][kept] + p["positions"][: len(kept)], p["E"][x_ids] + p["positions"][: len(x_ids)]
        x = x + look(x, x, p["self"], np.tril(np.ones((len(x), len(x)))) * (x_ids != padding) > 0)
        x = x + look(x, z, p["cross"], True)
        texts.append(x @ p["head"])
    return np.stack(texts)


@right
def both_attentions_in_a_loop(p, source, read, padding):
    n, m = np.indices((read.shape[1], read.shape[1]))
    own, other = (m <= n) & (read[:, None] != padding), source[:, None] != padding
    positions = p["positions"]
    memory, stream = (p["E"][ids] + positions[: ids.shape[1]][None] for ids in (source, read))
    for name, keys, seen in (("self", None, own), ("cross", memory, other)):
        W_q, W_k, W_v, W_o = p[name]
        keys = stream if keys is None else keys
        scores = stream @ W_q @ np.moveaxis(keys @ W_k, 1, 2) * W_q.shape[1] ** -0.5
        scores = scores + np.where(seen, 0.0, -np.inf)
        powers = np.exp(scores - scores.max(axis=2)[:, :, None])
        stream = stream + powers @ (keys @ W_v) / powers.sum(axis=2)[:, :, None] @ W_o
    return stream @ p["head"]


@right
def as_often_written(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    memory = p["E"][source] + p["positions"][: source.shape[1]]
    x = p["E"][read] + p["positions"][: read.shape[1]]
    in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    past = np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read & past)
    x = x + attend(x, memory, p["cross"], in_source)
    return x @ p["head"]


@wrong(
    "This is the museum piece: it sees what it is to write, never looks at the source, and gives padding a share.",
    section="common-mistakes",
)
def museum_piece(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, 0.0)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    p["E"][source] + p["positions"][: source.shape[1]]
    x = p["E"][read] + p["positions"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read)
    x = x + attend(x, x, p["cross"], in_read)
    return x @ p["head"]


@wrong("Padding is hidden; but every position still sees what comes after it, and the source never comes in.")
def future_seen_source_unread(p, source, read, padding):
    def attend(asking, asked, maps, may_look):
        W_q, W_k, W_v, W_o = maps
        table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
        table = np.where(may_look, table, -1e300)
        powers = np.exp(table - table.max(axis=2, keepdims=True))
        return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o

    p["E"][source] + p["positions"][: source.shape[1]]
    x = p["E"][read] + p["positions"][: read.shape[1]]
    _in_source, in_read = (source != padding)[:, None, :], (read != padding)[:, None, :]
    np.tri(read.shape[1], dtype=bool)
    x = x + attend(x, x, p["self"], in_read)
    x = x + attend(x, x, p["cross"], in_read)
    return x @ p["head"]


wrong.edits("""
# as_often_written
## future_still_seen: The source is read and padding is hidden, but every position still sees the words after it.
- past = np.tri(read.shape[1], dtype=bool)
- x = x + attend(x, x, p["self"], in_read & past)
+ np.tri(read.shape[1], dtype=bool)
+ x = x + attend(x, x, p["self"], in_read)
## source_still_unread: The second attention still asks the target's own words: the source never comes in.
- x = x + attend(x, memory, p["cross"], in_source)
+ x = x + attend(x, x, p["cross"], in_read)
## source_unread_with_triangle: The second attention has a triangle now, but it still asks the target's own words: the
source never comes in.
+ x = x + attend(x, x, p["cross"], in_read & past)
## padding_still_shares: A hidden score becomes 0, and the exponential of 0 is 1: what is hidden still takes its share.
- table = np.where(may_look, table, -1e300)
+ table = np.where(may_look, table, 0.0)
## future_seen_and_padding_shares: The source is read; but every position still sees what comes after it, and hidden
scores of 0 take their share.
- table = np.where(may_look, table, -1e300)
+ table = np.where(may_look, table, 0.0)
- past = np.tri(read.shape[1], dtype=bool)
- x = x + attend(x, x, p["self"], in_read & past)
+ np.tri(read.shape[1], dtype=bool)
+ x = x + attend(x, x, p["self"], in_read)
## padding_shares_source_unread: The triangle is there; but the source never comes in, and hidden scores of 0 take their
share.
- table = np.where(may_look, table, -1e300)
+ table = np.where(may_look, table, 0.0)
- x = x + attend(x, memory, p["cross"], in_source)
+ x = x + attend(x, x, p["cross"], in_read)
## padding_shares_source_unread_past: The second attention asks the target's past instead of the source, and hidden
scores of 0 take their share.
- table = np.where(may_look, table, -1e300)
+ table = np.where(may_look, table, 0.0)
- x = x + attend(x, memory, p["cross"], in_source)
+ x = x + attend(x, x, p["cross"], in_read & past)
## late_mask: You set weights to 0 after the softmax, so that what is hidden stays in its sum.
- table = np.where(may_look, table, -1e300)
...
- return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o
+ return powers / powers.sum(axis=2, keepdims=True) * may_look @ (asked @ W_v) @ W_o
## triangle_across_too: You put a triangle on the way to the source, too; a word may look at all of the source.
- x = x + attend(x, memory, p["cross"], in_source)
+ x = x + attend(x, memory, p["cross"], in_source & np.tri(read.shape[1], source.shape[1], dtype=bool))
## place_not_itself: A position sees what stands before it, but not itself.
- past = np.tri(read.shape[1], dtype=bool)
+ past = np.tri(read.shape[1], k=-1, dtype=bool)
## triangle_too_large: Your triangle reaches one position too far: each position still sees the word that it is to
predict.
+ past = np.tri(read.shape[1], k=1, dtype=bool)
## triangle_on_its_head: Your triangle lies on the wrong side: a position sees what comes and not what was.
+ past = np.tri(read.shape[1], dtype=bool).T
## padding_of_the_source_seen [common-mistakes]: Nothing hides the padding of the source, so a translation depends on
the other sentences of its batch.
- x = x + attend(x, memory, p["cross"], in_source)
+ x = x + attend(x, memory, p["cross"], np.bool_(True))
## padding_of_the_target_seen: You have the triangle, but the positions behind the end still look at padding.
- x = x + attend(x, x, p["self"], in_read & past)
+ x = x + attend(x, x, p["self"], past)
## memory_asks: Your queries come from the memory, and keys and values from the target; it should be the other way
round.
- x = x + attend(x, memory, p["cross"], in_source)
+ x = x + attend(memory, x, p["cross"], in_read)
## memory_asks_itself: The memory looks at itself; take queries from the target.
+ x = x + attend(memory, memory, p["cross"], in_source)
## values_from_the_target: Keys come from the memory and values from the target, and they no longer belong together.
  def attend(asking, asked, maps, may_look):
+     values = asking
- return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o
+ return powers / powers.sum(axis=2, keepdims=True) @ (values @ W_v) @ W_o
## side_by_side: Both attentions start from the same rows; the second should take up what the first has made.
- x = x + attend(x, x, p["self"], in_read & past)
- x = x + attend(x, memory, p["cross"], in_source)
+ x = x + attend(x, x, p["self"], in_read & past) + attend(x, memory, p["cross"], in_source)
## source_first: The source is looked at first and the own words afterwards; reverse the order.
  past = np.tri(read.shape[1], dtype=bool)
+ x = x + attend(x, memory, p["cross"], in_source)
- x = x + attend(x, memory, p["cross"], in_source)
## nothing_added: The result of an attention takes the place of the stream instead of being added to it.
- x = x + attend(x, x, p["self"], in_read & past)
- x = x + attend(x, memory, p["cross"], in_source)
+ x = attend(x, x, p["self"], in_read & past)
+ x = attend(x, memory, p["cross"], in_source)
## nothing_added_across: What the look at the memory gives takes the place of the stream instead of being added to it.
- x = x + attend(x, memory, p["cross"], in_source)
+ x = attend(x, memory, p["cross"], in_source)
## memory_without_places: The memory lacks its positions, so the order of the source is lost.
- memory = p["E"][source] + p["positions"][: source.shape[1]]
+ memory = p["E"][source]
## target_without_places: The tokens that are read lack their positions.
- x = p["E"][read] + p["positions"][: read.shape[1]]
+ x = p["E"][read]
## maps_exchanged: The two attentions use each other's maps.
- x = x + attend(x, x, p["self"], in_read & past)
- x = x + attend(x, memory, p["cross"], in_source)
+ x = x + attend(x, x, p["cross"], in_read & past)
+ x = x + attend(x, memory, p["self"], in_source)
## never_scaled: The scores are not divided by √D.
- table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(W_q.shape[1])
+ table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2)
## scaled_by_the_sources: You divide the scores by the root of the number of tokens that are looked at; divide by √D.
+ table = (asking @ W_q) @ np.swapaxes(asked @ W_k, 1, 2) / np.sqrt(asked.shape[1])
## hidden_by_ten_thousand: You take 10,000 off the hidden scores, and where scores are in the tens of thousands that
does not hide them.
- table = np.where(may_look, table, -1e300)
+ table = table - 1e4 * ~may_look
## too_small_a_number: You put a number like −10⁴ in place of hidden scores, and where scores are in the tens of
thousands that is not low enough.
+ table = np.where(may_look, table, -1e4)
## fifty_thousand_below: You put −50,000 in place of hidden scores; scores in the tens of thousands may be lower still.
+ table = np.where(may_look, table, -5e4)
## attention_overflows: Your exponentials overflow: subtract the largest score first.
- powers = np.exp(table - table.max(axis=2, keepdims=True))
+ powers = np.exp(table)
## maximum_before_hiding: You subtract the largest of all scores, hidden ones included; where a hidden one is huge,
every visible weight becomes 0.
- table = np.where(may_look, table, -1e300)
- powers = np.exp(table - table.max(axis=2, keepdims=True))
+ powers = np.exp(table - table.max(axis=2, keepdims=True)) * may_look
## softmax_over_those_who_look: Your softmax runs over the tokens that look; each of them has to share out its own
weight.
- powers = np.exp(table - table.max(axis=2, keepdims=True))
- return powers / powers.sum(axis=2, keepdims=True) @ (asked @ W_v) @ W_o
+ powers = np.exp(table - table.max(axis=1, keepdims=True))
+ return powers / powers.sum(axis=1, keepdims=True) @ (asked @ W_v) @ W_o
## softmax_at_the_end: You put a softmax behind the head; scores are expected.
- return x @ p["head"]
+ scores = x @ p["head"]
+ scores = np.exp(scores - scores.max(axis=2, keepdims=True))
+ return scores / scores.sum(axis=2, keepdims=True)
## padding_dropped_from_target: Nothing hides padding in the target's look at itself; across, you ask where the target
has padding.
- x = x + attend(x, x, p["self"], in_read & past)
- x = x + attend(x, memory, p["cross"], in_source)
+ x = x + attend(x, x, p["self"], past)
+ x = x + attend(x, memory, p["cross"], np.swapaxes(in_read, 1, 2))
## memory_looks_at_itself_first: You give the memory an attention of its own; it is nothing but rows and positions.
  x = x + attend(x, x, p["self"], in_read & past)
+ memory = memory + attend(memory, memory, p["self"], in_source)
""")
