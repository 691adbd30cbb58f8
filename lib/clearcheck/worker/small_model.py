"""A small language model for questions about `generate`."""

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
        if not isinstance(ids, Tensor) or ids.ndim != 2 or ids.is_floating_point():
            came = f"a {type(ids).__name__}"
            if isinstance(ids, Tensor):
                came = f"{str(ids.dtype).removeprefix('torch.')} of shape {tuple(ids.shape)}"
            raise ValueError(f"the model takes whole numbers of shape (batch, tokens), and it got {came}")
        if not 1 <= ids.shape[1] <= self.window:
            raise ValueError(f"the model looks at 1 to {self.window} tokens, and it got {ids.shape[1]}")
        if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < self.vocabulary:
            raise ValueError(f"the model knows the ids 0 to {self.vocabulary - 1}, and it got others")
