"""How many weights a model has, counted from its sizes: the matrices alone, without norms, biases and sinks."""

from clearbook.today.rows import Model
from clearbook.today.schema import GATED

COUNTED = {"full", "window", "chunk", "selected"}  # layers whose attention has the four usual maps, or latent ones


def weights(model: Model, *, active: bool = False) -> int:
    """All weights, or those that multiply something for one token: of the experts those that are chosen, and of the
    embedding, where a row is looked up, none, unless it is the head as well.

    Norms, biases, sinks and indexers are left out, together less than one weight in a hundred.

    Raises: ValueError for a model of which a size is missing, or with layers that are not counted here.
    """
    if other := _not_counted(model):
        raise ValueError(f"weights: {model.name} has {other}, which is not counted here.")
    layers, d_model, vocabulary, tied = model.need("layers", "d_model", "vocabulary", "tied")
    tables = 1 if tied or active else 2
    return tables * vocabulary * d_model + layers * _attention(model) + _feed_forward(model, active)


def _not_counted(model: Model) -> str:
    """What a model has whose weights are not counted here, or nothing."""
    other = [f"layers of the kind {kind!r}" for kind in model.get("mix") or {} if kind not in COUNTED]
    other += ["other heads in some of its layers"] if model.get("kv_heads_full") else []
    other += ["compressed keys"] if model.get("attention") == "multi-query" else []
    other += [f"the parts of kind {model.kind!r}"] if model.kind in ("encoder-decoder", "vision") else []
    return ", ".join(other)


def _attention(model: Model) -> int:
    """Queries, keys, values, output, and a gate where there is one, in one layer."""
    d_model, heads = model.need("d_model", "heads")
    if model.get("attention") == "latent":
        (latent,) = model.need("latent")
        key = latent["unrotated"] + latent["rotated"]
        middle = latent.get("query")
        queries = d_model * heads * key if middle is None else middle * (d_model + heads * key)
        keys = d_model * (latent["key_value"] + latent["rotated"])
        unfolded = latent["key_value"] * heads * (latent["unrotated"] + latent["value"])
        return queries + keys + unfolded + heads * latent["value"] * d_model
    d_head = model.get("d_head") or d_model // heads
    wide = 3 if model.get("gated_attention") else 2
    return d_model * d_head * (wide * heads + 2 * (model.get("kv_heads") or heads))


def _feed_forward(model: Model, active: bool) -> int:
    """The feed-forward matrices of all layers, with routers."""
    layers, d_model, kind = model.need("layers", "d_model", "feed_forward")
    matrices = 3 if kind in GATED else 2
    experts = model.get("experts")
    if experts is None:
        return layers * matrices * d_model * model.need("d_ff")[0]
    dense = experts["dense_layers"]
    width = experts.get("width", d_model)
    units = experts["active" if active else "routed"] * experts["d_ff"]
    units += experts["shared"] * experts.get("shared_d_ff", experts["d_ff"])
    layer = d_model * experts["routed"] + matrices * width * units
    layer += 2 * d_model * width if width != d_model else 0
    rest = dense * matrices * d_model * model.need("d_ff")[0] if dense else 0
    return rest + (layers - dense) * layer
