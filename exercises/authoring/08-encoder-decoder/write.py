"""Exercise 08, question write: a decoder that writes with a cache, until every row has its END."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import generation_call, small_encoder_decoder, small_scores

from .parts import END, START

N_SOURCE, N_TARGET, LONGEST = 11, 7, 40
MARGIN = 0.01  # of the best score before the second, so that rounding does not decide


@torch.no_grad()
def reference(model, source, n_tokens=8):
    model.eval()
    memory, mask = model.encode(source)
    ids, cache = torch.full_like(source[:, :1], START), {}
    while ids.shape[1] <= n_tokens and not (ids == END).any(dim=1).all():
        ids = torch.cat([ids, model.decode(ids[:, -1:], memory, mask, cache).argmax(dim=-1)], dim=1)
    return ids[:, 1:]


def draw_model(rng):
    """One that never writes padding or START: its first feature is above 0 everywhere, and speaks against both."""
    model = small_encoder_decoder(rng, N_SOURCE, N_TARGET, 8, LONGEST)
    model["positions"][:, 0] = 5.0
    model["head"][0] = np.where(np.arange(N_TARGET) < END, -50.0, 0.0)
    return model


def foreseen(model, source, n_tokens):
    """The ids of n_tokens steps, how many each row takes to its END, and the least margin of a choice."""
    target, margins = np.full((len(source), 1), START), []
    for _ in range(n_tokens):
        scores = small_scores(model, source, target)[:, -1]
        margins.append(np.diff(np.sort(scores, axis=1)[:, -2:]).min())
        target = np.concatenate([target, scores.argmax(axis=1)[:, None]], axis=1)
    ids, ends = target[:, 1:], target[:, 1:] == END
    return ids, np.where(ends.any(axis=1), ends.argmax(axis=1) + 1, n_tokens + 1), min(margins)


def draw_args(rng, fits, rows=1, n_tokens=9, **options):
    """A model and sources, the first with padding, whose rows come to their END as `fits` wants it."""
    while True:
        model, source = draw_model(rng), rng.integers(1, N_SOURCE, size=(rows, 6))
        source[0, 4:] = 0
        _, needed, margin = foreseen(model, source, n_tokens)
        if fits(needed) and margin > MARGIN:
            return generation_call(model, source, n_tokens, **options)


def one_source(rng):
    """It ends early, with the first token, with the last that may be written, and not at all."""
    wanted = ((9, 4), (9, 1), (5, 5), (4, 5), (1, 2))
    cases = [draw_args(rng, lambda needed, last=last: needed[0] == last, n_tokens=n) for n, last in wanted]
    return [*cases, by_default(rng)]


def by_default(rng):
    """Without the number of tokens: 8 are written, and no END is among them."""
    (plan,) = draw_args(rng, lambda needed: needed[0] > 9)
    return ({**plan, "arguments": plan["arguments"][:1]},)


def several(rng, **options):
    """Four rows that come to their END one after the other."""
    return draw_args(rng, lambda needed: len({*needed}) == 4 and 3 < max(needed) < 9, rows=4, n_tokens=12, **options)


def each_row_to_its_end(ask, rng):
    (plan,) = several(rng)
    source, n_tokens = plan["arguments"]
    expected, needed, _ = foreseen(plan["model"], source, n_tokens)
    came = ask(plan)
    if not isinstance(came, np.ndarray) or came.ndim != 2 or len(came) != len(source) or came.dtype.kind not in "iu":
        return f"For {len(source)} sources ids are expected, a row for each source; yours have {np.shape(came)}."
    for row, (own, right, last) in enumerate(zip(came, expected, needed, strict=True)):
        if len(own) < last:
            return f"Row {row} has its END at position {last - 1}, and your ids stop before it: do all rows go on?"
        if not np.array_equal(own[:last], right[:last]):
            return f"Row {row} should read {right[:last].tolist()} up to its END; yours begins {own[:last].tolist()}."
    return None


def stops_in_time(ask, rng):
    (plan,) = several(rng, gives="record")
    _, needed, _ = foreseen(plan["model"], *plan["arguments"])
    asked = len(ask(plan)["shapes"])
    if asked > max(needed):
        return (
            f"After {max(needed)} tokens all rows had their END, and your function called `decode` {asked} times; with "
            f"n_tokens={plan['arguments'][1]} it may stop before."
        )
    return None if asked == max(needed) else f"`decode` was called {asked} times for {max(needed)} tokens."


def with_the_cache(ask, rng):
    (plan,) = several(rng, gives="record")
    rows, record = len(plan["arguments"][0]), ask(plan)
    if len(record["encoded"]) != 1:
        return (
            f"The source was encoded {len(record['encoded'])} times; once is enough, since the memory does not change."
        )
    longest = max((shape[1] for shape in record["shapes"]), default=0)
    if longest != 1:
        return f"`decode` got up to {longest} tokens a row at once; with a cache the newest one is enough."
    if any(shape[0] != rows for shape in record["shapes"]):
        return f"`decode` got {record['shapes'][-1][0]} rows; the cache holds all {rows}."
    return each_row_to_its_end(ask, rng)


def in_use(ask, rng):
    """The model comes in train() mode, as it does from training."""
    (plan,) = several(rng, training=True, gives="record")
    record = ask(plan)
    if not record["shapes"]:
        return "Your function never called `decode`."
    if any(record["training"]):
        return "The model was called in train() mode, in which dropout acts: call model.eval() before."
    kept = any(record["gradients"])
    return "Gradients were kept while the model wrote: put the calls under torch.no_grad()." if kept else None


QUESTION = Question(
    id="write",
    title="Stretch: write with a cache",
    name="write",
    minutes=30,
    difficulty=3,
    checks=with_battery(
        equals("one source", 4, one_source, reference),
        holds("several sources", 4, each_row_to_its_end),
        holds("stops", 3, stops_in_time),
        holds("with the cache", 4, with_the_cache),
        holds("in use", 2, in_use),
        off={"ties": "no two scores of the models that are drawn are nearly equal"},
    ),
    hints=(
        "What is computed once, before the first token? And of all that has been written, what does `decode` not know "
        "yet?",
        "Before the loop: memory, mask, a column of START, an empty dict. In the loop: the newest column goes in, and "
        "scores for one position come out.",
        "A row has ended when there is an END *anywhere* in it, and the loop ends when this is true of all rows. The "
        "START is yours, not the model's: leave it out of the result.",
    ),
    section="the-kv-cache",
    inputs=Inputs(no_sizes="the sizes are those of a small model and a source", no_softmax="scores are compared"),
    how="generation",
)

right, wrong = answers_to(QUESTION)


@right
def column_by_column(model, source, n_tokens=8):
    model.eval()
    with torch.no_grad():
        memory, shown = model.encode(source)
        newest, found, kept = torch.full((len(source), 1), START), [], {}
        ended = torch.zeros(len(source), dtype=torch.bool)
        while len(found) < n_tokens and not ended.all():
            scores = model.decode(newest, memory, shown, kept)
            newest = scores[:, -1:].argmax(2)
            found.append(newest)
            ended = ended | (newest[:, 0] == END)
        return torch.cat(found, dim=1)


@right
@torch.no_grad()
def into_a_table(model, source, n_tokens=8):
    was = model.training
    model.eval()
    memory, shown = model.encode(source)
    table, cache = source.new_full((len(source), 1 + n_tokens), START), {}
    for n in range(n_tokens):
        table[:, n + 1] = model.decode(table[:, n : n + 1], memory, shown, cache)[:, 0].argmax(-1)
        if bool(table[:, 1 : n + 2].eq(END).any(1).all()):
            break
    model.train(was)
    return table[:, 1 : n + 2]


@right
def filled_up(model, source, n_tokens=8):
    with torch.no_grad():
        memory, shown = model.eval().encode(source)
        last, rows, past = torch.full_like(source[:, 0], START), [], {}
        over = last == END
        for _ in range(n_tokens):
            best = model.decode(last[:, None], memory, shown, past)[:, -1].max(dim=1).indices
            last = torch.where(over, 0, best)
            rows.append(last)
            over |= last == END
            if over.all():
                break
    return torch.stack(rows, dim=1)


wrong.edits("""
# column_by_column
## empty_cache_each_time [what-breaks-it]: The model takes each of your tokens for the first one: hand in the dict of
the step before, not a new one or none.
- scores = model.decode(newest, memory, shown, kept)
+ scores = model.decode(newest, memory, shown, {})
## all_tokens_and_a_cache [what-breaks-it]: You hand in all tokens together with the cache, which has the old ones
already: positions are counted twice.
+ row = torch.cat([torch.full((len(source), 1), START), *found], dim=1)
+ scores = model.decode(row, memory, shown, kept)
## without_a_cache: You read all that has been written again at every step, without a cache.
+ row = torch.cat([torch.full((len(source), 1), START), *found], dim=1)
+ scores = model.decode(row, memory, shown)
## encoded_at_each_step: You encode the source at every step; the memory is the same each time.
+ memory, shown = model.encode(source)
+ scores = model.decode(newest, memory, shown, kept)
## padding_in_sight [the-two-stacks]: You hand in a mask that hides nothing; take the one of `encode`.
+ scores = model.decode(newest, memory, torch.ones_like(shown), kept)
## always_the_start: At every step you hand in START; the model should read what was written last.
+ scores = model.decode(torch.full_like(newest, START), memory, shown, kept)
## least_likely: You take the token with the smallest score.
- newest = scores[:, -1:].argmax(2)
+ newest = scores[:, -1:].argmin(2)
## drawn: You draw the next token; here it is always the likeliest.
+ newest = torch.multinomial(scores[:, -1].softmax(-1), 1)
## one_token_for_all: Every row gets the token of the first row.
+ newest = scores[:, -1:].argmax(2)[:1].expand(len(source), 1)
## first_end_stops_all [train-it]: You stop at the first END in any row; the other rows are not done.
- while len(found) < n_tokens and not ended.all():
+ while len(found) < n_tokens and not ended.any():
## never_stops [train-it]: You write all n_tokens, though every row has had its END: look for END, which ends a row.
+ while len(found) < n_tokens:
## one_more: You write one token more than n_tokens.
+ while len(found) <= n_tokens and not ended.all():
## one_less: You write one token less than n_tokens: START is not counted.
+ while len(found) < n_tokens - 1 and not ended.all():
## end_in_one_step_alone [train-it]: You stop when all rows write END in the same step; a row keeps the END that it had.
- ended = ended | (newest[:, 0] == END)
+ ended = newest[:, 0] == END
## first_row_decides [train-it]: You stop when the first row has its END; the others are not done.
+ ended = ended | (newest[0, 0] == END)
## begins_with_padding: Your decoder begins with 0, which is padding; it begins with START.
- newest, found, kept = torch.full((len(source), 1), START), [], {}
+ newest, found, kept = torch.zeros(len(source), 1, dtype=torch.int64), [], {}
## begins_with_end: Your decoder begins with END; it begins with START.
+ newest, found, kept = torch.full((len(source), 1), END), [], {}
## start_returned: You return START in front of what was written.
- newest, found, kept = torch.full((len(source), 1), START), [], {}
+ newest, found, kept = torch.full((len(source), 1), START), [torch.full((len(source), 1), START)], {}
- while len(found) < n_tokens and not ended.all():
+ while len(found) <= n_tokens and not ended.all():
## end_left_out: The last column is missing from your result, and with it an END.
- return torch.cat(found, dim=1)
+ return torch.cat(found, dim=1)[:, :-1]
## below_one_another: Your tokens stand below one another; the rows of a batch do.
+ return torch.cat(found, dim=0)
## nine_by_default: Without n_tokens you write more than 8 tokens.
- def column_by_column(model, source, n_tokens=8):
+ def column_by_column(model, source, n_tokens=9):
## in_train_mode: The model is not put into eval() mode, and its dropout acts while it writes.
- model.eval()
+ pass
## gradients_kept: You keep gradients while the model writes: that costs memory, and nobody uses them.
- with torch.no_grad():
+ with torch.enable_grad():
## end_not_written: You stop before the last END is written: the row that needs longest lacks it.
- found.append(newest)
- ended = ended | (newest[:, 0] == END)
+ ended = ended | (newest[:, 0] == END)
+ if not ended.all():
+     found.append(newest)
## always_eight: You write up to 8 tokens, whatever `n_tokens` says.
- while len(found) < n_tokens and not ended.all():
+ while len(found) < 8 and not ended.all():
## axis_of_a_column_left: Your result has an axis more: join the columns along axis 1, which they have.
- return torch.cat(found, dim=1)
+ return torch.stack(found, dim=1)
""")
