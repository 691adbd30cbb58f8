"""How surprised a model is: means, sums and bits against one token after another, what does not count, bad targets."""

import math
import re

import pytest
import torch
from clearformer.losses import IGNORED, next_token_loss, next_token_total, surprisal
from clearformer.models.gpt import GPT, GPTConfig
from torch import nn

from tests.clearformer.models import random_module

V, B, N = 13, 3, 7
CONFIG = GPTConfig(V, 19, 24, 6, 2)


def ids(batch=B, n=N):
    return torch.randint(V, (batch, n))


def test_next_token_loss_is_the_mean_surprise():
    """Catches a sum for a mean, and the classes on the wrong axis."""
    model, x, y = random_module(GPT(CONFIG)), ids(), ids()
    p = model(x).softmax(-1).tolist()
    surprises = [-math.log(p[b][n][y[b, n]]) for b in range(B) for n in range(N)]
    assert next_token_loss(model, x, y).item() == pytest.approx(sum(surprises) / len(surprises))
    assert next_token_loss(model, x.int(), y.int()) == next_token_loss(model, x, y)


@pytest.mark.parametrize("targets", [torch.zeros(N, B), torch.zeros(B * N), torch.zeros(B, N - 1)])
def test_targets_of_another_shape_than_the_ids_are_refused(targets):
    """Catches targets whose number is right and whose order is not."""
    with pytest.raises(ValueError, match=rf"targets has shape {re.escape(str(tuple(targets.shape)))}.*\b[BN]\b"):
        next_token_loss(GPT(CONFIG), ids(), targets.long())


@pytest.mark.parametrize("stride", [1, 3, 4, 7, None])
@pytest.mark.parametrize("n_ids", [2, 5, 8, 9, 20, 33])
def test_surprisal_count_every_token_once_with_the_context_promised(n_ids, stride):
    """Against one pass for each token; catches a later window that overwrites an earlier one, and a rest left out."""
    length, model = 7, random_module(GPT(GPTConfig(11, 7, 6, 2, 2)).double())
    ids = torch.randint(11, (n_ids,), generator=torch.Generator().manual_seed(1))
    found = surprisal(model, ids, stride=stride, batch=2)
    step = stride or length // 2
    windows = min(length, n_ids - 1)
    starts = [*range(0, n_ids - 1 - windows, step), n_ids - 1 - windows]
    for n in range(1, n_ids):
        start = next(s for s in starts if n <= s + windows)
        assert n <= windows or n - start > length - step
        expected = -model(ids[None, start:n])[0, -1].log_softmax(-1)[ids[n]] / math.log(2)
        assert found[n - 1].item() == pytest.approx(expected.item(), abs=1e-9)


def test_surprisal_of_a_model_in_half_precision_is_not_rounded():
    """Catches sums over the vocabulary in 8 bits, and bits of information in a dtype that cannot hold them."""
    model = random_module(GPT(GPTConfig(11, 7, 6, 2, 2)), torch.bfloat16)
    model.head = nn.Sequential(nn.Identity(), model.head)  # a head without a weight of its own
    ids = torch.randint(11, (8,), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        log_p = model(ids[None, :-1]).double().log_softmax(-1)[0]
    found = surprisal(model, ids)
    assert found.dtype == torch.float32
    expected = -log_p.gather(1, ids[1:, None])[:, 0] / math.log(2)
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("n_ids", "stride"), [(1, 1), (30, 8)])
def test_surprisal_refuses_what_has_none(n_ids, stride):
    model = GPT(GPTConfig(11, 7, 6, 2, 2))
    with pytest.raises(ValueError, match=f"surprisal: {n_ids} ids with stride={stride}"):
        surprisal(model, torch.zeros(n_ids, dtype=torch.long), stride=stride)
    with pytest.raises(ValueError, match=r"surprisal: stride=0, .*at least 1\b"):
        surprisal(model, torch.zeros(5, dtype=torch.long), stride=0)


def some_ignored():
    """Targets of which every third does not count."""
    targets = ids()
    targets.view(-1)[::3] = IGNORED
    return targets


def test_the_total_is_the_mean_and_how_many_count():
    """Catches targets of -100 that are counted, or add to the sum."""
    model, x, y = random_module(GPT(CONFIG)), ids(), some_ignored()
    log_p = model(x).log_softmax(-1)
    surprises = [-log_p[b, n, y[b, n]].item() for b in range(B) for n in range(N) if y[b, n] != -100]
    total, count = next_token_total(model, x, y)
    assert count == len(surprises) == 14
    assert total.item() == pytest.approx(sum(surprises))
    assert next_token_loss(model, x, y).item() == pytest.approx(sum(surprises) / 14)
    assert next_token_total(model, x.int(), y.int())[0] == total


@pytest.mark.parametrize("loss", [next_token_loss, next_token_total])
@pytest.mark.parametrize("wrong", [V, -1, -99, -101])
def test_a_target_outside_the_vocabulary_is_named(loss, wrong):
    """Catches the first number beyond the vocabulary, and one beside that which does not count."""
    targets = some_ignored()
    targets[1, 2] = wrong
    with pytest.raises(ValueError, match=rf"target {wrong} .*\b0 to 12,.*-100"):
        loss(GPT(CONFIG), ids(), targets)


@pytest.mark.parametrize("loss", [next_token_loss, next_token_total])
def test_the_first_and_the_last_token_are_targets(loss):
    """Catches a range that is too narrow by one."""
    targets = torch.tensor([[0, V - 1, IGNORED]])
    loss(GPT(CONFIG), ids(1, 3), targets)


@pytest.mark.parametrize("n_positions", [1, 2, 3])
def test_surprisal_in_short_windows(n_positions):
    """Catches a stride of half a window that is 0, or longer than half."""
    model = random_module(GPT(GPTConfig(11, n_positions, 6, 2, 2)).double())
    ids = torch.randint(11, (7,), generator=torch.Generator().manual_seed(1))
    assert surprisal(model, ids).tolist() == pytest.approx(surprisal(model, ids, stride=1).tolist(), abs=1e-9)
    with pytest.raises(ValueError, match=rf"stride={n_positions + 1}, .*\b1 to n_positions={n_positions}\b"):
        surprisal(model, ids, stride=n_positions + 1)
