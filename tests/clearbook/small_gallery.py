"""A file of models as small as it can be, and the same with one entry changed."""

import copy
from datetime import date
from typing import Any

SMALL: dict[str, Any] = {
    "as_of": date(2026, 11, 29),
    "sources": {
        "report": {"what": "a report", "url": "https://a.example/1", "seen": date(2026, 11, 1), "cite": "key2026"},
        "code": {"what": 'code of <"A">', "url": "https://a.example/2?x=1&y=2", "seen": date(2026, 11, 2)},
    },
    "models": [
        {
            "name": "Small 1 B",
            "organisation": "Someone",
            "kind": "decoder",
            "facts": {
                "report": {"released": "2025-04", "parameters": "1 B", "context": 131072},
                "code": {
                    "layers": 4,
                    "d_model": 8,
                    "heads": 4,
                    "kv_heads": 2,
                    "attention": "grouped",
                    "d_ff": 16,
                    "feed_forward": "SwiGLU",
                    "vocabulary": 10,
                    "tied": False,
                },
            },
        }
    ],
}


def changed(source: str | None, fact: str, value) -> dict:
    """SMALL with one entry more or another: a fact under a source, or without one something of the row itself."""
    data = copy.deepcopy(SMALL)
    row = data["models"][0]
    (row["facts"].setdefault(source, {}) if source else row)[fact] = value
    return data
