"""Exercise 05, question position-wise: which layer was that?"""

import torch
from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.battery import more_cases, with_battery

from .position_wise_inputs import kinds_of_layers, on_the_limit, records_that_mislead, rounded_records, verdict

QUESTION = Question(
    id="position-wise",
    title="Which layer was that?",
    name="verdict",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("kinds of layers", 6, kinds_of_layers, verdict),
        equals("records that mislead", 5, records_that_mislead, verdict),
        equals("rounding and one token", 3, rounded_records, verdict),
        more={"boundary": more_cases("rounding and one token", on_the_limit)},
        off={
            "ties": "lists of token numbers are sorted to compare them, and equal ones are alike",
            "one of each": "the experiments belong to the outputs, and one token is among the cases",
            "odd sizes": "the experiments belong to the outputs, and odd sizes are drawn",
        },
    ),
    hints=(
        "Take one experiment. If the layer treats every token alone, which rows of Y must its output "
        "consist of, and in which order?",
        "There are two questions to a record: does every experiment agree, and if not, does every experiment "
        "agree that is a reordering? Which property of the list `chosen` makes it one?",
        "A list with a token left out and another one twice can have the right length. And for the rounding, "
        "take one limit for the whole record, from the largest number in Y.",
    ),
    section="position-wise-and-how-to-test-it",
    inputs=Inputs(lambda Y, experiments: dict(zip("ND", Y.shape, strict=True))),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def two_lists(Y, experiments):
    limit = 1e-6 * Y.abs().max()
    agree, agree_on_orders = [], []
    for chosen, came in experiments:
        same = bool(((came - Y[chosen]).abs() <= limit).all())
        agree.append(same)
        if sorted(chosen) == list(range(len(Y))):
            agree_on_orders.append(same)
    return "position-wise" if all(agree) else "equivariant" if all(agree_on_orders) else "neither"


@right
def with_a_matrix(Y, experiments):
    """Choose by multiplying with P, and call it a reordering when P is square with one 1 in every column."""
    N, limit, answer = len(Y), 1e-6 * abs(Y).max(), "position-wise"
    for chosen, came in experiments:
        P = torch.eye(N)[chosen]
        if (P @ Y - came).abs().max() <= limit:
            continue
        if (P.sum(dim=0) == 1).all():
            return "neither"
        answer = "equivariant"
    return answer


@right
def row_by_row(Y, experiments):
    largest, broken = float(Y.abs().max()), set()
    for chosen, came in experiments:
        reordering = len(chosen) == len(Y) == len(set(chosen))
        for place, token in enumerate(chosen):
            if float((came[place] - Y[token]).abs().max()) > largest / 1e6:
                broken.add(reordering)
    if not broken:
        return "position-wise"
    return "neither" if True in broken else "equivariant"


@right
def as_often_written(Y, experiments):
    limit = 1e-6 * Y.abs().max()
    same = [bool((came - Y[c]).abs().max() <= limit) for c, came in experiments]
    tokens = list(range(len(Y)))
    orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
    return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"


@wrong("You look at the reorderings alone, but attention passes these as well.")
def reorderings_alone(Y, experiments):
    limit = 1e-6 * Y.abs().max()
    orders = [(c, came) for c, came in experiments if sorted(c) == list(range(len(Y)))]
    return "position-wise" if all((came - Y[c]).abs().max() <= limit for c, came in orders) else "neither"


@wrong("You undo the reordering where you should repeat it: the list says which tokens went in.")
def the_inverse_order(Y, experiments):
    limit = 1e-6 * Y.abs().max()
    answer = "position-wise"
    for c, came in experiments:
        if sorted(c) == list(range(len(Y))):
            if (came - Y[torch.tensor(c).argsort()]).abs().max() > limit:
                return "neither"
        elif (came - Y[c]).abs().max() > limit:
            answer = "equivariant"
    return answer


@wrong("You undo the order of every list of the right length; where it names a token twice, there is nothing to undo.")
def undone_whatever_it_is(Y, experiments):
    limit = 1e-6 * Y.abs().max()
    answer = "position-wise"
    for c, came in experiments:
        undone = torch.tensor(c).argsort()
        same = came[undone] - Y if len(c) == len(Y) else came - Y[c]
        if same.abs().max() > limit:
            if sorted(c) == list(range(len(Y))):
                return "neither"
            answer = "equivariant"
    return answer


@wrong("You decide by the first experiment and never look at the others.")
def first_experiment(Y, experiments):
    limit = 1e-6 * Y.abs().max()
    c, came = experiments[0]
    if (came - Y[c]).abs().max() <= limit:
        return "position-wise" if sorted(c) != list(range(len(Y))) else "equivariant"
    return "neither"


wrong.edits("""
# as_often_written
## old_places: You compare with the outputs in their old positions, but reordered tokens have reordered outputs.
  tokens = list(range(len(Y)))
+ same = [came.shape == Y.shape and bool((came - Y).abs().max() <= limit) for _, came in experiments]
## absolute_limit: Your limit for rounding does not grow and shrink with the outputs.
+ same = [bool((came - Y[c]).abs().max() <= 1e-6) for c, came in experiments]
## limit_of_each_entry: Your limit differs from entry to entry, and for one near 0 there is hardly any.
+ same = [bool(((came - Y[c]).abs() <= 1e-6 * Y[c].abs()).all()) for c, came in experiments]
## length_decides: You take every list of the right length for a reordering, even one that names a token twice.
- tokens = list(range(len(Y)))
- orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if len(c) == len(Y)]
## sum_or_ends_decide: You go by length and sum, or smallest and largest number; a list with repeats may have these.
- orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if len(c) == len(Y) and sum(c) == sum(tokens)]
## no_gap_decides: You take every list without a gap for a reordering, even one that stops before the last token.
- tokens = list(range(len(Y)))
- orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == tokens]
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if sorted(c) == list(range(len(c)))]
## distinct_decides: You take every list that names no token twice for a reordering, even one that leaves tokens out.
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if len(set(c)) == len(c)]
## all_named_decides: You take every list that names all tokens for a reordering, even one that names a token twice.
+ orders = [ok for ok, (c, _) in zip(same, experiments, strict=True) if set(c) == set(range(len(Y)))]
## names_exchanged: Your two names have changed places: position-wise is the stronger of them.
- return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"
+ return "equivariant" if all(same) else "position-wise" if all(orders) else "neither"
## never_neither: You never say neither, but some layers do not even follow a reordering.
+ return "position-wise" if all(same) else "equivariant"
## never_equivariant: You never say equivariant, but a layer that fails with dropped tokens may follow every reordering.
+ return "position-wise" if all(same) else "neither"
## totals_alone: You compare sums over the tokens alone, but a wrong order leaves these as they are.
  tokens = list(range(len(Y)))
+ same = [bool((came - Y[c]).sum(dim=0).abs().max() <= limit) for c, came in experiments]
## limits_of_allclose: You leave `torch.allclose` its own limits; the question names one limit, taken from the whole
of Y.
+ same = [torch.allclose(came, Y[c]) for c, came in experiments]
## only_with_reorderings: You ask for a reordering before you say equivariant; it is enough that nothing contradicts it.
- return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"
+ return "position-wise" if all(same) else "equivariant" if orders and all(orders) else "neither"
## largest_with_its_sign: Your limit comes from the largest number with its sign; take the size of the numbers.
- limit = 1e-6 * Y.abs().max()
+ limit = 1e-6 * Y.max()
## differences_with_their_signs: You take the largest difference with its sign, so one far below 0 passes.
- same = [bool((came - Y[c]).abs().max() <= limit) for c, came in experiments]
+ same = [bool((came - Y[c]).max() <= limit) for c, came in experiments]
## limit_too_wide: Your limit is wider than a millionth of the largest number, which is what counts as rounding.
- limit = 1e-6 * Y.abs().max()
+ limit = 1e-5 * Y.abs().max()
## relative_limit_left: You give `torch.allclose` your own limit and leave it its relative one, which comes on top.
  tokens = list(range(len(Y)))
+ same = [torch.allclose(came, Y[c], atol=float(limit)) for c, came in experiments]
## limit_of_the_experiment: Your limit comes from the outputs of the experiment; take it from the whole of Y.
- same = [bool((came - Y[c]).abs().max() <= limit) for c, came in experiments]
+ same = [bool((came - Y[c]).abs().max() <= 1e-6 * came.abs().max()) for c, came in experiments]
## limit_of_the_mean: Your limit comes from the mean size of the numbers in Y; take it from the largest.
- limit = 1e-6 * Y.abs().max()
+ limit = 1e-6 * Y.abs().mean()
## first_feature_alone: You compare the first feature of each token alone; a difference in any other one counts as well.
- same = [bool((came - Y[c]).abs().max() <= limit) for c, came in experiments]
+ same = [bool((came - Y[c])[:, 0].abs().max() <= limit) for c, came in experiments]
## mean_difference: You compare the mean of the differences, in which a single wrong number hardly shows.
- same = [bool((came - Y[c]).abs().max() <= limit) for c, came in experiments]
+ same = [bool((came - Y[c]).abs().mean() <= limit) for c, came in experiments]
## empty_record_refutes: You want an experiment before you say position-wise; an empty record contradicts no name.
- return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"
+ return "position-wise" if same and all(same) else "equivariant" if all(orders) else "neither"
## length_of_the_difference: You take all differences together as one length; the limit holds for each number.
- same = [bool((came - Y[c]).abs().max() <= limit) for c, came in experiments]
+ same = [bool((came - Y[c]).norm() <= limit) for c, came in experiments]
## to_the_last_bit: You compare to the last bit, and rounding decides.
+ same = [bool((came == Y[c]).all()) for c, came in experiments]
## any_will_do: One experiment that agrees is enough for you; a single one that does not agree refutes the name.
- return "position-wise" if all(same) else "equivariant" if all(orders) else "neither"
+ return "position-wise" if all(same) else "equivariant" if any(orders) or not orders else "neither"
## truth_value: You return True or False, but there are three answers.
+ return all(same)
# with_a_matrix
## first_failure_decides: You stop at the first experiment that fails; a later one that fails may be a reordering.
- answer = "equivariant"
+ return "equivariant"
## last_failure_decides: The last experiment that fails decides for you; one failing reordering is enough for neither.
- if (P.sum(dim=0) == 1).all():
-     return "neither"
- answer = "equivariant"
+ answer = "neither" if (P.sum(dim=0) == 1).all() else "equivariant"
""")
