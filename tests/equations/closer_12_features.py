"""Checks of the display equations of the closer look at a dictionary of features, against the page's own code."""

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.equations.registry import equation, table

PAGE = Path(__file__).parents[2] / "chapters" / "closer" / "12-features.ipynb"
D, FEATURES, TOKENS, KEPT = 256, 9, 5, 4


def on_the_page(cell_id, name):
    """A class or function as a cell of the page defines it."""
    cells = json.loads(PAGE.read_text(encoding="utf8"))["cells"]
    source = next("".join(cell["source"]) for cell in cells if cell["id"] == cell_id)
    scope = {"torch": torch, "F": F, "nn": nn, "x": torch.zeros(2, D)}
    exec(source, scope)
    return scope[name]


@equation("eq-toy", "97782e7fde")
def toy(rng):
    x, W, b = rng.random(size=(TOKENS, 5)), rng.normal(size=(2, 5)), rng.normal(size=5)

    def squeezed(n, i):
        return sum(W[i, d] * x[n, d] for d in range(5))

    printed = table(lambda n, d: max(sum(W[i, d] * squeezed(n, i) for i in range(2)) + b[d], 0.0), TOKENS, 5)
    return printed, on_the_page("toy", "rebuilt")(*(torch.as_tensor(one) for one in (x, W, b)))


@equation("eq-dictionary", "6b23156024")
def dictionary(rng):
    page = on_the_page("dictionary", "Dictionary")(FEATURES, KEPT).double()
    with torch.no_grad():
        for weight in page.parameters():
            weight.copy_(torch.as_tensor(rng.normal(size=weight.shape)))
    W, b, U, c = (weight.detach().numpy() for weight in (page.W, page.b, page.U, page.c))
    x = rng.normal(size=(TOKENS, D))

    def top(a):
        least = sorted(a)[-KEPT]
        return np.array([value if value >= least else 0.0 for value in a])

    def answers(n):
        return table(lambda f: max(sum(W[f, d] * x[n, d] for d in range(D)) + b[f], 0.0), FEATURES)

    f = np.array([top(answers(n)) for n in range(TOKENS)])
    again = table(lambda n, d: sum(U[d, j] * f[n, j] for j in range(FEATURES)) + c[d], TOKENS, D)
    with torch.no_grad():
        return [(f, page.features(torch.as_tensor(x))), (again, page(torch.as_tensor(x)))]
