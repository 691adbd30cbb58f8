"""Exercise 11, question beam: Stretch: the best sentence."""

from copy import deepcopy
from functools import cache, partial

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import varied

from .parts import next_scores
from .shared import tuple_slip


def log_probabilities(p, text):
    row = p["last"][text[-1]] + np.add.reduce(p["earlier"].take(text, axis=0)) / len(text)
    return row - np.logaddexp.reduce(row)


def beam_reference(p, start, end, n_tokens, n_beams, alpha, slip="", log_p_of=None):
    """As the task says it, a candidate at a time; a slip is a way to go wrong, for cases on which it matters."""
    log_p_of = log_p_of or partial(log_probabilities, p)
    totals = {(start,): 0.0}

    def score(text):
        return totals[text] / max(1, len(text) - 1) ** alpha

    beams, set_aside = [(start,)], []
    for _ in range(n_tokens):
        kept = {text: totals[text] for text in beams if text[-1] == end}
        ended = set(kept)
        if slip == "one ended" and kept:
            kept = dict([max(kept.items(), key=lambda one: score(one[0]))])
        for text in [text for text in beams if text[-1] != end]:
            log_p = log_p_of(text)
            alone = slip == "some of every beam" and len(beams) > 1
            for word, more in enumerate(log_p.tolist()):
                if (alone and word != log_p.argmax()) or (slip == "no empty text" and (word, len(text)) == (end, 1)):
                    continue
                kept[*text, word] = totals[text] + more
        totals |= kept
        beams = sorted(kept, key=kept.get if "divided at the end only" in slip else score)[::-1]
        if "ended ones set aside" in slip:
            set_aside += [text for text in beams[:n_beams] if text[-1] == end]
            beams = [text for text in beams if text[-1] != end]
        if slip == "ended never pushed out":
            beams = sorted(beams, key=lambda text: text not in ended)  # those first, else as they were
        beams = beams[:n_beams]
        if slip == "pushed out remembered":
            set_aside += [text for text in beams if text[-1] == end]
        if all(text[-1] == end for text in beams[: 1 if slip == "best ended" else None]):
            break
    if slip == "ended ones preferred":
        beams = [text for text in beams if text[-1] == end] or beams
    best = max(set_aside + beams, key=totals.get if slip == "likeliest at the end" else score)
    return np.array(best[1:]), score(best)


def draw_writer(rng, n_beams, alpha, n_tokens=6, scale=1.0, end_bonus=0.0, at_once=-3.0, V=None):
    """A model of V words; `end_bonus` makes the end likelier after some words, `at_once` after the start."""
    V = V or int(rng.choice([5, 6]))
    start, end = (int(i) for i in rng.permutation(V)[:2])
    last, earlier = 1.2 * rng.normal(size=(V, V)), 0.8 * rng.normal(size=(V, V))
    last[:, end] += end_bonus
    last[start, end] += at_once
    return {"last": scale * last, "earlier": scale * earlier}, start, end, n_tokens, n_beams, alpha


@cache
def telling_from(number, slips, settings, tries=100_000):
    rng, order = np.random.default_rng(number), list(slips)
    for _ in range(tries):  # one or two thousand are enough
        arguments = draw_writer(rng, **dict(settings))
        log_p_of = cache(partial(log_probabilities, arguments[0]))  # right and slips meet the same texts
        found = [tuple(beam_reference(*arguments, log_p_of=log_p_of)[0].tolist())]
        if (found[0][-1] == arguments[2]) == ("ended ones preferred" in slips):
            continue
        for slip in order:
            text = tuple(beam_reference(*arguments, slip, log_p_of)[0].tolist())
            if text in found:
                order.sort(key=slip.__ne__)  # the one that failed is tried first on the next model
                break
            found.append(text)
        else:
            return arguments
    raise ValueError(f"no model was found that tells {slips} apart")


def draw_telling_model(rng, *, slips, among=2**32, **settings):
    """A model on which right and each of the slips lead to different texts, the right one with an end."""
    return deepcopy(telling_from(int(rng.choice(among)), slips, tuple(settings.items())))


NEARLY_ONE = "ended never pushed out", "divided at the end only"  # one model in some ten thousand tells them apart
AT_ONCE = (3, 168, 173, 243, 329, 332, 377)  # these numbers find one among their first hundred


greedy_cases = varied(
    draw_writer,
    {"n_beams": 1, "alpha": 0.0, "end_bonus": 1.0},
    {"n_beams": 1, "alpha": 1.0, "n_tokens": 12, "end_bonus": 5.0, "at_once": -9.0},
    {"n_beams": 1, "alpha": 0.5, "n_tokens": 4, "end_bonus": -4.0},
    {"n_beams": 1, "alpha": 1.25, "n_tokens": 5, "end_bonus": -4.0, "at_once": -9.0},
    {"n_beams": 1, "alpha": 0.0, "n_tokens": 1},
)


sums_of_logs = varied(
    draw_writer,
    {"n_beams": 3, "alpha": 0.0},
    {"n_beams": 4, "alpha": 0.0, "end_bonus": 1.0},
    {"n_beams": 2, "alpha": 0.0, "n_tokens": 5, "end_bonus": -4.0},
    {"n_beams": 5, "alpha": 0.0, "end_bonus": 0.5},
)


normalised = varied(
    draw_telling_model,
    {"slips": ("divided at the end only", "some of every beam"), "n_beams": 3, "alpha": 1.0, "end_bonus": 1.0},
    {"slips": NEARLY_ONE, "among": AT_ONCE, "n_beams": 3, "alpha": 1.0, "end_bonus": 1.0},
    {"slips": ("one ended",), "n_beams": 3, "alpha": 1.0, "end_bonus": 1.0},
    {"slips": ("no empty text",), "n_beams": 3, "alpha": 1.0, "at_once": 2.0},
    {"slips": ("pushed out remembered",), "n_beams": 2, "alpha": 0.5, "end_bonus": 0.5},
    {"slips": ("best ended",), "n_beams": 4, "alpha": 0.6, "end_bonus": 1.0},
    {"slips": ("ended ones set aside",), "n_beams": 2, "alpha": 1.0, "end_bonus": 0.5},
    {"slips": ("ended ones set aside, divided at the end only",), "n_beams": 3, "alpha": 1.0, "end_bonus": 0.5},
    {"slips": ("likeliest at the end", "best ended"), "n_beams": 4, "alpha": 1.0, "end_bonus": 0.5},
    {"slips": ("ended ones preferred", "ended ones set aside"), "n_beams": 3, "alpha": 0.7, "n_tokens": 4},
)


sure_writers = varied(
    draw_writer,
    {"n_beams": 3, "alpha": 0.0, "scale": 30.0},
    {"n_beams": 3, "alpha": 1.0, "scale": 1e4},
)


def text_slip(came):
    if slip := tuple_slip(came, ("the text", "its score")):
        return slip
    if not isinstance(came[0], np.ndarray) or came[0].ndim != 1:
        return "The text should be an array with one axis."
    return None if isinstance(came[1], float | np.floating) else "The score should be one number."


def every_text(p, start, end, n_tokens):
    """All texts of at most n_tokens words that have ended or are as long as that, with their log-probabilities."""
    found, going = {}, {(start,): 0.0}
    for n in range(n_tokens):
        longer = {
            (*t, w): total + float(more) for t, total in going.items() for w, more in enumerate(log_probabilities(p, t))
        }
        found |= {t: total for t, total in longer.items() if t[-1] == end or n == n_tokens - 1}
        going = {t: total for t, total in longer.items() if t[-1] != end}
    return found


def beams_enough(ask, rng):
    """With as many beams as there are texts, nothing is lost; and the more, the likelier is what is found."""
    p, start, end, n_tokens, _, _ = draw_writer(rng, 1, 0.0, n_tokens=3, V=4, end_bonus=1.0)
    texts = every_text(p, start, end, n_tokens)
    best = max(texts, key=texts.get)
    came = ask(p, start, end, n_tokens, 4**3, 0.0)
    if slip := text_slip(came):
        return slip
    if came[0].tolist() != list(best[1:]):
        return "With more beams than there are texts the likeliest of all must be found; you found another."
    if abs(came[1] - texts[best]) > 1e-9 * max(1, abs(texts[best])):
        return "With α = 0 the score is the log-probability of the text; yours is not."
    return more_beams_than_words(ask, rng)


def more_beams_than_words(ask, rng):
    """Of nine texts of two words the ninth best is the beginning of the best of three, and there are eight words."""
    start, end, first, second, third, sure, *others = (int(i) for i in rng.permutation(8))
    probabilities = np.full((8, 8), 1e-4)
    probabilities[start, [first, second, third]] = 0.5, 0.4, 0.1
    for word in (first, second, *others):
        probabilities[word, [first, second, *others]] = 0.25
    probabilities[third, [sure, *others]] = 0.6, 0.2, 0.2
    probabilities[sure, end] = 1.0
    p = {"last": np.log(probabilities / probabilities.sum(axis=1, keepdims=True)), "earlier": np.zeros((8, 8))}
    came = ask(p, start, end, 3, 10, 0.0)
    if slip := text_slip(came):
        return slip
    if came[0].tolist() != [third, sure, end]:
        return "With ten beams and eight words the ninth best text of two words has to be kept; yours is lost."
    return None


def garden_path(ask, rng):
    """A first word that is likely and leads nowhere: one beam follows it, two do not."""
    V = int(rng.choice([5, 6, 7]))
    start, end, tempting, good = (int(i) for i in rng.permutation(V)[:4])
    probabilities = np.full((V, V), 1.0)
    probabilities[:, end] = 3.0 + rng.random(V)
    probabilities[start] = 0.01
    probabilities[start, tempting], probabilities[start, good] = 0.55 + 0.05 * rng.random(), 0.4
    probabilities[good] = 0.01
    probabilities[good, end] = 1.0
    p = {"last": np.log(probabilities / probabilities.sum(axis=1, keepdims=True)), "earlier": np.zeros((V, V))}
    one, two = (ask(p, start, end, 2, n_beams, 0.0) for n_beams in (1, 2))
    if slip := text_slip(one) or text_slip(two):
        return slip
    if one[0].tolist() != [tempting, end]:
        return "One beam should take the likeliest word each time, and yours does not."
    if two[0].tolist() != [good, end]:
        return "A sentence begins with the second likeliest word and is then nearly sure: two beams should find it."
    return next((told for n_beams in (2, 4, 5, 7) if (told := one_beam_short(ask, rng, n_beams))), None)


def one_beam_short(ask, rng, n_beams):
    """The best sentence begins with the likeliest word but n_beams: with so many it is lost, with one more found."""
    V = 23  # so many that no other text of two words is as likely
    start, end, good, *others = (int(i) for i in rng.permutation(V))
    probabilities = np.full((V, V), 1e-6)
    probabilities[start, others[:n_beams]] = 0.95 / n_beams + 1e-3 * rng.random(n_beams)
    probabilities[start, good] = 0.05
    probabilities[good, end] = 1.0
    for word in others:
        probabilities[word, others] = 1.0
    p = {"last": np.log(probabilities / probabilities.sum(axis=1, keepdims=True)), "earlier": np.zeros((V, V))}
    fewer, enough = (ask(p, start, end, 2, n, 0.0) for n in (n_beams, n_beams + 1))
    if slip := text_slip(fewer) or text_slip(enough):
        return slip
    if enough[0].tolist() != [good, end]:
        return f"With {n_beams + 1} beams the sentence behind the likeliest word but {n_beams} should be found."
    if fewer[0].tolist() == [good, end]:
        return f"With {n_beams} beams you find a sentence that only {n_beams + 1} can find: do you keep one beam more?"
    return None


def long_text(ask, rng):
    """All words are nearly alike to this model and it never ends, so that its text has a probability below 1e-308."""
    p, start, end, *_ = draw_writer(rng, 1, 0.0, V=19)
    p = {name: 0.05 * table for name, table in p.items()}
    p["last"][:, end] = -9.0
    for n_tokens in (4, 290):
        text, total = [start], 0.0
        for _ in range(n_tokens):
            log_p = log_probabilities(p, text)
            text.append(int(log_p.argmax()))
            total += float(log_p.max())
        came = ask(p, start, end, n_tokens, 1, 0.0)
        if slip := text_slip(came):
            return slip
        if came[0].tolist() != text[1:]:
            return f"In a text of {n_tokens} words your only beam does not take the likeliest word each time."
        if not abs(came[1] - total) < 1e-9:
            return f"The score of {n_tokens} words should be a sum of {n_tokens} logarithms; yours is {came[1]:.6g}."
    return None


QUESTION = Question(
    id="beam",
    title="Stretch: the best sentence",
    name="best_text",
    minutes=45,
    difficulty=3,
    checks=with_battery(
        equals("one beam", 2, greedy_cases, beam_reference),
        equals("sums of logarithms", 2, sums_of_logs, beam_reference),
        equals("divided by the length", 2, normalised, beam_reference),
        equals("sure models", 1, sure_writers, beam_reference),
        holds("beams enough", 1, beams_enough),
        holds("a garden path", 1, garden_path),
        holds("a long text", 1, long_text),
        off={"ties": "no two texts have the same score", "boundary": "its limits are numbers of beams and words"},
    ),
    hints=(
        "A beam is a text and its log-probability, no more. Write the step that makes all candidates of a "
        "list of beams, and look at what it gives for the example by hand.",
        "Keep what is added up and what is compared apart: log-probabilities are added and never divided, "
        "scores are made of them when candidates are compared.",
        "An ended beam is a candidate as it is: it is not extended, its length and score stay, and others may "
        "still overtake it.",
    ),
    section="greedy-or-beam",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def tuples_of_three(p, start, end, n_tokens, n_beams, alpha):
    beams = [(0.0, 0.0, [start])]  # score, log-probability, text
    for _ in range(n_tokens):
        candidates = []
        for score, total, text in beams:
            if text[-1] == end:
                candidates.append((score, total, text))
                continue
            z = next_scores(p, np.array([text]))[0]
            z = z - z.max()
            for word, log_p in enumerate(z - np.log(np.exp(z).sum())):
                candidates.append(((total + log_p) / len(text) ** alpha, total + log_p, [*text, word]))
        beams = sorted(candidates, key=lambda beam: -beam[0])[:n_beams]
        if all(text[-1] == end for _, _, text in beams):
            break
    return np.array(beams[0][2][1:]), float(beams[0][0])


@right
def arrays_of_beams(p, start, end, n_tokens, n_beams, alpha):
    texts, totals, lengths = np.array([[start]]), np.zeros(1), np.zeros(1)
    for _ in range(n_tokens):
        ended = texts[:, -1] == end
        if np.all(texts[:, -1] == end):
            break
        z = next_scores(p, np.where(texts < 0, 0, texts))
        z = z - z.max(axis=1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        log_p[ended] = np.where(np.arange(log_p.shape[1]) == end, 0.0, -np.inf)
        sums = totals[:, None] + log_p
        longer = np.where(ended, lengths, lengths + 1)
        ranked = np.argsort(-(sums / longer[:, None] ** alpha), axis=None)[:n_beams]
        ranked = ranked[np.isfinite(sums.ravel()[ranked])]
        beam, word = np.unravel_index(ranked, sums.shape)
        texts = np.column_stack([texts[beam], word])
        totals, lengths = sums[beam, word], longer[beam]
    scores = totals / lengths**alpha
    best = scores.argmax()
    return texts[best, 1 : int(lengths[best]) + 1], float(scores[best])


@right
def going_and_ended(p, start, end, n_tokens, n_beams, alpha):
    def rank(entry):
        return entry[1] / (len(entry[0]) - 1) ** alpha

    going, ended = [((start,), 0.0)], []
    for _ in range(n_tokens):
        if not going:
            break
        scores = next_scores(p, [list(text) for text, _ in going])
        largest = scores.max(axis=1)
        log_sums = largest + np.log(np.exp(scores - largest[:, None]).sum(axis=1))
        longer = [
            ((*text, word), total + scores[i, word] - log_sums[i])
            for i, (text, total) in enumerate(going)
            for word in range(scores.shape[1])
        ]
        kept = sorted(ended + longer, key=rank)[::-1][:n_beams]
        ended = [entry for entry in kept if entry[0][-1] == end]
        going = [entry for entry in kept if entry[0][-1] != end]
    text, total = max(ended + going, key=rank)
    return np.array(text[1:]), float(total / (len(text) - 1) ** alpha)


@right
def as_often_written(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams = [([start], 0.0)]
    for _ in range(n_tokens):
        candidates = [beam for beam in beams if beam[0][-1] == end]
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(text[-1] == end for text, _ in beams):
            break
    best = max(beams, key=score)
    return np.array(best[0][1:]), float(score(best))


@wrong(
    "Ended beams are set aside and give their place to others; here they stay among the beams, and may be thrown out."
)
def ended_ones_set_aside(p, start, end, n_tokens, n_beams, alpha):
    def score(beam):
        return beam[1] / (len(beam[0]) - 1) ** alpha

    beams, done = [([start], 0.0)], []
    for _ in range(n_tokens):
        candidates = []
        for text, total in beams:
            if text[-1] != end:
                scores = next_scores(p, np.array([text]))[0]
                log_p = scores - scores.max()
                log_p = log_p - np.log(np.exp(log_p).sum())
                candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
        ranked = sorted(candidates, key=score, reverse=True)
        done += [beam for beam in ranked[:n_beams] if beam[0][-1] == end]
        beams = [beam for beam in ranked if beam[0][-1] != end][:n_beams]
    best = max(done + beams, key=score)
    return np.array(best[0][1:]), float(score(best))


wrong.edits("""
# as_often_written
## written_on_after_the_end: You extend texts behind their end token.
- candidates = [beam for beam in beams if beam[0][-1] == end]
+ candidates = []
- if text[-1] != end:
+ if True:
- if all(text[-1] == end for text, _ in beams):
+ if False:
## divided_in_every_step: You divide twice: what a beam holds has been divided already, and the score divides it again.
- candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
+ summed = total * max(len(text) - 1, 1) ** alpha
+ candidates += [([*text, word], (summed + more) / len(text) ** alpha) for word, more in enumerate(log_p)]
## pushed_out_remembered: You let an ended text win that was pushed out of the beams earlier; what is thrown out stays
out.
- beams = [([start], 0.0)]
+ beams, done = [([start], 0.0)], []
- candidates = [beam for beam in beams if beam[0][-1] == end]
+ candidates = [done.append(beam) or beam for beam in beams if beam[0][-1] == end]
- best = max(beams, key=score)
+ best = max(beams + done, key=score)
## one_ended_kept: Of the beams that have ended you keep the best alone; all should stay among the candidates.
- candidates = [beam for beam in beams if beam[0][-1] == end]
+ ended = [beam for beam in beams if beam[0][-1] == end]
+ candidates = sorted(ended, key=score)[-1:]
## no_empty_text: You never let a text end at once; the end is a word like any other, after the start too.
- candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
+ longer = [([*text, word], total + more) for word, more in enumerate(log_p)]
+ candidates += [beam for beam in longer if beam[0] != [start, end]]
## ended_divided_alone: You divide the ended texts by their length and the others not; compare all candidates by the
same score.
- return beam[1] / (len(beam[0]) - 1) ** alpha
+ return beam[1] / (len(beam[0]) - 1) ** (alpha if beam[0][-1] == end else 0.0)
## wus_form: You divide by ((5 + L)/6) to the power of α, as Wu and others do; here it is L alone.
+ return beam[1] / ((4 + len(beam[0])) / 6) ** alpha
## one_beam_of_each_word: Of two texts that end in the same word you keep the better one alone.
- beams = sorted(candidates, key=score, reverse=True)[:n_beams]
+ by_word = {beam[0][-1]: beam for beam in sorted(candidates, key=score)}
+ beams = sorted(by_word.values(), key=score, reverse=True)[:n_beams]
## greedy_whatever_the_beams: You take the likeliest word each time, however many beams are asked for.
+ beams = sorted(candidates, key=score, reverse=True)[:1]
## scores_without_softmax: You add up raw scores; they are no log-probabilities before a softmax.
- log_p = scores - scores.max()
- log_p = log_p - np.log(np.exp(log_p).sum())
+ log_p = scores
## shifted_alone: You subtract the largest score and add up what is left; for log-probabilities the logarithm of the sum
of the exponentials has to go, too.
+ log_p = scores - scores.max()
## softmax_twice: You take the softmax of something that has been through a softmax already.
+ p_next = np.exp(scores - scores.max())
+ p_next = p_next / p_next.sum()
+ log_p = p_next - np.log(np.exp(p_next).sum())
## probabilities_added: You add up probabilities; those of a text are multiplied, or their logarithms added.
- log_p = log_p - np.log(np.exp(log_p).sum())
+ log_p = np.exp(log_p) / np.exp(log_p).sum()
## probabilities_multiplied: You multiply probabilities and take a logarithm at the end; a product of very small numbers
becomes 0.
- return beam[1] / (len(beam[0]) - 1) ** alpha
+ return np.log(beam[1]) / (len(beam[0]) - 1) ** alpha
- beams = [([start], 0.0)]
+ beams = [([start], 1.0)]
- candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
+ candidates += [([*text, word], total * np.exp(more)) for word, more in enumerate(log_p)]
## search_overflows: Your exponentials overflow: subtract the largest score first.
- log_p = scores - scores.max()
+ log_p = scores
## ended_ones_dropped: Beams that have ended are dropped from the search, and with them short texts that may be best.
- candidates = [beam for beam in beams if beam[0][-1] == end]
+ candidates = []
## first_end_wins: You stop as soon as one beam has ended; another may still become better.
- if all(text[-1] == end for text, _ in beams):
+ if any(text[-1] == end for text, _ in beams):
- best = max(beams, key=score)
+ ended = [beam for beam in beams if beam[0][-1] == end]
+ best = max(ended or beams, key=score)
## best_beam_ended: You stop as soon as the best beam has ended; others may still overtake it.
- if all(text[-1] == end for text, _ in beams):
+ if beams[0][0][-1] == end:
## one_ended_beam_stops: You stop as soon as one beam has ended; all that are kept must have.
+ if any(text[-1] == end for text, _ in beams):
## start_counts: Your L counts the start token, too; count only words that are written.
- return beam[1] / (len(beam[0]) - 1) ** alpha
+ return beam[1] / len(beam[0]) ** alpha
## end_does_not_count: Your L leaves out the end token, a word that was written.
+ return beam[1] / max(sum(word != end for word in beam[0]) - 1, 1) ** alpha
## divided_at_the_end_only: While searching you compare log-probabilities as they are, and divide by the length only at
the end.
- beams = sorted(candidates, key=score, reverse=True)[:n_beams]
+ beams = sorted(candidates, key=lambda beam: beam[1], reverse=True)[:n_beams]
## never_divided: The length is not used: α has no effect.
- return beam[1] / (len(beam[0]) - 1) ** alpha
+ return beam[1]
## alpha_times_length: You divide by α times the length, or by α alone; the length is raised to the power of α.
+ return beam[1] / max(alpha * (len(beam[0]) - 1), 1)
## always_the_mean: You divide by the length whatever α is.
+ return beam[1] / (len(beam[0]) - 1)
## multiplied_by_the_length: You multiply by the length to the power of α instead of dividing.
+ return beam[1] * (len(beam[0]) - 1) ** alpha
## some_of_every_beam: You keep the best extension of each beam, not the best of all candidates; one bad beginning takes
a place from start to end.
- candidates += [([*text, word], total + more) for word, more in enumerate(log_p)]
+ candidates += sorted(
+     [([*text, word], total + more) for word, more in enumerate(log_p)], key=score, reverse=True
+ )[: 1 if len(beams) > 1 else n_beams]
## last_word_alone: You show the model the last word only; what comes next depends on the whole text.
- scores = next_scores(p, np.array([text]))[0]
+ scores = next_scores(p, np.array([text[-1:]]))[0]
## without_the_start: You hand the model the text without its start token.
+ scores = next_scores(p, np.array([text[1:] or text]))[0]
## start_returned: The text that you return begins with the start token.
- return np.array(best[0][1:]), float(score(best))
+ return np.array(best[0]), float(score(best))
## end_cut_off: The text that you return lacks the end token that was written.
+ return np.array([word for word in best[0][1:] if word != end]), float(score(best))
## log_probability_returned: You return the log-probability; the score divides it by L to the power of α.
+ return np.array(best[0][1:]), float(best[1])
## probability_returned: You return the exponential of the score.
+ return np.array(best[0][1:]), float(np.exp(score(best)))
## one_beam_more: You keep one beam more than is asked for.
- beams = sorted(candidates, key=score, reverse=True)[:n_beams]
+ beams = sorted(candidates, key=score, reverse=True)[: n_beams + 1]
## one_beam_more_of_many: Where more than three beams are asked for you keep one more.
+ beams = sorted(candidates, key=score, reverse=True)[: n_beams + (n_beams > 3)]
## worst_kept: You sort the wrong way round and keep the worst candidates.
- beams = sorted(candidates, key=score, reverse=True)[:n_beams]
+ beams = sorted(candidates, key=score)[:n_beams]
## one_step_too_few: One step is missing: a text may have n_tokens words besides its start.
- for _ in range(n_tokens):
+ for _ in range(max(n_tokens - 1, 1)):
## one_step_too_many: You write one word too many: a text has n_tokens words at most, besides its start.
+ for _ in range(n_tokens + 1):
## longest_beam_returned: You return the last beam, or the longest, and not the best.
- best = max(beams, key=score)
+ best = beams[-1]
## likeliest_at_the_end: At the end you choose by log-probability; the score decides here, too.
+ best = max(beams, key=lambda beam: beam[1])
## unfinished_never_returned: You return an ended text even where one that was cut off has the better score.
+ best = max([beam for beam in beams if beam[0][-1] == end] or beams, key=score)
## base_two: Your logarithms have the base 2.
- return np.array(best[0][1:]), float(score(best))
+ return np.array(best[0][1:]), float(score(best) / np.log(2))
""")

wrong.edits("""
# going_and_ended
## ended_never_pushed_out: A beam that has ended is never thrown out; better candidates have to take its place.
- kept = sorted(ended + longer, key=rank)[::-1][:n_beams]
+ kept = ended + sorted(longer, key=rank)[::-1][: n_beams - len(ended)]
""")
