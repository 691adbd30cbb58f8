"""How likely a model found what was written."""

import inspect
import math

import pytest
import torch
from clearformer.generation import beam_search, generate
from clearformer.models.bert import BERT, BERTConfig
from clearformer.scores import log_probabilities

from tests.clearformer.test_generate import translator
from tests.clearformer.writers import EACH, PROMPTS, D, H, N, Successor, V, gpt, prompts


def one_by_one(model, row, n_prompt):
    with torch.no_grad():
        return [model(row[None, :n])[0, -1].log_softmax(-1)[row[n]].item() for n in range(n_prompt, len(row))]


@EACH
def test_each_token_gets_its_own_log_probability(config):
    """Catches logits of the position before or behind, probabilities of the prompt, and padding that is looked at."""
    model = gpt(config)
    rows = generate(model, PROMPTS, 7, stop=3)
    found = log_probabilities(model, PROMPTS, rows)
    for prompt, row, mine in zip(PROMPTS, rows, found, strict=True):
        assert mine.tolist() == pytest.approx(one_by_one(model, row, len(prompt)), abs=1e-12)
    table = generate(model, prompts(), 6)
    expected = [one_by_one(model, row, N) for row in table]
    assert log_probabilities(model, table[:, :N], table).tolist() == [pytest.approx(row, abs=1e-12) for row in expected]


def test_texts_may_be_longer_than_each_other():
    """Catches rows that are cut at the shortest: answers of several lengths to one question."""
    model, question = gpt(), [4, 2]
    answers = [[1], [1, 5, 5, 7, 0, 2], [9, 9]]
    found = log_probabilities(model, [question] * 3, [question + answer for answer in answers])
    for answer, mine in zip(answers, found, strict=True):
        row = torch.tensor(question + answer)
        assert mine.tolist() == pytest.approx(one_by_one(model, row, 2), abs=1e-12)


def test_the_score_of_a_beam_is_the_mean_of_its_log_probabilities():
    model = gpt()
    rows, scores = beam_search(model, PROMPTS, 5, 3)
    means = [row.mean().item() for row in log_probabilities(model, PROMPTS, rows)]
    assert scores.tolist() == pytest.approx(means)


def test_a_translation_has_log_probabilities():
    model = translator().conditioned_on(torch.tensor([[3, 4, 5], [6, 7, 0]]))
    rows, scores = beam_search(model, torch.ones(2, 1).long(), 5, 2, length_penalty=0.0)
    assert log_probabilities(model, torch.ones(2, 1).long(), rows).sum(1).tolist() == pytest.approx(scores.tolist())


def test_half_precision_is_not_rounded_further():
    model = gpt().bfloat16()
    rows = generate(model, prompts(), 3)
    found = log_probabilities(model, rows[:, :N], rows)
    assert found.dtype == torch.float32
    with torch.no_grad():
        expected = model(rows[:, :-1])[:, N - 1 :].float().log_softmax(-1).gather(2, rows[:, N:, None])[..., 0]
    torch.testing.assert_close(found, expected, rtol=0, atol=0.05)


def test_gradients_reach_the_weights():
    model = gpt()
    sum(row.sum() for row in log_probabilities(model, [[1]], [[1, 2, 3]])).backward()
    assert all(p.grad is not None for p in model.parameters())


def test_a_sure_model_gives_no_surprise():
    model = Successor()
    model.head.weight.data *= 1000
    assert log_probabilities(model, [[3]], [[3, 4, 5]])[0].tolist() == [0.0, 0.0]
    assert log_probabilities(model, [[3]], [[3, 4, 4]])[0].tolist()[1] == -1000.0


@pytest.mark.parametrize(
    ("ids", "written", "message"),
    [
        ([[1, 2]], [[1, 2]], "text 0 of written does not begin with its prompt and go on"),
        ([[1, 2]], [[1, 3, 4]], "text 0 of written does not begin"),
        ([[1], [1, 2]], [[1, 2], [2]], "text 1 of written does not begin"),
        ([[1]], [[1, 2], [1, 3]], "2 texts were written to 1 prompts, expected one to each"),
        ([[1]], [[1, V]], f"id {V} is outside the vocabulary"),
        ([[1]], [[1] * 40], "40 tokens, but the model has n_positions=30"),
        ("abc", [[1]], "ids='abc', expected a tensor of ids"),
        ([[1]], [], "no prompts"),
    ],
)
def test_texts_that_were_not_written_are_named(ids, written, message):
    with pytest.raises((TypeError, ValueError), match=f"log_probabilities: {message}"):
        inspect.unwrap(log_probabilities)(gpt(), ids, written)


def test_a_model_that_cannot_write_is_told_what_it_lacks():
    with pytest.raises(TypeError, match="log_probabilities: a BERT has no hidden_states"):
        inspect.unwrap(log_probabilities)(BERT(BERTConfig(V, 9, D, H, 1)), [[1]], [[1, 2]])


def test_nan_stays_nan():
    model = gpt()
    torch.nn.init.constant_(model.decoder.norm.weight, math.nan)
    assert log_probabilities(model, [[1]], [[1, 2]])[0].isnan().all()
