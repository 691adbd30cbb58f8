"""Modules without a model around them say in words which argument does not fit, and cost nothing while all do."""

from inspect import unwrap as bare  # without the shape checks of the test run, which would come before ours

import pytest
import torch
from clearformer.blocks import Block, Decoder, Encoder
from clearformer.experts import MixtureOfExperts
from clearformer.layers import FeedForward, GatedFeedForward, LayerNorm, RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.mae import MAE, MAEConfig
from clearformer.models.vit import ViT, ViTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import LearnedPositions, RelativeKeys, Rotary
from clearformer.shapes import shaped_module
from jaxtyping import Float
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.clearformer.tolerance import assert_close

B, H, N, D, K = 2, 4, 5, 24, 6
WIDE = {
    "LayerNorm": lambda: LayerNorm(D),
    "RMSNorm": lambda: RMSNorm(D),
    "FeedForward": lambda: FeedForward(D, 7),
    "GatedFeedForward": lambda: GatedFeedForward(D, 7),
    "MixtureOfExperts": lambda: MixtureOfExperts(D, 7, n_experts=3),
    "MultiHeadAttention": lambda: MultiHeadAttention(D, H),
    "Block": lambda: Block(D, H, 7),
    "Encoder": lambda: Encoder(1, D, H, 7),
    "Decoder": lambda: Decoder(1, D, H, 7),
}
POSITIONS = slice(0, N)
WIDTHS = (16, 2, 1, 16, 2, 1)  # of an MAE


@pytest.mark.parametrize("name", WIDE)
def test_a_module_names_the_width_that_does_not_fit(name):
    with pytest.raises(ValueError, match=rf"^{name}: x .*\(2, 5, 23\).*24"):
        WIDE[name]()(torch.randn(B, N, D - 1))


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.ones(B, N, D, dtype=torch.long), "x .*int64, expected float"),
        ([[1.0] * D] * N, r"x .*list, expected torch\.Tensor"),
    ],
)
def test_a_module_names_the_wrong_type(x, message, name):
    with pytest.raises(TypeError, match=f"^{name}: {message}"):
        WIDE[name]()(x)


@pytest.mark.parametrize("name", WIDE)
def test_a_module_names_a_precision_other_than_its_own(name):
    with pytest.raises(ValueError, match=rf"^{name}: x .*torch\.float64, .*{name} .*torch\.float32"):
        WIDE[name]()(torch.randn(B, N, D, dtype=torch.float64))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Rotary(K, 9)(torch.randn(B, H, N, K + 2), POSITIONS), ValueError, r"^Rotary: x .*= 8, .*\bK = 6"),
        (lambda: RelativeKeys(K, 2)(torch.randn(B, H, N, 7), N), ValueError, r"^RelativeKeys: q .*= 7, .*\bK = 6"),
        (lambda: RelativeKeys(K, 2)(torch.randn(B, H, N, K), 3), ValueError, "n_sources=3 is less than n_targets=5"),
        (lambda: LearnedPositions(9, D)(torch.rand(B, N)), TypeError, "^LearnedPositions: positions has dtype float32"),
        (lambda: Block(D, H, 7)(torch.randn(B, N, D), torch.ones(B, N)), TypeError, "^Block: mask has dtype float32"),
    ],
)
def test_positions_and_masks_are_explained_too(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        (torch.tensor([[0, 1, -1, 2, 3]]), r"positions -1 to 3 .*\b0 to 8\b"),
        (torch.tensor([[0, 1, 9, 2, 3]]), r"positions 0 to 9\b"),
        (slice(5, 10), r"positions 5 to 9\b"),
        (slice(0, 1), r"1 positions for 5 tokens"),
        (slice(0, 8, 2), r"slice\(0, 8, 2\) .*neighbours"),
        (torch.tensor([[0, 1]]), r"2 positions for 5\b|= 2, but N = 5"),
    ],
)
@pytest.mark.parametrize("rope", [None, Rotary])
def test_positions_that_are_not_there_or_not_one_for_each_token_are_refused(rope, positions, message):
    """Catches a table read from behind, and one position for several tokens."""
    model = GPT(GPTConfig(11, 9, D, H, 1, rope=rope))
    with pytest.raises(ValueError, match=message):
        bare(GPT.hidden_states)(model, torch.zeros(1, N, dtype=torch.long), positions=positions)
    with pytest.raises(ValueError, match=message):
        Rotary(K, 9)(torch.randn(1, H, N, K), positions)


@pytest.mark.parametrize("n_layers", [0, -1])
def test_a_stack_of_no_layers_is_refused(n_layers):
    with pytest.raises(ValueError, match=f"Encoder: n_layers={n_layers}, .*at least 1"):
        Encoder(n_layers, D, H, 7)


@pytest.mark.parametrize("layer", [FeedForward, GatedFeedForward])
def test_the_name_of_an_activation_is_refused(layer):
    with pytest.raises(TypeError, match=r"activation='gelu' .*str, expected .*torch\.nn\.functional\.[gs]"):
        bare(layer.__init__)(layer.__new__(layer), D, 7, activation="gelu")


def test_an_error_of_another_kind_comes_through():
    """Catches an explanation that hides what really went wrong."""

    class BrokenModule(nn.Module):
        def forward(self, x):
            raise RuntimeError("the disk is full")

    block = Block(D, H, 7, feed_forward=lambda d_model, d_ff: BrokenModule())
    with pytest.raises(RuntimeError, match=r"^the disk is full$"):
        block(torch.randn(B, N, D))


class QuantisedModule(nn.Module):
    """Has weights of two precisions, and fails for a reason of its own."""

    def __init__(self):
        super().__init__()
        self.few = nn.Linear(D, D).half()
        self.norm = nn.LayerNorm(D)

    @shaped_module
    def forward(self, x: Float[torch.Tensor, "B N D"]):
        raise RuntimeError("no such kernel")


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_a_module_of_several_precisions_explains_no_error_by_one_of_them(dtype):
    """Catches the dtype of one weight, told as that of all: quantised layers beside norms in float32."""
    with pytest.raises(RuntimeError, match=r"^no such kernel$"):
        QuantisedModule()(torch.randn(B, N, D, dtype=dtype))


@pytest.mark.parametrize(
    "build", [lambda: ViT(ViTConfig(8, 4, 1, 3, 16, 2, 1)), lambda: MAE(MAEConfig(8, 2, 1, *WIDTHS))]
)
def test_a_model_of_images_names_a_precision_other_than_its_own(build):
    model = build()
    with pytest.raises(ValueError, match=rf"images .*torch\.float64, .*{type(model).__name__} .*torch\.float32"):
        model(torch.rand(2, 1, 8, 8, dtype=torch.float64))


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing_under_autocast_gives_the_gradients(reentrant):
    """Catches an explanation of the signal by which PyTorch ends the second pass: no argument has the wrong dtype."""
    block, x = Block(D, H, 7), torch.randn(B, N, D, requires_grad=True)
    gradients = []
    for run in (block, lambda h: checkpoint(block, h, use_reentrant=reentrant)):
        block.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            run(nn.functional.linear(x, torch.eye(D))).float().sum().backward()
        gradients.append(block.attention.qkv.weight.grad)
    assert torch.equal(*gradients)


def test_under_autocast_the_dtype_is_no_mistake():
    """Catches a dtype that is named where a mask is wrong."""
    block = Block(D, H, 7)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(TypeError, match=r"^Block: mask has dtype int64"):
        block(torch.randn(B, N, D).bfloat16(), torch.ones(N, N, dtype=torch.long))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rotary_tables_keep_their_precision(dtype):
    """Catches angles rounded to 8 bits, which turn late positions by something else."""
    rope, late = Rotary(K, 4000), slice(3990, 3995)
    x = torch.randn(B, H, N, K)
    assert rope.to(dtype).cos.dtype == torch.float32
    assert torch.equal(rope(x, late), Rotary(K, 4000)(x, late))
    assert rope(x.to(dtype), late).dtype == dtype


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_gradients_can_be_mapped_over_examples():
    """Catches a look at single ids, which ``torch.func.vmap`` does not have."""
    model, ids = GPT(GPTConfig(11, 9, D, H, 1)), torch.randint(0, 11, (3, N + 1))
    weights = dict(model.named_parameters())

    def loss(weights, row):
        logits = torch.func.functional_call(model, weights, (row[None, :-1],))
        return nn.functional.cross_entropy(logits[0], row[1:])

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weights, ids)
    for i in range(3):
        alone = torch.func.grad(loss)(weights, ids[i])
        assert_close(each["decoder.norm.weight"][i], alone["decoder.norm.weight"])
