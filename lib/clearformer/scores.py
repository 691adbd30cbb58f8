"""How likely a model found what was written: the log-probability of every token after a prompt."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.decoding import Ids, LanguageModel, check_writes, hide_padding, pad
from clearformer.models.validate import check_ids


def log_probabilities(
    model: LanguageModel,
    ids: Ids,
    written: Int[Tensor, "B total"] | Sequence[Sequence[int] | Int[Tensor, "_length"]],
) -> Float[Tensor, "B new"] | list[Float[Tensor, "_new"]]:
    r"""For every prompt of ``ids`` the log-probability of each token that follows it in ``written``, in nats.

    .. math:: \log p(w_{n+1} \mid w_{1:n})

    ``written`` is what ``generate`` made of ``ids``, or any texts that begin with them: answers to choose from, say.
    Of a tensor that was filled up behind its ends, what was filled in is counted like any token; lists have none. The
    probabilities are the model's own, before ``temperature``, ``adjust`` and the like, and gradients flow to its
    weights; under ``torch.no_grad()`` it takes less memory.

    Cost: one forward pass of all tokens together.
    Raises: TypeError or ValueError as ``generate``, and for texts that do not begin with their prompts or end there.
    """
    writer: Any = model
    caller = "log_probabilities"
    check_writes(model, caller, cached=False)
    device = next((p.device for p in writer.head.parameters()), None)
    (prompts, n_front), (texts, n_padding) = pad(caller, ids, device), pad(caller, written, device)
    for rows in (prompts, texts):
        check_ids(caller, rows, model.config.n_vocab, model.config.n_positions, device=device)
    firsts = _first_new(caller, prompts, n_front, texts, n_padding)
    mask, positions = hide_padding(n_padding, texts.shape[1] - 1)
    hidden = writer.hidden_states(texts[:, :-1], mask, positions=positions)
    logits = writer.head(hidden[:, min(firsts) - 1 :])
    log_p = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    found = log_p.gather(2, texts[:, min(firsts) :, None].long())[..., 0]
    if isinstance(ids, Tensor) and isinstance(written, Tensor):
        return found
    return [row[first - min(firsts) :] for row, first in zip(found, firsts, strict=True)]


def _first_new(caller: str, prompts: Tensor, n_front: Tensor, texts: Tensor, n_padding: Tensor) -> list[int]:
    """For each row of ``texts`` where the first token behind its prompt stands."""
    if len(prompts) != len(texts):
        raise ValueError(f"{caller}: {len(texts)} texts were written to {len(prompts)} prompts, expected one to each.")
    firsts = []
    for row, (front, padding) in enumerate(zip(n_front.tolist(), n_padding.tolist(), strict=True)):
        prompt, text = prompts[row, front:], texts[row, padding:]
        if not text[: len(prompt)].equal(prompt.to(text.dtype)) or len(text) == len(prompt):
            raise ValueError(
                f"{caller}: text {row} of written does not begin with its prompt and go on, expected what "
                "generate(model, ids, ...) gives, prompts and all."
            )
        firsts.append(padding + len(prompt))
    return firsts
