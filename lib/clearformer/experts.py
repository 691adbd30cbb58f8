"""Networks of which a token passes only some: experts, and the router that chooses among them."""

import contextlib
import math
from collections.abc import Callable, Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.checks import check_callable, check_flag, check_function, check_real, check_whole
from clearformer.layers import FeedForward, GatedFeedForward
from clearformer.shapes import shaped, shaped_module


class Router(nn.Linear):
    r"""The probability of each expert, by a softmax over all of them; the ``top_k`` largest are chosen.

    .. math:: p_n = \mathrm{softmax}(W_r x_n), \qquad w_{e,n} = p_{e,n} \text{ for the chosen}

    With ``normalise`` the weights of the chosen are divided by their sum: the softmax over the chosen alone.

    Source: Fedus et al. 2022, eq. 1 and 2; divided by their sum Shazeer et al. 2017, eq. 3 to 5, without the noise.
    """

    def __init__(self, d_model: int, n_experts: int, *, bias: bool = False, normalise: bool = False):
        sizes = check_whole("Router", "d_model", d_model), check_whole("Router", "n_experts", n_experts)
        super().__init__(*sizes, bias=check_flag("Router", "bias", bias))
        self.normalise = check_flag("Router", "normalise", normalise)

    def choose(
        self, x: Float[Tensor, "N D"], top_k: int
    ) -> tuple[Float[Tensor, "N E"], Float[Tensor, "N k"], Int[Tensor, "N k"]]:
        """The probabilities of all experts, and weights and numbers of the chosen."""
        probabilities = self(x).softmax(dim=-1)
        weights, chosen = probabilities.topk(top_k, dim=-1)
        if self.normalise:
            weights = weights / weights.sum(dim=-1, keepdim=True)
        return probabilities, weights, chosen


class GroupRouter(Router):
    r"""A score for each expert; the chosen are of the best groups alone, and a bias helps those that are seldom chosen.

    .. math:: s_n = \sigma(W_r x_n), \qquad
              w_{e,n} = \gamma \, s_{e,n} \text{ for the } e \text{ with the largest } s_{e,n} + b_e

    ``score`` is :math:`\sigma`, or a softmax over all. The experts stand in ``n_groups`` equal groups, of which each
    token sees those ``top_groups`` whose ``n_best`` experts have the largest sum of :math:`s + b`. The bias b, there if
    ``corrected``, is no parameter: whoever trains moves it, up for an expert with fewer tokens than most. With
    ``normalise`` the weights of the chosen sum to 1 before they are multiplied by ``scale``, :math:`\gamma`.

    Source: DeepSeek-AI 2024 (DeepSeek-V3), eq. 12 to 16, and section 2.1.2; with softmax DeepSeek-V2, eq. 20 to 22.
    Raises: TypeError or ValueError for sizes that are no whole numbers, unequal groups, or more chosen than there are.
    """

    correction: Tensor | None

    def __init__(
        self,
        d_model: int,
        n_experts: int,
        *,
        score: Callable[[Tensor], Tensor] = torch.sigmoid,
        n_groups: int = 1,
        top_groups: int = 1,
        n_best: int = 2,
        corrected: bool = True,
        normalise: bool = False,
        scale: float = 1.0,
    ):
        super().__init__(d_model, n_experts, normalise=normalise)
        self.n_groups = check_whole("GroupRouter", "n_groups", n_groups, most=n_experts)
        if n_experts % n_groups:
            raise ValueError(f"GroupRouter: n_experts={n_experts} in n_groups={n_groups}, expected equal groups.")
        self.top_groups = check_whole("GroupRouter", "top_groups", top_groups, most=n_groups)
        most = n_experts // n_groups if n_groups > 1 else None
        self.n_best = check_whole("GroupRouter", "n_best", n_best, most=most)
        self.score = check_function("GroupRouter", "score", score, "torch.sigmoid")
        self.scale = check_real(
            "GroupRouter", "scale", scale, lambda scale: 0 < scale < math.inf, "above 0, and finite"
        )
        corrected = check_flag("GroupRouter", "corrected", corrected)
        self.register_buffer("correction", torch.zeros(n_experts) if corrected else None)

    def choose(
        self, x: Float[Tensor, "N D"], top_k: int
    ) -> tuple[Float[Tensor, "N E"], Float[Tensor, "N k"], Int[Tensor, "N k"]]:
        """As in ``Router``: the probabilities are the scores divided by their sum, without the bias."""
        scores = self.score(self(x))
        ranked = scores if self.correction is None else scores + self.correction
        if self.n_groups > 1:
            in_groups = ranked.unflatten(-1, (self.n_groups, -1))
            best = in_groups.topk(self.n_best, dim=-1).values.sum(-1).topk(self.top_groups, dim=-1).indices
            hidden = torch.ones_like(in_groups[..., 0], dtype=torch.bool).scatter(-1, best, False)
            ranked = in_groups.masked_fill(hidden[..., None], 0.0).flatten(-2)
        chosen = ranked.topk(top_k, dim=-1).indices
        weights = scores.gather(-1, chosen)
        if self.normalise:
            weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-20)
        return scores / scores.sum(-1, keepdim=True), weights * self.scale, chosen


class MixtureOfExperts(nn.Module):
    r"""A router sends every token through the ``top_k`` experts it thinks best of, and weighs what they say.

    .. math:: y_n = \sum_{e \in \mathrm{chosen}_n} w_{e,n} \, f_e(x_n)

    ``expert(d_model, d_ff)`` builds an expert of hidden width ``d_expert``, unless given ``d_ff``, with ``options``
    besides; ``router(d_model, n_experts)`` builds what chooses. ``routings`` collects what it says, which
    ``load_balance`` turns into a loss.

    Source: Shazeer et al. 2017, eq. 1; the weights as in Fedus et al. 2022, eq. 2, which for ``top_k=1`` must not be
    divided by their sum: the router would get no gradient.
    Cost: for every token that of ``top_k`` experts, with ``FeedForward`` 4 D F FLOPs each, and 2 D E for the router.
    Raises: ValueError if ``top_k`` is not from 1 to ``n_experts``.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        n_experts: int,
        top_k: int = 1,
        d_expert: int | None = None,
        router: Callable[[int, int], Router] = Router,
        expert: Callable[..., nn.Module] = FeedForward,
        **options,
    ):
        super().__init__()
        n_experts = check_whole("MixtureOfExperts", "n_experts", n_experts)
        self.d_model = check_whole("MixtureOfExperts", "d_model", d_model)
        self.top_k = check_whole("MixtureOfExperts", "top_k", top_k, most=n_experts)
        for name, part in (("router", router), ("expert", expert)):
            check_callable("MixtureOfExperts", name, part, "a class of modules, or a partial of one")
        self.router = router(d_model, n_experts)
        width = d_ff if d_expert is None else check_whole("MixtureOfExperts", "d_expert", d_expert)
        self.experts = nn.ModuleList(expert(d_model, width, **options) for _ in range(n_experts))
        self.routings: list[tuple[Tensor, Tensor]] | None = None  # filled only within ``routings``

    def __getstate__(self):
        return self.__dict__ | {"routings": None}  # nobody collects what a copy says

    @shaped_module
    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        tokens = x.reshape(-1, x.shape[-1])
        probabilities, weights, chosen = self.router.choose(tokens, self.top_k)
        if self.routings is not None:
            self.routings.append((probabilities, chosen))
        y = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            rows, place = (chosen == e).nonzero(as_tuple=True)
            y = y.index_add(0, rows, (weights[rows, place, None] * expert(tokens[rows])).to(y.dtype))
        return y.reshape(x.shape)


class SharedExperts(nn.Module):
    r"""Experts that a router chooses among, and one of hidden width ``d_shared`` that every token passes.

    .. math:: y_n = f(x_n) + \mathrm{routed}(x_n)

    ``routed`` builds the former, as a partial of ``MixtureOfExperts``; ``expert`` and ``options`` are those of all.

    Source: Dai et al. 2024 (DeepSeekMoE), eq. 9.
    Cost: that of the routed experts, and with ``GatedFeedForward`` 6 D F FLOPs for every token.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        d_shared: int,
        routed: Callable[..., nn.Module],
        expert: Callable[..., nn.Module] = GatedFeedForward,
        **options,
    ):
        super().__init__()
        for name, part in (("routed", routed), ("expert", expert)):
            check_callable("SharedExperts", name, part, "a class of modules, or a partial of one")
        self.d_model = check_whole("SharedExperts", "d_model", d_model)
        self.routed = routed(d_model, d_ff, expert=expert, **options)
        self.shared = expert(d_model, check_whole("SharedExperts", "d_shared", d_shared), **options)

    @shaped_module
    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return self.shared(x) + self.routed(x)


class ClampedGatedFeedForward(GatedFeedForward):
    r"""``GatedFeedForward`` whose gates and hidden units stay small, and whose hidden units are multiplied around 1.

    .. math:: y = W_2 \, \bigl(\phi(\min(W_g x + b_g, l)) \odot (1 + \mathrm{clip}(W_1 x + b_1, -l, l))\bigr) + b_2

    Source: OpenAI 2025 (gpt-oss), as in the published code, with ``limit`` l = 7 and ``gelu_sigmoid`` for :math:`\phi`.
    Raises: TypeError or ValueError for a ``limit`` that is no number above 0.
    """

    def __init__(self, d_model: int, d_ff: int, *, limit: float = 7.0, bias: bool = True, **options):
        super().__init__(d_model, d_ff, bias=bias, **options)
        self.limit = check_real(
            "ClampedGatedFeedForward", "limit", limit, lambda limit: 0 < limit < math.inf, "above 0, and finite"
        )

    @shaped_module
    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        gate, up = gate.clamp(max=self.limit), up.clamp(-self.limit, self.limit)
        return self.down(self.activation(gate) * (1 + up))


@contextlib.contextmanager
def routings(module: nn.Module) -> Iterator[list[tuple[Float[Tensor, "N E"], Int[Tensor, "N k"]]]]:
    """What the routers of a module say meanwhile: probabilities and chosen experts of every pass, in their order.

    ::

        with routings(model) as passes:
            loss = next_token_loss(model, ids, targets)
        loss = loss + 0.01 * sum(load_balance(*said) for said in passes) / len(passes)
    """
    layers = [layer for layer in module.modules() if isinstance(layer, MixtureOfExperts)]
    before = [layer.routings for layer in layers]
    passes: list[tuple[Tensor, Tensor]] = []
    try:
        for layer in layers:
            layer.routings = passes
        yield passes
    finally:
        for layer, outer in zip(layers, before, strict=True):
            layer.routings = outer


@shaped
def load_balance(probabilities: Float[Tensor, "N E"], chosen: Int[Tensor, "N k"]) -> Float[Tensor, ""]:
    r"""1 if every expert gets the same share of the tokens, up to E if one gets them all.

    .. math:: E \sum_{e=1}^{E} f_e P_e, \qquad f_e = \text{share of choices that fell on } e, \qquad
              P_e = \frac1N \sum_n p_{e,n}

    The shares f have no gradient; the loss moves the router through P.

    Source: Fedus et al. 2022, eq. 4 to 6, without the factor that weighs it.
    """
    n_experts = probabilities.shape[-1]
    shares = torch.bincount(chosen.flatten(), minlength=n_experts).to(probabilities) / chosen.numel()
    return n_experts * (shares * probabilities.mean(dim=0)).sum()
