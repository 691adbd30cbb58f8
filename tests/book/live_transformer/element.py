"""The element of the live transformer in a page: what it is given, what it shows, and what it is asked."""

import torch
from clearbook.data.builtin import zen_text
from clearformer.generation import keep_top_k, keep_top_p
from clearformer.tokenizers import BytePairTokenizer

ZEN = zen_text()
SHIPPED = ["austen"]  # what the pages show
SPACES = "".join(filter(str.isspace, map(chr, range(0x110000))))
BORDERS = "x".join(f" {SPACES}\ufeff\u180e\u200b ")  # characters that are spaces for Python, for JavaScript or neither


def open_page(context):
    page = context.new_page()
    page.complaints, page.asked = [], []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    return page


def with_element(page, body: str, argument=None):
    """What a function's body returns, which sees the element as `e` and an argument as `a`."""
    return page.evaluate(f"async (a) => {{ const e = document.querySelector('live-transformer'); {body} }}", argument)


def state(page) -> dict:
    return with_element(page, "await e.writer?.settled(); return e.state()")


def with_start(own, text: str) -> list[int]:
    """The ids of a text that the model knows, behind the start token."""
    known = (
        text
        if isinstance(own.tokenizer, BytePairTokenizer)
        else "".join(c for c in text if c in own.tokenizer.characters)
    )
    return [own.model.config.n_vocab - 1, *own.tokenizer.encode(known)]


@torch.no_grad()
def logits(own, ids: list[int]) -> torch.Tensor:
    return own.model(torch.tensor([ids]))[0, -1]


def drawn_from(scores: torch.Tensor, temperature: float, top_k: int | None, top_p: float | None) -> torch.Tensor:
    """The probabilities by which clearformer.generation draws."""
    if temperature == 0:
        return torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).double()
    scores = scores / temperature
    scores = scores if top_k is None else keep_top_k(scores, top_k)
    return (scores if top_p is None else keep_top_p(scores, top_p)).softmax(-1)
