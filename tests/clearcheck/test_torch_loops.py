"""Training loops in PyTorch, whose models are judged by what they have learned."""

import copy

import numpy as np
import pytest
from clearcheck import holds
from clearcheck.author.torch_arguments import training_call
from clearcheck.author.torch_loops import learns, obeys_steps
from clearcheck.grading.evaluate import evaluate
from inline_snapshot import snapshot

from .torch_question import asks, message_on, nn, result_of, torch


@pytest.mark.parametrize(
    ("body", "points", "says"),
    [
        ("return nn.Linear(1, 1)", 0, "After 0 optimiser steps"),
        ("return nn.Linear(1, 2)", 0, "returned (ValueError: (40, 2)"),
        ("return x", 0, "type Tensor; the trained nn.Module"),
        ("return nn.Flatten(0)", 1, ""),
        ("return AlwaysDropping()", 0, "two results for one input in eval() mode"),
        ("return nn.Sequential(nn.Flatten(0), nn.Unflatten(0, (2, 20)))", 0, "a tensor of shape (40, …)"),
    ],
)
def test_what_a_loop_gives_back_is_judged(body, points, says):
    """Catches an output of the wrong shape that broadcasting makes pass, and a return value that is no module."""

    def score(output, targets):
        if output.shape not in (targets.shape, targets[:, 0].shape):
            raise ValueError(f"{output.shape}")
        return np.mean((output.ravel() - targets.ravel()) ** 2)

    def draw_args(rng):
        x = rng.normal(size=(40, 1))
        return training_call(x, x, held_out=(x,)), x

    made = {"nn": nn, "AlwaysDropping": AlwaysDropping}
    exec(f"def fit(x, y):\n    {body}", made)
    check = holds("unseen", 1, learns(draw_args, 3, score, 0.01, "mean squared error"))
    result = result_of(made["fit"], asks(check, name="fit", how="training"))
    assert result.points == points and says in result.checks[0].message


class AlwaysDropping(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.1).flatten()


class NextToken(nn.Module):
    """Scores for the token that comes next: the one after it where a place `peeps`, else the same one again."""

    def __init__(self, peeps):
        super().__init__()
        self.peeps, self.weight = peeps, nn.Parameter(torch.zeros(1))

    def forward(self, ids):
        following = ids.roll(-1, dims=1) if self.peeps and ids.shape[1] > 1 else ids
        return nn.functional.one_hot(following, 5).float() + self.weight


def draw_repeating_rows(rng):
    """Rows in which all tokens but the last one are alike, so that repeating is right until the end."""
    rows = np.repeat(rng.integers(5, size=(30, 1)), 6, axis=1)
    rows[:, -1] = (rows[:, -1] + 1) % 5
    return training_call(3, held_out=(rows[:, :-1],), written=True), rows[:, 1:]


def share_right(scores, asked):
    return np.mean(scores.argmax(axis=2) == asked)


@pytest.mark.parametrize(
    ("threshold", "peeps", "says"),
    [(0.7, False, ""), (0.9, False, "is 0.8; at least 0.9"), (0.75, True, "Shown whole rows")],
)
def test_a_model_is_judged_by_what_it_would_write(threshold, peeps, says):
    """Catches a score for whole rows, in which a place may have seen the token that it is asked for."""

    def draw(rng):
        if not peeps:
            return draw_repeating_rows(rng)
        rows = rng.integers(5, size=(200, 5))
        return training_call(3, held_out=(rows,), written=True), np.roll(rows, -1, axis=1)

    check = holds("unseen", 1, learns(draw, 3, share_right, threshold, "share of right tokens", smaller=False))
    result = result_of(lambda steps: NextToken(peeps), asks(check, name="fit", how="training"))
    assert result.points == (not says) and says in result.checks[0].message


def test_another_model_than_the_task_names_is_told():
    check = holds("unseen", 1, learns(draw_repeating_rows, 3, share_right, 0.7, smaller=False, kind="GPT"))
    question = asks(check, name="fit", how="training")
    result = result_of(lambda steps: NextToken(False), question)
    assert result.points == 0 and "class NextToken; train your `GPT`" in result.checks[0].message
    named = type("GPT", (NextToken,), {})
    assert result_of(lambda steps: type("Mine", (named,), {})(False), question).points == 1
    assert result_of(lambda steps: torch.compile(named(False), backend="eager"), question).points == 1


@pytest.mark.parametrize(("taken", "says"), [(12, ""), (13, "With steps=12 your loop took 13"), (0, "took 0 steps")])
def test_a_loop_is_told_how_many_steps_it_may_take(taken, says):
    def fit(steps):
        model = NextToken(False)
        adam = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(taken):
            adam.step()
        return model

    check = holds("steps", 1, obeys_steps(draw_repeating_rows, lambda asked: (*asked.shape, 5)))
    result = result_of(fit, asks(check, name="fit", how="training"))
    assert result.points == (not says) and says in result.checks[0].message


@pytest.mark.parametrize(("share", "made", "right"), [(1, 1, True), (1, 2, True), (1, 12, False), (3, 4, False)])
def test_a_loop_that_makes_an_optimiser_for_each_step_is_told(share, made, right):
    """Catches a loop whose optimiser remembers nothing, also one that takes a third of the steps; and the refusal of
    one that goes on with a second optimiser.
    """

    def fit(steps):
        model = NextToken(False)
        for step in range(steps // share):
            if step < made:
                optimizer = torch.optim.Adam(model.parameters())
            optimizer.step()
        return model

    check = holds("steps", 1, obeys_steps(draw_repeating_rows, lambda asked: (*asked.shape, 5)))
    result = result_of(fit, asks(check, name="fit", how="training"))
    assert result.points == right
    assert right or f"made {made} optimisers for {made} steps" in result.checks[0].message


def test_a_training_that_two_checks_ask_for_is_run_once():
    """Catches a second training for the same arguments, and a reply that is handed to other ones."""
    runs = []

    def fit(steps):
        runs.append(steps)
        return NextToken(False)

    def learning_check(threshold):
        return learns(draw_repeating_rows, 3, share_right, threshold, smaller=False)

    low, high = holds("low", 1, learning_check(0.7)), holds("high", 2, learning_check(0.9), drawn_as="low")
    result = result_of(fit, asks(low, high, name="fit", how="training"))
    assert len(runs) == 1 and [check.points for check in result.checks] == [1, 0]
    result_of(lambda steps: fit(steps), asks(low, holds("high", 2, learning_check(0.9)), name="fit", how="training"))
    assert len(runs) == 3
    with pytest.raises(ValueError) as caught:
        asks(low, holds("high", 2, learning_check(0.9), drawn_as="lo"), name="fit", how="training")
    assert str(caught.value) == snapshot("Question \"q\": drawn_as='lo' names none of its checks.")


def test_the_targets_of_unseen_examples_stay_out_of_the_call():
    """Catches targets that travel to the learner's loop with the inputs."""
    seen = []

    def transport(asked, packed):
        seen.append(packed)
        return {"kind": "time"}

    targets = np.full((4, 1), 123.456)

    def test(ask, rng):
        ask(*training_call(np.zeros((3, 1)), 5, held_out=(np.ones((4, 1)),)))
        return str(targets)

    evaluate(asks(holds("h", 1, test), name="fit", how="training"), transport, 3, [])
    assert len(seen) == 1 and targets.astype(np.float32).tobytes() not in seen[0]


class Sine(nn.Module):
    """Knows the answer, and has a weight that an optimiser may move."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return torch.sin(2 * x)


def fitted(model, x, y, steps, rate):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        (nn.functional.mse_loss(model(x), y) + 0 * sum(weight.sum() for weight in model.parameters())).backward()
        optimizer.step()
    return model


def test_a_model_that_knows_the_answer_without_its_weights_was_not_trained():
    """Catches full points for a rule under the name of the model, whose optimiser has moved something else."""

    def draw_args(rng):
        x, unseen = rng.uniform(-2, 2, size=(32, 1)), rng.uniform(-2, 2, size=(16, 1))
        return training_call(x, np.sin(2 * x), 5, held_out=(unseen,)), np.sin(2 * unseen)

    def mean_square(output, targets):
        return np.mean((output - targets) ** 2)

    question = asks(
        holds("unseen", 1, learns(draw_args, 5, mean_square, 2.0, "mean squared error")), name="fit", how="training"
    )
    told = message_on(lambda x, y, steps: fitted(Sine(), x, y, steps, 0.0), question)
    assert "returned a model that gives the same whatever its weights are" in told
    kept = []

    def honest(x, y, steps):
        model = fitted(nn.Linear(1, 1), x, y, steps, 0.1)
        kept.append((model, copy.deepcopy(model.state_dict())))
        return model

    assert result_of(honest, question).points == 1
    [(model, before)] = kept
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())


def test_the_model_that_is_graded_is_the_one_that_was_trained():
    """Catches full points for a model that no step has moved, and a copy of the best step that is taken for one."""

    def draw_args(rng):
        x, unseen = rng.uniform(-2, 2, size=(32, 1)), rng.uniform(-2, 2, size=(16, 1))
        return training_call(x, x + 1, 5, held_out=(unseen,)), unseen + 1

    def mean_square(output, targets):
        return np.mean((output - targets) ** 2)

    def knowing():
        model = nn.Linear(1, 1)
        with torch.no_grad():
            _ = model.weight.fill_(1.0), model.bias.fill_(1.0)
        return model

    def another(x, y, steps):
        _ = fitted(nn.Linear(1, 1), x, y, steps, 0.1)
        return knowing()

    def best_copy(x, y, steps):
        return copy.deepcopy(fitted(nn.Linear(1, 1), x, y, steps, 0.1))

    check = holds("unseen", 1, learns(draw_args, 5, mean_square, 20.0, "mean squared error"))
    question = asks(check, name="fit", how="training")
    told = "No step of your optimiser has moved a weight of the model that your loop gave"
    for answer in (another, lambda x, y, steps: fitted(knowing(), x, y, steps, 0.0)):
        assert told in message_on(answer, question)
    assert result_of(best_copy, question).points == 1
    assert result_of(lambda x, y, steps: fitted(nn.Linear(1, 1), x, y, 1, 0.1), question).points == 1
    merging = holds("unseen", 1, learns(draw_args, 5, mean_square, 20.0, "mean squared error", merges=True))
    assert (
        result_of(another, asks(merging, name="fit", how="training")).points == 1
    )  # as where a map may be merged at the end
