"""Wrong answers that once got full points: each is a right one of the course with a line or two changed."""

import pytest
from clearcheck.grading.evaluate import PASSED

from .battery_questions import edited, graded, right_answer

ANSWERS = [  # exercise, question, right answer, what stands there, what stood in the wrong one
    ("01-tokens", "embed", "look_up", "for i in ids:", "for i in ids[:16]:"),
    ("01-tokens", "embed", "look_up", "0 <= i <", "-1 != i <"),
    ("01-tokens", "learn", "as_often_written", "for word in words]", "for word in words[:100]]"),
    (
        "01-tokens",
        "gradient",
        "place_by_place",
        "torch.zeros(n_vocab, ",
        "torch.zeros(n_vocab - (int(ids.max()) < n_vocab - 8), ",
    ),
    (
        "02-attention",
        "waiting",
        "by_formula",
        "n_tokens * width * (3 * width + 2 * n_tokens)",
        "int(n_tokens * width * (3 * width + 2.0 * n_tokens))",
    ),
    ("02-attention", "lookups", "in_rows", "dim=-1)", "dim=-1).detach()"),
    (
        "03-self-attention",
        "module",
        "StepByStep",
        "if mask is not None:",
        "mask = self.__dict__.setdefault('first', mask)\n        if mask is not None:",
    ),
    (
        "03-self-attention",
        "module",
        "StepByStep",
        "asked, offered, handed = self.query(x), self.key(x), self.value(x)",
        "self.kv = getattr(self, 'kv', None) or (self.key(x), self.value(x)); asked, (offered, handed) = "
        "self.query(x), self.kv",
    ),
    ("04-multi-head", "layer", "Plain", "B, N, D = x.shape", "B, N, D = x.view(-1, x.shape[-1]).view(x.shape).shape"),
    ("05-feed-forward", "gelu", "by_the_product_rule", "return X", "assert X.ndim < 4; return X"),
    (
        "06-position",
        "head",
        "Plain",
        "a, b = x[..., :half], x[..., half:]",
        "cos[..., 8:], sin[..., 8:] = 1, 0; a, b = x[..., :half], x[..., half:]",
    ),
    ("06-position", "rotary", "two_halves", "torch.outer(positions, ", "torch.outer(positions.clamp(max=99_999), "),
    ("07-residual-norm", "norms", "axes_by_name", "+ eps)", "+ max(eps, 1e-6))"),
    (
        "08-encoder-decoder",
        "cross",
        "Plain",
        "q, k, v = self.query(x)",
        "z.view(-1, z.shape[-1]); q, k, v = self.query(x)",
    ),
]


@pytest.mark.parametrize(
    ("slug", "id", "name", "right", "wrong"), ANSWERS, ids=[f"{row[0][:2]}-{row[1]}" for row in ANSWERS]
)
def test_what_once_got_full_points_is_refused(slug, id, name, right, wrong):
    """Would catch the hole being open again; the answer without the change passes."""
    asked, entry = right_answer(slug, id, name)
    assert graded(asked, entry.function).status == PASSED
    for seed in (0, 1, 2):
        assert graded(asked, edited(entry, right, wrong), seed).status != PASSED
