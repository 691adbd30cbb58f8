"""The numbers of the whole machine, computed with the library: what its page is compared with."""

from typing import Any

import torch
import torch.nn.functional as F

from tools.models import machine

INPUTS = [((0, 2, 4), 6), ((1, 3, 4), 7), ((6, 6, 1), 0)]  # ids, and what comes next


def by_heads(x):
    """Rows of torch as the page has them: heads, features, tokens."""
    return x.reshape(3, 2, 2).permute(1, 2, 0)


class Library:
    """The same numbers from the library's GPT, each box a tensor whose gradient is kept."""

    def __init__(self, ids, following):
        model: Any = machine.stored()
        block, N = model.decoder.blocks[0], 3
        kept: dict[str, Any] = {}
        self.kept = kept

        def keep(name, x):
            kept[name] = x if x.requires_grad else x.requires_grad_()
            x.retain_grad()
            return x

        ids = torch.tensor(ids)
        embed = keep("embed", model.tokens(ids).detach())
        place = keep("place", model.positions(slice(0, N)).detach())
        x = keep("x", embed + place)
        normed = keep("norm1", block.attention_norm(x))
        q, k, v = (
            keep(name, by_heads(part))
            for name, part in zip("qkv", block.attention.qkv(normed).chunk(3, 1), strict=True)
        )
        scores = keep("scores", k.mT @ q / 2**0.5)  # heads, sources, targets
        masked = keep("masked", scores.masked_fill(torch.ones(N, N, dtype=torch.bool).tril(-1), -torch.inf))
        weights = keep("weights", masked.softmax(1))
        heads = keep("heads", v @ weights)
        joined = keep("joined", block.attention.out(heads.permute(2, 0, 1).reshape(N, 4)))
        x1 = keep("x1", x + joined)
        hidden = keep("hidden", block.feed_forward.up(keep("norm2", block.feed_forward_norm(x1))))
        out = keep("out", block.feed_forward.down(keep("gelu", F.gelu(hidden))))
        logits = keep("logits", model.head(keep("norm3", model.decoder.norm(keep("x2", x1 + out)))))
        loss = keep("loss", -keep("shares", logits.softmax(1))[-1, following].log())
        torch.testing.assert_close(logits, model(ids[None])[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(block(x[None], causal=True)[0], kept["x2"], rtol=0, atol=1e-12)
        loss.backward(retain_graph=True)

    def like_the_page(self, name, numbers):
        """As head × row × column."""
        return numbers if numbers.ndim == 3 else numbers.reshape(1, 1, 1) if numbers.ndim == 0 else numbers.mT[None]
