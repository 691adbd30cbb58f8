"""Small vocabularies, by hand and by the tokenizers of Hugging Face."""

import json

from clearbook.data.builtin import zen_text
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

UNICODE = st.text(st.characters(exclude_categories=["Cs"]))


def their_tokenizer(special=("<|endoftext|>", "<|end|>"), all_bytes=True):
    """A byte-pair tokenizer of Hugging Face with GPT-2's words, trained here; its vocabulary and its merges."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if all_bytes else []
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=list(special), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(zen_text().splitlines(), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return tokenizer, model["vocab"], model["merges"]


HUGGING_FACE, VOCABULARY, MERGES = their_tokenizer()
