"""The coin game: flips that nobody can predict, a small model that tries, and attention with a mask that comes late."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from clearformer.attention import attend, causal_mask
from clearformer.training import TrainConfig, train
from jaxtyping import Float, Int
from torch import Tensor, nn

FLIPS, START, WIDTH = 8, 2, 16  # flips of a game, the token before the first, and the width of the model


class NextFlip(nn.Module):
    """Embedding and positions, a body of blocks of width 16, and one score for each side."""

    def __init__(self, body: nn.Module):
        super().__init__()
        self.embed, self.head = nn.Embedding(START + 1, WIDTH), nn.Linear(WIDTH, 2)
        self.place, self.body = nn.Parameter(0.3 * torch.randn(FLIPS, WIDTH)), body

    def forward(self, seen: Int[Tensor, "B N"]) -> Float[Tensor, "B N 2"]:
        return self.head(self.body(self.embed(seen) + self.place[: seen.shape[1]]))


def flips_and_next(n: int, generator: torch.Generator) -> tuple[Int[Tensor, "n 8"], Int[Tensor, "n 8"]]:
    """The flips before each flip of n games, with a start token in front, and the flips that are asked for."""
    flips = torch.randint(2, (n, FLIPS), generator=generator)
    return torch.cat([torch.full((n, 1), START), flips[:, :-1]], dim=1), flips


def flip_loss(coin: nn.Module, seen: Int[Tensor, "B N"], asked: Int[Tensor, "B N"]) -> Float[Tensor, ""]:
    """The mean cross-entropy, in nats; ln 2 is the least that is possible."""
    return F.cross_entropy(coin(seen).flatten(0, 1), asked.flatten())


def attend_late(
    q: Float[Tensor, "*batch N K"],
    k: Float[Tensor, "*batch N K"],
    v: Float[Tensor, "*batch N Kv"],
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
) -> tuple[Float[Tensor, "*batch N Kv"], Float[Tensor, "*batch N N"]]:
    """Causal attention with the mistake: the weights first, and the mask afterwards."""
    weights = attend(q, k, v)[1] * causal_mask(q.shape[-2])
    return weights @ v, weights


def trained_coin(
    make_body: Callable[[], nn.Module], seed: int = 0, *, n_steps: int = 200
) -> tuple[NextFlip, list[float]]:
    """A trained model, and its loss in each step."""
    torch.manual_seed(seed)
    coin = NextFlip(make_body())
    config = TrainConfig(
        n_steps=n_steps, batch_size=32, seed=seed, learning_rate=0.015, warmup_steps=15, weight_decay=0
    )
    return coin, train(coin, flip_loss, flips_and_next, config, progress=False).losses
