"""Where a token stands: added to it, turned into it, or added to the scores."""

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.attention.masks import enough_sources
from clearformer.checks import check_callable, check_flag, check_real, check_whole, shorten
from clearformer.shapes import extremes, shaped_module


def sinusoidal(
    n_positions: int,
    d_model: int,
    *,
    interleaved: bool = True,
    start: int = 0,
    dtype: torch.dtype = torch.float32,
    device: torch.device | None = None,
) -> Float[Tensor, "N D"]:
    r"""Fixed waves of wavelengths from 2π to 10000 · 2π tokens, sine and cosine side by side.

    .. math:: p_{n, 2i} = \sin(n / 10000^{2i/D}), \qquad p_{n, 2i+1} = \cos(n / 10000^{2i/D})

    Without ``interleaved`` all sines come before all cosines, as Marian and MAE have them.

    Source: Vaswani et al. 2017, section 3.5. COMP 336 prints the exponents shifted by one pair; see the errata.
    Raises: ValueError for an odd width.
    """
    n_positions = check_whole("sinusoidal", "n_positions", n_positions)
    start = check_whole("sinusoidal", "start", start, 0)
    angles = torch.arange(start, start + n_positions, dtype=torch.float64, device=device)[:, None]
    angles = angles * _frequencies("sinusoidal", d_model, 10000.0, device)
    return torch.stack((angles.sin(), angles.cos()), dim=-1 if interleaved else -2).flatten(-2).to(dtype)


class LearnedPositions(nn.Module):
    """One learned vector for every position, to be added to the token that stands there.

    Source: COMP 336, "Position representation vectors learned from scratch"; Devlin et al. 2019.
    """

    def __init__(self, n_positions: int, d_model: int):
        super().__init__()
        n_positions = check_whole("LearnedPositions", "n_positions", n_positions)
        self.d_model = d_model = check_whole("LearnedPositions", "d_model", d_model)
        self.weight = nn.Parameter(torch.randn(n_positions, d_model) * 0.02)

    @shaped_module
    def forward(self, positions: slice | Int[Tensor, "B N"]) -> Float[Tensor, "*batch N D"]:
        """The vectors of a slice of positions, or of a row of whole numbers for every sequence.

        Raises: ValueError for positions that were not learned.
        """
        check_positions("LearnedPositions", positions, self.weight.shape[0])
        return self.weight[positions]


class RelativeKeys(nn.Module):
    r"""A learned vector for every distance, compared with the query and added to the scores as a bias.

    .. math:: \mathrm{bias}_{n,s} = q_n^\top r_{\mathrm{clip}(s - n, -m, m)} / \sqrt{K}

    Source: Shaw et al. 2018, eq. 4 and 5, shared by the heads; their vectors for the values are left out.
    Cost: 2 K (2 m + 1) N FLOPs and N S numbers for every head.
    """

    def __init__(self, d_head: int, max_distance: int):
        super().__init__()
        self.d_head = d_head = check_whole("RelativeKeys", "d_head", d_head)
        self.max_distance = max_distance = check_whole("RelativeKeys", "max_distance", max_distance, 0)
        self.weight = nn.Parameter(torch.randn(2 * max_distance + 1, d_head) * 0.02)

    @shaped_module
    def forward(self, q: Float[Tensor, "*batch N K"], n_sources: int) -> Float[Tensor, "*batch N S"]:
        """The bias of queries that belong to the last of ``n_sources`` tokens, as in ``causal_mask``.

        Raises: ValueError for fewer sources than queries.
        """
        n_targets, n_sources = q.shape[-2], check_whole("RelativeKeys", "n_sources", n_sources)
        enough_sources("RelativeKeys", n_targets, n_sources)
        at_distance = q @ self.weight.T / math.sqrt(q.shape[-1])
        targets = torch.arange(n_sources - n_targets, n_sources, device=q.device)[:, None]
        distance = torch.arange(n_sources, device=q.device) - targets
        index = distance.clamp(-self.max_distance, self.max_distance) + self.max_distance
        return at_distance.gather(-1, index.expand(*q.shape[:-2], n_targets, n_sources))


class Rotary(nn.Module):
    r"""Turns pairs of features of queries and keys, so that their product depends on their distance only.

    .. math:: (x_i, x_{i+K/2}) \mapsto (x_i \cos\theta - x_{i+K/2} \sin\theta,\;
              x_{i+K/2} \cos\theta + x_i \sin\theta), \qquad \theta = n / b^{2i/K}

    With ``interleaved`` neighbours are a pair, :math:`(x_{2i}, x_{2i+1})`. ``share`` is the part of the features, the
    first ones, that is turned at all. ``scaling(frequencies, base)``, as those of ``rope_scaling``, gives other angles
    for each token and a factor for what was turned.

    The tables keep their precision in a module of half precision. No checkpoint holds them: a module that was built on
    the device "meta" has none, even after loading. Build it where it is to compute.

    Source: Su et al. 2021, eq. 34, for neighbours; to pair two halves, as Llama does, renames features and is faster.
    Raises: TypeError or ValueError for an odd width, no positions, a base that is not above 0, or another share.
    """

    def __init__(
        self,
        d_head: int,
        n_positions: int,
        *,
        base: float = 10000.0,
        share: float = 1.0,
        scaling: Callable | None = None,
        interleaved: bool = False,
        dtype: torch.dtype = torch.float32,
    ):
        super().__init__()
        self.d_head = d_head = check_whole("Rotary", "d_head", d_head)
        self.n_positions = check_whole("Rotary", "n_positions", n_positions)
        base = check_real("Rotary", "base", base, lambda base: 0 < base < math.inf, "above 0, and finite")
        share = check_real("Rotary", "share", share, lambda share: 0 < share <= 1, "above 0, up to 1")
        self.interleaved, self.width = check_flag("Rotary", "interleaved", interleaved), int(d_head * share)
        self.frequencies, self.factor = _frequencies("Rotary", self.width, base, None), 1.0
        if scaling is not None:
            check_callable("Rotary", "scaling", scaling, "rope_scaling.LinearScaling(factor)")
            self.frequencies, self.factor = scaling(self.frequencies, base)
        for name, table in self._tables(dtype).items():
            self.register_buffer(name, table, persistent=False)

    def _tables(self, dtype: torch.dtype) -> dict[str, Tensor]:
        """Cosine and signed sine of every feature at every position."""
        return self._waves(torch.arange(self.n_positions, device=self.frequencies.device), dtype, self.factor)

    def _waves(self, positions: Int[Tensor, "*batch N"], dtype: torch.dtype, factor: float) -> dict[str, Tensor]:
        angles = positions.double()[..., None] * self.frequencies
        pairs = {"cos": (angles.cos(), angles.cos()), "sin": (-angles.sin(), angles.sin())}
        axis = -1 if self.interleaved else -2
        return {name: (torch.stack(pair, axis).flatten(-2) * factor).to(dtype) for name, pair in pairs.items()}

    @shaped_module
    def forward(self, x: Float[Tensor, "B H N K"], positions: slice | Int[Tensor, "#B N"]) -> Float[Tensor, "B H N K"]:
        """Turn ``x`` by its ``positions``: a slice of them, or one row of whole numbers for every sequence.

        Raises: ValueError for positions outside 0 to ``n_positions - 1``, or not one for each token.
        """
        check_positions("Rotary", positions, self.cos.shape[0], x.shape[2])
        return self._turn(x, *(table[positions].unsqueeze(-3) for table in (self.cos, self.sin)))  # one for all heads

    def moved(self, x: Float[Tensor, "B H N K"], steps: Int[Tensor, "B N"]) -> Float[Tensor, "B H N K"]:
        """Queries or keys that were turned before, turned on as if they stood ``steps`` positions further on."""
        waves = self._waves(steps.to(self.frequencies.device), self.cos.dtype, 1.0)
        return self._turn(x, *(wave.unsqueeze(-3).to(x.device) for wave in waves.values()))

    def _turn(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        turning = x if self.width == self.d_head else x[..., : self.width]
        if self.interleaved:
            swapped = turning.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
        else:
            swapped = torch.cat(turning.chunk(2, dim=-1)[::-1], dim=-1)
        turned = (turning * cos + swapped * sin).to(x.dtype)
        return turned if turning is x else torch.cat((turned, x[..., self.width :]), dim=-1)

    def _apply(self, fn: Callable, recurse: bool = True) -> "Rotary":
        """``Module.to`` in half precision moves the tables only: 8 bits do not hold the angle of a late position.

        In double precision they are computed again, for what was rounded before stays so.
        """
        tables = self.cos, self.sin
        super()._apply(fn, recurse)
        if self.cos.dtype.itemsize < 4:
            self.cos, self.sin = (table.to(self.cos.device) for table in tables)
        elif self.cos.dtype.itemsize > tables[0].dtype.itemsize and not self.frequencies.is_meta:
            exact = self._tables(self.cos.dtype)
            self.cos, self.sin = (exact[name].to(self.cos.device) for name in ("cos", "sin"))
        return self


def check_positions(caller: str, positions: slice | Tensor, n_positions: int, n_tokens: int | None = None) -> None:
    """Check that there are such positions, one for each token.

    Raises: TypeError for what is no slice and no whole numbers; ValueError for positions outside 0 to
    ``n_positions - 1``, with gaps, or not one for each of ``n_tokens``.
    """
    if isinstance(positions, slice):
        if positions.step not in (None, 1):
            raise ValueError(
                f"{caller}: {positions} leaves positions out, expected a slice of neighbours, without a step."
            )
        low, high = positions.start or 0, (n_positions if positions.stop is None else positions.stop) - 1
        count = high - low + 1
    elif not isinstance(positions, Tensor) or positions.ndim != 2 or positions.dtype not in (torch.int64, torch.int32):
        raise TypeError(
            f"{caller}: positions={shorten(positions)}, expected a slice or a tensor of whole numbers of axes "
            "(batch, tokens). Convert with torch.as_tensor(...)[None]."
        )
    else:
        low, high = extremes(positions) or (0, 0)
        count = positions.shape[-1]
    if not 0 <= low <= high < n_positions:
        raise ValueError(
            f"{caller}: positions {low} to {high} asked for, expected a range within 0 to {n_positions - 1}. "
            "Shorten the sequence or build with a larger n_positions."
        )
    if n_tokens is not None and count != n_tokens:
        raise ValueError(f"{caller}: {count} positions for {n_tokens} tokens, expected one for each.")


def _frequencies(caller: str, width: Any, base: float, device: torch.device | None) -> Tensor:
    """Radians per token of every pair of features."""
    width = check_whole(caller, "width", width)
    if width % 2 or width < 2:
        raise ValueError(
            f"{caller}: a width of {width} cannot be split into pairs. Choose an even one: {max(width + width % 2, 2)}."
        )
    return base ** (-torch.arange(0, width, 2, dtype=torch.float64, device=device) / width)
