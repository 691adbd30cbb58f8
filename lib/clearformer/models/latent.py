"""A GPT with latent attention: its cache holds a short vector a token in place of the keys and values of all heads."""

from dataclasses import dataclass
from typing import cast

from clearformer.cache import KVCache, cache_dtype
from clearformer.latent import LatentAttention
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.models.options import each_layer


@dataclass(frozen=True)
class LatentGPTConfig(GPTConfig):
    """The sizes of a GPT with ``LatentAttention``: in each head ``d_head`` features are turned and ``d_unturned`` not.

    Heads share no keys but the turned ones, queries and keys have no norms, and layers no windows.

    Raises: TypeError or ValueError as ``GPTConfig``, and for what these models do not have.
    """

    d_latent: int = 512
    d_unturned: int = 128
    d_value: int = 128
    d_query_latent: int | None = None

    def __post_init__(self):
        super().__post_init__()
        windows = {layer.window for layer in each_layer(self)} - {None}
        given = {"n_kv_heads": self.n_kv_heads not in (None, self.n_heads), "qk_norm": self.qk_norm is not None}
        given |= {"joint_norm": self.joint_norm, "window": bool(windows)}
        if wrong := [name for name, is_given in given.items() if is_given]:
            raise ValueError(
                f"LatentGPTConfig: {wrong[0]} was given, expected none: latent attention has no such part."
            )


LatentGPTConfig.PRESETS = {}


class LatentGPT(GPT):
    """``GPT`` with ``LatentAttention``.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.
    """

    config: LatentGPTConfig

    def __init__(self, config: LatentGPTConfig):
        def attention(d_model, n_heads, *, d_head, rope, n_kv_heads, qk_norm, **attend):
            widths = {name: getattr(config, name) for name in ("d_latent", "d_unturned", "d_value", "d_query_latent")}
            return LatentAttention(d_model, n_heads, d_turned=d_head, rope=rope, **widths, **attend)

        super().__init__(config, attention=attention)

    def new_cache(self, batch: int, n_positions: int) -> KVCache:
        """Room for the turned keys and latent vectors of ``batch`` sequences."""
        c, weight = self.config, self.tokens.weight
        d_turned = cast("int", c.d_head)
        sizes = (c.n_layers, batch, 1, n_positions, d_turned)
        return KVCache(*sizes, d_value=c.d_latent, dtype=cache_dtype(weight), device=weight.device)
