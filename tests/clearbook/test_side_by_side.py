"""Copies that are trained side by side: each as if it were alone."""

import pytest
import torch
from clearbook.stacked_models import BETAS, train_copies
from clearformer.models.bert import BERT, BERTConfig
from clearformer.models.gpt import GPT, GPTConfig
from torch import nn

RATES = (0.03, 0.0, 0.02, 0.01)


def fresh_model(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 7), nn.Tanh(), nn.Linear(7, 2))


def draw(generator):
    x = torch.randn(5, 3, generator=generator)
    return x, x[:, :2] * x[:, 2:]


def measure(model, x, y):
    output = model(x)
    return (output - y).square().mean(), output.abs().amax()


def test_each_copy_learns_as_if_it_were_alone():
    losses, largest = train_copies([fresh_model(seed) for seed in (1, 2, 3)], measure, draw, RATES, seed=4)
    model, generator = fresh_model(2), torch.Generator().manual_seed(4)
    optimizer = torch.optim.AdamW(model.parameters(), betas=BETAS, weight_decay=0.0)
    for step, rate in enumerate(RATES):
        loss, top = measure(model, *draw(generator))
        torch.testing.assert_close((losses[step, 1], largest[step, 1]), (loss.detach(), top.detach()))
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize(("kind", "config"), [(GPT, GPTConfig(11, 8, 8, 2, 1)), (BERT, BERTConfig(11, 8, 8, 2, 1))])
def test_a_head_that_is_the_embedding_learns_with_it(kind, config):
    """Catches a frame whose head is no longer tied, and so stays what it was."""
    models = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        models.append(kind(config))

    def surprise(model, ids, targets):
        return (nn.functional.cross_entropy(model(ids).mT, targets),)

    def draw_batch(generator):
        return torch.randint(11, (2, 3, 8), generator=generator).unbind()

    (losses,) = train_copies(models, surprise, draw_batch, RATES)
    for n, model in enumerate(models):
        (alone,) = train_copies([model], surprise, draw_batch, RATES)
        torch.testing.assert_close(losses[:, n], alone[:, 0])
        optimizer, generator = torch.optim.AdamW(model.parameters(), betas=BETAS, weight_decay=0.0), torch.Generator()
        generator.manual_seed(0)
        for step, rate in enumerate(RATES):
            (loss,) = surprise(model, *draw_batch(generator))
            torch.testing.assert_close(losses[step, n], loss.detach())
            optimizer.param_groups[0]["lr"] = rate
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def test_each_copy_may_have_a_rate_of_its_own():
    models = [fresh_model(1), fresh_model(1)]
    both, _ = train_copies(models, measure, draw, [torch.tensor([rate, 2 * rate]) for rate in RATES])
    for copy, factor in enumerate((1, 2)):
        alone, _ = train_copies(models[:1], measure, draw, [factor * rate for rate in RATES])
        torch.testing.assert_close(both[:, copy], alone[:, 0])


def test_the_models_are_left_as_they_were():
    models, expected = [fresh_model(1), fresh_model(2)], [fresh_model(1), fresh_model(2)]
    train_copies(models, measure, draw, RATES)
    for model, other in zip(models, expected, strict=True):
        torch.testing.assert_close(model.state_dict(), other.state_dict())
