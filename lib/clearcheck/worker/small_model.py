"""A small language model for questions about `generate`, and a small encoder–decoder for those that have a source."""

import torch
from torch import Tensor, nn

DROPPED = 0.5  # share of the features that are dropped in train() mode


class Calls(list):
    """What is noted of the calls of a model and of its copies: a copy of the model keeps the same list."""

    def __deepcopy__(self, memo):
        return self


class SmallModel(nn.Module):
    """A language model made of arrays: the logits after a token depend on every token before it and on its position.

    `h_n = Σ_{m≤n} tanh(E[ids_m] + P_m)`, `logits_n = h_n W`; `window` is the number of rows of `P`.
    """

    def __init__(self, embedding, positions, head):
        super().__init__()
        for name, value in (("embedding", embedding), ("positions", positions), ("head", head)):
            self.register_buffer(name, torch.from_numpy(value))
        self.vocabulary, self.window = len(embedding), len(positions)
        self.calls: Calls = Calls()  # of each call the shape of its ids, train() mode, gradients

    def forward(self, ids: Tensor) -> Tensor:
        self._check(ids)
        self.calls.append((list(ids.shape), self.training, torch.is_grad_enabled()))
        h = torch.tanh(self.embedding[ids] + self.positions[: ids.shape[1]]).cumsum(1)
        return nn.functional.dropout(h, DROPPED, self.training) @ self.head

    def record(self) -> dict:
        """Of each call the shape of its ids, whether it was in train() mode, and whether gradients were kept."""
        names = "shapes", "training", "gradients"
        return {name: [call[i] for call in self.calls] for i, name in enumerate(names)}

    def _check(self, ids):
        _check_ids(ids, self.vocabulary)
        if not 1 <= ids.shape[1] <= self.window:
            raise ValueError(f"the model looks at 1 to {self.window} tokens, and it got {ids.shape[1]}")


class SmallEncoderDecoder(nn.Module):
    """An encoder–decoder made of arrays: what comes after a token depends on the source, without its padding, on every
    token before it and on its position.

    `memory_s = tanh(F[source_s] + P_s)`, `h_n = Σ_s memory_s + Σ_{m≤n} tanh(E[target_m] + P_m)`, `scores_n = h_n W`.
    With a dict as a cache `decode` takes the new tokens alone, and keeps in it the sum and the number of the old ones.
    """

    def __init__(self, source, embedding, positions, head):
        super().__init__()
        arrays = {"source": source, "embedding": embedding, "positions": positions, "head": head}
        for name, value in arrays.items():
            self.register_buffer(name, torch.from_numpy(value))
        self.encoded: Calls = Calls()  # of each call of `encode` the shape of its ids
        self.calls: Calls = Calls()  # of each call of `decode` the shape of its ids, train() mode, gradients

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, *self.encode(source))

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        _check_ids(source, len(self.source))
        self.encoded.append(list(source.shape))
        return torch.tanh(self.source[source] + self.positions[: source.shape[1]]), (source != 0)[:, None, None]

    def decode(self, target: Tensor, memory: Tensor, mask: Tensor, cache: dict | None = None) -> Tensor:
        _check_ids(target, len(self.embedding))
        self.calls.append((list(target.shape), self.training, torch.is_grad_enabled()))
        before, past = (cache or {}).get("kept", (torch.zeros(()), 0))
        end = past + target.shape[1]
        if end > len(self.positions):
            raise ValueError(f"{end} tokens, but only {len(self.positions)} positions; of them {past} are in the cache")
        sums = before + torch.tanh(self.embedding[target] + self.positions[past:end]).cumsum(1)
        if cache is not None:
            cache["kept"] = sums[:, -1:], end
        h = sums + (memory * mask[:, 0].mT).sum(1, keepdim=True)
        return nn.functional.dropout(h, DROPPED, self.training) @ self.head

    def record(self) -> dict:
        """As that of a `SmallModel`, of the calls of `decode`; and the shapes of those of `encode`."""
        names = "shapes", "training", "gradients"
        return {name: [call[i] for call in self.calls] for i, name in enumerate(names)} | {
            "encoded": list(self.encoded)
        }


def make_model(arrays: dict) -> SmallModel | SmallEncoderDecoder:
    return SmallEncoderDecoder(**arrays) if "source" in arrays else SmallModel(**arrays)


def _check_ids(ids, vocabulary: int):
    if not isinstance(ids, Tensor) or ids.ndim != 2 or ids.is_floating_point():
        came = f"a {type(ids).__name__}"
        if isinstance(ids, Tensor):
            came = f"{str(ids.dtype).removeprefix('torch.')} of shape {tuple(ids.shape)}"
        raise ValueError(f"the model takes whole numbers of shape (batch, tokens), and it got {came}")
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < vocabulary:
        raise ValueError(f"the model knows the ids 0 to {vocabulary - 1}, and it got others")
