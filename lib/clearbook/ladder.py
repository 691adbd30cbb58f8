"""One text that goes through chapters 3 to 7, and a small model that gets one part more in each of them."""

import inspect
import re
from collections.abc import Callable
from functools import cache

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearbook.data.austen import austen_novels

LETTERS, LENGTH, WIDTH = " abcdefghijklmnopqrstuvwxyz", 16, 32
STEPS, BATCH, RATE = 400, 32, 0.01
Parts = Callable[[], list[nn.Module]]


@cache
def rows() -> tuple[Int[Tensor, "T"], Int[Tensor, "rows length"]]:
    """*Persuasion* in letters and spaces: ids of its first nine tenths, and rows of 17 from the last."""
    text = " ".join(re.findall("[a-z]+", austen_novels()["Persuasion"].lower()))
    ids = torch.tensor([LETTERS.index(letter) for letter in text])
    cut = len(ids) * 9 // 10
    return ids[:cut], ids[cut:].unfold(0, LENGTH + 1, LENGTH)


class Ladder(nn.Module):
    """Embedding, parts, head. Each part gives what is added to the stream, or the whole new one unless ``added``.

    A part whose ``forward`` takes a ``mask`` is given the causal one, True where a letter may look, unless not
    ``causal``.
    """

    def __init__(self, parts: list[nn.Module], positions: nn.Module | None, added: bool, causal: bool = True):
        super().__init__()
        self.letters, self.head = nn.Embedding(len(LETTERS), WIDTH), nn.Linear(WIDTH, len(LETTERS))
        self.parts, self.positions, self.added = nn.ModuleList(parts), positions, added
        self.masked = [causal and "mask" in inspect.signature(part.forward).parameters for part in parts]

    def forward(self, ids: Int[Tensor, "B N"]) -> Float[Tensor, "B N V"]:
        x, n = self.letters(ids), ids.shape[1]
        if self.positions is not None:
            x = x + self.positions(torch.arange(n))
        mask = torch.ones(n, n, dtype=torch.bool).tril()
        for part, masked in zip(self.parts, self.masked, strict=True):
            y = part(x, mask=mask) if masked else part(x)
            x = x + y if self.added else y
        return self.head(x)


class LastLetters(nn.Module):
    """The MLP of the PyTorch page at every place of a row; before its beginning stand spaces."""

    def __init__(self, n_back: int = 8, d_model: int = 16, n_hidden: int = 128):
        super().__init__()
        self.n_back, self.embedding = n_back, nn.Embedding(len(LETTERS), d_model)
        self.up, self.down = nn.Linear(n_back * d_model, n_hidden), nn.Linear(n_hidden, len(LETTERS))

    def forward(self, ids: Int[Tensor, "B N"]) -> Float[Tensor, "B N V"]:
        windows = F.pad(ids, (self.n_back - 1, 0)).unfold(1, self.n_back, 1)  # B N n_back
        return self.down(torch.relu(self.up(self.embedding(windows).flatten(2))))


def letters_loss(
    parts: Parts,
    positions: Callable[[], nn.Module] | None = None,
    *,
    added: bool = True,
    causal: bool = True,
    n_seeds: int = 2,
) -> float:
    """Nats a letter on text that was not trained on, the mean of short trainings that differ by their seeds.

    ``parts`` makes the layers between embedding and head, B × N × 32 to the same; ``positions`` a module that gives
    a vector for each of the positions 0 to 15. Parts that take a mask get the causal one, unless not ``causal``. The
    seeds of whoever calls stay as they are.
    """

    def make() -> nn.Module:
        return Ladder(parts(), positions and positions(), added, causal)

    return sum(loss_of_model(make, seed) for seed in range(n_seeds)) / n_seeds


def loss_of_model(make: Callable[[], nn.Module], seed: int = 0, *, times: int = 1) -> float:
    """The same for one seed and any model that gives scores of the next letter, B × N × 27, for letters, B × N.

    ``times`` as many steps are taken as in `letters_loss`.
    """
    n_steps = STEPS * times
    seen, unseen = rows()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make()
        optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01, fused=True)
        for step in range(n_steps):
            optimizer.param_groups[0]["lr"] = RATE * min((step + 1) / 20, 1.05 - step / n_steps)
            starts = torch.randint(len(seen) - LENGTH, (BATCH, 1))
            loss = _loss(model, seen[starts + torch.arange(LENGTH + 1)])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        return _loss(model.eval(), unseen).item()


def _loss(model: nn.Module, ids: Int[Tensor, "B length"]) -> Float[Tensor, ""]:
    return F.cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:])
