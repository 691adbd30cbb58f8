"""The columns of *Today* that say what layers read and what a cache takes, by hand for a few models."""

import pytest
from clearbook.today.cells import COLUMNS
from clearbook.today.rows import gallery


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Llama 3.1 8B", "128 KiB a token"),  # 2 · 2 · 32 · 8 · 128 bytes
        ("DeepSeek-V3", "69 KiB a token"),  # 2 · 61 · (512 + 64)
        ("Gemma 3 27B", "80 KiB a token, 416 MiB in windows"),  # 10 layers grow, 52 hold 1,024 tokens
        ("Qwen3.5-35B-A3B", "20 KiB a token"),  # 10 of 40 layers have keys
        ("gpt-oss-120b", "36 KiB a token, 4.5 MiB in windows"),  # 18 layers grow, 18 hold 128 tokens
        ("GLM-5", "107 KiB a token"),  # 2 · 78 · (512 + 64 + 128), the last for the indexer
        ("DeepSeek-V4-Flash", "6.7 KiB a token, 5.4 MiB in windows"),  # 2 · (21 · (512 + 128) / 4 + 20 · 512 / 128)
        ("Mistral Large 4", "70 KiB a token, without an indexer's keys"),  # 2 · (54 · (512 + 64) + 9 · 512)
        ("Gemma 4 31B", ""),  # its keys are its values in some layers
    ],
)
def test_the_cache_of_a_model_is_counted(name, told):
    """Catches heads counted for groups, values or indexers left out, and windows that grow with the text."""
    assert COLUMNS["cache"].words(gallery().model(name)) == told


def test_layers_that_keep_a_key_for_several_tokens_are_told():
    """Catches the layers of DeepSeek-V4 without an indexer counted among those that have one."""
    told = COLUMNS["mix"].words(gallery().model("DeepSeek-V4-Flash"))
    first = "2 with a window of 128, 21 with one and 512 chosen keys of 4 tokens each, "
    assert told == first + "20 with one and all keys of 128 tokens each"
