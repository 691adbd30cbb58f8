"""Rotary positions for texts longer than those of the training: all pairs of features turn more slowly, or some."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.checks import check_items, check_real, check_whole
from clearformer.positions import Rotary, check_positions
from clearformer.shapes import extremes


@dataclass(frozen=True)
class LinearScaling:
    r"""All angles divided by ``factor``: position n turns as position n / factor did in training.

    Source: Chen et al. 2023 (position interpolation), eq. 4.
    Raises: TypeError or ValueError for a factor that is not above 0.
    """

    factor: float

    def __post_init__(self):
        _check_positive(self, "factor")

    def __call__(self, frequencies: Tensor, base: float) -> tuple[Tensor, float]:
        return frequencies / self.factor, 1.0


@dataclass(frozen=True)
class Llama3Scaling:
    r"""Slow pairs are turned ``factor`` times as slowly, fast ones as before, those between by a mixture.

    .. math:: \theta_i \leftarrow (1 - s) \, \theta_i / f + s \, \theta_i, \qquad
              s = \mathrm{clip}\left(\frac{N_0 \theta_i / 2 \pi - l}{h - l}, 0, 1\right)

    with ``factor`` f, ``low`` l and ``high`` h: how often a pair turns in ``n_trained`` tokens, N₀, to count as slow or
    fast.

    Source: Llama 3.1, as in the published code.
    Raises: TypeError or ValueError for numbers that are not above 0, or a ``high`` that is not above ``low``.
    """

    factor: float
    low: float
    high: float
    n_trained: int

    def __post_init__(self):
        _check_positive(self, "factor", "low", "high")
        check_whole("Llama3Scaling", "n_trained", self.n_trained)
        if self.high <= self.low:
            raise ValueError(f"Llama3Scaling: high={self.high} with low={self.low}, expected more than that.")

    def __call__(self, frequencies: Tensor, base: float) -> tuple[Tensor, float]:
        turns = self.n_trained * frequencies / (2 * math.pi)
        fast = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return (1 - fast) * frequencies / self.factor + fast * frequencies, 1.0


@dataclass(frozen=True)
class YarnScaling:
    r"""As ``Llama3Scaling``, mixed in proportion to the number of the pair, and scores made larger.

    Pairs that turn more than ``fast`` times in ``n_trained`` tokens turn as before, those below ``slow`` times
    ``factor`` times as slowly. With ``whole`` the two borders are whole numbers of pairs. What was turned is
    multiplied by ``amplitude``, unless given :math:`0.1 \ln f + 1`.

    Source: Peng et al. 2024 (YaRN), sections 3.2 to 3.4; the rounding as in the published code.
    Raises: TypeError or ValueError for numbers that are not above 0.
    """

    factor: float
    n_trained: int
    fast: float = 32.0
    slow: float = 1.0
    amplitude: float | None = None
    whole: bool = True

    def __post_init__(self):
        _check_positive(self, "factor", "fast", "slow", *(() if self.amplitude is None else ("amplitude",)))
        check_whole("YarnScaling", "n_trained", self.n_trained)

    def __call__(self, frequencies: Tensor, base: float) -> tuple[Tensor, float]:
        n_pairs = len(frequencies)
        if base == 1:
            raise ValueError("YarnScaling: with base=1 all pairs turn alike, expected another base.")
        first, last = self._pair(self.fast, n_pairs, base), self._pair(self.slow, n_pairs, base)
        if self.whole:
            first, last = math.floor(first), math.ceil(last)
        first, last = max(first, 0), min(last, 2 * n_pairs - 1)
        width = last - first or 0.001
        numbers = torch.arange(n_pairs, dtype=frequencies.dtype, device=frequencies.device)
        slow = ((numbers - first) / width).clamp(0, 1)
        amplitude = 0.1 * math.log(max(self.factor, 1.0)) + 1.0 if self.amplitude is None else self.amplitude
        return slow * frequencies / self.factor + (1 - slow) * frequencies, amplitude

    def _pair(self, turns: float, n_pairs: int, base: float) -> float:
        """The number of the pair, between two of them as a rule, that turns so often in ``n_trained`` tokens."""
        return n_pairs * math.log(self.n_trained / (turns * 2 * math.pi)) / math.log(base)


@dataclass(frozen=True)
class PairScaling:
    """The angles of each pair of features divided by a number of its own, and what was turned times ``amplitude``.

    Source: Ding et al. 2024 (LongRoPE), section 3.
    Raises: TypeError or ValueError for numbers that are not above 0, or at the call, for not one for each pair.
    """

    factors: tuple[float, ...]
    amplitude: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "factors", check_factors("PairScaling", "factors", self.factors))
        _check_positive(self, "amplitude")

    def __call__(self, frequencies: Tensor, base: float) -> tuple[Tensor, float]:
        if len(self.factors) != len(frequencies):
            raise ValueError(
                f"PairScaling: {len(self.factors)} factors for {len(frequencies)} pairs of features, expected one for "
                "each."
            )
        return frequencies / frequencies.new_tensor(self.factors), self.amplitude


class LongRotary(nn.Module):
    """``Rotary`` that divides its angles by the numbers ``short``, in calls beyond ``n_trained`` tokens by ``long``.

    What a cache holds was turned as the text was short; a text that grows over the border is not what it is in one go.

    Source: Ding et al. 2024 (LongRoPE), section 3; for the amplitude the published code of Phi-3.
    """

    def __init__(
        self,
        d_head: int,
        n_positions: int,
        *,
        short: Sequence[float],
        long: Sequence[float],
        n_trained: int,
        amplitude: float = 1.0,
        **options,
    ):
        super().__init__()
        self.n_positions = check_whole("LongRotary", "n_positions", n_positions)
        self.n_trained = check_whole("LongRotary", "n_trained", n_trained)
        self.short, self.long = (
            Rotary(
                d_head, n_positions, scaling=PairScaling(check_factors("LongRotary", name, it), amplitude), **options
            )
            for name, it in (("short", short), ("long", long))
        )

    def forward(self, x: Float[Tensor, "B H N K"], positions: slice | Int[Tensor, "#B N"]) -> Float[Tensor, "B H N K"]:
        """As ``Rotary``."""
        check_positions("LongRotary", positions, self.n_positions, x.shape[2])
        if isinstance(positions, slice):
            last = (self.n_positions if positions.stop is None else positions.stop) - 1
        else:
            last = (extremes(positions) or (0, 0))[1]
        return (self.long if last >= self.n_trained else self.short)(x, positions)


def check_factors(caller: str, name: str, value) -> tuple[float, ...]:
    """``value`` as numbers above 0. Raises: TypeError or ValueError for anything else."""
    numbers = check_items(caller, name, value, "a number for each pair of features")
    return tuple(check_real(caller, name, number, _is_positive, "above 0, and finite") for number in numbers)


def _check_positive(scaling, *names: str) -> None:
    for name in names:
        check_real(type(scaling).__name__, name, getattr(scaling, name), _is_positive, "above 0, and finite")


def _is_positive(number: float) -> bool:
    return 0 < number < math.inf
