"""No page types what chapters/models.yml holds: it would grow old unseen."""

import pytest
from clearbook.today.rows import gallery

from tools.checks.typed_facts import main, typed_facts, typed_on
from tools.pages import reading

OWED: set[str] = set()


@pytest.mark.parametrize("page", [name for name in reading.pages() if name not in OWED])
def test_no_page_types_a_fact(page):
    """Catches a number of a model that stands in the text of a page instead of in a table that is drawn."""
    assert typed_on(page) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Llama 3.1 has a vocabulary of 128,256.", "Llama 3.1 8B: vocabulary is typed as 128,256"),
        ("Gemma 3 27B looks back 1024 tokens.", "Gemma 3 27B: window is typed as 1024"),
        ("DeepSeek-V3 has 671 billion weights.", "DeepSeek-V3: parameters is typed as 671 billion"),
        ("Qwen3 8B reads 32K tokens.", "Qwen3 8B: context is typed as 32K"),
        ("| gpt-oss-120b | 117 B |", "gpt-oss-120b: parameters is typed as 117 B"),
    ],
)
def test_typed_facts_are_found(text, found):
    """Catches a way of writing a number that the check does not know."""
    assert any(told.startswith(found) for told in typed_facts(text, gallery()))


@pytest.mark.parametrize(
    "text",
    [
        "Llama 3.1 is a decoder. A vocabulary of 128,256 is large.",  # another sentence
        "DeepSeek-V3.1 has 671 B.",  # a model that the file does not hold
        "Gemma 3 27B looks back `1024` tokens, $1024$ of them [here](a.md#1024).",  # code, formulas, links
        "Gemma 3 27B looks back 11,024 tokens, or 1,024.5 words.",  # other numbers
        "Qwen3 8B has 8 keys.",  # too small to say anything
    ],
)
def test_other_numbers_are_left_alone(text):
    """Catches a check that cries at every number."""
    assert typed_facts(text, gallery()) == []


def test_the_command_names_page_and_fact(capsys, monkeypatch):
    """Catches a command that finds something and says so to nobody."""
    assert main(["06"]) == 0 and "No page types" in capsys.readouterr().out
    text = {"cell_type": "markdown", "source": ["DeepSeek-V3 has 671 billion weights."]}
    monkeypatch.setattr(reading, "cells", lambda path: [text])
    assert main(["06"]) == 1 and "06: DeepSeek-V3: " in capsys.readouterr().out
