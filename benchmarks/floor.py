"""The floor of a training step: the work that no implementation in eager PyTorch can leave out, and nothing else."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.sizes import N_VOCAB, Size


def training_floor(size: Size, parameters: list[Tensor]) -> Callable[[], None]:
    """Every matrix product of a step, the attention kernel forward and backward, and fused AdamW.

    Left out are norms, activations, residuals, embedding, loss, clipping, and all of autograd's own work.
    """
    products, attention, update = matrix_products(size), attention_kernel(size), optimizer(parameters)

    def run() -> None:
        products()
        for _ in range(size.n_layers):
            attention()
        update()

    return run


def matrix_products(size: Size) -> Callable[[], None]:
    """Of every linear layer x Wᵀ, and in the backward pass ∂y W and ∂yᵀ x; each layer has weights of its own."""
    D, tokens = size.d_model, size.batch * size.n_tokens
    widths = [(D, 3 * D), (D, D), (D, 4 * D), (4 * D, D)] * size.n_layers + [(D, N_VOCAB)]
    weights = [torch.randn(n_out, n_in) for n_in, n_out in widths]
    activations = {n: torch.randn(tokens, n) for n in {n for pair in widths for n in pair}}

    @torch.no_grad()
    def run() -> None:
        for weight in weights:
            F.linear(activations[weight.shape[1]], weight)
        for weight in reversed(weights):
            n_out, n_in = weight.shape
            F.linear(activations[n_out], weight.T)
            F.linear(activations[n_out].T, activations[n_in].T)

    return run


def attention_kernel(size: Size) -> Callable[[], None]:
    """One layer's, with queries, keys and values lying in memory as one projection leaves them."""
    shape = (size.batch, size.n_tokens, 3, size.n_heads, size.d_model // size.n_heads)
    q, k, v = (t.transpose(1, 2).detach().requires_grad_() for t in torch.randn(shape).unbind(2))
    grad_y = torch.randn(size.batch, size.n_tokens, *shape[3:]).transpose(1, 2)

    def run() -> None:
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        torch.autograd.grad(y, (q, k, v), grad_y)

    return run


def optimizer(parameters: list[Tensor]) -> Callable[[], None]:
    own = [nn.Parameter(torch.randn_like(parameter)) for parameter in parameters]
    for parameter in own:
        parameter.grad = torch.randn_like(parameter)
    return torch.optim.AdamW(own, fused=True).step


def weights_read(model: nn.Module, n_tokens: int) -> dict[str, Callable[[], None]]:
    """Two ways to read every weight once a token: in matrix–vector products with nothing between them, and in a sum.

    The products, by the library's kernel, are what a token needs at least. The sum goes through one block of memory
    without a break and does nothing else. Tables of which a token takes one row are not read.
    """
    read = [module.weight.detach() for module in model.modules() if isinstance(module, nn.Linear)]
    vectors = {n: torch.randn(1, n) for n in {weight.shape[1] for weight in read}}
    flat = torch.cat([weight.flatten() for weight in read])

    def products() -> None:
        with torch.inference_mode():
            for _ in range(n_tokens):
                for weight in read:
                    F.linear(vectors[weight.shape[1]], weight)

    def sums() -> None:
        with torch.inference_mode():
            for _ in range(n_tokens):
                flat.sum()

    return {"weights, products": products, "weights, sum": sums}
