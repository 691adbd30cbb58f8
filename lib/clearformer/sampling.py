"""How the next token is chosen from the logits: which tokens are left, which are made less likely, and the draw."""

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.checks import check_function, check_real, check_whole, shorten
from clearformer.shapes import extremes, shaped

SHARES = "above 0, at most 1"
TEMPERATURES = "0 (the likeliest token) or at least 1e-6"  # below it logits overflow when they are divided

Adjust = Callable[[Float[Tensor, "B V"], Int[Tensor, "B new"]], Float[Tensor, "B V"]]


class Choice:
    """The settings by which ``generate`` chooses, looked at once; called with logits it gives tokens."""

    def __init__(self, caller: str, temperature, top_k, top_p, adjust, generator):
        self.caller = caller
        self.temperature = check_real(caller, "temperature", temperature, _is_temperature, TEMPERATURES)
        self.top_k = None if top_k is None else check_whole(caller, "top_k", top_k)
        self.top_p = None if top_p is None else check_real(caller, "top_p", top_p, _is_share, SHARES)
        if self.temperature == 0 and (top_k is not None or top_p is not None):
            raise ValueError(
                f"{caller}: top_k={top_k} and top_p={top_p} do nothing at temperature=0. Pass one above 0."
            )
        if not isinstance(generator, torch.Generator | None):
            raise TypeError(
                f"{caller}: generator={shorten(generator)}, expected a torch.Generator: "
                "torch.Generator().manual_seed(0)."
            )
        example = "lambda logits, new: keep_min_p(logits, 0.1)"
        self.adjust = None if adjust is None else check_function(caller, "adjust", adjust, example)
        self.generator = generator

    def __call__(self, logits: Tensor, state: Any, running: Tensor) -> Tensor:
        """A token for every row of ``logits``, behind those of ``state``; only rows that are ``running`` need one."""
        if self.adjust is not None:
            new = state.new_tokens()
            logits = self._adjusted(self.adjust(logits, new), logits, running, new.shape[1])
        if not self.temperature:
            return logits.argmax(-1)
        return draw(logits / self.temperature, self.top_k, self.top_p, self.generator)

    def _adjusted(self, adjusted: Any, logits: Tensor, running: Tensor, n_new: int) -> Tensor:
        """What ``adjust`` made of the logits. Raises: TypeError or ValueError for what nothing can be drawn from."""
        if not isinstance(adjusted, Tensor) or adjusted.shape != logits.shape or not adjusted.is_floating_point():
            came = f"{adjusted.dtype} of shape {tuple(adjusted.shape)}" if isinstance(adjusted, Tensor) else adjusted
            raise TypeError(
                f"{self.caller}: adjust gave {shorten(came) if came is adjusted else came}, expected logits of shape "
                f"{tuple(logits.shape)} again. Return them, also where you write into them."
            )
        drawable = adjusted.amax(-1).isfinite()  # neither NaN, nor infinite, nor -inf for every token
        if not (drawable | ~running).all():
            row = int((~drawable & running).nonzero()[0])
            raise ValueError(
                f"{self.caller}: adjust left nothing to choose from in row {row}: NaN, infinity, or -inf for every "
                f"token, after {n_new} new ones. Leave a token at least, such as the one that ends the text."
            )
        return adjusted.masked_fill(~drawable[:, None], 0.0)  # of a row that has ended, where any token will do


@shaped
def keep_top_k(logits: Float[Tensor, "*batch V"], k: int) -> Float[Tensor, "*batch V"]:
    """The ``k`` largest logits of every row (more where several are equal), -inf for the others.

    Source: Fan et al. 2018, section 5.1.
    Raises: TypeError or ValueError for a ``k`` that is no whole number of at least 1.
    """
    k = check_whole("keep_top_k", "k", k)
    least = logits.topk(min(k, logits.shape[-1])).values[..., -1:]
    return logits.masked_fill(logits < least, -math.inf)


@shaped
def keep_top_p(logits: Float[Tensor, "*batch V"], p: float) -> Float[Tensor, "*batch V"]:
    """The fewest of the likeliest tokens whose probabilities together reach ``p``, -inf for the others.

    Source: Holtzman et al. 2020, section 3.1.
    Raises: TypeError or ValueError for a ``p`` that is not above 0 and at most 1.
    """
    p = check_real("keep_top_p", "p", p, _is_share, SHARES)
    ordered, order = logits.sort(descending=True)
    probabilities = ordered.softmax(-1)
    surplus = probabilities.cumsum(-1) - probabilities >= (p if p < 1 else math.inf)  # a rounded sum is 1 too early
    return logits.masked_fill(surplus.scatter(-1, order, surplus), -math.inf)


@shaped
def keep_min_p(logits: Float[Tensor, "*batch V"], p: float) -> Float[Tensor, "*batch V"]:
    r"""The tokens that are at least ``p`` times as likely as the likeliest one, -inf for the others.

    .. math:: \mathrm{kept} = \{\, w : z_w \ge \max_v z_v + \log p \,\}

    Source: Nguyen et al. 2024 (min-p).
    Raises: TypeError or ValueError for a ``p`` that is not above 0 and at most 1.
    """
    p = check_real("keep_min_p", "p", p, _is_share, SHARES)
    return logits.masked_fill(logits < logits.amax(-1, keepdim=True) + math.log(p), -math.inf)


@shaped
def penalise_repetition(
    logits: Float[Tensor, "B V"], ids: Int[Tensor, "*B_new"], penalty: float
) -> Float[Tensor, "B V"]:
    r"""Tokens that stand in the row of ``ids``, if any do, made less likely, each once, however often it stands there.

    .. math:: z_w \leftarrow z_w / \theta \; (z_w > 0), \qquad z_w \leftarrow z_w \, \theta \; (z_w \le 0)

    Source: Keskar et al. 2019 (CTRL), section 4.1; for logits below 0 the published code of transformers.
    Raises: TypeError or ValueError for a penalty that is not above 0 (one below 1 makes them more likely), or for ids
    that are no row for each row of logits, or outside the vocabulary.
    """
    penalty = check_real("penalise_repetition", "penalty", penalty, lambda it: 0 < it < math.inf, "above 0, and finite")
    (n_rows, n_vocab), (low, high) = logits.shape, extremes(ids) or (0, 0)
    if ids.ndim != 2 or len(ids) != n_rows or not 0 <= low <= high < n_vocab:
        raise ValueError(
            f"penalise_repetition: ids of shape {tuple(ids.shape)} from {low} to {high}, expected a row for each of "
            f"{n_rows} rows of logits, from 0 to {n_vocab - 1}."
        )
    ids = ids.long()
    repeated = logits.gather(1, ids)
    return logits.scatter(1, ids, torch.where(repeated > 0, repeated / penalty, repeated * penalty))


@shaped
def draw(
    logits: Float[Tensor, "B V"], top_k: int | None = None, top_p: float | None = None, generator=None
) -> Int[Tensor, "B"]:
    """One token for every row, by the probabilities that ``keep_top_k`` and then ``keep_top_p`` leave.

    Raises: as these two.
    """
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


def _is_share(p: float) -> bool:
    return 0 < p <= 1


def _is_temperature(temperature: float) -> bool:
    return temperature == 0 or 1e-6 <= temperature < math.inf
