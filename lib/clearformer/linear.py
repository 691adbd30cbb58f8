"""The matrix product of every layer, by the faster of two kernels.

On the CPU, PyTorch hands float32 products to the BLAS it was built with. On some processors oneDNN, which PyTorch ships
as well, needs half the time for large ones.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

HAS_ONEDNN = hasattr(torch.ops.mkldnn, "_linear_pointwise")
LARGE_WEIGHT, LARGE_PRODUCT = 2**18, 2**21  # below these numbers of entries and of products oneDNN starts too slowly


class Linear(nn.Linear):
    """``torch.nn.Linear``, the product by ``linear``."""

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch F"]:
        return linear(x, self.weight, self.bias)


def linear(
    x: Float[Tensor, "*batch D"], weight: Float[Tensor, "F D"], bias: Float[Tensor, "F"] | None = None
) -> Float[Tensor, "*batch F"]:
    r"""The same affine map for every token.

    .. math:: y = W x + b

    Source: ``torch.nn.functional.linear``.
    Cost: 2 D F FLOPs for every token.
    """
    if not (_is_large(x, weight) and _is_for_onednn(x, weight)):
        return F.linear(x, weight, bias)
    if torch.is_grad_enabled() or torch.compiler.is_compiling():
        return _product(x, weight, bias)
    return _onednn(x, weight, bias)


def _is_large(x, weight):
    return weight.numel() >= LARGE_WEIGHT or x.numel() * weight.shape[0] >= LARGE_PRODUCT


def _is_for_onednn(x, weight):
    return (
        x.device.type == weight.device.type == "cpu"
        and x.dtype == weight.dtype == torch.float32
        and HAS_ONEDNN
        and torch.backends.mkldnn.enabled
        and not torch.is_autocast_enabled("cpu")
    )


def _onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")  # "none", [], "": no activation after it


_product = torch.library.custom_op("clearformer::product", _onednn, mutates_args=())  # for autograd and the compiler


@_product.register_fake
def _shape_of_product(x, weight, bias):
    return x.new_empty(*x.shape[:-1], weight.shape[0])


def _keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:2])


def _gradients(ctx, grad_y):
    """They are products as well, and may be differentiated again."""
    x, weight = ctx.saved_tensors
    grad_rows = grad_y.reshape(-1, weight.shape[0])
    for_x, for_weight, for_bias = ctx.needs_input_grad
    return (
        linear(grad_y, weight.T) if for_x else None,
        linear(grad_rows.T, x.reshape(-1, weight.shape[1]).T) if for_weight else None,
        grad_rows.sum(0) if for_bias else None,
    )


_product.register_autograd(_gradients, setup_context=_keep)
