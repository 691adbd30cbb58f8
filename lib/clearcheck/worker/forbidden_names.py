"""What a task may forbid, in one list of ways to have the same thing done by somebody else.

A question names one way, and every other way to the same thing is forbidden with it, so that no two exercises differ.
What is larger contains what is smaller: whoever is to write attention may not take a whole layer either.
"""

SOFTMAX = (
    "torch.softmax",
    "torch.nn.functional.softmax",
    "torch.special.softmax",
    "torch.nn.Softmax",
    "torch.log_softmax",
    "torch.nn.functional.log_softmax",
    "torch.special.log_softmax",
    "torch.nn.LogSoftmax",
)
ATTENTION = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch._scaled_dot_product_attention_math",
    "torch._scaled_dot_product_flash_attention_for_cpu",
    "torch.nn.attention.flex_attention.flex_attention",
)
MULTI_HEAD = (
    "torch.nn.MultiheadAttention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch._native_multi_head_attention",
)
LAYERS = (
    "torch.nn.Transformer",
    "torch.nn.TransformerEncoder",
    "torch.nn.TransformerDecoder",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerDecoderLayer",
    "torch._transformer_encoder_layer_fwd",
)
GRADIENTS = (
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.Tensor.backward",
    "torch.autograd.functional.jacobian",
    "torch.autograd.functional.vjp",
    "torch.autograd.functional.jvp",
    "torch.func.grad",
    "torch.func.vjp",
    "torch.func.jvp",
    "torch.func.jacrev",
    "torch.func.jacfwd",
    "cleartape.gradients.value_and_gradients",
)
WAYS = (  # each with what contains it
    (SOFTMAX, (*ATTENTION, *MULTI_HEAD, *LAYERS)),
    (ATTENTION, (*MULTI_HEAD, *LAYERS)),
    (MULTI_HEAD, LAYERS),
    (LAYERS, ()),
    (GRADIENTS, ()),
)
TORCH = "torch"  # all of it: of an answer that is given arrays, which is to be written in NumPy
MEASURING = (  # of an answer whose memory is measured
    "tracemalloc.clear_traces",
    "tracemalloc.reset_peak",
    "tracemalloc.start",
    "tracemalloc.stop",
)


def every_way(names: tuple[str, ...]) -> tuple[str, ...]:
    """These names, and all other ways to what one of them does."""
    others = [name for ways, larger in WAYS if set(ways) & set(names) for name in (*ways, *larger)]
    return tuple(dict.fromkeys([*names, *others]))
